"""The map from published images to images of this machine."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from harness.specs.errors import UserError
from harness.specs.loading import parse_yaml, read_text


@dataclass(frozen=True)
class ImageSource:
    """Where a task's image comes from. `whole` is one with upstream's whole tree, the withheld tests included."""

    tag: str
    whole: bool = False


class ImageMap:
    """`--image-map FILE`: YAML, from a published image's name or from `repository@base_commit` to a local tag."""

    def __init__(self, entries: dict[str, str]) -> None:
        self._entries = entries

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises UserError with the line."""
        data, node = parse_yaml(read_text(path), str(path))
        if not isinstance(data, dict):
            raise UserError(f"{path}:1: expected a mapping from published image names to local tags")
        for (name, tag), (key, _) in zip(data.items(), getattr(node, "value", ()), strict=True):
            if not (isinstance(name, str) and isinstance(tag, str) and tag.strip()):
                line = key.start_mark.line + 1
                raise UserError(f"{path}:{line}: expected PUBLISHED_NAME: LOCAL_TAG or REPOSITORY@COMMIT: LOCAL_TAG")
        return cls(data)

    def source(self, image: str, repository: str, base_commit: str) -> ImageSource:
        """What stands for a published image: itself, where the map has nothing of it."""
        if image in self._entries:
            return ImageSource(self._entries[image])
        for name in (repository, repository.removesuffix(".git").removesuffix("/")):
            if tag := self._entries.get(f"{name}@{base_commit}"):
                return ImageSource(tag, whole=True)
        return ImageSource(image)
