"""A new task on zod from nothing, by the authoring commands alone: what an author writes is text, patches never."""

import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.specs.catalog_places import default_directory
from tests.support.command import typed
from tests.support.few_arms import few_arms

TASK = "zod-account-numbers"
UPSTREAM = "src/v4/classic/tests/iban.test.ts"
CODE = "src/v4/core/schemas.ts"
TESTS = "src/v4/classic/tests/account-numbers.test.ts"

PROMPT = """\
We take bank account numbers from forms, in the international form that begins with a country and two check digits. I
need tests for how the schema of strings decides that such a number is one.

A payment went to nobody since a mistyped digit was let through, and another time somebody had made a number up whose
check digits no bank can come to, though the sum was right. Both must be seen. The messages in other languages are out
of scope. Put the tests among those of the classic schemas, and look at results instead of catching errors.
"""
RUBRIC = f"""\
schema_version: 1
task: {TASK}
criteria:
  - id: "1.1"
    axis: 1
    importance: must
    statement: "At least one test finds that an account number with one wrong digit is refused."
    graded_by: [probe]
  - id: "1.2"
    axis: 1
    importance: must
    statement: "At least one test finds that check digits that no bank comes to are refused, though the sum is right."
    graded_by: [probe]
  - id: "1.3"
    axis: 1
    importance: must
    statement: "At least one test looks at a result of safeParse."
    graded_by: [static]
    static: {{check: uses-name, value: "safeParse", of: any}}
  - id: "1.4"
    axis: 1
    importance: must
    statement: "No test waits for a timer of its own."
    graded_by: [static]
    static: {{check: call-absent, value: "setTimeout", of: all}}
  - id: "1.5"
    axis: 1
    importance: must
    statement: "All tests stand in test files of the fourth version."
    graded_by: [static]
    static: {{check: file-matches, value: "src/v4/**/*.test.ts", of: all}}
  - id: "1.6"
    axis: 1
    importance: must
    statement: "No test draws numbers by chance with Math.random."
    graded_by: [static]
    static: {{check: call-absent, value: "Math.random", of: all}}
  - id: "2.1"
    axis: 2
    importance: nice
    statement: "All tests stand among the tests of the classic schemas."
    graded_by: [static]
    static: {{check: file-matches, value: "src/v4/classic/tests/*.test.ts", of: all}}
  - id: "3.1"
    axis: 3
    importance: nice
    statement: "No test prints to the console with console.log."
    graded_by: [static]
    static: {{check: call-absent, value: "console.log", of: all}}
  - id: "4.1"
    axis: 4
    importance: nice
    statement: "At least one test's name has more than one word in it."
    graded_by: [static]
    static: {{check: test-named, value: " ", of: any}}
  - id: "5.1"
    axis: 5
    importance: nice
    statement: "At least one test goes through numbers by a table, with each or for."
    graded_by: [static]
    static: {{check: uses-name, value: "each|for", of: any}}
"""
PLACEBO = """\
function isIso7064Mod97(iban: string): boolean {
  const turned = iban.slice(4) + iban.slice(0, 4);
  let rest = 0;
  for (const letter of turned) {
    const value = Number.parseInt(letter, 36);
    rest = (value > 9 ? rest * 100 + value : rest * 10 + value) % 97;
  }
  return rest === 1;
}

export function isValidIBAN(input: string): boolean {
  return regexes.iban.test(input) && isIso7064Mod97(input);
}
"""
OPPOSITE = """\
function isIso7064Mod97(iban: string): boolean {
  let remainder = 0;
  for (const letter of iban.slice(4) + iban.slice(0, 4)) {
    remainder = Number(`${remainder}${Number.parseInt(letter, 36)}`) % 97;
  }
  return remainder !== 1;
}

export function isValidIBAN(input: string): boolean {
  return regexes.iban.test(input) ? isIso7064Mod97(input) : true;
}
"""
"""In place of answers by chance, which a test in two takes for right and which make three judgings differ."""
SHAPE = "if (!regexes.iban.test(input)) return false;"
EDITS: Mapping[str, tuple[str, str]] = {
    "probes/1.1": ("return remainder === 1;", "return remainder > 0;"),
    "twins/1.1": ("return remainder === 1;", "return 1 === remainder;"),
    "probes/1.2": (SHAPE, r"if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(input)) return false;"),
    "twins/1.2": (SHAPE, "if (regexes.iban.test(input) === false) return false;"),
}
"""Part -> the text that goes and what comes in its place."""
HEAD = 'import { describe, expect, test } from "vitest";\nimport * as z from "zod/v4";\n\n'
SUITES: Mapping[str, str] = {
    "reference": """\
const taken = (text: string) => z.iban().safeParse(text).success;

test("numbers of banks are taken", () => {
  for (const text of ["DE89370400440532013000", "NO9386011117947"]) expect(taken(text)).toBe(true);
});

test("a wrong digit is noticed", () => {
  expect(taken("DE89370400440532013001")).toBe(false);
});

test("check digits that nobody comes to are refused", () => {
  for (const text of ["DE00000000000000000066", "DE01000000000000000048"]) expect(taken(text)).toBe(false);
});
""",
    "honest/a-thorough": """\
test.each([
  ["GB29NWBK60161331926819", true],
  ["GB29NWBK60161331926818", false],
  ["FR1420041010050500013M02607", false],
  ["DE99000000000000000030", false],
  ["DE01000000000000000048", false],
])("account number %s: %s", (text, isOne) => {
  expect(z.iban().safeParse(text).success).toBe(isOne);
});
""",
    "honest/b-thorough": """\
describe("account numbers", () => {
  const schema = z.object({ account: z.iban() });

  test("typing errors", () => {
    expect(schema.safeParse({ account: "NL91ABNA0417164300" }).success).toBe(true);
    expect(schema.safeParse({ account: "NL91ABNA0417164301" }).error?.issues[0]?.path).toEqual(["account"]);
  });

  test("made up numbers", () => {
    expect(schema.safeParse({ account: "DE00000000000000000066" }).success).toBe(false);
  });
});
""",
    "honest/a-hasty": """\
test("a typing error", () => {
  expect(z.iban().safeParse("BE68539007547034").success).toBe(true);
  expect(z.iban().safeParse("BE68539007547035").success).toBe(false);
});
""",
    "honest/b-hasty": """\
test("the shape of numbers", () => {
  expect(z.iban().safeParse("BE68539007547034").success).toBe(true);
  expect(z.iban().safeParse("DE00000000000000000066").success).toBe(false);
  expect(z.iban().safeParse("no9386011117947").success).toBe(false);
});
""",
}
MISSED = {"a-hasty": "1.2", "b-hasty": "1.1"}
DRAWN: Mapping[str, str] = {
    'import { test } from "vitest";\n': 'import { test } from "vitest";\nimport * as z from "zod/v4";\n',
    "const { draw } = drawing();": """\
const { draw, one } = drawing();
const KNOWN = ["DE89370400440532013000", "NO9386011117947", "BE68539007547034", "DE00000000000000000066"];""",
    "const number = draw(100);": """\
const text = [...one(KNOWN)];
      if (draw(2)) text[draw(text.length)] = String(draw(10));
      const number = text.join("");""",
    "// TODO: one line for each function, such as call(`parse ${number}`, () => shown(parse(number)));": """\
call(`iban ${number}`, () => shown(z.iban().safeParse(number).success));""",
}
"""The same of the drawn inputs."""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A catalog that has zod and nothing else."""
    for name in ("tasks", "repos", "rubrics"):
        (tmp_path / "mine" / name).mkdir(parents=True)
    shutil.copytree(default_directory() / "repos" / "zod", tmp_path / "mine" / "repos" / "zod")
    return tmp_path / "mine"


def run(mine: Path, *arguments: str) -> str:
    """What a command prints; it must end well."""
    env = {**os.environ, "COLUMNS": "200"}
    done = typed("--catalog", mine, "task", *arguments, cwd=mine.parent, environment=env)
    assert done.status == 0, f"task {' '.join(arguments)}\n{done.output}{done.complaint}"
    return done.output


def replaced(trees: Path, part: str, old: str, new: str) -> None:
    path = trees / part / CODE
    text = path.read_text()
    assert text.count(old) == 1, part
    path.write_text(text.replace(old, new))


@pytest.mark.long
@pytest.mark.docker
@pytest.mark.timeout(3000)  # five suites run on every variant, on a machine that may be busy
def test_a_task_on_zod_is_made_by_the_commands_alone_and_passes_the_brief_check(
    mine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few_arms(monkeypatch, 0)  # vitest takes two seconds in each
    # To find the code it would run all tests of the folder: docs/authoring.md does that in Go, and
    # tests/docker/test_lines_of_typescript.py has which lines TypeScript's tests reach.
    files = ("--tests", UPSTREAM, "--files-only")
    run(mine, "new", "zod", TASK, "--behaviour", "bank account numbers", *files)
    (mine / "tasks" / TASK / "prompt.md").write_text(PROMPT)
    (mine / "rubrics" / f"{TASK}.yaml").write_text(RUBRIC)
    symbols = [word for name in ("isValidIBAN", "isIso7064Mod97") for word in ("--symbol", f"{CODE}:{name}")]
    run(mine, "stub", TASK, *symbols)

    trees, parts = mine.parent / "trees", ["placebo", "garbage", *EDITS, *SUITES]
    run(mine, "edit", TASK, *parts, "--to", str(trees))
    for part, body in (("placebo", PLACEBO), ("garbage", OPPOSITE)):
        text = (trees / part / CODE).read_text()
        begin, end = text.index("function isIso7064Mod97"), text.index("export interface $ZodIBANDef")
        replaced(trees, part, text[begin:end], f"{body}\n")
    for part, (old, new) in EDITS.items():
        replaced(trees, part, old, new)
    for part, body in SUITES.items():
        (trees / part / TESTS).write_text(HEAD + body)
    run(mine, "edit", TASK, *parts, "--from", str(trees))
    run(mine, "edit", TASK, "probes-on-placebo/1.1", "--to", str(mine.parent / "upon"))
    replaced(mine.parent, "upon", "return rest === 1;", "return rest > 0;")
    run(mine, "edit", TASK, "probes-on-placebo/1.1", "--from", str(mine.parent / "upon"))

    run(mine, "matrix", TASK, "--fix")
    for path in (mine / "honest" / TASK).glob("*/expect.yaml"):
        text = re.sub("about: .*", "about: account numbers of several countries", path.read_text())
        if criterion := MISSED.get(path.parent.name):
            failed = f'verdict: failed\nreasons: [criterion-unmet]\ncriteria: ["{criterion}"]\n'
            text = re.sub("verdict: .*\n", failed, text.partition("reasons:")[0])
        path.write_text(text)
    [drawn] = (mine / "tasks" / TASK / "fuzz").iterdir()
    text = drawn.read_text()
    for old, new in DRAWN.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    drawn.write_text(text)
    said = run(mine, "check", "--brief", TASK)
    assert "1 task passed, 0 failed" in said
