"""Registries: named implementations of one protocol, of this package and of other packages."""

import difflib
import sys
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from harness.specs.errors import UserError

T = TypeVar("T")


@cache
def _installed(_path: tuple[str, ...]) -> Any:
    """Return the entry points of all packages on a path: to find them takes a file of each package, so once."""
    return entry_points()


@cache
def _of_group(path: tuple[str, ...], group: str) -> Mapping[str, EntryPoint]:
    """Return a group's entry points by name."""
    return {point.name: point for point in _installed(path).select(group=group)}


class Registry(Generic[T]):
    """Implementations by name. Each is imported when it is first asked for.

    `kind` is what messages call one of them; `group` is the entry point group in which other packages register
    theirs; `builtin` maps a name to `module:attribute`. A name of this package can't be replaced by an entry point.
    """

    def __init__(self, kind: str, group: str, builtin: Mapping[str, str]) -> None:
        self.kind = kind
        self.group = group
        self._builtin = dict(builtin)
        self._registered: dict[str, T] = {}
        self._loaded: dict[str, T] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Every known name, sorted; nothing is imported for it."""
        return tuple(sorted({*self._builtin, *self._registered, *self._entry_points}))

    def register(self, name: str, implementation: T) -> None:
        """Add an implementation in this process.

        Raises:
            ValueError: The name is taken.
        """
        if name in self.names:
            raise ValueError(f"{self.kind} {name!r} is registered already")
        self._registered[name] = implementation

    def unregister(self, name: str) -> None:
        """Take back what `register` added.

        Raises:
            KeyError: `register` hasn't added the name.
        """
        del self._registered[name]

    def get(self, name: str) -> T:
        """Return the implementation of a name; import it if this is the first time.

        Raises:
            UserError: Nobody registered the name, with the nearest known one; or it can't be imported.
        """
        if name in self._registered:
            return self._registered[name]
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def check(self, name: str) -> str:
        """Return `name` if it is known; nothing is imported.

        Raises:
            UserError: Nobody registered it, with the nearest known name.
        """
        if name in self._builtin or name in self._registered or name in self._entry_points:
            return name
        raise UserError(self.unknown(name))

    def unknown(self, name: str) -> str:
        """Return the message for a name that nobody registered."""
        close = difflib.get_close_matches(name, self.names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(self.names) or 'none'}"
        return f"unknown {self.kind} {name!r}; {hint}"

    def _load(self, name: str) -> T:
        self.check(name)
        if name in self._builtin:
            module, _, attribute = self._builtin[name].partition(":")
            return cast("T", getattr(import_module(module), attribute))
        point = self._entry_points[name]
        try:
            return cast("T", point.load())
        except (ImportError, AttributeError) as error:
            raise UserError(f"{self.kind} {name!r} ({point.value}) can't be imported: {error}") from None

    @property
    def _entry_points(self) -> Mapping[str, EntryPoint]:
        """Entry points of the packages that are on the path now; a name of this package is never another's."""
        found = _of_group(tuple(sys.path), self.group)
        return {name: point for name, point in found.items() if name not in self._builtin}
