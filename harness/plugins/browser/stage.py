"""Stages: which arms a judging has, the companion of each, and what an arm's end means there.

The application runs in the companion, behind our proxy. The tests' container has nothing of it on its disk but what
the image hides from arms.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from random import Random

from harness.judging.languages.toolchain import CompiledVariant, JobContext
from harness.judging.languages.variant_source import VariantSource
from harness.judging.verify.evidence import BASELINE, derived_seed
from harness.plugins.browser.application import HEALTH, PROGRAM, READY_SECONDS
from harness.plugins.browser.arms_file import ADDRESS, ArmsFile, Edit, StageArm
from harness.plugins.browser.scripts import Script, scripts_of
from harness.plugins.browser.task import ARMS, StagedTask, staged_task
from harness.sandbox.git_tree import GitTree
from harness.sandbox.machine_speed import slowness
from harness.sandbox.options import ContainerRole, options_for
from harness.sandbox.protocol import Companion, Job, JobResult, PlacedFile
from harness.specs.errors import SandboxLost, UserError
from harness.specs.repo import Repo
from harness.specs.task import Task
from harness.specs.test_results import CaseResult, Outcome, Quality, TestId, TestResult
from harness.specs.variants import Variant, VariantKind

PLACE = "/opt/testwright/stage"
SETTINGS = f"{PLACE}/settings.json"
"""Where an arm's settings are. An application's own files have no such path: theirs are relative."""
LOG = "stage.jsonl"
APP_ENDED = "the application ended while the tests ran"
OTHER_CLOCK = "the run takes far longer than its tests say that they took"
START_SECONDS = 4
"""Seconds at most of the start and the end of a file's run, on a machine of reference speed; measured: up to 3."""
RETRIED = "it ran more than once in one run"
CRASHES = (b"Page crashed", b"Target crashed")
"""Playwright's words for a page whose process died. The browser's own death leaves a file: see the image's recipe."""
CRASH_FILE = "browser-crashed"
CONTROL = Job(
    argv=("python3", "-c", (resources.files("harness.plugins.browser") / "in_container/open_page.py").read_text()),
    files=(),
    seconds=60,
)
"""Opens a page of its own: where that works, a browser that crashed at each try of an arm did so for the tests."""
_PORTS = range(20_000, 30_000)
_HOSTS = ("localhost", "127.0.0.1")
_PROGRAMS = ("serve.py", "guarded.py", "guarded.cjs", "proxy.py", "markup.py")


async def plan_stages(
    task: Task, tree: GitTree, _toolchain: object, code_seed: int, _every: bool = False
) -> list[VariantSource]:
    """See `VariantPlanner`: the arms of the task's file, each with what is drawn for it."""
    arms = staged_task(task).arms
    kinds: list[tuple[str, VariantKind, str, StageArm]] = [(BASELINE, VariantKind.BASELINE, "", StageArm())]
    kinds += [(arm.variant, VariantKind.TWIN, "", arm) for arm in arms.same]
    kinds += [(arm.variant, VariantKind.PROBE, arm.criterion, arm) for arm in arms.must_fail]
    return await stage_sources(staged_task(task), tree, kinds, code_seed)


async def plan_same(
    task: Task, tree: GitTree, _toolchain: object, code_seed: int, _every: bool = False
) -> list[VariantSource]:
    """See `VariantPlanner`: only the arms in which every test must pass."""
    sources = await plan_stages(task, tree, None, code_seed)
    return [source for source in sources if source.kind is not VariantKind.PROBE]


async def stage_sources(
    task: StagedTask, tree: GitTree, arms: Sequence[tuple[str, VariantKind, str, StageArm]], seed: int
) -> list[VariantSource]:
    """Return the sources of arms: name, kind, criterion, and what is different there.

    A script that a mutant of the task changes is another text in each of them (see `Script`).

    Raises:
        UserError: A text to be edited isn't there exactly once.
    """
    every = [*task.arms.same, *task.arms.must_fail, *(arm for *_, arm in arms)]
    texts = await texts_of(tree, [edit.file for arm in every for edit in arm.edits])
    where = str(task.directory / ARMS)
    scripts = changed_scripts(task.arms, texts, where)
    found: list[VariantSource] = []
    for name, kind, criterion, arm in arms:
        files = edited(arm.edits, texts, where)
        own = derived_seed(seed, "scripts", name)
        files |= {each.path: each.written(files.get(each.path, texts[each.path].encode()), own) for each in scripts}
        found.append(VariantSource(name, kind, {}, {**files, SETTINGS: settings_of(arm, name, seed)}, criterion))
    return found


def changed_scripts(arms: ArmsFile, texts: Mapping[str, str], where: str) -> list[Script]:
    """Return the scripts that mutants change, with what they are in each arm; `texts` has every file of `arms`."""
    plain = {path: text.encode() for path, text in texts.items()}
    right = [plain, *({**plain, **edited(arm.edits, texts, where)} for arm in arms.same)]
    return scripts_of(right, [{**plain, **edited(arm.edits, texts, where)} for arm in arms.must_fail])


def edited(edits: Sequence[Edit], texts: Mapping[str, str], where: str) -> dict[str, bytes]:
    """Return the files that an arm has changed.

    Raises:
        UserError: A text isn't there exactly once.
    """
    found: dict[str, str] = {}
    for edit in edits:
        text = found.get(edit.file, texts.get(edit.file))
        if words := misfit(edit, text):
            raise UserError(f"{where}: {words}")
        found[edit.file] = (text or "").replace(edit.old, edit.new)
    return {name: text.encode() for name, text in found.items()}


def misfit(edit: Edit, text: str | None) -> str:
    """Return why an edit can't be made in its file's text, None where there is no file; empty where it can."""
    if text is None:
        return f"there is no file {edit.file} in the application"
    times = text.count(edit.old)
    return "" if times == 1 else f"{edit.file} has {edit.old.splitlines()[0]!r} {times} times; it must be there once"


async def texts_of(tree: GitTree, files: Iterable[str]) -> dict[str, str]:
    """Return the texts of those files that a tree has. Raises UserError where one isn't UTF-8."""
    entries = await tree.entries()
    wanted = {file: entries[file] for file in files if file in entries}
    return {file: decoded(file, data) for file, data in (await tree.read_all(wanted)).items()}


def decoded(file: str, data: bytes) -> str:
    """Return the text of a file that is to be edited. Raises UserError where it isn't UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise UserError(f"{file} isn't UTF-8, so no arm can edit it") from None


def settings_of(arm: StageArm, name: str, seed: int) -> bytes:
    """Return the settings of an arm's companion (in_container/serve.py), with what the seed draws for it."""
    chance = Random(derived_seed(seed, "stage", name))
    options = [word for key, value in sorted(arm.options.items()) for word in (f"--{key}", value)]
    proxy = {**arm.proxy.model_dump(mode="json"), "seed": chance.randrange(1 << 30)}
    told = {
        "program": [*PROGRAM, *options],
        "health": HEALTH,
        "port": chance.choice(_PORTS),
        "host": chance.choice(_HOSTS),
        "proxy": proxy,
        "own_seconds": arm.own_seconds,
        "env": arm.env,
    }
    return json.dumps(told).encode()


class StageToolchain:
    """See `Toolchain`. Nothing is compiled: the application runs from its source, elsewhere."""

    separates = False
    replaced = ()
    suites = None

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    async def compile(self, context: JobContext, sources: Sequence[VariantSource], /) -> list[CompiledVariant]:
        return [self._compiled(context, source) for source in sources]

    def _compiled(self, context: JobContext, source: VariantSource) -> CompiledVariant:
        settings = json.loads(source.code[SETTINGS])
        files = {f"{context.image.workdir}/{name}": data for name, data in source.code.items() if name != SETTINGS}
        files |= {f"{PLACE}/{name}": program(name) for name in _PROGRAMS}
        files[SETTINGS] = source.code[SETTINGS]
        job = Job(
            argv=("python3", f"{PLACE}/serve.py", SETTINGS),
            files=tuple(PlacedFile(path, data) for path, data in sorted(files.items())),
            seconds=READY_SECONDS,
        )
        companion = Companion(context.image, job, options_for(self._repo, ContainerRole.AGENT))
        return CompiledVariant(
            variant=Variant(name=source.name, kind=source.kind, criterion=source.criterion),
            prove=(),
            proof=(),
            env={**settings["env"], ADDRESS: f"http://{settings['host']}:{settings['port']}"},
            stage=BrowserStage(companion, settings["own_seconds"]),
        )


def program(name: str) -> bytes:
    """Return one of our programs that run in a container."""
    return (resources.files("harness.plugins.browser") / "in_container" / name).read_bytes()


@dataclass(frozen=True)
class BrowserStage:
    """See `Stage`. `own_seconds` is what a test may take in this arm, on a machine of reference speed."""

    companion: Companion
    own_seconds: float | None = None

    def check(self, result: JobResult, /) -> None:
        """See `Stage`. A browser that crashed is no evidence that a test noticed anything."""
        if has_crashed(result):
            raise SandboxLost("the browser crashed while the tests ran")

    @property
    def control(self) -> Job:
        return CONTROL

    def settle(
        self, result: JobResult, results: tuple[TestResult, ...], cases: Sequence[CaseResult] = (), /
    ) -> tuple[TestResult, ...]:
        if _has_ended(result):
            return tuple(_failed(item, Quality.APP_ENDED, APP_ENDED) for item in results)
        results = _without_retries(cases, results)
        if self.own_seconds is None:
            return results
        most, start = self.own_seconds * slowness(), START_SECONDS * slowness()
        words = f"it takes more than {self.own_seconds:g} s where the application makes nobody wait"
        late = _late(results, cases, most + result.seconds - result.own_seconds)
        files = len({item.test.file for item in results})
        if len(results) == 1:  # nothing else has taken time, whatever the report says
            late |= {item.test for item in results if result.own_seconds > most * max(item.cases, 1) + start}
        elif result.own_seconds - sum(item.seconds for item in results) > most + files * start:
            late, words = {item.test for item in results}, OTHER_CLOCK
        passed = Outcome.PASSED
        return tuple(
            _failed(item, Quality.TIMEOUT, words) if item.test in late and item.outcome is passed else item
            for item in results
        )


def has_crashed(result: JobResult) -> bool:
    """Return whether a browser has crashed, or the tests say so: a test can write these words and the file."""
    told = b"".join(data for name, data in result.outputs.items() if name.endswith((".xml", ".json")))
    return CRASH_FILE in result.outputs or any(words in told for words in CRASHES)


def _late(results: Iterable[TestResult], cases: Iterable[CaseResult], most: float) -> set[TestId]:
    """Return the tests of which a case takes longer than it may; without a report of cases, the whole test."""
    seconds = {item.test: item.seconds for item in results}
    longest: dict[TestId, float] = {}
    for case in cases:
        longest[case.test] = max(longest.get(case.test, 0.0), case.seconds)
    return {test for test, spent in (seconds | longest).items() if spent > most}


def _without_retries(cases: Iterable[CaseResult], results: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """Return the results, failed where a report has a case twice: something ran it again.

    pytest tells of a test that failed and whose teardown fails too as of two cases.
    """
    times = Counter((case.test, case.case) for case in cases if case.quality is not Quality.TEARDOWN)
    again = {test for (test, _), number in times.items() if number > 1}
    return tuple(_failed(item, Quality.RETRIED, RETRIED) if item.test in again else item for item in results)


def _has_ended(result: JobResult) -> bool:
    lines = (result.companion.outputs.get(LOG, b"") if result.companion else b"").splitlines()
    return any("ended" in json.loads(line) for line in lines if line.endswith(b"}"))


def _failed(item: TestResult, quality: Quality, words: str) -> TestResult:
    return item.model_copy(update={"outcome": Outcome.FAILED, "quality": quality, "message": words})
