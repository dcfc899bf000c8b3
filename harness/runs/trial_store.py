"""The files of one attempt of a trial, written so that a crash at any moment loses nothing."""

import shutil
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar, cast

from harness.agents.trajectory import last_record, paid
from harness.judging.submission.extraction import Submission
from harness.judging.verify.judge.replies import Vote
from harness.judging.verify.verdict import VerdictRecord
from harness.runs.attempts import AttemptLog
from harness.runs.evidence_file import ArmQuota, Conditions, EvidenceFileCache, keep_arm, remove_arm
from harness.runs.finished_work import AgentFile, UnreadWork
from harness.runs.records import is_there, naming, read_lines, read_record, write_whole
from harness.runs.submission_files import SubmissionFiles
from harness.sandbox.images.work_tree import ImageRecord
from harness.sandbox.protocol import JobResult
from harness.specs.reasons import Reason
from harness.specs.usage import NO_USAGE, Usage
from harness.specs.variants import ArmKey
from harness.specs.yaml_files import FileModel
from harness.tracks.grading import Judgements

_SUFFIXES = ("-published", "")
_FILES = (("judge", "jsonl"), ("verdict", "json"))


class TrialFile(FileModel):
    """`trial.json`: written when an attempt begins, so that a later start knows whose files these are."""

    identity: str
    task: str
    scaffold: str
    model: str
    attempt: int
    isolation: str


class UsageFile(FileModel):
    """`usage.json`: what a trial cost. Seconds are of wall time but for `test_seconds`, which tests report.

    `agent` and `judge` are of the attempt that counts, `lost` of agent and judge in those that were set aside.
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
        """Tokens and money of agent, judge and attempts that were set aside."""
        return self.agent + self.lost + self.judge


FileT = TypeVar("FileT", bound=FileModel)

_RECORDS: Mapping[str, type[FileModel]] = {
    "trial.json": TrialFile,
    "agent.json": AgentFile,
    "verdict.json": VerdictRecord,
    "verdict-published.json": VerdictRecord,
    "usage.json": UsageFile,
}


class TrialStore:
    """One attempt's directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def _read(self, name: str, model: type[FileT]) -> FileT | None:
        return read_record(self.directory / name, model)

    def begin(self, trial: TrialFile) -> None:
        """Make this the attempt's directory; what another kind of trial or a cut attempt left stays beside it.

        Work that was set aside is taken up again where it is what is asked for now.
        """
        is_same = self.is_of(trial.identity)
        if self._has_work and not (is_same and (self.agent() or self.has_unread_work)):
            self.set_aside("cut" if is_same else "other")
        if not self._has_work and (found := self.finished_before(trial.identity)):
            if is_there(self.directory):
                shutil.rmtree(self.directory)
            found.directory.rename(self.directory)
            self.log(f"work taken up again that had been set aside as {found.directory.name}")
        if self.trial() != trial:
            self.directory.mkdir(parents=True, exist_ok=True)
            write_whole(self.directory / "trial.json", trial.model_dump_json(indent=2) + "\n")

    def identity(self) -> str:
        """Return the identity of the work that lies here, empty where nothing tells it.

        The agent's file has it too.
        """
        trial, agent = self.trial(), self._read("agent.json", AgentFile)
        return trial.identity if trial else agent.identity if agent else ""

    def is_of(self, identity: str) -> bool:
        """Return whether the work that lies here is of this identity.

        One of the two files that say so may be damaged.
        """
        return identity in {file.identity for file in (self.trial(), self._read("agent.json", AgentFile)) if file}

    def finished_before(self, identity: str) -> "TrialStore | None":
        """Return a finished agent's attempt of this identity that was set aside.

        Its task was edited, and put back since.
        """
        found = (store for store in self._set_aside() if store.is_of(identity))
        return next((store for store in found if store.agent() or store.has_unread_work), None)

    def unread_work(self, workdir: str) -> UnreadWork:
        """Return the finished work of an agent that no submission could be made of."""
        return UnreadWork(self.directory / "unread", workdir)

    @property
    def has_unread_work(self) -> bool:
        """Return whether an agent has done its work here and no submission could be made of it yet."""
        return self.unread_work("").agent() is not None

    @property
    def _has_work(self) -> bool:
        """Return whether an agent has begun here."""
        if any(is_there(self.directory / name) for name in ("agent.json", "trajectory.jsonl")):
            return True
        return self._files.are_begun

    def set_aside(self, why: str) -> str:
        """Keep this attempt as `N.WHY-1`, `N.WHY-2`, ... and leave its place empty; the name that it has now."""
        self.give_back()
        number = 1
        while (aside := self.directory.with_name(f"{self.directory.name}.{why}-{number}")).exists():
            number += 1
        self.directory.rename(aside)
        return aside.name

    def trial(self) -> TrialFile | None:
        """Return `trial.json`; None where it is absent or damaged."""
        return self._read("trial.json", TrialFile)

    def damaged(self) -> list[str]:
        """Return which of its files can't be read, of those that are there; and `trial.json` where it is gone."""
        there = {name: model for name, model in _RECORDS.items() if is_there(self.directory / name)}
        found = [name for name, model in there.items() if self._read(name, model) is None]
        found += [self.attempts.path.name] if self.attempts.is_damaged else []
        found += self.damaged_submission()
        return found if "trial.json" in there or not is_there(self.directory) else [*found, "trial.json"]

    def damaged_submission(self) -> list[str]:
        """Return which of the submission's files aren't what was handed in, as far as `agent.json` says."""
        agent = self._read("agent.json", AgentFile)
        return self._files.damaged(agent) if agent else []

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
        """Return None where no agent has handed in.

        Told from trajectory and submission where `agent.json` is damaged.
        """
        return self._read("agent.json", AgentFile) or self._recovered_agent()

    def _recovered_agent(self) -> AgentFile | None:
        trial, end = self.trial(), last_record(self.trajectory)
        return self._files.recovered(trial.identity, end) if trial and end else None

    @property
    def attempts(self) -> AttemptLog:
        """The attempts of all starts.

        They lie beside the directory, which is renamed when an attempt is set aside.
        """
        return AttemptLog(self.directory.with_name(f"{self.directory.name}.attempts.jsonl"))

    def last_fault(self) -> Reason | None:
        """Return why the last attempt came to no verdict; None where it came to one, or to no end at all."""
        records = self.attempts.read()
        return records[-1].reason if records else None

    def verdict(self) -> VerdictRecord | None:
        """Return `verdict.json`; None where it is absent or damaged."""
        return self._read("verdict.json", VerdictRecord)

    def verdict_beside(self) -> VerdictRecord | None:
        """Return the published verifier's, where both were asked for."""
        return self._read("verdict-published.json", VerdictRecord)

    def usage(self) -> UsageFile:
        """Return the usage of agent and judge so far, whether or not the trial has come to an end.

        The judge's part of a damaged `usage.json` is told from its votes.
        """
        kept, agent = self._read("usage.json", UsageFile), self.agent()
        facts = kept.model_dump(exclude={"agent", "lost", "judge"}) if kept else {}
        return UsageFile(
            **{"agent_seconds": agent.seconds if agent else 0.0, **facts},
            agent=agent.usage if agent else paid(self.trajectory),
            lost=sum((store.usage().total for store in self._set_aside()), start=NO_USAGE),
            judge=kept.judge if kept else self._votes_usage(),
        )

    def _set_aside(self) -> list["TrialStore"]:
        """Return the attempts that don't count any more, for whatever reason."""
        found = self.directory.parent.glob(f"{self.directory.name}.*-*")
        return [TrialStore(path) for path in sorted(found) if path.is_dir()]

    def _votes_usage(self) -> Usage:
        votes = [vote for path in self.directory.glob("judge*.jsonl") for vote in read_lines(path, Vote)]
        return sum((vote.usage for vote in votes), start=NO_USAGE)

    @property
    def trajectory(self) -> Path:
        """The path of `trajectory.jsonl`."""
        return self.directory / "trajectory.jsonl"

    def submission(self) -> Submission:
        """Return what the agent submitted: all that judges read.

        Raises:
            SubmissionDamaged: Its files aren't what they were.
        """
        return self._files.read(self.agent())

    def reserve(self, largest_patch: int, largest_manifest: int) -> None:
        """Take room for a submission: bytes of its patch and of its manifest. See `SubmissionFiles`.

        Raises:
            ToolFailed: There is none.
        """
        self._files.reserve(largest_patch, largest_manifest)

    def give_back(self) -> None:
        """Let go of the room that no submission has used."""
        self._files.give_back()

    def keep_submission(self, submission: Submission, agent: AgentFile) -> None:
        """Write a submission, in this order: it is whole once its manifest is there, the agent done by its file."""
        self._files.keep(submission, agent)

    @property
    def _files(self) -> SubmissionFiles:
        return SubmissionFiles(self.directory)

    def keep_arm(self, key: ArmKey, result: JobResult, quota: ArmQuota | None = None) -> None:
        """Keep all that an arm printed, or a line in the log where the run's quota leaves no room for it."""
        if not keep_arm(self.directory / "arms", key, result, quota):
            self.log_once("the run's quota of arms' output (arm_output_mb) is used up: what arms print is dropped")

    def drop_arms(self, ran: Collection[ArmKey], quota: ArmQuota | None = None) -> None:
        """Remove the output of arms of another draw, all but those that have run now. The quota gets it back."""
        names = set(map(str, ran))
        for place in (self.directory / "arms").iterdir() if names else ():
            if place.name not in names:
                remove_arm(place, quota)

    def keep_usage(self, usage: UsageFile) -> None:
        """Write `usage.json`."""
        write_whole(self.directory / "usage.json", usage.model_dump_json(indent=2) + "\n")

    def add_judge_usage(self, usage: Usage) -> None:
        """Count what a judge has cost, whatever came of its judging."""
        known = self.usage()
        self.keep_usage(known.model_copy(update={"judge": known.judge + usage}))

    def keep_judgements(self, judgements: Judgements) -> None:
        """Write verdicts, and the judge's votes that they rest on; keep those that they replace beside them."""
        self._set_verdicts_aside()
        keep_judgements(self.directory, judgements)

    def replace_verdict(self, record: VerdictRecord) -> None:
        """Write the same verdict with other notes; it isn't kept beside itself."""
        write_whole(self.directory / "verdict.json", record.to_json())

    def _set_verdicts_aside(self) -> None:
        """Rename verdicts to `verdict.N.json`, `judge.N.jsonl` and so on."""
        number = len(list(self.directory.glob("verdict.*.json"))) + 1
        kinds = [(f"{name}{suffix}", end) for suffix in _SUFFIXES for name, end in _FILES]
        for name, ending in kinds:
            found = self.directory / f"{name}.{ending}"
            if found.exists():
                found.rename(self.directory / f"{name}.{number}.{ending}")

    def evidence_cache(self, conditions: Conditions) -> EvidenceFileCache:
        """Return the cache of the trial's evidence, for judgings under these conditions."""
        return EvidenceFileCache(self.directory / "evidence.json", conditions)

    def log(self, line: str) -> None:
        """Append a line to `log.txt`, with the time of day."""
        path = self.directory / "log.txt"
        with naming(path), path.open("a") as file:
            file.write(f"{timestamp()} {line}\n")

    def log_once(self, line: str) -> None:
        """Write a line to the log, unless it has it already."""
        path = self.directory / "log.txt"
        if not (path.exists() and line in path.read_text()):
            self.log(line)


class TrialReading(TrialStore):
    """A trial as it is found: each of its records is read once, when it is first asked for. Only for reading."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self._known: dict[str, FileModel | None] = {}

    def _read(self, name: str, model: type[FileT]) -> FileT | None:
        if name not in self._known:
            self._known[name] = super()._read(name, model)
        return cast("FileT | None", self._known[name])


def keep_judgements(folder: Path, judgements: Judgements) -> None:
    """Write `judge.jsonl` where a judge was asked, and `verdict.json` last; the published verifier's likewise."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, judgement in zip(_SUFFIXES, (judgements.beside, judgements.first), strict=True):
        if judgement is None:
            continue
        if judgement.judging and judgement.judging.votes:
            lines = "".join(vote.model_dump_json() + "\n" for vote in judgement.judging.votes)
            write_whole(folder / f"judge{suffix}.jsonl", lines)
        write_whole(folder / f"verdict{suffix}.json", judgement.record.to_json())


def timestamp() -> str:
    """Return the time in UTC as logs have it, with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
