"""What gives a task's secrets away: enough lines of one of them in one file."""

import pytest

from harness.authoring.task_check.agent_view import Secret

LINES = frozenset({b"the first line of it", b"the second line of it", b"the third line of it", b"the fourth line"})


@pytest.mark.parametrize(
    ("data", "shows"),
    [
        (b"", False),
        (b"the first line of it\nthe second line of it\n", False),
        (b"the first line of it\n-the second line of it\n+ the third line of it\n", True),
        (b"\n".join(sorted(LINES)), True),
    ],
)
def test_so_many_lines_of_a_secret_in_one_file_give_it_away(data, shows):
    assert Secret("removal.patch", LINES, 3).shows_in(data) is shows


def test_one_statement_of_a_rubric_is_enough():
    assert Secret("the rubric", LINES, 1).shows_in(b"  statement: the fourth line.")
