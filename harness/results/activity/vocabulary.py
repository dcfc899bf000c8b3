"""Kinds of what agents do, and the programs and tools that each kind has."""

from collections.abc import Iterable, Mapping
from enum import StrEnum


class Group(StrEnum):
    """Groups of kinds of actions."""

    FILES = "file operations"
    SEARCH = "search"
    EXECUTION = "execution"
    OTHER = "other"


class Kind(StrEnum):
    """Kinds of atomic commands and tool calls."""

    READ = "read"
    WRITE = "write"
    SEARCH = "search"
    NAVIGATION = "navigation"
    TESTS = "tests"
    BUILD_RUN = "build-run"
    PACKAGES = "packages"
    OTHER = "other"
    """Version control that changes nothing in the tree, printing, waiting, submitting."""

    @property
    def group(self) -> Group:
        return _GROUPS[self]


_GROUPS = {
    Kind.READ: Group.FILES,
    Kind.WRITE: Group.FILES,
    Kind.SEARCH: Group.SEARCH,
    Kind.NAVIGATION: Group.SEARCH,
    Kind.TESTS: Group.EXECUTION,
    Kind.BUILD_RUN: Group.EXECUTION,
    Kind.PACKAGES: Group.EXECUTION,
    Kind.OTHER: Group.OTHER,
}


def _table(names: Mapping[Kind, str]) -> dict[str, Kind]:
    return {name: kind for kind, text in names.items() for name in text.split()}


def _set(*texts: str) -> frozenset[str]:
    return frozenset(name for text in texts for name in _words(text))


def _words(text: str) -> Iterable[str]:
    return text.split()


PROGRAMS = _table(
    {
        Kind.READ: "cat head tail less more nl tac bat xxd od hexdump strings file stat wc sed awk gawk cut sort "
        "uniq diff cmp column jq yq tr paste readlink realpath md5sum sha256sum",
        Kind.WRITE: "tee cp mv rm mkdir rmdir touch ln patch apply_patch dd truncate chmod chown install ed ex vim "
        "vi nano",
        Kind.SEARCH: "grep egrep fgrep rg ag ack find fd fdfind locate which whereis type ctags",
        Kind.NAVIGATION: "ls cd pwd tree pushd popd dirs du",
        Kind.BUILD_RUN: "make cmake ninja meson gcc g++ cc clang clang++ ld ar go cargo rustc javac java mvn gradle "
        "npm npx yarn pnpm bunx tsc eslint oxlint prettier ruff black flake8 mypy pylint gofmt gdb valgrind "
        "autoreconf configure dotnet swift uv poetry",
    }
)
GIT = _table(
    {
        Kind.READ: "diff show status cat-file blame",
        Kind.SEARCH: "grep log ls-files ls-tree rev-list reflog",
        Kind.WRITE: "apply checkout restore reset stash clean mv rm revert",
    }
)
"""Kinds of `git`'s subcommands."""
INTERPRETERS = _set("python python2 python3 node deno bun ruby perl tsx ts-node")
TEST_RUNNERS = _set(
    "pytest py.test nosetests tox nox vitest jest mocha ava tap ctest bats prove phpunit rspec gotestsum",
    "cargo-nextest playwright",
)
TEST_MODULES = _set("pytest unittest nose2 tox")
"""Modules of `python -m` that run tests."""
WITH_A_TEST_COMMAND = _set("go cargo npm yarn pnpm bun deno dotnet mvn gradle meson mix")
"""Programs that run tests when they are told `test`."""
PACKAGE_MANAGERS = _set("apt apt-get aptitude apk dnf yum brew pip pip3 pipx conda gem")
WITH_PACKAGE_COMMANDS = _set("npm yarn pnpm uv poetry go cargo bundle composer")
PACKAGE_COMMANDS = _set("install add i ci sync get mod upgrade update fetch")
SHELL_TOOLS = _set(
    "bash shell runshellcommand commandexecution execcommand localshell localshellcall terminal executebash",
    "runterminalcommand exec shellcommand runcommand developershell execute",
)
"""Native agents' tools that take shell text. Names of tools are in small letters without marks between."""
TOOLS = _table(
    {
        Kind.READ: "read readfile view readmanyfiles viewfile openfile notebookread viewimage",
        Kind.WRITE: "edit write multiedit notebookedit writefile replace applypatch filechange patch create "
        "strreplace strreplaceeditor strreplacebasededittool texteditor developertexteditor deletefile",
        Kind.SEARCH: "grep glob search searchfilecontent grepsearch greptool findfiles codesearch",
        Kind.NAVIGATION: "ls list listdirectory listfiles listdir",
    }
)
WEB_TOOLS = _set("webfetch websearch webfetchtool googlewebsearch websearchpreview fetch fetchurl browser urlfetch")
"""Native agents' tools that ask other hosts."""
CLIENTS = _set("curl wget nc ncat netcat telnet ssh scp sftp rsync ftp dig nslookup host ping aria2c lynx")
"""Programs that ask other hosts."""
