"""Pictures of pages on which tests failed: beside the words of the failure, and only where they are pictures."""

import struct
import zlib
from pathlib import Path

import pytest

from harness.results.rows import ArmTestRow
from harness.results.site.applications import HiddenTest, application_view
from harness.results.site.failures import MAX_PICTURE, MAX_PICTURES, failures_of
from harness.results.site.pages import LongTexts, Pages
from harness.specs.test_results import Outcome, Quality
from harness.specs.variants import ArmStatus, Role, VariantKind

FILE, PAGE = "tests/test_outage.py", "trials/outage/mini/none/1.html"


def png(side: int, padding: bytes = b"") -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, rows = struct.pack(">2I5B", side, side, 8, 0, 0, 0, 0), zlib.compress((b"\0" + b"\xff" * side) * side)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"tEXt", padding)
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


def row(test: str, arm: str, kind: VariantKind) -> ArmTestRow:
    where = ("outage/mini/none/1", "outage", "mini", "none", 1)
    here = (arm, Role.LISTED, arm, kind, 1, 1, ArmStatus.FINISHED, 1.0)
    return ArmTestRow(*where, *here, f"{FILE}::{test}", Outcome.FAILED, Quality.ASSERTION, True, 1, 1.0)


def arm(trial: Path, name: str, *tests: str) -> Path:
    """An arm in which these tests failed, by its report."""
    folder = trial / "arms" / name
    folder.mkdir(parents=True)
    head, failed = (
        f'<testcase classname="tests.test_outage" file="{FILE}" name=',
        '><failure message="not visible"/></testcase>',
    )
    cases = "".join(f'{head}"{test}"{failed}' for test in tests)
    (folder / "1.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
    return folder


def pictures(place: Path, *rows: ArmTestRow) -> list[str]:
    """The link at each failure, in the page's order."""
    found = failures_of(place / "trial", "junit", rows, LongTexts(Pages(place / "site", "site"), PAGE))
    assert found
    return [failure.picture for test in found.tests for failure in test.failures]


def test_a_failure_has_the_picture_of_the_page_in_one_of_its_arms(tmp_path: Path) -> None:
    arm(tmp_path / "trial", "same-slow", "test_back")
    second = arm(tmp_path / "trial", "same-gone", "test_back")
    (second / "tests-test_outage-py-test_back.png").write_bytes(png(40))
    rows = [row("test_back", name, VariantKind.TWIN) for name in ("same-slow", "same-gone")]
    [link] = pictures(tmp_path, *rows)
    assert link == "files/trials/outage/mini/none/1/failure-1.png"
    assert (tmp_path / "site" / link).read_bytes() == png(40)


@pytest.mark.parametrize(
    "data",
    [b"", b"<svg onload=alert(1)>", b"GIF89a" + bytes(40), png(40)[:20], png(5_000), png(40, bytes(MAX_PICTURE))],
    ids=["empty", "markup", "gif", "cut off", "wide", "large"],
)
def test_what_is_no_picture_of_moderate_size_is_not_shown(tmp_path: Path, data: bytes) -> None:
    folder = arm(tmp_path / "trial", "baseline", "test_back")
    (folder / "tests-test_outage-py-test_back.png").write_bytes(data)
    assert pictures(tmp_path, row("test_back", "baseline", VariantKind.BASELINE)) == [""]
    assert not list(tmp_path.glob("site/**/*.png"))


def test_a_link_is_not_followed_and_a_page_has_so_many_pictures_at_most(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png(40))
    names = [f"test_{number}" for number in range(MAX_PICTURES + 2)]
    folder = arm(tmp_path / "trial", "baseline", *names)
    (folder / f"tests-test_outage-py-{names[0]}.png").symlink_to(tmp_path / "secret.png")
    for name in names[1:]:
        (folder / f"tests-test_outage-py-{name}.png").write_bytes(png(40))
    found = pictures(tmp_path, *(row(name, "baseline", VariantKind.BASELINE) for name in names))
    assert [bool(link) for link in found] == [False, *[True] * MAX_PICTURES, False]


def hidden(arm: str, file: str, test: str, outcome: Outcome) -> ArmTestRow:
    quality = None if outcome is Outcome.PASSED else Quality.ASSERTION
    found = row(test, f"{arm},hidden", VariantKind.BASELINE)
    return found._replace(role=Role.HIDDEN, variant=arm, test=f"{file}::{test}", outcome=outcome, quality=quality)


def test_an_application_has_the_picture_of_its_home_page_and_the_ends_of_hidden_tests(tmp_path: Path) -> None:
    rows = [
        hidden("install", "install", "all", Outcome.PASSED),
        hidden("home", "hidden/test_home.py", "test_it_opens", Outcome.PASSED),
        hidden("acceptance", "hidden/test_acceptance.py", "test_lending", Outcome.FAILED),
    ]
    for arm_name, name in (("home", "home"), ("acceptance", "hidden-test_acceptance-py-test_lending")):
        folder = tmp_path / "trial" / "arms" / f"{arm_name},hidden"
        folder.mkdir(parents=True)
        (folder / f"{name}.png").write_bytes(png(40 if name == "home" else 50))
    texts = LongTexts(Pages(tmp_path / "site", "site"), PAGE)
    found = application_view(tmp_path / "trial", rows, texts)
    assert found
    place = "files/trials/outage/mini/none/1/application"
    assert found.tests == (
        HiddenTest("home", "test_it_opens", True, "passed", 1.0, ""),
        HiddenTest("acceptance", "test_lending", False, "failed: assertion", 1.0, f"{place}-2.png"),
    )
    assert found.home == f"{place}-1.png"
    assert (tmp_path / "site" / found.home).read_bytes() == png(40)
    assert application_view(tmp_path / "trial", [row("test_back", "baseline", VariantKind.BASELINE)], texts) is None
