"""Toolchains: how code is built from a variant's text, and the jobs that build it.

Only an error of the compiler is the variant's fault; any other end of a job is not. No test ever runs in such a job.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import NamedTuple, Protocol

from harness.judging.languages.variant_source import VariantSource
from harness.sandbox.protocol import (
    Companion,
    Engine,
    Image,
    Job,
    JobResult,
    LimitReached,
    Limits,
    PlacedFile,
    SandboxOptions,
)
from harness.specs.errors import EndedFromOutside, SandboxLost, UserError
from harness.specs.test_results import CaseResult, TestId, TestResult
from harness.specs.variants import Variant


class JobsStopped(Exception):
    """An end of work whose container wasn't started: the work is over, or has used up its time."""


class JobLimit:
    """A limit on the time that containers of one piece of work take together; those that run are not ended.

    Of a job its own seconds count (`JobResult.own_seconds`): a busy machine uses nothing up.

    Args:
        seconds: Of all jobs together; the job during which they are used up still counts.
        used: Seconds that jobs of an earlier start have taken.
        with_builds: Whether what is built for the work counts as well.
    """

    def __init__(self, seconds: float = math.inf, used: float = 0.0, with_builds: bool = True) -> None:
        self.used = used
        self.with_builds = with_builds
        self.ran_out_of_time = False
        self._most = seconds
        self._stopped = False

    @property
    def is_stopped(self) -> bool:
        """Return whether no further container may start."""
        return self._stopped or self.ran_out_of_time

    def stop(self) -> None:
        """Let no further container start."""
        self._stopped = True

    def check(self) -> None:
        """Check that a further container may start.

        Raises:
            JobsStopped: The work is over, or its time is used up.
        """
        if not self._stopped and self.used >= self._most:
            self.ran_out_of_time = True
        if self.is_stopped:
            raise JobsStopped


@dataclass(frozen=True)
class JobContext:
    """A place for jobs: containers of one image that carry the same labels and share a limit.

    Variants are compiled here; such containers hold at most the text of an agent's tests.
    """

    engine: Engine
    image: Image
    labels: Mapping[str, str]
    limit: JobLimit = field(default_factory=JobLimit)

    async def run_job(self, job: Job, options: SandboxOptions) -> JobResult:
        """Run a job in a container of its own; see `Engine.run_job`.

        Raises:
            JobsStopped: The limit lets no further container start.
        """
        self.limit.check()
        result = await self.engine.run_job(self.image, job, options, self.labels)
        self.limit.used += result.own_seconds if self.limit.with_builds else 0.0
        return result


class Stage(Protocol):
    """An application beside an arm's tests, and what an arm's end means there."""

    @property
    def companion(self) -> Companion:
        """The container that has the application."""
        ...

    def check(self, result: JobResult, /) -> None:
        """Check that an arm's end shows something of its tests.

        Raises:
            SandboxLost: It shows nothing; the arm runs again. At the last try it counts as it is, where `control`
                has status 0.
        """
        ...

    @property
    def control(self) -> Job:
        """The job that does without any test what `check` asks of an arm: it tells the machine from the tests."""
        ...

    def settle(
        self, result: JobResult, results: tuple[TestResult, ...], cases: Sequence[CaseResult] = (), /
    ) -> tuple[TestResult, ...]:
        """Return the arm's results as the stage has them.

        Args:
            result: The arm's end.
            results: Each test's result as the report has it.
            cases: What reports have of the cases of tests, once for each time that one ran.
        """
        ...


@dataclass(frozen=True)
class CompiledVariant:
    """A variant ready to be laid over the tree.

    `prove` is a command that an arm runs before any agent code is loaded; the first lines that it prints must
    be `proof`, else the arm shows nothing. `env` is what the test command needs to find the compiled code,
    `executable` are those of the variant's files that are programs. With a `stage` the code runs there, and nothing
    of it is in the arm itself.
    """

    variant: Variant
    prove: tuple[str, ...]
    proof: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    executable: frozenset[str] = frozenset()
    stage: Stage | None = None


class SuiteFiles(NamedTuple):
    """A suite as it is laid over the tree: its tests, the files that it brings, and those that it takes out."""

    tests: Sequence[TestId]
    files: Mapping[str, bytes] = {}
    removed: Sequence[str] = ()


@dataclass(frozen=True)
class Built:
    """A variant together with a suite. `broken` are test files that can't be built on it, and why in a word."""

    compiled: CompiledVariant
    broken: Mapping[str, str] = field(default_factory=dict)


class SuiteBuilder(Protocol):
    """A builder for languages in which something depends on both variant and suite, such as a program of the two."""

    def programs(self, tests: Iterable[TestId], /) -> frozenset[str]:
        """Return the names of the programs that are built of such a suite for each variant."""
        ...

    async def build(
        self, context: JobContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles, /
    ) -> list[Built]:
        """Build a suite on each variant. No test runs.

        Args:
            context: Where containers run.
            compiled: Variants, as `Toolchain.compile` gave them.
            suite: The tests and their files.

        Returns:
            One for each variant, in the order of `compiled`.

        Raises:
            SandboxLost: A container was lost.
        """
        ...


class Toolchain(Protocol):
    """The tools of a language, which make variants ready to run."""

    @property
    def separates(self) -> bool:
        """Return whether text on disk and code that runs can differ at all."""
        ...

    @property
    def replaced(self) -> tuple[str, ...]:
        """Absolute paths outside the tree that every arm gets anew: what lies there in an image is in no arm."""
        ...

    @property
    def suites(self) -> SuiteBuilder | None:
        """The builder of suites; None where a suite needs no building."""
        ...

    async def compile(self, context: JobContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        """Make of each variant all that can be made without the suite.

        Args:
            context: Where containers run.
            sources: Texts of the variants, with the seeds by which their code is rewritten.

        Returns:
            One for each source, in the order of `sources`.

        Raises:
            UserError: The compiler refuses a variant; the message is the compiler's.
            SandboxLost: A container was lost.
        """
        ...


async def with_suite(
    toolchain: Toolchain, context: JobContext, compiled: Sequence[CompiledVariant], suite: SuiteFiles
) -> list[Built]:
    """Return each variant with a suite, ready to run, in the order of `compiled`.

    Raises:
        SandboxLost: A container in which the suite is built was lost.
    """
    if toolchain.suites is None:
        return [Built(item) for item in compiled]
    return await toolchain.suites.build(context, compiled, suite)


DEFAULT_OPTIONS = SandboxOptions()
_SIGNALLED = 128


async def run_build(context: JobContext, job: Job, options: SandboxOptions = DEFAULT_OPTIONS) -> JobResult:
    """Run a job that compiles and holds nothing of a submission's; run it again where it was ended from outside.

    Args:
        context: Where the container runs.
        job: The compiler's command.
        options: Of the container.

    Raises:
        SandboxLost: It was ended from outside twice, or by a signal or a limit.
        UserError: It left more than a job may leave.
    """
    try:
        try:
            result = await _run(context, job, options)
        except EndedFromOutside:
            result = await _run(context, job, options)
    except LimitReached as limit:
        raise SandboxLost(f"building the task's variants: {limit}") from None
    if result.timed_out:
        raise SandboxLost(f"building the task's variants took more than {job.seconds:g} s")
    if result.out_of_memory:
        raise SandboxLost("building the task's variants took more memory than its container has")
    if not result.complete:
        raise UserError("the task's variants, compiled, are larger than what a job may leave")
    return result


async def _run(context: JobContext, job: Job, options: SandboxOptions) -> JobResult:
    result = await context.run_job(job, options)
    if result.exit_status > _SIGNALLED and not (result.timed_out or result.out_of_memory):
        raise EndedFromOutside(f"a container that built the task's variants ended with status {result.exit_status}")
    return result


def refused(name: str, said: str) -> UserError | SandboxLost:
    """Return the error for a variant of which nothing was built.

    Args:
        name: The variant's, for the message.
        said: The compiler's output; empty where it said nothing, which is taken for a lost build.
    """
    if said and "signal: killed" not in said:
        return UserError(f"{name} of this task does not compile: {said}")
    return SandboxLost(f"{name} of this task was not built, and no compiler said why{f': {said}' if said else ''}")


def last_line(log: bytes) -> str:
    """Return the last line of a command's output; empty where it said nothing."""
    return "".join(log.decode(errors="replace").strip().splitlines()[-1:])


Files = Mapping[str, bytes]
CHECK = (resources.files("harness.judging.languages") / "in_container/compile_each.sh").read_text()
AT_ONCE = 50
"""Variants of one container."""
_VARIANTS = "/tmp/variants"
_OPTIONS = SandboxOptions(Limits(memory_mb=3072, disk_mb=4096))
_MOST_WORDS = 300


async def compile_each(context: JobContext, command: str, variants: Sequence[Files]) -> list[str]:
    """Compile variants, and return the compiler's first error for each.

    Args:
        context: Where containers run.
        command: A shell command that compiles the files that it is given as arguments, at the tree's root.
        variants: The files that each changes: path -> bytes.

    Returns:
        One line for each variant, in their order; empty for one that compiles.

    Raises:
        SandboxLost: A container was lost.
    """
    said: list[str] = []
    for first in range(0, len(variants), AT_ONCE):
        said += await _compile_some(context, command, variants[first : first + AT_ONCE])
    return said


async def _compile_some(context: JobContext, command: str, variants: Sequence[Files]) -> list[str]:
    placed = [
        PlacedFile(f"{_VARIANTS}/{number:04d}/{path}", text)
        for number, files in enumerate(variants)
        for path, text in files.items()
    ]
    seconds = 60 + 30 * len(variants)
    job = Job(("bash", "-c", CHECK, "compile", _VARIANTS, command), tuple(placed), seconds=seconds)
    result = await run_build(context, job, _OPTIONS)
    return [_verdict(result.outputs, f"{number:04d}") for number in range(len(variants))]


def _verdict(outputs: Mapping[str, bytes], number: str) -> str:
    if f"{number}.compiles" in outputs:
        return ""
    lines = outputs.get(f"{number}.log", b"").decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if "rror" in line] or [line for line in lines if not line.startswith("#")]
    return (errors[0] if errors else "the compiler ended without a word")[:_MOST_WORDS]
