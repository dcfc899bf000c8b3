"""Suites with one invented name each (tests/planted), and what the names arm says of them."""

import re
from dataclasses import dataclass
from pathlib import Path

from harness.judging.verify.arms import ArmContext, Suite
from harness.judging.verify.intake import FileChange
from harness.plugins.names.findings import Finding
from harness.plugins.names.looking import Looked, look_at_suite
from harness.specs.task import Task
from harness.specs.test_results import TestId

PLANTED = Path(__file__).parents[1] / "planted"
_HEAD = re.compile(
    r"kind: (?P<kind>[\w-]+); line: (?P<line>\d+); name: (?P<name>\S+); how: .*?(?:; dir: (?P<dir>\S+))?\s*(?:\*/)?$"
)
_PYTHON_TEST = re.compile(r"^(?:async )?def (test_\w+)|^class (Test\w+)", re.MULTILINE)
_GO_TEST = re.compile(r"^func (Test\w+)\(", re.MULTILINE)


@dataclass(frozen=True)
class PlantedFile:
    """A file and what its first line says: `kind` is `none` where nothing is invented."""

    path: Path
    kind: str
    line: int
    name: str
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
            found.append(PlantedFile(path, said["kind"], int(said["line"]), said["name"], said["dir"] or ""))
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
