"""The known defects that a run of the reference shows, each with its evidence. Pure."""

import re
from collections.abc import Iterator, Sequence

from harness.authoring.published_check.nearest import last_part, nearest
from harness.authoring.published_check.reference_run import Concerned, ReferenceRun
from harness.authoring.task_check.subject import Subject
from harness.specs.problem import Problem, Severity
from harness.tracks.swe_atlas.layout import PARSER, REMOVAL, SOLUTION

_WHY = re.compile(r".*(?:panic: |\[build failed\]|SyntaxError|ImportError|command not found|error: ).*")
_LINE = 200
"""Characters of a log's line that are told."""
_NAMED = 5


def defects(subject: Subject, run: ReferenceRun) -> list[Problem]:
    """A warning where part of the reference is concerned, an error where all of it is."""
    return [*_survivors(subject, run), *_lost(subject, run), *_unseen(subject, run), *_several(subject, run)]


def _survivors(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    if run.survivors.told:
        what = "the objective" if run.survivors.everything else "part of the objective"
        words = f"removal unrelated to {what}: these pass without the code as well: {_listed(run.survivors)}"
        yield Problem(where=subject.at(REMOVAL), message=words, severity=_severity(run.survivors))


def _lost(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    if run.lost.told:
        why = _reason(_lines(run.printed_after))
        words = f"no result line after the removal: {_listed(run.lost)}; the log says: {why}"
        yield Problem(where=subject.at(REMOVAL), message=words, severity=_severity(run.lost))


def _unseen(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    names, lines = [test.name for test in run.before], _lines(run.printed_before)
    for name, rules in run.unseen.told.items():
        words = f"the parser can't see it: {name} has no result on the code as it is ({_by(rules)})"
        words = f"{words}; {_instead(name, names, lines)}"
        yield Problem(where=subject.at(PARSER), message=words, severity=_severity(run.unseen))


def _several(subject: Subject, run: ReferenceRun) -> Iterator[Problem]:
    for name, names in run.several.items():
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        words = f"one name, several tests: {name} is what {len(names)} results count for (published rules)"
        words = f"{words}: {', '.join(names[:_NAMED])}{more}"
        yield Problem(where=subject.at(SOLUTION, name), message=words, severity=Severity.WARNING)


def _severity(concerned: Concerned) -> Severity:
    return Severity.ERROR if concerned.everything else Severity.WARNING


def _listed(concerned: Concerned) -> str:
    return ", ".join(f"{test} ({_by(rules)})" for test, rules in concerned.told.items())


def _by(rules: tuple[str, ...]) -> str:
    return "both rules" if len(rules) > 1 else f"{rules[0]} rules"


def _lines(log: bytes) -> list[str]:
    return [line.strip() for line in log.decode(errors="replace").splitlines() if line.strip()]


def _reason(lines: Sequence[str]) -> str:
    """The first line that says why tests could not go on; else the last one."""
    why = next((line for line in lines if _WHY.fullmatch(line)), lines[-1] if lines else "nothing")
    return why[:_LINE]


def _instead(name: str, names: Sequence[str], lines: Sequence[str]) -> str:
    if not names:
        return f"the log has no result at all; it says: {_reason(lines)}"
    seen = any(last_part(other) == last_part(name) for other in names)
    return nearest(name, names) + ("" if seen else _shown(name, lines))


def _shown(name: str, lines: Sequence[str]) -> str:
    """The first line of the log that has the last part of a name, which the parser makes nothing of."""
    last = re.compile(rf"(?<!\w){re.escape(last_part(name))}(?!\w)")
    line = next((line for line in lines if last.search(line)), "")
    return f"; the log has the line: {line[:_LINE]}" if line else ""
