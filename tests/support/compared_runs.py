"""Runs of the shipped tasks for `testwright compare`: the stores plan and keep them, verdicts are made up."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness import PROTOCOL_VERSION
from harness.judging.submission.extraction import Submission
from harness.judging.verify.judgement import Judgement
from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.verdict import MutationStage, RubricStage, Stages, StageStatus, VerdictRecord
from harness.models.replay import now
from harness.runs.additions import AskedRun
from harness.runs.attempts import AttemptEnd, AttemptRecord
from harness.runs.finished_work import AgentFile
from harness.runs.plan import RunConfig, Trial, plan_trials
from harness.runs.store import RunStore
from harness.runs.trial import describe
from harness.runs.trial_store import TrialStore, UsageFile
from harness.specs.catalog import Catalog
from harness.specs.reasons import Reason, ReasonCode, Stage, Verdict
from harness.specs.rubric import GradedBy, Importance
from harness.specs.usage import NO_USAGE, Usage
from harness.tracks.grading import Judgements

TASKS = (
    "aiosmtpd-call-limit",
    "aiosmtpd-mail-drop",
    "aiosmtpd-proxy-tlv",
    "borgmatic-config-constants",
    "borgmatic-file-credentials",
    "jansson-object-merge",
    "jansson-writing-out",
    "restic-duration",
    "restic-option-strings",
    "zod-error-forms",
    "zod-stringbool",
)
"""Of five repositories."""
ONE, TWO, THREE = "openai/one", "openai/two", "openai/three"


@dataclass(frozen=True)
class Circumstances:
    """Under what the trials of a run were judged."""

    image: str = "an image"
    isolation: str = "docker"
    protocol_version: int = PROTOCOL_VERSION
    task_digest: str = ""
    ending: str = "submitted"
    calls: int = 4
    failed_requests: int = 0
    format_errors: int | None = None


@cache
def catalog() -> Catalog:
    return Catalog()


def described(directory: Path, config: RunConfig, isolation: str = "docker") -> list[Trial]:
    """A run that was started and has done nothing yet."""
    trials = plan_trials(catalog(), config)
    store = RunStore(directory)
    store.describe(AskedRun(config, trials, isolation))
    store.close()
    return trials


def judged_run(
    directory: Path,
    ends: Mapping[str, str],
    scaffolds: tuple[str, ...] = ("mini",),
    tasks: tuple[str, ...] = TASKS,
    attempts: int = 1,
    under: Circumstances | None = None,
) -> Path:
    """`ends` has a letter for each trial of a model or control, by task and attempt.

    `R` is resolved, `f` failed, `i` invalid, `u` unscored, `e` an empty submission, `.` a trial that has not begun.
    """
    under = under or Circumstances()
    models = tuple(name for name in ends if "/" in name)
    config = RunConfig(tasks=tasks, scaffolds=scaffolds, models=models, attempts=attempts)
    letters = {name: iter(text) for name, text in ends.items()}
    for trial in described(directory, config, under.isolation):
        letter = next(letters[trial.model or trial.scaffold.name])
        if letter != ".":
            _do(TrialStore(directory / "trials" / trial.place), trial, letter, under)
    assert not any(list(rest) for rest in letters.values()), "a letter for each trial"
    return directory


_CODES = {
    "R": None,
    "f": ReasonCode.CRITERION_UNMET,
    "i": ReasonCode.FORGED_REPORT,
    "u": ReasonCode.JUDGE_UNAVAILABLE,
    "e": ReasonCode.EMPTY_SUBMISSION,
}


def _do(store: TrialStore, trial: Trial, letter: str, under: Circumstances) -> None:
    store.begin(describe(trial, under.image, under.isolation))
    usage = Usage(calls=under.calls, input=1000, output=100, cost_usd=0.5) if trial.model else NO_USAGE
    agent = AgentFile(
        ending=under.ending if trial.model else "submitted",
        steps=4,
        usage=usage,
        seconds=12.0,
        counted_seconds=8.0,
        waiting_seconds=2.0,
        failed_requests=under.failed_requests,
        format_errors=under.format_errors,
    )
    store.keep_submission(Submission(f"+{trial.label}\n".encode(), b"[]"), agent)
    store.keep_usage(UsageFile(agent=usage, agent_seconds=12.0, verify_seconds=3.0))
    store.keep_judgements(Judgements(Judgement(_record(trial, _CODES[letter], under), b"")))


def _record(trial: Trial, code: ReasonCode | None, under: Circumstances) -> VerdictRecord:
    """One criterion on each of three axes; the nice-to-haves are met where the must-have is."""
    reached = code in (None, ReasonCode.CRITERION_UNMET)
    criteria = tuple(_criteria(code is None)) if reached else ()
    return VerdictRecord(
        task=trial.task.id,
        task_digest=under.task_digest or trial.task.digest,
        repo_digest=trial.task.repo.digest,
        image_digest=under.image,
        protocol_version=under.protocol_version,
        isolation=under.isolation,
        verdict=code.verdict if code else Verdict.RESOLVED,
        reasons=(Reason(code=code, stage=Stage.RUBRIC, subject="1.1", words="because"),) if code else (),
        stages=Stages(
            mutation=MutationStage(status=StageStatus.PASSED),
            rubric=RubricStage(status=StageStatus.PASSED, criteria=criteria),
        ),
    )


def _criteria(met: bool) -> Iterator[CriterionResult]:
    answers = ((1, Importance.MUST, met), (2, Importance.NICE, met), (5, Importance.NICE, None))
    for axis, importance, answer in answers:
        yield CriterionResult(
            id=f"{axis}.1", axis=axis, importance=importance, met=answer, decided_by=GradedBy.STATIC, words="a check"
        )


def faulted(store: TrialStore, code: ReasonCode, is_final: bool) -> None:
    """An attempt that came to no verdict."""
    number = store.attempts.next_number()
    end = AttemptEnd.FAULT
    store.attempts.add(
        AttemptRecord(number=number, started=now(), end=end, code=code, message="gone", is_final=is_final)
    )
