"""Stubs in C: functions and function-like macros. What only the body used is mentioned, so that no compiler warns."""

import re
from collections.abc import Iterator, Mapping, Sequence

from tree_sitter import Node

from harness.judging.languages.c.catalogue import GRAMMAR, qualified
from harness.judging.languages.found import parsed, text_of
from harness.judging.languages.functions import apply, below
from harness.judging.languages.stubbing import Stubbed, StubChange, StubKind, Target, chosen, refusals

_TURNS = "chance_turns"
_ANOTHER = "chance_another"
_NUMBER = (
    f"\nstatic unsigned {_TURNS};\n\n"
    f"/* A number, and another one each time. */\nstatic unsigned {_ANOTHER}(void) {{\n"
    f"    if (!{_TURNS})\n        {_TURNS} = (unsigned)time(NULL) * 2654435761u | 1;\n"
    f"    {_TURNS} = {_TURNS} * 1664525u + 1013904223u;\n    return 1 + ({_TURNS} >> 8) % 899981;\n}}\n"
)
_NOTHING = "it does nothing; a test of what is not done, or not changed, takes that for right"
_NUMBERS = re.compile(
    r"(const |static |inline |unsigned |signed |long |short |extern )*"
    r"(unsigned|signed|int|long|short|char|size_t|ssize_t|double|float|u?int(8|16|32|64|ptr)?_t|json_int_t|bool|_Bool)"
)
COMPILE = "run_tests --library /tmp/built/library"
"""See `Stubs`: the whole library, of which what hasn't changed is kept."""

_DECLARING = frozenset({"declaration", "function_declarator", "init_declarator", "array_declarator"})


def symbols(source: bytes, path: str) -> Mapping[str, str]:  # noqa: ARG001
    """See `Stubs`."""
    return refusals(list(_targets(parsed(GRAMMAR.language, source))))


def stub(source: bytes, path: str, names: Sequence[str], kind: StubKind) -> Stubbed:
    """See `Stubs`."""
    root = parsed(GRAMMAR.language, source)
    targets = chosen(list(_targets(root)), names, path)
    kept = _statics(root)
    gone = [(each.node.start_byte, each.node.end_byte) for each in targets]
    used = {text_of(node) for node in _names(root) if not any(a <= node.start_byte < b for a, b in gone)}
    changes = [(target, _change(target, kind, kept - used)) for target in targets]
    edits = [edit for _, change in changes for edit in change.edits]
    wanted = ["stdlib"] if kind is StubKind.REFUSES else ["time"]
    if kind is StubKind.REFUSES or any(_ANOTHER.encode() in new for _, _, new in edits):
        at = _first_place(root)
        included = "".join(f"#include <{name}.h>\n" for name in wanted if f"<{name}.h>".encode() not in source)
        edits.append((at, at, included.encode()))
        if kind is StubKind.GARBAGE:
            before = _before(targets[0].node)
            edits.append((before, before, f"{_NUMBER.lstrip()}\n".encode()))
    warnings = tuple(f"{target.name}: {change.warning}" for target, change in changes if change.warning)
    return Stubbed(apply(source, edits), warnings)


def _targets(root: Node) -> Iterator[Target]:
    for node in below(root):
        if node.type == "function_definition" and (name := qualified(node)):
            yield Target(name, node, node.child_by_field_name("body"), _refusal(node))
        elif node.type == "preproc_function_def":
            value = node.child_by_field_name("value")
            refusal = "" if value is not None and text_of(value).strip() else "it has no body to take out"
            yield Target(text_of(node.child_by_field_name("name")), node, value, refusal)
        elif node.type == "preproc_def":
            yield Target(text_of(node.child_by_field_name("name")), node, None, "it is a constant, without a body")


def _refusal(function: Node) -> str:
    body = function.child_by_field_name("body")
    if body is None or body.type != "compound_statement":
        return "its body isn't in braces"
    if function.has_error:
        return "a macro or a condition of the preprocessor cuts through it"
    text = text_of(body)
    if len(re.findall(r"^\s*#\s*if", text, re.M)) != len(re.findall(r"^\s*#\s*endif", text, re.M)):
        return "a condition of the preprocessor begins or ends within it"
    if text_of(function.child_by_field_name("declarator")).startswith("main("):
        return "main runs by itself: without it no test of the program says anything"
    if all(node.type == "comment" for node in body.named_children):
        return "it has no body to take out"
    return ""


def _change(target: Target, kind: StubKind, kept: set[str]) -> StubChange:
    assert target.body is not None  # else it is refused
    if target.node.type == "preproc_function_def":
        return _macro(target, kind)
    mentioned = sorted({text_of(node) for node in _names(target.body)} & kept - {target.name})
    lines = [f"(void){name};" for name in [*_parameters(target.node), *mentioned]]
    warning = ""
    if kind is StubKind.REFUSES:
        lines.append("abort();")
    else:
        line, warning = _garbage(target.node)
        lines += [line] if line else []
    text = "".join(f"\n    {line}" for line in lines)
    return StubChange(((target.body.start_byte, target.body.end_byte, f"{{{text}\n}}".encode()),), warning)


def _macro(target: Target, kind: StubKind) -> StubChange:
    """Return a macro that is a statement stays one."""
    assert target.body is not None
    text = text_of(target.body).strip()
    is_statement = text.startswith(("do", "{", "if", "for", "while")) or text.endswith(";")
    end = target.body.start_byte + len((target.body.text or b"").rstrip())
    if kind is StubKind.REFUSES:
        new, warning = ("do { abort(); } while (0)" if is_statement else "(abort(), 0)"), ""
    else:
        new = "do { } while (0)" if is_statement else f"({_ANOTHER}())"
        warning = _NOTHING if is_statement else "it gives a number; where it is a pointer it won't compile"
    return StubChange(((target.body.start_byte, end, new.encode()),), warning)


def _garbage(function: Node) -> tuple[str, str]:
    declarator = function.child_by_field_name("declarator")
    is_pointer = declarator is not None and declarator.type == "pointer_declarator"
    specifiers = [
        text_of(node) for node in function.children if declarator and node.end_byte <= declarator.start_byte
    ]
    words = [word for word in specifiers if word not in ("static", "inline", "extern", "JSON_INLINE")]
    type_ = " ".join(words)
    if type_ == "void" and not is_pointer:
        return "", _NOTHING
    if is_pointer and type_ in ("char", "const char"):
        text = f'static char word[16]; return snprintf(word, sizeof(word), "word%u", {_ANOTHER}()), word;'
        return text, "its caller must not free what it gives"
    if is_pointer:
        return "return NULL;", "it gives NULL; a test may expect that"
    if type_ in ("bool", "_Bool"):
        return f"return {_ANOTHER}() % 2;", "it gives true or false by chance; one test in two takes that for right"
    if _NUMBERS.fullmatch(type_):
        return f"return ({type_}){_ANOTHER}();", ""
    return f"return ({type_}){{0}};", f"it gives the zero value of {type_}; a test may expect that"


def _parameters(function: Node) -> list[str]:
    """Return the names of the parameters. Those of K&R style stand behind the declarator and are named in it."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type in ("pointer_declarator", "parenthesized_declarator"):
        declarator = declarator.child_by_field_name("declarator") or declarator.named_child(0)
    listed = declarator.child_by_field_name("parameters") if declarator else None
    names: list[str] = []
    for each in listed.named_children if listed else []:
        if each.type == "identifier":
            names.append(text_of(each))
        inner = each.child_by_field_name("declarator")
        while inner is not None and inner.type != "identifier":
            inner = inner.child_by_field_name("declarator") or (
                inner.named_child(0) if inner.type == "parenthesized_declarator" else None
            )
        names += [text_of(inner)] if inner else []
    return names


def _statics(root: Node) -> set[str]:
    """Return the functions and variables of the file alone."""
    found: set[str] = set()
    for node in below(root):
        specifiers = [text_of(child) for child in node.children if child.type == "storage_class_specifier"]
        if node.type in ("function_definition", "declaration") and "static" in specifiers:
            if node.parent is not None and node.parent.type == "compound_statement":
                continue
            names = [_declared(each) for each in node.children_by_field_name("declarator")]
            found |= {name for name in names if name}
    return found


def _declared(declarator: Node | None) -> str:
    while declarator is not None and declarator.type != "identifier":
        declarator = declarator.child_by_field_name("declarator")
    return text_of(declarator)


def _names(node: Node) -> Iterator[Node]:
    """Yield every identifier that isn't the name of what a static function or variable declares itself."""
    for each in below(node):
        above = each.parent
        if each.type != "identifier" or above is None:
            continue
        if above.type not in _DECLARING or above.child_by_field_name("declarator") != each:
            yield each


def _first_place(root: Node) -> int:
    """Return where an include may stand: before the first of the file, for what follows may be conditional."""
    first = next((node for node in root.named_children if node.type == "preproc_include"), None)
    if first is not None:
        return first.start_byte
    return next((node.start_byte for node in root.named_children if node.type != "comment"), 0)


def _before(node: Node) -> int:
    """Return where another function may stand: before the file's first parts, with their comment and conditions."""
    while node.parent is not None and node.parent.parent is not None:
        node = node.parent
    while node.prev_sibling is not None and node.prev_sibling.type == "comment":
        node = node.prev_sibling
    return node.start_byte
