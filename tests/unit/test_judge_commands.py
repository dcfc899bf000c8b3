"""What is said before a judge is paid, and what a trial's directory keeps for the next one."""

import shutil
from dataclasses import replace

import pytest

from harness.judging.verify.evidence import REQUIRED, Evidence, listed_arm
from harness.judging.verify.judge.judge import JudgeReport
from harness.judging.verify.judge.questions import VoteCounts
from harness.judging.verify.judge.replies import Vote
from harness.judging.verify.judgement import Judgement
from harness.judging.verify.verdict import JudgeRecord, VerdictRecord
from harness.models.build import Models
from harness.runs.command import check_judge
from harness.runs.evidence_file import Conditions, EvidenceFileCache
from harness.runs.judges import build_judge, is_final
from harness.runs.plan import RunConfig
from harness.runs.regrade import Regraded
from harness.runs.trial_store import TrialStore
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, VariantKind
from harness.tracks.grading import Judgements
from tests.support.command import typed_beside
from tests.support.corpora import CATALOG

TEST = TestId("tests/test_sums.py", "test_adds")


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-for-tests")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-for-tests")


def named(name: str = "openai/judge", votes: VoteCounts | None = None, cached: bool = False):
    return build_judge(CATALOG, Models(CATALOG), name, votes or VoteCounts(), cached)


def record(judge=None, *reasons: Reason) -> VerdictRecord:
    return VerdictRecord(
        task="t", task_digest="0", image_digest="0", protocol_version=1, isolation="docker",
        verdict=Verdict.UNSCORED if reasons else Verdict.RESOLVED, reasons=reasons,
        judge=JudgeRecord(identity=judge.identity, asked=True) if judge else None,
    )  # fmt: skip


def judgements(found: VerdictRecord, *votes: Vote) -> Judgements:
    return Judgements(Judgement(found, b"", judging=JudgeReport({}, votes)))


def test_a_verdict_is_final_for_the_judge_that_it_is_by():
    judge = named()
    assert is_final(record(), None)
    assert is_final(record(judge), named(cached=True)), "the cache changes nobody"
    assert not is_final(record(), judge)
    assert not is_final(record(judge), None)
    assert not is_final(record(judge), named("openai/other"))
    assert not is_final(record(judge), named(votes=VoteCounts(must=5)))


def test_a_judge_that_could_not_be_had_is_asked_again_at_the_next_start():
    reason = Reason(code=ReasonCode.JUDGE_UNAVAILABLE, stage=Stage.RUBRIC, words="down")
    assert not is_final(record(named(), reason), named())
    assert is_final(record(None, reason), None)
    other = reason.model_copy(update={"code": ReasonCode.JUDGE_UNPARSEABLE})
    assert is_final(record(named(), other), named())


def test_a_judge_with_other_parameters_is_another_judge(tmp_path):
    digests = set()
    for number, words in enumerate(
        ("", "temperature: 0.5\n", "effort: high\n", "limits: {concurrent_requests: 1}\n")
    ):
        file = tmp_path / f"{number}.yaml"
        file.write_text(f"model: openai/judge\n{words}")
        digests.add(named(str(file)).identity.model_digest)
    assert len(digests) == 3


def test_judging_ones_own_work_is_warned_of(tmp_path):
    models = Models(CATALOG)
    [warning] = check_judge(models, RunConfig(models=("openai/x", "openai/y"), judge="openai/x"))
    assert "judges its own work" in warning
    (tmp_path / "x.yaml").write_text("model: openai/x\ntemperature: 1\n")
    assert check_judge(models, RunConfig(models=(str(tmp_path / "x.yaml"),), judge="openai/x"))
    assert not check_judge(models, RunConfig(models=("openai/y",), judge="openai/x"))
    assert not check_judge(models, RunConfig(models=("openai/y",)))


def test_a_cap_that_cannot_be_held_for_the_judge_is_refused_before_anything_is_paid():
    config = RunConfig(models=(), judge="openai/nobody-knows-its-price", max_cost_usd=1.0)
    with pytest.raises(UserError, match="judge openai/nobody-knows-its-price"):
        check_judge(Models(CATALOG), config)


@pytest.mark.long
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["verify", "aiosmtpd-proxy-tlv", "--judge", "gpt"], "unknown model 'gpt'"),
        (["run", "-t", "aiosmtpd-proxy-tlv", "-s", "nop", "--judge", "gpt", "-o", "out"], "unknown model 'gpt'"),
        (["judge", "test", "-m", "openai/x", "--corpus", "."], "no corpus here"),
        (["judge", "calibrate", "none"], "no run here"),
        (["regrade", "none"], "no run here"),
    ],
)
async def test_what_is_not_there_gets_one_line(tmp_path, arguments, words):
    done = await typed_beside(*arguments, cwd=tmp_path)
    assert done.status == 2
    [line] = done.complaint.strip().splitlines()
    assert words in line
    assert not (tmp_path / "out").exists()


def test_a_template_of_the_judge_that_is_wrong_is_named(tmp_path):
    (tmp_path / "tasks").mkdir()
    shutil.copytree(CATALOG.directory / "rubrics" / "prompts", tmp_path / "rubrics" / "prompts")
    (tmp_path / "rubrics" / "prompts" / "question.j2").write_text("{{ statment }}")
    with pytest.raises(UserError, match=r"question\.j2: 'statment' is undefined"):
        build_judge(Catalog(tmp_path), Models(CATALOG), "openai/x", VoteCounts(), False)


def kind_of(key: ArmKey) -> VariantKind:
    return VariantKind(key.variant.rstrip("-0123456789"))


def evidence(status: ArmStatus = ArmStatus.FINISHED) -> Evidence:
    passed = TestResult(test=TEST, outcome=Outcome.PASSED, cases=1, message="printed by the test")
    killed = passed.model_copy(update={"outcome": Outcome.FAILED, "quality": Quality.ASSERTION})
    arms = {
        key: Arm(kind_of(key), status, 0, (killed if "removal" in key.variant else passed,), 1.0) for key in REQUIRED
    }
    return Evidence((TEST,), arms)


CONDITIONS = Conditions(task="1", image="2", isolation="docker", patch="3", manifest="4")


def test_what_arms_showed_comes_back_without_what_tests_printed(tmp_path):
    cache = EvidenceFileCache(tmp_path / "evidence.json", CONDITIONS)
    assert "not kept" in cache.missing()
    cache.keep(evidence())
    assert "printed" not in cache.path.read_text()
    back = cache.read()
    assert back is not None
    assert back.tests == (TEST,)
    assert back.kills(listed_arm("removal-1"), TEST)
    assert not cache.missing()


@pytest.mark.parametrize("name", ["task", "image", "isolation", "patch", "manifest", "protocol_version"])
def test_evidence_of_other_conditions_is_none_and_says_which(tmp_path, name):
    cache = EvidenceFileCache(tmp_path / "evidence.json", CONDITIONS)
    cache.keep(evidence())
    other = replace(cache, conditions=CONDITIONS.model_copy(update={name: 99 if name == "protocol_version" else "x"}))
    assert other.read() is None
    assert name.replace("_", " ") in other.missing()


def test_evidence_that_was_cut_is_none(tmp_path):
    cache = EvidenceFileCache(tmp_path / "evidence.json", CONDITIONS)
    cache.keep(evidence())
    cache.path.write_bytes(cache.path.read_bytes()[:-9])
    assert cache.read() is None


def test_arms_that_were_lost_are_not_kept(tmp_path):
    cache = EvidenceFileCache(tmp_path / "evidence.json", CONDITIONS)
    cache.keep(evidence(ArmStatus.WRONG_VARIANT))
    assert not cache.path.exists()


def test_verdicts_and_votes_that_are_replaced_stay_beside(tmp_path):
    store = TrialStore(tmp_path)
    vote = Vote(question="1.1", statement="Adds numbers.", number=1)
    store.keep_judgements(judgements(record(named()), vote))
    store.keep_judgements(judgements(record()))
    store.keep_judgements(judgements(record(named("openai/other")), vote))
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["judge.1.jsonl", "judge.jsonl", "verdict.1.json", "verdict.2.json", "verdict.json"]
    assert store.verdict() == record(named("openai/other"))


def test_a_rubric_can_change_without_the_agents_and_the_arms_work(tmp_path):
    for folder in ("tasks", "repos", "rubrics"):
        shutil.copytree(CATALOG.directory / folder, tmp_path / folder)
    before = CATALOG.task("aiosmtpd-proxy-tlv")
    rubric = tmp_path / "rubrics" / "aiosmtpd-proxy-tlv.yaml"
    rubric.write_text(rubric.read_text() + "\n")
    after = Catalog(tmp_path).task("aiosmtpd-proxy-tlv")
    assert before.digest != after.digest
    assert before.digest_without_rubric == after.digest_without_rubric
    (tmp_path / "tasks" / "aiosmtpd-proxy-tlv" / "prompt.md").write_text("Something else.\n")
    assert Catalog(tmp_path).task("aiosmtpd-proxy-tlv").digest_without_rubric != before.digest_without_rubric


def test_a_trial_that_cannot_be_regraded_has_not_changed():
    unmet = Reason(code=ReasonCode.CRITERION_UNMET, stage=Stage.RUBRIC, words="x")
    assert not Regraded("t", record(), None, "its arms must run again").changed
    assert Regraded("t", record(), record(None, unmet)).changed
