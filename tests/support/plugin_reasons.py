"""Reasons that plugins register: what each plugin's own tests ask of its page and of its fixtures."""

from importlib.metadata import entry_points
from pathlib import Path

from harness.runs.submissions import read_batch
from harness.specs.catalog import Catalog
from harness.specs.reasons import REASONS, ReasonCode

TESTS = Path(__file__).parents[1]


def reasons_of(plugin: str) -> tuple[ReasonCode, ...]:
    """Return the codes that are registered from `harness/plugins/PLUGIN`."""
    home = f"harness.plugins.{plugin}."
    points = entry_points(group=REASONS.group)
    return tuple(ReasonCode(point.name) for point in points if point.value.startswith(home))


def without_a_row(plugin: str, page: str) -> list[ReasonCode]:
    """Return the codes that have no row, with the verdict that each leads to, in `docs/PAGE`."""
    text = (TESTS.parent / "docs" / page).read_text()
    return [code for code in reasons_of(plugin) if f"| `{code}` | {code.verdict} |" not in text]


def without_a_fixture(plugin: str, catalog: Catalog) -> list[ReasonCode]:
    """Return the codes that no `expect.yaml` below `tests/fixtures/PLUGIN` asks for."""
    cases = read_batch(catalog, TESTS / "fixtures" / plugin, None)
    asked = {code for case in cases if case.expected for code in case.expected.codes}
    return [code for code in reasons_of(plugin) if code not in asked]
