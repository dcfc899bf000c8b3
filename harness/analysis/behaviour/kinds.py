"""What a command or a native agent's tool is for."""

import re
from pathlib import PurePosixPath

from harness.analysis.behaviour import vocabulary
from harness.analysis.behaviour.shell import AtomicCommand
from harness.analysis.behaviour.vocabulary import Kind


def kind_of_command(command: AtomicCommand, test_command: str = "run_tests") -> Kind:
    """`test_command` is the repository's own."""
    program, words = command.program, command.arguments
    if _runs_tests(command, test_command):
        return Kind.TESTS
    if _manages_packages(program, words):
        return Kind.PACKAGES
    if any(not name.startswith("/tmp/") for name in command.writes) or _edits_in_place(program, words):
        return Kind.WRITE
    if program == "git":
        return vocabulary.GIT.get(next(iter(command.operands), ""), Kind.OTHER)
    if program in vocabulary.PROGRAMS:
        found = vocabulary.PROGRAMS[program]
        # `| head` looks at what another command prints, not at a file
        return Kind.OTHER if command.is_filter and found in (Kind.READ, Kind.SEARCH) else found
    if program in vocabulary.INTERPRETERS:
        return Kind.WRITE if _WRITES_FILES.search(command.text + command.body) else Kind.BUILD_RUN
    is_file = "/" in command.name or PurePosixPath(program).suffix in (".sh", ".py")
    return Kind.BUILD_RUN if is_file else Kind.OTHER


def kind_of_tool(name: str) -> Kind | None:
    """Of a native agent's own tool; None for a shell, whose commands tell, and OTHER for one that isn't known."""
    plain = _plain(name)
    if plain in vocabulary.SHELL_TOOLS:
        return None
    return vocabulary.TOOLS.get(plain, Kind.OTHER)


def asks_the_web(tool: str) -> bool:
    """Whether a native agent's own tool asks other hosts, whatever it is told."""
    return _plain(tool) in vocabulary.WEB_TOOLS


def _plain(tool: str) -> str:
    return re.sub(r"[^a-z]", "", tool.lower())


def _runs_tests(command: AtomicCommand, test_command: str) -> bool:
    program, words = command.program, command.arguments
    if program == test_command.rpartition("/")[2] or program in vocabulary.TEST_RUNNERS:
        return "--collect-only" not in words and "--version" not in words
    first = next(iter(command.operands), "")
    if program in vocabulary.INTERPRETERS and "-m" in words:
        following = words[words.index("-m") + 1 :]
        return bool(following) and following[0] in vocabulary.TEST_MODULES
    if program in vocabulary.WITH_A_TEST_COMMAND:
        return first in ("test", "t") or (first == "run" and any(word.startswith("test") for word in words[1:]))
    if program in ("npx", "bunx", "uv", "poetry"):
        return any(word in vocabulary.TEST_RUNNERS for word in command.operands)
    return program in ("make", "ninja") and any(word in ("test", "check", "tests") for word in words)


def _manages_packages(program: str, words: tuple[str, ...]) -> bool:
    if program in ("python", "python3") and words[:2] in (("-m", "pip"), ("-m", "venv"), ("-m", "ensurepip")):
        return True
    if program in vocabulary.PACKAGE_MANAGERS:
        return True
    asked = next((word for word in words if not word.startswith("-")), "")
    return program in vocabulary.WITH_PACKAGE_COMMANDS and asked in vocabulary.PACKAGE_COMMANDS


def _edits_in_place(program: str, words: tuple[str, ...]) -> bool:
    return program in ("sed", "perl") and any(re.fullmatch(r"-[a-zA-Z]*i.*|--in-place.*", word) for word in words)


_WRITES_FILES = re.compile(r"open\([^()]*['\"][wax]b?\+?['\"]|\.write_(?:text|bytes)\(|writeFile(?:Sync)?\(")
"""What a script of a few lines has that changes files."""
