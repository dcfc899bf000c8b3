"""Hygiene of an application's files: imports that its lock doesn't name, keys in files, the README's commands."""

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

import tree_sitter_python
import tree_sitter_typescript
from tree_sitter import Language, Node

from harness.judging.languages.found import every_node, text_of
from harness.plugins.build.steps import Files

_PYTHON = Language(tree_sitter_python.language())
_JAVASCRIPT = Language(tree_sitter_typescript.language_typescript())
_MOST_BYTES = 1_000_000
"""The size of a file that is read at most; those of code that somebody wrote are smaller."""
_TEST_TOOLS = frozenset({"pytest", "_pytest"})
"""Packages that tests import from the image, which no lock has to name."""
_SINCE_REMOVED = """aifc asynchat asyncore audioop cgi cgitb chunk crypt distutils imghdr imp mailcap msilib nis
nntplib ossaudiodev pipes smtpd sndhdr spwd sunau telnetlib uu xdrlib"""
_STANDARD = frozenset(sys.stdlib_module_names) | frozenset(_SINCE_REMOVED.split())
"""The image's Python is older than this one may be."""
_NODE = """assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns
domain events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl
stream string_decoder sys timers tls trace_events tty url util v8 vm wasi worker_threads zlib"""
_OF_NODE = frozenset(_NODE.split())


def undeclared_imports(files: Files) -> tuple[str, ...]:
    """Return `FILE:LINE: NAME` of each import of a package that the application's locks don't name.

    Optional ones, inside `try`, are left out.
    """
    python, node = _locked(files, "requirements.lock"), _locked(files, "package-lock.json")
    own = {part for path in files.texts if path.endswith(".py") for part in path.removesuffix(".py").split("/")}
    known = _STANDARD | _TEST_TOOLS | own
    found = []
    for path, text in sorted(files.texts.items()):
        if len(text) > _MOST_BYTES:
            continue
        if path.endswith(".py"):
            imported = ((line, name) for line, name in _python_imports(text) if name not in known)
            found += [f"{path}:{line}: {name}" for line, name in imported if _same(name) not in python]
        elif path.endswith((".js", ".mjs", ".cjs", ".ts")):
            found += [f"{path}:{line}: {name}" for line, name in _node_imports(text) if name not in node]
    return tuple(found)


def _locked(files: Files, name: str) -> frozenset[str]:
    """Return the names of packages that a lock has."""
    text = files.texts.get(name, b"").decode(errors="replace")
    if name.endswith(".json"):
        return frozenset(re.findall(r'"(?:[^"]*/)?node_modules/((?:@[^"/]+/)?[^"/]+)"\s*:', text))
    return frozenset(_same(found) for found in re.findall(r"(?m)^([A-Za-z0-9._-]+)\s*==", text))


def _same(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).lower()


def _python_imports(text: bytes) -> Iterator[tuple[int, str]]:
    for node in every_node(_PYTHON, text):
        if node.type == "import_statement":
            names = [child.child_by_field_name("name") or child for child in node.children_by_field_name("name")]
        elif node.type == "import_from_statement":
            source = node.child_by_field_name("module_name")
            names = [source] if source and source.type == "dotted_name" else []
        else:
            continue
        if not _is_optional(node):
            yield from ((node.start_point[0] + 1, text_of(name).partition(".")[0].strip()) for name in names)


def _node_imports(text: bytes) -> Iterator[tuple[int, str]]:
    for node in every_node(_JAVASCRIPT, text):
        if node.type in ("import_statement", "export_statement"):
            source = node.child_by_field_name("source")
        elif node.type == "call_expression" and text_of(node.child_by_field_name("function")) in (
            "require",
            "import",
        ):
            given = node.child_by_field_name("arguments")
            source = given.named_children[0] if given and len(given.named_children) == 1 else None
        else:
            continue
        if source is None or source.type != "string" or _is_optional(node):
            continue
        name = text_of(source)[1:-1]
        if name.startswith((".", "/", "#", "node:")) or ":" in name:
            continue
        package = "/".join(name.split("/")[: 2 if name.startswith("@") else 1])
        if package not in _OF_NODE:
            yield node.start_point[0] + 1, package


def _is_optional(node: Node) -> bool:
    above = node.parent
    while above is not None and above.type != "try_statement":
        above = above.parent
    return above is not None


_KEYS = re.compile(
    r"""\b(?:
      (?:AKIA|ASIA)[A-Z0-9]{16}                    # Amazon
    | AIza[A-Za-z0-9_-]{35}                        # Google
    | gh[pousr]_[A-Za-z0-9]{36} | github_pat_[A-Za-z0-9_]{22,}
    | glpat-[A-Za-z0-9_-]{20}
    | xox[abeoprs]-[A-Za-z0-9-]{20,}               # Slack
    | [sr]k_live_[A-Za-z0-9]{20,}                  # Stripe
    | sk-[A-Za-z0-9_-]{32,}                        # model providers
    | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{50,}
    | hf_[A-Za-z0-9]{34}
    )(?![A-Za-z0-9])
    | -----BEGIN\ (?:[A-Z0-9]+\ )*PRIVATE\ KEY-----""",
    re.VERBOSE,
)
_MADE_UP = re.compile(r"example|test|fake|dummy|sample|placeholder|x{6}|0{6}|123456", re.IGNORECASE)
_LEAST_CHARACTERS = 10
"""Different characters of a key at the least; a made-up one has few."""


def keys_in_files(files: Files) -> tuple[str, ...]:
    """Return `FILE:LINE` of each text that has the form of somebody's key, and doesn't say that it is made up."""
    found = []
    for path, data in sorted(files.texts.items()):
        text = data.decode("latin-1")
        line, counted = 1, 0
        for match in _KEYS.finditer(text):
            line += text.count("\n", counted, match.start())
            counted = match.start()
            if len(set(match[0])) >= _LEAST_CHARACTERS and not _MADE_UP.search(match[0]):
                found.append(f"{path}:{line}")
    return tuple(found)


_OPENS = re.compile(r" {0,3}(`{3,}+|~{3,}+)[ \t]*+(?:sh|bash|shell)[ \t]*+")
_CLOSES = re.compile(r" {0,3}(`{3,}+|~{3,}+)[`~]*+[ \t]*+")
_MOST_BLOCKS, _MOST_CHARACTERS = 10, 5000


def readme_commands(files: Files) -> tuple[str, ...]:
    """Return the shell blocks of `README.md`, without their calls of `./test`, which is judged by itself."""
    text = files.texts.get("README.md", b"")[:_MOST_BYTES].decode(errors="replace").replace("\r\n", "\n")
    blocks = (_without_tests(block)[:_MOST_CHARACTERS] for block in _shell_blocks(text.split("\n")))
    return tuple(islice((block for block in blocks if block.strip()), _MOST_BLOCKS))


def _shell_blocks(lines: Sequence[str]) -> Iterator[str]:
    """Yield what stands between the fences of each shell block, in one way through the lines.

    A fence is closed by one of the same character that is at least as long; one that nothing closes is no fence.
    """
    closing = [_fence(_CLOSES, line) for line in lines]
    longest = _longest_below(closing)
    number = 0
    while number < len(lines):
        fence = _fence(_OPENS, lines[number])
        number += 1
        if not fence or len(fence) > longest[number].get(fence[0], 0):
            continue
        first = number
        while not closing[number].startswith(fence):
            number += 1
        yield "".join(f"{line}\n" for line in lines[first:number])
        number += 1


def _fence(form: re.Pattern[str], line: str) -> str:
    match = form.fullmatch(line)
    return match[1] if match else ""


def _longest_below(fences: Sequence[str]) -> list[dict[str, int]]:
    """Return, for each line and for the end, the length of the longest fence of each character from there on."""
    longest: list[dict[str, int]] = [{}]
    for fence in reversed(fences):
        below = longest[-1]
        is_longer = len(fence) > below.get(fence[:1], 0)
        longest.append({**below, fence[0]: len(fence)} if is_longer else below)
    return longest[::-1]


def _without_tests(block: str) -> str:
    return "".join(line for line in block.splitlines(keepends=True) if not re.match(r"\s*\./test\b", line))
