"""Bodies taken out by tree-sitter, in every language: what stays, what goes, what is refused."""

import ast
import inspect
from pathlib import Path
from typing import Any

import pytest
from tree_sitter import Parser

from harness.judging.languages.c.catalogue import GRAMMAR as C_GRAMMAR
from harness.judging.languages.functions import below
from harness.judging.languages.go.language import ON_DISK as GO
from harness.judging.languages.registry import LANGUAGES
from harness.judging.languages.stubbing import MESSAGE, CannotStub, StubKind
from harness.judging.languages.typescript.rewriting.catalogue import GRAMMAR as TS_GRAMMAR
from harness.specs.catalog import Catalog
from harness.specs.catalog_places import default_directory

PYTHON = b'''"""A module."""
from __future__ import annotations
import os
from typing import overload


class Shelf:
    """Books."""

    @property
    def size(self) -> int:
        """How many.

        None is zero."""
        return len(self.books)

    @size.setter
    def size(self, wanted): self.wanted = wanted

    @overload
    def take(self, book: int) -> str: ...
    @overload
    def take(self, book: str) -> str: ...
    def take(self, book):
        # whichever
        return self.books[book]

    @classmethod
    async def opened(cls, path: str) -> dict[str, list[int]]:
        async with os.open(path) as file:
            return await file.read()

    @staticmethod
    async def pages(book):
        async for page in book:
            yield page

    def __init__(self):
        self.books = []


def each(books):
    for book in books:
        yield from book


def short(
    title,  # of a book
    most=40,
) -> str | None:   # or nothing

    # first

    def inner():
        yield 1

    return title[:most]


def empty():
    """Nothing yet."""


if os.name:
    def one_line(): "Says it."; return 1
'''
GO_TEXT = b"""// Package shelf has books.
package shelf

import (
\t"fmt"
\t"strings"
\tx "strconv"

\t_ "embed"
\t"gopkg.in/tomb.v2"
)

type Size struct{ Pages, Words int }

func init() { fmt.Println() }

// Title of a book.
func (b *Book[T]) Title(words ...string) (title string, err error) {
\tdefer func() { recover() }()
\treturn strings.Join(words, " "), nil
}

func Max[T int | float64](a, b T) T {
\tif a > b {
\t\treturn a
\t}
\treturn b
}

func size(text string) (Size, bool) { n, _ := x.Atoi(text); return Size{n, n}, true }

func (Size) Close() { tomb.Kill(nil) }

func assembly(a int) int

func keep() string { return fmt.Sprint(1) }
"""
C_TEXT = b"""#include <stdio.h>

#define SQUARE(x) ((x) * (x))
#define EACH(list) for (int i = 0; i < (list)->size; i++)
#define LIMIT 10

static int helper(int a) { return a + 1; }
static int others;

/* The size. */
static inline size_t size_of(const list_t *list, int (*pick)(int), char name[8]) {
    others++;
    return list ? helper((int)list->size) : 0;
}

const char *title(book_t *book) { return book->title; }
json_t *copy(json_t *json) { return json; }
void walk(void) { puts("x"); }
struct pair make(int a) { struct pair p = {a, a}; return p; }
int broken(int a) { list_each(a, b) UNLESS return 1; return 0; }
int main(void) { return 0; }
"""
TS_TEXT = b"""import { thing } from "./thing";
import type { Book } from "./book";

export function pick(at: number): string;
export function pick(at: string): string;
export function pick(at: any): string {
  return thing(at);
}
export const short = <T extends Book>(book: T): number => book.pages;
export async function load(path: string): Promise<string[]> { return [path]; }
export function* each(list: string[]) { yield* list; }
export function isBook(value: unknown): value is Book { return !!value; }
abstract class Shelf<T> extends Base {
  private readonly all = () => { return [1]; };
  constructor(readonly size: number) { super(); }
  get first(): T { return this.items[0]; }
  set first(item: T) { this.items[0] = item; }
  static async *pages(): AsyncGenerator<number> { yield 1; }
  abstract nothing(): void;
  log(): void { console.log(this); }
}
const table = { key: function (a: number) { return a > 1; }, other() {} };
"""


def stubs_of(language: str) -> Any:
    return LANGUAGES.get(language).stubs


def stubbed(language: str, text: bytes, path: str, kind: StubKind, *names: str) -> str:
    chosen = names or [name for name, refusal in stubs_of(language).symbols(text, path).items() if not refusal]
    return stubs_of(language).stub(text, path, list(chosen), kind).text.decode()


@pytest.mark.parametrize("kind", list(StubKind))
def test_a_python_stub_keeps_all_that_callers_see(kind: StubKind) -> None:
    before, after = ast.parse(PYTHON), ast.parse(stubbed("python", PYTHON, "shelf.py", kind))
    for one, other in zip(functions(before), functions(after), strict=True):
        assert type(one) is type(other)
        assert ast.dump(one.args) == ast.dump(other.args)
        assert list(map(ast.dump, one.decorator_list)) == list(map(ast.dump, other.decorator_list))
        assert ast.get_docstring(one) == ast.get_docstring(other)
    assert after.body[1].module == "__future__"


def functions(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Of the module and its classes, in order, none within another."""
    found, waiting = [], list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node)
        elif isinstance(node, ast.ClassDef | ast.If):
            waiting = [*node.body, *waiting]
    return found


@pytest.mark.parametrize("kind", list(StubKind))
def test_a_generator_stays_one_and_a_coroutine_too(kind: StubKind) -> None:
    scope: dict[str, Any] = {}
    exec(compile(stubbed("python", PYTHON, "shelf.py", kind), "shelf.py", "exec"), scope)
    assert inspect.isgeneratorfunction(scope["each"])
    assert inspect.isasyncgenfunction(scope["Shelf"].pages)
    assert inspect.iscoroutinefunction(scope["Shelf"].opened)
    assert not inspect.isgeneratorfunction(scope["short"])
    assert scope["Shelf"].size.__doc__.startswith("How many.")


def test_a_python_stub_that_refuses_raises_what_no_test_expects() -> None:
    scope: dict[str, Any] = {}
    exec(compile(stubbed("python", PYTHON, "shelf.py", StubKind.REFUSES), "shelf.py", "exec"), scope)
    for call in (lambda: scope["short"]("x"), lambda: next(scope["each"]([])), lambda: scope["one_line"]()):
        with pytest.raises(SystemError, match=MESSAGE):
            call()


def test_python_garbage_has_the_type_that_is_declared_and_another_value_each_time() -> None:
    scope: dict[str, Any] = {}
    exec(compile(stubbed("python", PYTHON, "shelf.py", StubKind.GARBAGE), "shelf.py", "exec"), scope)
    assert len({scope["short"]("x") for _ in range(20)}) > 15
    assert all(isinstance(scope["short"]("x"), str) for _ in range(5))
    shelf = scope["Shelf"]()
    assert isinstance(shelf.size, int)
    with pytest.raises(StopIteration) as ended:
        scope["Shelf"].opened("x").send(None)
    [(key, [value])] = ended.value.value.items()
    assert isinstance(key, str)
    assert isinstance(value, int)


def test_garbage_that_a_test_could_take_for_right_is_told() -> None:
    made = stubs_of("python").stub(
        b"def tell(x) -> None:\n    print(x)\n\ndef ok(x):\n    return x > 1\n",
        "a.py",
        ["tell", "ok"],
        StubKind.GARBAGE,
    )
    assert [warning.partition(";")[0] for warning in made.warnings] == [
        "tell: it does nothing",
        "ok: it gives True or False by chance",
    ]


def test_of_a_name_that_is_there_twice_both_are_stubbed() -> None:
    text = stubbed("python", PYTHON, "shelf.py", StubKind.REFUSES, "Shelf.size")
    assert text.count(MESSAGE) == 2
    assert "return self.books[book]" in text


def test_a_function_within_one_that_is_stubbed_too_is_no_edit_of_its_own() -> None:
    text = b"const a = {\n  f() {\n    return function g() { return 1; };\n  },\n};\n"
    assert stubbed("typescript", text, "a.ts", StubKind.REFUSES).count(MESSAGE) == 1


@pytest.mark.parametrize(
    ("language", "text", "name", "words"),
    [
        ("python", PYTHON, "Shelf.tke", "no function 'Shelf.tke'; did you mean Shelf.take"),
        ("python", PYTHON, "take", "no function 'take'; did you mean Shelf.take"),
        ("python", PYTHON, "empty", "empty can't be stubbed: it has no body to take out"),
        ("go", GO_TEXT, "init", "init runs by itself"),
        ("go", GO_TEXT, "assembly", "declared here and written elsewhere"),
        ("c", C_TEXT, "LIMIT", "it is a constant"),
        ("c", C_TEXT, "broken", "cuts through it"),
        ("c", C_TEXT, "main", "main runs by itself"),
        ("typescript", TS_TEXT, "Shelf.nothing", "no function 'Shelf.nothing'"),
        ("typescript", TS_TEXT, "table.other", "it has no body to take out"),
    ],
)
def test_what_cannot_be_stubbed_is_refused_in_one_line_with_the_reason(
    language: str, text: bytes, name: str, words: str
) -> None:
    with pytest.raises(CannotStub, match=words) as refusal:
        stubs_of(language).stub(text, "a.py", [name], StubKind.REFUSES)
    assert "\n" not in str(refusal.value)


def tree_of(language: str, text: str) -> Any:
    grammar = {"go": GO.grammar.language, "c": C_GRAMMAR.language, "typescript": TS_GRAMMAR.language}[language]
    return Parser(grammar).parse(text.encode()).root_node


@pytest.mark.parametrize("kind", list(StubKind))
@pytest.mark.parametrize(("language", "text", "path"), [("go", GO_TEXT, "shelf.go"), ("typescript", TS_TEXT, "a.ts")])
def test_a_stub_is_still_its_language_and_has_every_signature(
    kind: StubKind, language: str, text: bytes, path: str
) -> None:
    made = stubbed(language, text, path, kind)
    assert not tree_of(language, made).has_error
    heads = [
        line.partition("{")[0].strip()
        for line in text.decode().splitlines()
        if line.startswith(("func", "export func"))
    ]
    assert all(head in made for head in heads if head)


def test_an_import_whose_last_use_is_gone_stays_under_no_name() -> None:
    made = stubbed("go", GO_TEXT, "shelf.go", StubKind.REFUSES, "Book.Title", "size", "Size.Close")
    assert '_ "strings"' in made
    assert '_ "strconv"' in made
    assert '_ "gopkg.in/tomb.v2"' in made
    assert '\t"fmt"' in made


def test_go_returns_an_error_where_it_can_and_panics_where_it_cannot() -> None:
    made = stubbed("go", GO_TEXT, "shelf.go", StubKind.REFUSES)
    assert f'return "", chanceErrors.New("{MESSAGE}")' in made
    assert made.count(f'panic("{MESSAGE}")') == 4


def test_go_garbage_fills_the_structs_of_its_file() -> None:
    made = stubbed("go", GO_TEXT, "shelf.go", StubKind.GARBAGE)
    assert "return Size{Pages: chanceNumberShelf(), Words: chanceNumberShelf()}, chanceNumberShelf()%2 == 0" in made
    assert "return *new(T)" in made
    assert [node.type for node in below(tree_of("go", made)) if node.type == "ERROR"] == []


def test_a_c_stub_mentions_its_parameters_and_what_nothing_else_uses_any_more() -> None:
    made = stubbed("c", C_TEXT, "a.c", StubKind.REFUSES, "size_of")
    body = made[made.index("char name[8]) {") :].partition("\n}")[0]
    assert body.split("\n")[1:] == [
        *(f"    (void){name};" for name in ("list", "pick", "name", "helper", "others")), "    abort();"
    ]  # fmt: skip
    assert made.startswith("#include <stdlib.h>\n#include <stdio.h>\n")


def test_a_macro_stays_a_macro_and_a_statement_stays_one() -> None:
    made = stubbed("c", C_TEXT, "a.c", StubKind.REFUSES, "SQUARE", "EACH")
    assert "#define SQUARE(x) (abort(), 0)\n" in made
    assert "#define EACH(list) do { abort(); } while (0)\n" in made


def test_c_garbage_is_of_the_return_type() -> None:
    made = stubbed("c", C_TEXT, "a.c", StubKind.GARBAGE)
    assert "return (size_t)chance_another();" in made
    assert "return NULL;" in made
    assert "return (struct pair){0};" in made
    assert made.index("static unsigned chance_another(void)") < made.index("return (size_t)")


def test_typescript_garbage_follows_the_annotation() -> None:
    made = stubbed("typescript", TS_TEXT, "a.ts", StubKind.GARBAGE)
    assert "export function pick(at: number): string;" in made
    assert "Promise<string[]> {\n  return [`value ${Math.floor(Math.random() * 1e6)}`] as any;\n}" in made
    assert "value is Book {\n  return Math.random() < 0.5;\n}" in made
    assert "constructor(readonly size: number) { super(); }" in made


def test_every_function_of_our_own_code_can_be_stubbed_and_compiles() -> None:
    stubs, made = stubs_of("python"), 0
    for path in sorted((default_directory() / "harness" / "judging" / "verify").glob("*.py")):
        text = path.read_bytes()
        names = [name for name, refusal in stubs.symbols(text, path.name).items() if not refusal]
        for kind in StubKind if names and any("__" not in name for name in names) else ():
            compile(stubs.stub(text, path.name, names, kind).text, str(path), "exec")
            made += len(names)
    assert made > 200


def test_the_sample_of_stubs_in_the_docs_is_of_every_repository_and_nearly_all_compile() -> None:
    page = (Path(__file__).parents[2] / "docs" / "stubs.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")][1:]
    assert sum(int(row[1]) for row in rows) == 200
    assert {row[0] for row in rows} == set(Catalog().names("repos"))
    assert sum(int(row[4]) for row in rows) >= 0.95 * sum(int(row[3]) for row in rows)


OWN_CLASSES = b"""\
from dataclasses import dataclass
from typing import Optional, Self


@dataclass
class Point:
    x: int
    name: str
    z: float = 0.0


class Box:
    def __init__(self, width: int, *rest, label: str, depth=3):
        self.given = (width, rest, label, depth)

    def wider(self) -> Self:
        return other(self)


class Odd:
    def __init__(self, thing):
        self.thing = thing


def origin() -> Point:
    return found()


def perhaps() -> Optional["Box"]:
    return found()


def odd() -> Odd:
    return found()
"""


def test_garbage_of_a_class_of_the_same_file_is_one_of_that_class():
    names = ["origin", "perhaps", "Box.wider", "odd"]
    made = stubs_of("python").stub(OWN_CLASSES, "a.py", names, StubKind.GARBAGE)
    space: dict[str, Any] = {"__name__": "a"}
    exec(made.text, space)
    first, second = space["origin"](), space["origin"]()
    assert isinstance(first, space["Point"])
    assert first != second
    assert isinstance(space["perhaps"](), space["Box"])
    assert isinstance(space["Box"](1, label="a").wider(), space["Box"])
    assert isinstance(space["odd"](), str), "nothing says what its constructor takes"
    told = {line.partition(":")[0]: line for line in made.warnings}
    assert "of a class of this file" in told["origin"]
    assert "its type isn't known" in told["odd"]
