"""zod's image: its run script, the ids of upstream's suite, and what variants are made of."""

import asyncio
import json
from collections.abc import Mapping

import pytest

from harness.judging.languages.toolchain import CompiledVariant, JobContext
from harness.judging.languages.typescript.discovery import discover, is_test_file
from harness.judging.languages.typescript.language import COMPILED, LANGUAGE, TypeScriptToolchain
from harness.judging.languages.variant_source import VariantSource
from harness.judging.submission.manifest import format_manifest, parse_manifest
from harness.judging.testing.readers import Report, claimed
from harness.judging.testing.vitest import read_vitest
from harness.sandbox.protocol import Image, JobResult
from harness.specs.test_results import Outcome, Quality, TestId
from harness.specs.variants import VariantKind
from harness.tracks.registry import choose_engine
from tests.docker.conftest import Run

pytestmark = [pytest.mark.docker, pytest.mark.long]
REPO = "zod"

TESTS = "src/v4/classic/tests"
LABELS = {"testwright.run": "test-zod-repository"}
HEAD = 'import { afterEach, beforeAll, describe, expect, it, test } from "vitest";\nimport * as z from "zod/v4";\n'
TWO = f"""{HEAD}
test("good", () => {{ expect(z.string().parse("a")).toBe("a"); }});
test("bad", () => {{ expect(1).toBe(2); }});
"""
# Every name that upstream's suite registers, by vitest itself; no test is run.
COLLECT = """
import { writeFileSync } from "node:fs";
import { createVitest } from "vitest/node";
const conditions = ["@zod/source", "module", "node", "development"];
const options = { root: "/app", config: false, watch: false, include: ["**/*.test.ts"], pool: "forks",
  isolate: false, fileParallelism: false, includeTaskLocation: true };
const vitest = await createVitest("test", options,
  { configFile: false, cacheDir: "/tmp/vite", resolve: { conditions }, ssr: { resolve: { conditions } } });
const titles = (task) => task.suite ? [...titles(task.suite), task.suite.name] : [];
const below = (suite) => suite.tasks.flatMap((task) => (task.type === "suite" ? below(task) : [task]));
await vitest.collect();
const testResults = vitest.state.getFiles().map((file) => ({ name: file.filepath, status: "passed",
  assertionResults: below(file).map((task) => ({ ancestorTitles: titles(task), title: task.name, status: "passed",
    failureMessages: [], location: task.location })) }));
writeFileSync(`${process.env.TESTWRIGHT_REPORT_DIR}/1.json`, JSON.stringify({ testResults }));
process.exit(0);
"""


def report(result: JobResult, file: str, number: int = 1) -> Report:
    return read_vitest(result.outputs[f"{number}.json"], file)


def outcomes(read: Report) -> dict[str, Outcome]:
    return {case.test.name: case.outcome for case in read.cases}


def test_every_name_that_upstreams_suite_registers_belongs_to_a_test_that_discovery_finds(
    run: Run, tree: Mapping[str, bytes]
):
    files = sorted(path for path in tree if is_test_file(path))
    assert len(files) == 196
    result = run(f"cd /node_modules/run_tests && node --input-type=module -e '{COLLECT.replace(chr(39), chr(34))}'")
    missing, unknown = [], []
    for path in files:
        suite = discover(tree[path], path)
        found = [TestId(path, test.name) for test in suite.tests if test.name not in suite.twice]
        cases = claimed(report(result, path), found).cases
        missing += [str(test) for test in found if test not in {case.test for case in cases}]
        twice = tuple(f"{name} (" for name in suite.twice)
        names = [case.test.name for case in cases if not case.test.name.startswith(twice)]
        unknown += [name for name in names if not suite.find(name)]
    assert not unknown
    assert {test.partition("::")[0] for test in missing} == {f"{TESTS}/redos.test.ts"}  # needs what isn't there


def test_one_report_is_written_for_each_file_in_the_order_given(run: Run):
    files = {f"{TESTS}/z.test.ts": TWO, f"{TESTS}/a.test.ts": TWO}
    result = run(f"run_tests '{TESTS}/z.test.ts::good' {TESTS}/a.test.ts './{TESTS}/z.test.ts::bad'", files)
    assert sorted(result.outputs) == ["1.json", "2.json"]
    assert outcomes(report(result, f"{TESTS}/z.test.ts", 1)) == {"good": Outcome.PASSED, "bad": Outcome.FAILED}
    assert outcomes(report(result, f"{TESTS}/a.test.ts", 2)) == {"good": Outcome.PASSED, "bad": Outcome.FAILED}
    assert result.exit_status == 1


def test_one_test_alone_is_run_by_its_id_and_by_its_template(run: Run):
    file = f"{TESTS}/a.test.ts"
    text = HEAD + (
        'describe("a (b)", () => { it("c", () => {}); it("c d", () => { throw 1; }); });\n'
        'test.each([1, 2])("of %i", () => {});\nfor (const x of "ab") test(`is ${x}`, () => {});\n'
    )
    chosen = f"'{file}::a (b) > c' '{file}::of %i' '{file}::is ${{x}}'"
    result = run(f"run_tests {chosen}", {file: text})
    passed = {name for name, outcome in outcomes(report(result, file)).items() if outcome is Outcome.PASSED}
    assert passed == {"a (b) > c", "of 1", "of 2", "is a", "is b"}
    assert result.exit_status == 0


def test_a_title_with_slashes_brackets_and_colons_is_found_listed_run_and_read(run: Run):
    file = f"{TESTS}/a.test.ts"
    text = HEAD + (
        'describe("a/b [c]", () => { it("d::e/f[0]", () => {}); it("d::e", () => { throw 1; }); });\n'
        'test.each([1, 2])("case %i/[x]", () => {});\ntest("case", () => { throw 1; });\n'
    )
    listed = [TestId(file, "a/b [c] > d::e/f[0]"), TestId(file, "case %i/[x]")]
    found = {test.name for test in discover(text.encode(), file).tests}
    assert parse_manifest(format_manifest(listed).encode(), LANGUAGE.ids).tests == tuple(listed)
    assert {test.name for test in listed} < found
    result = run("run_tests " + " ".join(f"'{test}'" for test in listed), {file: text})
    read = claimed(report(result, file), listed)
    cases = [(case.test, case.outcome) for case in read.cases if case.outcome is not Outcome.SKIPPED]
    assert sorted(cases) == [(listed[0], Outcome.PASSED), (listed[1], Outcome.PASSED), (listed[1], Outcome.PASSED)]
    assert result.exit_status == 0


@pytest.mark.parametrize(
    ("arguments", "words"), [("src/absent.test.ts", "no test file"), (f"'{TESTS}/array.test.ts::absent'", "no test")]
)
def test_what_is_not_there_is_said_with_a_status_of_its_own(run: Run, arguments: str, words: str):
    result = run(f"run_tests {arguments}")
    assert result.exit_status == 4
    assert words in result.log.decode()


def test_no_configuration_of_the_tree_has_a_say_and_nothing_is_written(run: Run):
    file = f"{TESTS}/a.test.ts"
    files = {
        file: HEAD + 'test("new", () => { expect(1).toMatchInlineSnapshot(); });\ntest("good", () => {});\n',
        "vitest.config.ts": "export default { test: { include: [], passWithNoTests: true } };",
        "vite.config.ts": "throw new Error();",
        "tsconfig.json": "{",
        f"{TESTS}/.env": "NODE_ENV=production",
    }
    result = run(f"sha256sum {file}; run_tests {file}; status=$?; sha256sum {file}; exit $status", files)
    assert outcomes(report(result, file)) == {"new": Outcome.FAILED, "good": Outcome.PASSED}
    first, *_, last = result.log.decode().splitlines()
    assert first == last


def test_what_hooks_do_is_told_from_what_tests_do(run: Run):
    file = f"{TESTS}/a.test.ts"
    text = HEAD + (
        'describe("before", () => { beforeAll(() => { throw new Error("x"); }); it("a", () => {}); });\n'
        'describe("after", () => { afterEach(() => { expect(1).toBe(2); }); it("b", () => {}); });\n'
    )
    read = report(run(f"run_tests {file}", {file: text}), file)
    assert [case.quality for case in read.cases] == [Quality.SETUP, Quality.TEARDOWN]


def test_a_test_that_takes_too_long_is_ended(run: Run):
    file = f"{TESTS}/a.test.ts"
    text = HEAD + 'test("endless", async () => { await new Promise(() => {}); });\ntest("good", () => {});\n'
    result = run(f"run_tests {file}", {file: text}, TESTWRIGHT_TEST_SECONDS="1")
    assert [case.quality for case in report(result, file).cases] == [Quality.TIMEOUT, None]


def test_a_process_of_tests_that_dies_leaves_no_report_and_a_status_of_its_own(run: Run):
    file = f"{TESTS}/a.test.ts"
    result = run(f"run_tests {file}", {file: HEAD + 'test("a", () => { process.kill(process.pid, "SIGKILL"); });\n'})
    assert (result.exit_status, dict(result.outputs)) == (134, {})


def test_the_agent_sees_what_failed_and_a_rejection_that_nobody_handled(run: Run):
    file = f"{TESTS}/a.test.ts"
    text = HEAD + 'test("late", () => { void Promise.reject(new Error("nobody")); });\n'
    result = run(f"unset TESTWRIGHT_REPORT_DIR; run_tests {file}", {file: text})
    assert result.exit_status == 1
    assert "nobody" in result.log.decode()


async def _compiled(image: Image, sources: list[VariantSource]) -> list[CompiledVariant]:
    engine = choose_engine("docker")
    try:
        return await TypeScriptToolchain().compile(JobContext(engine, image, LABELS), sources)
    finally:
        await engine.close()


def test_what_runs_is_the_variants_code_whatever_lies_on_disk(run: Run, image: Image, tree: Mapping[str, bytes]):
    path = "src/v4/core/api.ts"
    pristine, changed = tree[path], tree[path].replace(b'"yes", "on"', b'"ja", "on"')
    hidden = VariantSource("hidden", VariantKind.PROBE, {path: pristine}, {path: changed})
    (made,) = asyncio.run(_compiled(image, [hidden]))
    assert list(made.variant.code) == [f"{COMPILED}/{path}"]
    file = f"{TESTS}/a.test.ts"
    text = HEAD + 'test("ja", () => { expect(z.stringbool().parse("ja")).toBe(true); });\n'
    files = {file: text, **made.variant.source, **made.variant.code}
    result = run(f"{' '.join(made.prove)} && run_tests {file}", files, **made.env)
    assert result.log.decode().splitlines()[: len(made.proof)] == list(made.proof)
    assert outcomes(report(result, file)) == {"ja": Outcome.PASSED}


def test_code_that_is_rewritten_by_a_seed_passes_upstreams_tests(run: Run, image: Image, tree: Mapping[str, bytes]):
    paths = ["src/v4/core/api.ts", "src/v4/core/util.ts", "src/v4/core/parse.ts", "src/v4/classic/schemas.ts"]
    pristine = {path: tree[path] for path in paths}
    wrong = {path: data.replace(b"return ", b"throw ").replace(b" === ", b" !== ") for path, data in pristine.items()}
    texts = {path: (pristine[path], wrong[path]) for path in paths}
    whole = VariantSource("whole", VariantKind.REWRITTEN, pristine, pristine, family=texts, inert=texts, seed=1)
    (made,) = asyncio.run(_compiled(image, [whole]))
    files = [f"{TESTS}/{name}.test.ts" for name in ("codec", "union")]
    result = run(f"run_tests {' '.join(files)}", made.variant.code, **made.env)
    assert result.exit_status == 0, result.log.decode()[-2000:]
    assert all(json.loads(data)["success"] for data in result.outputs.values())


def test_sources_come_transformed_and_a_changed_one_is_what_runs(run: Run):
    file, text = f"{TESTS}/a.test.ts", f'{HEAD}test("a", () => {{ expect(z.string().parse("a")).toBe("a"); }});\n'
    command = f"DEBUG=vite:transform run_tests {file}"
    done = run(command, {file: text})
    assert done.exit_status == 0
    assert "/a.test.ts" in done.log.decode()
    assert "v4/core/parse.ts" not in done.log.decode()
    changed = run(f"echo 'throw new Error(\"changed\");' >> src/v4/core/parse.ts; {command}", {file: text})
    assert changed.exit_status == 1
    assert "v4/core/parse.ts" in changed.log.decode()
    beside = run(f"touch src/v4/core/other.ts; {command}", {file: text})
    assert beside.exit_status == 0
    assert "v4/core/parse.ts" in beside.log.decode()  # a name may stand for another file now


def test_no_test_finds_what_the_sources_were(run: Run):
    file, place = f"{TESTS}/a.test.ts", "/var/cache/run_tests"
    look = f'test("a", () => {{ expect(readdirSync("{place}")).toEqual([]); }});\n'
    done = run(
        f"ls {place}; ls {place}/transformed | wc -l; run_tests {file}",
        {file: f'{HEAD}import {{ readdirSync }} from "node:fs";\n{look}'},
    )
    assert done.exit_status == 0, done.log.decode()
    assert done.log.decode().split()[:2] == ["transformed", "134"]


def test_below_the_root_tests_run_all_the_same(run: Run):
    text = f'{HEAD}test("a", () => {{ expect(z.string().parse("a")).toBe("a"); }});\n'
    done = run("cd src/v4/classic; run_tests tests/a.test.ts", {f"{TESTS}/a.test.ts": text})
    assert done.exit_status == 0, done.log.decode()
