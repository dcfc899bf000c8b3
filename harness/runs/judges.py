"""Makes a judge from a model's name."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import PROTOCOL_VERSION
from harness.judging.verify.judge.asking import AnswerCache
from harness.judging.verify.judge.judge import Judge
from harness.judging.verify.judge.prompts import Prompts
from harness.judging.verify.judge.questions import JudgeIdentity, VoteCounts
from harness.judging.verify.judge.replies import VoteFault
from harness.judging.verify.judgement import Judgement
from harness.judging.verify.verdict import VerdictRecord
from harness.models.build import Models, recording
from harness.models.stand_ins import SCRIPTED, STAND_INS
from harness.runs.plan import RunConfig, model_digest
from harness.runs.trial_store import TrialStore
from harness.sandbox.host import cache_directory
from harness.specs.catalog import Catalog
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.reasons import ReasonCode, Verdict
from harness.specs.task import Task


def build_judge(
    catalog: Catalog, models: Models, name: str, votes: VoteCounts, cached: bool, check: bool = True
) -> Judge:
    """Return a judge that all trials share.

    Unless `cached`, nobody's answers are read and none are kept. Unless `check`, somebody else checks its model.

    Raises:
        UserError: The model doesn't exist, or the prompts can't be read.
    """
    if check:
        models.check(name)
    prompts, file = Prompts.of(catalog), models.file(name)
    identity = JudgeIdentity(
        model=file.model if file else recording(name)[0],
        model_digest=model_digest(name, file),
        prompts=prompts.digest,
        votes=votes,
    )
    cache = AnswerCache(cache_directory() / "judge" if cached else None)
    return Judge(identity, prompts, lambda: models.build(name), cache)


def judge_for(catalog: Catalog, name: str, cached: bool) -> Judge:
    """Return a judge outside of any run.

    Args:
        catalog: Has its model file.
        name: The model's.
        cached: Whether answers of earlier runs may be used.

    Raises:
        UserError: The model can't be asked.
    """
    return build_judge(catalog, Models(catalog), name, VoteCounts(), cached)


def scenario_judge(path: Path) -> Judge:
    """Return a judge whose answers are in a scenario of the scripted provider.

    Raises:
        UserError: The scenario is wrong.
    """
    prompts, model = Prompts.of(Catalog()), STAND_INS.get(SCRIPTED).model
    model(path)  # a file that is wrong is told now
    identity = JudgeIdentity(model="scenario", model_digest="", prompts=prompts.digest)
    return Judge(identity, prompts, lambda: model(path))


def configured_judge(catalog: Catalog, models: Models, config: RunConfig, check: bool = True) -> Judge | None:
    """Return the judge that a run names; None where it names none. See `build_judge`.

    Raises:
        UserError: The model can't be asked.
    """
    if config.judge is None:
        return None
    return build_judge(catalog, models, config.judge, config.judge_votes, config.judge_cache, check)


def self_judging(known: Models, judge: str | None, tested: Iterable[str]) -> str:
    """Return a warning where the judge is the model under test, whatever files name them; empty where it isn't."""
    if judge is None or _served(known, judge) not in {_served(known, name) for name in tested if name}:
        return ""
    return f"{judge} judges its own work; verdicts are more to be trusted with another model as --judge"


def _served(known: Models, name: str) -> str:
    file = known.file(name)
    return file.model if file else name


def judge_silence(judgement: Judgement) -> str:
    """Return why a judge that was asked has told nothing; empty where it has, or where nobody had to ask it.

    One that was misled did answer: that is the patch's doing, and counts.
    """
    judge, judging = judgement.record.judge, judgement.judging
    if judge is None or judging is None or judging.misled:
        return ""
    lost = (reason.words for reason in judgement.record.reasons if reason.code is ReasonCode.JUDGE_UNAVAILABLE)
    if not (silence := judge.void or next(lost, "")):
        return ""
    return next((vote.words for vote in judging.votes if vote.fault is VoteFault.UNAVAILABLE), silence)


def old_stays(silence: str) -> str:
    """Return what is said of a trial that keeps its verdict, since its judge told nothing."""
    return f"the old verdict stays, since the judge couldn't be had: {silence}"


def lost_to_silence(old: VerdictRecord | None, judged: Judgement) -> str:
    """Return why a verdict that was scored would be unscored now, where that is only for want of a judge.

    A verdict on another version of the task, its image or the grading rules is out of date: nothing of it is lost.
    """
    new = judged.record
    if old is None or old.verdict is Verdict.UNSCORED or _is_outdated(old, new):
        return ""
    return judge_silence(judged) if new.verdict is Verdict.UNSCORED and new.is_without_judge else ""


def _is_outdated(old: VerdictRecord, new: VerdictRecord) -> bool:
    fields = ("task_digest", "repo_digest", "image_digest", "isolation", "protocol_version", "protocol")
    return any(getattr(old, field) != getattr(new, field) for field in fields)


@dataclass(frozen=True)
class VerdictConditions:
    """Conditions under which a stored verdict stays valid."""

    task: Task
    image_digest: str
    isolation: str
    judge: Judge | None
    protocol: GradingRules
    control: ControlRound

    def is_done(self, store: TrialStore) -> bool:
        """Return whether a trial has every verdict that is asked for, and each is final."""
        record, beside = store.verdict(), store.verdict_beside()
        if record is None or record.protocol.is_ours is not self.protocol.is_ours or not self._is_final(record):
            return False
        return self.protocol is not GradingRules.BOTH or (beside is not None and self._is_final(beside))

    def _is_final(self, record: VerdictRecord) -> bool:
        then = (record.task_digest, record.repo_digest, record.image_digest, record.isolation)
        now = (self.task.digest, self.task.repo.digest, self.image_digest, self.isolation)
        same = then == now and record.protocol_version == PROTOCOL_VERSION and is_controlled(record, self.control)
        return same and is_final(record, self.judge)


def is_controlled(record: VerdictRecord, control: ControlRound) -> bool:
    """Return whether nothing of a control round is missing: others than resolved submissions of ours need none."""
    is_open = record.verdict is Verdict.RESOLVED and record.protocol.is_ours
    return not is_open or record.control.covers(control)


def is_final(record: VerdictRecord, judge: Judge | None) -> bool:
    """Return whether a verdict is what this judge says, and not merely that it couldn't be reached."""
    if judge is None:
        return record.judge is None
    same = record.judge is not None and record.judge.identity == judge.identity
    return same and not record.is_without_judge
