"""Expressions that make a digest by themselves: calls by their whole names, programs, parts of archives. Pure.

Names are resolved by a file's imports, whichever comes first. A digest of literals alone is none of an answer. A
cipher or a signature counts only where it is compared itself: honest tests make what they give the code by them.
"""

import re
from collections.abc import Collection
from itertools import islice

from tree_sitter import Node

from harness.judging.languages.conduct import callee, given_to
from harness.judging.languages.dotted_names import bare, name_of
from harness.judging.languages.found import text_of
from harness.judging.languages.functions import below
from harness.judging.verify.conduct.assignments import GivenValues

DIGESTS = frozenset(
    b"hashlib sha256 sha1 sha512 sha384 md5 blake2b crc32 crc64 adler32 fnv createHash createHmac subtle zlib"
    b" Sum256 Sum512 EVP_Digest SHA256 MD5 xxhash maphash uuid3 uuid5 crc_hqx crc16 sha224 sha3_224 sha3_256"
    b" sha3_384 sha3_512 blake2s pbkdf2_hmac scrypt pbkdf2Sync scryptSync Sum224 Sum384 shake_128 shake_256 hkdfSync"
    b" source_hash".split()
)
"""Names of functions that make digests, and of modules that have such functions."""
CHECKSUMS = frozenset(
    b"crc32 crc64 adler32 fnv crc_hqx crc16 xxhash maphash ChecksumIEEE New32a New64a xxh32 xxh64 murmur3".split()
)
"""Names of functions whose digests are numbers, and of modules that have such functions."""
_WHOLE = frozenset(
    {"hmac.new", "hmac.digest", "hmac.HMAC", "hmac.New", "crypto.hash", "crypt.crypt", "crypt", "crypt_r"}
)
"""Whole names of functions that make digests, of modules that have others too."""
_ITSELF = frozenset({"crypto.createCipheriv", "crypto.sign", "crypto.createSign"})
_RUNNERS = re.compile(r"subprocess\.(run|Popen|check_output|getoutput)|exec\.Command|child_process\.(exec|spawn)\w*")
PROGRAM = re.compile(r"""["'`](?:.*[/|;&\s])?(?:(?:md5|sha\d+|b2)sum|cksum|openssl)(?:\s.*)?["'`]""", re.DOTALL)
_DOTTED = re.compile(r"[\w.]+")
_MEMBERS = {"attribute": "attribute", "selector_expression": "field"}
_CHECKSUMS = {"CRC": "zipfile", "CRC32": "zip"}
"""Members of an archive's entries, and the modules that have them."""
_TRAILER = re.compile(r"\[\s*-8\s*:(\s*-4\s*)?\]|\[[^\[\]]{1,80}-\s*8\s*:[^\[\]]{0,80}\]")
_PARTS = frozenset({"subscript", "slice_expression"})
_TELLS = frozenset({"digest", "hexdigest"})
_AT_ONCE = re.compile(r"(zlib|binascii)\.\w+|(\w+\.)?(crc32|adler32|crc_hqx)")
"""Functions whose result nothing is added to."""
_CHAINED = {
    "call_expression": "function",
    "member_expression": "object",
    "subscript_expression": "object",
    "binary_expression": "left",
}
_DEEPEST, _MOST, _FIRST = 20, 200, 3


class DigestCalls:
    """The imports of a file and what its names are given, by which its calls are known; taken in node by node."""

    def __init__(self, literals: Collection[str], values: GivenValues) -> None:
        self._literals, self._values = literals, values
        self._imported: dict[str, str] = {}
        self._modules = set[str]()
        self._of_literals = set[int]()
        """Calls by their numbers that make a digest of literals alone, and tell it at once."""

    def look(self, node: Node) -> bool:
        """Take a node in; return whether it may make a digest, once the whole file has been looked at."""
        kind = node.type
        if kind in ("import_from_statement", "import_statement", "import_spec"):
            self._import(node)
        elif kind == "call":
            function = node.child_by_field_name("function")
            inner = function.child_by_field_name("object") if function is not None else None
            is_told = function is not None and text_of(function.child_by_field_name("attribute")) in _TELLS
            if is_told and inner is not None and inner.type == "call" and self._is_of_literals(inner):
                self._of_literals.add(inner.id)
        return kind in ("call", "call_expression") or kind in _MEMBERS or kind in _PARTS

    def makes(self, node: Node) -> bool:
        """Return whether a node makes a digest."""
        if node.type in _MEMBERS:
            return _CHECKSUMS.get(text_of(node.child_by_field_name(_MEMBERS[node.type]))) in self._modules
        if node.type in _PARTS:
            return "gzip" in self._modules and node.end_byte - node.start_byte <= _MOST and self._is_trailer(node)
        name = callee(node)
        if _DOTTED.fullmatch(name) is None or node.id in self._of_literals:
            return False
        whole = self._resolved(name)
        if _AT_ONCE.fullmatch(whole) and self._is_of_literals(node):
            return False
        is_known = not DIGESTS.isdisjoint(name.encode().split(b".")) or not DIGESTS.isdisjoint(
            whole.encode().split(b".")
        )
        return is_known or whole in _WHOLE or (_RUNNERS.fullmatch(whole) is not None and _runs_program(node))

    def is_itself(self, side: Node) -> bool:
        """Return whether one side of a comparison is what a cipher or a signature gives."""
        is_expected = side.type == "call_expression" and callee(side) == "expect"
        node: Node | None = next(iter(given_to(side)), None) if is_expected else side
        for _ in range(_DEEPEST):
            node = bare(node) if node is not None else None
            if node is None:
                return False
            if node.type in ("call_expression", "member_expression"):
                if self._resolved(callee(node)) in _ITSELF:
                    return True
            elif node.type == "identifier":
                node = self._values.get(node.text or b"")
                continue
            node = node.child_by_field_name(_CHAINED[node.type]) if node.type in _CHAINED else None
        return False

    def _resolved(self, name: str) -> str:
        first, dot, rest = name.partition(".")
        return self._imported.get(first, first) + dot + rest

    def _import(self, node: Node) -> None:
        path = node.child_by_field_name("path") or node.child_by_field_name("source")
        if path is not None:
            module = text_of(path).strip("\"'`").removeprefix("node:")
            last = module.rpartition("/")[2]
            is_others = "." in module
            module = module if is_others else last
            self._modules.add(module)
            if node.type == "import_spec":
                self._imported[text_of(node.child_by_field_name("name")) or last] = module
            for part in islice(below(node), _MOST):
                self._name(part, module)
            return
        module = name_of(node.child_by_field_name("module_name"))
        for item in node.children_by_field_name("name"):
            name = name_of(item.child_by_field_name("name") if item.type == "aliased_import" else item)
            alias = text_of(item.child_by_field_name("alias"))
            self._modules.add(module or name)
            if alias or module:
                self._imported[alias or name] = f"{module}.{name}" if module else name

    def _name(self, part: Node, module: str) -> None:
        """Take in a name that TypeScript imports."""
        if part.type == "import_specifier":
            name, alias = text_of(part.child_by_field_name("name")), text_of(part.child_by_field_name("alias"))
            self._imported[alias or name] = f"{module}.{name}"
        elif part.type in ("namespace_import", "import_clause"):
            names = [text_of(child) for child in part.named_children if child.type == "identifier"]
            self._imported |= dict.fromkeys(names, module)

    def _is_of_literals(self, call: Node) -> bool:
        given = given_to(call)
        return bool(given) and all(each.type in self._literals and not _is_computed(each) for each in given)

    def _is_trailer(self, node: Node) -> bool:
        part = text_of(node)[text_of(node).rfind("[") :]
        return _TRAILER.fullmatch(part) is not None


def _is_computed(literal: Node) -> bool:
    return any(child.type == "interpolation" for child in literal.children)


def _runs_program(call: Node) -> bool:
    """Return whether a call starts a program that makes a digest."""
    for given in given_to(call)[:_FIRST]:
        parts = given.named_children[:_FIRST] if given.type in ("list", "tuple", "array") else [given]
        if any(each.end_byte - each.start_byte <= _MOST and PROGRAM.fullmatch(text_of(each)) for each in parts):
            return True
    return False
