"""A trusted copy of a tree: a bare git directory of ours, never the agent's.

Everything that an agent could use to make git run code or look away is off: no configuration but ours, no
attributes of the tree, no filters, no hooks, no ignore files but the base's.
"""

import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from harness.sandbox.git import GitError, GitFailed, GitTooMuchWork, patch_error, run_git
from harness.sandbox.host import scratch_directory, writing

IDENTITY = {
    "GIT_AUTHOR_NAME": "upstream",
    "GIT_AUTHOR_EMAIL": "upstream@example.invalid",
    "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "upstream",
    "GIT_COMMITTER_EMAIL": "upstream@example.invalid",
    "GIT_COMMITTER_DATE": "2001-01-01T00:00:00Z",
}
"""One identity and date for every base commit: the same tree gives the same commit everywhere."""

EXCLUDED = ("__pycache__/", "*.py[co]", ".pytest_cache/", ".hypothesis/", ".coverage", "node_modules/", ".venv/")
"""Ignored in every repository beside its own rules: what running tests leaves behind."""

Key = TypeVar("Key")

_ID = re.compile("[0-9a-f]{40,64}")
_MOST_INDEXES = 4
"""Indexes of trees beside HEAD's that are kept."""
REGULAR_MODES = frozenset({"100644", "100755"})
_ATTRIBUTES = "* -text -eol -ident -filter !diff !merge -working-tree-encoding\n"


class Entry(NamedTuple):
    """A path in a tree: git's file mode (`100644`, `100755`, `120000`, `160000`) and object id."""

    mode: str
    oid: str


class Change(NamedTuple):
    """A path that differs between two trees. `old` or `new` is None where it is absent there."""

    path: str
    old: Entry | None
    new: Entry | None


class NewFile(NamedTuple):
    """A file for a new tree. `content` is a file with its bytes, or the id of a blob that the tree has."""

    path: str
    mode: str
    content: Path | str


class GitTree:
    """The trees in the git directory `directory`. Paths are str with surrogateescape."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._indexes: dict[str, bytes] = {}
        """HEAD's index and the last ones of other trees, by their ids. The commit stays as it was made, so its tree
        is read into an index once, and its id and paths as well."""
        self._id_of_head = ""
        self._entries_of_head: dict[str, Entry] = {}

    @classmethod
    async def create(cls, directory: Path, work_tree: Path, with_ignored: bool = True) -> "GitTree":
        """Return a new git directory with one parentless commit of every file below `work_tree`.

        Without those that its own rules or ours ignore, if they are not wanted.
        """
        tree = await cls._empty(directory)
        force = ["--force"] if with_ignored else []
        await tree._git("add", "--all", *force, ".", work_tree=work_tree)
        await tree._commit((await tree._git("write-tree")).decode().strip())
        return tree

    async def copy(self, directory: Path, treeish: str = "HEAD") -> "GitTree":
        """Return a new git directory with one parentless commit of a tree, and no object of another tree."""
        tree, oid = await self._empty(directory), await self.tree_id(treeish)
        pack = directory / "objects" / "pack" / "pack"
        # No deltas: what is packed are the objects as they lie.
        options = ("--quiet", "--revs", "--window=0", "--threads=1")
        await self._git("pack-objects", *options, str(pack), stdin=f"{oid}\n".encode())
        await tree._commit(oid)
        return tree

    @classmethod
    async def _empty(cls, directory: Path) -> "GitTree":
        tree = cls(directory)
        await tree._git("init", "--quiet", "--bare", "--initial-branch=main", str(directory))
        (directory / "info").mkdir(exist_ok=True)
        (directory / "info" / "attributes").write_text(_ATTRIBUTES)
        (directory / "info" / "exclude").write_text("\n".join(EXCLUDED) + "\n")
        return tree

    async def _commit(self, oid: str) -> None:
        commit = await self._git("commit-tree", oid, "-m", "The repository as it stands", env=IDENTITY)
        await self._git("update-ref", "refs/heads/main", commit.decode().strip())

    async def entries(self, treeish: str = "HEAD") -> dict[str, Entry]:
        """Return every path of a tree."""
        if treeish == "HEAD" and self._entries_of_head:
            return dict(self._entries_of_head)
        listing = await self._git("ls-tree", "-r", "-z", "--full-tree", treeish)
        found = {}
        for record in _records(listing):
            meta, _, path = record.partition("\t")
            mode, _, oid = meta.split(" ")
            found[path] = Entry(mode, oid)
        if treeish == "HEAD":
            self._entries_of_head = dict(found)
        return found

    async def read(self, path: str, treeish: str = "HEAD") -> bytes:
        """Return a file's bytes.

        Raises:
            FileNotFoundError: The tree has no such file.
            GitFailed: git can't be run, or fails.
        """
        try:
            return await self._git("cat-file", "blob", f"{treeish}:{path}", may_refuse=True)
        except GitError as error:
            if "' does not exist in '" in error.complaint or "' exists on disk, but not in '" in error.complaint:
                raise FileNotFoundError(path) from None
            raise GitFailed(f"git cat-file: {error}") from None

    async def read_all(self, entries: Mapping[Key, Entry]) -> dict[Key, bytes]:
        """Return the bytes of many entries with one process."""
        if not entries:
            return {}
        wanted = "".join(f"{entry.oid}\n" for entry in entries.values()).encode()
        stream = await self._git("cat-file", "--batch", stdin=wanted)
        contents: dict[Key, bytes] = {}
        at = 0
        for key in entries:
            end = stream.index(b"\n", at)
            oid, *facts = stream[at:end].split(b" ")
            if len(facts) != 2:
                raise GitFailed(f"{self.directory} has no object {oid.decode()}")
            size = int(facts[1])
            contents[key] = stream[end + 1 : end + 1 + size]
            at = end + 1 + size + 1
        return contents

    async def sizes(self, entries: Mapping[str, Entry]) -> dict[str, int]:
        """Return the number of bytes of many entries, with one process."""
        if not entries:
            return {}
        wanted = "".join(f"{entry.oid}\n" for entry in entries.values()).encode()
        listing = await self._git("cat-file", "--batch-check=%(objectsize)", stdin=wanted)
        return dict(zip(entries, map(int, listing.split()), strict=True))

    async def apply(
        self, patch: bytes, exclude: Sequence[str] = (), onto: str = "HEAD", reverse: bool = False
    ) -> str:
        """Apply a patch to a tree, without touching any work tree.

        Args:
            patch: Hostile bytes.
            exclude: Files that are left alone.
            onto: The tree.
            reverse: Whether to take the patch back.

        Returns:
            The id of the new tree.

        Raises:
            PatchError: It doesn't apply, or names a path outside the tree or inside `.git`.
            GitTooMuchWork: Applying it takes more time or memory than git gets.
            GitFailed: Something else fails, which isn't the patch's fault.
        """
        excluded = [f"--exclude={_literal_glob(path)}" for path in exclude]
        backwards = ["--reverse"] if reverse else []
        async with self._index(onto) as env:
            await self._apply("--cached", "--whitespace=nowarn", *backwards, *excluded, patch=patch, env=env)
            return (await self._git("write-tree", env=env)).decode().strip()

    async def changes_and_back(self, patch: bytes, onto: str = "HEAD") -> tuple[list[Change], bool]:
        """Apply a patch to a tree and take it back again, without touching any work tree; no tree is made of it.

        Returns:
            What differs from `onto` with the patch, by path, and whether nothing does when it is taken back.

        Raises:
            PatchError: It doesn't apply to one of the two, or names a path outside the tree or inside `.git`.
            GitTooMuchWork: Applying it takes more time or memory than git gets.
            GitFailed: Something else fails, which isn't the patch's fault.
        """
        async with self._index(onto) as env:
            made = []
            for backwards in ([], ["--reverse"]):
                await self._apply("--cached", "--whitespace=nowarn", *backwards, patch=patch, env=env)
                made.append(await self._staged(onto, env))
        return made[0], not made[1]

    async def tree_id(self, treeish: str = "HEAD") -> str:
        """Return the id of a tree that may be named by its commit; git is asked once for HEAD's."""
        if treeish == "HEAD" and self._id_of_head:
            return self._id_of_head
        found = (await self._git("rev-parse", "--verify", f"{treeish}^{{tree}}")).decode().strip()
        if treeish == "HEAD":
            self._id_of_head = found
        return found

    async def _apply(self, *options: str, patch: bytes, env: Mapping[str, str] | None = None) -> bytes:
        try:
            return await self._git("apply", *options, "-", stdin=patch, env=env, may_refuse=True, hostile=True)
        except GitTooMuchWork:
            raise
        except GitError as error:
            if fault := patch_error(error.complaint):
                raise fault from None
            raise GitFailed(f"git apply: {error}") from None

    async def with_entries(self, entries: Mapping[str, Entry | None], onto: str = "HEAD") -> str:
        """Return the id of `onto`'s tree with these entries put in (None: taken out)."""
        gone = Entry("0", "0" * 40)
        lines = [f"{(entry or gone).mode} {(entry or gone).oid}\t{path}\0" for path, entry in entries.items()]
        async with self._index(onto) as env:
            await self._git("update-index", "-z", "--index-info", stdin=_encode("".join(lines)), env=env)
            return (await self._git("write-tree", env=env)).decode().strip()

    async def touched(self, patch: bytes, reverse: bool = False) -> list[str]:
        """Return the paths that a patch writes; in `reverse`, those that it reads. Nothing is applied.

        Raises:
            PatchError: It names a path outside the tree or inside `.git`, or is no patch.
            GitTooMuchWork: Reading it takes more time or memory than git gets.
            GitFailed: Something else fails, which isn't the patch's fault.
        """
        backwards = ["--reverse"] if reverse else []
        listing = await self._apply("--numstat", "-z", *backwards, patch=patch)
        return [record.split("\t", 2)[2] for record in _records(listing)]

    async def changes(self, new: str, old: str = "HEAD") -> list[Change]:
        """Return what differs between two trees, by path; a rename is a removal and an addition."""
        return _changes(await self._git("diff-tree", "-r", "-z", "--no-renames", "--raw", old, new))

    async def changed_by(self, patch: bytes, onto: str = "HEAD") -> list[Change]:
        """Return what differs between HEAD and the tree `onto` with a patch, by path; no tree is made of it.

        Raises:
            PatchError: It doesn't apply, or names a path outside the tree or inside `.git`.
            GitTooMuchWork: Applying it takes more time or memory than git gets.
            GitFailed: Something else fails, which isn't the patch's fault.
        """
        async with self._index(onto) as env:
            await self._apply("--cached", "--whitespace=nowarn", patch=patch, env=env)
            return await self._staged("HEAD", env)

    async def _staged(self, treeish: str, env: Mapping[str, str]) -> list[Change]:
        """Return what differs between a tree and an index, by path."""
        return _changes(await self._git("diff-index", "--cached", "-z", "--no-renames", "--raw", treeish, env=env))

    async def diff(self, new: str, old: str = "HEAD") -> bytes:
        """Return a git-format patch from `old` to `new`, binary files included."""
        return await self._git(
            "diff-tree", "-r", "-p", "--no-renames", "--binary", "--full-index", "--no-ext-diff", "--no-textconv",
            "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", old, new, hostile=True,
        )  # fmt: skip

    async def import_changes(self, changed: Sequence[NewFile], removed: Iterable[str]) -> str:
        """Return the id of HEAD's tree with changes, of an agent's making.

        Paths that are not in HEAD and that HEAD's ignore rules (or ours) leave out are left out.

        Raises:
            GitTooMuchWork: It takes more time or memory than git gets.
        """
        base = await self.entries()
        ignored = await self._ignored_by_base(file.path for file in changed if file.path not in base)
        wanted = [file for file in changed if file.path not in ignored]
        oids = await self._store({file.content for file in wanted if isinstance(file.content, Path)})
        lines = [f"0 {'0' * 40}\t{path}\0" for path in removed]
        lines += [f"{file.mode} {oids.get(file.content, file.content)}\t{file.path}\0" for file in wanted]
        async with self._index("HEAD") as env:
            # Names that only other systems take for `.git` are kept: they are refused by name, with the patch.
            await self._git(
                "-c", "core.protectNTFS=false", "-c", "core.protectHFS=false",
                "update-index", "-z", "--index-info", stdin=_encode("".join(lines)), env=env, hostile=True,
            )  # fmt: skip
            return (await self._git("write-tree", env=env)).decode().strip()

    async def import_work_tree(self, work_tree: Path, onto: str = "HEAD") -> str:
        """Return the id of the tree at `work_tree`, without files that its rules or ours ignore and `onto` lacks."""
        async with self._index(onto) as env:
            await self._git("add", "--all", ".", env=env, work_tree=work_tree)
            return (await self._git("write-tree", env=env)).decode().strip()

    async def check_out(self, destination: Path, treeish: str = "HEAD") -> None:
        """Write every file of a tree below `destination`, which must be empty or absent."""
        destination.mkdir(parents=True, exist_ok=True)
        async with self._index(treeish) as env:
            await self._git("checkout-index", "--all", "--force", env=env, work_tree=destination)

    async def _store(self, files: Iterable[Path]) -> dict[Path | str, str]:
        """Make blobs of files: file -> id."""
        known = list(files)
        listed = _encode("".join(f"{file}\n" for file in known))
        stored = await self._git("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=listed, hostile=True)
        return dict(zip(known, stored.decode().split(), strict=True))

    async def _ignored_by_base(self, paths: Iterable[str]) -> set[str]:
        # This command knows no literal paths; one that begins with a dot is no magic.
        listed = _encode("".join(f"./{path}\0" for path in paths))
        if not listed:
            return set()
        base = await self.entries()
        with scratch_directory() as scratch:
            rules = {path: entry for path, entry in base.items() if Path(path).name == ".gitignore"}
            for path, data in (await self.read_all(rules)).items():
                place = scratch / path
                with writing(place):
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(data)
            output = await self._git(
                "check-ignore", "-z", "--stdin", "--no-index",
                stdin=listed, work_tree=scratch, accept=(0, 1), env={"GIT_LITERAL_PATHSPECS": "0"}, hostile=True,
            )  # fmt: skip
        return {path.removeprefix("./") for path in _records(output)}

    @asynccontextmanager
    async def _index(self, treeish: str) -> AsyncIterator[dict[str, str]]:
        """Provide an index of its own, so that callers can work side by side."""
        with scratch_directory() as scratch:
            index = scratch / "index"
            env = {"GIT_INDEX_FILE": str(index)}
            name = "HEAD" if treeish == self._id_of_head else treeish
            if (known := self._indexes.get(name)) is not None:
                with writing(index):
                    index.write_bytes(known)
            else:
                await self._git("read-tree", treeish, env=env)
                self._remember(name, index)
            yield env

    def _remember(self, name: str, index: Path) -> None:
        """Keep the index of a tree whose name stands for nothing else; of others than HEAD the last few."""
        if name != "HEAD" and not _ID.fullmatch(name):
            return
        self._indexes[name] = index.read_bytes()
        others = [each for each in self._indexes if each != "HEAD"]
        for each in others[:-_MOST_INDEXES]:
            del self._indexes[each]

    async def _git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        work_tree: Path | None = None,
        accept: Sequence[int] = (0,),
        may_refuse: bool = False,
        hostile: bool = False,
    ) -> bytes:
        where = [f"--git-dir={self.directory}"]
        if work_tree is not None:
            where.append(f"--work-tree={work_tree}")
        return await run_git(
            *where, *arguments, stdin=stdin, env=env, directory=work_tree, accept=accept, may_refuse=may_refuse,
            hostile=hostile,
        )  # fmt: skip


def _changes(listing: bytes) -> list[Change]:
    """Return the changes of a raw listing, whose records are facts and path in turn."""
    records = _records(listing)
    found = []
    for meta, path in zip(records[::2], records[1::2], strict=True):
        old_mode, new_mode, old_oid, new_oid, _ = meta.lstrip(":").split(" ")
        found.append(
            Change(
                path,
                None if old_mode == "000000" else Entry(old_mode, old_oid),
                None if new_mode == "000000" else Entry(new_mode, new_oid),
            )
        )
    return found


def _records(stream: bytes) -> list[str]:
    return stream.decode("utf-8", "surrogateescape").split("\0")[:-1]


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _literal_glob(path: str) -> str:
    return "".join(f"\\{char}" if char in "*?[\\" else char for char in path)
