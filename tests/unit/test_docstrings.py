"""Docstrings begin as readers expect: functions in the imperative, classes and properties with a noun."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

HARNESS = Path(__file__).parents[2] / "harness"
OPEN = ("What", "Of", "Those", "Nobody", "Whose", "Who", "Under what", "By what", "From what", "In what")
"""Openings that leave it open what a name is."""
INDICATIVE = re.compile(
    "(?:Add|Append|Ask|Begin|Build|Check|Close|Compare|Cut|Decide|Doe|Draw|Fill|Find|Give|Hear|Hold|Keep|Know|Lay|Load"
    "|Look|Make|Mutate|Open|Play|Print|Put|Raise|Read|Refuse|Remember|Remove|Render|Return|Rewrite|Run|Say|Send|Serve|Show"
    "|Start|Stop|Take|Tell|Wait|Wake|Write|Yield)s|Applies"
)
"""Verbs in the third person, which say what a name does, instead of telling it in the imperative or naming it."""
NO_VERB = re.compile(
    "A|After|All|Also|Always|An|Another|As|At|Before|Both|But|By|Each|Every|Everything|First|For|From|How|If|In|Its?"
    "|Neither|Never|No|None|Nothing|On|One|Only|Otherwise|Over|Same|Several|So|Some|Such|That|The|Their|There|These|This"
    "|To|Under|Unless|Until|Up|When|Where|Which|With|Without"
)
"""Words with which no sentence in the imperative begins."""
DIGESTED = ("sandbox/toolboxes/assemble.py",)
"""Files whose bytes are part of an image's digest: a change of their words would make the image anew."""
FILES = sorted(
    path
    for path in HARNESS.rglob("*.py")
    if "in_container" not in path.parts and path.relative_to(HARNESS).as_posix() not in DIGESTED
)

PARTS = ("body", "orelse", "handlers", "finalbody", "cases")
"""What has statements within a statement."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@cache
def nodes(text: str) -> list[ast.AST]:
    """Return a module and all statements in it."""
    found: list[ast.AST] = [ast.parse(text)]
    for node in found:
        found += [each for part in PARTS for each in getattr(node, part, ())]
    return found


@cache
def documented(text: str) -> list[tuple[Documented, str]]:
    return [
        (node, words) for node in nodes(text) if isinstance(node, Documented) and (words := ast.get_docstring(node))
    ]


def of_constants(text: str) -> Iterator[str]:
    """Yield the texts below the constants and fields of a module and its classes."""
    for block in nodes(text):
        for above, below in pairwise(block.body if isinstance(block, ast.Module | ast.ClassDef) else ()):
            match above, below:
                case ast.Assign() | ast.AnnAssign(), ast.Expr(value=ast.Constant(value=str(words))):
                    yield words


def leaves_open(words: str) -> bool:
    return words.startswith("Whether ") or an_open_field(words)


def an_open_field(words: str) -> bool:
    """Return whether the text of a field leaves it open what the field is; a true or false one may say "Whether"."""
    return any(words == opening or words.startswith(f"{opening} ") for opening in OPEN)


def decorators(node: Documented) -> set[str]:
    found = [] if isinstance(node, ast.Module) else node.decorator_list
    return {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in found}


def openings(text: str) -> list[str]:
    """Return a module's docstrings that leave open what they tell of, or begin with a verb in the third person."""
    found = []
    for node, words in documented(text):
        first = re.split(r"\W", words, maxsplit=1)[0]
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        is_told = decorators(node) & {"property", "cached_property", "callback"}
        is_noun = re.fullmatch(r"[A-Z][a-z]*[a-rt-z]s", first) or NO_VERB.fullmatch(first) or words.startswith("`")
        is_not_imperative = is_function and not is_told and is_noun
        if (
            leaves_open(words)
            or (INDICATIVE.fullmatch(first) and not isinstance(node, ast.Module))
            or is_not_imperative
        ):
            found.append(words)
    return [*found, *filter(an_open_field, of_constants(text))]


def references(text: str) -> list[str]:
    """Return the names that the docstrings of a module refer to instead of saying something: "See `NAME`"."""
    found = [(words, re.match(r"See `(\w+)[`.]", words)) for _, words in documented(text) if words.startswith("See ")]
    return [match[1] if match else words for words, match in found]


@cache
def protocols() -> frozenset[str]:
    """Return the names of all protocols of the package."""
    pattern = re.compile(r"^class (\w+)\((?:.*\W)?Protocol(?:\[.*\])?\):", re.MULTILINE)
    return frozenset(name for path in FILES for name in pattern.findall(path.read_text(encoding="utf-8")))


def unsaid(text: str) -> list[str]:
    """Return the public methods of a module's protocols that have no docstring."""
    return [
        f"{protocol.name}.{method.name}"
        for protocol in nodes(text)
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
    assert openings('SECONDS = 3\n"""Of one job."""\n') == ["Of one job."]
    assert not openings('def f():\n    """Return what both need."""\n')


def test_a_function_that_does_not_speak_in_the_imperative_is_found() -> None:
    wrong = ("Raises UserError for none.", "Arms that failed.", "Reads a file.", "In the same order.", "`a` or `b`.")
    for words in wrong:
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
