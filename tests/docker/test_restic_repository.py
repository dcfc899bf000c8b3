"""restic's image: its run script, upstream's suite, and what variants are built of."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from harness.judging.languages.go.discovery import discover, is_test_file
from harness.judging.languages.go.toolchain import BINARIES, GoToolchain
from harness.judging.languages.toolchain import Built, JobContext, SuiteFiles
from harness.judging.languages.variant_source import VariantSource
from harness.judging.testing.go_test import read_go_test
from harness.sandbox.protocol import Image, JobResult
from harness.specs.test_results import Outcome, TestId
from harness.specs.variants import VariantKind
from harness.tracks.registry import choose_engine
from tests.docker.conftest import Run

pytestmark = [pytest.mark.docker, pytest.mark.long]
REPO = "restic"

QUICK = ("internal/errors", "internal/filter", "internal/options", "internal/textfile", "internal/ui/table")
OPTIONS = "internal/options/options.go"
X = "internal/x/x_test.go"
Z = "internal/z/z_test.go"
PASSES = b'package z\nimport "testing"\nfunc TestZ(t *testing.T) {}\n'
FAILS = b'package x\nimport "testing"\nfunc TestX(t *testing.T) { t.Fatal() }\nfunc TestY(t *testing.T) {}\n'
# What `go test` takes for a test, by Go's own parser (cmd/go/internal/load).
LIST = b"""package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

func isTest(name, prefix string) bool {
	rest, found := strings.TrimPrefix(name, prefix), strings.HasPrefix(name, prefix)
	first, _ := utf8.DecodeRuneInString(rest)
	return found && (rest == "" || !unicode.IsLower(first))
}

func takes(f *ast.FuncDecl, kind string) bool {
	parameters := f.Type.Params.List
	if f.Recv != nil || f.Type.Results != nil || len(parameters) != 1 || len(parameters[0].Names) > 1 {
		return false
	}
	pointer, ok := parameters[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	selector, ok := pointer.X.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == kind
}

func main() {
	paths, _ := os.ReadFile(os.Args[1])
	for _, path := range strings.Fields(string(paths)) {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				name := f.Name.String()
				if isTest(name, "Test") && takes(f, "T") || isTest(name, "Fuzz") && takes(f, "F") {
					fmt.Println(path + "::" + name)
				}
			}
		}
		for _, example := range doc.Examples(file) {
			if example.Output != "" || example.EmptyOutput {
				fmt.Println(path + "::Example" + example.Name)
			}
		}
	}
}
"""


def found(tree: Mapping[str, bytes], files: list[str]) -> list[str]:
    return [f"{path}::{test.name}" for path in files for test in discover(tree[path], path).tests]


def test_discovery_finds_what_go_itself_takes_for_tests_in_every_upstream_file(run: Run, tree: Mapping[str, bytes]):
    files = sorted(path for path in tree if is_test_file(path))
    assert len(files) > 130
    placed = {"internal/list/main.go": LIST, "files.txt": "\n".join(files).encode()}
    result = run("go run internal/list/main.go files.txt", placed)
    assert sorted(result.log.decode().split()) == sorted(found(tree, files))


def test_ids_of_real_packages_are_the_same_found_listed_and_reported(run: Run, tree: Mapping[str, bytes]):
    files = [path for path in sorted(tree) if is_test_file(path) and path.startswith(tuple(f"{p}/" for p in QUICK))]
    files = [path for path in files if found(tree, [path])]
    assert len(files) >= len(QUICK)
    ids = found(tree, files)
    result = run("run_tests " + " ".join(ids))
    reports = [read_go_test(result.outputs[f"{number}.jsonl"], path) for number, path in enumerate(files, start=1)]
    reported = {str(case.test) for report in reports for case in report.cases}
    assert reported == set(ids)
    assert {case.outcome for report in reports for case in report.cases} == {Outcome.PASSED}
    assert result.exit_status == 0


def test_one_report_is_written_for_each_file_in_the_order_given(run: Run):
    result = run(f"run_tests {Z} {X}::TestX ./{Z}::TestZ", {X: FAILS, Z: PASSES})
    assert sorted(result.outputs) == ["1.jsonl", "2.jsonl"]
    (passed,) = read_go_test(result.outputs["1.jsonl"], Z).cases
    (failed,) = read_go_test(result.outputs["2.jsonl"], X).cases
    assert (passed.test.name, passed.outcome) == ("TestZ", Outcome.PASSED)
    assert (failed.test.name, failed.outcome) == ("TestX", Outcome.FAILED)


def test_the_exit_status_tells_failures_from_what_could_not_run(run: Run):
    expected = {
        Z: 0,
        f"{Z} {X}": 1,
        f"{X}::TestY/sub": 0,
        f"{X} internal/broken/b_test.go": 1,
        f"internal/broken/b_test.go {X}": 2,
        f"{Z}::TestAbsent": 4,
        "internal/absent_test.go": 4,
        "-x_test.go": 4,
        "::TestX": 4,
    }
    files = {X: FAILS, Z: PASSES, "internal/broken/b_test.go": b"package b\nfunc TestB() { none() }\n"}
    script = "; ".join(f"run_tests {arguments}; echo ended $?" for arguments in expected)
    lines = run(script, files).log.decode().splitlines()
    assert [int(line.split()[1]) for line in lines if line.startswith("ended ")] == list(expected.values())


def test_a_test_that_does_not_end_is_stopped(run: Run):
    endless = b'package x\nimport "testing"\nfunc TestX(t *testing.T) { select {} }\n'
    result = run(f"run_tests {X}", {X: endless}, TESTWRIGHT_TEST_SECONDS="1")
    assert result.exit_status == 2
    assert "test timed out after 1s" in result.outputs["1.jsonl"].decode()


@dataclass(frozen=True)
class Builder:
    """Compiles variants of the option parser and builds suites with them."""

    image: Image

    def make(self, source: VariantSource, tests: Mapping[str, bytes]) -> Built:
        async def make() -> Built:
            engine = choose_engine("docker")
            site = JobContext(engine, self.image, {"testwright.run": "test-restic-repository"})
            try:
                (compiled,) = await GoToolchain().compile(site, [source])
                ids = [TestId(path, test.name) for path in tests for test in discover(tests[path], path).tests]
                (built,) = await GoToolchain().build(site, [compiled], SuiteFiles(ids, tests))
                return built
            finally:
                await engine.close()

        return asyncio.run(make())


@pytest.fixture(scope="module")
def builder(image: Image) -> Builder:
    return Builder(image)


SUITE = b"""package options

import "testing"

func TestParse(t *testing.T) {
	if opts, err := Parse([]string{" A = b "}); err != nil || opts["a"] != "b" {
		t.Fatal(opts, err)
	}
}
"""
SUITE_FILE = "internal/options/parse_test.go"


def test_hidden_code_runs_while_the_text_on_disk_is_pristine(run: Run, tree: Mapping[str, bytes], builder: Builder):
    pristine = tree[OPTIONS]
    changed = pristine.replace(b"strings.ToLower(strings.TrimSpace(data[0]))", b"data[0]")
    assert changed != pristine
    family, inert = {OPTIONS: (pristine, changed)}, {OPTIONS: (pristine, pristine)}
    hidden = VariantSource(
        *("x", VariantKind.PROBE, {OPTIONS: pristine}, {OPTIONS: changed}), family=family, inert=inert, seed=1
    )
    built = builder.make(hidden, {SUITE_FILE: SUITE})
    assert not built.broken
    ((path, binary),) = built.compiled.variant.code.items()
    result = run_with(run, path, binary)
    assert result.exit_status == 1
    assert read_go_test(result.outputs["1.jsonl"], SUITE_FILE).cases[0].outcome is Outcome.FAILED


def run_with(run: Run, path: str, binary: bytes) -> JobResult:
    """An arm, as far as it matters here."""
    place = path.replace(BINARIES, "/tmp/made")
    command = f"mkdir -p {place.rpartition('/')[0]}; mv made.gz {place}; run_tests {SUITE_FILE}"
    return run(command, {SUITE_FILE: SUITE, "made.gz": binary}, TESTWRIGHT_TEST_BINARIES="/tmp/made")


def test_pristine_code_passes_however_it_is_rewritten(run: Run, tree: Mapping[str, bytes], builder: Builder):
    pristine = tree[OPTIONS]
    removed = pristine.replace(b"opts[key] = value", b'opts["x"] = "y"')
    placebo = VariantSource(
        *("x", VariantKind.REWRITTEN, {OPTIONS: pristine}, {OPTIONS: pristine}),
        family={OPTIONS: (pristine, removed)},
        inert={OPTIONS: (pristine, removed)},
        seed=2,
    )
    built = builder.make(placebo, {SUITE_FILE: SUITE})
    ((path, binary),) = built.compiled.variant.code.items()
    assert run_with(run, path, binary).exit_status == 0


def test_a_suite_that_does_not_compile_or_embeds_the_code_is_broken(tree: Mapping[str, bytes], builder: Builder):
    pristine = VariantSource("x", VariantKind.BASELINE, {OPTIONS: tree[OPTIONS]}, {OPTIONS: tree[OPTIONS]})
    wrong = SUITE.replace(b"Parse(", b"Parsed(")
    assert builder.make(pristine, {SUITE_FILE: wrong}).broken == {SUITE_FILE: "its package's tests do not compile"}
    embeds = SUITE.replace(
        b'import "testing"', b'import (\n_ "embed"\n"testing"\n)\n//go:embed options.go\nvar s string'
    )
    words = "its package's tests embed the code that they test"
    assert builder.make(pristine, {SUITE_FILE: embeds}).broken == {SUITE_FILE: words}
