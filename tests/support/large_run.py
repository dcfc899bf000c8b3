"""A large run, for what must be quick: one trial is made by the stores, the others are copies of its files."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from harness.agents.trajectory import Ending, EndRecord, HeaderRecord, ObservationRecord, Record, Trajectory
from harness.judging.submission.extraction import Submission
from harness.judging.verify.evidence import AT_BASELINE, Evidence, listed_arm
from harness.judging.verify.rubric_check import CriterionResult
from harness.judging.verify.verdict import ManifestStage, RubricStage, StageStatus, VerdictRecord
from harness.models.protocol import Message, MessageRole, StopReason, ToolCall
from harness.models.replay import MessageRecord
from harness.runs.evidence_file import Conditions, EvidenceFile
from harness.runs.plan import RunConfig, RunFile
from harness.runs.trial_store import TrialStore
from harness.specs.catalog_places import default_directory
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.rubric import GradedBy, Importance
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.usage import Usage
from harness.specs.variants import Arm, ArmStatus, VariantKind
from harness.specs.yaml_files import yaml_text
from tests.support.run_folder import begun, verdict, worked

MODELS = ("openai/one", "openai/two", "openai/three", "openai/four", "openai/five")
_COPIED = "jansson-object-merge"
_TASK, _MODEL, _NUMBER = "task-name-xyz", "openai/model-xyz", "number_xyz"
_TESTS = tuple(TestId("tests/test_a.py", f"test_case_{number}") for number in range(8))
_ARMS, _STEPS, _CRITERIA = 45, 30, 15


def large_catalog(directory: Path, tasks: int) -> list[str]:
    """A catalog of copies of one shipped task; their names."""
    shipped = default_directory()
    for name in ("repos", "scaffolds"):
        shutil.copytree(shipped / name, directory / name)
    (directory / "rubrics").mkdir()
    rubric = (shipped / "rubrics" / f"{_COPIED}.yaml").read_text()
    names = [f"copied-task-{number:03}" for number in range(tasks)]
    for name in names:
        to = directory / "tasks" / name
        shutil.copytree(shipped / "tasks" / _COPIED, to, ignore=shutil.ignore_patterns("twins", "fuzz", "probes-on*"))
        file = to / "task.yaml"
        file.write_text(file.read_text().replace(_COPIED, name))
        (directory / "rubrics" / f"{name}.yaml").write_text(rubric.replace(_COPIED, name))
    return names


def large_run(directory: Path, tasks: list[str], attempts: int, models: tuple[str, ...] = MODELS) -> Path:
    """Each model at each task: a third of the trials is resolved, most of the others fail, few are unscored."""
    kinds = [_trial(directory / "made", code) for code in (None, ReasonCode.CRITERION_UNMET, None)]
    kinds.append(_trial(directory / "made", ReasonCode.SANDBOX_LOST))
    run = directory / "run"
    asked = {f"mini/{model}": dict.fromkeys(tasks, attempts) for model in models}
    repositories = {task: f"repository-{number % 7}" for number, task in enumerate(tasks)}
    run.mkdir(parents=True)
    file = RunFile(id="0", config=RunConfig(), isolation="docker", attempts=asked, repositories=repositories)
    (run / "run.yaml").write_text(yaml_text(file.model_dump(mode="json")))
    number = 0
    for task in tasks:
        for model in models:
            for attempt in range(1, attempts + 1):
                number += 1
                kind = kinds[3] if number % 31 == 0 else kinds[(number * 7 + len(model)) % 3]
                _write(
                    run / "trials" / task / "mini" / model.replace("/", "-") / str(attempt),
                    kind,
                    task,
                    model,
                    attempt,
                )
    return run


def _write(place: Path, files: dict[str, str], task: str, model: str, attempt: int) -> None:
    (place / "submission").mkdir(parents=True)
    for name, text in files.items():
        own = text.replace(_TASK, task).replace(_MODEL, model).replace(_NUMBER, f"{task[-3:]}_{attempt}")
        (place / name).write_text(own.replace('"attempt":1', f'"attempt":{attempt}') if name == "trial.json" else own)


def _trial(directory: Path, code: ReasonCode | None) -> dict[str, str]:
    """The files of a trial, by their names."""
    shutil.rmtree(directory, ignore_errors=True)
    store = worked(begun(directory, _TASK, "mini", _MODEL))
    store.keep_submission(Submission(_patch().encode(), _manifest().encode()), store.agent())  # type: ignore[arg-type]
    with Trajectory(store.trajectory) as trajectory:
        for record in _records():
            trajectory.add(record)
    (store.directory / "verdict.json").write_text(_verdict(store, code).to_json())
    (store.directory / "evidence.json").write_text(_evidence().model_dump_json())
    paths = [path for path in store.directory.rglob("*") if path.is_file()]
    return {path.relative_to(store.directory).as_posix(): path.read_text() for path in paths}


def _verdict(store: TrialStore, code: ReasonCode | None) -> VerdictRecord:
    record = verdict(store)
    tests = tuple(map(str, _TESTS))
    criteria = tuple(
        CriterionResult(
            id=f"1.{number}", axis=1, importance=Importance.MUST, met=code is None or number > 1,
            decided_by=GradedBy.PROBE, words="a test fails under each probe",
            killed_by={f"1.{number}": tests[: number % 4] if code is None or number > 1 else ()},
        )
        for number in range(1, _CRITERIA + 1)
    )  # fmt: skip
    reasons = (Reason(code=code, stage=Stage.RUBRIC, subject="1.1", words="because"),) if code else ()
    stages = record.stages.model_copy(
        update={
            "manifest": ManifestStage(status=StageStatus.PASSED, tests=tests),
            "rubric": RubricStage(status=StageStatus.FAILED if code else StageStatus.PASSED, criteria=criteria),
        }
    )
    update = {"verdict": code.verdict if code else record.verdict, "reasons": reasons, "stages": stages}
    return record.model_copy(update=update)


def _evidence() -> EvidenceFile:
    passed = tuple(TestResult(test=test, outcome=Outcome.PASSED, cases=1, seconds=0.01) for test in _TESTS)
    failed = tuple(
        TestResult(test=test, outcome=Outcome.FAILED, quality=Quality.ASSERTION, cases=1, seconds=0.01)
        for test in _TESTS
    )
    arms = {AT_BASELINE: Arm(VariantKind.BASELINE, ArmStatus.FINISHED, 0, passed, 1.5)}
    for number in range(1, _ARMS):
        arms[listed_arm(f"probe-1.{number}")] = Arm(VariantKind.PROBE, ArmStatus.FINISHED, 1, failed, 1.5)
    conditions = Conditions(task="0", image="0", isolation="docker", patch="0", manifest="0")
    return EvidenceFile(conditions=conditions, evidence=Evidence(_TESTS, arms))


def _records() -> Iterator[Record]:
    yield HeaderRecord(scaffold="mini", scaffold_version="1.1", model=_MODEL, task=_TASK)
    yield MessageRecord(step=0, message=Message(role=MessageRole.USER, content="please write tests\n" * 100))
    search = f"grep -rn {_NUMBER} src | head"
    commands = ("ls -la", search, f"cat src/{_NUMBER}.c", "run_tests tests/test_a.py", "git diff")
    for step in range(1, _STEPS + 1):
        command = f"{commands[step % len(commands)]} # {step}"
        call = ToolCall(id=str(step), name="bash", arguments=f'{{"command": "{command}"}}')
        said = Message(role=MessageRole.ASSISTANT, content="I look at the code.", tool_calls=(call,))
        usage = Usage(calls=1, input=1000, output=100, cost_usd=0.01)
        yield MessageRecord(step=step, message=said, usage=usage, stop=StopReason.TOOL_CALLS)
        yield ObservationRecord(
            step=step, command=command, exit_status=0, seconds=0.1, output_bytes=2000, truncated=0, timed_out=False
        )
        yield MessageRecord(step=step, message=Message(role=MessageRole.TOOL, content="some output <of> it\n" * 100))
    yield EndRecord(ending=Ending.SUBMITTED, steps=_STEPS, usage=Usage(calls=_STEPS))


def _patch() -> str:
    line = f"+    assert merge(1, 2) == {_NUMBER}  # a line\n"
    body = "".join(f"+def {test.name}():\n" + line * 20 for test in _TESTS)
    count = body.count("\n")
    head = "diff --git a/tests/test_a.py b/tests/test_a.py\nnew file mode 100644\n"
    return f"{head}--- /dev/null\n+++ b/tests/test_a.py\n@@ -0,0 +1,{count} @@\n{body}"


def _manifest() -> str:
    return "- file: tests/test_a.py\n  tests:\n" + "".join(f"    - {test.name}\n" for test in _TESTS)
