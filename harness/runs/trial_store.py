"""What one attempt of a trial leaves behind, written so that a crash at any moment loses nothing."""

import json
from datetime import UTC, datetime
from pathlib import Path

from harness.agents.trajectory import paid
from harness.runs.evidence_file import Conditions, FileShelf
from harness.runs.records import read_record, write_whole
from harness.sandbox.images.record import ImageRecord
from harness.sandbox.protocol import JobResult
from harness.specs.loading import FileModel
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.variants import ArmKey
from harness.submission.extraction import Submission
from harness.tracks.grading import Judgements
from harness.verify.verdict import VerdictRecord

_SUFFIXES = ("-published", "")
_FILES = (("judge", "jsonl"), ("verdict", "json"))


class TrialFile(FileModel):
    """`trial.json`: written when an attempt begins, so that a later start knows whose remains these are."""

    identity: str
    task: str
    scaffold: str
    model: str
    attempt: int
    isolation: str


class AgentFile(FileModel):
    """`agent.json`: written once the submission is safely on disk. The agent is never paid again after that.

    `message` says more of an ending than its name. `seconds` is wall time, with the sandbox's start and the reading
    of the submission. `agent_seconds` is what the agent's clock showed, `model_seconds` the part of it in which a
    model composed an answer; `waiting_seconds` of failed requests and rate limits are in neither.
    """

    ending: str
    message: str = ""
    steps: int
    usage: Usage
    seconds: float
    refusal: str = ""
    remarks: tuple[str, ...] = ()
    agent_seconds: float = 0.0
    model_seconds: float = 0.0
    waiting_seconds: float = 0.0
    failed_requests: int = 0


class UsageFile(FileModel):
    """`usage.json`: what a trial cost. Seconds are of wall time but for `test_seconds`, which tests report.

    `agent` is of the attempt that counts, `lost` of the agent in those that were set aside, `judge` of the judge in
    all of them.
    """

    agent: Usage
    lost: Usage = NO_USAGE
    judge: Usage = NO_USAGE
    agent_seconds: float = 0.0
    verify_seconds: float = 0.0
    arm_seconds: float = 0.0
    test_seconds: float = 0.0

    @property
    def total(self) -> Usage:
        return self.agent + self.lost + self.judge


class TrialStore:
    """One attempt's directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def begin(self, trial: TrialFile) -> None:
        """Make this the attempt's directory; remains of another kind or of a cut attempt are kept beside it."""
        found = self.trial()
        if self.directory.exists() and (found != trial or self.agent() is None):
            self.set_aside("cut" if found == trial else "other")
        if not self.directory.exists():
            self.directory.mkdir(parents=True)
            write_whole(self.directory / "trial.json", trial.model_dump_json(indent=2) + "\n")

    def set_aside(self, why: str) -> None:
        """Keep this attempt as `N.WHY-1`, `N.WHY-2`, ... and leave its place empty."""
        number = 1
        while (aside := self.directory.with_name(f"{self.directory.name}.{why}-{number}")).exists():
            number += 1
        self.directory.rename(aside)

    def trial(self) -> TrialFile | None:
        return read_record(self.directory / "trial.json", TrialFile)

    def note_image(self, record: ImageRecord) -> None:
        """Keep what the image was made of; say so in the log where an earlier start had another build of it."""
        known = read_record(self.directory / "image.json", ImageRecord)
        if known and (known.engine_id, known.architecture, known.packages) != (
            record.engine_id,
            record.architecture,
            record.packages,
        ):
            self.log(f"warning: another build of the image than before: {record.engine_id}, {record.architecture}")
        write_whole(self.directory / "image.json", record.model_dump_json(indent=2) + "\n")

    def agent(self) -> AgentFile | None:
        return read_record(self.directory / "agent.json", AgentFile)

    def verdict(self) -> VerdictRecord | None:
        return read_record(self.directory / "verdict.json", VerdictRecord)

    def verdict_beside(self) -> VerdictRecord | None:
        """The published verifier's, where both were asked for."""
        return read_record(self.directory / "verdict-published.json", VerdictRecord)

    def usage(self) -> UsageFile | None:
        return read_record(self.directory / "usage.json", UsageFile)

    @property
    def trajectory(self) -> Path:
        return self.directory / "trajectory.jsonl"

    def submission(self) -> Submission:
        folder, agent = self.directory / "submission", self.agent()
        patch, manifest = (folder / "patch.diff").read_bytes(), (folder / "manifest.yaml").read_bytes()
        return Submission(patch, manifest, agent.refusal if agent else "")

    def keep_submission(self, submission: Submission, agent: AgentFile) -> None:
        folder = self.directory / "submission"
        folder.mkdir(exist_ok=True)
        write_whole(folder / "patch.diff", submission.patch)
        write_whole(folder / "manifest.yaml", submission.manifest)
        write_whole(self.directory / "agent.json", agent.model_dump_json(indent=2) + "\n")

    def keep_arm(self, key: ArmKey, result: JobResult) -> None:
        keep_arm(self.directory / "arms", key, result)

    def keep_usage(self, usage: UsageFile) -> None:
        write_whole(self.directory / "usage.json", usage.model_dump_json(indent=2) + "\n")

    def keep_judgements(self, judgements: Judgements) -> None:
        """Verdicts, and the judge's votes that they rest on; those that they replace are kept beside them."""
        self._set_verdicts_aside()
        keep_judgements(self.directory, judgements)

    def _set_verdicts_aside(self) -> None:
        """As `verdict.N.json`, `judge.N.jsonl` and so on."""
        number = len(list(self.directory.glob("verdict.*.json"))) + 1
        kinds = [(f"{name}{suffix}", end) for suffix in _SUFFIXES for name, end in _FILES]
        for name, ending in kinds:
            found = self.directory / f"{name}.{ending}"
            if found.exists():
                found.rename(self.directory / f"{name}.{number}.{ending}")

    def shelf(self, conditions: Conditions) -> FileShelf:
        return FileShelf(self.directory / "evidence.json", conditions)

    def spent(self) -> UsageFile:
        """Who has used what of this attempt so far, whether or not it has come to an end."""
        known = self.usage()
        name, folder, agent = self.directory.name, self.directory.parent, self.agent()
        aside = [*folder.glob(f"{name}.lost-*"), *folder.glob(f"{name}.cut-*")]
        return UsageFile(
            agent=agent.usage if agent else paid(self.trajectory),
            lost=sum((TrialStore(path).spent().agent for path in aside), start=NO_USAGE),
            judge=known.judge if known else NO_USAGE,
        )

    def log(self, line: str) -> None:
        with (self.directory / "log.txt").open("a") as file:
            file.write(f"{now()} {line}\n")


def keep_judgements(folder: Path, judgements: Judgements) -> None:
    """`verdict.json`, written last, and `judge.jsonl` where a judge was asked; the published verifier's likewise."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, judgement in zip(_SUFFIXES, (judgements.beside, judgements.first), strict=True):
        if judgement is None:
            continue
        if judgement.judging and judgement.judging.votes:
            lines = "".join(vote.model_dump_json() + "\n" for vote in judgement.judging.votes)
            write_whole(folder / f"judge{suffix}.jsonl", lines)
        write_whole(folder / f"verdict{suffix}.json", judgement.record.to_json())


def keep_arm(folder: Path, key: ArmKey, result: JobResult) -> None:
    """All that one arm printed and reported."""
    place = folder / str(key)
    place.mkdir(parents=True, exist_ok=True)
    (place / "output.txt").write_bytes(result.log)
    for path, data in result.outputs.items():
        if "/" not in path and not path.startswith("."):
            (place / path).write_bytes(data)
    facts = {"exit_status": result.exit_status, "timed_out": result.timed_out, "seconds": round(result.seconds, 3)}
    write_whole(place / "arm.json", json.dumps({**facts, "out_of_memory": result.out_of_memory}, indent=2) + "\n")


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
