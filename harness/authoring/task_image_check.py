"""A search of a task's image for secrets: withheld tests, or settings of this machine.

Checks a task image's git repository: it has one commit and no object besides.
"""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.authoring.image_search import (
    FoundFile,
    SavedImage,
    certificates,
    files_of,
    private_certificates,
    published,
    secret_texts,
)
from harness.authoring.leak_signatures import LeakSignatures, copies, leak_signatures_of, telling_parts
from harness.judging.languages.registry import language_of
from harness.sandbox.git import GitError, run_git
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.engine_images import EngineImages, engine_images
from harness.sandbox.images.task_images import task_image
from harness.sandbox.images.work_tree import REPOSITORY_CONFIG, head_commit
from harness.specs.problem import Problem, Severity
from harness.specs.task import Task

_PACK = b"PACK\0\0\0"
"""The bytes that a pack begins with, up to its version."""
_FILES = {"HEAD", "config", "index", "info/attributes", "info/exclude", "refs/heads/main"}


async def repository_problems(repository: Path, commit: str, where: str) -> list[Problem]:
    """Return what is wrong with the git directory `repository`, which should have `commit` on its branch main, alone.

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
    """Yield reflogs, stash, packed refs, hooks, alternates and loose objects: all are files that we didn't write."""
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


_NAMED = 4


async def task_image_check(task: Task, reference: str = "") -> list[Problem]:
    """Return what is wrong with a task's image, or with `reference` in its stead; nothing of it is run.

    Raises:
        ImageUnavailable: The image can't be had.
        UserError: A file of the task can't be read.
    """
    image = await task_image(task)
    reference = reference or image.reference
    tree = GitTree(image.tree)
    signatures = await leak_signatures_of(task.patch("withheld.patch"), tree, language_of(task.repo))
    problems = [] if signatures.names or signatures.lines else [_nothing_to_search_for(task)]
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        async with engine_images() as images:
            repository = Path(scratch) / "repository"
            await images.copy_out(reference, f"{image.workdir}/.git", repository)
            where = f"{reference}:{image.workdir}/.git"
            problems += await repository_problems(repository, await head_commit(tree), where)
            problems += await _search(images, reference, signatures, Path(scratch))
    return problems


async def other_copies(task: Task, reference: str | None = None) -> list[Problem]:
    """Return a problem for each copy of the removed code in the task's image outside the tree.

    Each could tell a test the right code. What no arm has doesn't count, and a task whose removal isn't written yet
    has none.

    Args:
        task: Whose image.
        reference: Another image than the task's own.

    Raises:
        ImageUnavailable: The image can't be had.
        UserError: The removal can't be read.
    """
    if not task.path("removal.patch").is_file():
        return []
    image = await task_image(task)
    not_in_arms = (*language_of(task.repo).toolchain.replaced, *task.repo.arms.hidden, *task.repo.arms.taken_away)
    absent = [path.lstrip("/") for path in (image.workdir, *not_in_arms)]
    with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
        archive = Path(scratch) / "files.tar"
        async with engine_images() as images:
            await images.export(reference or image.reference, archive)
        tree = GitTree(image.tree)
        parts = telling_parts(task.patch("removal.patch"), (await tree.read_all(await tree.entries())).values())
        found = await asyncio.to_thread(lambda: copies(files_of(archive), parts, absent))
    lines = {part.decode(errors="replace"): f"removal.patch:{line}" for part, line in parts.items()}
    return [
        Problem(
            where=f"{image.reference}:/{path}",
            message=f"holds code that the removal takes out ({_placed(named, lines)}): a test could ask it",
        )
        for path, named in sorted(found.items())
    ]


def _placed(parts: Sequence[str], places: Mapping[str, str]) -> str:
    """Return the first few with the patch's line that each comes from: `cache_info from removal.patch:31`."""
    return ", ".join(f"{part} from {places[part]}" if part in places else part for part in parts[:_NAMED])


async def _search(images: EngineImages, reference: str, signatures: LeakSignatures, scratch: Path) -> list[Problem]:
    archive = scratch / "image.tar"
    await images.save(reference, archive)
    saved = SavedImage(archive)
    search = ImageSearch(reference, signatures)
    search.look_at_configuration(saved.configuration())
    await asyncio.to_thread(search.look_at, saved.files())
    await search.look_at_packs(scratch)
    return search.problems()


class ImageSearch:
    """A search of an image's files, one by one. `packs` are git's packs, whose objects are to be searched as well."""

    def __init__(self, reference: str, signatures: LeakSignatures) -> None:
        self.packs: list[FoundFile] = []
        self._reference = reference
        self._signatures = signatures
        self._secrets = secret_texts()
        self._private = private_certificates()
        self._places: dict[bytes, list[str]] = defaultdict(list)
        self._found: list[Problem] = []

    def look_at_configuration(self, configuration: str) -> None:
        self._look_for_secrets(FoundFile("configuration and history", configuration.encode()))

    def look_at(self, files: Iterable[FoundFile]) -> None:
        for file in files:
            self._look_for_tests(file)
            self._look_for_secrets(file)
            if file.data.startswith(_PACK):
                self.packs.append(file)

    async def look_at_packs(self, scratch: Path) -> None:
        """Search the objects of each pack that was found, once: one that git can't read looks like a pack again."""
        for number, pack in enumerate(tuple(self.packs)):
            await asyncio.to_thread(self.look_at, [await pack_contents(pack, scratch / f"pack-{number}")])

    def problems(self) -> list[Problem]:
        private = self._places.keys() - published(self._places)
        for path in sorted({path for body in private for path in self._places[body]}):
            self._add(path, "holds a private certificate of this machine")
        return self._found

    def _look_for_tests(self, file: FoundFile) -> None:
        hits = self._signatures.search(file.data)
        if hits.certain or file.path.endswith(tuple(self._signatures.files)):
            named = _placed(sorted(hits.names) or sorted(hits.lines)[:1], self._signatures.places) or "by its name"
            self._add(file.path, f"holds withheld tests ({named})")
        elif hits.possible:
            named = _placed(sorted(hits.names), self._signatures.places)
            message = f"names {named}, as a withheld test does; look whether it is a copy"
            self._add(file.path, message, Severity.WARNING)

    def _look_for_secrets(self, file: FoundFile) -> None:
        for name, value in self._secrets.items():
            if value in file.data:
                self._add(file.path, f"holds this machine's {name}")
        if b"BEGIN CERTIFICATE" in file.data:
            for body in certificates(file.data) & self._private:
                self._places[body].append(file.path)

    def _add(self, path: str, message: str, severity: Severity = Severity.ERROR) -> None:
        self._found.append(Problem(where=f"{self._reference}:/{path}", message=message, severity=severity))


async def pack_contents(pack: FoundFile, scratch: Path) -> FoundFile:
    """Return all objects of a git pack as one file; an unreadable pack stays as it is."""
    await run_git("init", "--quiet", "--bare", str(scratch))
    try:
        await run_git(f"--git-dir={scratch}", "index-pack", "--stdin", stdin=pack.data, may_refuse=True)
    except GitError:
        return pack
    objects = await run_git(f"--git-dir={scratch}", "cat-file", "--batch-all-objects", "--batch")
    return FoundFile(f"{pack.path}!", objects)


def _nothing_to_search_for(task: Task) -> Problem:
    return Problem(
        where=str(task.directory / "withheld.patch"),
        message="takes out nothing that the task's tree doesn't have as well, so a leak can't be told",
        severity=Severity.WARNING,
    )
