"""The lines that TypeScript's tests reach, by what V8 counts in the processes of a run script."""

import json
from importlib.resources import files

import pytest

from harness.authoring.function_spans import spans_of
from harness.authoring.task_new.command import reached
from harness.sandbox.git_tree import GitTree
from harness.sandbox.images.task_images import repo_image
from harness.sandbox.protocol import JobResult
from harness.specs.catalog import Catalog
from harness.specs.errors import UserError
from harness.specs.test_results import TestId
from tests.docker.conftest import Run

pytestmark = pytest.mark.docker
REPO = "zod"

_HERE = files("harness.judging.testing.reaching") / "in_container"
_HOOK = {f"/tmp/reach/{name}": (_HERE / name).read_bytes() for name in ("reach.sh", "reached.cjs")}
_NODE = (
    "mkdir $TESTWRIGHT_REPORT_DIR/with; TESTWRIGHT_ROOT=$PWD TESTWRIGHT_REACHED=$TESTWRIGHT_REPORT_DIR/with"
    " NODE_OPTIONS='--require /tmp/reach/reached.cjs' node "
)
PARITY = """\
interface Named {
  name: string;
}

export const half = (value: number): number => value / 2;
export const third = (value: number): number => value / 3;

export class Parity implements Named {
  name = "parity";

  of(value: number): string {
    // not a line that runs
    if (value % 2 === 0) {
      return "even";
    }
    return "odd";
  }

  never(): string {
    return this.name;
  }
}
"""
PARITY_TEST = """\
import { expect, test } from "vitest";
import { Parity, half } from "../parity.js";

test("even", () => {
  expect(new Parity().of(half(4))).toBe("even");
});
test("odd", () => {
  expect(new Parity().of(3)).toBe("odd");
});
"""
SUMS = """\
const twice = (value) => value + value;
const thrice = (value) => value + value + value;
function never() {
  return 1;
}
module.exports = {
  six: twice(3),
};
"""


def _lines(result: JobResult) -> dict[str, set[int]]:
    assert result.exit_status == 0, result.log.decode()
    found: dict[str, set[int]] = {}
    for data in result.outputs.values():
        for path, lines in json.loads(data).items():
            found.setdefault(path, set()).update(lines)
    return found


def test_lines_are_those_of_the_source_that_the_named_test_runs(run: Run) -> None:
    laid = {**_HOOK, "src/v4/core/parity.ts": PARITY, "src/v4/core/tests/parity.test.ts": PARITY_TEST}
    line = "bash /tmp/reach/reach.sh typescript with 'src/v4/core/tests/parity.test.ts::even'"
    lines = _lines(run(line, laid, TESTWRIGHT_TEST_COMMAND="run_tests"))["src/v4/core/parity.ts"]
    assert {5, 9, 11, 13, 14} <= lines
    # Types and comments run nowhere, `third` is only written down, and the others aren't called.
    assert not lines & {1, 2, 3, 4, 6, 12, 16, 19, 20}


def test_text_that_runs_as_it_is_written_has_its_own_lines(run: Run) -> None:
    lines = _lines(run(f"{_NODE} src/sums.cjs", {**_HOOK, "src/sums.cjs": SUMS}))
    assert lines == {"src/sums.cjs": {1, 6, 7, 8}}


@pytest.mark.parametrize("kind", ["inline", "linked"])
def test_compiled_text_is_followed_to_the_lines_of_its_source(run: Run, kind: str) -> None:
    build = f"""\
require("/node_modules/esbuild").buildSync({{
  entryPoints: ["src/parity.ts"], outdir: "built", outExtension: {{ ".js": ".cjs" }}, format: "cjs",
  sourcemap: "{kind}",
}});
"""
    use = 'new (require("../built/parity.cjs").Parity)().of(3);'
    laid = {**_HOOK, "src/parity.ts": PARITY, "src/build.cjs": build, "src/use.cjs": use}
    lines = _lines(run(f"node src/build.cjs && {_NODE} src/use.cjs", laid))["src/parity.ts"]
    assert {9, 11, 13, 16} <= lines  # and 1, to which esbuild maps what it puts before the text
    assert not lines & {2, 5, 6, 12, 14, 19, 20}, lines


def test_a_process_that_is_ended_at_once_still_says_what_it_ran(run: Run) -> None:
    parent = """\
const child = require("node:child_process").fork("./src/child.cjs");
child.on("message", () => { child.kill(); child.kill("SIGKILL"); });
child.on("exit", (status) => { process.exitCode = status === 143 ? 0 : 1; });
"""
    child = 'require("./sums.cjs");\nprocess.send("ready");\nsetInterval(() => {}, 1000);\n'
    laid = {**_HOOK, "src/sums.cjs": SUMS, "src/parent.cjs": parent, "src/child.cjs": child}
    lines = _lines(run(f"{_NODE} src/parent.cjs", laid))
    assert lines["src/sums.cjs"] == {1, 6, 7, 8}
    assert 2 in lines["src/child.cjs"]


async def test_of_a_repository_the_lines_of_its_production_code_are_told() -> None:
    repo = Catalog().repo(REPO)
    image = await repo_image(repo)
    custom = TestId("src/v4/classic/tests/stringbool.test.ts", "custom values")
    values = TestId("src/v4/classic/tests/bigint.test.ts", "min max")
    lines = await reached(repo, image, {"with": [custom], "without": [values], "nobody": []})
    path = "src/v4/core/api.ts"
    spans = spans_of("typescript", await GitTree(image.tree).read(path))
    first, last = spans["_stringbool"]
    body = set(range(first + 1, last))
    assert body & lines["with"][path]
    assert not body & lines["without"].get(path, set())
    assert not [name for side in lines.values() for name in side if "/tests/" in name]
    assert lines["nobody"] == {}


async def test_chosen_tests_that_are_red_are_refused() -> None:
    repo = Catalog().repo(REPO)
    absent = TestId("src/v4/classic/tests/stringbool.test.ts", "no such test")
    with pytest.raises(UserError, match=r"the chosen tests are not green in zod's image: .*no such test"):
        await reached(repo, await repo_image(repo), {"with": [absent]})
