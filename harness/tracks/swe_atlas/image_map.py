"""The map from published images to images of this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from harness.specs.errors import UserError
from harness.specs.loading import parse_yaml, read_text


@dataclass(frozen=True)
class ImageSource:
    """Where a task's image comes from. `whole` is one with upstream's whole tree, the withheld tests included.

    A `complete` one has all that the task's own Dockerfile would add to it.
    """

    tag: str
    whole: bool = False
    complete: bool = False


class _Entry(NamedTuple):
    image: str
    complete: bool = False


_EXPECTED = "expected PUBLISHED_NAME or REPOSITORY@COMMIT, then LOCAL_TAG or {image: LOCAL_TAG, complete: true}"


class ImageMap:
    """`--image-map FILE`: YAML, from a published image's name or from `repository@base_commit` to a local tag.

    In the place of a tag, `{image: TAG, complete: true}` names one on which the task's own Dockerfile isn't run.
    """

    def __init__(self, entries: Mapping[str, _Entry]) -> None:
        self._entries = entries

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises UserError with the line."""
        data, node = parse_yaml(read_text(path), str(path))
        if not isinstance(data, dict):
            raise UserError(f"{path}:1: expected a mapping from published image names to local tags")
        entries: dict[str, _Entry] = {}
        for (name, value), (key, _) in zip(data.items(), getattr(node, "value", ()), strict=True):
            entry = _entry(value)
            if not isinstance(name, str) or entry is None:
                raise UserError(f"{path}:{key.start_mark.line + 1}: {_EXPECTED}")
            entries[name] = entry
        return cls(entries)

    def source(self, image: str, repository: str, base_commit: str) -> ImageSource:
        """What stands for a published image: itself, where the map has nothing of it."""
        if found := self._entries.get(image):
            return ImageSource(found.image, complete=found.complete)
        for name in (repository, repository.removesuffix(".git").removesuffix("/")):
            if found := self._entries.get(f"{name}@{base_commit}"):
                return ImageSource(found.image, whole=True, complete=found.complete)
        return ImageSource(image)


def _entry(value: object) -> _Entry | None:
    """None for what is no entry."""
    if isinstance(value, str):
        value = {"image": value}
    if not isinstance(value, dict) or not {"image"} <= value.keys() <= {"image", "complete"}:
        return None
    tag, complete = value["image"], value.get("complete", False)
    is_one = isinstance(tag, str) and bool(tag.strip()) and isinstance(complete, bool)
    return _Entry(tag, complete) if is_one else None
