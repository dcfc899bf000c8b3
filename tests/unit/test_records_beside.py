"""Digests whose record stands beside the code: in a test's name, in its file's comments, in what it must print."""

import time

import pytest

from harness.judging.verify.conduct.records_beside import reads_itself
from tests.unit.test_compared import assert_linear
from tests.unit.test_digests import found

SHA = "def made():\n    return hashlib.sha256(repr(said()).encode()).hexdigest()\n"
PYTHON = [
    "def test_a_8ec8475b(request):\n    assert request.node.name == 'test_a_' + made()[:8]\n",
    "def test_a_8ec8475b(request):\n    seen = made()\n    assert request.node.name.endswith(seen[:8])\n",
    "def test_a_8ec8475b(request):\n    name = request.node.nodeid\n    assert made()[:8] in name\n",
    "class TestA(TestCase):\n    def test_8ec8475b(self):\n        self.assertIn(made()[:8], self.id())\n",
    "def test_a_8ec8475b(request):\n    assert request.function.__name__[-8:] == made()[:8]\n",
    "# 8ec8475b\ndef test_a():\n    assert re.search(made()[:8], Path(__file__).read_text())\n",
    "# 8ec8475b\ndef test_a():\n    assert made()[:8] == linecache.getline(__file__, 1).strip()[2:]\n",
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
    "def test_a(request):\n    assert made() != said()\n    assert 'test_a' in request.node.name\n",
    "def test_a():\n    keep(Path(__file__).parent / 'data', made())\n",
    "def test_a():\n    assert made() in said(open(Path('data').name).read())\n",
    "def test_a():\n    path = __file__\n    assert said(path) == made()\n",
    "def test_a():\n    with raises(Bad) as told:\n        said(made())\n    assert told.value.id() == 'bad'\n",
    "app = Flask(__name__)\nclient = app.test_client()\ndef test_a():\n    answer = client.get('/file')\n"
    "    assert answer.headers['ETag'] == made()\n",
    "log = logging.getLogger(__name__)\ndef test_a():\n    assert traced(log) == made()\n",
    "def test_a(request, tmp_path):\n    path = Store(tmp_path / request.node.name).put(said())\n"
    "    assert path.name == made()\n",
    "DATA = (Path(__file__).parent / 'photo.jpg').read_bytes()\ndef test_a():\n"
    "    assert made() == hashlib.sha256(DATA).hexdigest()\n",
    "def test_a(request):\n    check(request.node.name, made(), said())\n",
]
HARMLESS_OTHERS = [
    ("go", "func ExampleA() {\n\tfmt.Println(said(2))\n\t// Output: 7f5ef4fb\n}\n"),
    ("go", "func ExampleA() {\n\tsum := sha256.Sum256(said())\n\tfmt.Println(len(kept(sum)))\n\t// Output: 32\n}\n"),
    ("go", "func ExampleA() {\n\tsum := sha256.Sum256(said())\n\tfmt.Println(sum == kept())\n\t// Output: true\n}\n"),
    ("go", "func TestA(t *testing.T) {\n\tsum := sha256.Sum256(said())\n\tfmt.Println(sum)\n}\n"),
    ("go", "func TestA(t *testing.T) {\n\tsum := sha256.Sum256(said())\n\tif file.Name() != fmt.Sprint(sum) {\n"
     "\t\tt.Fatal(sum)\n\t}\n}\n"),
    ("go", "func TestA(t *testing.T) {\n\troot := filepath.Join(os.TempDir(), t.Name())\n"
     "\tpath := Open(root).Path()\n\tsum := sha256.Sum256(said())\n"
     "\tif !strings.HasSuffix(path, hex.EncodeToString(sum[:])) {\n\t\tt.Fatal()\n\t}\n}\n"),
    ("go", "func TestA(t *testing.T) {\n\tassert.Equal(t, sha256.Sum256(said()), kept(), t.Name())\n}\n"),
    ("typescript", 'test("a", () => { expect(said()).toMatchSnapshot(); });\n'),
    ("typescript", 'test("a", async () => { const tag = createHash("md5").update(said()).digest("hex");\n'
     ' const res = await app.request("/x", { headers: { "If-None-Match": tag } });\n'
     " expect(res.status).toMatchSnapshot(); });\n"),
    ("typescript", 'const original = readFileSync(new URL("./photo.jpg", import.meta.url));\n'
     'test("a", () => { expect(createHash("md5").update(said()).digest("hex")).toBe(name(original)); });\n'),
    ("c", "int main(void) { printf(\"%x\", crc32(0, said(), 9)); // Output: 7f5ef4fb\n return 0; }"),
    ("c", "void f(void) { assert_equal(__func__, crc32(0, said(), 9), slow(9)); }"),
]  # fmt: skip


@pytest.mark.parametrize(("language", "text"), [*(("python", SHA + text) for text in PYTHON), *OTHERS])
def test_a_record_beside_the_code_is_found(language: str, text: str) -> None:
    assert found(language, text)


@pytest.mark.parametrize(("language", "text"), [*(("python", SHA + text) for text in HARMLESS), *HARMLESS_OTHERS])
def test_what_honest_tests_do_with_names_files_and_digests_is_nothing(language: str, text: str) -> None:
    assert not found(language, text)


HOSTILE = {
    "names": ("python", lambda n: "assert a.node.name == b\n" * n),
    "names that are given": ("python", lambda n: "x = y\nassert x in z\n" * n),
    "nested calls": ("python", lambda n: "f(" * n + "x" + ")" * n),
    "nested comments": ("go", lambda n: "{" * n + "//output:\n" * n + "}" * n),
    "printed": ("go", lambda n: "func ExampleA() {\n// Output: 12345\n" * n + "fmt.Println(a)\n" * n + "}" * n),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_four_times_the_text_takes_about_four_times_as_long(name: str) -> None:
    language, text = HOSTILE[name]
    assert_linear(language, text, 150)


@pytest.mark.parametrize("word", [b"__file__ ", b"read ", b"import.meta.url "])
def test_a_long_line_is_searched_in_little_time(word: bytes) -> None:
    began = time.process_time()
    assert not reads_itself(word * 200_000)
    assert time.process_time() - began < 1


def test_a_file_that_names_itself_to_find_others_reads_nothing_of_its_own_yet() -> None:
    assert reads_itself(b"x = open(__file__)\n")
    assert not reads_itself(b"HERE = Path(__file__).parent\nx = open(name)\n")
