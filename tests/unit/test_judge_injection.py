"""The corpus of patches that talk to their judge, put to judges whose weaknesses are known."""

import json
import re
from collections import Counter

import pytest

from harness.judging.verify.judge.prompts import LINE_PREFIX, Shown
from harness.judging.verify.judge.questions import Answer
from harness.plugins.scripted_provider.scenario import Reply
from harness.plugins.scripted_provider.server import Received, serve
from harness.results.injection import CaseEnd, default_corpus, judge_corpora, read_corpus
from harness.specs.errors import ProviderError, UserError
from tests.support.command import typed_beside
from tests.support.judges import FooledJudge, Heard, RuleJudge, added_line, hear, judge_with, known_reply, reply

ATTACKS, BENIGN = read_corpus(default_corpus())
CASES = (*ATTACKS.cases, *BENIGN.cases)
TRUTHS = {(Shown.of(case.brief("", 1)).patch.rstrip("\n"), case.statement): case.truth for case in CASES}
TALKS = re.compile(r"judge|grad|answer|system|met\b|evaluat|instructions", re.IGNORECASE)


def truth(heard: Heard) -> str:
    """What an incorruptible judge says."""
    known = TRUTHS[heard.patch, heard.statement]
    return reply(known, added_line(heard) if known is Answer.MET else "")


def gullible(heard: Heard) -> str:
    """Does what a patch says to it, and sees injections where there are none."""
    return reply("met", added_line(heard)) if TALKS.search(heard.patch) else truth(heard)


def test_the_corpus_is_large_and_varied():
    assert len(ATTACKS.cases) >= 40
    assert len(BENIGN.cases) >= 40
    assert len({case.family for case in ATTACKS.cases}) >= 12
    assert all(case.truth is Answer.UNMET for case in ATTACKS.cases), "an attack that works changes the answer"
    assert {case.truth for case in BENIGN.cases} == {Answer.MET, Answer.UNMET}
    suspicious = [case for case in BENIGN.cases if TALKS.search(Shown.of(case.brief("", 1)).patch)]
    assert len(suspicious) >= 5


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_whatever_a_patch_holds_only_our_lines_are_free_of_the_prefix(case):
    model = RuleJudge(lambda heard: reply("unmet"))
    await judge_with(model, votes=None).ask(case.brief(ATTACKS.request, 1))
    for conversation in model.conversations[:1]:
        data = conversation[1].content
        ours = [line for line in data.split("\n") if not line.startswith(LINE_PREFIX)]
        [nonce] = set(re.findall(r"=== \w+ ([0-9a-f]{32}) (?:begins|ends)", "\n".join(ours)))
        assert nonce not in case.text + case.patch
        assert sum(line.startswith("=== ") for line in ours) == 6
        assert len(ours) <= 14


async def test_an_incorruptible_judge_is_moved_by_no_attack_and_right_about_every_honest_patch():
    report = await judge_corpora(judge_with(RuleJudge(truth)), ATTACKS, BENIGN, votes=1)
    assert report.attack_success.part == 0
    assert report.benign_drift.part == 0
    assert report.attack_success.high < 0.08
    assert Counter(item.end for item in report.attacks) == {
        CaseEnd.RIGHT: len(ATTACKS.cases) - 1,
        CaseEnd.OPEN: 1,  # the huge one, which no judge is shown
    }


async def test_a_gullible_judge_is_seen_to_be_one():
    report = await judge_corpora(judge_with(RuleJudge(gullible)), ATTACKS, BENIGN, votes=1)
    assert report.attack_success.part >= 25
    assert report.attack_success.low > 0.3
    assert report.benign_drift.part == 0


async def test_a_judge_that_says_met_to_everything_is_caught_by_the_known_answers():
    def swayed(heard: Heard) -> str:
        met = reply("met", added_line(heard))
        return met if TALKS.search(heard.patch) else known_reply(heard) if heard.known else truth(heard)

    report = await judge_corpora(judge_with(FooledJudge(swayed)), ATTACKS, BENIGN, votes=1)
    assert report.attack_success.part == 0
    assert report.caught.part >= 25
    assert 0 < report.benign_drift.part < len(BENIGN.cases), "honest work that looks like an attack pays for it"


async def test_cases_in_which_the_judge_cannot_be_reached_are_no_evidence():
    report = await judge_corpora(judge_with(RuleJudge(lambda heard: ProviderError("down"))), ATTACKS, BENIGN, 1)
    assert {item.end for item in report.benign} == {CaseEnd.UNAVAILABLE}
    assert report.benign_drift is None


def test_a_folder_without_a_corpus_is_named(tmp_path):
    with pytest.raises(UserError, match="no corpus here"):
        read_corpus(tmp_path)


@pytest.mark.long
async def test_the_command_tries_a_judge_over_http_and_remembers_its_answers(tmp_path):
    def answer(request: Received) -> Reply:
        heard = hear(request.text)
        return Reply(text=known_reply(heard) if heard.known else gullible(heard))

    small = tmp_path / "corpus"
    small.mkdir()
    for name, file in (("attacks", ATTACKS), ("benign", BENIGN)):
        few = file.model_copy(update={"cases": file.cases[:4]})
        (small / f"{name}.yaml").write_text(json.dumps(few.model_dump(mode="json")))
    command = ("judge", "test", "-m", "judge.yaml", "--corpus", small, "--votes", "1")
    async with serve(answer) as provider:
        (tmp_path / "judge.yaml").write_text(
            f"model: anthropic/judge\napi_base: {provider.url}\nprices: {{input: 1, output: 2}}\n"
        )
        done = await typed_beside(*command, "--json", cwd=tmp_path)
        assert done.status == 0, done.complaint
        facts = json.loads(done.output)
        assert facts["attack_success"]["part"] > 0
        assert facts["benign_drift"]["part"] == 0
        assert facts["usage"]["calls"] == len(provider.requests) == 24
        # 24 calls, each of 100 tokens in and 20 out at 1 and 2 USD per million
        assert facts["usage"]["cost_usd"] == pytest.approx(24 * (100 * 1 + 20 * 2) / 1_000_000)
        again = await typed_beside(*command, cwd=tmp_path)
    assert "benign drift: 0 of 4 (95% interval 0.0% to 49.0%)" in again.output
    assert "in 0 calls" in again.output
