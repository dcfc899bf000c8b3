"""Two images are the same where every file and setting is, but for times; records of the one hold for the other."""

import asyncio
import io
import json
import tarfile
from pathlib import Path

import pytest

from harness.authoring.task_check.recorded_parts import images_alike
from harness.authoring.task_check.same_images import SameImage, add_same_image, recipes_alike
from harness.plugins.browser.application import application_repo, data_directory
from harness.sandbox.images.recipe import read_recipe
from harness.sandbox.protocol import Image
from harness.specs.catalog import Catalog
from scripts.same_image import MAY_DIFFER, RECORDS, differences, listing, settings, tree_hash

CODE, CACHE = "opt/venv/lib/a.pyc", "home/agent/.cache/go-build/0a/" + "0" * 64 + "-a"
TIMED = {
    CODE: (b"\xa7\r\r\n\0\0\0\0TIME\1\0\0\0code", b"TIME", b"code"),
    CACHE: (b"v1 00 11       35  1764165226555444333\n", b"4165226", b"35"),
    "home/agent/.cache/go-build/trim.txt": (b"1764165226", b"4165226", b""),
    "var/cache/ldconfig/aux-cache": (b"glibc-ld.so.cache inode 17", b"17", b""),
    "etc/shadow": (b"root:*:20783:0:99999:7:::\nagent:!:20783:0:99999:7:::\n", b"20783", b"agent:!"),
}
"""Path -> its content, the part that may differ, and one that may not (nothing, where no part is compared)."""
SAME = SameImage(old="1" * 64, new="2" * 64, files=3, tree="0" * 64)


def exported(path: str = "app/a.py", data: bytes = b"x = 1\n", **facts: object) -> dict[str, str]:
    """The listing of an image with one file."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as tar:
        member = tarfile.TarInfo(path)
        member.size = len(data)
        for name, value in facts.items():
            setattr(member, name, value)
        tar.addfile(member, io.BytesIO(data))
    whole.seek(0)
    return listing(whole)


@pytest.mark.parametrize(
    "other",
    [
        {"data": b"x = 2\n"},
        {"path": "app/b.py"},
        {"mode": 0o755},
        {"uid": 1000},
        {"gid": 1000},
        {"type": tarfile.SYMTYPE, "linkname": "b.py"},
        {"type": tarfile.LNKTYPE, "linkname": "b.py"},
        {"pax_headers": {"SCHILY.xattr.security.capability": "cap_net_raw"}},
    ],
)
def test_whatever_a_file_is_makes_another_image(other):
    assert exported() == exported(mtime=7.0)
    assert differences(exported(), exported(**other))
    assert tree_hash(exported()) != tree_hash(exported(**other))


def test_devices_are_told_apart():
    a, b = ({"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": minor} for minor in (3, 5))
    assert differences(exported(**a), exported(**b)) == ["app/a.py: 3 644 0:0   1,3 -> 3 644 0:0   1,5"]


def test_what_is_missing_in_one_is_told():
    assert differences({}, {"app/b": "0"}) == ["app/b: absent -> 0"]


@pytest.mark.parametrize("path", TIMED)
def test_a_time_in_a_file_may_differ_and_the_rest_may_not(path):
    data, time, rest = TIMED[path]
    assert not differences(exported(path, data), exported(path, data.replace(time, time[::-1])))
    if rest:
        assert differences(exported(path, data), exported(path, data.replace(rest, rest[::-1])))
    assert differences(exported(f"app/{path}.txt", data), exported(f"app/{path}.txt", data.replace(time, time[::-1])))


def test_every_exception_has_its_reason_and_a_file_above():
    assert all(known.why and any(known.paths.fullmatch(path) for path in TIMED) for known in MAY_DIFFER)


def test_bytecode_that_is_checked_by_hash_is_compared_in_full():
    data = b"\xa7\r\r\n\1\0\0\0HASHHASHcode"
    assert differences(exported(CODE, data), exported(CODE, data.replace(b"HASHHASH", b"HSAHHASH")))


def test_settings_of_the_image_count_but_not_the_labels_of_its_recipe():
    def config(env: str, recipe: str, base: str = "pulled") -> dict[str, str]:
        return settings({"Env": [env], "Labels": {"testwright.recipe": recipe, "testwright.base.made-by": base}})

    assert config("A=1", "1") == config("A=1", "2")
    assert config("A=1", "1") != config("A=2", "1")
    assert config("A=1", "1") != config("A=1", "1", "made")
    assert settings({"Labels": None}) == {"Labels": "{}"}


def test_recipes_are_alike_by_way_of_others_in_both_directions(tmp_path):
    assert list(recipes_alike(tmp_path, "r", "1" * 64)) == []
    add_same_image(tmp_path, "r", SAME)
    add_same_image(tmp_path, "r", SAME.model_copy(update={"old": "2" * 64, "new": "3" * 64}))
    add_same_image(tmp_path, "r", SAME)
    assert len(json.loads((tmp_path / "images" / "r.json").read_text())["same"]) == 2
    assert set(recipes_alike(tmp_path, "r", "1" * 64)) == {"2" * 64, "3" * 64}
    assert set(recipes_alike(tmp_path, "r", "3" * 64)) == {"1" * 64, "2" * 64}
    assert list(recipes_alike(tmp_path, "r", "4" * 64)) == []
    assert list(recipes_alike(tmp_path, "other", "1" * 64)) == []


@pytest.mark.parametrize("file", sorted((RECORDS / "images").glob("*.json")), ids=lambda path: path.stem)
def test_what_is_recorded_of_images_leads_to_the_recipe_as_it_is(file: Path):
    is_application = (data_directory() / file.stem / "repo.yaml").is_file()
    repo = application_repo(data_directory() / file.stem) if is_application else Catalog().repo(file.stem)
    assert list(recipes_alike(RECORDS, file.stem, read_recipe(repo).digest))


def test_an_image_that_is_taken_as_it_is_is_its_own_only_equal():
    repo = Catalog().task("zod-stringbool-design").repo
    assert repo.source.kind == "image"
    image = Image("testwright/x:1", "9" * 64, "/app", Path("/nowhere"))
    assert asyncio.run(images_alike(RECORDS, repo, image)) == {image.digest}
