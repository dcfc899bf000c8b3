"""The files of each shipped task and the record of its full check; of one task, the brief check.

`make check-tasks` checks all tasks in full. The brief one takes the task of a repository that no other group judges
anything of.
"""

import os
from pathlib import Path

import pytest

from harness.specs.catalog import Catalog
from tests.support.command import Done, typed

CHECKOUT = Path(__file__).parents[2]
BRIEF = "borgmatic-file-credentials"


def checked(*arguments: str) -> Done:
    command = ("task", "check", "--records", "docs/check-records", *arguments)
    return typed(*command, cwd=CHECKOUT, environment={**os.environ, "TESTWRIGHT_CACHE": ""})


@pytest.mark.parametrize("task", Catalog().names("tasks"))
def test_its_files_and_its_record_hold(task: str) -> None:
    done = checked("--quick", task)
    assert done.status == 0, done.output + done.complaint


@pytest.mark.long
@pytest.mark.docker
def test_the_reference_is_resolved_and_nothing_is_refused() -> None:
    done = checked("--brief", BRIEF)
    assert done.status == 0, done.output + done.complaint
