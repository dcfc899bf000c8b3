"""A bug is made from a probe, and its check refuses one that can't judge anybody."""

import json
import shutil
from pathlib import Path

import pytest

from tests.support.bug_catalog import BASE, BUG, bug_catalog
from tests.support.command import typed_beside

pytestmark = pytest.mark.docker

MADE = (
    *("withheld.patch", "fix.patch", "plain.patch", "plain-bug.patch", "hidden.yaml"),
    *(
        "alternatives/twin-1.3.patch",
        "alternatives/twin-1.3_2.patch",
        "reference/tests.patch",
        "reference/manifest.yaml",
    ),
)
BY_HAND = ("report.md", "partial", "reported")
SEEN = """\
diff --git a/tests/test_itsdangerous/test_seen.py b/tests/test_itsdangerous/test_seen.py
new file mode 100644
--- /dev/null
+++ b/tests/test_itsdangerous/test_seen.py
@@ -0,0 +1,12 @@
+import pytest
+from freezegun import freeze_time
+
+from itsdangerous import SignatureExpired, TimestampSigner
+
+
+def test_seen():
+    with freeze_time("2024-03-01 12:00:05"):
+        signed = TimestampSigner("secret-key").sign("value")
+
+    with freeze_time("2024-03-01 12:00:00"), pytest.raises(SignatureExpired):
+        TimestampSigner("secret-key").unsign(signed, max_age=10)
"""
HAS_SEEN = "existing:\n  tests/test_itsdangerous/test_seen.py:\n    - test_seen\n"
OTHER_CALLS = """\
import os


def test_fuzz_nothing():
    with open(os.path.join(os.environ["TESTWRIGHT_REPORT_DIR"], "fuzz.txt"), "a") as report:
        report.write("nothing() => 1\\n" * 2)
"""


@pytest.mark.long
async def test_a_bug_is_made_again_as_it_was_and_what_a_person_must_write_is_told(tmp_path: Path) -> None:
    catalog = bug_catalog(tmp_path / "catalog")
    done = await typed_beside(
        "--catalog", catalog, "task", "bug", BASE, "--probe", "1.3", "--name", "again", cwd=catalog
    )
    assert done.status == 0, done.complaint
    made, kept = catalog / "tasks" / "again", catalog / "tasks" / BUG
    assert {name: (made / name).read_text() for name in MADE} == {name: (kept / name).read_text() for name in MADE}
    told = [line for line in done.output.splitlines() if ": write " in line]
    assert [line.partition(": ")[0] for line in told] == [str(made / name) for name in BY_HAND]


async def problems(catalog: Path, part: str) -> set[str]:
    """What a part of the check says of the bug: errors alone, without the seeds that were drawn."""
    done = await typed_beside("--catalog", catalog, "task", "check", BUG, "--only", part, "--json", cwd=catalog)
    assert done.status == 1, done.output + done.complaint
    [task] = json.loads(done.output)["tasks"]
    found = [problem for problem in task["problems"] if problem["severity"] == "error"]
    return {f"{problem['where'].removeprefix(f'tasks/{BUG}/')}: {problem['message']}" for problem in found}


@pytest.mark.long
async def test_fixes_that_arent_what_they_are_called_and_a_bug_that_agents_have_a_test_of_are_refused(
    tmp_path: Path,
) -> None:
    catalog = bug_catalog(tmp_path / "catalog")
    bug = catalog / "tasks" / BUG
    shutil.copy(bug / "partial" / "a-hundred-seconds.patch", bug / "alternatives" / "wrong.patch")
    shutil.copy(bug / "alternatives" / "twin-1.3.patch", bug / "partial" / "whole.patch")
    (bug / "withheld.patch").write_text((bug / "withheld.patch").read_text() + SEEN)
    hidden = (bug / "hidden.yaml").read_text()
    (bug / "hidden.yaml").write_text(hidden.replace("existing: {}\n", HAS_SEEN))
    told = await problems(catalog, "alternative-fixes")
    assert "partial/whole.patch: the reference's tests pass on it, so they don't show that it is partial" in told
    assert any(words.startswith("alternatives/wrong.patch: ") and words.endswith(" fails on it") for words in told)
    seen = "tests/test_itsdangerous/test_seen.py::test_seen, which agents have, fails on the buggy tree"
    assert any(seen in words for words in told)


@pytest.mark.long
async def test_a_bug_that_no_drawn_call_shows_and_other_forms_that_one_tells_apart_are_refused(
    tmp_path: Path,
) -> None:
    catalog = bug_catalog(tmp_path / "catalog")
    bug, fuzz = catalog / "tasks" / BUG, catalog / "tasks" / BASE / "fuzz"
    shutil.copy(bug / "partial" / "a-hundred-seconds.patch", bug / "alternatives" / "wrong.patch")
    shutil.copy(bug / "alternatives" / "twin-1.3.patch", bug / "plain-bug.patch")
    told_apart = await problems(catalog, "fuzz")
    words = {words.split(": ")[0]: words.split(": ")[1] for words in told_apart}
    assert words == {
        "alternatives/wrong.patch": "changes behaviour", "plain-bug.patch": "is another fault than the bug"
    }  # fmt: skip
    for path in fuzz.iterdir():
        path.unlink()
    (fuzz / "test_fuzz_nothing.py").write_text(OTHER_CALLS)
    assert await problems(catalog, "fuzz") == {
        "withheld.patch: no drawn call of the base's fuzz file tells it from the fix"
    }


@pytest.mark.long
async def test_a_wrong_fix_on_which_the_reference_passes_is_refused(tmp_path: Path) -> None:
    catalog = bug_catalog(tmp_path / "catalog")
    bug = catalog / "tasks" / BUG
    shutil.copy(bug / "alternatives" / "twin-1.3.patch", bug / "wrong.patch")
    told = await problems(catalog, "wrong-fix")
    assert {words.partition(": ")[0] for words in told} == {"wrong.patch"}
    words = "fails neither by an assertion nor by an exception or a crash on the wrong fix"
    assert len([each for each in told if each.endswith(words)]) == 2  # the reference's test, and that of the report


@pytest.mark.long
async def test_a_part_that_passed_is_remembered_until_hidden_tests_of_its_base_change(tmp_path: Path) -> None:
    catalog = bug_catalog(tmp_path / "catalog")

    async def remarks() -> list[str]:
        asked = ("task", "check", BUG, "--only", "nop", "--remember", "--json")
        done = await typed_beside("--catalog", catalog, *asked, cwd=tmp_path)
        assert done.status == 0, done.output + done.complaint
        [task] = json.loads(done.output)["tasks"]
        return [remark for step in task["steps"] for remark in step["remarks"]]

    assert await remarks() == []
    assert await remarks() == ["nop: remembered"]
    manifest = catalog / "tasks" / BASE / "reference" / "manifest.yaml"
    manifest.write_text(manifest.read_text() + "\n")
    assert await remarks() == []
