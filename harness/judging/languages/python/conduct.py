"""Means of Python that behaviour doesn't need: code objects, sources, bytecode, the import machinery, tracing."""

from collections.abc import Mapping
from types import MappingProxyType

from tree_sitter import Node

from harness.judging.languages.conduct import (
    NUMBERED,
    OF_NUMBERS,
    TAKING_PATHS,
    Around,
    Conduct,
    FileRules,
    Remark,
    Rule,
    Shown,
    Sources,
    is_of_descriptors,
    is_source,
    last_part,
    place_words,
    scan_words,
    sights,
)
from harness.judging.languages.dotted_names import bare, parts_of
from harness.judging.languages.found import nodes_of, parsed
from harness.judging.languages.marked import with_found
from harness.judging.languages.pathnames import joins
from harness.judging.languages.python.calls import (
    asks_status,
    given_to,
    is_called,
    is_of_repr,
    is_read,
    listed,
    literal,
    member_of,
    module_asked,
    number,
    writes,
)
from harness.judging.languages.python.classes import GRAMMAR, name_of, text_of, with_short_comments
from harness.judging.languages.python.commands import Commands
from harness.judging.languages.python.copies import copy_words
from harness.judging.languages.python.globs import globbed
from harness.judging.languages.python.harmless import harmless
from harness.judging.languages.python.hooks import HookWords, with_hooks
from harness.judging.languages.python.imports import Imports, imports_of
from harness.judging.languages.python.inner import inner
from harness.judging.languages.python.judged import conditions
from harness.judging.languages.python.means import (
    ASKING,
    ATTRIBUTES,
    BY_NAME,
    COMMON,
    COMPARERS,
    COMPILED,
    CONFIGS,
    FOLDERS,
    FORMATS,
    FORMATTED,
    GLOBS,
    LISTERS,
    LOADERS,
    MEMBERS,
    MODULES,
    MOST_RUNNING,
    NAMES,
    NUMBERS,
    OF_LOADERS,
    READERS,
    RUNNERS,
    SENDERS,
    SIGNALS,
    SOURCE,
    TIMERS,
    asked_words,
    matters,
)
from harness.judging.languages.python.noted_failures import noted_failures
from harness.judging.languages.python.own_files import OwnFiles
from harness.judging.languages.python.plain_names import with_plain_names
from harness.judging.languages.python.plain_rules import alone, comment, matched
from harness.judging.languages.python.repositories import leads_elsewhere
from harness.judging.languages.python.running import RUNNING, OwnNames, is_looked_up
from harness.judging.languages.python.teeth import teeth
from harness.judging.languages.python.values import Values

_MARKED = ("attribute", "identifier", "call", "assignment")
_OPENING = Around.READING | Around.LISTING
_BUILTINS = frozenset({"builtins", "__builtins__"})
_LONGEST_PATH = 4_096


def _rules_of(sources: Sources) -> FileRules:
    words = HookWords(text for path, text in sources.own.items() if path.endswith(".py"))

    def rules(root: Node, path: str) -> Mapping[str, Rule]:
        marked = conditions(root) | noted_failures(root) | teeth(root, path)
        found = with_found(_File(root, path, sources.own).rules, marked, _MARKED)
        return with_hooks(found, root, words.beside(sources.own.get(path, b"")))

    return rules


class _File:
    """Meanings of a file's names: those that it imports, and constants."""

    def __init__(self, root: Node, path: str = "", own: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self._is_numbered = self._has_descriptors = False
        self._values = Values(lambda name: self._imports.resolved(name))
        self._has_config = self._has_environment = self._sends = False
        self._harmless = set[int]()
        self._beside = OwnFiles(own, path, self._values)
        running, members, imports = list[Node](), set[int](), list[Node]()
        for node in nodes_of(root):
            self._values.look(node)
            self._harmless.update(harmless(node))
            if node.type in ("import_statement", "import_from_statement"):
                imports.append(node)
            elif node.type == "identifier":
                self._is_numbered |= text_of(node) in NUMBERED
                self._has_config |= text_of(node) in CONFIGS
                self._has_environment |= text_of(node) == "environ"
                self._sends |= text_of(node) in SENDERS
                running += [node] if text_of(node) in RUNNING and node.id not in members else []
            elif node.type in MEMBERS and (member := node.child_by_field_name(MEMBERS[node.type])):
                members |= {member.id} if text_of(member) in RUNNING else set()
            elif node.type == "string":
                self._has_descriptors |= is_of_descriptors(literal(node))
        self._is_numbered |= self._has_descriptors
        self._imports = Imports(imports, NAMES, COMMON, matters)
        self._commands = Commands(self._values, self._imports.resolved, _code_words)
        self._commands.leads_elsewhere = leads_elsewhere(root.text or b"")
        self._members = members
        self._is_full = len(running) > MOST_RUNNING
        self._own = OwnNames(running[:MOST_RUNNING], is_sure=not (self._imports.has_stars or self._is_full))
        self.rules: Mapping[str, Rule] = {
            "import_statement": self._import,
            "import_from_statement": self._import,
            "attribute": self._attribute,
            "call": self._call,
            "subscript": self._subscript,
            "assignment": self._assignment,
            "string": self._string,
            "identifier": self._identifier,
            "keyword_pattern": matched,
            "comment": comment,
            "expression_statement": alone,
            "binary_operator": self._joined,
            "concatenated_string": self._joined,
        }

    def _import(self, node: Node, around: Around) -> Shown:
        module = [node.child_by_field_name("module_name")]
        imported = list(imports_of(node))
        if self._is_numbered and any(name == "stat.ST_INO" for _, _, name in imported):
            return OF_NUMBERS, around
        found = [(name, item) for item, _, name in imported if MODULES.fullmatch(name) or name in NAMES]
        by = [item for item in (*(item for _, item in found), *module) if item is not None]
        return Remark(f"imports {found[0][0]}" if found else "", around, by)

    def _whole(self, node: Node | None) -> str:
        """Return the whole name that an expression is: by the imports, and by names that the file gives to others."""
        found = self._imports.resolved(name := name_of(node))
        first, dot, rest = name.partition(".")
        if node is None or (first in RUNNING and not dot and self._is_builtin(node)):
            return name
        if (of := module_asked(node)) is not None:
            found = self._imports.resolved(f"{next(self._values.exact(of), '')}.{text_of(next(parts_of(node)))}")
        if not self._values.knows(first) or matters(found):
            return found
        *_, leftmost = parts_of(node)
        for value in self._values.of(leftmost):
            other = self._imports.resolved(name_of(value) + dot + rest) if value is not None else ""
            if matters(other) or last_part(other) in READERS:
                return other
        return found

    def _is_builtin(self, node: Node) -> bool:
        """Return whether all imports of a builtin's name are those of other functions."""
        scopes = {*self._values.scopes.around(node.start_byte)}
        return not any(
            self._values.scopes.innermost(place) in scopes for place in self._imports.places(text_of(node))
        )

    def _attribute(self, node: Node, around: Around) -> Shown:
        name, whole = text_of(node.child_by_field_name("attribute")), node.child_by_field_name("object")
        if name in FOLDERS:
            around |= Around.FOLDER
        if node.id in self._harmless and not (name in NUMBERS and self._has_descriptors):
            return "", around
        if name == "xmlpath" and self._has_config and name_of(whole) not in ("self", "cls"):
            return "asks whether it is judged", around
        if name in ATTRIBUTES:
            return f"looks at {name}", around
        if name in FORMATS and whole is not None and (taken := FORMATTED.search(literal(bare(whole)))):
            return Remark(f"names {taken[1]}", around, [whole])
        if name in OF_LOADERS and text_of(next(parts_of(whole), None)) in ("loader", "__loader__"):
            return f"uses a loader's {name}", around
        if self._is_numbered and (name in NUMBERS or (name == "inode" and is_called(node))):
            return OF_NUMBERS, around
        if name == "__file__" and Around.FOLDER not in around:
            return "looks for a module's file", around
        found = self._imports.member(name_of(node).rpartition(".")[0], name) or self._whole(node)
        is_named = (found in NAMES and (self._sends or found not in SIGNALS)) or (
            found in RUNNING and self._is_taken(node)
        )
        return (f"uses {found}" if is_named else ""), around

    def _call(self, node: Node, around: Around) -> Shown:
        function, given = node.child_by_field_name("function"), given_to(node)
        name, callee = self._whole(function), name_of(function)
        if function is not None and callee in RUNNING and self._own.has(function):
            return "", around
        if name in ("exec", "compile", "types.FunctionType") or (name == "eval" and not is_of_repr(node)):
            return f"calls {name}", around
        if name in TIMERS and any(item.type == "string" for each in given for item in self._values.meant(each)):
            return Remark(f"runs text as code by {name}", around, given)
        last = last_part(name) or last_part(text_of(member_of(node)))
        if (name in BY_NAME or last == "get_field") and (found := self._named_by_text(name, given)):
            return Remark(found, around, given)
        if last in ASKING and (found := asked_words(last, self._exact(given))):
            return Remark(found, around, given)
        if last == "sysconf" and any("SC_AVPHYS_PAGES" in self._values.exact(item) for item in given):
            return Remark("asks for the machine's free memory", around, given)
        if found := copy_words(name, last, given, self._values):
            return Remark(found, around, given)
        if RUNNERS.fullmatch(name):
            return Remark(self._commands.words(node, name, given), around | Around.RUNNING, given)
        if last == "readlink" and self._has_descriptors:
            return OF_NUMBERS, around
        return self._of_paths(node, around, name, last)

    def _of_paths(self, node: Node, around: Around, name: str, last: str) -> Shown:
        """Look at a call that takes or makes a path."""
        around &= ~Around.PIECE
        if last in ("realpath", "resolve"):
            around |= Around.FOLLOWING
        if last == "dirname":
            around |= Around.FOLDER
        elif name in COMPARERS or (last in READERS and not writes(node, name)):
            around |= Around.READING
        elif name in LISTERS or last == "iterdir":
            around |= Around.LISTING
        elif last in LOADERS and name_of(node.child_by_field_name("function")):
            around |= Around.LOADING
        if last in GLOBS and name != "glob.glob" and (found := globbed(node, self._values)):
            return found
        return self._joined(node, around) if joins(node, self._imports.resolved) else ("", around)

    def _subscript(self, node: Node, around: Around) -> Shown:
        """Mark the second of a status' parts, which is the number, and modules and builtins by their names."""
        part, whole = node.child_by_field_name("subscript"), node.child_by_field_name("value")
        if part is None or whole is None:
            return "", around
        is_short = part.type in ("integer", "unary_operator") and part.end_byte - part.start_byte <= 6
        if self._is_numbered and is_short and number(text_of(part)) in (1, -9) and self._is_status(whole):
            return OF_NUMBERS, around
        if part.type != "string" or not is_read(node):
            return "", around
        text, of = next(self._values.exact(part), ""), self._whole(whole)
        if of == "sys.modules" and MODULES.fullmatch(text):
            return Remark(f"takes {text} from sys.modules", around, [part])
        if of in ("__builtins__", "__dict__") or of.endswith("builtins.__dict__"):
            return Remark(f"names {text}" if text in RUNNING else "", around, [part])
        return "", around

    def _assignment(self, node: Node, around: Around) -> tuple[str, Around]:
        """Mark a status that is taken apart."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        is_apart = left is not None and left.type in ("pattern_list", "tuple_pattern", "list_pattern")
        is_number = self._is_numbered and is_apart and right is not None and self._is_status(right)
        return (OF_NUMBERS if is_number else ""), around

    def _is_status(self, node: Node) -> bool:
        """Return whether an expression is what a file's status is asked by."""
        return any(asks_status(listed(found, self._values)) for found in self._values.meant(node))

    def _string(self, node: Node, around: Around) -> tuple[str, Around]:
        if Around.ALONE in around:
            return "", around
        text = literal(node)
        if text in ATTRIBUTES and text != "SourceFileLoader":
            return f"names {text}", around
        if self._has_environment and (found := scan_words(text)):
            return found, around
        if not around & (TAKING_PATHS | Around.LOADING):
            return place_words(text, around), around
        return place_words(text, Around.NOTHING) or self._text_words(node, around), around

    def _text_words(self, node: Node, around: Around) -> str:
        """Return in words what one of the texts names that an expression may come to."""
        for text in self._values.texts(node):
            if Around.LOADING in around and MODULES.fullmatch(text.partition(":")[0]):
                return f"imports {text}"
            is_code = is_source(text, SOURCE) or COMPILED.fullmatch(text[:_LONGEST_PATH]) is not None
            if Around.READING in around and is_code and not self._beside.has(node):
                return "reads a file of code"
            if around & TAKING_PATHS and not text.startswith("/proc/$") and (words := place_words(text, around)):
                return words
        return ""

    def _joined(self, node: Node, around: Around) -> Shown:
        """Mark what is written in pieces: then its pieces alone are no paths."""
        if Around.PIECE in around or not around & (TAKING_PATHS | Around.LOADING):
            return "", around
        return Remark(self._text_words(node, around), around & ~_OPENING | Around.PIECE, [node])

    def _identifier(self, node: Node, around: Around) -> tuple[str, Around]:
        name = text_of(node)
        is_asked = self._imports.resolved(name)
        if is_asked in RUNNING and (whole := self._whole(node)) in RUNNING and self._is_taken(node):
            return f"takes {whole}", around
        if self._imports.has_stars and is_asked in NAMES and is_looked_up(node, or_called=True):
            return f"uses {is_asked}", around
        return self._text_words(node, around) if around and self._values.knows(name) else "", around

    def _is_taken(self, node: Node) -> bool:
        """Return whether the value of a builtin is taken; where such names are many, nobody asks whose each is."""
        if self._is_full:
            return node.type == "attribute" or node.id not in self._members
        return is_looked_up(node) and not (node.type == "identifier" and self._own.has(node))

    def _named_by_text(self, function: str, given: list[Node]) -> str:
        """Return what a literal does that names an attribute, as the attribute itself would."""
        texts = self._exact(given)
        if found := next((part for text in texts for part in text.split(".") if part in ATTRIBUTES), ""):
            return f"names {found}"
        if self._is_numbered and any(part in NUMBERS for text in texts for part in text.split(".")):
            return OF_NUMBERS
        of = name_of(given[0]) if given else ""
        for text in texts:
            whole = self._imports.resolved(f"{of}.{text}")
            if function in ("getattr", "hasattr") and whole in RUNNING and self._imports.resolved(of) in _BUILTINS:
                return f"names {whole}"
            whole = self._imports.member(of, text) or whole
            if function == "getattr" and whole in NAMES:
                return f"uses {whole}"
        return ""

    def _exact(self, given: list[Node]) -> list[str]:
        return [text for node in given for text in self._values.exact(node)]


def _parsed(text: bytes, path: str = "") -> Node:  # noqa: ARG001
    return parsed(GRAMMAR, with_plain_names(with_short_comments(text)))


def _code_words(text: str) -> str:
    """Return in words what a text of Python shows."""
    root = _parsed(text.encode())
    found = next(sights(root, _File(root).rules), None)
    return found.words if found else ""


CONDUCT = Conduct(
    parse=_parsed,
    rules=_rules_of,
    inner=inner,
    literals=frozenset({"string", "integer", "float", "true", "false", "none"}),
)
