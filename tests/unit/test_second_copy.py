"""The second copy of an image: layers of other sums, with the same files in them."""

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.sandbox.images.second_copy import copy_tag, pad_layers
from harness.specs.errors import ImageUnavailable

TAG = copy_tag("0123456789abcdef")
CONFIG = {"architecture": "amd64", "config": {"User": "agent", "Env": ["A=b"]}, "history": [{"created_by": "RUN x"}]}
BELOW, ABOVE, BELOW_AGAIN = "1111/layer.tar", "2222/layer.tar", "3333/layer.tar"


class Member(NamedTuple):
    """All that unpacking a member comes to."""

    name: str
    kind: bytes
    mode: int
    uid: int
    gid: int
    mtime: float
    link: str
    data: bytes


def layer(*files: tuple[str, bytes, int, int]) -> bytes:
    """A layer's tar: of each file its name, its bytes, its owner and its time; with a folder and a link."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        folder = tarfile.TarInfo("etc")
        folder.type, folder.mode, folder.mtime = tarfile.DIRTYPE, 0o755, 978307200
        tar.addfile(folder)
        for name, data, owner, time in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.uid, entry.gid, entry.mtime, entry.mode = len(data), owner, owner + 1, time, 0o640
            tar.addfile(entry, io.BytesIO(data))
        link = tarfile.TarInfo("etc/link")
        link.type, link.linkname = tarfile.SYMTYPE, "hosts"
        tar.addfile(link)
    return packed.getvalue()


FIRST = layer(("etc/hosts", b"127.0.0.1 localhost\n", 0, 1_000_000_000), ("bin/sh", bytes(range(256)) * 99, 7, 5))
SECOND = layer(("app/lib.py", b"x = 1\n", 1000, 978307200), (f"app/{'long' * 40}", b"", 1000, 3))


def put(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    tar.addfile(entry, io.BytesIO(data))


def saved(path: Path, **other: bytes) -> Path:
    """Write what `docker save` does of an image of three layers: one is packed, one is a link to its equal."""
    sums = [hashlib.sha256(data).hexdigest() for data in (FIRST, SECOND, FIRST)]
    config = json.dumps({**CONFIG, "rootfs": {"type": "layers", "diff_ids": [f"sha256:{each}" for each in sums]}})
    names = [BELOW, ABOVE, BELOW_AGAIN]
    manifest = [{"Config": "abcd.json", "RepoTags": ["testwright/some-task:1"], "Layers": names}]
    files = {BELOW: FIRST, ABOVE: gzip.compress(SECOND), "abcd.json": config.encode()}
    files |= {"manifest.json": json.dumps(manifest).encode(), **other}
    with tarfile.open(path, "w") as tar:
        for name, data in files.items():
            put(tar, name, data)
        link = tarfile.TarInfo(BELOW_AGAIN)
        link.type, link.linkname = tarfile.SYMTYPE, f"../{BELOW}"
        tar.addfile(link)
    return path


def members(data: bytes) -> list[Member]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [
            Member(
                each.name, each.type, each.mode, each.uid, each.gid, each.mtime, each.linkname,
                file.read() if (file := tar.extractfile(each) if each.isreg() else None) else b"",
            )
            for each in tar
        ]  # fmt: skip


def whole(path: Path) -> dict[str, bytes]:
    """The files of an archive; in a copy all are regular."""
    with tarfile.open(path) as tar:
        return {each.name: file.read() for each in tar if (file := tar.extractfile(each))}


@pytest.fixture
def copied(tmp_path: Path) -> dict[str, bytes]:
    pad_layers(saved(tmp_path / "saved.tar"), tmp_path / "copied.tar", TAG)
    return whole(tmp_path / "copied.tar")


def test_a_copy_has_other_layers_each_named_by_its_own_sum(copied: dict[str, bytes]) -> None:
    [entry] = json.loads(copied["manifest.json"])
    config = json.loads(copied[entry["Config"]])
    assert entry["RepoTags"] == [TAG]
    layers = [copied[name] for name in entry["Layers"]]
    assert copied.keys() == {"manifest.json", entry["Config"], *entry["Layers"]}
    sums = [f"sha256:{hashlib.sha256(data).hexdigest()}" for data in layers]
    assert config.pop("rootfs") == {"type": "layers", "diff_ids": sums}
    assert config == CONFIG, "its user, its environment and its history stay"
    assert not set(sums) & {f"sha256:{hashlib.sha256(data).hexdigest()}" for data in (FIRST, SECOND)}


def test_each_layer_of_a_copy_has_the_same_members(copied: dict[str, bytes]) -> None:
    [entry] = json.loads(copied["manifest.json"])
    found = [members(copied[name]) for name in entry["Layers"]]
    assert found == [members(FIRST), members(SECOND), members(FIRST)]
    assert {each.uid for each in found[1]} == {0, 1000}


def test_equal_layers_stay_equal(copied: dict[str, bytes]) -> None:
    [entry] = json.loads(copied["manifest.json"])
    first, second, again = (copied[name] for name in entry["Layers"])
    assert first == again != second


def test_a_copy_of_a_copy_is_another_one(tmp_path: Path) -> None:
    paths = [saved(tmp_path / "0.tar"), tmp_path / "1.tar", tmp_path / "2.tar"]
    for source, target in pairwise(paths):
        pad_layers(source, target, TAG)
    first, second = (whole(path) for path in paths[1:])
    assert first["layer-0.tar"] != second["layer-0.tar"]


def not_a_tar(path: Path) -> None:
    path.write_bytes(b"Error response from daemon\n" * 99)


def cut_off(path: Path) -> None:
    path.write_bytes(saved(path).read_bytes()[: len(FIRST) // 2])


def empty(path: Path) -> None:
    tarfile.open(path, "w").close()


DAMAGED: dict[str, Callable[[Path], object]] = {
    "not a tar": not_a_tar,
    "cut off": cut_off,
    "empty": empty,
    "a manifest that isn't JSON": lambda path: saved(path, **{"manifest.json": b"{"}),
    "a manifest of no image": lambda path: saved(path, **{"manifest.json": b"[]"}),
    "a manifest of another form": lambda path: saved(path, **{"manifest.json": b'{"schemaVersion": 2}'}),
    "no layers": lambda path: saved(path, **{"manifest.json": b'[{"Config": "abcd.json"}]'}),
    "a configuration without layers": lambda path: saved(path, **{"abcd.json": b"{}"}),
    "a packed layer that is damaged": lambda path: saved(path, **{ABOVE: gzip.compress(SECOND)[:20] + b"\xff" * 99}),
    "a packed layer that is cut off": lambda path: saved(path, **{ABOVE: gzip.compress(SECOND)[:-20]}),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_what_is_no_saved_image_is_refused_in_one_line(damage: Callable[[Path], object], tmp_path: Path) -> None:
    damage(tmp_path / "saved.tar")
    with pytest.raises(ImageUnavailable) as caught:
        pad_layers(tmp_path / "saved.tar", tmp_path / "copied.tar", TAG)
    assert str(caught.value).startswith(f"no second copy of an image can be made for {TAG}: ")
    assert str(caught.value).splitlines() == [str(caught.value)]
