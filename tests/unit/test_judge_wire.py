"""A judge down to the wire: what providers are sent, and what their faults come to."""

import asyncio

import pytest

from harness.judging.verify.judge.questions import MANIFEST, Answer, Brief, Question, VoteCounts
from harness.models.build import Models
from harness.plugins.scripted_provider.failures import ErrorKind
from harness.plugins.scripted_provider.scenario import Failure, Reply, ScriptedFault, Stop, Tokens
from harness.plugins.scripted_provider.server import Received, serve
from harness.runs.judges import build_judge
from harness.specs.catalog import Catalog
from harness.specs.reasons import ReasonCode
from tests.support.judges import added_line, hear, known_reply, reply
from tests.support.patches import new_test_file

pytestmark = pytest.mark.usefixtures("few_roots")

TEXT = "from sums import add\n\n\ndef test_adds_numbers():\n    assert add(1, 2) == 3\n"
BRIEF = Brief(
    "I need tests for add().\n",
    new_test_file("tests/test_sums.py", TEXT, "test_adds_numbers").patch,
    {"tests/test_sums.py::test_adds_numbers": TEXT},
    (
        Question(MANIFEST, "Each of the listed tests is a test.", 3),
        Question("1.1", "Tests that numbers are added.", 3),
    ),
)
VENDORS = {"openai": "/v1", "anthropic": ""}
QUICK = "retries: {attempts: 2, first_wait: 0.001, longest_wait: 0.002}\nrequest_seconds: 5\n"


@pytest.fixture(autouse=True)
def _keys(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-tests")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-tests")


async def judged(tmp_path, vendor, answer):
    async with serve(answer) as provider:
        file = tmp_path / "judge.yaml"
        file.write_text(f"model: {vendor}/judge\napi_base: {provider.url}{VENDORS[vendor]}\n{QUICK}")
        catalog = Catalog()
        judge = build_judge(catalog, Models(catalog), str(file), VoteCounts(), cached=False)
        async with asyncio.timeout(60):
            return await judge.ask(BRIEF), provider.requests


def honest(request: Received) -> Reply:
    heard = hear(request.text)
    text = known_reply(heard) if heard.known else reply("met", added_line(heard))
    return Reply(text=text, usage=Tokens(input=1000, output=50, cache_read=900))


@pytest.mark.parametrize("vendor", VENDORS)
async def test_every_vendor_is_asked_alike_and_the_tokens_are_summed(tmp_path, vendor):
    judging, requests = await judged(tmp_path, vendor, honest)
    assert {item.answer for item in judging.opinions.values()} == {Answer.MET}
    assert len(requests) == judging.usage.calls == 8
    assert (judging.usage.input, judging.usage.output, judging.usage.cache_read) == (8_000, 400, 7_200)
    assert judging.usage.cost_usd is None, "nobody knows the price of this model"
    beginnings = {request.text.rpartition("Is this statement true")[0] for request in requests}
    assert len(beginnings) == 1


async def test_the_provider_is_told_where_the_shared_beginning_ends(tmp_path):
    _, requests = await judged(tmp_path, "anthropic", honest)
    for request in requests:
        data, ready, question = request.body["messages"]
        assert [message["role"] for message in (data, ready, question)] == ["user", "assistant", "user"]
        assert "cache_control" in str(data)
        assert "cache_control" not in str(question)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Reply(error=Failure(kind=ErrorKind.UNAUTHORIZED)), ReasonCode.JUDGE_UNAVAILABLE),
        (Reply(error=Failure(kind=ErrorKind.RATE_LIMIT, retry_after=0.001)), ReasonCode.JUDGE_UNAVAILABLE),
        (Reply(error=Failure(kind=ErrorKind.SERVER_ERROR)), ReasonCode.JUDGE_UNAVAILABLE),
        (Reply(error=Failure(kind=ErrorKind.CONTEXT_OVERFLOW)), ReasonCode.JUDGE_UNAVAILABLE),
        (Reply(text="met", fault=ScriptedFault.DROP), ReasonCode.JUDGE_UNAVAILABLE),
        (Reply(text="met", fault=ScriptedFault.HTML), ReasonCode.JUDGE_UNAVAILABLE),
        (Reply(text=""), ReasonCode.JUDGE_UNPARSEABLE),
        (Reply(text=reply("met", "assert add(1, 2) == 3"), stop=Stop.LENGTH), ReasonCode.JUDGE_UNPARSEABLE),
        (Reply(text="I can't help with that.", stop=Stop.REFUSAL), ReasonCode.JUDGE_UNPARSEABLE),
    ],
    ids=lambda value: value.error.kind if isinstance(value, Reply) and value.error else None,
)
async def test_a_fault_is_neither_a_pass_nor_a_failure(tmp_path, vendor, fault, code):
    judging, _ = await judged(tmp_path, vendor, lambda request: fault)
    assert {item.met for item in judging.opinions.values()} == {None}
    assert {item.missing for item in judging.opinions.values()} == {code}
