"""Checks a task image's git repository: it has one commit and no object besides."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from harness.sandbox.git import GitError, run_git
from harness.sandbox.images.work_tree import REPOSITORY_CONFIG
from harness.specs.problem import Problem

_FILES = {"HEAD", "config", "index", "info/attributes", "info/exclude", "refs/heads/main"}


async def repository_problems(repository: Path, commit: str, where: str) -> list[Problem]:
    """What is wrong with the git directory `repository`, which should have `commit` on its branch main, alone.

    Writes our own configuration over its: git is run on it.
    """
    found = [*_unexpected_files(repository)]
    config = repository / "config"
    if not config.is_file() or config.read_text(errors="replace") != REPOSITORY_CONFIG:
        found.append("its configuration isn't ours; remotes, hooks and filters have no place there")
        config.write_text(REPOSITORY_CONFIG)
    try:
        found += [message async for message in _unexpected_history(repository, commit)]
    except GitError as error:
        found.append(f"git can't read it: {error}")
    return [Problem(where=where, message=message) for message in found]


def _unexpected_files(repository: Path) -> Iterator[str]:
    """Reflogs, stash, packed refs, hooks, alternates, loose objects: all are files that we didn't write."""
    for path in sorted(repository.rglob("*")):
        name = path.relative_to(repository).as_posix()
        packed = path.parent.name == "pack" and path.suffix in (".pack", ".idx", ".rev")
        if (path.is_symlink() or not path.is_dir()) and name not in _FILES and not packed:
            yield f"{name} has no place in a repository of one commit"


async def _unexpected_history(repository: Path, commit: str) -> AsyncIterator[str]:
    directory = f"--git-dir={repository}"

    async def lines(*arguments: str) -> list[str]:
        return (await run_git(directory, *arguments, may_refuse=True)).decode(errors="replace").splitlines()

    refs = await lines("for-each-ref", "--format=%(refname)")
    if refs != ["refs/heads/main"]:
        yield f"its refs are {', '.join(refs) or 'none'}; only refs/heads/main should be there"
    history = await lines("rev-list", "--all", "--parents")
    if history != [commit]:
        yield f"it has {len(history)} commits or another one than {commit}, which stands alone and has no parent"
    objects = set(await lines("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
    reachable = {line.split(" ", 1)[0] for line in await lines("rev-list", "--all", "--objects")}
    if objects - reachable:
        yield f"{len(objects - reachable)} objects belong to no commit, {min(objects - reachable)} is the first"
    if await lines("diff-index", "--cached", "--name-only", "HEAD"):
        yield "its index differs from its commit"
