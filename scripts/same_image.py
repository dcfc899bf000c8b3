"""Shows that two recipes of a repository give the same image: .venv/bin/python -m scripts.same_image OLD NEW

OLD and NEW are tags of a repository's image (`testwright/NAME-repo:...`), both built by now, at best on one day from
one base image. Compared are all files, by path, kind, mode, owner, link target, extended attributes and content, and
the settings that containers take from the image. What may differ is in `MAY_DIFFER`. Where all is the same, the
finding goes into docs/check-records/images/NAME.json, and check records that were made on the old image are valid for
the new.
"""

import argparse
import asyncio
import hashlib
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import docker

from harness.authoring.task_check.same_images import SameImage, add_same_image
from harness.sandbox.images.engine_images import engine_images
from harness.specs.errors import UserError

RECORDS = Path(__file__).parents[1] / "docs" / "check-records"
_LABEL = "testwright."
_SHOWN = 20


class MayDiffer(NamedTuple):
    """Files in which something may differ, what is compared of them, and why the rest isn't."""

    paths: re.Pattern[str]
    compared: Callable[[bytes], bytes]
    why: str


def _without_source_time(data: bytes) -> bytes:
    by_hash = data[4:8] != bytes(4)
    return data if by_hash else data[:8] + data[12:]


def _without_last_column(data: bytes) -> bytes:
    return re.sub(rb" *\d+\n$", b"\n", data)


def _without_day_of_change(data: bytes) -> bytes:
    return re.sub(rb"(?m)^([^:\n]*:[^:\n]*:)\d*", rb"\1", data)


MAY_DIFFER = (
    MayDiffer(re.compile(r".*\.pyc"), _without_source_time, "bytes 8 to 12 are the time of the source file"),
    MayDiffer(
        re.compile(r"home/agent/\.cache/go-build/[0-9a-f]{2}/[0-9a-f]{64}-a"),
        _without_last_column,
        "an entry of Go's build cache ends with the time when it was made",
    ),
    MayDiffer(
        re.compile(r"home/agent/\.cache/go-build/trim\.txt"),
        lambda _: b"",
        "the time when Go's cache was last trimmed",
    ),
    MayDiffer(
        re.compile(r"var/cache/ldconfig/aux-cache"),
        lambda _: b"",
        "inode numbers and times of the cached files",
    ),
    MayDiffer(re.compile(r"etc/shadow-?"), _without_day_of_change, "the third field is the day of the last change"),
)
"""Times of files aren't compared: the engine gives each build its own."""


def listing(archive: IO[bytes]) -> dict[str, str]:
    """Return what there is at each path of an exported image, in a line."""
    found = {}
    with tarfile.open(fileobj=archive, mode="r|") as tar:
        for member in tar:
            data = tar.extractfile(member) if member.isreg() else None
            content = _digest(member.name, data.read()) if data else ""
            facts = [member.type.decode(), f"{member.mode:o}", f"{member.uid}:{member.gid}", member.linkname, content]
            if member.isdev():
                facts.append(f"{member.devmajor},{member.devminor}")
            attributes = sorted(f"{key}={value}" for key, value in member.pax_headers.items() if "xattr" in key)
            found[member.name] = " ".join([*facts, *attributes])
    return found


def _digest(path: str, data: bytes) -> str:
    for known in MAY_DIFFER:
        if known.paths.fullmatch(path):
            data = known.compared(data)
    return hashlib.sha256(data).hexdigest()


def differences(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return a line for each path that isn't the same in two listings."""
    lines = []
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            lines.append(f"{path}: {old.get(path, 'absent')} -> {new.get(path, 'absent')}")
    return lines


def tree_hash(files: Mapping[str, str]) -> str:
    """Return a digest over a listing."""
    return hashlib.sha256("".join(f"{path}\0{line}\n" for path, line in sorted(files.items())).encode()).hexdigest()


def settings(config: Mapping[str, Any]) -> dict[str, str]:
    """Return what containers take from an image, and its labels but for those that name recipe and version."""
    labels = {name: value for name, value in (config.get("Labels") or {}).items() if name not in _OWN_LABELS}
    return {name: repr(value) for name, value in {**config, "Labels": labels}.items()}


_OWN_LABELS = (f"{_LABEL}recipe", f"{_LABEL}version")


async def _listed(tag: str) -> dict[str, str]:
    async with engine_images() as images:
        with tempfile.TemporaryDirectory(prefix="testwright-") as scratch:
            archive = Path(scratch) / "image.tar"
            await images.export(tag, archive)
            with archive.open("rb") as file:
                return await asyncio.to_thread(listing, file)


def _config(tag: str) -> dict[str, Any]:
    client = docker.from_env()
    try:
        config: dict[str, Any] = client.images.get(tag).attrs["Config"]
    finally:
        client.close()
    return config


def compare(old: str, new: str) -> SameImage:
    """Compare two images of a repository.

    Raises:
        UserError: They aren't the same; the message has what differs.
    """
    configs = [_config(tag) for tag in (old, new)]
    before, after = (asyncio.run(_listed(tag)) for tag in (old, new))
    found = [*differences(*map(settings, configs)), *differences(before, after)]
    if found:
        more = [f"... {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
        raise UserError("\n".join([f"{old} and {new} differ in {len(found)} places:", *found[:_SHOWN], *more]))
    recipes = [config["Labels"][_OWN_LABELS[0]] for config in configs]
    return SameImage(old=recipes[0], new=recipes[1], files=len(after), tree=tree_hash(after))


def main() -> int:
    parser = argparse.ArgumentParser(description="Show that two recipes of a repository give the same image.")
    parser.add_argument("old")
    parser.add_argument("new")
    asked = parser.parse_args()
    names = {tag.rpartition("/")[2].rpartition(":")[0].removesuffix("-repo") for tag in (asked.old, asked.new)}
    if len(names) != 1:
        print(f"these are images of two repositories: {', '.join(sorted(names))}", file=sys.stderr)
        return 2
    try:
        same = compare(asked.old, asked.new)
    except UserError as error:
        print(error, file=sys.stderr)
        return 1
    path = add_same_image(RECORDS, names.pop(), same)
    print(f"{same.files} files are the same; wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
