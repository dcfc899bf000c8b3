"""Looking into every layer of a saved image, and into what lies packed there."""

import bz2
import gzip
import io
import json
import lzma
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from harness.authoring.image_search import FoundFile, SavedImage, unpacked

SECRET = b"withheld " * 50


def tar_of(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("data", "path"),
    [
        (gzip.compress(SECRET), "f!"),
        (bz2.compress(SECRET), "f!"),
        (lzma.compress(SECRET), "f!"),
        (zlib.compress(b"blob 9\0" + SECRET), "f!"),
        (zip_of({"a/b": SECRET}), "f!a/b"),
        (tar_of({"a/b": SECRET}), "f!a/b"),
        (gzip.compress(tar_of({"a": zip_of({"b": SECRET})})), "f!!a!b"),
    ],
    ids=["gzip", "bz2", "lzma", "zlib", "zip", "tar", "zip in tar in gzip"],
)
def test_packed_content_is_found(data: bytes, path: str) -> None:
    found = {file.path: file.data for file in unpacked(FoundFile("f", data))}
    assert SECRET in found[path]


@pytest.mark.parametrize("data", [b"PK\3\4 not a zip", b"\x1f\x8b", b"x\x9c!!", b"BZh", b"\xfd7zXZ\0", b"", b"text"])
def test_what_only_looks_packed_is_taken_as_it_is(data: bytes) -> None:
    assert next(iter(unpacked(FoundFile("f", data)))) == ("f", data)
    assert [file for file in unpacked(FoundFile("f", data)) if file.data not in (data, b"")] == []


def test_archives_within_archives_end_somewhere() -> None:
    data = SECRET
    for _ in range(10):
        data = gzip.compress(data)
    assert len(list(unpacked(FoundFile("f", data)))) == 4


def test_layers_are_read_in_both_layouts_and_deleted_files_with_them(tmp_path: Path) -> None:
    for folder in ("", "blobs/sha256/"):
        lower, upper = tar_of({"app/gone": SECRET}), gzip.compress(tar_of({"app/.wh.gone": b""}))
        layers = [f"{folder}1", f"{folder}2"]
        manifest = json.dumps([{"Config": f"{folder}c", "Layers": layers}]).encode()
        contents = {"manifest.json": manifest, f"{folder}c": b'{"history": []}', layers[0]: lower, layers[1]: upper}
        (tmp_path / "image.tar").write_bytes(tar_of(contents))
        saved = SavedImage(tmp_path / "image.tar")
        assert dict(saved.files()) == {"app/gone": SECRET, "app/.wh.gone": b""}
        assert saved.configuration() == '{"history": []}'


def test_a_sparse_member_that_claims_to_have_terabytes_is_passed_over():
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        sparse = tarfile.TarInfo("sparse")
        sparse.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(10**12)}
        tar.addfile(sparse)
        entry = tarfile.TarInfo("after")
        entry.size = len(SECRET)
        tar.addfile(entry, io.BytesIO(SECRET))
    found = {file.path: file.data for file in unpacked(FoundFile("layer/a.tar", packed.getvalue()))}
    assert found["layer/a.tar!after"] == SECRET
    assert "layer/a.tar!sparse" not in found
