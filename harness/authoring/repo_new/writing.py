"""The files of a new repository: repo.yaml, and what its dependencies are locked by."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.authoring.repo_new import reading_c, reading_npm, reading_trees
from harness.authoring.repo_new.pinning import Pinned, WantedRelease
from harness.specs.repo import LANGUAGE_FACTS
from harness.specs.yaml_files import Quoted, yaml_text

_RUNNERS = {
    "python": (
        "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "pyproject.toml", "tox.ini",
        "setup.cfg", "setup.py", "sitecustomize.py", "usercustomize.py", "*.pth",
    ),
    "go": ("go.mod", "go.sum", "go.work"),
    "c": (
        "CMakeLists.txt", "Makefile", "Makefile.am", "Makefile.in", "configure", "configure.ac", "meson.build",
    ),
    "typescript": (
        "package.json", "package-lock.json", "tsconfig*.json", "vite.config.*", "vitest.*", "postcss.config.*",
        ".npmrc", ".env*",
    ),
}  # fmt: skip
"""Files at the root that decide how tests are found and run. Below it the same names count, but for conftest.py,
which belongs to the tests there."""
_PERL = ("perl", "perl5.36.0", "perl5.36-x86_64-linux-gnu", "perl5.36-aarch64-linux-gnu")
_BINUTILS = (
    "addr2line", "c++filt", "elfedit", "gdb", "gp-display-text", "gp-display-src", "gprof", "gprofng", "lto-dump-12",
    "nm", "objcopy", "objdump", "readelf", "strings",
)  # fmt: skip
"""Programs that show a library's code. Those that compile and link stay: test programs are built in arms."""
_TRANSFORMED = "/var/cache/run_tests/transformed"
_GO_CACHES = ("/home/agent/.cache/go-build", "/usr/lib/go-1.19/bin", "/usr/lib/go-1.19/pkg")


@dataclass(frozen=True)
class Written:
    """The files of a repository beside repo.yaml, and what its `frame:` says: place -> text."""

    texts: dict[str, str]
    frame: dict[str, str]


def python_files(pinned: Pinned, needs: list[str], packages: list[str], version: str = "") -> Written:
    """Write the files of a Python release; the lock is still to be made.

    `version` is for builds that ask git for it, and the image has no history.
    """
    lines = [*reading_trees.python_requirements(pinned.tree), *needs]
    head = f"# What {pinned.wanted} and its own tests say they need; testwright repo new wrote it.\n"
    asked = reading_trees.asks_git_for_its_version(pinned.tree) and pinned.wanted.is_kept
    pretended = f"export SETUPTOOLS_SCM_PRETEND_VERSION={shlex.quote(version or '0')}; \\\n    " if asked else ""
    # Without pyproject.toml pip runs setup.py, which looks for what the build needs on an index.
    isolated = "" if (pinned.tree / "pyproject.toml").is_file() else "export PIP_USE_PEP517=1; \\\n    "
    frame = {
        "config": reading_trees.pytest_configuration(pinned.tree),
        "debian": _listed(packages),
        "before_install": isolated + pretended,
    }
    return Written({"requirements.in": head + "".join(f"{line}\n" for line in dict.fromkeys(lines))}, frame)


def go_files(pinned: Pinned, packages: list[str]) -> Written:
    """Write the files of a Go source package of Debian, with the libraries that Debian builds it with."""
    module = reading_trees.go_module(pinned.tree, pinned.packaging)
    return Written({}, {"debian": _listed([*module.libraries, *module.guessed, *packages])})


def typescript_files(pinned: Pinned, release: reading_npm.NpmRelease, packages: list[str]) -> Written:
    """Write the files of a release on npm; package.json and its lock are still to be made."""
    kept = "".join(f" ! -name {shlex.quote(name)}" for name in release.kept)
    broken = "".join(f" \\\n        {shlex.quote(file)}" for file in release.broken)
    removed = f"\n    # They import what the release doesn't bring.\n    rm{broken}; \\" if broken else ""
    frame = {
        "conditions": "".join(f" --conditions={shlex.quote(name)}" for name in release.conditions),
        "debian": _listed(packages),
        "kept": "" if pinned.wanted.is_kept else kept,
        "broken": removed,
    }
    return Written({"settings.mjs": reading_npm.settings(release)}, frame)


def c_files(release: reading_c.CRelease, packages: list[str]) -> Written:
    """Write the files of a C source package of Debian: a library, and test programs that are linked with it."""
    frame = {
        "code": " ".join(shlex.quote(file) for file in release.code),
        "debian": _listed([*release.needs, *packages]),
        "configures": _listed(list(release.configures)),
        "configure": release.configure,
    }
    return Written({}, frame)


def go_workdir(pinned: Pinned) -> str:
    """Return the work directory of a Go package: its place in GOPATH."""
    return f"/go/src/{reading_trees.go_module(pinned.tree, pinned.packaging).path}"


def repo_yaml(name: str, pinned: Pinned, licence: str, notices: tuple[str, ...], frame: Mapping[str, str]) -> str:
    """Return the text of a new repository's `repo.yaml`; `frame` is what its files say (`Written.frame`)."""
    language = reading_trees.language_in(pinned.tree)
    wanted = pinned.wanted
    programs = (*_PERL, *(_BINUTILS if language == "c" else ()))
    hidden = [*(f"/usr/bin/{file}" for file in programs), *(_GO_CACHES if language == "go" else ())]
    arms = {"hidden": [Quoted(path) for path in hidden]}
    own: dict[str, Any] = {}
    match language:
        case "go":
            own = {"workdir": go_workdir(pinned)}
        case "python":
            own = {"local": {"requirements": "requirements.lock"}}
        case "typescript":
            arms["taken_away"] = [Quoted(_TRANSFORMED)]
    if said := {place: Quoted(text) for place, text in frame.items() if text}:
        own["frame"] = said
    return yaml_text(
        {
            "schema_version": 1,
            "name": name,
            "language": language,
            "upstream": reading_trees.upstream_of(pinned.tree, pinned.packaging, _home(wanted)),
            "version": Quoted(pinned.version),
            "licence": licence,
            "notices": list(notices),
            "source": {
                "kind": wanted.kind,
                "package": wanted.package,
                "version": Quoted(pinned.version),
                "sha256": pinned.sha256,
                **({"tree": pinned.tree_hash} if pinned.tree_hash else {}),
            },
            "report": LANGUAGE_FACTS.get(language).report,
            "test_paths": [Quoted(glob) for glob in reading_trees.test_globs(pinned.tree, language)],
            "runner_files": [Quoted(glob) for glob in _runner_files(language)],
            "env": {},
            "limits": {"memory_mb": 2048, "cpus": 2, "pids": 512, "disk_mb": 1024, "test_seconds": 60},
            "arms": arms,
            **own,
        }
    )


def _home(wanted: WantedRelease) -> str:
    """Return what is said of where a release comes from, where it doesn't say so: no path of this machine."""
    return wanted.archive if wanted.kind == "git" and "://" in wanted.archive else wanted.package


def _runner_files(language: str) -> list[str]:
    at_root = _RUNNERS[language]
    return [*at_root, *(f"**/{name}" for name in at_root if name != "conftest.py")]


def _listed(packages: list[str]) -> str:
    return "".join(f" \\\n        {name}" for name in dict.fromkeys(packages))


def lay_out(directory: Path, texts: dict[str, str]) -> None:
    """Write the files of a repository whose directory doesn't exist yet."""
    directory.mkdir(parents=True)
    for name, text in texts.items():
        (directory / name).write_text(text)
