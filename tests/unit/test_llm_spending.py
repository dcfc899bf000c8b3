"""Caps stop the next call, unknown isn't nothing, and each pays from its own purse."""

import pytest

from harness.models.allowance import MeteredModel, Spending
from harness.models.protocol import Message, MessageRole
from harness.models.replay import ScriptedModel, say
from harness.specs.errors import BudgetExhausted, ProviderError, ProviderFault
from harness.specs.model_file import Prices
from harness.specs.usage import NO_USAGE, Usage
from tests.support.models import model_at
from tests.support.provider import Reply, failing, playing

HALF = Usage(calls=1, input=10, output=5, cost_usd=0.5)
UNKNOWN = Usage(calls=1, input=10, cost_usd=None)
HELLO = [Message(role=MessageRole.USER, content="hello")]


def metered(spending: Spending, *usages: Usage) -> MeteredModel:
    return MeteredModel(ScriptedModel([say("hm", usage=usage) for usage in usages]), spending)


async def test_the_call_after_the_cap_is_not_made() -> None:
    spending = Spending(1.0)
    model = metered(spending, HALF, HALF, HALF)
    await model.complete(HELLO, [])
    await model.complete(HELLO, [])
    with pytest.raises(BudgetExhausted, match=r"^\$1\.0000 of \$1 are spent$"):
        await model.complete(HELLO, [])
    assert spending.usage.calls == 2


async def test_agent_and_judge_are_counted_apart_and_stopped_together() -> None:
    run = Spending(1.0)
    agent, judge = Spending(within=run), Spending(within=run)
    await metered(agent, HALF).complete(HELLO, [])
    await metered(judge, HALF).complete(HELLO, [])
    assert (agent.usage, judge.usage, run.usage) == (HALF, HALF, HALF + HALF)
    for spending in (agent, judge):
        with pytest.raises(BudgetExhausted):
            await metered(spending, HALF).complete(HELLO, [])


async def test_a_judges_own_cap_leaves_the_agent_alone() -> None:
    run = Spending(5.0)
    judge = Spending(0.5, within=run)
    await metered(judge, HALF).complete(HELLO, [])
    with pytest.raises(BudgetExhausted):
        await metered(judge, HALF).complete(HELLO, [])
    await metered(Spending(within=run), HALF).complete(HELLO, [])


async def test_money_that_earlier_starts_have_spent_counts() -> None:
    with pytest.raises(BudgetExhausted):
        await metered(Spending(1.0, usage=HALF + HALF), HALF).complete(HELLO, [])


async def test_a_cap_that_an_unknown_cost_makes_unholdable_stops_with_its_remedy() -> None:
    model = metered(Spending(100.0), UNKNOWN, HALF)
    await model.complete(HELLO, [])
    with pytest.raises(BudgetExhausted, match=r"unknown, so the cap .* can't be held; give .* in a model file"):
        await model.complete(HELLO, [])


async def test_without_a_cap_an_unknown_cost_stays_unknown() -> None:
    spending = Spending()
    model = metered(spending, UNKNOWN, HALF)
    await model.complete(HELLO, [])
    await model.complete(HELLO, [])
    assert (spending.usage.cost_usd, spending.usage.input) == (None, 20)


async def test_what_a_failing_call_has_cost_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    unreadable = Reply(body='{"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}')
    spending = Spending()
    async with playing(unreadable, failing("unauthorized")) as provider:
        model = MeteredModel(model_at(provider, prices={"input": 1_000_000, "output": 0}), spending)
        with pytest.raises(ProviderError) as caught:
            await model.complete(HELLO, [])
    assert caught.value.fault is ProviderFault.AUTH
    assert (spending.usage.cost_usd, spending.usage.calls) == (7.0, 1)


def test_cached_tokens_are_taken_out_of_the_input_before_it_is_priced() -> None:
    usage = Usage(input=1_000_000, output=1_000_000, cache_read=500_000, cache_write=250_000)
    assert Prices(input=4, output=8, cache_read=1, cache_write=6).cost(usage) == 1 + 0.5 + 1.5 + 8
    assert Prices(input=4, output=8).cost(usage) == 12


def test_a_sum_names_all_that_its_prices_came_from() -> None:
    one, other = Usage(priced_by=("provider",)), Usage(priced_by=("litellm 1", "provider"))
    assert (one + other + NO_USAGE).priced_by == ("litellm 1", "provider")
