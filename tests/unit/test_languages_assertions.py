"""How often a test asserts by its text, and the one verdict that hangs on it."""

import re
import time
from pathlib import Path

import pytest

from harness.judging.languages.found import TestFile, TestFunction
from harness.judging.languages.protocol import Discovery, Relatives, TreeFiles
from harness.judging.languages.registry import LANGUAGES
from harness.judging.submission.manifest import parse_manifest
from harness.judging.verify.intake import FileChange
from harness.judging.verify.manifest_check import ManifestCheck
from harness.judging.verify.suite_checks import check_suite
from harness.plugins.published.task import read_published
from harness.runs.submissions import Case
from harness.specs.reasons import Reason, ReasonCode, Stage
from harness.specs.tracks import TaskOptions
from tests.support.corpora import submissions
from tests.support.small_task import small_task

TESTS = Path(__file__).parents[1]
TASKS = TESTS / "fixtures" / "swe_atlas"
SUBMISSIONS = sorted((TESTS / "fixtures" / "swe_atlas_submissions").glob("*/*/"))
HONEST = submissions("honest")
NOTHING = [case for case in submissions("adversarial") if "asserts-nothing" in case.name]
GO = 'package x\nimport ("testing"; "example.com/x/assert"; "example.com/x/rtest")\n'


def found(language: str, text: str | bytes) -> TestFile:
    names = {"python": "test_x.py", "go": "x_test.go", "c": "test_x.c"}
    source = text.encode() if isinstance(text, str) else text
    return LANGUAGES.get(language).discovery.discover(source, names.get(language, "x.test.ts"))


def counted(language: str, text: str | bytes) -> int:
    """Of the first test."""
    return found(language, text).tests[0].assertions


@pytest.mark.parametrize(
    ("body", "assertions"),
    [
        ("assert x; assert (y)", 2),
        ("self.assertEqual(1, x); self.fail(); self._assert_sound(x)", 3),
        ("with pytest.raises(E): x()", 1),
        ("with raises(E), warns(W): x()", 2),
        ("pytest.fail('no'); pytest.deprecated_call()", 2),
        ("if x: raise AssertionError('no')", 1),
        ("if x: raise AssertionError", 1),
        ("raise ValueError", 0),
        ("mock.assert_called_once_with(1); np.testing.assert_allclose(x, y)", 2),
        ("check_sums(x); Verify(x); ensureSame(x); should_fail(x); must(x); expect(x).to(y)", 6),
        ("checkout(x); expected(x); checker(x); mustache(x); verified(x); AssertionError(x)", 0),
        ("asyncio.ensure_future(x)", 0),
        ("run_case(x); print(x); job.fail()", 0),
        ("'assert x'  # assert y", 0),
        ("f(lambda: [check(x) for x in y])", 1),
        ("def inner():\n        assert x\n    inner()", 1),
        ("def check(x): pass\n    check(1)", 0),
    ],
)
def test_python_asserts_by_statement_or_by_name(body, assertions):
    assert counted("python", f"def test_a(self):\n    {body}\n") == assertions


@pytest.mark.parametrize(
    ("text", "assertions"),
    [
        ("def test_a():\n    same(1)\n    same(2)\ndef same(x):\n    assert x\n    assert y\n", 2),
        ("def test_a(): one()\ndef one(): two()\ndef two():\n    assert x\n    one()\n", 1),
        ("def test_a():\n    assert x\n    test_a()\n", 1),
        ("def check(x): print(x)\ndef test_a(): check(1)\n", 0),
        ("def other(): assert x\ndef test_a(): x()\n", 0),
        ("@pytest.fixture\ndef sound(): assert x\ndef test_a(sound): sound()\n", 1),
        ("@pytest.fixture(autouse=True)\ndef sound():\n    yield\n    assert x\ndef test_a(): x()\n", 1),
        ("@pytest.fixture\ndef sound(): assert x\n@pytest.mark.usefixtures('sound')\ndef test_a(): x()\n", 1),
        ("@pytest.mark.parametrize('e', [pytest.raises(E)])\ndef test_a(e):\n    with e: x()\n", 1),
        ("def setup_function(): assert x\ndef test_a(): x()\n", 1),
        ("class TestA:\n    def test_a(self): self.same(1)\n    def same(self, x): assert x\n", 1),
        ("class TestA:\n    def test_a(self): self.x()\n    def tearDown(self): assert x\n", 1),
        ("class TestA:\n    @pytest.fixture\n    def on(self): assert x\n    def test_a(self, on): on()\n", 1),
        ("class B:\n    def same(self): assert x\nclass TestA(B):\n    def test_a(self): self.same()\n", 1),
        ("class B:\n    def same(self): assert x\nclass TestA:\n    def test_a(self): B().same()\n", 1),
    ],
)
def test_python_functions_that_a_test_reaches_count_once(text, assertions):
    assert counted("python", text) == assertions


@pytest.mark.parametrize(
    ("body", "assertions"),
    [
        ('t.Error(1); t.Errorf("x"); t.Fatal(1); t.Fatalf("x"); t.Fail(); t.FailNow()', 6),
        ("t.Log(1); t.Skip(); log.Fatal(1); err.Error(); fmt.Errorf(1)", 0),
        ('t.Run("x", func(tt *testing.T) { tt.Fatal(1) })', 1),
        ("assert.Equal(t, 1, x); assert.True(t, x)", 2),
        ("rtest.Equals(t, 1, x); rtest.OK(t, err)", 2),
        ("rtest.Assert(x); checkSums(x); Expect(x).To(1)", 3),
        ("regexp.MustCompile(x); parse(x)", 0),
        ("for _, t := range tests { parse(t) }", 0),
        ('if x { panic("no") }', 1),
        ("s.t.Fatal(1); s.T().Error(1); s.Require().Equal(1, x)", 3),
        ("check := func(x int) { t.Fatal(x) }; check(1); check(2)", 1),
        ("suite.Run(t, new(Suite))", 1),
        ("// t.Fatal(1)\n_ = `t.Fatal(1)`", 0),
    ],
)
def test_go_asserts_through_the_testing_package_or_by_name(body, assertions):
    assert counted("go", f"{GO}func TestX(t *testing.T) {{ {body} }}\n") == assertions


@pytest.mark.parametrize(
    ("text", "assertions"),
    [
        ("func TestX(t *testing.T) { same(t, 1); same(t, 2) }\nfunc same(tb testing.TB, x int) { tb.Fatal(x) }", 1),
        (
            "func TestX(t *testing.T) { one(t) }\nfunc one(t *testing.T) { two(t) }\n"
            "func two(t *testing.T) { one(t) }",
            0,
        ),
        ("func TestX(t *testing.T) { check(t) }\nfunc check(t *testing.T) {}", 0),
        ("func TestX(t *testing.T) { e := env{t}; e.same() }\nfunc (e env) same() { e.t.Fatal(1) }", 1),
        ("func FuzzX(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { t.Error(s) }) }", 1),
        ("func ExampleX() {\n\tx()\n\t// Output: x\n}", 1),
        ("type env struct { tb testing.TB }\nfunc TestX(t *testing.T) { e.tb.Fatal(1) }", 1),
        ("func TestX(t *testing.T) { fprint(t, 1) }\nfunc fprint(t *testing.T, x int) { fmt.Print(x) }", 0),
        ("func TestX(t *testing.T) { fprint(t, 1) }\nvar fprint = func(t *testing.T, x int) { fmt.Print(x) }", 0),
        ("func TestX(t *testing.T) { same(t, 1) }\nvar same = func(t *testing.T, x int) { t.Fatal(x) }", 1),
        ('import "fmt"\nfunc TestX(t *testing.T) { fmt.Println(t) }', 0),
    ],
)
def test_go_functions_that_a_test_reaches_count_once(text, assertions):
    assert counted("go", GO + text) == assertions


@pytest.mark.parametrize(
    ("text", "assertions"),
    [
        ("expect(a).toBe(1); expect.soft(b).not.toBe(2); assert(c); assert.equal(d, 1);", 4),
        ("expectTypeOf(e).toBeAny(); assertType<A>(e);", 2),
        ("expect(parse(a)); console.assert(a); z.string().check(b); schema.verify();", 0),
        ("await expect(a).rejects.toThrow(); expect(a).toEqual(expect.any(String));", 2),
        ("if (x) throw new Error('no');", 1),
        ("t.is(1, 2); t.deepEqual(a, b); t.log(a); a.should.equal(b); sinon.assert.calledOnce(a);", 4),
        ("assert.strict.equal(a, b); request(a).expect(200); expectSame(a); fail('no');", 4),
        ("const same = (x) => { expect(x).toBe(1) }; same(1); same(2);", 1),
        ("[1].forEach((n) => { expect(n).toBe(1); });", 1),
        ("// expect(a).toBe(1)\n'expect(a).toBe(1)';", 0),
    ],
)
def test_typescript_asserts_by_known_calls(text, assertions):
    assert counted("typescript", f"test('x', async (t) => {{ {text} }});") == assertions


@pytest.mark.parametrize(
    ("text", "assertions"),
    [
        ("test('x', () => { same(1); same(2); }); function same(x) { expect(x).toBe(1); }", 1),
        ("test('x', same); const same = () => { expect(1).toBe(1); };", 1),
        ("test('x', () => { a(); }); const a = () => b(); const b = () => a();", 0),
        ("test('x', () => { expectSame(1); }); function expectSame(x) { print(x); }", 0),
        ("test('x', () => { help.same(1); }); const help = { same(x) { expect(x).toBe(1); } };", 1),
        ("describe('d', () => { test('x', () => {}); afterEach(() => { expect(1).toBe(1); }); });", 1),
        ("test('x', () => {}); describe('d', () => { afterEach(() => { expect(1).toBe(1); }); });", 0),
        ("test.each([1])('x', (n) => { expect(n).toBe(1); });", 1),
    ],
)
def test_typescript_functions_that_a_test_reaches_count_once(text, assertions):
    assert counted("typescript", text) == assertions


@pytest.mark.parametrize(
    ("text", "assertions"),
    [
        ('void run_tests() { if (x) fail("no"); abort(); check_errors(1, 2); assert(x); }', 4),
        ("int main() { if (x) return 1; exit(0); exit(EXIT_SUCCESS); exit(EXIT_FAILURE); return 0; }", 2),
        ("int main() { return failures ? 1 : 0; }", 1),
        ("int main() { return run(); }\nint run() { return 1; }", 1),
        ("int main() { ck_assert_int_eq(x, 1); TEST_ASSERT_EQUAL(x, y); EXPECT_EQ(x, y); g_assert_true(x); }", 4),
        ("#define SAME(a, b) do { if (a != b) exit(1); } while (0)\nint main() { SAME(1, 2); SAME(2, 3); }", 1),
        ("#define check(x) print(x)\nint main() { check(1); }", 0),
        ("static void check(int x) {}\nvoid run_tests() { check(1); }", 0),
        ("#define STOP abort()\nint main() { STOP; }", 1),
        ('int main() { checkout(x); CHECKSUM(x); print("fail(x)"); /* fail(x) */ return 0; }', 0),
    ],
)
def test_c_asserts_by_ending_with_another_status_or_by_name(text, assertions):
    assert counted("c", text) == assertions


@pytest.mark.parametrize(
    ("language", "text", "helper"),
    [
        ("python", "class A:\n    def same(self, x):\n        assert x\n", ("A.same", 2, 3, 1)),
        ("go", "package x\nfunc same(t *testing.T) {\n\tt.Fatal(1)\n}\n", ("same", 2, 4, 1)),
        ("typescript", "\nconst same = (x) =>\n  expect(x).toBe(1);\n", ("same", 2, 3, 1)),
        ("c", "\nvoid same(int x) { if (x)\n exit(2); }\n", ("same", 2, 3, 1)),
    ],
)
def test_helper_functions_are_found_with_their_lines(language, text, helper):
    (one,) = found(language, text).helpers
    assert (one.name, one.first_line, one.last_line, one.assertions) == helper


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", b"def test_a():\n x" + b".check()" * 5_000 + b"\n assert x\n"),
        ("go", GO.encode() + b"func TestA(t *testing.T) { x" + b".Check(t)" * 5_000 + b"; t.Fatal(1) }"),
        ("c", b"int main() { x" + b"->check()" * 5_000 + b"; abort(); }"),
        ("typescript", b"test('a', () => { x" + b".expect()" * 5_000 + b"; expect(1).toBe(1); });"),
        ("typescript", b"function f() { f(); throw 1; }\n" * 1_000 + b"test('a', f);\n" * 1_000),
        (
            "python",
            b"def test_0(): assert x\n"
            + b"".join(b"def test_%d(): test_%d()\n" % (n, n - 1) for n in range(1, 3_000)),
        ),
    ],
)
def test_what_is_nested_or_linked_beyond_measure_is_counted_in_little_time(language, text):
    began = time.process_time()
    assert counted(language, text)
    assert time.process_time() - began < 5


def after(patch: bytes) -> dict[str, tuple[bytes | None, bytes]]:
    """What a patch makes of each file: whole where it adds it, else its hunks. None stands for no old file."""
    files: dict[str, tuple[bytes | None, bytes]] = {}
    for block in re.split(rb"(?m)^diff --git ", patch)[1:]:
        path = re.search(rb"(?m)^\+\+\+ b/(.*)$", block)
        if path:
            lines = block[path.end() + 1 :].split(b"\n")
            text = b"".join(line[1:] + b"\n" for line in lines if line[:1] in (b"+", b" "))
            files[path[1].decode()] = (None if b"\nnew file mode" in block else b"", text)
    return files


def listed(case: Case) -> list[TestFunction | None]:
    """The listed tests; None for one of a file that the patch only changes, where its hunks don't show it."""
    assert case.submission
    language = LANGUAGES.get(case.task.repo.language)
    discovery: Discovery | Relatives = language.discovery
    changes = after(case.submission.patch)
    if language.relatives:
        texts = {path: new for path, (_, new) in changes.items()}
        discovery = language.relatives(TreeFiles(texts.keys(), texts))
    files = {path: (old, discovery.discover(new, path)) for path, (old, new) in changes.items()}
    tests = [(files[test.file], test.name) for test in parse_manifest(case.submission.manifest, language.ids).tests]
    assert all(file.find(name) for (old, file), name in tests if old is None)
    return [file.find(name) for (_, file), name in tests]


@pytest.mark.parametrize("case", HONEST, ids=lambda case: case.name)
def test_every_test_of_honest_work_asserts(case):
    assert not [test.name for test in listed(case) if test and not test.assertions]


def test_the_honest_corpus_is_read_in_every_language():
    tests = dict.fromkeys(LANGUAGES.names, 0)
    for case in HONEST:
        tests[case.task.repo.language] += sum(test is not None for test in listed(case))
    assert min(tests.values()) >= 4
    assert sum(tests.values()) > 500


@pytest.mark.parametrize("case", NOTHING, ids=lambda case: case.name)
def test_attempts_that_assert_nothing_are_seen_by_their_text(case):
    assert [test.assertions for test in listed(case) if test] == [0] * len(listed(case))


def reasons(directory: Path) -> tuple[Reason, ...]:
    task = read_published(TASKS / directory.parent.name, TaskOptions())
    files = after((directory / "patch.diff").read_bytes())
    changes = tuple(FileChange(path, None, new) for path, (_, new) in files.items())
    return check_suite(task, (directory / "manifest.txt").read_bytes(), changes).reasons


@pytest.mark.parametrize(
    "directory", [path for path in SUBMISSIONS if path.name == "asserts-nothing"], ids=lambda path: path.parent.name
)
def test_a_published_task_refuses_a_suite_that_asserts_nothing(directory):
    (reason,) = reasons(directory)
    assert (reason.code, reason.stage) == (ReasonCode.ASSERTS_NOTHING, Stage.MANIFEST)
    assert "none of the listed tests checks anything" in reason.words


@pytest.mark.parametrize(
    "directory", [path for path in SUBMISSIONS if path.name == "honest"], ids=lambda path: path.parent.name
)
def test_a_published_task_takes_a_suite_that_asserts(directory):
    assert reasons(directory) == ()


def suite(tmp_path: Path, *, probe: bool = False, **files: str) -> tuple[ReasonCode, ...]:
    """What becomes of a suite for a task of ours, whose listed tests are those of test_a.py."""
    task = small_task(tmp_path)
    if probe:
        (tmp_path / "probes").mkdir(exist_ok=True)
        (tmp_path / "probes" / "1.1.patch").write_text("")
    changes = tuple(FileChange(f"tests/{name}.py", None, text.encode()) for name, text in files.items())
    tests = [test.name for test in found("python", files["test_a"]).tests]
    manifest = f"- file: tests/test_a.py\n  tests: {tests}\n"
    return tuple(reason.code for reason in check_suite(task, manifest.encode(), changes).reasons)


EMPTY = "def test_a():\n    run(1)\n"


def test_where_no_probe_decides_a_suite_has_to_assert(tmp_path):
    assert suite(tmp_path, test_a=EMPTY) == (ReasonCode.ASSERTS_NOTHING,)


def test_probes_decide_on_evidence_instead(tmp_path):
    assert suite(tmp_path, probe=True, test_a=EMPTY) == ()


def test_one_test_that_asserts_nothing_among_others_is_no_reason(tmp_path):
    assert suite(tmp_path, test_a=EMPTY + "def test_b():\n    assert run(1)\n") == ()


@pytest.mark.parametrize("name", ["cases", "conftest"])
def test_a_function_of_another_file_of_the_patch_counts_where_it_is_named(tmp_path, name):
    assert suite(tmp_path, test_a=EMPTY, **{name: "def run(x):\n    assert x\n"}) == ()


def test_a_function_of_another_file_that_no_test_names_does_not_count(tmp_path):
    assert suite(tmp_path, test_a=EMPTY, cases="def other(x):\n    assert x\n") == (ReasonCode.ASSERTS_NOTHING,)


HOOK = "def pytest_pyfunc_call(pyfuncitem):\n    assert run(1)\n    return True\n"


def test_a_test_that_checks_nothing_does_not_stand_for_a_hook_that_runs_in_its_place(tmp_path):
    assert suite(tmp_path, probe=True, test_a=EMPTY, conftest=HOOK) == (ReasonCode.ASSERTS_NOTHING,)
    assert (
        suite(tmp_path, probe=True, test_a=EMPTY, conftest="def pytest_configure(config):\n    assert config\n") == ()
    )


def test_a_hook_beside_tests_that_check_is_no_reason(tmp_path):
    assert suite(tmp_path, probe=True, test_a="def test_a():\n    assert run(1)\n", conftest=HOOK) == ()


def test_other_faults_of_a_manifest_are_told_instead(tmp_path):
    change = FileChange("tests/test_a.py", None, EMPTY.encode())
    check = check_suite(small_task(tmp_path), b"- file: tests/test_a.py\n  tests: [test_b]\n", (change,))
    assert ReasonCode.ASSERTS_NOTHING not in {reason.code for reason in check.reasons}


def checked(tmp_path: Path, **files: str) -> ManifestCheck:
    """All tests of test_a.py are listed."""
    (tmp_path / "probes").mkdir()
    (tmp_path / "probes" / "1.1.patch").write_text("")
    changes = tuple(FileChange(f"tests/{name}.py", None, text.encode()) for name, text in files.items())
    tests = [test.name for test in found("python", files["test_a"]).tests]
    manifest = f"- file: tests/test_a.py\n  tests: {tests}\n"
    return check_suite(small_task(tmp_path), manifest.encode(), changes)


def unchecked(tmp_path: Path, **files: str) -> list[str]:
    """Names of the listed tests, those of test_a.py, that check nothing."""
    return [test.name for test in checked(tmp_path, **files).unchecked]


BEHIND_A_FIXTURE = """\
import pytest
from sums import total_of


@pytest.fixture(autouse=True)
def total():
    return total_of([1, 2])


def test_a():
    pass


def test_b():
    assert total_of([1]) == 1
"""


def test_a_test_that_checks_nothing_is_named_beside_one_that_does(tmp_path):
    assert unchecked(tmp_path, test_a=BEHIND_A_FIXTURE) == ["test_a"]


def test_a_test_that_is_about_nothing_of_the_repository_is_not_one_of_those_that_check_something(tmp_path):
    of_a_fixture = "def test_c(total):\n    assert total == 3\n"
    of_numbers = "def test_d():\n    assert sum([1, 2]) == 3\n"
    suite = f"{BEHIND_A_FIXTURE}\n\n{of_a_fixture}\n\n{of_numbers}"
    assert [test.name for test in checked(tmp_path, test_a=suite).checking] == ["test_b", "test_c"]


def test_a_check_in_a_helper_or_a_fixture_that_a_test_names_is_a_check(tmp_path):
    helper = "def has_total(numbers, total):\n    assert sum(numbers) == total\n"
    suite = "from tests.helpers import has_total\n\n\ndef test_a():\n    has_total([1], 1)\n"
    assert unchecked(tmp_path, test_a=suite, helpers=helper) == []
