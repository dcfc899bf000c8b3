"""The interpreter that a checkout is set up with."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


def chosen(place: Path, interpreters: dict[str, str]) -> str:
    """Return what is chosen where PATH has programs that answer as `interpreters` say."""
    for name, answer in interpreters.items():
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text(f"#!/bin/bash\n{answer}\n")
        (place / name).chmod(0o755)
    path = os.pathsep.join(str(folder) for folder in sorted(place.iterdir()))
    program = ["/bin/bash", str(CHECKOUT / "scripts" / "interpreter")]
    done = subprocess.run(program, env={"PATH": path}, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("interpreters", "expected"),
    [
        ({"a/python3": "echo 3.11 9000 first", "b/python3": "echo 3.11 6000 second"}, "second"),
        ({"a/python3": "echo 3.11 6300 first", "b/python3": "echo 3.11 6000 second"}, "first"),
        ({"a/python3": "echo 3.11 9000 first", "b/python3": "echo 3.12 6000 second"}, "first"),
        ({"a/python3": "exit 0", "a/python3.12": "echo 3.12 6000 /with blanks/newer"}, "/with blanks/newer"),
        ({"a/python3": "exit 1", "b/python3": "echo 3.11 6000 second"}, "second"),
        ({"a/python3": "exit 0"}, "python3"),
    ],
    ids=["clearly faster", "as fast", "another version", "too old", "makes no environment", "none is fit"],
)
def test_the_first_that_is_fit_or_one_of_its_version_that_is_clearly_faster(
    interpreters: dict[str, str], expected: str, tmp_path: Path
) -> None:
    assert chosen(tmp_path, interpreters) == expected


def test_an_interpreter_is_asked_for_its_version_speed_and_place(tmp_path: Path) -> None:
    assert chosen(tmp_path, {"a/python3": f'exec {sys.executable} "$@"'}) == sys.executable
