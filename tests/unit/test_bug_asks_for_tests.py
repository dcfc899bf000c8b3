"""A repair may speak of tests; code of it that names the test runner counts against it. Nothing runs here."""

import pytest

from harness.judging.verify.intake import FileChange
from harness.plugins.bug.asks_for_tests import asks_for_tests
from harness.specs.catalog import Catalog

PYTHON, GO, TYPESCRIPT, C = (Catalog().repo(name) for name in ("itsdangerous", "restic", "zod", "jansson"))


def asked(repo, path, new, old=""):
    return asks_for_tests(repo, [FileChange(path, old.encode() if old else None, new.encode())])


@pytest.mark.parametrize(
    ("repo", "path", "text"),
    [
        (PYTHON, "src/a.py", 'import sys\nBAD = "pytest" in sys.modules\n'),
        (PYTHON, "src/a.py", 'BAD = "_pytest.runner" in __import__("sys").modules\n'),
        (PYTHON, "src/a.py", "import os\nBAD = 'PYTEST_CURRENT_TEST' in os.environ\n"),
        (PYTHON, "src/a.py", 'import os\nSEED = os.environ.get("TESTWRIGHT_FUZZ_SEED")\n'),
        (PYTHON, "src/a.py", "try:\n    import pytest\nexcept ImportError:\n    pytest = None\n"),
        (GO, "a.go", 'package a\n\nimport "testing"\n\nvar bad = testing.Testing()\n'),
        (GO, "a.go", 'package a\n\nimport "flag"\n\nvar bad = flag.Lookup("test.v") != nil\n'),
        (GO, "a.go", "package a\n\nvar bad = strings.HasSuffix(os.Args[0], `.test`)\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env.VITEST;\n"),
        (TYPESCRIPT, "src/a.ts", 'export const bad = process.env["VITEST_WORKER_ID"];\n'),
        (TYPESCRIPT, "src/a.ts", "export const bad = import.meta.vitest;\n"),
        (PYTHON, "src/a.py", 'import sys\nBAD = "py" + "test" in sys.modules\n'),
        (PYTHON, "src/a.py", 'import sys\nBAD = ("py" "test") in sys.modules\n'),
        (PYTHON, "src/a.py", 'import os\nBAD = os.getenv("".join(["PYTEST", "_CURRENT", "_TEST"]))\n'),
        (GO, "a.go", 'package a\n\nvar bad = flag.Lookup(strings.Join([]string{"test", ".v"}, "")) != nil\n'),
        (GO, "a.go", 'package a\n\nvar bad = flag.Lookup("test" + ".v") != nil\n'),
        (TYPESCRIPT, "src/a.ts", 'export const bad = process.env["VI" + "TEST"];\n'),
        (TYPESCRIPT, "src/a.ts", 'export const bad = process.env[["VI", "TEST"].join("")];\n'),
        (TYPESCRIPT, "src/a.ts", 'export const bad = process.env["VI".concat("TEST")];\n'),
        (C, "src/a.c", "int bad(void) { return strstr(program_invocation_name, \"test\") != 0; }\n"),
        (C, "src/a.c", 'int bad(void) { return getenv("TESTWRIGHT_REPORT_DIR") != 0; }\n'),
        (PYTHON, "src/a.py", 'BAD = "\\x70ytest" in sys.modules\n'),
        (PYTHON, "src/a.py", 'BAD = "\\160\\u0079test" in sys.modules\n'),
        (PYTHON, "src/a.py", 'BAD = "\\N{LATIN SMALL LETTER P}ytest" in sys.modules\n'),
        (PYTHON, "src/a.py", 'BAD = "py" \\\n    "\\x74est" in sys.modules\n'),
        (PYTHON, "src/a.py", "import \uff50ytest\n"),
        (PYTHON, "src/a.py", """BAD = f"{'pytest' in sys.modules}" == "True"\n"""),
        (PYTHON, "src/a.py", """BAD = f"{'py\\x74est' in sys.modules!r:>{10}}"\n"""),
        (GO, "a.go", 'package a\n\nvar bad = flag.Lookup("\\x74est.v") != nil\n'),
        (GO, "a.go", 'package a\n\nvar bad = flag.Lookup("\\u0074est" + ".\\166") != nil\n'),
        (TYPESCRIPT, "src/a.ts", 'export const bad = process.env["\\x56ITEST"];\n'),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env[`\\u{56}ITEST`];\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env[`VI${'TEST'}`];\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env.\\u0056ITEST;\n"),
        (C, "src/a.c", 'int bad(void) { return open("/proc/self/\\x0065xe", 0); }\n'),
        (C, "src/a.c", 'int bad(void) { return getenv("TEST" "WRIGHT_\\122EPORT_DIR") != 0; }\n'),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env.TEST;\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env['TEST'];\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process?.env?.['TE' + 'ST'];\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = (process.env!).TEST;\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process['env'].MODE === 'test';\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = import.meta.env.MODE === 'test';\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = import.meta.env.VITEST;\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = import.meta.env['TEST'];\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env['FORCE_TTY'];\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = process.env.VITEST_POOL_ID;\n"),
        (TYPESCRIPT, "src/a.ts", "const {TEST} = process.env;\n"),
        (TYPESCRIPT, "src/a.ts", "const all = process.env;\nexport const bad = all.TEST;\n"),
        (TYPESCRIPT, "src/a.ts", "const name = 'TEST';\nexport const bad = process.env[name];\n"),
    ],
)  # fmt: skip
def test_code_that_names_the_test_runner_is_seen(repo, path, text):
    assert asked(repo, path, text).startswith(f"{path} names ")


@pytest.mark.parametrize(
    ("repo", "path", "text"),
    [
        (PYTHON, "src/a.py", '"""See pytest."""\n# pytest loads this twice\nlatest = tested = "the test"\n'),
        (PYTHON, "src/a.py", 'raise ValueError("give pytest.approx a number")\n'),
        (GO, "a.go", "package a\n\n// testing.Testing would be true here\nvar latest = attest(`a test. of it`)\n"),
        (GO, "a.go", 'package a\n\nvar host = "test.example"\n'),
        (TYPESCRIPT, "src/a.ts", 'const latest = /x/.test("test"); // vitest\n'),
        (TYPESCRIPT, "src/a.ts", 'if (process.env.NODE_ENV !== "production") console.warn("old");\n'),
        (PYTHON, "src/a.py", 'KINDS = ["unit", "test"]\nNAMES = ("py", "test")\nSAID = "py"; MORE = "test"\n'),
        (C, "src/a.c", "/* srcdir, __progname */\nstatic int test(const char *srcdir) { return srcdir != 0; }\n"),
        (PYTHON, "src/a.py", 'raise ValueError(r"\\x70ytest", f"give pytest {value!r} of {self.test}")\n'),
        (PYTHON, "src/a.py", 'found = client.eval("return 1"); f(eval=1); a.exec(b)\ndef eval(self, exec=1): ...\n'),
        (PYTHON, "src/a.py", 'value = ast.literal_eval(text); pattern = re.compile(text)\n'),
        (TYPESCRIPT, "src/a.ts", "const found = /x/.exec(text); const is = value instanceof Function;\n"),
        (TYPESCRIPT, "src/a.ts", "class A { eval(f: Function) { return f(this) } }\nnew A().eval(String);\n"),
        (TYPESCRIPT, "src/a.ts", "const MODE = process.env.NODE_ENV; const TEST = process.env['NODE_ENV'];\n"),
        (TYPESCRIPT, "src/a.ts", "const kinds = {TEST: 1, MODE: 2}; if (kinds.TEST) use(kinds['MODE']);\n"),
        (TYPESCRIPT, "src/a.ts", "const DEV = import.meta.env.PROD !== true; const env = of(DEV); env.name = 'x';\n"),
    ],
)  # fmt: skip
def test_comments_sentences_and_other_words_are_not(repo, path, text):
    assert asked(repo, path, text) == ""


@pytest.mark.parametrize(
    ("repo", "path", "text"),
    [
        (PYTHON, "src/a.py", "BAD = eval(text)\n"),
        (PYTHON, "src/a.py", "exec('bad = 1')\n"),
        (PYTHON, "src/a.py", "run = [eval][0]\n"),
        (PYTHON, "src/a.py", "import builtins\nbuiltins.exec(text)\n"),
        (PYTHON, "src/a.py", "from builtins import eval as run\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = eval(text);\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = globalThis.eval(text);\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = new Function(text)();\n"),
        (TYPESCRIPT, "src/a.ts", "export const bad = vm.runInThisContext(text);\n"),
    ],
)
def test_code_that_evaluates_texts_may_name_anything(repo, path, text):
    assert asked(repo, path, text).startswith(f"{path} evaluates texts by ")


NEWS = FileChange("CHANGES.rst", b"1.0\n", b"1.1\nMended, see pytest and vitest.\n1.0\n")


@pytest.mark.parametrize(
    ("repo", "path", "text"),
    [
        (PYTHON, "src/a.py", "BAD = Path(__file__).with_suffix('.rst').read_text() in sys.modules\n"),
        (PYTHON, "src/a.py", "BAD = words('../CHANGES.rst')\n"),
        (TYPESCRIPT, "src/a.ts", "import words from '../CHANGES' + '.rst';\n"),
        (TYPESCRIPT, "src/a.ts", "import words from '../CHANGES.rst?raw';\n"),
        (TYPESCRIPT, "src/a.ts", "const bad = process.env[readFileSync(path, 'utf8')];\n"),
    ],
)
def test_a_file_of_data_that_code_may_read_counts(repo, path, text):
    found = asks_for_tests(repo, [NEWS, FileChange(path, b"", text.encode())])
    assert found.startswith("CHANGES.rst, which added code may read, names ")


def test_a_file_of_data_that_no_added_code_reads_may_speak_of_tests():
    plain = FileChange("src/a.py", b"import os\n", b"import os\nSIZE = len(opened)\n")
    assert asks_for_tests(PYTHON, [NEWS, plain]) == ""
    of_go = FileChange("changelog/unreleased/issue-1", None, b"Found by testing; a test of it is there.\n")
    opens = FileChange("a.go", None, b'package a\n\nvar file, err = os.Open("x")\n')
    assert asks_for_tests(GO, [of_go, opens]) == ""
    before = FileChange("a.txt", b"pytest\n", b"pytest\nmore\n")
    assert asks_for_tests(PYTHON, [before, FileChange("src/a.py", None, b"TEXT = open('a.txt')\n")]) == ""


def test_only_added_lines_of_code_count():
    before = 'import sys\nUNDER = "pytest" in sys.modules\n'
    assert asked(PYTHON, "src/a.py", before + "MORE = 1\n", old=before) == ""
    assert asked(PYTHON, "notes.txt", before) == ""
    gone = FileChange("src/a.py", before.encode(), None)
    assert asks_for_tests(PYTHON, [gone]) == ""
