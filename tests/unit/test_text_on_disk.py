"""Text that is what runs: the same behaviour in every layout, and nothing that can be seen without working it out."""

import ast
import re
from collections.abc import Callable
from random import Random

import pytest

from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.variant_source import Layout, OnDisk, differing_lines, lines_in_question

SUMS = b'''\
"""Sums."""

import os


class Sums:
    def add(self, a, b):
        """Adds.

        Any two numbers.
        """
        # none is nothing
        if a is None:
            return b
        text = """x
  y"""
        total = {"a": a + b, "text": text}
        return total["a"]

    def one(self): return 1

    async def more(self, items):
        async for item in items:
            yield item


def untouched():
    return 5
'''
BODY = SUMS[SUMS.index(b"        # none") : SUMS.index(b"\n    def one")]
REMOVED = SUMS.replace(BODY, b'        raise NotImplementedError("gone")\n')
C = b"""\
#include "a.h"
static int add(int a, int b) {
    int sum = a; /* "so" */
    if (a - -b > 3 && b) { sum += f(a, "x  y"); }
#ifdef MORE
    sum += 1;
#endif
    return sum + b;
}
int other(void) { return 1; }
"""
GO = b"""\
package x

import "fmt"

// Add adds.
func (t *T) Add(a, b int) (int, error) {
\tif a > 3 {
\t\treturn 0, fmt.Errorf("x  %d", a)
\t}
\tx := `raw
   text`
\ty, ok := t.m[x]
\treturn len(x) * y, check(ok)
}

func other() int { return 1 }
"""
TYPESCRIPT = b"""\
function add(a, b) {
  const t = `x ${a}
    y`;
  if (a && /a  b/.test(b)) {
    return f(a, b);
  }
  return a - -b;
}
function strict() {
  "use strict";
  return this === undefined;
}
module.exports = { add };
"""
BRACES = {
    "a.c": (C, b"int sum", b"}\nint other", b"(void) a;\n    (void) b;\n    return 0;\n"),
    "a.go": (GO, b"if a > 3", b"}\n\nfunc other", b"_ = fmt.Sprint\n\treturn 0, nil\n"),
    "a.js": (TYPESCRIPT, b"const t", b"}\nfunction strict", b'throw new Error("gone");\n'),
    "a.ts": (TYPESCRIPT, b"const t", b"}\nfunction strict", b'throw new Error("gone");\n'),
}
NAMES = {".py": "python", ".c": "c", ".go": "go", ".js": "typescript", ".ts": "typescript"}


def written(path: str, text: bytes, other: bytes, layout: Layout, seed: int) -> bytes:
    language = LANGUAGES.get(NAMES[path[path.index(".") :]])
    return language.code.write(OnDisk(path, text, (text, other), layout), Random(seed))


def removed(path: str) -> tuple[bytes, bytes]:
    text, first, last, stub = BRACES[path]
    return text, text[: text.index(first)] + stub + text[text.index(last) :]


def loaded(text: bytes) -> dict[str, object]:
    found: dict[str, object] = {}
    exec(compile(text, "sums.py", "exec"), found)
    return found


def outcome(call: Callable[[], object]) -> object:
    try:
        return call()
    except NotImplementedError as error:
        return str(error)


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("pair", [(SUMS, REMOVED), (REMOVED, SUMS)], ids=["code", "removal"])
def test_python_does_the_same_in_every_layout(layout, pair):
    plain = loaded(pair[0])["Sums"]()
    for seed in range(10):
        other = loaded(text := written("a.py", *pair, layout, seed))["Sums"]()
        for arguments in ((1, 2), (None, 3)):
            assert outcome(lambda: other.add(*arguments)) == outcome(lambda: plain.add(*arguments))  # noqa: B023
        assert (other.add.__doc__, other.one()) == (plain.add.__doc__, 1)
        assert b"return 5" in text


@pytest.mark.parametrize("layout", Layout)
def test_what_either_text_has_both_have_so_that_only_conditions_tell(layout):
    for seed in range(10):
        texts = [written("a.py", *pair, layout, seed) for pair in ((SUMS, REMOVED), (REMOVED, SUMS))]
        for text in texts:
            shapes = {ast.dump(node) for node in ast.walk(ast.parse(text))}
            assert any("NotImplementedError" in shape for shape in shapes)
            assert any("value='x\\n  y'" in shape for shape in shapes)
        assert abs(len(texts[0]) - len(texts[1])) < 200


@pytest.mark.parametrize("path", BRACES)
@pytest.mark.parametrize("layout", Layout)
def test_bodies_of_both_stand_in_both_texts_in_braces_too(path, layout):
    text, without = removed(path)
    for pair in ((text, without), (without, text)):
        found = b"".join(written(path, *pair, layout, 1).split())
        assert found.count(b"else{") == 1
        assert (b"gone" in found) == (path in ("a.js", "a.ts"))
        assert found.count(b"".join(BRACES[path][1].split())) >= 1


@pytest.mark.parametrize("path", BRACES)
def test_tokens_stay_what_they_are_whatever_lies_between_them(path):
    text, without = removed(path)
    texts = re.findall(rb"\"[^\"\n]*\"|`[^`]*`|/a  b/", text)
    for layout in Layout:
        made = written(path, text, without, layout, 3)
        assert all(each in made for each in texts)
        assert b"- -b" in made or b"-  -b" in made or b"-   -b" in made or path == "a.go"
    assert b"\n    sum += 1;" not in written("a.c", *removed("a.c"), Layout.COMPACT, 3)


@pytest.mark.parametrize("path", ["a.py", *BRACES])
def test_a_spaced_text_has_few_of_its_lines_as_they_were_and_a_compact_one_is_shorter(path):
    text, without = (SUMS, REMOVED) if path == "a.py" else removed(path)
    plain, spaced, compact = (written(path, text, without, layout, 5) for layout in Layout)
    lines = [line for line in differing(text, without) if len(line.split()) > 1]
    assert sum(line in spaced for line in lines) <= len(lines) / 2
    assert len(compact) < len(plain) < len(spaced)


def differing(text: bytes, other: bytes) -> list[bytes]:
    rows = text.splitlines()
    return [rows[line - 1].strip() for line in differing_lines(text, (text, other))]


def test_another_text_each_time():
    for path in BRACES:
        assert len({written(path, *removed(path), Layout.PLAIN, seed) for seed in range(10)}) == 10
    assert len({written("a.py", SUMS, REMOVED, Layout.PLAIN, seed) for seed in range(10)}) == 10


def test_a_function_in_which_two_bodies_would_mean_something_else_keeps_its_own():
    uses = b"def f(a):\n    return len(a) + size\n"
    binds = b"def f(a):\n    size = 1\n    return size\n"
    assert b"size = 1" not in written("a.py", uses, binds, Layout.PLAIN, 0)
    assert b"len(a)" in written("a.py", binds, uses, Layout.PLAIN, 0)
    generator = b"def f(a):\n    yield a\n"
    assert b"yield" not in written("a.py", binds, generator, Layout.PLAIN, 0)
    other = TYPESCRIPT.replace(b"this === undefined", b"true")
    assert b"else" not in written("a.js", TYPESCRIPT, other, Layout.PLAIN, 0)
    assert b'{\n  "use strict"' in written("a.js", TYPESCRIPT, other, Layout.PLAIN, 0)


def test_a_text_that_cannot_be_read_is_left_as_it_is():
    broken = b"def f(:\n    return 1\n"
    assert written("a.py", broken, broken.replace(b"1", b"2"), Layout.COMPACT, 0).count(b"\n") == 2


def test_lines_in_question_are_those_of_either_text():
    assert lines_in_question((b"a\nb\nc\n", b"a\nd\nc\n")) == ["b", "d"]
    assert lines_in_question((b"a\n\nc\n", b"a\nc\n")) == []
