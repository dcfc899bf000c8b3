"""Scripts of applications beside tests: another text in each arm, that does the same."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.judging.languages.variant_source import lines_in_question
from harness.plugins.browser.arms_file import ArmsFile
from harness.plugins.browser.scripts import SUFFIXES, Script, scripts_of
from harness.plugins.browser.stage import changed_scripts
from harness.specs.yaml_files import load_yaml

ROOT = Path(__file__).parents[2]
DESK = ROOT / "browser" / "deskapp" / "app"
SEEDS = range(6)
TASKS = ("network-outage", "quiet-account")
COUNTING = b"""/* Counts. */
"use strict";
const MOST = 3;
let left = MOST;

function take(name) {
  if (left === 0) return `${name}: none`;
  left -= 1;
  return `${name}: ${left} left`;
}

for (const name of ["Ada", "Ben", "Cleo", "Dan"]) console.log(take(name));
console.log(this === undefined, typeof MOST);
"""
MORE = COUNTING.replace(b"MOST = 3", b"MOST = 4")
KEPT = COUNTING.replace(b"left -= 1;", b"left -= 0;")


def script_of(task: str) -> Script:
    file = ROOT / "browser" / "technique" / task / "arms.yaml"
    arms = load_yaml(file, ArmsFile)
    files = {edit.file for arm in (*arms.same, *arms.must_fail) for edit in arm.edits}
    [script] = changed_scripts(arms, {name: (DESK / name).read_text() for name in files}, str(file))
    return script


@pytest.mark.parametrize("file", sorted(ROOT.glob("browser/*/*/arms.yaml")), ids=lambda file: file.parent.name)
def test_each_script_that_mutants_change_is_in_other_words_where_tests_must_pass(file: Path) -> None:
    arms = load_yaml(file, ArmsFile)
    mutated, right = ({edit.file for arm in of for edit in arm.edits} for of in (arms.must_fail, arms.same))
    # No page loads what runs in the server alone.
    served = {name for name in mutated if name.endswith(SUFFIXES) and "core-server" not in name}
    assert served <= right


@pytest.mark.parametrize("task", TASKS)
def test_no_line_tells_an_arm_that_must_pass_from_one_that_must_fail(task: str) -> None:
    script = script_of(task)
    good = [script.written(script.right[0], seed).decode() for seed in SEEDS]
    assert len(set(good)) == len(SEEDS)
    for text in script.broken[:2]:
        bad = [script.written(text, seed).decode() for seed in SEEDS]
        for line in (line.strip() for line in lines_in_question((script.right[0], text))):
            told = {line in each for each in good}, {line in each for each in bad}
            assert told not in (({True}, {False}), ({False}, {True})), (task, line)


@pytest.mark.parametrize("own", [COUNTING, MORE, KEPT], ids=["right", "differs outside functions", "differs inside"])
def test_the_written_script_does_the_same(own: bytes) -> None:
    node = shutil.which("node") or pytest.skip("no Node.js to run scripts with")
    script = Script("count.js", (COUNTING,), (MORE, KEPT))

    def said(text: bytes) -> bytes:
        return subprocess.run([node, "--input-type=commonjs"], input=text, capture_output=True, check=True).stdout

    expected = said(own).replace(b"false number", b"true number")
    for seed in SEEDS[:3]:
        written = script.written(own, seed)
        assert written.startswith(b"/* Counts. */\n")
        assert said(written) == expected, written.decode()


def test_a_script_without_semicolons_keeps_its_directive(tmp_path: Path) -> None:
    node = shutil.which("node") or pytest.skip("no Node.js to run scripts with")
    plain = b'"use strict"\nconst MOST = 3\nfor (let n = 0; n < MOST; n++) console.log(n)\n'
    written = Script("a.js", (plain,), (plain.replace(b"3", b"4"),)).written(plain, 1)
    done = subprocess.run([node, "--input-type=commonjs"], input=written, capture_output=True, cwd=tmp_path)
    assert done.stdout == b"0\n1\n2\n", done.stderr.decode()


def test_a_script_that_no_mutant_changes_stays() -> None:
    assert not scripts_of([{"a.js": b"f();"}, {"a.js": b"g();"}], [{"a.js": b"f();"}])
    assert not scripts_of([{"a.html": b"<p>"}], [{"a.html": b"<b>"}])


def test_a_module_keeps_its_imports_at_its_top() -> None:
    plain = b'import { a } from "./a.js";\nexport function f() {\n  return a(1);\n}\nf();\n'
    script = Script("f.mjs", (plain,), (plain.replace(b"\nf();", b"\ng();"), plain.replace(b"a(1)", b"a(2)")))
    written = script.written(plain, 1)
    assert written.startswith(b'import { a } from "./a.js";\nexport function f() {')
    assert written != plain
