"""A suite's means, as far as a language's grammar shows them: those that tests of behaviour don't need.

Each language has a closed list of such means in a module `conduct.py` of its own, or beside it in `means.py`. A list
is of names as they are resolved by the file's imports, never of words: strings and comments that only speak of a
thing aren't marked.
"""

import posixpath
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from types import MappingProxyType
from typing import NamedTuple

from tree_sitter import Node

from harness.judging.languages.dotted_names import bare, name_of, parts_of
from harness.judging.languages.pathnames import UNKNOWN


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list."""
    return frozenset(text.split())


TOOLS = words_of(
    """
    gcc cc clang g++ c++ clang++ tcc ld as ar go perl objdump readelf nm strings gdb lldb strace ltrace perf
    hexdump xxd od git esbuild tsc tsx node-gyp swc free uptime vmstat
    """
)
"""Programs that show what code is, not what it does: compilers, disassemblers, debuggers, version control; and those
that tell of the whole machine."""
SHELLS = frozenset({"sh", "bash", "dash", "zsh"})
_OPTION = re.compile(r"-[a-z]*c")
"""A shell's option behind which a command line stands."""
_SETTING = re.compile(r"\w+=.*")
_COMMAND = re.compile(r"(?:^|[;&|(`]|\bthen\b|\bdo\b)\s*(?:\w+=\S*\s+)*(?:exec |env |command )?([\w./+-]+)")
_DUMP = re.compile(
    r"(?<![\w./-])(?:od|hexdump|xxd)(?:\s+-\w+)*\s+[\w./-]+\.(?:csv|tsv|txt|json|xml|ya?ml|log|dat|out)(?=\s*(?:$|[|;&>)]))"
)
"""A command that shows a file of data byte by byte."""
_PLAIN_INIT = words_of("-q --quiet --bare -b --initial-branch --initial-branch=main --initial-branch=master")
_INIT = re.compile(
    r"(?:\s+-C\s+[^\s;&|()<>`]+)?\s+init(?:\s+(?:-q|--quiet|--bare|-b|--initial-branch(?:=\w+)?|[^-\s;&|()<>`][^\s;&|()<>`]*))*"
    r"\s*(?=$|[;&|)\n])"
)
"""The end of a command line that makes a new repository: it shows nothing of another one."""
MOST_GIVEN = 50
"""Arguments of a call that are looked at."""
_MOST_COMMAND = 2_000
"""Characters of a command line that are looked at."""
_OWN_NET = words_of(
    """
    arp dev dev_mcast dev_snmp6 fib_trie fib_triestat if_inet6 igmp igmp6 ipv6_route netstat raw raw6 route snmp snmp6
    tcp tcp6 udp udp6
    """
)
"""Files of /proc/net that tell of a container's own network; others count for the whole host, or number sockets."""
_HARMLESS = rf"(?:net/?|task/?|(?:fd|mounts|mountinfo|net/(?:{'|'.join(sorted(_OWN_NET))}))(?:/.*)?)"
"""Files of a process in /proc that tests may read."""
_TASK = r"(?:task/[^/]+/)?"
_COUNTING = re.compile(
    rf"/proc/(?!self/{_TASK}{_HARMLESS}$).*|/sys/(?:kernel|block|class/block|dev/block|fs/(?!cgroup\b).+)(?:/.*)?"
)
"""Places that tell of the whole machine, or of the code that runs."""
_DESCRIPTORS = re.compile(rf"/proc/(?:[^/]+/)?{_TASK}fd(?:/.*)?")
_PROCESS = re.compile(r"/proc/(?:\d+|\$\{?[\w$!]*\}?)?")
"""A process that a command asks for: whether it is there."""
_LINKS: dict[tuple[str, ...], list[str]] = {
    ("dev", "fd"): ["proc", "self", "fd"],
    ("proc", "mounts"): ["proc", "self", "mounts"],
    ("proc", "net"): ["proc", "self", "net"],
    ("proc", "thread-self"): ["proc", "self", "task", "0"],
}
"""Where the kernel's links lead: `..` behind one goes up from there."""
_PATH = re.compile(r"""(?<![\w.})~*/])/[^\s"'`;|&()<>]*""")
_LONGEST_PATH = 4_096
_JUDGED = re.compile(
    r"\bTESTWRIGHT_[A-Z]|(?:^|/)logs/agent(?![\w.-])|^--junit-?xml\b|^xmlpath$"
    r"|^(?:/usr/local/bin/)?run_tests$|^/\.dockerenv$|^/run/\.containerenv$"
)
"""Names that tests and agents of testwright have around them, and options by which reports are asked for."""
_SCANNED = re.compile(r"\^?TESTW(?:R(?:I(?:G(?:H(?:T_?)?)?)?)?)?(?:\.?\*)?")
"""The beginning of the names of testwright's variables, or a pattern for it."""
NUMBERED = words_of(
    "pipe pipe2 Pipe Pipe2 socket Socket socketpair Socketpair eventfd Eventfd timerfd_create epoll_create1"
    " pidfd_open PidfdOpen PidFD memfd_create MemfdCreate"
)
"""Names of what the kernel numbers from one counter for all arms; a file's own number (`st_ino`) is no such thing."""
OF_NUMBERS = "looks at the numbers of pipes or sockets"
_OF_BROWSER = re.compile(r"(Debugger|Profiler|HeapProfiler)\.[a-z]\w+")
"""Methods of the DevTools protocol that tell a page's code, or which of it runs."""


class Around(Flag):
    """Surroundings of a piece of code."""

    NOTHING = 0
    READING = auto()
    """A call that reads files."""
    FOLDER = auto()
    """An expression of which only the folder of a path is left."""
    LOADING = auto()
    """A call that loads a module by its name."""
    RUNNING = auto()
    """A call that starts a program: its strings are commands or their words."""
    FOLLOWING = auto()
    """A call that tells where a link leads."""
    LISTING = auto()
    """A call that tells what is in a folder, or that makes a file another one's equal."""
    PIECE = auto()
    """An expression that was looked at as a whole."""
    ALONE = auto()
    """A statement that is only a string: a description."""


_OPENING = Around.READING | Around.LISTING
TAKING_PATHS = _OPENING | Around.RUNNING | Around.FOLLOWING
"""Calls for which a constant counts as its text."""


class Sight(NamedTuple):
    """A line (from 1) that inspects code, and by which means, in words."""

    line: int
    words: str
    spans: tuple[tuple[int, int], ...]
    """First and last lines of what decides: it is added where one of these lines is."""

    def is_of(self, lines: Sequence[int]) -> bool:
        """Return whether one of some lines, which are in order, has a part in it."""
        return any(has_line(lines, first, last) for first, last in self.spans)


class Remark(NamedTuple):
    """A remark on a call or an import that its name alone doesn't decide."""

    words: str
    within: Around
    by: Sequence[Node]
    """Nodes that decide beside the name."""


Shown = tuple[str, Around] | Remark
Rule = Callable[[Node, Around], Shown]
"""A function from a node to a remark on it (empty for nothing) and to the surroundings of its children."""


class Sources(NamedTuple):
    """Texts, by their paths, that tell whose function a name stands for."""

    repository: Mapping[str, bytes] = MappingProxyType({})
    """Texts that declare the repository's functions."""
    own: Mapping[str, bytes] = MappingProxyType({})
    """Texts of the patch: functions that they define themselves belong to nobody else."""


FileRules = Callable[[Node, str], Mapping[str, Rule]]
"""By a file's root and path: what each type of node shows. They know the file's imports and constants."""


class Inner(NamedTuple):
    """A text of code in a file that isn't only this code: each line stands where it does in the file."""

    text: bytes
    acts: bool
    """Whether it is known to be run, so that its means count; else it counts as a copy alone."""


@dataclass(frozen=True)
class Conduct:
    """A language's answers about how tests are made."""

    parse: Callable[[bytes, str], Node]
    """The root of a text's syntax tree, by the path of its file."""
    rules: Callable[[Sources], FileRules]
    """Made once for all files of a patch; takes time linear to the sources."""
    literals: frozenset[str]
    """Types of nodes that are data: strings and numbers."""
    declaring: tuple[str, ...] = ()
    """Suffixes of the repository's files that say which names are functions."""
    included: Callable[[Mapping[str, bytes]], frozenset[str]] = lambda own: frozenset()  # noqa: ARG005
    """A function from a patch's texts to the paths of those that are code though they have no suffix of code."""
    inner: Callable[[Mapping[str, bytes]], Mapping[str, Sequence[Inner]]] = lambda _: {}
    """A function from the texts of a patch to the code that is in its files beside their own, both by their paths."""


def sights(root: Node, rules: Mapping[str, Rule]) -> Iterator[Sight]:
    """Yield the means of the list that a file uses, in its order, by its rules. Takes time linear to the text."""
    waiting = [(root, Around.NOTHING)]
    while waiting:
        node, around = waiting.pop()
        found = rules[node.type](node, around) if node.type in rules else ("", around)
        words, within = found[0], found[1]
        if words:
            deciding = _deciding(node, found.by if isinstance(found, Remark) else ())
            spans = tuple((each.start_point[0] + 1, each.end_point[0] + 1) for each in deciding)
            yield Sight(spans[0][0], words, spans)
        waiting += [(child, within) for child in reversed(node.children)]


def _deciding(node: Node, by: Sequence[Node]) -> Sequence[Node]:
    """Return what decides: the names that an expression ends in, the last one first, and what its rule says.

    What is no such expression decides as a whole, where its rule doesn't say which part of it does.
    """
    called = node.child_by_field_name("function") or node.child_by_field_name("constructor")
    last, *others = list(parts_of(called or node)) or [node]
    if last == node and by:
        return by
    return [last, *(part for part in others if "identifier" in part.type), *by]


def has_line(lines: Sequence[int], first: int, last: int) -> bool:
    """Return whether some lines, which are in order, have one from the first up to the last."""
    place = bisect_left(lines, first)
    return place < len(lines) and lines[place] <= last


def given_to(call: Node) -> list[Node]:
    """Return what a call is given, without comments and brackets; the first ones of many."""
    arguments = call.child_by_field_name("arguments")
    given = [item for item in arguments.named_children if not item.is_extra] if arguments else []
    return [bare(item) for item in given[:MOST_GIVEN]]


def place_words(text: str, around: Around) -> str:
    """Return what a string names in words: what shows code, or where a suite runs; empty where neither.

    A path that nothing reads is none: it may be anybody's example.
    """
    if _JUDGED.search(text):
        return "asks whether it is judged"
    if found := _OF_BROWSER.fullmatch(text):
        return f"asks the browser's {found[1]}"
    paths = [_resolved(path) for path in _PATH.findall(text[:_LONGEST_PATH])]
    if Around.FOLLOWING in around and any(_DESCRIPTORS.fullmatch(path) for path in paths):
        return OF_NUMBERS
    if Around.RUNNING in around:
        paths = [path for path in paths if not _PROCESS.fullmatch(path)]
    elif around & _OPENING and text.startswith(("/", "file:/")):
        paths = paths[:1]
    else:
        return ""
    place = next((path for path in paths if _COUNTING.fullmatch(path)), "")
    return f"reads /{place.split('/')[1]}" if place else ""


def scan_words(text: str) -> str:
    """Return in words what a text shows in a file that looks at all of the environment; empty for nothing."""
    return "asks whether it is judged" if _SCANNED.fullmatch(text) else ""


def is_source(text: str, source: re.Pattern[str]) -> bool:
    """Return whether a path is one of code, as far as a file writes it: in an unknown folder, tests may make it."""
    if text.startswith(UNKNOWN):
        return False
    return source.fullmatch(posixpath.normpath(text[:_LONGEST_PATH])) is not None


def is_of_descriptors(text: str) -> bool:
    """Return whether a string is a path of open files: their links and their status have their numbers."""
    return text.startswith("/") and _DESCRIPTORS.fullmatch(_resolved(text[:_LONGEST_PATH])) is not None


def _resolved(path: str) -> str:
    """Return a path without dots, doubled slashes and links of the kernel; a slash at the end stays."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
            if len(parts) == 2:
                parts = [*_LINKS.get((*parts,), parts)]
    return "/" + "/".join(parts) + ("/" if parts and path.endswith("/") else "")


def shell_words(command: str) -> str:
    """Return what a command line for a shell runs of the tools."""
    line = _DUMP.sub("cat", command[:_MOST_COMMAND])
    for found in _COMMAND.finditer(line):
        words = program_words(found[1])
        if words and not (found[1] == "git" and _INIT.match(line, found.end())):
            return words
    return ""


def program_words(name: str) -> str:
    """Return the words that say that a program is started."""
    plain = name.rpartition("/")[2]
    return f"runs {plain}" if plain in TOOLS else ""


def command_words(command: Sequence[str | None]) -> str:
    """Return what a command runs, by its literal words: None stands for what isn't literal."""
    words = command[:MOST_GIVEN]
    if words and (words[0] or "").rpartition("/")[2] == "env":
        words = words[
            next((at for at in range(1, len(words)) if not _SETTING.fullmatch(words[at] or "")), len(words)) :
        ]
    program = words[0] if words else None
    if program is None:
        return ""
    line = next((at + 1 for at in range(1, len(words) - 1) if _OPTION.fullmatch(words[at] or "")), 0)
    if line and program.rpartition("/")[2] in SHELLS:
        return shell_words(words[line] or "")
    return "" if _makes_repository(words) else program_words(program)


def _makes_repository(words: Sequence[str | None]) -> bool:
    """Return whether a command only makes a new repository."""
    if words[0] != "git":
        return False
    rest = words[3:] if words[1:2] == ["-C"] else words[1:]
    return rest[:1] == ["init"] and all(not (word or "").startswith("-") or word in _PLAIN_INIT for word in rest[1:])


def callee(node: Node) -> str:
    """Return the dotted name that a call calls; empty for one that is no name."""
    return name_of(node.child_by_field_name("function"))


def last_part(name: str) -> str:
    """Return the part of a dotted name behind its last dot."""
    return re.split(r"\.|->", name)[-1]
