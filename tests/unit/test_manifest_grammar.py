import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.languages.registry import LANGUAGES
from harness.specs.ids import TestId
from harness.specs.reasons import ReasonCode
from harness.submission.manifest import MAX_MANIFEST_TESTS, ManifestError, format_manifest, parse_manifest

PYTHON = LANGUAGES.get("python").ids
GOOD = b"""
- file: tests/test_x.py
  tests:
    - "TestX.test_a"
    - test_b
"""


def code_of(data: bytes) -> ReasonCode:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(data, PYTHON)
    return caught.value.code


def test_the_documented_form_is_read():
    assert parse_manifest(GOOD, PYTHON).tests == (
        TestId("tests/test_x.py", "TestX.test_a"),
        TestId("tests/test_x.py", "test_b"),
    )


def test_a_manifest_between_fence_lines_in_a_text_is_read():
    fenced = b"Here it is:\n<<TEST_MANIFEST>>" + GOOD + b"<<TEST_MANIFEST>>\nDone.\n"
    assert parse_manifest(fenced, PYTHON) == parse_manifest(GOOD, PYTHON)


def test_one_fence_line_alone_is_refused():
    assert code_of(b"<<TEST_MANIFEST>>" + GOOD) is ReasonCode.MANIFEST_UNPARSEABLE


def test_cases_stand_for_their_test_and_pytest_separators_are_understood():
    data = b'- file: ./tests/test_x.py\n  tests: ["TestX::test_a[1-2]", "TestX.test_a[3/4]"]\n'
    assert parse_manifest(data, PYTHON).tests == (TestId("tests/test_x.py", "TestX.test_a"),)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", ReasonCode.MANIFEST_MISSING),
        (b"[]", ReasonCode.MANIFEST_MISSING),
        (b"- file: a.py\n  tests: []\n", ReasonCode.MANIFEST_MISSING),
        (b"file: a.py", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- a.py", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: test_a\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [test_a]\n  extra: 1\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [1]\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: ../a.py\n  tests: [test_a]\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: /app/a.py\n  tests: [test_a]\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: [", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"\xff\xfe", ReasonCode.MANIFEST_UNPARSEABLE),
        (b'- file: a.py\n  tests: ["test_\\u202ea"]\n', ReasonCode.MANIFEST_UNPARSEABLE),
        (b'- file: a.py\n  tests: ["test_\\e[31ma"]\n', ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- &a {file: a.py, tests: [test_a]}\n- *a\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- !!python/object/apply:os.system ['true']\n", ReasonCode.MANIFEST_UNPARSEABLE),
        (b"- file: a.py\n  tests: [test_a, test_a]\n", ReasonCode.MANIFEST_DUPLICATE),
    ],
)
def test_what_is_not_a_manifest_is_refused_by_its_own_code(data, code):
    assert code_of(data) is code


def test_a_million_lines_are_refused_without_being_parsed():
    assert code_of(b"- file: a.py\n" * 1_000_000) is ReasonCode.MANIFEST_UNPARSEABLE


def test_more_tests_than_the_cap_are_refused():
    many = "".join(f"    - test_{number}\n" for number in range(MAX_MANIFEST_TESTS + 1))
    assert code_of(f"- file: a.py\n  tests:\n{many}".encode()) is ReasonCode.MANIFEST_UNPARSEABLE


def test_deep_nesting_is_refused():
    assert code_of(b"[" * 100_000) is ReasonCode.MANIFEST_UNPARSEABLE


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_but_a_manifest_error(data):
    try:
        manifest = parse_manifest(data, PYTHON)
    except ManifestError:
        return
    assert manifest.tests


names = st.from_regex(r"[A-Za-z_][A-Za-z_0-9]{0,20}(\.[A-Za-z_][A-Za-z_0-9]{0,20})?", fullmatch=True)
files = st.from_regex(r"[a-z][a-z_0-9-]{0,10}(/[a-z][a-z_0-9 -]{0,10}){0,3}\.py", fullmatch=True)


@given(st.lists(st.builds(TestId, files, names), unique=True, min_size=1, max_size=20))
def test_a_written_manifest_reads_back_as_the_same_tests(tests):
    assert set(parse_manifest(format_manifest(tests).encode(), PYTHON).tests) == set(tests)


@pytest.mark.parametrize(
    ("language", "file", "listed", "name"),
    [
        ("python", "tests/test_x.py", "test_a[x]", "test_a"),
        ("python", "tests/test_x.py", "TestX::test_a[a/b::c]", "TestX.test_a"),
        ("python", "tests/test_x.py", "tests/test_x.py::test_a", "test_a"),
        ("python", "tests/test_x.py", "tests/test_x.py::TestX::test_a[1]", "TestX.test_a"),
        ("python", "tests/test_x.py", "tests/other.py::test_a", "tests/other.py.test_a"),
        ("go", "internal/x_test.go", "TestName/sub", "TestName"),
        ("go", "internal/x_test.go", "TestName/sub/deeper[0]", "TestName"),
        ("go", "internal/x_test.go", "internal/x_test.go::TestName", "TestName"),
        ("c", "test/test_x.c", "test_x", "test_x"),
        ("c", "test/test_x.c", "test_x/case", "test_x"),
        ("typescript", "src/x.test.ts", "reads a/b > of [1, 2]", "reads a/b > of [1, 2]"),
        ("typescript", "src/x.test.ts", "joins a::b", "joins a::b"),
        ("typescript", "src/x.test.ts", "src/x.test.ts::[empty]/", "[empty]/"),
    ],
)
def test_each_language_says_what_of_a_listed_id_is_a_case(language, file, listed, name):
    data = format_manifest([TestId(file, listed)]).encode()
    assert parse_manifest(data, LANGUAGES.get(language).ids).tests == (TestId(file, name),)
