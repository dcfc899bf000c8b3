"""Absent names that no compiler says anything of, by the text of a suite and the words of the code. Pure."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from harness.plugins.names.findings import Finding, Kind

_OFTEN = 5
"""The fewest words of the code that begin with a part for it to be a prefix: `json_`, `JSON_`."""
_WORD = re.compile(r"[A-Za-z_]\w*")
_C_TEXT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_C_PASTED = re.compile(r"\w*[ \t]*##[ \t]*\w*")
_C_PARTS = re.compile(r"(\w*)[ \t]*##[ \t]*(\w*)")
"""Names that `##` puts together: names that begin or end so may be made by a macro."""
_C_STRINGS = re.compile(
    r"\b(?:dlsym\s*\([^\"\n]*|weakref\s*\(\s*|alias\s*\(\s*|(?:set|get|put|unset)env\s*\(\s*)\"(?P<name>\w+)"
)
_C_INCLUDED = re.compile(r"__has_include\s*\(\s*[<\"](?P<name>[\w./-]+)[>\"]")
_C_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.MULTILINE)
_C_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_C_DEFINED = (
    re.compile(r"\b(\w+)\s*\([^;{}]*\)\s*(?:__attribute__\s*\(\(.*?\)\)\s*)?\{"),
    re.compile(r"\b(?:struct|union|enum)\s+(\w+)\s*\{"),
    re.compile(r"\}\s*(\w+)\s*;"),
    re.compile(r"\(\s*\*\s*(\w+)\s*\)\s*\("),
)
_C_DECLARED = re.compile(r"[\w\]*]\s*[\s*]\s*(\w+)\s*(?:=[^=]|[;,)\[])")
_C_ENUMERATED = re.compile(r"\benum\b[^{;]*\{([^}]*)\}")
_GO_STRINGS = re.compile(r"\.(?:FieldByName|MethodByName)\(\"(?P<name>\w+)\"\)")
_GO_LINKED = re.compile(r"^//go:linkname\s+\w+\s+\S+\.(?P<name>\w+)", re.MULTILINE)
_GO_ASSERTED = re.compile(r"\.\(interface\s*\{\s*(?P<name>\w+)\s*\(")
_GO_ENVIRONMENT = re.compile(r"\b(?:Setenv|Getenv|LookupEnv|Unsetenv)\(\"(?P<name>[A-Z]\w*)\"")
_GO_TAGS = re.compile(r"^//go:build (?P<name>\w+)[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class Vocabulary:
    """The words of a repository's code: `words`, the prefixes that are its own, and the names of its files."""

    words: frozenset[str]
    prefixes: frozenset[str]
    files: frozenset[str]

    def is_own(self, name: str) -> bool:
        """Return whether a name looks like one of the code's, by its first part."""
        return "_" in name and name.partition("_")[0] in self.prefixes


def vocabulary(sources: Mapping[str, bytes]) -> Vocabulary:
    """Return the words of code.

    Args:
        sources: Its files by path, without the suite's.
    """
    words = {word for text in sources.values() for word in _WORD.findall(text.decode("utf-8", "replace"))}
    parts = Counter(word.partition("_")[0] for word in words if "_" in word)
    prefixes = frozenset(part for part, count in parts.items() if part and count >= _OFTEN)
    return Vocabulary(frozenset(words), prefixes, frozenset(PurePosixPath(path).name for path in sources))


def c_text_findings(texts: Mapping[str, bytes], known: Vocabulary) -> Iterator[Finding]:
    """Yield names of a C suite that look like the code's and that neither it nor the suite has.

    Args:
        texts: The suite's files by path.
        known: The code's words.
    """
    decoded = {path: text.decode("utf-8", "replace") for path, text in texts.items() if path.endswith((".c", ".h"))}
    pasted = {part for text in decoded.values() for pair in _C_PARTS.findall(text) for part in pair if "_" in part}
    parts = {part for part in pasted if part.strip("_") not in known.prefixes}
    code = {path: _C_PASTED.sub(" ", _C_TEXT.sub(_blank, text)) for path, text in decoded.items()}
    own = {name for text in code.values() for name in _defined_in_c(text)}
    for path, text in code.items():
        for number, line in enumerate(text.splitlines(), start=1):
            for name in _WORD.findall(line):
                is_pasted = any(name.startswith(part) or name.endswith(part) for part in parts)
                if known.is_own(name) and name not in known.words and name not in own and not is_pasted:
                    yield _finding(path, number, Kind.MEMBER, name, "neither the code nor the suite has it")
        for found in _C_STRINGS.finditer(decoded[path]):
            name = found["name"]
            if known.is_own(name) and name not in known.words and name not in own:
                yield _finding(path, _line(decoded[path], found), Kind.MEMBER, name, "no source has this word")
        for found in _C_INCLUDED.finditer(decoded[path]):
            name = PurePosixPath(found["name"]).name
            if known.is_own(name) and name not in known.files:
                yield _finding(
                    path, _line(decoded[path], found), Kind.MODULE, found["name"], "there is no such header"
                )


def go_text_findings(texts: Mapping[str, bytes], known: Vocabulary) -> Iterator[Finding]:
    """Yield names that a Go suite looks up at run time and that no source has. For arguments see above."""
    for path, data in texts.items():
        text = data.decode("utf-8", "replace") if path.endswith(".go") else ""
        for words in (_GO_STRINGS, _GO_LINKED, _GO_ASSERTED, _GO_ENVIRONMENT):
            for found in words.finditer(text):
                name = found["name"]
                is_meant = known.is_own(name) if words is _GO_ENVIRONMENT else True
                if is_meant and name not in known.words:
                    yield _finding(path, _line(text, found), Kind.MEMBER, name, "no source has this word")


def go_tags(texts: Iterable[bytes]) -> list[str]:
    """Return the single words by which files of a suite are built only sometimes: `debug`, `windows`."""
    return sorted({found for text in texts for found in _GO_TAGS.findall(text.decode("utf-8", "replace"))})


def _defined_in_c(text: str) -> Collection[str]:
    """Return what a C text defines: functions, macros, types, variables. Prototypes and externs define nothing."""
    plain = _C_DIRECTIVE.sub("", text)
    found = {name for words in _C_DEFINED for name in words.findall(plain)} | set(_C_MACRO.findall(text))
    for line in text.splitlines():
        if not line.lstrip().startswith(("extern", "__attribute__", "#")):
            found.update(_C_DECLARED.findall(line))
    for body in _C_ENUMERATED.findall(text):
        found.update(_WORD.findall(body))
    return found


def _blank(found: re.Match[str]) -> str:
    """Return a match's line ends alone, so that line numbers stay."""
    return " " + "\n" * found.group().count("\n")


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start("name")) + 1


def _finding(path: str, line: int, kind: Kind, name: str, evidence: str) -> Finding:
    return Finding(file=path, line=line, kind=kind, name=name, evidence=evidence)
