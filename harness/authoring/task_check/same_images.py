"""Recipes of a repository that were shown to give the same image: `images/NAME.json` beside the check records.

A record is of an image made by one recipe. Where another recipe gives the same image, file by file, the record is
valid for it as well. `scripts/same_image.py` compares two images and writes the finding down.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from harness.specs.yaml_files import FileModel, load_yaml


class SameImage(BaseModel):
    """Two recipes whose images were compared, by digest; `tree` is over what was compared of `files` paths."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    old: str
    new: str
    files: int = Field(gt=0)
    tree: str


class SameImages(FileModel):
    """`images/NAME.json`: comparisons of a repository's images that found no difference."""

    is_record: ClassVar[bool] = True

    repo: str
    same: tuple[SameImage, ...]


def recipes_alike(records: Path, repo: str, recipe: str) -> Iterator[str]:
    """Yield the recipes whose image is the same as this recipe's, by way of any number of comparisons.

    Raises:
        UserError: The file can't be read.
    """
    known = _read(records, repo)
    reached, left = {recipe}, [recipe]
    while left:
        one = left.pop()
        for same in known:
            for other in {same.old, same.new} - reached if one in (same.old, same.new) else ():
                reached.add(other)
                left.append(other)
                yield other


def add_same_image(records: Path, repo: str, same: SameImage) -> Path:
    """Write a comparison down that found no difference, and return the file.

    Raises:
        UserError: The file can't be read.
    """
    known = [one for one in _read(records, repo) if (one.old, one.new) != (same.old, same.new)]
    path = _place(records, repo)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(SameImages(repo=repo, same=(*known, same)).model_dump_json(indent=2) + "\n")
    return path


def _read(records: Path, repo: str) -> tuple[SameImage, ...]:
    path = _place(records, repo)
    return load_yaml(path, SameImages).same if path.is_file() else ()


def _place(records: Path, repo: str) -> Path:
    return records / "images" / f"{repo}.json"
