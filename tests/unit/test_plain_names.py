"""Names of Python are compared as Python does, in NFKC, and no text makes that take long."""

import ast
import time
import unicodedata

import pytest

from harness.judging.languages.nfkc import normal
from harness.judging.languages.python.plain_names import with_plain_names


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("ｈashlib.ｍd5(ﬁle)", "hashlib.md5(file)"),
        ("x = f'ｅ{ｅxec}'\nｙ = 'ｙ'  # ｙ", "x = f'ｅ{exec}'\ny = 'ｙ'  # ｙ"),
        ("ｉf = 1\nprint(ｉf)", "ｉf = 1\nprint(ｉf)"),
        ("größe = 'größe'", "größe = 'größe'"),
        ("x = 1", "x = 1"),
        ("def f(ｋey=1): return g(ｋey=ｋey)", "def f(key=1): return g(key=key)"),
    ],
)
def test_names_are_as_python_reads_them_and_nothing_else_changes(source: str, plain: str) -> None:
    assert with_plain_names(source.encode()) == plain.encode()
    assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(plain))


def test_bytes_that_are_no_text_stay_and_names_beside_them_are_read() -> None:
    assert with_plain_names("ｅxec(x)\ny = '".encode() + b"\xff\xfe'\n") == b"exec(x)\ny = '\xff\xfe'\n"


MARKS = "a" + "\u0301\u0316\u0344\u0f73\u0334" * 30
HANGUL = "\u1112\u1161\u11ab" * 30


@pytest.mark.parametrize(
    "text", [MARKS, HANGUL, "é" * 100, "ﷺ" * 70, "e\u0301" * 100, "ab" + MARKS + "b\u0323\u0307"]
)
def test_the_form_is_unicodes_own_however_long_a_text_is(text: str) -> None:
    assert normal(text) == unicodedata.normalize("NFKC", text)


@pytest.mark.parametrize("letters", ["\u0301{0}\u0316{0}", "\u0f73{0}", "a\u0315\u0300\u05ae{0}", "测试{0}"])
def test_no_marks_make_it_take_long(letters: str) -> None:
    first, *others = letters.split("{0}")
    text = "".join(each * 100_000 for each in (first, *others) if each)
    began = time.process_time()
    normal(text)
    assert time.process_time() - began < 1.5
