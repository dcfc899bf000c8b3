"""Places of a class's bases: its own file, or files that it imports."""

from collections.abc import Iterator
from pathlib import PurePosixPath

from harness.judging.languages.found import MAX_SOURCE, TooMuchToRead
from harness.judging.languages.protocol import TreeFiles
from harness.judging.languages.python.classes import CheckedFunction, Module, Scope

MAX_ANCESTORS = 50
"""The most ancestors of one class: bases of bases beyond them are not looked at."""
MAX_MODULES = 2_000
"""Files of code that are read for bases, and changed files."""
MAX_STEPS = 300_000
"""Names, paths and classes that are looked at for all classes of a submission together: a few seconds."""
MAX_PASSED_ON = 50
"""Names and files by way of which a name stands for a class."""
MAX_DEPTH = 50
"""Folders above a file that are looked through for a module."""
_ABOVE = (".", "src", "lib")
"""Folders below which modules lie, in each folder above the file that imports them."""


class Bases:
    """A search for bases of classes in a tree, each name once. `missing` are files whose text it would need.

    A name that may stand for several classes (`if`, `else`) stands for all of them, those of changed files first,
    and
    of others the last one. Methods raise TooMuchToRead.
    """

    def __init__(self, files: TreeFiles) -> None:
        self._files = files
        self._modules: dict[tuple[str, bytes], Module] = {}
        self._paths: dict[tuple[str, str], str] = {}
        self._found: dict[tuple[Module, str], list[Scope]] = {}
        self._lines: dict[Scope, list[Scope]] = {}
        self._open: set[tuple[Module, str]] = set()
        self._end = self._steps = self._circles = 0
        self.missing: set[str] = set()

    def module(self, source: bytes, path: str) -> Module:
        """Return a file as it is read, once for all that need it."""
        if (path, source) not in self._modules:
            if len(self._modules) >= MAX_MODULES:
                raise TooMuchToRead(f"{path}: more than {MAX_MODULES} files would have to be read for its classes")
            self._modules[path, source] = Module(source, path, self._end)
            self._end = self._modules[path, source].end
        return self._modules[path, source]

    def ancestors(self, scope: Scope) -> list[Scope]:
        """Return a class and its bases, in the order in which Python looks names up."""
        return self._ancestors(scope, ())[0]

    def _ancestors(self, scope: Scope, heirs: tuple[Scope, ...]) -> tuple[list[Scope], bool]:
        """Return a class's ancestors, and whether none was left out, as where classes inherit from themselves."""
        if scope in self._lines:
            return self._lines[scope], True
        self._step(scope.module)
        heirs = (*heirs, scope)
        bases = list(dict.fromkeys(base for name in scope.bases for base in self._bases(scope, name)))
        further = [base for base in bases if base not in heirs] if len(heirs) < MAX_ANCESTORS else []
        above = [self._ancestors(base, heirs) for base in further]
        line = [scope, *_merged([*(found for found, _ in above), further])][:MAX_ANCESTORS]
        self._step(scope.module, len(line))
        is_whole = len(further) == len(bases) and all(whole for _, whole in above)
        if is_whole:
            self._lines[scope] = line
        return line, is_whole

    def imported_tests(self, module: Module) -> Iterator[tuple[str, CheckedFunction, Module]]:
        """Yield test functions that a file imports from another of the tree: their names here, and where they are."""
        for name, meanings in module.imports.items():
            places = [place for meaning in meanings for place in self._imported(module, meaning)]
            for other, last in places if name.startswith("test") else ():
                yield from ((name, function, other) for own, function in other.top.functions if own == last)
        for star in module.stars:
            for other, _ in self._from(module, star, "*"):
                tests = [(name, function) for name, function in other.top.functions if name.startswith("test")]
                yield from ((name, function, other) for name, function in tests)

    def _bases(self, scope: Scope, name: str) -> list[Scope]:
        outer = scope.name.rpartition(".")[0]
        inner = scope.module.classes.get(f"{outer}.{name}", []) if outer else []
        return [base for base in inner or self._classes(scope.module, name) if base is not scope]

    def _classes(self, module: Module, name: str) -> list[Scope]:
        """Return all that a name may stand for in a file, by way of the files that it is imported through."""
        key = (module, name)
        if key in self._found:
            return self._found[key]
        if key in self._open:
            self._circles += 1
            return []
        if len(self._open) > MAX_PASSED_ON:
            words = f"a name of a class stands for another one more than {MAX_PASSED_ON} times"
            raise TooMuchToRead(f"{module.path}: {words}")
        self._open.add(key)
        circles = self._circles
        found = [*module.classes.get(name, ())]
        for other, last in self._meanings(module, name):
            found += self._classes(other, last)
        self._open.remove(key)
        changed = [scope for scope in found if scope.module.path in self._files.changed]
        found = list(dict.fromkeys([*changed, *reversed(found)]))[:MAX_ANCESTORS]
        if circles == self._circles or not self._open:
            self._found[key] = found
        return found

    def _meanings(self, module: Module, name: str) -> Iterator[tuple[Module, str]]:
        first, dot, rest = name.partition(".")
        for other in module.other_names.get(first, ()):
            self._step(module)
            yield module, f"{other}{dot}{rest}"
        for meaning in module.imports.get(first, ()):
            yield from self._imported(module, f"{meaning}{dot}{rest}")
        if first not in module.imports:
            for star in module.stars:
                yield from self._from(module, star, name)

    def _imported(self, module: Module, whole: str) -> Iterator[tuple[Module, str]]:
        """Yield what an imported name may be: `a.b.C` is the class C of the file a/b.py, or C of b of a.py."""
        dots = len(whole) - len(whole.lstrip("."))
        parts = whole[dots:].split(".")
        for cut in range(len(parts) - 1, max(len(parts) - 4, -1), -1):
            place = whole[:dots] + ".".join(parts[:cut])
            if place:
                yield from self._from(module, place, ".".join(parts[cut:]))

    def _from(self, importer: Module, place: str, name: str) -> Iterator[tuple[Module, str]]:
        self._step(importer)
        path = self._file_of(place, importer)
        text = self._files.texts.get(path) if path else None
        if path and text is None:
            self.missing.add(path)
        if text is not None and len(text) <= MAX_SOURCE:
            yield self.module(text, path), name

    def _file_of(self, name: str, importer: Module) -> str:
        """Return the file of a module as another file names it; empty where the tree has none."""
        key = (str(PurePosixPath(importer.path).parent), name)
        if key not in self._paths:
            self._paths[key] = next(
                (path for path in self._candidates(name, importer) if path in self._files.paths), ""
            )
        return self._paths[key]

    def _candidates(self, name: str, importer: Module) -> Iterator[str]:
        plain = name.lstrip(".")
        dots = len(name) - len(plain)
        parts = plain.split(".") if plain else []
        above = list(PurePosixPath(importer.path).parents)[:MAX_DEPTH]
        roots = above[dots - 1 : dots] if dots else [folder / below for folder in above for below in _ABOVE]
        for root in roots:
            self._step(importer, 1 + (len(importer.path) + len(name)) // 50)
            place = root.joinpath(*parts)
            yield from (*([f"{place}.py"] if parts else []), str(place / "__init__.py"))

    def _step(self, module: Module, count: int = 1) -> None:
        self._steps += count
        if self._steps > MAX_STEPS:
            raise TooMuchToRead(f"{module.path}: the bases of its classes take too long to find")


def _merged(lines: list[list[Scope]]) -> list[Scope]:
    """Merge the bases' lines by Python's linearization (C3); where there is none, each as late as it comes."""
    order: list[Scope] = []
    waiting = [line for line in lines if line]
    while waiting and len(order) < MAX_ANCESTORS:
        later = {scope for line in waiting for scope in line[1:]}
        chosen = next((line[0] for line in waiting if line[0] not in later), waiting[0][0])
        order.append(chosen)
        waiting = [rest for line in waiting if (rest := [scope for scope in line if scope is not chosen])]
    return order
