"""An engine without containers, for tests of what is done with arms: jobs end as a script says, in any order.

A job of an arm is told by the variant's marker among its files (`scripted_variant`); everything else about it is as
the harness makes it, and what comes back is read by the harness's own readers.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import quoteattr

from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.toolchain import CompiledVariant
from harness.sandbox.protocol import Capabilities, Image, Job, JobResult, LimitReached, Sandbox, SandboxOptions
from harness.specs.errors import ImageUnavailable, SandboxLost
from harness.specs.task import Task
from harness.specs.test_results import TestId
from harness.specs.variants import Variant, VariantKind

MARKER = "/testwright-variant"
_OF_PYTHON = LANGUAGES.get("python").unloadable
assert _OF_PYTHON
UNLOADABLE = _OF_PYTHON
ENDED_BY_ABORT = 134
CODE = "/app/sums.py"


class Fate(StrEnum):
    """How a container ends."""

    FINISHES = "finishes"
    LOST = "lost"
    OTHER_VARIANT = "other-variant"
    """It can't show that its variant is what runs."""
    OVER_LIMIT = "over-limit"


class Event(NamedTuple):
    """What becomes of the next container that starts: it ends after so many turns of the event loop."""

    turns: int = 0
    fate: Fate = Fate.FINISHES


class Run(NamedTuple):
    """One run of tests: `number` counts from 1 those that finished with the same variant, tests and patch."""

    variant: str
    tests: tuple[TestId, ...]
    patched: bool
    number: int


Script = Callable[[Run, TestId], str]
"""What a test does: `passes`, `fails`, `fails before` (in its setup), `skips`, `absent`, `crashes` or `hangs`; of two
cases `passes both` or `skips one`. `crashes` and `hangs` end the whole run."""


def scripted_variant(name: str, kind: VariantKind, source: Mapping[str, bytes] | None = None) -> CompiledVariant:
    """A variant by which the engine knows what it runs."""
    variant = Variant(name, kind, source=source or {}, code={MARKER: name.encode()})
    return CompiledVariant(variant, ("show", MARKER), (f"running {name}",))


@dataclass
class FakeEngine:
    """See `Engine`. `events` are used up one by one; beyond them every container finishes at once.

    `finished` has each run whose result was handed back, `containers` counts all that started. `unavailable` is why
    there is no image, empty where there is one. Runs of all tests are apart: `whole` gives their status, from whether
    there is a patch and the run's number, and `whole_runs` has the arguments of each. Those with a file that can't be
    loaded are apart again: `unloadable` has that file, and they end by it where `loads` says so, else with `goes_on`.
    So are those that have `CODE` placed, which is as it was but in mutants: `on_a_mutant` gives the status of each by
    its number. `alike` is whether a text of `CODE` behaves as it was: runs on such a change are green.
    """

    script: Script
    events: Iterable[Event] = ()
    tree: Path = Path()
    make_sandbox: Callable[[], Sandbox] | None = None
    unavailable: str = ""
    whole: Callable[[bool, int], int] = lambda _patched, _number: 0
    loads: Callable[[str], bool] = lambda _file: True
    goes_on: int = 0
    on_a_mutant: Callable[[int], int] = lambda _number: 1
    alike: Callable[[bytes], bool] = lambda _code: False
    finished: list[Run] = field(default_factory=list)
    whole_runs: list[tuple[bool, tuple[str, ...]]] = field(default_factory=list)
    unloadable: list[str] = field(default_factory=list)
    mutant_runs: list[tuple[str, ...]] = field(default_factory=list)
    containers: int = 0
    most_at_once: int = 0
    closed: bool = False

    name = "fake"
    isolation = "fake"
    capabilities = Capabilities(network_isolation=True, memory=True, pids=True, disk=True, separate_user=True)

    def __post_init__(self) -> None:
        self._events = iter(self.events)
        self._counts: Counter[tuple[object, ...]] = Counter()
        self._at_once = 0

    async def image(self, task: Task) -> Image:
        if self.unavailable:
            raise ImageUnavailable(self.unavailable)
        return Image("fake", f"digest of {task.id}", "/app", self.tree)

    def sandbox(self, image: Image, options: SandboxOptions, labels: Mapping[str, str]) -> Sandbox:
        assert self.make_sandbox, "this test needs no sandbox"
        return self.make_sandbox()

    async def run_job(
        self,
        image: Image,
        job: Job,
        options: SandboxOptions,
        labels: Mapping[str, str],
    ) -> JobResult:
        self.containers += 1
        event = next(self._events, Event())
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            for _ in range(event.turns):
                await asyncio.sleep(0)
        finally:
            self._at_once -= 1
        return self._end(job, event.fate)

    async def reap(self, labels: Mapping[str, str]) -> int:
        return 0

    async def close(self) -> None:
        self.closed = True

    def _end(self, job: Job, fate: Fate) -> JobResult:
        if fate is Fate.LOST:
            raise SandboxLost("the container was removed from outside")
        if fate is Fate.OVER_LIMIT:
            raise LimitReached("memory", "the container used more memory than it may")
        if fate is Fate.OTHER_VARIANT:
            return JobResult(125, False, False, b"running something else\n", {}, True, 0.1)
        if not any(file.path == MARKER for file in job.files):
            return self._end_whole(job)
        run = self._run(job)
        self.finished.append(run)
        return _result(run, [(test, self.script(run, test)) for test in run.tests])

    def _end_whole(self, job: Job) -> JobResult:
        """As whoever works in the repository runs its tests: nothing is laid in for a variant, and none reported."""
        assert job.argv[:5] == ("env", "-u", "TESTWRIGHT_REPORT_DIR", "-u", "TESTWRIGHT_TEST_SECONDS")
        for file in job.files:
            if file.data.endswith(UNLOADABLE.text):
                self.unloadable.append(file.path.removeprefix("/app/"))
                status = UNLOADABLE.exit_status if self.loads(self.unloadable[-1]) else self.goes_on
                return JobResult(status, status == 124, False, b"", {}, True, 0.1)
        patched = bool(job.files)
        proving, removed, *rest = job.argv[job.argv.index("arm") + 1 :]
        words = tuple(rest[int(proving) + int(removed) :])
        if any(file.path == CODE and self.alike(file.data) for file in job.files):
            return JobResult(0, False, False, b"", {}, True, 0.1)
        if any(file.path == CODE for file in job.files):
            self.mutant_runs.append(words)
            return JobResult(self.on_a_mutant(len(self.mutant_runs)), False, False, b"", {}, True, 0.1)
        self.whole_runs.append((patched, words))
        number = sum(one == patched for one, _ in self.whole_runs)
        return JobResult(self.whole(patched, number), False, False, b"", {}, True, 0.1)

    def _run(self, job: Job) -> Run:
        contents = {file.path: file.data for file in job.files}
        variant = contents[MARKER].decode()
        tests = tuple(TestId.parse(argument) for argument in job.argv if "::" in argument)
        patched = any(path.endswith(test.file) for test in tests for path in contents)
        self._counts[variant, tests, patched] += 1
        return Run(variant, tests, patched, self._counts[variant, tests, patched])


def _result(run: Run, does: list[tuple[TestId, str]]) -> JobResult:
    """As the run script of a Python repository leaves it: a report for each file that was run to its end."""
    ends_at = next((test.file for test, what in does if what in ("crashes", "hangs")), None)
    how = next((what for _, what in does if what in ("crashes", "hangs")), "")
    outputs: dict[str, bytes] = {}
    for number, file in enumerate(dict.fromkeys(test.file for test in run.tests), start=1):
        if file == ends_at:
            break
        outputs[f"{number}.xml"] = _report([(test, what) for test, what in does if test.file == file])
    status = 1 if any(what.startswith("fails") for _, what in does) else 0
    status = {"crashes": ENDED_BY_ABORT, "hangs": 124}.get(how, status)
    return JobResult(status, how == "hangs", False, f"running {run.variant}\n".encode(), outputs, True, 0.1)


_FAILURE = '<failure message="assert"/>'
_BEFORE = '<error message="failed on setup with &quot;E&quot;"/>'
_CASES: dict[str, dict[str, str]] = {
    "passes": {"": ""}, "fails": {"": _FAILURE}, "fails before": {"": _BEFORE},
    "skips": {"": "<skipped/>"}, "absent": {},
    "skips one": {"[1]": "<skipped/>", "[2]": ""}, "passes both": {"[1]": "", "[2]": ""},
}  # fmt: skip


def _report(does: list[tuple[TestId, str]]) -> bytes:
    cases = "".join(_case(test, case, body) for test, what in does for case, body in _CASES[what].items())
    return f"<testsuites><testsuite>{cases}</testsuite></testsuites>".encode()


def _case(test: TestId, case: str, body: str) -> str:
    module = test.file.removesuffix(".py").replace("/", ".")
    return f'<testcase classname={quoteattr(module)} name={quoteattr(test.name + case)} time="0.01">{body}</testcase>'
