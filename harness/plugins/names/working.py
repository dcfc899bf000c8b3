"""Names that don't exist in what an agent's commands print while it works: agents mend what they run."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.agents.trajectory import ObservationRecord, Record, read_trajectory
from harness.models.protocol import MessageRole
from harness.models.replay import MessageRecord
from harness.plugins.names.findings import Working
from harness.results.activity.actions import calls
from harness.specs.errors import UserError

_NAME_ERRORS = re.compile(
    r"""^(?:E\s+)?(?:
        AttributeError:\ .*(?:has\ no\ attribute|does\ not\ have\ the\ attribute)\b.*
      | ModuleNotFoundError:\ No\ module\ named\b.*
      | ImportError:\ cannot\ import\ name\b.*
      | TypeError:\ .*unexpected\ keyword\ argument\b.*
      | NameError:\ name\ '\w+'\ is\ not\ defined.*
      | \S+\.tsx?[:(]\d+.*error\ TS(?:2304|2305|2307|2339|2551|2554|2724):.*
      | TypeError:\ \S+\ is\ not\ a\ function.*
      | \S+\.go:\d+(?::\d+)?:\ .*(?:undefined:\ \S+|has\ no\ field\ or\ method|unknown\ field\b).*
      | \S+\.go:\d+(?::\d+)?:\ .*is\ not\ in\ (?:GOROOT|std).*
      | \S+\.[ch]:\d+(?::\d+)?:\ .*(?:implicit\ declaration\ of|undeclared\b).*
      | \S+\.[ch]:\d+(?::\d+)?:\ .*(?:has\ no\ member\ named|unknown\ type\ name).*
      | .*undefined\ reference\ to\ [`'].*
    )$""",
    re.MULTILINE | re.VERBOSE,
)
_PACKAGES = re.compile(
    r"No matching distribution found for (?P<pip>[\w.\-\[\]]+)"
    r"|404\s+Not Found - GET \S+/(?P<npm>(?:@[\w.\-]+(?:%2[fF]|/))?[\w.\-]+) "
    r"|'(?P<npm404>(?:@[\w.\-]+/)?[\w.\-]+)@[^']*' is not in (?:this|the npm) registry"
    r"|module (?P<go>[\w./\-]+): reading \S+: 404 Not Found",
)


def working_of(records: Sequence[Record]) -> Working:
    """Return what a trajectory tells. Pure."""
    texts = list(_outputs(records))
    errors = sum(len({line.strip() for line in _NAME_ERRORS.findall(text)}) for text in texts)
    packages = tuple(sorted(set(_packages(texts))))
    return Working(commands=len(calls(records)), errors=errors, packages=packages)


def read_working(trajectory: Path) -> Working | None:
    """Return what a trial's trajectory tells; None where there is none that can be read."""
    try:
        records = list(read_trajectory(trajectory))
    except (OSError, UserError):
        return None
    found = working_of(records)
    return found if found.commands else None


def _outputs(records: Sequence[Record]) -> Iterator[str]:
    """Yield what commands printed, as the model was shown it."""
    is_observed = any(isinstance(record, ObservationRecord) for record in records)
    answering = (MessageRole.USER, MessageRole.TOOL) if is_observed else (MessageRole.TOOL,)
    for record in records:
        if isinstance(record, MessageRecord) and record.step > 0 and record.message.role in answering:
            yield record.message.content


def _packages(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        for found in _PACKAGES.finditer(text):
            yield next(name for name in found.groups() if name)
