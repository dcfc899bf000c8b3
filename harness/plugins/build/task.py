"""Tasks of the track: a brief with its hidden tests, where they lie, and how one is read.

`build:NAME` is one that comes with this package, `build:PATH` a directory like those, or one that has them.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatch
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import ClassVar

from harness.judging.submission.new_files import patch_of_files
from harness.plugins.build.kit import briefs_directory, kit_repo
from harness.plugins.build.provider import NEEDS, provider_files
from harness.specs.errors import UserError
from harness.specs.rubric import Criterion, GradedBy, Importance, Rubric
from harness.specs.task import Probe, Task, TaskFile, Twin
from harness.specs.test_results import TestId
from harness.specs.yaml_files import check_name, line_of_key, load_yaml, parse_yaml, read_text

NAME = "build"
RUBRIC, COVERS, TREE, HIDDEN, CONTRACT = "rubric.yaml", "covers.yaml", "tree", "hidden", "contract.yaml"
REFERENCES, NULL, BROKEN, MANIFEST = "references", "null", "broken", "manifest.yaml"
BRIEF = f"{TREE}/brief.md"
BOOT_FILE, HOME_FILE = f"{HIDDEN}/test_boot.py", f"{HIDDEN}/test_home.py"
OWN = resources.files("harness.plugins.build")
OWN_TESTS = ("3.1", "3.2", "3.3", "3.4", "3.5")
"""Criteria of the application's own tests, which no hidden test decides."""
STARTS, OPENS, KEEPS = "2.1", "2.3", "5.1"
README, IMPORTS, KEYS = "2.4", "5.3", "5.4"
"""Hygiene, which no hidden test decides."""
_BESIDE, _BESIDE_PAGES = ("conftest.py", "test_boot.py"), ("browsing.py", "test_home.py")
"""Files beside the hidden tests of any brief, and of one with pages."""
HOME_TESTS = {"test_the_home_page_opens_without_a_script_error": (OPENS,)}
BOOT: Mapping[str, tuple[str, ...]] = {
    STARTS: ("test_it_starts_in_time", "test_it_is_healthy_twice"),
    "2.2": ("test_a_request_to_stop_ends_it_and_leaves_nothing",),
    "5.2": ("test_it_writes_nothing_outside_its_data_directory",),
}
"""Criteria that are the same for every brief, and the tests that decide them."""
_COMMON = {
    STARTS: "The application starts in 20 seconds and is healthy.",
    "2.2": "A request to stop (SIGTERM) ends the application in 5 seconds, and no process stays.",
    OPENS: "The home page opens in a browser, without a script error.",
    "3.1": "The application's own tests pass, twice.",
    "3.2": "The application's own tests fail where a module of it is stubbed, for each module.",
    "3.3": "The application's own tests notice at least half of the mutants drawn of its code.",
    "3.4": "The application's own tests notice at least four of five mutants drawn of its code.",
    "3.5": "The application's own tests pass in the reverse order of their files, and with a quarter of a core.",
    README: "The README has commands in blocks of shell, and they run, offline and in a fresh copy.",
    "5.2": "The application leaves no file outside its data directory.",
    IMPORTS: "Each package that is imported is in the application's lock.",
    KEYS: "No file has somebody's key in it.",
}
_REFERENCE = "reference/tests.patch"
_REFERENCE_MANIFEST = "reference/manifest.yaml"


def task_directories(place: str) -> list[Path]:
    """Return a task's own directory, all in a directory, or those of this package that a name or a glob matches.

    Raises UserError.
    """
    path = Path(place)
    if (path / Task.DESCRIPTION).is_file():
        return [path.resolve()]
    if path.is_dir():
        candidates: Iterable[Path] = path.iterdir()
    else:
        candidates = (item for item in briefs_directory().iterdir() if fnmatch(item.name, path.name))
    found = sorted(item.resolve() for item in candidates if (item / Task.DESCRIPTION).is_file())
    if not found:
        known = ", ".join(sorted(path.parent.name for path in briefs_directory().glob(f"*/{Task.DESCRIPTION}")))
        raise UserError(f"{NAME}:{place}: no task directory there; those of this package: {known}")
    return found


class BuildTask(Task):
    """`tests` are the criteria that each hidden test is there for, by file and name.

    `home` is the path of the home page, where the application has pages.
    """

    NEEDED: ClassVar[tuple[str, ...]] = (_REFERENCE, _REFERENCE_MANIFEST)

    tests: Mapping[str, Mapping[str, tuple[str, ...]]]
    home: str = ""

    @cached_property
    def has_provider(self) -> bool:
        """Return whether a provider of models stands beside the hidden tests."""
        path = self.directory / TREE / "contract.yaml"
        contract = parse_yaml(read_text(path), str(path))[0]
        return NEEDS in (contract.get("environment") or {})

    @property
    def address(self) -> str:
        return f"{NAME}:{self.directory}"

    @cached_property
    def prompt(self) -> str:
        return (OWN / "request.md").read_text(encoding="utf-8") + read_text(self.directory / BRIEF)

    @property
    def prompts(self) -> tuple[str, ...]:
        return (self.prompt, (OWN / "mend.md").read_text(encoding="utf-8") + self.prompt)

    @property
    def is_whole_instruction(self) -> bool:
        return True

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        return ()

    @cached_property
    def twins(self) -> tuple[Twin, ...]:
        return ()

    @property
    def has_authored_placebo(self) -> bool:
        return False

    @cached_property
    def references(self) -> tuple[str, ...]:
        """The applications that are as they should be, by name; the first is the one that `oracle` hands in.

        Raises:
            UserError: There is none.
        """
        if not self.has_references:
            words = f"no application there; add one that is as it should be as {REFERENCES}/NAME"
            raise UserError(f"{self.path(REFERENCES)}: {words}")
        return tuple(sorted(path.name for path in self.path(REFERENCES).glob("[!.]*/")))

    @property
    def has_references(self) -> bool:
        """Return whether there is an application that is as it should be."""
        return any(self.path(REFERENCES).glob("[!.]*/"))

    def patch(self, name: str) -> bytes:
        """Return a part's bytes: nothing is withheld, and the reference is the first of the references."""
        if name == "withheld.patch":
            return b""
        if name == "removal.patch":
            raise UserError(f"{self.address}: a task of {NAME} has no removal")
        if name == _REFERENCE:
            return patch_of(self.path(REFERENCES) / self.references[0])
        if name == _REFERENCE_MANIFEST:
            return super().patch(f"{REFERENCES}/{self.references[0]}/{MANIFEST}")
        return super().patch(name)

    @property
    def names_beside(self) -> tuple[str, ...]:
        """The names of our own files among the hidden tests, which no brief's file can have."""
        return (*_BESIDE, *(_BESIDE_PAGES if self.home else ()))

    def hidden_files(self) -> dict[str, bytes]:
        """Return the hidden tests, by the paths that they have beside an application."""
        own = {f"{HIDDEN}/{path.name}": path.read_bytes() for path in sorted(self.path(HIDDEN).glob("*.py"))}
        ours = {f"{HIDDEN}/{name}": (OWN / "in_container" / name).read_bytes() for name in self.names_beside}
        provider = {f"{HIDDEN}/{path}": data for path, data in provider_files().items()} if self.has_provider else {}
        return own | ours | provider

    def tests_of(self, file: str) -> tuple[TestId, ...]:
        """Return the tests of a hidden file."""
        return tuple(TestId(file, name) for name in self.tests.get(file, {}))

    def tests_for(self, criterion: str) -> tuple[TestId, ...]:
        """Return the hidden tests that decide a criterion."""
        return tuple(
            TestId(file, name)
            for file, tests in self.tests.items()
            for name, criteria in tests.items()
            if criterion in criteria
        )

    @cached_property
    def digest(self) -> str:
        return self._over(self._files())

    @cached_property
    def digest_without_rubric(self) -> str:
        return self._over([path for path in self._files() if path.name != RUBRIC])

    def _over(self, paths: Iterable[Path]) -> str:
        """Digest files by names and bytes, the kit, and what runs in containers: the same wherever they lie."""
        whole = hashlib.sha256(self.repo.source.sha256.encode())
        for name in ("supervise.py", *self.names_beside):
            whole.update((OWN / "in_container" / name).read_bytes())
        for data in provider_files().values() if self.has_provider else ():
            whole.update(data)
        for path in paths:
            name = path.relative_to(self.directory).as_posix()
            whole.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
        return whole.hexdigest()


def build_task(task: Task) -> BuildTask:
    """Return a task of this track as such. Raises UserError for any other."""
    if isinstance(task, BuildTask):
        return task
    raise UserError(f"task {task.id}: it has no brief (-t {NAME}:NAME)")


def load_task(directory: Path) -> BuildTask:
    """Return the task in a directory. Raises UserError for the first file that is absent or wrong."""
    path = directory / Task.DESCRIPTION
    file = load_yaml(path, TaskFile)
    check_name(path, file.id)
    if file.track != NAME:
        raise UserError(f"{path}:{line_of_key(path, 'track')}: it is a task of the track {file.track}, not {NAME}")
    rubric = load_yaml(directory / RUBRIC, Rubric)
    if rubric.task != file.id:
        raise UserError(f"{directory / RUBRIC}:1: it is the rubric of {rubric.task}, not of {file.id}")
    boot = {test: (of,) for of, names in BOOT.items() for test in names}
    home = _home(directory / TREE / CONTRACT)
    tests = _covers(directory / HIDDEN / COVERS, {BOOT_FILE, *([HOME_FILE] if home else [])}) | {BOOT_FILE: boot}
    _check_criteria(directory, rubric, tests)
    common = [name for name in _COMMON if home or name != OPENS]
    whole = Rubric(task=file.id, criteria=(*rubric.criteria, *map(_common, common)))
    tests |= {HOME_FILE: HOME_TESTS} if home else {}
    return BuildTask(
        file=file, repo=kit_repo(directory / TREE), rubric=whole, directory=directory, tests=tests, home=home
    )


def _home(path: Path) -> str:
    """Return the path of the home page that a contract names, empty where it names none.

    Raises:
        UserError: The contract is no mapping, or what is read of it has another form.
    """
    told = parse_yaml(read_text(path), str(path))[0]
    home = told.get("home", "") if isinstance(told, Mapping) else None
    if not isinstance(home, str) or (home and not home.startswith("/")):
        raise UserError(f"{path}:1: expected a mapping in which `home`, if it is there, is a path")
    if not isinstance(told.get("environment") or {}, Mapping):
        line = line_of_key(path, "environment")
        raise UserError(f"{path}:{line}: environment: expected a mapping from each variable to what it is")
    return home


def _covers(path: Path, ours: Collection[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the criteria of each hidden test, by file and name; `ours` are files that a brief says nothing of."""
    told = parse_yaml(read_text(path), str(path))[0]
    try:
        found = {
            f"{HIDDEN}/{file}": {name: tuple(map(str, criteria)) for name, criteria in tests.items()}
            for file, tests in told.items()
        }
    except (AttributeError, TypeError):
        found = {}
    if not found or not all(isinstance(name, str) for tests in found.values() for name in tests):
        raise UserError(f"{path}:1: expected FILE: {{TEST: [CRITERION, ...]}}")
    for file in found.keys() & set(ours):
        name = file.removeprefix(f"{HIDDEN}/")
        raise UserError(f"{path}:{line_of_key(path, name)}: {name}: its tests are testwright's own; take it out")
    return found


def _check_criteria(directory: Path, rubric: Rubric, tests: Mapping[str, Mapping[str, tuple[str, ...]]]) -> None:
    """Check that each criterion of a brief has a test, and each test one."""
    own = {item.id for item in rubric.criteria}
    if taken := sorted(own & _COMMON.keys()):
        raise UserError(f"{directory / RUBRIC}:1: criterion {taken[0]} is the track's own; choose another number")
    if KEEPS not in own:
        raise UserError(f"{directory / RUBRIC}:1: criterion {KEEPS} is missing: what must be there after a restart")
    named = {of for file in tests.values() for criteria in file.values() for of in criteria}
    if odd := sorted((own | BOOT.keys()) ^ named):
        words = f"criterion {odd[0]}: each one has a test in {HIDDEN}/{COVERS}, and each test a criterion"
        raise UserError(f"{directory / RUBRIC}:1: {words}")


def _common(name: str) -> Criterion:
    return Criterion(
        id=name, axis=int(name[0]), importance=Importance.NICE, statement=_COMMON[name], graded_by=(GradedBy.PROBE,)
    )


def patch_of(directory: Path) -> bytes:
    """Return a patch that adds the files of an application.

    Raises:
        UserError: There is none, or one is binary.
    """
    files = sorted(path for path in directory.rglob("*") if path.is_file() and path.suffix != ".pyc")
    added = [path for path in files if path != directory / MANIFEST]
    if not added:
        raise UserError(f"{directory}: no application there")
    return patch_of_files(directory, added)
