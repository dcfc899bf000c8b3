"""Tars that are built and read within caps."""

import io
import tarfile
from collections.abc import Iterator

import pytest

from harness.sandbox.archives import MAX_OUTPUTS_BYTES, MTIME, pack, parents, read_outputs
from harness.sandbox.protocol import PlacedFile


def entries(archive: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        return {member.name: member for member in tar}


def test_the_same_files_make_the_same_tar_in_any_order() -> None:
    files = [PlacedFile("/app/b", b"2", 0o755), PlacedFile("/app/a\n☃", b"1")]
    assert pack(files, 1000, 1000, {"/app": None}) == pack(files[::-1], 1000, 1000, {"/app": None})
    found = entries(pack(files, 1000, 1001, {"/app": None}))
    assert set(found) == {"app", "app/b", "app/a\n☃"}
    assert {(entry.uid, entry.gid, entry.mtime) for entry in found.values()} == {(1000, 1001, MTIME)}
    assert found["app/b"].mode == 0o755


def test_directories_that_are_there_stay_as_they_are() -> None:
    there = tarfile.TarInfo("tmp")
    there.uid, there.gid, there.mode, there.mtime = 0, 0, 0o1777, 12345
    entry = entries(pack([PlacedFile("/tmp/x", b"")], 1000, 1000, {"/tmp": there}))["tmp"]
    assert (entry.uid, entry.gid, entry.mode, entry.mtime) == (0, 0, 0o1777, 12345)


def test_every_directory_above_a_file_is_named() -> None:
    assert parents([PlacedFile("/app/a/b/c", b"")]) == {"/app", "/app/a", "/app/a/b"}


def stream(*files: tuple[str, int], kind: bytes = tarfile.REGTYPE) -> Iterator[bytes]:
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for name, size in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.type = size, kind
            tar.addfile(entry, io.BytesIO(b"x" * size))
    data = archive.getvalue()
    return (data[at : at + 100] for at in range(0, len(data), 100))


def test_outputs_lose_the_directorys_own_name() -> None:
    assert read_outputs(stream(("report/1.xml", 3), ("report/a/b", 1))) == ({"1.xml": b"xxx", "a/b": b"x"}, True)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_outputs_are_regular_files_only(kind: bytes) -> None:
    assert read_outputs(stream(("report/x", 0), kind=kind)) == ({}, True)


def test_a_file_larger_than_the_cap_is_not_even_read() -> None:
    entry = tarfile.TarInfo("report/huge")
    entry.size = MAX_OUTPUTS_BYTES + 1
    endless = iter([entry.tobuf(), *[b"\0" * 512] * 100])
    assert read_outputs(endless) == ({}, False)
