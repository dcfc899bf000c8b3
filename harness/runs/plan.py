"""The plan of a run: its configuration, its trials, and what makes two trials the same."""

import hashlib
import json
import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar

from pydantic import Field, field_serializer

from harness import PROTOCOL_VERSION, __version__
from harness.agents.registry import agent_class
from harness.agents.templates import REQUEST, template_path
from harness.judging.verify.judge.questions import VoteCounts
from harness.models.build import Models, recording
from harness.runs.ablation import chosen_scaffolds, limited
from harness.sandbox.registry import AUTO
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.grading import ControlRound, GradingRules
from harness.specs.model_file import ModelFile, called
from harness.specs.scaffold import Scaffold
from harness.specs.task import Task
from harness.specs.tracks import TaskOptions
from harness.specs.yaml_files import FileModel, load_yaml
from harness.tracks.registry import check_rules


class RunConfig(FileModel):
    """The file of `testwright run -c FILE`; options of the command line win over it."""

    tasks: tuple[str, ...] = Field(default=(), description="ids, globs, tag:NAME or swe-atlas:PATH")
    exclude: tuple[str, ...] = ()
    repos: tuple[str, ...] = Field(default=(), description="names or globs: only tasks of these repositories")
    scaffolds: tuple[str, ...] = ()
    overrides: tuple[str, ...] = Field(default=(), description="KEY=VALUE of scaffolds, such as limits.steps=50")
    models: tuple[str, ...] = ()
    attempts: int = Field(default=1, ge=1, le=100)
    jobs: int = Field(default=1, ge=1, le=256)
    sandbox: str = Field(
        default=AUTO, description="auto, docker, local, swerex:URL or swerex:FILE, or a registered name"
    )
    max_cost_usd: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    judge: str | None = Field(default=None, description="the model that judges what code can't tell")
    judge_votes: VoteCounts = VoteCounts()
    judge_cache: bool = Field(default=True, description="false: no answer is taken from an earlier judging")
    protocol: GradingRules = Field(default=GradingRules.TESTWRIGHT, description="testwright, published or both")
    control: ControlRound = Field(
        default=ControlRound.DRAWN, description="kills run again alone before a submission is resolved"
    )
    image_map: Path | None = Field(default=None, description="YAML: published image or REPOSITORY@COMMIT: local tag")
    all_criteria: bool = Field(default=False, description="true: published tasks' nice-to-haves are judged as well")
    executor: str = Field(
        default="asyncio", description="where trials are done: asyncio, ray[:HOST:PORT], or registered"
    )
    arm_output_mb: int = Field(default=2000, ge=0, description="MB of arms' output that the run keeps at most")
    registries: tuple[str, ...] = Field(
        default=(), description="HOST[:PORT][=ADDRESS]: for tasks with package registries, beside this machine's own"
    )
    tries: int = Field(default=3, ge=1, le=20, description="of one trial in one start, where infrastructure fails")
    retry_seconds: float = Field(
        default=5, ge=0, le=120, description="before the second try; the waits double, with some chance in them"
    )
    trial_seconds: float | None = Field(
        default=None, gt=0, description="wall time of one try of a trial, with all waits; null: no limit"
    )
    min_free_disk_gb: float = Field(
        default=0.5, ge=0, description="GB that must be free on the disks of images and cache before a trial begins"
    )
    image_disk_gb: float | None = Field(
        default=None, ge=0, description="GB that images built or pulled here may take; least recently used ones go"
    )
    mutants: int = Field(default=0, ge=0, le=1000, description="mutants of a score beside each verdict; 0: none")
    looks: tuple[str, ...] = Field(
        default=(), description="looks at each suite beside its verdict, such as absent-names"
    )
    fail_on_error: int | None = Field(default=None, ge=1, description="begin no trial after so many harness errors")

    @property
    def task_options(self) -> TaskOptions:
        """Return how tasks of other people's making are to be read."""
        return TaskOptions(self.image_map, self.all_criteria, one_by_one=True)


@dataclass(frozen=True)
class Trial:
    """One (task, scaffold, model, attempt). `model` is empty for a control; attempts count from 1.

    `model_file` is what the model's name stands for; a replayed or scripted one has none.
    """

    task: Task
    scaffold: Scaffold
    model: str
    attempt: int
    model_file: ModelFile | None = None

    @property
    def place(self) -> PurePosixPath:
        """Return where its results lie below `trials/`."""
        return PurePosixPath(self.task.id, self.scaffold.name, slug(self.model) or "none", str(self.attempt))

    @property
    def label(self) -> str:
        """The trial in a few words: task, scaffold, model, attempt."""
        model = f" {called(self.model)}" if self.model else ""
        return f"{self.task.id} {self.scaffold.name}{model} #{self.attempt}"

    @property
    def system(self) -> str:
        """The system as `run.yaml` has it: SCAFFOLD/MODEL, or SCAFFOLD where it needs no model."""
        return system_name(self.scaffold.name, self.model)

    @property
    def repository(self) -> str:
        """The upstream of its repository: what its task has in common with others."""
        return self.task.repo.upstream or self.task.repo.name

    @property
    def model_digest(self) -> str:
        """Digest of what can change the model's answers: its file, or its script; empty for a control."""
        return model_digest(self.model, self.model_file)

    def identity(self, image_digest: str, isolation: str) -> str:
        """Return the sha256 over all that affects the agent's work: the agent is paid again only where this differs.

        A control costs nothing and may hand in the reference, so that all of the task's files count for it.
        """
        head, tail = self.identity_text(image_digest, isolation)
        return hashlib.sha256(f"{head}{self.attempt}{tail}".encode()).hexdigest()

    def identity_text(self, image_digest: str, isolation: str, scaffold: str = "") -> tuple[str, str]:
        """Return what an identity is the hash of, before and behind the attempt's number.

        All attempts have it in common.

        `scaffold` is its digest, for who knows it already.
        """
        parts: dict[str, Any] = {
            "task": self.task.work_digest if self.model else self.task.digest_without_rubric,
            "image": image_digest,
            "isolation": isolation,
            "scaffold": scaffold or scaffold_digest(self.scaffold),
            "model": self.model_digest,
            "protocol": PROTOCOL_VERSION,
        }
        # "attempt" is the first of the keys in their order.
        return '{"attempt": ', f", {json.dumps(parts, sort_keys=True)[1:]}"


class RunCommand(FileModel):
    """A command that began a run or added to it: when, by which testwright, and what it asked for.

    `extended` has a line for each difference that `--extend` allowed. `config` leaves out what is as usual.
    """

    time: datetime
    version: str = __version__
    extended: tuple[str, ...] = ()
    config: RunConfig

    @field_serializer("config")
    def _unusual(self, config: RunConfig) -> dict[str, Any]:
        return config.model_dump(mode="json", exclude_defaults=True)


class RunFile(FileModel):
    """`run.yaml`: what this directory's trials were run with. `id` is also the label of its containers.

    `config` is that of the last command that added something; `commands` has them all, but those of an old version.
    """

    is_record: ClassVar[bool] = True

    id: str
    version: str = __version__
    protocol_version: int = PROTOCOL_VERSION
    config: RunConfig
    isolation: str = ""
    tasks: dict[str, str] = Field(default_factory=dict, description="task id -> digest")
    scaffolds: dict[str, str] = Field(default_factory=dict, description="scaffold -> digest")
    ablations: dict[str, dict[str, str]] = Field(
        default_factory=dict, description="scaffold -> what --set changed of it; of a template its file and sha256"
    )
    models: dict[str, str] = Field(default_factory=dict, description="model -> digest")
    repositories: dict[str, str] = Field(default_factory=dict, description="task id -> upstream of its repository")
    tracks: dict[str, str] = Field(default_factory=dict, description="task id -> its track")
    repos: dict[str, str] = Field(default_factory=dict, description="repo -> digest of what it says of judging")
    images: dict[str, str] = Field(
        default_factory=dict, description="task id -> its image's digest, where that is known before it is made"
    )
    attempts: dict[str, dict[str, int]] = Field(
        default_factory=dict,
        description="SCAFFOLD/MODEL -> task id -> the most attempts that a start has asked for",
    )
    commands: tuple[RunCommand, ...] = ()

    @property
    def configs(self) -> tuple[RunConfig, ...]:
        """Configurations of every command that is known."""
        return (*(command.config for command in self.commands), self.config)


def read_run_file(directory: Path) -> RunFile:
    """Return the `run.yaml` of a run.

    Raises:
        UserError: It is absent or wrong, and what to do.
    """
    try:
        return load_yaml(directory / "run.yaml", RunFile)
    except UserError as error:
        remedy = "put the file back from a copy, or begin another run with -o; the trials here are left as they are"
        raise UserError(f"{error}; {remedy}") from None


def plan_trials(catalog: Catalog, config: RunConfig) -> list[Trial]:
    """Return every trial that a configuration asks for.

    Raises:
        UserError: A task, scaffold or model doesn't exist, or one doesn't fit another.
    """
    models = Models(catalog)
    if not config.tasks:
        raise UserError("no task is named; say which with -t (an id, a glob or tag:NAME; testwright task list)")
    if not config.scaffolds:
        raise UserError("no scaffold is named; say which with -s (testwright scaffold list)")
    tasks = chosen_tasks(catalog, config)
    scaffolds = chosen_scaffolds(catalog, config.scaffolds, config.overrides)
    files = {
        model: models.file(model) for scaffold in scaffolds for model in _models(scaffold, config.models) if model
    }
    trials = [
        Trial(with_limits, scaffold, model, attempt, files.get(model))
        for task in tasks
        for scaffold in scaffolds
        for with_limits in (limited(task, scaffold),)
        for model in _models(scaffold, config.models)
        for attempt in range(1, config.attempts + 1)
    ]
    if not trials:
        raise UserError("every task that -t names is left out by -x or --repo; there is nothing to run")
    return trials


def chosen_tasks(catalog: Catalog, config: RunConfig) -> list[Task]:
    """Return the tasks of a run.

    Raises:
        UserError: A pattern takes none, or a task can't be read.
    """
    tasks = catalog.reading(config.task_options).select(config.tasks, config.exclude, config.repos)
    for task in tasks:
        check_rules(task, config.protocol)
    return tasks


def model_digest(name: str, file: ModelFile | None) -> str:
    """Return a digest of what can change a model's answers."""
    kind, path = recording(name)
    if path:
        return f"{kind}:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    return file.digest if file else name


def system_name(scaffold: str, model: str) -> str:
    """Return a system's name: SCAFFOLD/MODEL, or SCAFFOLD for a control."""
    return f"{scaffold}/{model}" if model else scaffold


def scaffold_digest(scaffold: Scaffold) -> str:
    """Return the sha256 over a scaffold's files, the shared request if it tells one, and what a run changes."""
    names = {
        path.relative_to(scaffold.directory).as_posix() for path in scaffold.directory.rglob("*") if path.is_file()
    }
    if agent_class(scaffold).needs_model:
        names.add(REQUEST)
    whole = hashlib.sha256()
    for name in sorted(names):
        content = template_path(scaffold, name).read_bytes()
        whole.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    for limit, value in sorted(scaffold.ablation.limits.items()) if scaffold.ablation else ():
        whole.update(f"{limit}={value!r}\n".encode())
    return whole.hexdigest()


def slug(model: str) -> str:
    """Return a model's name as a directory name; names that come out alike are told apart by a hash."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", model).strip("._")
    if plain == model:
        return plain
    return f"{plain[-60:].strip('._')}-{hashlib.sha256(model.encode()).hexdigest()[:6]}"


def _models(scaffold: Scaffold, models: tuple[str, ...]) -> tuple[str, ...]:
    if not agent_class(scaffold).needs_model:
        return ("",)
    if not models:
        raise UserError(f"scaffold {scaffold.name!r} needs a model; name one with -m PROVIDER/MODEL")
    return tuple(dict.fromkeys(models))
