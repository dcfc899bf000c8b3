"""Suites with one invented name each (tests/planted), and what the names arm says of them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.intake import FileChange
from harness.plugins.names.findings import Finding, Kind
from harness.plugins.names.looking import Looked, look_at_suite
from harness.runs.engine_session import EngineSession
from harness.specs.catalog import Catalog
from harness.specs.task import Task
from harness.specs.test_results import TestId

PLANTED = Path(__file__).parents[1] / "planted"
_HEAD = re.compile(
    r"kind: (?P<kind>[\w-]+); line: (?P<line>\d+); name: (?P<name>\S+); "
    r"how: (?P<how>.*?)(?:; dir: (?P<dir>\S+))?\s*(?:\*/)?$"
)
_PYTHON_TEST = re.compile(r"^(?:async )?def (test_\w+)|^class (Test\w+)", re.MULTILINE)
_GO_TEST = re.compile(r"^func (Test\w+)\(", re.MULTILINE)
LANGUAGES = {
    "python": ("aiosmtpd-proxy-tlv", "cachetools-expiring-entries"),
    "go": ("restic-duration",),
    "c": ("jansson-object-merge",),
    "typescript": ("zod-stringbool",),
}
"""The tasks in whose images the files of each language run."""
_AT_ONCE = {"python": 80, "go": 1, "c": 70, "typescript": 90}
"""A Go package that has one bad import isn't looked at any further: there each file is a suite of its own."""


@dataclass(frozen=True)
class PlantedFile:
    """A file and what its first line says: `kind` is `none` where nothing is invented."""

    path: Path
    kind: str
    line: int
    name: str
    how: str
    directory: str

    @property
    def is_honest(self) -> bool:
        return self.kind == "none"

    def is_found_in(self, findings: tuple[Finding, ...], place: str) -> bool:
        """Return whether one of the findings at a file names the invention, or a module in which it is."""
        wanted = re.split(r"[./]", self.name)
        return any(
            set(re.split(r"[./]", each.name)) & set(wanted[-1:]) or each.name in wanted
            for each in findings
            if each.file == place
        )


def planted(language: str) -> list[PlantedFile]:
    """Return all planted files of a language, by name."""
    found = []
    for path in sorted(PLANTED.joinpath(language).glob("*.*")):
        head = path.read_text().partition("\n")[0]
        said = _HEAD.search(head)
        if path.suffix != ".md" and said:
            found.append(
                PlantedFile(path, said["kind"], int(said["line"]), said["name"], said["how"], said["dir"] or "")
            )
    return found


def placed(file: PlantedFile) -> tuple[str, bytes]:
    """Return where a planted file lies in the tree of its task, and its text."""
    text, stem = file.path.read_bytes(), file.path.stem.replace("-", "_")
    if file.path.suffix == ".py":
        return ("aiosmtpd/tests" if b"aiosmtpd" in text else "tests") + f"/test_{stem}.py", text
    if file.path.suffix == ".go":
        return f"{file.directory}/planted_{stem}.go", text
    if file.path.suffix == ".ts":
        return f"src/v4/classic/tests/{file.path.name}", text
    return f"test/suites/api/test_{stem}.c", text


async def look(task: Task, context: ArmContext, files: list[PlantedFile]) -> Looked:
    """Run planted files as one suite in one container."""
    texts = dict(placed(file) for file in files)
    tests = tuple(
        TestId(file=path, name=name) for path, text in texts.items() for name in _tests(path, text.decode())
    )
    changes = [FileChange(path, None, text) for path, text in texts.items()]
    return await look_at_suite(task, Suite(tests, texts), changes, context)


def _tests(path: str, text: str) -> list[str]:
    if path.endswith(".py"):
        return [plain or group for plain, group in _PYTHON_TEST.findall(text)]
    if path.endswith(".go"):
        return _GO_TEST.findall(text) or ["TestNothing"]
    return [Path(path).stem]  # a program in C; in TypeScript none is run


@dataclass(frozen=True)
class LookedFile:
    """A planted file, and whether its invention is found, or for an honest file whether something is."""

    file: PlantedFile
    is_found: bool


async def look_at_all(
    session: EngineSession, language: str, files: Sequence[PlantedFile]
) -> tuple[list[LookedFile], list[float]]:
    """Look at files of a language in the images of its tasks.

    Returns:
        The files, and the processor seconds of each container.
    """
    found: list[LookedFile] = []
    seconds: list[float] = []
    for name in LANGUAGES[language]:
        mine = [file for file in files if _task_of(language, file) == name]
        task = Catalog().task(name)
        context = session.arm_context(task, await session.engine.image(task))
        for first in range(0, len(mine), _AT_ONCE[language]):
            some = mine[first : first + _AT_ONCE[language]]
            looked = await look(task, context, some)
            if looked.why_none:
                raise RuntimeError(f"{name}: {looked.why_none}")
            seconds.append(looked.seconds)
            found += _found_by(looked, some, name)
    return found, seconds


def _found_by(looked: Looked, files: Sequence[PlantedFile], task: str) -> Iterator[LookedFile]:
    for file in files:
        place = placed(file)[0]
        here = [each for each in looked.findings if each.file == place and not _is_of_another(each, task)]
        yield LookedFile(file, bool(here) if file.is_honest else file.is_found_in(looked.findings, place))


def _task_of(language: str, file: PlantedFile) -> str:
    names = LANGUAGES[language]
    return names[-1] if language == "python" and not placed(file)[0].startswith("aiosmtpd") else names[0]


def _is_of_another(finding: Finding, task: str) -> bool:
    """Some files were written for both libraries at once; the image of one lacks the other."""
    top = finding.name.partition(".")[0]
    return finding.kind is Kind.MODULE and top in ("aiosmtpd", "cachetools") and not task.startswith(top)
