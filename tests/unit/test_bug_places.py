"""Where a fix is made: the functions that it changes, and those that refuse in the wrong fix."""

import time

import pytest

from harness.plugins.bug.places import (
    MOST_FUNCTIONS,
    changed_functions,
    is_in_a_known_place,
    refusing,
    without_known_places,
)

OTHERS = "\n".join(f"def other_{number}():\n    return {number}\n" for number in range(9))
PYTHON = f"""import time


class Signer:
    def age(self, made):
        now = time.time()
        # a
        # long
        # comment
        # stands
        # between
        # the
        # lines
        return now - made

    def sign(self, value):
        return value


{OTHERS}
LIMITS = [
    1,
    2,
]
"""
GO = """package a

import "strings"

func trimmed(s string) string {
	return strings.TrimRight(s, " ")
}

func length(s string) int {
	return len(s)
}
"""
TYPESCRIPT = """export function first(words: string[]): string {
    return words.at(-1) || 'none';
}

export const last = (words: string[]) => words.at(-1);
"""
C = """#include <stddef.h>

static int used(int n) {
    return n + 1;
}

int answer(int n) {
    return used(n) - 1;
}
"""


def changed(text: str, *pairs: tuple[str, str]) -> bytes:
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text.encode()


@pytest.mark.parametrize(
    ("path", "text", "pairs", "names"),
    [
        ("a.py", PYTHON, [("now - made", "now + made")], {"Signer.age"}),
        ("a.py", PYTHON, [("now - made", "now"), ("return 7", "return 70")], {"Signer.age", "other_7"}),
        ("a.py", PYTHON, [("now - made", "now"), ("import time\n", "import time\nimport os\n")], {"Signer.age"}),
        ("a.py", PYTHON, [("    2,\n", "    3,\n")], set()),
        ("a.go", GO, [('TrimRight(s, " ")', "TrimSpace(s)")], {"trimmed"}),
        ("a.ts", TYPESCRIPT, [("words.at(-1) || 'none'", "words[0] || 'none'")], {"first"}),
        ("a.c", C, [("used(n) - 1", "used(n)")], {"answer"}),
        ("a.txt", "one\ntwo\n", [("two", "three")], set()),
    ],
)
def test_the_functions_of_a_change_are_found(path, text, pairs, names):
    assert set(changed_functions(path, text.encode(), changed(text, *pairs))) == names


def test_functions_that_the_fix_changes_refuse_and_no_others():
    fixed = {"a.py": PYTHON.encode(), "b.py": b"x = 1\n"}
    buggy = {**fixed, "a.py": changed(PYTHON, ("now - made", "now + made"))}
    wrong = refusing(fixed, buggy)
    assert wrong is not None
    assert wrong["b.py"] == fixed["b.py"]
    assert b"raise SystemError" in wrong["a.py"].split(b"def sign")[0]
    assert wrong["a.py"].count(b"raise") == 1
    assert refusing(fixed, {**fixed, "b.py": b"x = 2\n"}) is None


BUGGY = {"a.py": PYTHON.encode()}
FIXED = {"a.py": changed(PYTHON, ("now - made", "now + made"))}
IN_LIST = {"a.py": changed(PYTHON, ("    2,\n", "    3,\n"))}


@pytest.mark.parametrize(
    ("pairs", "fixes", "is_known"),
    [
        ([("now = time.time()", "now = -time.time()")], [FIXED], True),  # eight lines above, in the same function
        ([("        return value", "        return -value")], [FIXED], True),  # three lines below
        ([("return 7", "return 70")], [FIXED], False),
        ([("import time", "import time as time")], [FIXED], False),
        ([("return 7", "return 70")], [FIXED, {"a.py": changed(PYTHON, ("return 7", "return 77"))}], True),
        ([("return 2", "return 20")], [IN_LIST], False),
        ([("LIMITS = [", "LIMITS = [0,")], [IN_LIST], True),
    ],
)
def test_a_repair_is_in_a_known_place_where_a_fix_is(pairs, fixes, is_known):
    assert is_in_a_known_place(BUGGY, fixes, {"a.py": changed(PYTHON, *pairs)}) is is_known


def test_of_a_repair_what_is_changed_far_from_every_fix_stays():
    near, far = ("        return value", "        return -value"), ("return 7", "return 70")
    repair = {"a.py": changed(PYTHON, near, far), "b.py": b"x = 2\n"}
    before = {**BUGGY, "b.py": b"x = 1\n"}
    assert without_known_places(before, [FIXED], repair) == {"a.py": changed(PYTHON, far), "b.py": b"x = 2\n"}
    assert without_known_places(BUGGY, [FIXED], {"a.py": changed(PYTHON, near)}) == BUGGY


def test_another_file_is_no_known_place_and_neither_is_one_that_is_gone():
    assert not is_in_a_known_place(BUGGY, [FIXED], {"b.py": b"x = 1\n"})
    assert not is_in_a_known_place(BUGGY, [FIXED], {"a.py": None})


def test_where_the_grammar_finds_no_function_the_definition_at_the_left_edge_is_the_place():
    text = "MACRO(first)\n{\n" + "    a();\n" * 20 + "}\n\nMACRO(second)\n{\n" + "    b();\n" * 3 + "}\n"
    lines = text.encode().splitlines(keepends=True)
    buggy = {"a.inc": text.encode()}
    fixed = {"a.inc": b"".join([*lines[:20], b"    mended();\n", *lines[21:]])}
    same = b"".join([*lines[:3], b"    own();\n", *lines[4:]])
    other = b"".join([*lines[:-2], b"    own();\n", *lines[-1:]])
    assert is_in_a_known_place(buggy, [fixed], {"a.inc": same})
    assert not is_in_a_known_place(buggy, [fixed], {"a.inc": other})


def test_functions_of_a_text_with_many_blank_lines_are_found_in_seconds():
    old, own = PYTHON.replace("import time", "x = 0" + "\n" * 1_000 + "import time"), "\n" * 200_000
    new = own + changed(old, ("now - made", "now + made"), ("x = 0", "x = 1")).decode()
    began = time.process_time()
    changed_functions("a.py", old.encode(), new.encode())
    assert time.process_time() - began < 10


def test_a_change_of_many_functions_is_looked_for_in_some():
    text = "\n".join(f"def other_{number}():\n    return {number}\n" for number in range(60))
    found = changed_functions("a.py", text.encode(), text.replace("return ", "return -").encode())
    assert found == tuple(f"other_{number}" for number in range(59, 59 - MOST_FUNCTIONS, -1))
