"""Hooks of pytest that put something else in the place of tests, change their results, or leave some out. Pure.

A hook is a function with a name of pytest's, wherever it is defined, and all functions of its file that it names. To
read what a test or a report has, to sort or mark tests, and to give a test its report by a name that is put
together (`setattr(item, "rep_" + report.when, report)`) is no such thing; what drops tests is in leaving_out.py.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import tree_sitter_python
from tree_sitter import Language, Node

from harness.judging.languages.conduct import Rule, last_part, words_of
from harness.judging.languages.found import nodes_of, parsed
from harness.judging.languages.marked import Found, with_found
from harness.judging.languages.python.calls import first_named, literal
from harness.judging.languages.python.classes import name_of, text_of, with_short_comments
from harness.judging.languages.python.leaving_out import CHOOSING, IGNORED, LEAVES_FILES, LOOKED_AT, left_out
from harness.judging.languages.python.plain_names import with_plain_names
from harness.judging.languages.python.reached import Functions, Hook, reached

_GRAMMAR = Language(tree_sitter_python.language())
_IN_ITS_PLACE = frozenset({"pytest_pyfunc_call", "pytest_runtest_call", "pytest_runtest_protocol"})
"""Hooks that are called in the place of a test: whoever defines one may run something else there."""
_FIRST = frozenset({"pytest_pyfunc_call", "pytest_runtest_protocol"})
"""Hooks of which one that returns something is the last."""
_BODIES = words_of("obj _obj function runtest _testfunction _testmethod")
"""Attributes of a test that are what it runs."""
_RESULTS = words_of("outcome wasxfail excinfo")
"""Attributes of a report, or of a call, by which a test has passed or not."""
_FORCES = words_of("force_result force_exception")
_ANYWHERE = words_of("runtest _testfunction wasxfail")
"""Attributes that nothing else has, so that they count outside of hooks as well."""
_RUNS = words_of("obj function runtest testfunction runtestprotocol call_runtest_hook pytest_pyfunc_call")
"""Names without which a hook that is the last doesn't run the test."""
_SWAPS = "puts something else in the place of tests"
_TURNS = "changes what a test's result is"
_LOOKED_AT = (
    "assignment",
    "augmented_assignment",
    "delete_statement",
    "call",
    "keyword_argument",
    "except_clause",
    "with_statement",
    "return_statement",
    "for_statement",
    "for_in_clause",
    "as_pattern_target",
    *LOOKED_AT,
)
_HOOK = re.compile(rb"\bpytest_(?:collection|runtest|itemcollected|pyfunc|pycollect|generate|report|sessionstart)")
_WORD = re.compile(rb"\w+")
_CHOOSES = re.compile(rb"\b(?:%s)\b" % "|".join(sorted(CHOOSING)).encode())
_SETTING = words_of("assignment augmented_assignment delete_statement for_statement for_in_clause as_pattern_target")
"""Types of nodes that set or delete something."""
_SETTERS = words_of("setattr delattr __setattr__ __delattr__")
_MOST_TARGETS = 50


@dataclass(frozen=True, slots=True)
class Called:
    """Tests of a function's name: whether hooks of other files may call it."""

    by_hooks: Callable[[str], bool]
    by_choosing: Callable[[str], bool]
    """By hooks that choose among the tests which were found."""


class HookWords:
    """All words of a patch's files that have hooks: what hooks may call in others is among them."""

    def __init__(self, texts: Iterable[bytes]) -> None:
        self._files, self._choosing = Counter[str](), Counter[str]()
        for text in map(with_plain_names, texts):
            words = _words(text)
            self._files.update(words)
            self._choosing.update(words if _CHOOSES.search(text) else ())

    def beside(self, text: bytes) -> Called:
        """Return the names by which the files beside this one may call its functions in hooks."""
        text = with_plain_names(text)
        own = int(bool(_HOOK.search(text)))
        chooses = own * bool(_CHOOSES.search(text))
        return Called(lambda name: self._files[name] > own, lambda name: self._choosing[name] > chooses)


def _words(text: bytes) -> frozenset[str]:
    return (
        frozenset(word.decode(errors="replace") for word in _WORD.findall(text))
        if _HOOK.search(text)
        else frozenset()
    )


def with_hooks(rules: Mapping[str, Rule], root: Node, called: Called) -> Mapping[str, Rule]:
    """Return the rules of a file, which mark in its hooks what replaces tests and results as well."""
    return with_found(rules, _found(root, called), _LOOKED_AT)


def hooks_in_place(texts: Mapping[str, bytes]) -> dict[str, frozenset[str]]:
    """Return what of each text of a patch may run something else in the place of tests, or tell another result."""
    words = HookWords(texts.values())
    return {path: _in_place(text, words.beside(text)) for path, text in texts.items()}


def _in_place(text: bytes, called: Called) -> frozenset[str]:
    root = parsed(_GRAMMAR, with_short_comments(text))
    named = {text_of(node) for node in nodes_of(root) if node.type == "identifier"}
    found = [by for what, by in _found(root, called).values() if what in (_SWAPS, _TURNS)]
    said = {name_of(by.child_by_field_name("function") or by) or by.type for by in found}
    return frozenset((_IN_ITS_PLACE & named) | {f"`{' '.join(words.split())}`" for words in said})


def _found(root: Node, called: Called) -> Found:
    found: Found = {}
    functions: dict[str, list[Node]] = {}
    hooks: list[Hook] = []
    texts: dict[str, str] = {}
    for node in nodes_of(root):
        if node.type == "function_definition":
            name = text_of(node.child_by_field_name("name"))
            functions.setdefault(name, []).append(node)
            hooks += [(name, node)] if name.startswith("pytest_") or called.by_hooks(name) else []
        elif node.type == "decorated_definition" and (name := _specname(node)):
            inner = node.child_by_field_name("definition")
            hooks += [(name, inner)] if inner is not None else []
        elif node.type == "assignment":
            name, value = _named_by(_field(node, "left")), literal(_field(node, "right") or node)
            hooks += [(name, node)] if name.startswith("pytest_") else []
            texts |= {name: value} if value in _BODIES or value in _RESULTS else {}
        elif node.type == "identifier" and text_of(node) in IGNORED:
            found[node.id] = LEAVES_FILES, node
        if (seen := _anywhere(node, texts)) is not None:
            found[node.id] = seen
    found |= {node.id: (words, node) for words, node in left_out(hooks, functions, called.by_choosing)}
    _look_at_hooks(hooks, functions, texts, found)
    return found


def _look_at_hooks(hooks: list[Hook], functions: Functions, texts: Mapping[str, str], found: Found) -> None:
    """Look at hooks, and at the functions that they name, each once."""
    for hook, nodes in reached(hooks, functions):
        for node in nodes:
            if node.type != "identifier" and (remark := _in_hook(node, texts)) is not None:
                found.setdefault(node.id, remark)
        found |= _of_whole(hook, nodes)


def _named_by(target: Node | None) -> str:
    """Return the name that an assignment sets: of `globals()["x"]`, the text."""
    if target is None or target.type != "subscript":
        return text_of(target) if target is not None and target.type == "identifier" else ""
    of, key = target.child_by_field_name("value"), target.child_by_field_name("subscript")
    return literal(key) if key is not None and text_of(_field(of, "function")) in ("globals", "vars") else ""


def _specname(definition: Node) -> str:
    """Return the hook that a function is one of by its decorator: `@pytest.hookimpl(specname="pytest_...")`."""
    for decorator in (child for child in definition.children if child.type == "decorator"):
        for call in decorator.named_children:
            for item in first_named(call.child_by_field_name("arguments")):
                if text_of(item.child_by_field_name("name")) == "specname":
                    return literal(value) if (value := item.child_by_field_name("value")) else ""
    return ""


def _targets(node: Node) -> Iterator[tuple[str, str, Node]]:
    """Yield what a statement sets or deletes of anything: the name of what it is of, the attribute, and its node."""
    is_list = node.type in ("delete_statement", "as_pattern_target")
    waiting = node.named_children if is_list else [node.child_by_field_name("left") or node]
    for target in waiting[:_MOST_TARGETS]:
        parts = target.named_children[:_MOST_TARGETS] if "list" in target.type or "tuple" in target.type else [target]
        for part in parts:
            if part.type == "attribute":
                whole, name = part.child_by_field_name("object"), part.child_by_field_name("attribute")
                yield name_of(whole), text_of(name), part
            elif part.type == "subscript":
                whole, key = part.child_by_field_name("value"), part.child_by_field_name("subscript")
                if _is_table(whole) and key is not None:
                    yield "", literal(key), part


def _set(node: Node, texts: Mapping[str, str]) -> Iterator[tuple[str, str, Node]]:
    """Yield what a node sets of anything, by a statement or by a call that names it; `texts` are those of names."""
    if node.type in _SETTING:
        yield from _targets(node)
    elif node.type == "call":
        function, given = node.child_by_field_name("function"), first_named(node.child_by_field_name("arguments"))
        called = last_part(name_of(function))
        if called in _SETTERS:
            for before, item in zip(["", *map(name_of, given)], given[:2], strict=False):
                text = literal(item) or texts.get(text_of(item) if item.type == "identifier" else "", "")
                yield before or text.rpartition(".")[0], text.rpartition(".")[2], node
        elif called == "update" and function is not None and _is_table(function.child_by_field_name("object")):
            yield from (("", text_of(item.child_by_field_name("name")), node) for item in given)


def _is_table(node: Node | None) -> bool:
    """Return whether an expression is the table of an object's attributes."""
    return text_of(_field(node, "attribute")) == "__dict__" or text_of(_field(node, "function")) == "vars"


def _field(node: Node | None, name: str) -> Node | None:
    return node.child_by_field_name(name) if node is not None else None


def _anywhere(node: Node, texts: Mapping[str, str]) -> tuple[str, Node] | None:
    for of, name, by in _set(node, texts):
        if name in _ANYWHERE or (name in _BODIES and (of == "request.node" or of.endswith(".request.node"))):
            return (_TURNS if name in _RESULTS else _SWAPS), by
    called = last_part(name_of(node.child_by_field_name("function"))) if node.type == "call" else ""
    return (_TURNS, node) if called in _FORCES else None


def _in_hook(node: Node, texts: Mapping[str, str]) -> tuple[str, Node] | None:
    for of, name, by in _set(node, texts):
        if name in _RESULTS:
            return _TURNS, by
        if name in _BODIES and of not in ("self", "cls") and not last_part(of).startswith("rep"):
            return _SWAPS, by
    if node.type == "keyword_argument" and text_of(node.child_by_field_name("name")) == "callobj":
        return _SWAPS, node
    called = name_of(node.child_by_field_name("function")) if node.type == "call" else ""
    return (_TURNS, node) if last_part(called.removesuffix(".from_call")) in ("TestReport", "CallInfo") else None


def _of_whole(hook: str, nodes: list[Node]) -> Found:
    """Return what a hook does as a whole: it takes what a test raises, or ends the run of hooks without the test."""
    if not (hook in _FIRST or hook.startswith("pytest_runtest_")):
        return {}
    yields = [node.start_byte for node in nodes if node.type == "yield"]
    if yields:
        return dict(_taken(nodes, yields)) if hook != "pytest_runtest_makereport" else {}
    words = {text_of(node) for node in nodes if node.type == "identifier"} - {hook}
    returned = [node for node in nodes if node.type == "return_statement" and _returns(node)]
    return {node.id: (_SWAPS, node) for node in returned if hook in _FIRST and words.isdisjoint(_RUNS)}


def _returns(statement: Node) -> bool:
    """Return whether a statement returns something: nothing lets other hooks go on."""
    return any(not child.is_extra and child.type not in ("none", "false") for child in statement.named_children)


def _taken(nodes: list[Node], yields: list[int]) -> Iterator[tuple[int, tuple[str, Node]]]:
    """Yield where what a test raises ends: at an `except` without `raise`, or at a `suppress`."""
    for node in nodes:
        if node.type == "try_statement" and _has(node.child_by_field_name("body"), yields):
            for child in node.named_children:
                if child.type == "except_clause" and not any(
                    each.type == "raise_statement" for each in nodes_of(child)
                ):
                    yield child.id, (_TURNS, child)
        elif node.type == "with_statement" and _has(node.child_by_field_name("body"), yields):
            clause = next((child for child in node.named_children if child.type == "with_clause"), None)
            if clause is not None and any(text_of(each) == "suppress" for each in nodes_of(clause)):
                yield node.id, (_TURNS, clause)


def _has(body: Node | None, places: list[int]) -> bool:
    """Return whether one of some places, which are in order, is in a body."""
    at = bisect_left(places, body.start_byte) if body is not None else len(places)
    return body is not None and at < len(places) and places[at] < body.end_byte
