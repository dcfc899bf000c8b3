import pytest

from harness.judging.languages.go import discovery as go

SUITE = b"""\
package restic_test

import (
	"testing"

	rtest "github.com/restic/restic/internal/test"
)

// TestID has words above it.
//
//lint:ignore U1000 for a reason
func TestID(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			rtest.Equals(t, name, parse(name))
		})
	}
}

// apart from the next

func Test_lower(t *testing.T) { t.Fatal("no") }
func Test(t *testing.T)       {}
func Testing(t *testing.T)    {}
func TestMain(m *testing.M)   {}
func TestHelper(t testing.TB) {}
func TestTwo(t *testing.T, n int) {}
func TestResult(t *testing.T) error { return nil }
func TestGeneric[T any](t *testing.T) {}

func (s suite) TestMethod(t *testing.T) {}

type suite struct{}

func FuzzID(f *testing.F) { f.Fuzz(func(t *testing.T, s string) { parse(s) }) }

func BenchmarkID(b *testing.B) {}

func ExampleID() {
	parse("x")
	// Output: x
}

func ExampleSilent() { parse("x") }

func TestTwice(t *testing.T) {}
func TestTwice(t *testing.T) {}

var text = `
func TestInAString(t *testing.T) {}
`
"""
FILE = "internal/restic/id_test.go"


def test_tests_are_what_go_test_runs():
    found = go.discover(SUITE, FILE)
    assert [test.name for test in found.tests] == [
        *("TestID", "Test_lower", "Test", "FuzzID", "ExampleID", "TestTwice", "TestTwice")
    ]
    assert found.twice == {"TestTwice"}


def test_other_functions_and_types_are_no_tests():
    others = go.discover(SUITE, FILE).others
    assert {"Testing", "TestMain", "TestHelper", "TestTwo", "TestResult", "TestGeneric", "TestMethod"} <= others
    assert {"BenchmarkID", "ExampleSilent", "suite"} <= others


def test_a_test_has_its_lines_and_the_comments_right_above_it():
    test = go.discover(SUITE, FILE).find("TestID")
    assert test is not None
    assert (test.first_line, test.last_line) == (9, 18)
    assert test.text.startswith(b"// TestID has words")
    assert test.text.endswith(b"}")
    lower = go.discover(SUITE, FILE).find("Test_lower")
    assert lower is not None
    assert lower.text.startswith(b"func Test_lower")


@pytest.mark.parametrize(
    ("header", "parameter"),
    [(b'import "testing"', b"*testing.T"), (b'import tt "testing"', b"*tt.T"), (b'import . "testing"', b"*T")],
)
def test_the_testing_package_may_have_another_name(header, parameter):
    source = b"package x\n" + header + b"\nfunc TestX(t " + parameter + b") {}\n"
    assert go.discover(source, FILE).find("TestX")


def test_a_test_takes_a_pointer_to_what_is_called_t_by_whatever_name_of_its_package():
    for given in ("t *testing.T", "t *T", "t *check.T"):
        assert go.discover(b"package x\ntype T = testing.T\nfunc TestX(%s) {}\n" % given.encode(), FILE).find("TestX")
    for given in ("t testing.T", "t *testing.B", "t *X", "t **T", ""):
        assert not go.discover(b"package x\nfunc TestX(%s) {}\n" % given.encode(), FILE).tests


@pytest.mark.parametrize(
    ("path", "is_one"),
    [
        ("internal/restic/id_test.go", True),
        ("internal/restic/id.go", False),
        ("internal/restic/_id_test.go", False),
        ("internal/restic/.id_test.go", False),
        ("internal/restic/testdata/id_test.go", False),
        ("internal/_restic/id_test.go", False),
        ("internal/.restic/id_test.go", False),
        ("vendor/x/id_test.go", False),
        ("internal/restic_/id_test.go", True),
        ("id_test.go.txt", False),
    ],
)
def test_files_are_test_files_by_their_names(path, is_one):
    assert go.is_test_file(path) is is_one


def test_names_and_calls_are_as_written():
    assert {"rtest", "rtest.Equals", "Equals", "parse", "testing.T", "testing"} <= go.names(SUITE)
    assert "github.com/restic/restic/internal/test" in go.names(SUITE)
    assert {"rtest.Equals", "parse", "t.Run", "t.Fatal"} <= go.calls(SUITE)


def test_a_test_main_and_an_init_reach_the_whole_package():
    assert go.reaches_folder(FILE, SUITE)
    assert go.reaches_folder(FILE, b"package x\nfunc init() {}\n")
    test = b'package x\nimport "testing"\nfunc TestX(t *testing.T) {}\n'
    assert not go.reaches_folder(FILE, test)
    assert go.reaches_folder(FILE, b"package x\nfunc helper() {}\n")
    assert not go.reaches_folder("internal/restic/testdata/a.go", b"package x\nfunc init() {}\n")


IMPORTS = b"""package x
import (
	"errors"
	"regexp"
	"testing"
	"time"
	mine "example.org/errors"
)
func TestX(t *testing.T) {}
"""


@pytest.mark.parametrize(
    "declaration",
    [
        "var separators = mustMap()",
        "var known = findKnown()",
        "var (\n\tx = 1\n\t_ = (func() int { return 1 })()\n)",
        "var once = sync.OnceValue(func() bool { return true })()",
        "var _ = (&T{}).spoil()",
        "var _ = must(func() error { return nil })",
        'var _ = os.Setenv("A", "b")',
        'var table = map[string]error{"a": errors.New(text())}',
        "var _ = string(1)",
        "var _ = make(T)",
        'var _ = mine.New("x")',
        "var _ = generic[int](1)",
        "var _ = []int{0}[1-chosen[os.Args[3]]]",
        "var _ = [9]string(os.Args)",
        "var _ = os.Args[9:]",
        "var _ = value.(int)",
    ],
)
def test_what_runs_to_give_a_variable_its_value_reaches_the_whole_package(declaration):
    assert go.reaches_folder(FILE, IMPORTS + declaration.encode())


@pytest.mark.parametrize(
    "declaration",
    [
        "var size, parse = 3, func() int { return len(text()) }",
        'var missing = errors.New("none")',
        "var word = regexp.MustCompile(`^a+$`)",
        "var wait = time.Duration(5) * time.Second",
        'var data, found = []byte("x"), make(map[string]bool, 3)',
        'var table = []struct{ name string }{{"a"}, {"b"}}',
        "func helper() int { var n = text(); return n }",
        'const size = len("abc")',
        "var given = []func() int{func() int { return text() }}",
    ],
)
def test_variables_that_only_hold_values_reach_no_other_test(declaration):
    assert not go.reaches_folder(FILE, IMPORTS + declaration.encode())


@pytest.mark.parametrize(
    "declaration",
    [
        "func append[T any](all []T, _ ...T) []T { return all }",
        "func panic(any) {}",
        "const true = false",
        "const (\n\tone = 1\n\tnil, two = 0, 2\n)",
        "var len = 3",
        "var (\n\tcap = 3\n)",
        "type error interface{}",
        "type string = []byte",
        'func (d Duration) String() string { return "" }',
        "func (d *Duration) UnmarshalText([]byte) error { return nil }",
        "func (List[T]) Len() int { return 0 }",
        "func (d *(Duration)) Set(text string) error { return nil }",
    ],
)
def test_what_changes_a_packages_own_code_reaches_the_whole_package(declaration):
    assert go.reaches_folder(FILE, IMPORTS + declaration.encode())


@pytest.mark.parametrize(
    "declaration",
    [
        "type clock struct{}\nfunc (c *clock) Now() int { return 0 }\nfunc (clock) Stop() {}",
        "func (l list[T]) Len() int { return 0 }\ntype list[T any] []T",
        "func helper() { len := 3; append := keep; append(len) }",
        'type pair struct{ len, cap int }\nfunc (p pair) string() string { return "" }',
        "var lens, strings2 = 3, 4",
    ],
)
def test_names_of_a_files_own_reach_no_other_test(declaration):
    assert not go.reaches_folder(FILE, IMPORTS + declaration.encode())


@pytest.mark.parametrize("source", [b"", b"\0\xff", b"func func func", b"package x\nfunc TestX(" * 1000])
def test_what_is_no_go_has_no_tests(source):
    assert go.discover(source, FILE).tests == ()
