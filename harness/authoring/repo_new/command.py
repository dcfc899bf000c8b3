"""`testwright repo new`: from the name of a release to the files that its images are built from."""

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.authoring.repo_new import reading_c, reading_npm, reading_trees, writing
from harness.authoring.repo_new.git_source import wanted_commit
from harness.authoring.repo_new.licences import licence_of, notices
from harness.authoring.repo_new.pinning import Kind, Pinned, WantedRelease, locked, npm_locked, pin
from harness.authoring.repo_new.reading_trees import language_in
from harness.runs.concurrency import run_to_end
from harness.sandbox.images.frames import DOCKERFILE, RUN_SCRIPT
from harness.sandbox.images.recipe import ARCHIVE
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.repo import LANGUAGE_FACTS, Repo
from harness.specs.yaml_files import parse_yaml, validate

_SEPARATORS: dict[Kind, str] = {"pypi": "==", "debian": "=", "npm": "@"}

_TEMPLATES = {"python": "pypi", "go": "debian", "c": "debian", "typescript": "npm"}
"""The registry of each language that has a template; all of them also take what is kept beside repo.yaml."""


@dataclass(frozen=True)
class Given:
    """The options of the command. `needs` are further requirements, `packages` further Debian packages."""

    name: str
    kind: Kind
    source: str
    version: str = ""
    sha256: str = ""
    licence: str = ""
    needs: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


def source_of(options: dict[Kind, str | None]) -> tuple[Kind, str]:
    """Return the one source that is given.

    Raises:
        UserError: None is, or two are.
    """
    given = [(kind, source) for kind, source in options.items() if source]
    if len(given) != 1:
        names = ", ".join(f"--{kind}" for kind in options)
        raise UserError(f"give one source: {names}")
    return given[0]


def new_repo(catalog: Catalog, given: Given, tell: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Write `repos/NAME/`, and return its files.

    Args:
        catalog: Where it is written to.
        given: The command's options.
        tell: Gets a line on what the author may want to add.

    Raises:
        UserError: Something can't be told; nothing is written then.
    """
    directory = catalog.directory / "repos" / given.name
    if directory.exists():
        raise UserError(f"{directory}: is there already; take another name, or remove it")
    wanted = _wanted(given)
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        pinned = run_to_end(pin(wanted, Path(scratch), tell))
        if given.sha256 not in ("", pinned.sha256):
            raise UserError(f"{wanted}: its sha256 is {pinned.sha256}, not {given.sha256}")
        texts = _texts(given, pinned, Path(scratch), directory, tell)
        writing.lay_out(directory, texts)
        title = LANGUAGE_FACTS.get(language_in(pinned.tree)).title
        shared = " and ".join(name for name in (DOCKERFILE, RUN_SCRIPT) if name not in texts)
        tell(f"{given.name}: of {shared} there is one for {title}; frame: in repo.yaml has what differs")
        if wanted.is_kept:
            shutil.copy(pinned.file, directory / ARCHIVE)
    return sorted(path for path in directory.iterdir())


def _wanted(given: Given) -> WantedRelease:
    """Return the release that options name, raising UserError for a source without a version."""
    if given.kind == "archive":
        if not given.version:
            raise UserError("--archive: an archive doesn't say its version; give it with --version")
        return WantedRelease("archive", given.name, given.version, given.source)
    if given.kind == "git":
        named = wanted_commit(given.source)
        return WantedRelease("git", given.name, named.commit, named.url)
    separator = _SEPARATORS[given.kind]
    package, found, version = given.source.rpartition(separator)
    if not (found and package and re.fullmatch(r"[0-9A-Za-z][0-9A-Za-z.+~:-]*", version)):
        words = f"a release is named PACKAGE{separator}VERSION"
        raise UserError(f"--{given.kind}: {given.source!r} names no release; {words}")
    return WantedRelease(given.kind, package, version)


def _texts(
    given: Given, pinned: Pinned, scratch: Path, directory: Path, tell: Callable[[str], None]
) -> dict[str, str]:
    """Return all files, the lock last: it takes longest."""
    language = language_in(pinned.tree)
    if not (language in _TEMPLATES and (pinned.wanted.is_kept or _TEMPLATES[language] == given.kind)):
        words = "docs/repositories.md says which templates there are, and what to write"
        raise UserError(
            f"{pinned.wanted} is written in {language}; no template has that with --{given.kind}: {words}"
        )
    licence = licence_of(pinned.tree, given.licence)
    written = _written(given, language, pinned, tell)
    description = writing.repo_yaml(given.name, pinned, licence, notices(pinned.tree), written.frame)
    validate(*parse_yaml(description, "repo.yaml"), Repo, str(directory / "repo.yaml"))
    return {"repo.yaml": description, **written.texts, **_locks(written.texts, scratch)}


def _written(given: Given, language: str, pinned: Pinned, tell: Callable[[str], None]) -> writing.Written:
    if language == "go":
        if guessed := reading_trees.go_module(pinned.tree, pinned.packaging).guessed:
            words = "go.mod asks for them; correct frame: debian: in repo.yaml where Debian calls one otherwise"
            tell(f"{given.name}: takes {', '.join(guessed)} of Debian: {words}")
        return writing.go_files(pinned, list(given.packages))
    if language == "c":
        release = reading_c.read_release(pinned.tree, pinned.packaging)
        return writing.c_files(release, list(given.packages))
    if language == "typescript":
        return _of_npm(given, pinned, tell)
    return writing.python_files(pinned, list(given.needs), list(given.packages), given.version)


def _of_npm(given: Given, pinned: Pinned, tell: Callable[[str], None]) -> writing.Written:
    release = reading_npm.read_release(pinned.tree)
    if unknown := [name for name in release.unnamed if not any(need.startswith(f"{name}@") for need in given.needs)]:
        words = "tests import them and the release asks for no version: give one, --needs NAME@VERSION"
        tell(f"{given.name}: without {', '.join(unknown)}; {words}")
    if release.broken:
        tell(f"{given.name}: without {', '.join(release.broken)}; they import what the release doesn't bring")
    written = writing.typescript_files(pinned, release, list(given.packages))
    package = {"package.json": reading_npm.package_json(given.name, release, given.needs)}
    return replace(written, texts={**written.texts, **package})


def _locks(texts: Mapping[str, str], scratch: Path) -> dict[str, str]:
    if "package.json" in texts:
        return {"package-lock.json": npm_locked(texts["package.json"], scratch)}
    if "requirements.in" in texts:
        return {"requirements.lock": locked(texts["requirements.in"], scratch)}
    return {}
