"""Our verdicts beside the published verifier's, where a run was judged by both."""

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from harness.judging.verify.verdict import VerdictRecord
from harness.results.parity import disagreement
from harness.results.report.tables import table, verdict_text

Pair = tuple[str, VerdictRecord | None, VerdictRecord | None]
"""A submission's name, our verdict, the published one."""


def parity_lines(pairs: Sequence[Pair]) -> Iterator[Text | Table]:
    """Yield both verdicts of each submission that has two, and why they differ where they do."""
    both = [(name, ours, published) for name, ours, published in pairs if ours and published]
    if not both:
        return
    found = [(name, disagreement(ours, published)) for name, ours, published in both]
    rows = [
        (name, verdict_text(ours.verdict), verdict_text(published.verdict), "differ" if other else "agree")
        for (name, ours, published), (_, other) in zip(both, found, strict=True)
    ]
    yield table(("submission", "testwright", "published", "they"), rows)
    for name, other in found:
        for why in other.why if other else ():
            yield Text(f"{name}: {why}")
    yield Text(f"{len(both)} judged by both, {sum(other is not None for _, other in found)} differ")


def parity_facts(ours: VerdictRecord | None, published: VerdictRecord | None) -> dict[str, Any]:
    """Return how two verdicts differ, for JSON; nothing where there is only one."""
    if not (ours and published):
        return {}
    other = disagreement(ours, published)
    return {
        "published": published.model_dump(mode="json"),
        "disagreement": other.model_dump(mode="json") if other else None,
    }
