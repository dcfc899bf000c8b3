"""Digests whose record stands beside the code: in a test's name, in its file's comments, in what it must print."""

import time

import pytest

from tests.unit.test_digests import found

SHA = "def made():\n    return hashlib.sha256(repr(said()).encode()).hexdigest()\n"
PYTHON = [
    "def test_a_8ec8475b(request):\n    assert request.node.name == 'test_a_' + made()[:8]\n",
    "def test_a_8ec8475b(request):\n    seen = made()\n    assert request.node.name.endswith(seen[:8])\n",
    "def test_a_8ec8475b(request):\n    name = request.node.nodeid\n    assert made()[:8] in name\n",
    "class TestA(TestCase):\n    def test_8ec8475b(self):\n        self.assertIn(made()[:8], self.id())\n",
    "def test_a():\n    assert made()[:8] in os.environ['PYTEST_CURRENT_TEST']\n",
    "# seen: 8ec8475b\ndef test_a():\n    assert f'# seen: {made()[:8]}' in Path(__file__).read_text()\n",
    "# seen: 8ec8475b\ndef test_a():\n    text = Path(__file__).read_text()\n    assert made()[:8] in text\n",
    "def seen():\n    '''8ec8475b'''\ndef test_a():\n    assert made()[:8] == inspect.getdoc(seen)\n",
    "def test_a():\n    '''8ec8475b'''\n    assert made()[:8] == test_a.__doc__\n",
]
OTHERS = [
    ("go", 'func ExampleA() {\n\tsum := sha256.Sum256(said())\n\tfmt.Printf("%x", sum[:4])\n\t// Output: 7f5e\n}\n'),
    ("go", "func ExampleA() {\n\tfmt.Println(sha256.Sum256(said()))\n\t// Unordered output:\n\t// 7f5ef4fb\n}\n"),
    (
        "go",
        "func TestA(t *testing.T) {\n\tt.Run(\"7f5ef4fb\", func(t *testing.T) {\n\t\tsum := sha256.Sum256(said())\n"
        '\t\tif !strings.HasSuffix(t.Name(), fmt.Sprintf("%x", sum[:4])) {\n\t\t\tt.Fatal()\n\t\t}\n\t})\n}\n',
    ),
    ("c", "int a_8ec8475b(void) { return strcmp(__func__ + 2, hex(crc32(0, said(), 9))) == 0; }"),
    ("typescript", 'test("157", () => { const s = createHash("md5").update(said()).digest();\n'
     " expect(expect.getState().currentTestName).toContain(`${s[0]}`); });\n"),
    ("typescript", 'test("a 157", ({ task }) => { const s = createHash("md5").update(said()).digest();\n'
     " expect(task.name.endsWith(String(s[0]))).toBe(true); });\n"),
    ("typescript", 'test("a", () => { expect(createHash("md5").update(said()).digest()).toMatchSnapshot(); });\n'),
    ("typescript", 'test("a", () => { const s = createHash("md5").update(said()).digest("hex");\n'
     " expect(s).toMatchInlineSnapshot(`\"8ec8475b\"`); });\n"),
]  # fmt: skip
HARMLESS = [
    ("python", SHA + "def test_a(request):\n    assert made() != said()\n    assert 'test_a' in request.node.name\n"),
    ("python", SHA + "def test_a():\n    keep(Path(__file__).parent / 'data', made())\n"),
    ("python", SHA + "def test_a():\n    assert made() in said(open(Path('data').name).read())\n"),
    ("python", SHA + "def test_a():\n    path = __file__\n    assert said(path) == made()\n"),
    ("python", SHA + "def test_a():\n    with raises(Bad) as told:\n        said(made())\n"
     "    assert told.value.id() == 'bad'\n"),
    ("go", 'func ExampleA() {\n\tfmt.Println(said(2))\n\t// Output: 7f5ef4fb\n}\n'),
    ("go", "func TestA(t *testing.T) {\n\tsum := sha256.Sum256(said())\n\tfmt.Println(sum)\n}\n"),
    ("go", "func TestA(t *testing.T) {\n\tsum := sha256.Sum256(said())\n\tif file.Name() != fmt.Sprint(sum) {\n"
     "\t\tt.Fatal(sum)\n\t}\n}\n"),
    ("typescript", 'test("a", () => { expect(said()).toMatchSnapshot(); });\n'),
    ("c", "int main(void) { printf(\"%x\", crc32(0, said(), 9)); // Output: 7f5ef4fb\n return 0; }"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), [*(("python", SHA + text) for text in PYTHON), *OTHERS])
def test_a_record_beside_the_code_is_found(language: str, text: str) -> None:
    assert found(language, text)


@pytest.mark.parametrize(("language", "text"), HARMLESS)
def test_what_honest_tests_do_with_names_files_and_digests_is_nothing(language: str, text: str) -> None:
    assert not found(language, text)


@pytest.mark.parametrize(
    "text",
    ["assert a.node.name == b\n" * 20_000, "x = y\nassert x in z\n" * 10_000, "f(" * 1_000 + "x" + ")" * 1_000],
)
def test_many_comparisons_take_a_time_linear_to_the_text(text: str) -> None:
    began = time.process_time()
    found("python", text)
    assert time.process_time() - began < 8
