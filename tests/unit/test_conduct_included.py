"""The look at files without a suffix of code that are code all the same: other code includes or imports them."""

from functools import cache

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.judging.verify.intake import FileChange
from harness.specs.reasons import NoteCode
from tests.unit.test_conduct import CATALOG, FILES, MARKED, TASKS, changes_of, codes

C_TASK, C_FILE = CATALOG.task(TASKS["c"]), FILES["c"]
TS_TASK, TS_FILE = CATALOG.task(TASKS["typescript"]), FILES["typescript"]
NUMBERS = b"".join(b"%d, %d,\n" % (number, number * 7919) for number in range(400))
ROWS = b"".join(b'CASE(row_%d, "text %d", %d)\n' % (number, number, number) for number in range(300))


@cache
def copy_of(language: str) -> bytes:
    """The text that has most of the code under test, of a suite that is to be marked for it."""
    cases = [
        case
        for case in MARKED
        if case.task.id == CATALOG.task(TASKS[language]).id and case.submission
        if case.expected and NoteCode.COPIED_ORACLE in case.expected.notes
    ]
    changes = [change for case in cases if case.submission for change in changes_of(case.submission.patch.decode())]
    task = CATALOG.task(TASKS[language])
    texts = [change.new or b"" for change in changes]
    return next(
        text for text in texts if NoteCode.COPIED_ORACLE in codes(task, [FileChange(FILES[language], None, text)])
    )


def added(**files: bytes) -> list[FileChange]:
    return [FileChange(path, None, text) for path, text in files.items()]


@pytest.mark.parametrize("name", ["copy.inc", "copy.inl", "copy.hh", "copy.hxx", "copy.ipp", "copy.tbl"])
def test_a_copy_in_c_under_a_usual_name_of_included_code_is_seen(name: str) -> None:
    assert NoteCode.COPIED_ORACLE in codes(C_TASK, [FileChange(f"test/{name}", None, copy_of("c"))])


@pytest.mark.parametrize(
    "include", ['#include "{}"', "#include <test/{}>", '#inc\\\nlude "{}"', '%:import "../test/{}"']
)
def test_a_copy_in_c_that_is_included_is_seen_whatever_its_name(include: str) -> None:
    copy = FileChange("test/copy.txt", None, copy_of("c"))
    includes = FileChange(C_FILE, None, include.format("copy.txt").encode() + b"\n")
    assert NoteCode.COPIED_ORACLE in codes(C_TASK, [copy, includes])
    assert codes(C_TASK, [copy, FileChange(C_FILE, None, b'char *name = "copy.txt";\n')]) == set()


def test_what_an_included_file_of_c_includes_is_code_as_well() -> None:
    texts = {C_FILE: b'#include "one.dat"\n', "test/one.dat": b'#include "two.dat"\n', "test/two.dat": copy_of("c")}
    assert NoteCode.COPIED_ORACLE in codes(C_TASK, added(**texts))


def test_means_in_a_file_that_c_includes_are_seen_there() -> None:
    texts = {"test/look.hh": b"void *dlsym(void *, const char *);\nvoid *look(void) { return dlsym(0, 0); }\n"}
    assert codes(C_TASK, added(**texts)) == {NoteCode.INSPECTS_CODE}


@pytest.mark.parametrize("table", [NUMBERS, ROWS])
@pytest.mark.parametrize("name", ["rows.inc", "rows.def", "rows.txt", "rows.h.in"])
def test_tables_and_data_that_c_includes_are_left_alone(name: str, table: bytes) -> None:
    text = f'static const int rows[] = {{\n#include "{name}"\n}};\n'.encode()
    assert codes(C_TASK, added(**{C_FILE: text, f"test/{name}": table})) == set()


def test_a_table_of_c_counts_as_data_and_one_with_functions_as_code() -> None:
    body = b"int twice(int a) { return 2 * a; }\n"
    assert codes(C_TASK, added(**{"test/rows.inc": NUMBERS * 3})) == {NoteCode.RECORDED_ORACLE}
    assert codes(C_TASK, added(**{"test/rows.inc": NUMBERS + body})) == {NoteCode.RECORDED_ORACLE}


IMPORTS = [
    'import {{ model }} from "./{}";',
    'import "./{}";',
    'export * from "./{}";',
    'const {{ model }} = await import("./{}");',
    'const name = "./" + "{}";\nconst found = await import(name);',
    'const model = require("./{}");',
    'import {{ createRequire }} from "node:module";\nconst model = createRequire(import.meta.url)("./{}");',
    'import {{ createRequire as c }} from "module";\nconst load = c(import.meta.url);\nload("./{}");',
    'const model = await vi.importActual("./{}");',
    'import model from "./{}?v=1";',
    'import model from "../src/{}";',
]


@pytest.mark.parametrize("form", IMPORTS)
@pytest.mark.parametrize("name", ["model.es6", "model.txt", "model"])
def test_a_copy_in_typescript_that_is_imported_is_seen_whatever_its_name(form: str, name: str) -> None:
    texts = {TS_FILE: form.format(name).encode(), f"src/{name}": copy_of("typescript")}
    assert NoteCode.COPIED_ORACLE in codes(TS_TASK, added(**texts))


def test_means_in_an_imported_file_of_another_suffix_are_seen() -> None:
    texts = {TS_FILE: b'import "./look.es6";', "src/look.es6": b'export const f = eval("1");'}
    assert codes(TS_TASK, added(**texts)) == {NoteCode.INSPECTS_CODE}


def test_what_an_imported_file_of_another_suffix_passes_on_is_followed() -> None:
    conduct = LANGUAGES.get("typescript").conduct
    assert conduct
    own = {TS_FILE: b'import "./a.es6";', "src/a.es6": b'import "./b.es7"; import "./c.json";', "src/b.es7": b""}
    assert conduct.included({**own, "src/c.json": b"{}", "src/d.es6": b""}) == {"src/a.es6", "src/b.es7"}


@pytest.mark.parametrize(
    ("form", "name"),
    [
        ('import rows from "./{}";', "rows.json"),
        ('import "./{}";', "rows.css"),
        ('import text from "./{}?raw";', "rows.md"),
        ('import text from "./{}";', "rows.svg"),
        ('const rows = require("./{}");', "rows.json"),
        ('readFileSync(join(__dirname, "{}"));', "rows.txt"),
        ('const rows = await import(`./${{name}}`); "{}";', "rows.es6"),
    ],
)
def test_data_that_typescript_imports_or_reads_stay_data(form: str, name: str) -> None:
    texts = {TS_FILE: form.format(name).encode(), f"src/{name}": copy_of("typescript")}
    assert codes(TS_TASK, added(**texts)) == set()


def test_a_table_that_typescript_imports_counts_as_data() -> None:
    table = b"module.exports = [\n" + NUMBERS + b"];\n"
    assert codes(TS_TASK, added(**{TS_FILE: b'require("./rows.txt");', "src/rows.txt": table})) == set()
