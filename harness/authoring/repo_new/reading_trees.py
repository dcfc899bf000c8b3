"""Facts that a release's tree tells: its language, where its tests lie, what they need."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from configparser import ConfigParser
from email.parser import Parser
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement

from harness.judging.languages.registry import LANGUAGES
from harness.specs.errors import UserError

_TEST_EXTRAS = frozenset({"test", "tests", "testing", "dev", "develop", "development"})
_SOURCES = re.compile(r"(?i)^(source|code|repository|github)")
_BELOW_TESTS = frozenset({"test", "tests", "testing"})
_HERE = {"python_version": "3.11", "sys_platform": "linux", "os_name": "posix", "platform_system": "Linux"}
_NOT_TESTING = re.compile(r"(?i)^(coverage|pytest-cov|codecov|tox|nox|black|ruff|mypy|flake8|pre-commit|sphinx.*)$")


def language_in(tree: Path) -> str:
    """Return the registered language that most files of the tree are written in.

    Raises:
        UserError: No registered language has a file there.
    """
    suffixes = {suffix: name for name in LANGUAGES.names for suffix in LANGUAGES.get(name).suffixes}
    found = Counter(suffixes[path.suffix] for path in tree.rglob("*") if path.suffix in suffixes and path.is_file())
    if not found:
        raise UserError(f"the release has no file of a known language ({', '.join(LANGUAGES.names)})")
    return found.most_common(1)[0][0]


def test_globs(tree: Path, language: str) -> list[str]:
    """Return globs of a release's tests.

    Raises:
        UserError: It has none.
    """
    discovery = LANGUAGES.get(language).discovery
    every = (path for path in sorted(tree.rglob("*")) if path.is_file())
    files = [path.relative_to(tree).as_posix() for path in every]
    tests = [file for file in files if discovery.is_test_file(file) and _has_tests(tree, file, language)]
    if not tests:
        words = "many releases leave them out; pin the whole repository with --git URL@COMMIT or --archive"
        raise UserError(f"the release has no {language} tests: {words}")
    if language == "typescript":
        return list(dict.fromkeys(_glob_in_typescript(PurePosixPath(file)) for file in tests))
    if language == "go":
        return ["**/*_test.go", "**/testdata/**"]
    return list(dict.fromkeys(_glob_of(PurePosixPath(file)) for file in tests))


def _has_tests(tree: Path, file: str, language: str) -> bool:
    return bool(LANGUAGES.get(language).discovery.discover((tree / file).read_bytes(), file).tests)


def _glob_of(file: PurePosixPath) -> str:
    """Return all below the outermost directory that is called tests; else what is named like tests beside it."""
    for number, part in enumerate(file.parts[:-1], 1):
        if part in _BELOW_TESTS:
            return "/".join((*file.parts[:number], "**"))
    return (file.parent / f"test_*{file.suffix}").as_posix()


def _glob_in_typescript(file: PurePosixPath) -> str:
    """Return all in directories of tests, wherever below the outermost one they lie; else files by their name."""
    top = file.parts[0]
    for part in file.parts[:-1]:
        if part.strip("_") in _BELOW_TESTS:
            return f"{top}/**" if part == top else f"{top}/**/{part}/**"
    kind = ".spec." if ".spec." in file.name else ".test."
    return f"{top}/**/*{kind}*" if len(file.parts) > 1 else f"*{kind}*"


def upstream_of(tree: Path, packaging: Path | None, package: str) -> str:
    """Return the address of the project as its metadata has it, else its package's name."""
    control = packaging / "control" if packaging else None
    text = control.read_text() if control and control.is_file() else ""
    if line := re.search(r"^Homepage:\s*(\S+)", text, re.MULTILINE):
        return line[1]
    info = tree / "PKG-INFO"
    if info.is_file():
        message = Parser().parsestr(info.read_text(errors="replace"), headersonly=True)
        named = [line.partition(", ")[::2] for line in message.get_all("Project-URL", [])]
        sources = [address for label, address in named if _SOURCES.search(label)]
        others = [message.get("Home-page"), *(address for _, address in named)]
        return next(iter([*sources, *filter(None, others)]), package)
    if (tree / "package.json").is_file():
        document = json.loads((tree / "package.json").read_text())
        repository = document.get("repository", "")
        address = repository if isinstance(repository, str) else repository.get("url", "")
        return address.removeprefix("git+").removesuffix(".git") or document.get("homepage") or package
    return package


def pytest_configuration(tree: Path) -> str:
    """Return the file at the root that configures pytest; pytest.ini where none does."""
    marks = {"pytest.ini": "", "pyproject.toml": "[tool.pytest", "tox.ini": "[pytest]", "setup.cfg": "[tool:pytest]"}
    there = (name for name, mark in marks.items() if (tree / name).is_file() and mark in (tree / name).read_text())
    return next(there, "pytest.ini")


def python_requirements(tree: Path) -> list[str]:
    """Return what the package, its own tests and its build need, as it says itself, and what the run script needs."""
    project = _toml(tree / "pyproject.toml")
    own = [*_of_metadata(tree), *_of_project(project), *_of_setup(tree)]
    backend = project.get("build-system", {}).get("requires", ["setuptools", "wheel"])
    editable = ["editables"] if any(name.startswith("hatchling") for name in backend) else []
    names: dict[str, str] = {}
    for line in (*own, *backend, *editable, "pytest", "pytest-timeout", "setuptools", "wheel"):
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if not _NOT_TESTING.match(requirement.name) and _applies(requirement):
            requirement.marker = None
            names.setdefault(requirement.name.lower().replace("_", "-"), str(requirement))
    return sorted(names.values())


def _applies(requirement: Requirement) -> bool:
    extras = ("", *sorted(_TEST_EXTRAS))
    return requirement.marker is None or any(
        requirement.marker.evaluate({**_HERE, "extra": extra}) for extra in extras
    )


def _of_metadata(tree: Path) -> Iterable[str]:
    info = tree / "PKG-INFO"
    if not info.is_file():
        return []
    return Parser().parsestr(info.read_text(errors="replace"), headersonly=True).get_all("Requires-Dist", [])


def _of_project(document: dict[str, Any]) -> Iterator[str]:
    project = document.get("project", {})
    yield from project.get("dependencies", [])
    for groups in (project.get("optional-dependencies", {}), document.get("dependency-groups", {})):
        for name in _TEST_EXTRAS & groups.keys():
            yield from (line for line in groups[name] if isinstance(line, str))


def _of_setup(tree: Path) -> Iterator[str]:
    """Yield what setup.cfg says, of a tree that no release was made of."""
    setup = ConfigParser(interpolation=None)
    if (tree / "PKG-INFO").is_file() or not (tree / "setup.cfg").is_file():
        return
    setup.read_string((tree / "setup.cfg").read_text(errors="replace"))
    groups = [setup.get("options", "install_requires", fallback="")]
    groups += [setup.get("options.extras_require", name, fallback="") for name in sorted(_TEST_EXTRAS)]
    yield from (line.strip() for group in groups for line in group.splitlines() if line.strip())


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text()) if path.is_file() else {}


class GoModule(NamedTuple):
    """A Go package: its import path, Debian's packages of its libraries, and those that are only a guess."""

    path: str
    libraries: tuple[str, ...]
    guessed: tuple[str, ...] = ()


def go_module(tree: Path, packaging: Path | None) -> GoModule:
    """Read a source package of Debian, or `go.mod`.

    Raises:
        UserError: Neither names an import path.
    """
    control = packaging / "control" if packaging else Path()
    text = control.read_text() if control.is_file() else ""
    if path := re.search(r"^XS-Go-Import-Path:\s*([^\s,]+)", text, re.MULTILINE):
        needed = re.search(r"^Build-Depends:(.*(?:\n[ \t#].*)*)", text, re.MULTILINE)
        listed = needed[1] if needed else ""
        return GoModule(path[1], tuple(sorted(set(re.findall(r"\bgolang-[a-z0-9.+-]+-dev\b", listed)))))
    module = (tree / "go.mod").read_text() if (tree / "go.mod").is_file() else ""
    path = re.search(r"^module\s+\"?([^\s\"]+)", module, re.MULTILINE)
    if not path:
        raise UserError("Go sources need a go.mod, or a source package of Debian that names its Go import path")
    asked = re.findall(r"^(?:require)?\s+([a-z0-9][\w.-]*\.[a-z]+/\S+)\s+v\S+\s*$", module, re.MULTILINE)
    return GoModule(path[1], (), tuple(sorted({_debian_name(name) for name in asked})))


def _debian_name(module: str) -> str:
    """Return what Debian calls the library of a module, by its rule for names."""
    host, *parts = module.lower().replace("_", "-").split("/")
    if parts and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    return "-".join(["golang", host.rpartition(".")[0].replace(".", "-"), *parts, "dev"])


def asks_git_for_its_version(tree: Path) -> bool:
    """Return whether a Python build reads its version from git's history."""
    requires = _toml(tree / "pyproject.toml").get("build-system", {}).get("requires", [])
    setup = "".join(
        path.read_text(errors="replace") for path in (tree / "setup.py", tree / "setup.cfg") if path.is_file()
    )
    return any(re.match(r"setuptools[-_]scm|hatch-vcs", name) for name in requires) or "setuptools_scm" in setup
