"""The commands of a page's console blocks, run one after another in one directory."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Shown(NamedTuple):
    """A command, and what the page says it prints."""

    command: str
    output: str


def blocks(page: str) -> list[Shown]:
    """Every `$ command` of the page; one with a here-document goes on to its END."""
    found = []
    for block in _BLOCK.findall(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            end = re.search(r"^END\n", part, re.MULTILINE)
            at = end.end() if end else part.index("\n") + 1
            found.append(Shown(part[:at], part[at:]))
    return found


def printed(command: str, directory: Path) -> str:
    """What a command prints on its standard output, without the directory's name; seconds are 0.0."""
    script = f'testwright() {{ "{sys.executable}" -m harness.cli "$@"; }}\n{command}'
    environment = {**os.environ, "COLUMNS": "110"}
    done = subprocess.run(
        ["bash", "-c", script], cwd=directory, env=environment, stdout=subprocess.PIPE, text=True, check=False
    )
    text = re.sub(r"(?<= )\d+\.\d$", "0.0", done.stdout.replace(f"{directory}/", ""), flags=re.MULTILINE)
    lines = text.splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines if line.strip())
