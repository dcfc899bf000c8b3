"""Parts of a check that passed, remembered by all that they depend on, where it is asked for.

A check record may hold them: each ran on these very files, on this image, by this code, and its remarks say so.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pydantic import ValidationError

import harness
from harness.authoring.task_check.honest_corpus import corpus_of
from harness.authoring.task_check.subject import Subject
from harness.sandbox.cache import cache_directory
from harness.sandbox.images.recipe import digest_of
from harness.specs.catalog import Catalog, default_directory
from harness.specs.task_facts import CheckedStep, StepId, StepOutcome

_CONTROLS = ("prompt.md", "fuzz/")
_NOT_READ: Mapping[StepId, tuple[str, ...]] = {
    StepId.IMAGE: _CONTROLS,
    StepId.OTHER_COPIES: _CONTROLS,
    StepId.AGENT_VIEW: (),
    StepId.REFERENCE: _CONTROLS,
    StepId.REFERENCE_ONCE: _CONTROLS,
    StepId.NOP: _CONTROLS,
    StepId.WORTHLESS_SUBMISSIONS: _CONTROLS,
    StepId.HONEST_SUITES: (*_CONTROLS, "reference/"),
    StepId.FUZZ: ("prompt.md",),
    StepId.UPSTREAM_TESTS: _CONTROLS,
}
"""The parts that start containers, and what of a task's files each has nothing to do with."""
REMEMBERED = "remembered"


@dataclass(frozen=True)
class Memory:
    """Of one task. What a part depends on is in its key: files, image, isolation, this very code."""

    directory: Path
    keys: Mapping[StepId, str]

    def recall(self, step: StepId) -> CheckedStep | None:
        """The part as it passed, with its warnings and seconds; None where it never did on the very same files."""
        path = self._path(step)
        if path is None or not path.is_file():
            return None
        try:
            found = CheckedStep.model_validate_json(path.read_bytes())
        except ValidationError:
            return None
        return found.model_copy(update={"remarks": (*found.remarks, f"{step.label}: {REMEMBERED}")})

    def keep(self, step: CheckedStep) -> None:
        """A part that didn't pass is forgotten."""
        path = self._path(step.id)
        if path is None:
            return
        if step.outcome is not StepOutcome.PASSED:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(step.model_dump_json())
        new.replace(path)

    def _path(self, step: StepId) -> Path | None:
        return self.directory / f"{step.value}-{self.keys[step][:32]}.json" if step in self.keys else None


def memory_of(subject: Subject, isolation: str) -> Memory:
    """Raises OSError where a file can't be read."""
    task, around = subject.task, subject.containers
    files = {path.relative_to(task.directory).as_posix(): path.read_bytes() for path in _files(task.directory)}
    corpus = corpus_of(subject.catalog) / task.id
    honest = {f"honest/{path.relative_to(corpus).as_posix()}": path.read_bytes() for path in _files(corpus)}
    where = json.dumps([task.address, task.repo.model_dump_json(), around.image.digest, isolation, _code()])
    shared = {"rubric": subject.rubric.read_bytes(), "where": where.encode(), **_told(subject.catalog)}
    keys = {}
    for step, not_read in _NOT_READ.items():
        read = {name: data for name, data in files.items() if not name.startswith(not_read)}
        more = honest if step is StepId.HONEST_SUITES else {}
        keys[step] = digest_of({**{f"task/{name}": data for name, data in read.items()}, **more, **shared})
    return Memory(cache_directory() / "checked-parts" / task.id, keys)


def _told(catalog: Catalog) -> dict[str, bytes]:
    """The scaffolds: what agents are told is in them."""
    folders = dict.fromkeys((default_directory(), catalog.directory))
    return {
        f"scaffolds/{number}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for number, folder in enumerate(folders)
        for path in _files(folder / "scaffolds")
    }


@cache
def _code() -> str:
    """Of every file of the package: what a part does is in modules, scripts and templates."""
    package, whole = Path(harness.__file__).parent, hashlib.sha256()
    for path in _files(package):
        if path.suffix != ".pyc":
            whole.update(f"{path.relative_to(package)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def _files(directory: Path) -> Iterator[Path]:
    return (path for path in sorted(directory.rglob("*")) if path.is_file())
