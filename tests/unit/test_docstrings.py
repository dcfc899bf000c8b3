"""Docstrings begin as readers expect: functions in the imperative, classes and properties with a noun."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[2] / "harness"
OPEN = ("What", "Of", "Those", "Whether", "Nobody", "Whose", "Who", "Under what", "By what", "From what", "In what")
"""Openings that leave it open what a name is."""
INDICATIVE = re.compile(
    "(?:Add|Append|Ask|Begin|Build|Check|Close|Compare|Cut|Decide|Doe|Draw|Fill|Find|Give|Hear|Hold|Keep|Know|Lay|Load"
    "|Look|Make|Mutate|Open|Play|Print|Put|Raise|Read|Refuse|Remember|Remove|Render|Return|Rewrite|Run|Say|Send|Serve|Show"
    "|Start|Stop|Take|Tell|Wait|Wake|Write|Yield)s|Applies"
)
"""Verbs in the third person, which say what a name does, instead of telling it in the imperative or naming it."""
FILES = sorted(path for path in HARNESS.rglob("*.py") if "in_container" not in path.parts)

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def documented(text: str) -> Iterator[tuple[Documented, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Documented) and (words := ast.get_docstring(node)):
            yield node, words


def decorators(node: Documented) -> set[str]:
    found = [] if isinstance(node, ast.Module) else node.decorator_list
    return {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in found}


def openings(text: str) -> list[str]:
    """Return a module's docstrings that leave open what they tell of, or begin with a verb in the third person."""
    found = []
    for node, words in documented(text):
        first = re.split(r"\W", words, maxsplit=1)[0]
        is_open = any(words == opening or words.startswith(f"{opening} ") for opening in OPEN)
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        is_told = decorators(node) & {"property", "cached_property", "callback"}
        is_plural = is_function and not is_told and re.fullmatch(r"[A-Z][a-z]*[a-rt-z]s", first)
        if is_open or (INDICATIVE.fullmatch(first) and not isinstance(node, ast.Module)) or is_plural:
            found.append(words)
    return found


def references(text: str) -> list[str]:
    """Return the names that the docstrings of a module refer to instead of saying something: "See `NAME`"."""
    found = [(words, re.match(r"See `(\w+)[`.]", words)) for _, words in documented(text) if words.startswith("See ")]
    return [match[1] if match else words for words, match in found]


def protocols() -> frozenset[str]:
    """Return the names of all protocols of the package."""
    pattern = re.compile(r"^class (\w+)\((?:.*\W)?Protocol(?:\[.*\])?\):", re.MULTILINE)
    return frozenset(name for path in FILES for name in pattern.findall(path.read_text(encoding="utf-8")))


def unsaid(text: str) -> list[str]:
    """Return the public methods of a module's protocols that have no docstring."""
    return [
        f"{protocol.name}.{method.name}"
        for protocol in ast.walk(ast.parse(text))
        if isinstance(protocol, ast.ClassDef) and any("Protocol" in ast.unparse(base) for base in protocol.bases)
        for method in protocol.body
        if isinstance(method, ast.FunctionDef | ast.AsyncFunctionDef) and not method.name.startswith("_")
        if not ast.get_docstring(method)
    ]


def in_folder(folder: str) -> list[Path]:
    return [path for path in FILES if path.relative_to(HARNESS).parts[0] == folder]


FOLDERS = sorted({path.relative_to(HARNESS).parts[0] for path in FILES})


def test_an_opening_that_leaves_it_open_is_found() -> None:
    assert openings('def f():\n    """What both need."""\n') == ["What both need."]
    assert not openings('def f():\n    """Return what both need."""\n')


def test_a_function_that_does_not_speak_in_the_imperative_is_found() -> None:
    for words in ("Raises UserError where there is none.", "Arms that failed.", "Reads a file."):
        assert openings(f'def f():\n    """{words}"""\n') == [words]
    assert openings('class C:\n    """Keeps what arms print."""\n') == ["Keeps what arms print."]
    assert not openings('def f():\n    """Pass on what arms print."""\n')
    assert not openings('class C:\n    @property\n    def f(self):\n        """Arms that failed."""\n')


def test_a_docstring_that_refers_to_another_one_is_found() -> None:
    assert references('def f():\n    """See `g`."""\n') == ["g"]
    assert references('def f():\n    """See below."""\n') == ["See below."]


def test_a_method_of_a_protocol_without_words_is_found() -> None:
    assert unsaid("class P(Protocol):\n    def f(self): ...\n") == ["P.f"]
    assert not unsaid('class P(Protocol):\n    def f(self):\n        """Do it."""\n        ...\n')


@pytest.mark.parametrize("folder", FOLDERS)
def test_docstrings_say_what_a_name_does_or_is(folder: str) -> None:
    assert {path.name: bad for path in in_folder(folder) if (bad := openings(path.read_text(encoding="utf-8")))} == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_only_what_implements_a_protocol_refers_to_it(folder: str) -> None:
    known = protocols()
    assert {
        path.name: bad
        for path in in_folder(folder)
        if (bad := [name for name in references(path.read_text(encoding="utf-8")) if name not in known])
    } == {}


@pytest.mark.parametrize("folder", FOLDERS)
def test_each_method_of_a_protocol_says_what_it_does(folder: str) -> None:
    assert {path.name: bad for path in in_folder(folder) if (bad := unsaid(path.read_text(encoding="utf-8")))} == {}
