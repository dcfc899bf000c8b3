"""Writes docs/providers.md: what each fault of a model provider leads to, as it is observed on the spot.

usage: python -m tests.support.providers_page      from the checkout

tests/unit/test_provider_fault_table.py fails where the page drifts.
"""

import asyncio
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.support.fault_table import ATTEMPTS, MODELS, ROWS, SHORT_SECONDS, Observations, Row, observe_all

PAGE = Path(__file__).parents[2] / "docs" / "providers.md"
HEAD = f"""# What a provider's faults lead to

Written by `make providers` from what it observes: the agent `mini` is given a model whose provider has one and the
same answer for everybody, over real HTTP. A test fails where this page no longer holds. Here a model may make
{ATTEMPTS} requests for one answer; a model file says how many (`retries`, 6 by default) and how long they may wait.

- **OpenAI** stands for every provider that litellm is used for, **Anthropic** for `anthropic/...`, which has a
  client of its own. The retries of both libraries are off: the requests below are all there are.
- **waits**: the random wait that grows from one request to the next, or what the provider asks for. A wait that
  would pass the total deadline isn't begun.
- **the trial**: `unscored` is nobody's fault and can be run again; `judged` means that the agent's work ends and
  what lies in the sandbox is the submission. An answer without a command is told so and may be repeated a few times
  (`format_errors` of the scaffold) before that ends the work. A fault that passes by itself is tried anew with a new
  container up to three times, each kept beside the trial; one that doesn't is told at once.
- Replies that were of no use but were paid are counted in `usage.json`.
"""
SCENARIOS = """## A provider without a model

`testwright dev provider SCENARIO.yaml --port 8400` serves OpenAI's chat completions and responses, Anthropic's
messages and Google's generateContent on loopback, streaming and not, for any client; it checks requests as the
vendors do. A scenario is a list of rules; a request goes to the first one whose `when`, a regular expression, is
found in its text and that has a reply left. `docs/schemas/scenario.yaml.schema.json` has every key.

```yaml
schema_version: 1
rules:
  - when: "write unit tests"
    replies:
      - error: {kind: rate-limit, retry_after: 2}
      - text: I look around.
        commands: [ls, git log --oneline]     # calls of the tool bash, in parallel
        usage: {input: 1200, output: 40, cache_read: 1000, reasoning: 16}
      - {fault: drop-midway}                  # or hang, stall, drop, truncated, not-json, wrong-shape, html
      - {text: I can't help with that., stop: refusal}
  - replies: [{text: "else", delay_seconds: 0.5}]
    repeat: true
```
"""


def page(observations: Observations) -> str:
    return "\n".join([HEAD, *_outcomes(observations), "", *_messages(observations), "", SCENARIOS])


def _outcomes(observations: Observations) -> list[str]:
    lines = ["## Outcomes", ""]
    lines += [
        "| fault | status OpenAI / Anthropic | class | requests | waits | the trial |",
        "|---|---|---|---|---|---|",
    ]
    for row in ROWS:
        observed = [observations.found[row.name, model] for model in MODELS]
        cells = [
            row.name,
            " / ".join(map(str, row.statuses())),
            _alike(seen.fault.value if seen.fault else "-" for seen in observed),
            _alike(str(seen.requests) for seen in observed),
            _wait(row),
            _alike(seen.trial for seen in observed),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _messages(observations: Observations) -> list[str]:
    """What is said of several faults, or by both clients, stands there once."""
    deadline = f"The deadline of one request is {SHORT_SECONDS:g} seconds where one passes it."
    lines = ["## Messages", "", f"As they stand in the trial's reason and its trajectory. {deadline}", ""]
    told: dict[tuple[str, ...], list[str]] = {}
    for row in (row for row in ROWS if row.fault):
        said = tuple(dict.fromkeys(observations.found[row.name, model].message for model in MODELS))
        told.setdefault(said, []).append(row.name)
    for said, names in told.items():
        lines += [f"- {'; '.join(names)}", *(f"  - `{message}`" for message in said)]
    return lines


def _alike(values: Iterable[str]) -> str:
    return " / ".join(dict.fromkeys(values))


def _wait(row: Row) -> str:
    if row.requests == 1:
        return "-"
    return "as asked" if row.wait else "growing"


def main() -> int:
    with tempfile.TemporaryDirectory() as directory:
        observations = asyncio.run(observe_all(ROWS, Path(directory)))
    PAGE.write_text(page(observations))
    print(f"{PAGE.name}: {len(ROWS)} faults, observed in {observations.seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
