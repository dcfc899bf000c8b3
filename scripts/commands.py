"""Writes docs/commands.md from the commands themselves, the Makefile and command-examples.yaml beside this file.

usage: python -m scripts.commands [--check]     --check: change nothing, status 1 where the page differs
"""

import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.cli.main import command_line

CHECKOUT = Path(__file__).parents[1]
PAGE = CHECKOUT / "docs" / "commands.md"
EXAMPLES = Path(__file__).parent / "command-examples.yaml"
_TARGET = re.compile(r"^([a-z-]+):.*?## (.+)$", re.MULTILINE)
_HEAD = """\
# Commands

`make commands` writes this page from the commands themselves. Type them in a checkout after `make demo` or `make
test` and `source .venv/bin/activate`; after `uv tool install .` or `pipx install .` they work everywhere, and only
examples that name a file need the checkout (and sites need the extra `site`, parquet files `export`, clusters
`ray`: `uv tool install '.[all]'`). Examples whose last column is empty need no network, no model, no engine and no
run of your own: a test runs them. `MODEL`, `PATH`, `HOST` and the like stand for yours. Keys of model providers are
read from the environment (`export ANTHROPIC_API_KEY=...`) or from such lines in `.env`; `testwright doctor` lists
those that it finds. Exit status: 0 the command did what was asked (whatever the verdicts), 1 something could not be
scored or a check failed, 2 usage or configuration error, 130 interrupted.

Each command has `-h`. `--catalog PLACE`, before the command's name, takes tasks, repositories, rubrics and scaffolds
from another folder, a git repository or an installed package ([catalogs.md](catalogs.md)).
"""


@dataclass(frozen=True)
class Example:
    """An example of a command.

    Attributes:
        command: The command's name, such as `task show`.
        want: What a user wants who types it.
        type: The line to type.
        needs: What must be there beside a checkout, or nothing.
        slow: It takes more than two seconds of CPU.
    """

    command: str
    want: str
    type: str
    needs: str = ""
    slow: bool = False

    @property
    def words(self) -> list[str]:
        """The words after `testwright`."""
        return shlex.split(self.type)[1:]


def examples() -> dict[str, dict[str, list[Example]]]:
    """Read the examples: users -> command's name -> its examples, in the order of the page."""
    return {
        group["users"]: {name: [Example(name, **item) for item in items] for name, items in group["commands"].items()}
        for group in yaml.safe_load(EXAMPLES.read_text(encoding="utf-8"))
    }


def commands() -> dict[str, Any]:
    """Return each command of `testwright` by its full name, in typer's form."""
    found: dict[str, Any] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), command_line())]
    while waiting:
        path, command = waiting.pop(0)
        inner = getattr(command, "commands", None)
        if inner is None:
            found[" ".join(path)] = command
        else:
            waiting += [((*path, name), item) for name, item in inner.items()]
    return found


def page() -> str:
    """Make the page's text.

    Raises:
        SystemExit: A command has no example, or an example has no command.
    """
    known, groups = commands(), examples()
    shown = [name for group in groups.values() for name in group]
    if wrong := sorted(set(known) ^ set(shown)) or sorted(name for name in known if shown.count(name) > 1):
        sys.exit(f"{EXAMPLES.relative_to(CHECKOUT)}: must have each command once; look at {', '.join(wrong)}")
    parts = [_HEAD]
    for users, group in groups.items():
        parts.append(f"## {users}\n")
        parts += [_section(name, known[name], items) for name, items in group.items()]
    return "\n".join([*parts, _targets()])


def _section(name: str, command: Any, items: list[Example]) -> str:
    rows = [f"| {item.want} | `{_cell(item.type)}` | {item.needs} |" for item in items]
    options = [f"| `{_cell(_spelled(item))}` | {_cell(_about(item))} |" for item in command.params]
    head = ["| you want to | type | needs |", "|---|---|---|"]
    about = ["", "| argument, option | |", "|---|---|"] if options else []
    return "\n".join([f"### {name}", "", command.help, "", *head, *rows, *about, *options, ""])


def _spelled(parameter: Any) -> str:
    """Return how a parameter is typed, with a placeholder for what it takes."""
    placeholder = parameter.metavar or parameter.name.upper()
    if not parameter.opts[0].startswith("-"):
        several = "..." if parameter.nargs == -1 and not placeholder.endswith("...") else ""
        return f"{placeholder}{several}" if parameter.required else f"[{placeholder}{several}]"
    names = ", ".join([*parameter.opts, *parameter.secondary_opts])
    return names if parameter.is_flag else f"{names} {placeholder}"


def _about(parameter: Any) -> str:
    """Return a parameter's help, with the default that `--help` shows."""
    told, default = parameter.help or "", parameter.default
    is_switch = getattr(parameter, "is_flag", False)
    if is_switch or parameter.required or default in (None, "", ()) or "[default:" in told:
        return told
    return f"{told} [default: {getattr(default, 'value', default)}]"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _targets() -> str:
    targets = _TARGET.findall((CHECKOUT / "Makefile").read_text(encoding="utf-8"))
    rows = [f"| `make {name}` | {_cell(about)} |" for name, about in targets]
    return "\n".join(["## Targets of make", "", "| type | for |", "|---|---|", *rows, ""])


def main() -> int:
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text, encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text:
        return 0
    print("docs/commands.md differs from the commands; run make commands", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
