"""Steps of a judging, each in fresh containers: installation, hidden tests beside the application, its own tests.

A hidden step is two containers: the application with its supervisor, and the hidden tests, which have no file of the
application. What decides is read from the second one's report alone.
"""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import NamedTuple

from harness.judging.languages.toolchain import JobsStopped
from harness.judging.testing.arm_job import TestRun, read_job, test_job
from harness.judging.verify.arms import ARM_TRIES, ArmContext
from harness.judging.verify.evidence import derived_seed
from harness.plugins.browser.stage import CONTROL, has_crashed
from harness.plugins.build.provider import StandIn
from harness.plugins.build.task import BOOT_FILE, HIDDEN, HOME_FILE, OWN, BuildTask
from harness.sandbox.machine_speed import slowness
from harness.sandbox.protocol import Companion, Job, JobResult, LimitReached, PlacedFile
from harness.sandbox.tarfiles import tarfile
from harness.specs.errors import SandboxLost
from harness.specs.test_results import Outcome, Quality, TestId, TestResult
from harness.specs.variants import Arm, ArmKey, ArmStatus, Role, VariantKind

PLACE = "/opt/testwright/build"
INSTALLED, KEPT, STATE = "installed.tar", "kept.tar", "state.json"
INSTALL, BOOT, HOME, README_STEP = "install", "boot", "home", "readme"
START_SECONDS, STOP_SECONDS = 20, 5
INSTALL_SECONDS, OWN_SECONDS, READY_SECONDS = 120, 60, 30
WHOLE = "all"
"""Stands for all that a job did: its exit status is its only result."""
NO_STATUS = 125
SLOW_SHARE = 0.125
"""The share of the cores of other runs that slow tests get: a quarter of one."""
_NO_HOME = {"HOME": "/tmp"}
"""The user's own home is read-only."""
_PORTS = range(20_000, 30_000)
_FILE_TIME = 1_000_000_000
_INSTALL = """\
set -e
made=()
if [[ -f requirements.lock ]]; then
    pip install --quiet --disable-pip-version-check --no-cache-dir --no-index --find-links /opt/kit/wheels \
        --require-hashes --target .packages --requirement requirements.lock
    made+=(.packages)
fi
if [[ -f package-lock.json ]]; then
    cp -r /opt/kit/npm /tmp/npm
    npm ci --silent --offline --ignore-scripts --no-audit --no-fund --cache /tmp/npm
    [[ ! -d node_modules ]] || made+=(node_modules)
fi
tar --create --file "$TESTWRIGHT_REPORT_DIR/installed.tar" "${made[@]}" --files-from /dev/null
"""
_OWN_TESTS = """\
export PYTHONPATH=$PWD/.packages PATH=$PWD/.packages/bin:$PATH PYTHONDONTWRITEBYTECODE=1
exec ./test "$@"
"""
_README = """\
port=$1; shift
export PORT=$port DATA_DIR=$(mktemp --directory) PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$PWD/.packages PATH=$PWD/.packages/bin:$PATH
for block in "$@"; do
    seconds=60 goes_on=0
    # What starts the application is killed after some seconds, which is how it should be.
    if grep --quiet --extended-regexp '(^|[^[:alnum:]_/])\\./run\\b' <<<"$block"; then seconds=3 goes_on=137; fi
    status=0
    timeout --signal=KILL $seconds bash -e -c "$block" </dev/null || status=$?
    (( status == 0 || status == goes_on )) || exit 1
done
"""


class HiddenStep(NamedTuple):
    """Hidden tests of one file. `after` is the step whose data directory the application begins with."""

    name: str
    file: str
    after: str = ""

    @property
    def key(self) -> ArmKey:
        return step_key(self.name)


BOOT_STEP, HOME_STEP = HiddenStep(BOOT, BOOT_FILE), HiddenStep(HOME, HOME_FILE)
CHAINS = (
    (HiddenStep("acceptance", f"{HIDDEN}/test_acceptance.py"),),
    (HiddenStep("robustness", f"{HIDDEN}/test_robustness.py"),),
    (HiddenStep("keep", f"{HIDDEN}/test_keep.py"), HiddenStep("kept", f"{HIDDEN}/test_kept.py", after="keep")),
    (
        HiddenStep("strike", f"{HIDDEN}/test_strike.py"),
        HiddenStep("revived", f"{HIDDEN}/test_revived.py", after="strike"),
    ),
)
"""Steps of a chain run one after the other, chains side by side."""


def step_key(name: str) -> ArmKey:
    """Return the arm of a step."""
    return ArmKey(Role.HIDDEN, name)


@dataclass(frozen=True)
class Files:
    """The files of an application: path -> bytes, and which of them are executable."""

    texts: Mapping[str, bytes]
    executable: frozenset[str] = frozenset()

    def placed(self, workdir: str) -> tuple[PlacedFile, ...]:
        """Return them as a container gets them."""
        return tuple(
            PlacedFile(f"{workdir}/{path}", data, 0o755 if path in self.executable else 0o644)
            for path, data in sorted(self.texts.items())
        )

    def changed(self, path: str, text: bytes) -> "Files":
        """Return them with one file's text as another one."""
        return replace(self, texts={**self.texts, path: text})


class _ShowsNothing(SandboxLost):
    """Hidden tests ended in a way that is no evidence of the application."""


class _Ended(NamedTuple):
    """Left by a hidden step to the one after it."""

    data: Mapping[str, bytes]
    state: bytes


@dataclass
class Steps:
    """The steps of one judging. `seed` decides ports, and the values that hidden tests draw."""

    context: ArmContext
    task: BuildTask
    files: Files
    seed: int
    installed: bytes = b""
    _ended: dict[str, _Ended] = field(default_factory=dict)

    async def install(self) -> Arm:
        """Install the application from its lock; `installed` is then what later steps have."""
        job = Job(
            argv=("bash", "-c", _INSTALL),
            files=self.files.placed(self.context.image.workdir),
            env=_NO_HOME,
            seconds=INSTALL_SECONDS,
        )
        result, arm = await self._run(INSTALL, job)
        if result is not None:
            self.installed = result.outputs.get(INSTALLED, b"")
            if arm.exit_status == 0 and not self.installed:
                raise SandboxLost("an installation left nothing to read")
        return arm

    async def own_tests(
        self, name: str, files: Files, arguments: Sequence[str] = (), seconds: float = OWN_SECONDS, share: float = 1
    ) -> Arm:
        """Run the application's own tests with a share of the cores; their exit status is the only result."""
        job = Job(
            argv=("bash", "-c", _OWN_TESTS, "own", *arguments),
            files=files.placed(self.context.image.workdir),
            env=_NO_HOME,
            seconds=min(seconds, OWN_SECONDS) / share,
            unpacked=self._installed(),
        )
        return (await self._run(name, job, share))[1]

    async def readme(self, blocks: Sequence[str]) -> Arm:
        """Run the commands of the README in a fresh copy, block by block; their exit status is the only result."""
        chance = Random(derived_seed(self.seed, README_STEP))
        port, nowhere = chance.sample(_PORTS, 2)
        job = Job(
            argv=("bash", "-c", _README, "readme", str(port), *blocks),
            files=self.files.placed(self.context.image.workdir),
            env=_NO_HOME | (StandIn.drawn(nowhere, self.seed).for_application() if self.task.has_provider else {}),
            seconds=INSTALL_SECONDS,
        )
        return (await self._run(README_STEP, job))[1]

    async def hidden(self, step: HiddenStep) -> Arm:
        """Run a file of hidden tests beside the application, again where their end shows nothing of it.

        Raises:
            SandboxLost: A container was lost or a result was missing, again and again; or the browser crashed, and
                crashes without tests as well.
        """
        for left in reversed(range(ARM_TRIES)):
            try:
                return await self._hidden(step, is_last=not left)
            except _ShowsNothing:
                if not left:
                    raise
        raise AssertionError("unreachable: the last try returns or raises")

    async def _hidden(self, step: HiddenStep, is_last: bool) -> Arm:
        repo, image = self.task.repo, self.context.image
        before = self._ended.get(step.after)
        port, control, third = Random(derived_seed(self.seed, step.name)).sample(_PORTS, 3)
        provider = StandIn.drawn(third, self.seed) if self.task.has_provider else None
        files = self.task.hidden_files()
        if before and before.state:
            files[f"{HIDDEN}/{STATE}"] = before.state
        run = TestRun(
            tests=self.task.tests_of(step.file),
            files=files,
            executable=frozenset(),
            removed=(),
            prove=(),
            seconds=self.task.file.limits.arm_seconds,
            env={
                "APP_PORT": str(port),
                "CONTROL_PORT": str(control),
                "START_SECONDS": str(START_SECONDS * slowness()),
                "DRAW_SEED": str(derived_seed(self.seed, HIDDEN)),
                "HOME_PAGE": self.task.home,
                **(provider.for_tests() if provider else {}),
            },
        )
        job = replace(test_job(repo, image, run), companion=self._companion((port, control), provider, before))
        result = await self._result(step.name, job, self.context)
        if result is None:
            missing = tuple(failed(test, Quality.CRASH, "a container reached a limit") for test in run.tests)
            return Arm(VariantKind.BASELINE, ArmStatus.OVER_LIMIT, NO_STATUS, missing, 0.0)
        if has_crashed(result) and not (is_last and await self.context.is_able(CONTROL)):
            raise _ShowsNothing(f"{step.name}: the browser crashed")
        reading = await read_job(repo.report, run, (), result)
        if reading.status not in (ArmStatus.FINISHED, ArmStatus.TIMED_OUT):
            raise _ShowsNothing(f"{step.name}: the hidden tests left no whole report: {reading.disagreement}")
        end = result.companion
        data = {path: text for path, text in (end.outputs if end else {}).items() if path.startswith("data/")}
        self._ended[step.name] = _Ended(data, result.outputs.get(STATE, b""))
        results = tuple(_decided(item, reading.status, result.exit_status) for item in reading.results)
        return Arm(VariantKind.BASELINE, reading.status, result.exit_status, results, result.seconds)

    def _companion(self, ports: tuple[int, int], provider: StandIn | None, before: _Ended | None) -> Companion:
        settings = {
            "port": ports[0],
            "control": ports[1],
            "stop_seconds": STOP_SECONDS * slowness(),
            "environment": provider.for_application() if provider else {},
        }
        files = [
            *self.files.placed(self.context.image.workdir),
            PlacedFile(f"{PLACE}/supervise.py", (OWN / "in_container" / "supervise.py").read_bytes()),
            PlacedFile(f"{PLACE}/settings.json", json.dumps(settings).encode()),
        ]
        if before:
            files.append(PlacedFile(f"{PLACE}/{KEPT}", _packed(before.data)))
        argv = ("python3", "-I", f"{PLACE}/supervise.py", f"{PLACE}/settings.json")
        job = Job(argv=argv, files=tuple(files), seconds=READY_SECONDS, unpacked=self._installed())
        return Companion(self.context.image, job, replace(self.context.options, writable=()))

    def _installed(self) -> tuple[PlacedFile, ...]:
        return (PlacedFile(self.context.image.workdir, self.installed),) if self.installed else ()

    async def _run(self, name: str, job: Job, share: float = 1) -> tuple[JobResult | None, Arm]:
        """Return a job's result, None where it reached a limit, and its arm, whose only test is its exit status.

        It may write to the work directory.
        """
        options = self.context.options
        limits = replace(options.limits, cpus=options.limits.cpus * share)
        options = replace(options, limits=limits, writable=(self.context.image.workdir,))
        result = await self._result(name, job, replace(self.context, options=options))
        test = TestId(name, WHOLE)
        if result is None:
            item = failed(test, Quality.CRASH, "its container reached a limit")
            return None, Arm(VariantKind.BASELINE, ArmStatus.OVER_LIMIT, NO_STATUS, (item,), 0.0)
        status = ArmStatus.TIMED_OUT if result.timed_out else ArmStatus.FINISHED
        item = TestResult(test=test, outcome=Outcome.PASSED)
        if result.timed_out:
            item = failed(test, Quality.TIMEOUT, "it takes too long")
        elif result.exit_status != 0:
            item = failed(test, Quality.ASSERTION, f"exit status {result.exit_status}")
        return result, Arm(VariantKind.BASELINE, status, result.exit_status, (item,), result.seconds)

    async def _result(self, name: str, job: Job, context: ArmContext) -> JobResult | None:
        try:
            result = await context.run_arm(job)
        except LimitReached:
            return None
        except JobsStopped as error:
            raise SandboxLost(f"{name}: {error}") from error
        shown = {path: data for path, data in result.outputs.items() if path != INSTALLED}
        if result.companion:
            shown["application.txt"] = result.companion.log
        self.context.observer.printed(step_key(name), replace(result, outputs=shown))
        return result


def failed(test: TestId, quality: Quality, words: str) -> TestResult:
    """Return a test that failed."""
    return TestResult(test=test, outcome=Outcome.FAILED, quality=quality, message=words)


def _decided(item: TestResult, status: ArmStatus, exit_status: int | None) -> TestResult:
    """Return a result that is there. Raises _ShowsNothing for a test of ours that ended without one."""
    if item.outcome is not Outcome.MISSING:
        return item
    if status is ArmStatus.TIMED_OUT:
        return failed(
            item.test, Quality.TIMEOUT, "the hidden tests were out of time: the application keeps them waiting"
        )
    raise _ShowsNothing(f"{item.test}: the hidden tests ended with status {exit_status} and without its result")


def _packed(data: Mapping[str, bytes]) -> bytes:
    """Return what was left in a data directory, as a tar of it."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as archive:
        for path, text in sorted(data.items()):
            entry = tarfile.TarInfo(path.removeprefix("data/"))
            entry.size, entry.mtime = len(text), _FILE_TIME
            archive.addfile(entry, io.BytesIO(text))
    return whole.getvalue()
