"""One's own code as a source: any git URL or local path at a commit, as an archive of that commit's tree.

git fetches it with its own configuration and credentials. The archive has every file of the tree as it is there, and
its tree hash is computed again from the archive.
"""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox.host import PROXIES, host_environment
from harness.sandbox.images.work_tree import unpack_tree
from harness.specs.errors import ToolFailed, UserError
from harness.specs.first_few import first_few

_SECONDS = 1800
_COMMIT = re.compile(r"[0-9A-Za-z][0-9A-Za-z._/+-]*")
_POINTER = b"version https://git-lfs.github.com/spec/v1"
_NAMED = 3
_CONFIGURED = ("GIT_SSH*", "GIT_SSL*", "GIT_CONFIG*", "GIT_ASKPASS", "GIT_PROXY_COMMAND", "SSH_*")
"""Variables of git that are passed on: how it reaches a server, never which repository it works in."""
AS_IT_IS = "* -export-ignore -export-subst -filter -text -eol -ident -working-tree-encoding\n"
"""Attributes that go before the tree's own: no file is left out of an archive, or changed on the way."""


@dataclass(frozen=True)
class WantedCommit:
    """A repository and a commit, tag or branch of it, as the command line names them."""

    url: str
    commit: str


@dataclass(frozen=True)
class FetchedCommit:
    """An archive of a commit's tree, and both of their hashes."""

    archive: Path
    commit: str
    tree: str


def wanted_commit(source: str) -> WantedCommit:
    """Read `URL@COMMIT`.

    Raises:
        UserError: It names no commit.
    """
    url, found, commit = source.rpartition("@")
    if not (found and url and _COMMIT.fullmatch(commit)) or url.startswith("-"):
        raise UserError(f"--git: {source!r} names no commit; it is written URL@COMMIT, or PATH@COMMIT")
    if "://" not in url and Path(url).exists():
        url = str(Path(url).resolve())
    return WantedCommit(url, commit)


def fetch_commit(wanted: WantedCommit, name: str, scratch: Path, tell: Callable[[str], None]) -> FetchedCommit:
    """Fetch a commit and pack its tree, in one directory called `name`.

    `tell` hears what a commit doesn't hold: submodules, and what Git LFS keeps elsewhere.

    Raises:
        UserError: git can't fetch it, or there is no such commit.
        ToolFailed: git isn't done in time.
    """
    repository = scratch / "repository.git"
    commit = _fetched(wanted, repository)
    tree = _git(repository, "rev-parse", f"{commit}^{{tree}}").decode().strip()
    modules = _submodules(repository, commit)
    if modules:
        words = "they are repositories of their own; where tests need them, pack a whole checkout for --archive"
        tell(f"{name}: without its submodules {first_few(modules, _NAMED)}: {words}")
    if pointers := _pointers(repository, commit):
        words = "Git LFS keeps the files elsewhere; where tests need them, pack a whole checkout for --archive"
        tell(f"{name}: of {first_few(pointers, _NAMED)} only the pointers are there: {words}")
    archive = scratch / "source.tar"
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text(AS_IT_IS)
    _git(repository, "archive", "--format=tar", f"--prefix={name}/", f"--output={archive}", commit)
    made = tree_of(archive, scratch / "again")
    if made != tree and not modules:
        raise UserError(f"--git: the archive of {commit} has the tree {made}, and the commit has {tree}")
    return FetchedCommit(archive, commit, tree)


def tree_of(archive: Path, scratch: Path) -> str:
    """Return git's hash of the tree that an archive holds in its one directory."""
    scratch.mkdir()
    with archive.open("rb") as file:
        unpack_tree(file, scratch / "tree")
    repository, tree = scratch / "tree.git", scratch / "tree"
    _git(None, "init", "--quiet", "--bare", str(repository))
    (repository / "info").mkdir(exist_ok=True)
    (repository / "info" / "attributes").write_text(AS_IT_IS)
    own = ("-c", "core.autocrlf=false", "-c", "core.excludesFile=/dev/null", "-c", "core.fileMode=true")
    _git(repository, *own, f"--work-tree={tree}", "add", "--all", "--force", "--", str(tree), cwd=tree)
    return _git(repository, "write-tree").decode().strip()


def _fetched(wanted: WantedCommit, repository: Path) -> str:
    """Return the full hash of the commit, which is in `repository` now: alone where the server gives it alone."""
    _git(None, "init", "--quiet", "--bare", str(repository))
    try:
        _git(repository, "fetch", "--quiet", "--depth=1", "--", wanted.url, wanted.commit)
        return _git(repository, "rev-parse", "FETCH_HEAD^{commit}").decode().strip()
    except UserError:  # a short hash, or a server that gives no single commit
        everything = ("+refs/*:refs/fetched/*",)
        _git(repository, "fetch", "--quiet", "--", wanted.url, *everything)
    for name in (wanted.commit, f"refs/fetched/tags/{wanted.commit}", f"refs/fetched/heads/{wanted.commit}"):
        try:
            return _git(repository, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}").decode().strip()
        except UserError:
            continue
    raise UserError(f"--git: {wanted.url} has no commit {wanted.commit}")


def _submodules(repository: Path, commit: str) -> list[str]:
    listing = _git(repository, "ls-tree", "-r", "-z", commit).decode(errors="replace")
    return [line.partition("\t")[2] for line in listing.split("\0") if line.startswith("160000 ")]


def _pointers(repository: Path, commit: str) -> list[str]:
    """Return the files that are pointers of Git LFS."""
    try:
        found = _git(repository, "grep", "-z", "-l", "-a", "-F", "-e", _POINTER.decode(), commit)
    except UserError:  # none: git grep ends with status 1
        return []
    files = [name.partition(":")[2] for name in found.decode(errors="replace").split("\0") if name]
    return [file for file in files if _git(repository, "show", f"{commit}:{file}").startswith(_POINTER)]


def _git(repository: Path | None, *arguments: str, cwd: Path | None = None) -> bytes:
    """Run git as the author has it configured. Raises UserError with what it complains about, ToolFailed."""
    where = [f"--git-dir={repository}"] if repository else []
    env = {**host_environment(*_CONFIGURED, *PROXIES), "GIT_TERMINAL_PROMPT": "0"}
    try:
        done = subprocess.run(
            ["git", *where, *arguments], cwd=cwd, env=env, capture_output=True, timeout=_SECONDS, check=False
        )
    except FileNotFoundError:
        raise UserError("--git: git isn't here; install it") from None
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"git was not done after {_SECONDS} s: git {arguments[0]}") from None
    if done.returncode:
        said = [line.strip() for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
        raise UserError(f"--git: {(said or [f'git {arguments[0]} ended with status {done.returncode}'])[0]}")
    return done.stdout
