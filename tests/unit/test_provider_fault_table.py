"""Each fault of a provider: how often it is asked, after which wait, with which word, and what the trial comes to."""

import asyncio
from pathlib import Path

import pytest

from harness.models.protocol import Message, MessageRole
from harness.plugins.scripted_provider.scenario import Scenario
from harness.specs.yaml_files import load_yaml
from tests.support import providers_page
from tests.support.fault_table import MODELS, ROWS, SHORT_SECONDS, Observations, Row, observe_all
from tests.support.models import model_at
from tests.support.provider import Reply, playing

pytestmark = pytest.mark.usefixtures("few_roots")

_SLACK = 10
"""Seconds that a busy machine may take beside a wait."""

PASSING = [row for row in ROWS if row.requests > 1 and row.deadline > SHORT_SECONDS]


@pytest.fixture(scope="module")
def observations(tmp_path_factory: pytest.TempPathFactory) -> Observations:
    return asyncio.run(observe_all(ROWS, tmp_path_factory.mktemp("faults")))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_fault_leads_to_what_the_table_says(observations: Observations, row: Row, model: str) -> None:
    observed = observations.found[row.name, model]
    assert observed.faults == (row.fault,) * (row.requests if row.fault else 0)
    assert observed.requests == row.requests
    assert observed.trial == row.trial
    assert all(row.wait <= wait < row.wait + _SLACK for wait in observed.waits)
    assert observed.message.isprintable()
    assert bool(observed.message) == bool(row.fault)


def test_the_page_says_what_was_observed(observations: Observations) -> None:
    assert providers_page.page(observations) == providers_page.PAGE.read_text(), "run make providers"


def test_the_pages_example_is_a_scenario(tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(providers_page.PAGE.read_text().split("```yaml\n")[1].partition("```")[0])
    assert len(load_yaml(path, Scenario).rules) == 2


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("row", PASSING, ids=lambda row: row.name)
async def test_what_passes_by_itself_is_over_with_the_next_answer(row: Row, model: str) -> None:
    async with playing(row.reply, Reply(text="hi")) as provider:
        asked = model_at(provider, model, attempts=2, request_seconds=row.deadline)
        completion = await asked.complete([Message(role=MessageRole.USER, content="hello")], [])
    assert completion.message.content == "hi"
    assert len(provider.requests) == 2
