"""Where a class's bases are: in its own file, or in files that it imports."""

from collections import deque
from collections.abc import Mapping
from pathlib import PurePosixPath

from harness.languages.found import MAX_SOURCE
from harness.languages.protocol import TreeFiles
from harness.languages.python.classes import Module, Scope

MAX_ANCESTORS = 50
"""Of one class: bases of bases beyond them are not looked at."""
MAX_MODULES = 50
"""Files that are read for the bases of one file's classes."""
MAX_IMPORTS = 20
"""Files through which a name is followed to the class that it stands for."""
_ABOVE = (".", "src", "lib")
"""Folders below which modules lie, in each folder above the file that imports them."""


class Bases:
    """Looks bases up, starting from one file. `missing` are files that it would have needed the text of."""

    def __init__(self, start: Module, files: TreeFiles) -> None:
        self._files = files
        self._modules: dict[str, Module] = {start.path: start}
        self._end = start.end
        self.missing: set[str] = set()

    @property
    def modules(self) -> Mapping[str, Module]:
        """What was read, the first file included, by path."""
        return self._modules

    def ancestors(self, scope: Scope) -> list[Scope]:
        """A class and its bases, in the order in which Python looks names up (roughly)."""
        found = dict.fromkeys([scope])
        waiting = deque(found)
        while waiting and len(found) < MAX_ANCESTORS:
            current = waiting.popleft()
            for name in current.bases:
                base = self._class(current.module, name)
                if base is not None and base not in found:
                    found[base] = None
                    waiting.append(base)
        return list(found)

    def _class(self, module: Module, name: str) -> Scope | None:
        """What a name stands for in a file, by way of the files that it is imported through."""
        seen: set[tuple[str, str]] = set()
        waiting = [(module, name)]
        while waiting and len(seen) < MAX_IMPORTS:
            module, name = waiting.pop(0)
            if (module.path, name) in seen:
                continue
            seen.add((module.path, name))
            if name in module.classes:
                return module.classes[name]
            waiting += self._next(module, name)
        return None

    def _next(self, module: Module, name: str) -> list[tuple[Module, str]]:
        first, dot, rest = name.partition(".")
        if first in module.imports:
            whole = f"{module.imports[first]}{dot}{rest}"
            place, _, last = whole.rpartition(".")
            ends_in_dots = not place.strip(".")
            wanted = [(f"{place}." if ends_in_dots and whole.startswith(".") else place, last)]
        else:
            wanted = [(star, name) for star in module.stars]
        found = ((self._module(module.path, place), last) for place, last in wanted if place)
        return [(other, last) for other, last in found if other]

    def _module(self, importer: str, name: str) -> Module | None:
        path = _file_of(name, importer, self._files)
        if not path or path in self._modules:
            return self._modules.get(path)
        text = self._files.texts.get(path)
        if text is None:
            self.missing.add(path)
        if text is None or len(text) > MAX_SOURCE or len(self._modules) >= MAX_MODULES:
            return None
        self._modules[path] = Module(text, path, self._end)
        self._end = self._modules[path].end
        return self._modules[path]


def _file_of(name: str, importer: str, files: TreeFiles) -> str:
    """The file of a module as another file names it; empty where the tree has none."""
    plain = name.lstrip(".")
    dots = len(name) - len(plain)
    parts = plain.split(".") if plain else []
    above = PurePosixPath(importer).parents
    if dots:
        roots = [above[dots - 1]] if dots <= len(above) else []
    else:
        roots = [folder / below for folder in above for below in _ABOVE]
    for root in roots:
        place = root.joinpath(*parts)
        for path in (*([f"{place}.py"] if parts else []), str(place / "__init__.py")):
            if path in files.paths:
                return path
    return ""
