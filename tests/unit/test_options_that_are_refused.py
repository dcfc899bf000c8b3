"""Values of options that mean nothing: one line that says which, status 2, and nothing made."""

from pathlib import Path

import pytest

from tests.support.command import typed

RUN = "run -s nop -o made --dry-run"
REFUSED = {
    f"{RUN} -t ''": "the name of a task is empty; name one, or '*' for all",
    f"{RUN} -t * --max-cost inf": "max_cost_usd: Input should be a finite number",
    f"{RUN} -t * --max-cost nan": "max_cost_usd: Input should be a finite number",
    f"{RUN} -t * --image-map nowhere.yaml": "--image-map nowhere.yaml: there is no such file",
    "task scores --records nowhere": "--records nowhere: there is no such folder; name tasks to measure them",
}
"""A command -> what is said."""


@pytest.mark.parametrize("command", REFUSED)
def test_one_line_says_what_is_wrong(tmp_path: Path, command: str) -> None:
    done = typed(*(word.strip("'") for word in command.split()), cwd=tmp_path)
    assert (done.status, done.output, done.complaint) == (2, "", f"testwright: {REFUSED[command]}\n")
    assert not (tmp_path / "made").exists()
