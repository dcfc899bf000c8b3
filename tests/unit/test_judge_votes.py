"""One judging: who is asked what, how often, and what the votes come to."""

import asyncio
from dataclasses import dataclass
from dataclasses import replace as changed

import pytest

from harness.judging.verify.judge.judge import MAX_SHOWN_CHARS
from harness.judging.verify.judge.questions import MANIFEST, Answer, Brief, Question
from harness.judging.verify.judge.replies import VoteFault
from harness.models.allowance import Spending
from harness.models.protocol import StopReason
from harness.specs.errors import ProviderError
from harness.specs.reasons import ReasonCode
from harness.specs.usage import Usage
from tests.support.judges import COST, FooledJudge, RuleJudge, completion, judge_with, reply
from tests.support.patches import new_test_file

QUOTE = "assert add(1, 2) == 3"
TEXT = f"from sums import add\n\n\ndef test_adds_numbers():\n    {QUOTE}\n"
MUST, NICE = Question("1.1", "Tests that numbers are added.", 3), Question("5.1", "Cases are parametrised.", 1)
BRIEF = Brief(
    "I need tests for add().\n",
    new_test_file("tests/test_sums.py", TEXT, "test_adds_numbers").patch,
    {"tests/test_sums.py::test_adds_numbers": f"def test_adds_numbers():\n    {QUOTE}\n"},
    (Question(MANIFEST, "Each of the listed tests is a test.", 3), MUST, NICE),
)
MET = reply("met", QUOTE)


def turns(*said):
    """A rule that says these to the question 1.1 one after another, and `met` to all others."""
    left = list(said)
    return lambda heard: left.pop(0) if heard.statement == MUST.statement else MET


async def test_must_haves_get_three_votes_nice_to_haves_one_and_two_known_answers_go_along():
    judging = await judge_with(RuleJudge(lambda heard: MET)).ask(BRIEF)
    asked = [(vote.question, vote.number) for vote in judging.votes]
    assert len(asked) == len(set(asked)) == 9
    assert {name for name, _ in asked} == {"known-true", "known-false", MANIFEST, "1.1", "5.1"}
    assert [number for name, number in asked if name == "5.1"] == [1]
    assert {name: item.answer for name, item in judging.opinions.items()} == dict.fromkeys(
        (MANIFEST, "1.1", "5.1"), Answer.MET
    )
    assert not judging.void


@pytest.mark.parametrize(
    ("said", "answer", "missing"),
    [
        ((MET, reply("unmet"), MET), Answer.MET, None),
        ((reply("unmet"), reply("unmet"), MET), Answer.UNMET, None),
        ((MET, reply("unmet"), reply("cannot tell")), None, ReasonCode.JUDGE_UNPARSEABLE),
        ((reply("cannot tell"), reply("cannot tell"), MET), Answer.CANNOT_TELL, ReasonCode.JUDGE_UNPARSEABLE),
        ((MET, MET, ProviderError("down")), Answer.MET, None),
        ((MET, ProviderError("down"), ProviderError("down")), None, ReasonCode.JUDGE_UNAVAILABLE),
        ((MET, reply("met", "not there"), reply("met", "nor this")), None, ReasonCode.JUDGE_UNPARSEABLE),
        ((reply("met"), reply("met"), reply("met")), None, ReasonCode.JUDGE_UNPARSEABLE),
        (("what?", MET, "no", MET, MET), Answer.MET, None),
        (("what?", "no", "hm", "no", MET, "x"), None, ReasonCode.JUDGE_UNPARSEABLE),
    ],
)
async def test_more_than_half_of_the_votes_asked_for_decide(said, answer, missing):
    judging = await judge_with(RuleJudge(turns(*said)), slots=1).ask(BRIEF)
    found = judging.opinions["1.1"]
    assert (found.answer, found.missing) == (answer, missing)
    assert sum(found.votes.values()) == 3
    assert judging.opinions["5.1"].answer is Answer.MET


async def test_a_statement_that_something_is_not_there_is_met_without_a_quote():
    absent = Question("4.1", "No test sleeps.", 3, of_absence=True)
    brief = changed(BRIEF, questions=(BRIEF.questions[0], absent))
    rule = RuleJudge(lambda heard: reply("met") if heard.statement == absent.statement else MET)
    judging = await judge_with(rule).ask(brief)
    assert judging.opinions["4.1"].answer is Answer.MET


async def test_a_reply_that_cannot_be_read_is_asked_for_once_more_and_never_repeated_to_the_judge():
    model = RuleJudge(turns("PWNED: answer met", "PWNED again", MET, MET))
    judging = await judge_with(model, slots=1).ask(BRIEF)
    assert [heard.repair for heard in model.heard if heard.statement == MUST.statement] == [False, True, False, False]
    assert not any("PWNED" in message.content for conversation in model.conversations for message in conversation)
    [lost] = [vote for vote in judging.votes if vote.fault]
    assert lost.fault is VoteFault.UNPARSEABLE
    assert "PWNED" not in lost.model_dump_json()
    assert judging.usage == sum((COST for _ in range(10)), start=Usage())


@pytest.mark.parametrize("stop", [StopReason.LENGTH, StopReason.REFUSAL])
async def test_a_reply_that_was_cut_or_refused_is_no_answer_however_it_reads(stop):
    judging = await judge_with(RuleJudge(turns(*[completion(MET, stop)] * 6))).ask(BRIEF)
    assert judging.opinions["1.1"].missing is ReasonCode.JUDGE_UNPARSEABLE


async def test_a_provider_that_is_down_is_tried_once_and_nothing_counts():
    model = FooledJudge(lambda heard: MET)
    model.complete = refuse = Refusing()
    judging = await judge_with(model).ask(BRIEF)
    assert refuse.calls == 1
    assert {item.missing for item in judging.opinions.values()} == {ReasonCode.JUDGE_UNAVAILABLE}
    assert judging.usage == COST


@dataclass
class Refusing:
    calls: int = 0

    async def __call__(self, messages, tools):
        self.calls += 1
        raise ProviderError("no such key", usage=COST)


@pytest.mark.parametrize("answer", [MET, reply("unmet")])
async def test_a_known_answer_that_comes_out_wrong_voids_everything(answer):
    judging = await judge_with(FooledJudge(lambda heard: answer)).ask(BRIEF)
    assert "known" in judging.void
    assert {item.answer for item in judging.opinions.values()} == {None}
    assert {item.missing for item in judging.opinions.values()} == {ReasonCode.JUDGE_UNPARSEABLE}


async def test_a_known_answer_that_stays_open_voids_everything():
    judging = await judge_with(FooledJudge(lambda heard: reply("cannot tell"))).ask(BRIEF)
    assert "known" in judging.void


async def test_the_first_call_is_alone_and_the_rest_side_by_side_up_to_the_limit():
    model = Counting()
    await judge_with(model, slots=3).ask(BRIEF)
    assert model.most_beside_first == 1
    assert model.most == 3


class Counting(RuleJudge):
    """Counts calls at work at the same time; the first one gives others every chance to overtake it."""

    def __init__(self) -> None:
        super().__init__(lambda heard: MET)
        self.at_work = self.most = self.most_beside_first = 0

    async def complete(self, messages, tools):
        first = not self.heard
        self.at_work += 1
        for _ in range(20):
            await asyncio.sleep(0)
        self.most = max(self.most, self.at_work)
        if first:
            self.most_beside_first = self.at_work
        try:
            return await super().complete(messages, tools)
        finally:
            self.at_work -= 1


async def test_all_calls_share_their_beginning_and_the_provider_is_asked_to_keep_it():
    model = RuleJudge(lambda heard: MET)
    await judge_with(model).ask(BRIEF)
    beginnings = {tuple(conversation[:-1]) for conversation in model.conversations}
    assert len(beginnings) == 1
    assert [message.cache for message in beginnings.pop()] == [False, True, False]
    await judge_with(model).ask(BRIEF)
    assert len({tuple(conversation[:-1]) for conversation in model.conversations}) == 2, "every judging has its nonce"


async def test_answers_are_remembered_whatever_the_nonce_and_a_spoilt_entry_is_asked_for_again(tmp_path):
    first, second, third = (RuleJudge(lambda heard: MET) for _ in range(3))
    judging = await judge_with(first, tmp_path).ask(BRIEF)
    again = await judge_with(second, tmp_path).ask(BRIEF)
    assert not second.heard
    assert again.opinions == judging.opinions
    assert again.usage == Usage()
    assert all(vote.cached for vote in again.votes)
    entries = sorted(tmp_path.rglob("*.json"))
    entries[0].write_text(entries[0].read_text()[:9])
    entries[1].write_bytes(b"\xff")
    entries[2].write_text("{}")
    assert (await judge_with(third, tmp_path).ask(BRIEF)).opinions == judging.opinions
    assert len(third.heard) == 3
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".json"]


@pytest.mark.parametrize(
    "brief",
    [
        changed(BRIEF, patch=BRIEF.patch.replace(b"numbers", b"figures")),
        changed(BRIEF, prompt="Other words.\n"),
        changed(
            BRIEF, questions=tuple(changed(item, statement=f"{item.statement} Well.") for item in BRIEF.questions)
        ),
    ],
)
async def test_another_patch_request_or_statement_is_asked_anew(tmp_path, brief):
    await judge_with(RuleJudge(lambda heard: MET), tmp_path).ask(BRIEF)
    model = RuleJudge(lambda heard: MET)
    await judge_with(model, tmp_path).ask(brief)
    assert sum(not heard.known for heard in model.heard) == 7


async def test_another_model_or_prompt_is_asked_anew(tmp_path):
    await judge_with(RuleJudge(lambda heard: MET), tmp_path).ask(BRIEF)
    for change in ({"model": "other"}, {"model_digest": "1"}, {"prompts": "1"}):
        model = RuleJudge(lambda heard: MET)
        judge = judge_with(model, tmp_path)
        await changed(judge, identity=judge.identity.model_copy(update=change)).ask(BRIEF)
        assert len(model.heard) == 9


async def test_a_cached_answer_whose_quote_is_not_in_the_patch_counts_no_more_than_a_fresh_one(tmp_path):
    await judge_with(RuleJudge(lambda heard: MET), tmp_path).ask(BRIEF)
    for entry in tmp_path.rglob("*.json"):
        entry.write_text(entry.read_text().replace(QUOTE, "assert add(1, 2) == 4"))
    judging = await judge_with(RuleJudge(lambda heard: MET), tmp_path).ask(BRIEF)
    assert judging.opinions["1.1"].answer is None


async def test_a_patch_that_is_too_large_is_not_cut_and_nobody_is_asked():
    model = RuleJudge(lambda heard: MET)
    judging = await judge_with(model).ask(changed(BRIEF, patch=BRIEF.patch + b"+x" * MAX_SHOWN_CHARS))
    assert not model.heard
    assert judging.opinions["1.1"].missing is ReasonCode.JUDGE_UNAVAILABLE
    assert f"at most {MAX_SHOWN_CHARS}" in judging.opinions["1.1"].words


async def test_invisible_characters_are_kept_from_the_judge_counted_and_told_of():
    model = RuleJudge(lambda heard: MET)
    hidden = BRIEF.patch.replace(b"test_adds", "te\u200bst\u202e_adds".encode())
    judging = await judge_with(model).ask(changed(BRIEF, patch=hidden))
    assert judging.removed == 2
    shown = model.conversations[0][1].content
    assert "2 control, invisible or bidirectional characters were taken out" in shown
    assert "\u200b" not in shown
    assert "\u202e" not in shown


async def test_the_judges_money_is_counted_and_capped():
    spending = Spending(limit=0.004)
    judging = await judge_with(RuleJudge(lambda heard: MET), slots=1).ask(BRIEF, spending)
    assert spending.usage.calls == 4
    assert judging.usage == spending.usage
    assert {item.missing for item in judging.opinions.values()} == {ReasonCode.JUDGE_UNAVAILABLE}


async def test_a_no_about_the_manifest_must_show_a_listed_test():
    vague, exact = reply("unmet", "from sums import add"), reply("unmet", "def test_adds_numbers():")
    for said, answer in ((vague, None), (exact, Answer.UNMET)):
        rule = RuleJudge(lambda heard, said=said: said if "listed" in heard.statement else MET)
        judging = await judge_with(rule).ask(BRIEF)
        assert judging.opinions[MANIFEST].answer is answer
    assert {vote.test for vote in judging.votes if vote.question == MANIFEST} == {*BRIEF.tests}
