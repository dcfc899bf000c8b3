"""Numbers of users: no two jobs of a machine have one at a time, and none tells how many jobs run."""

import os
from pathlib import Path

import pytest

from harness.sandbox.docker.own_users import NUMBERS, take_number
from harness.sandbox.options import arm_options, repo_options
from harness.specs.catalog import Catalog

FEW = NUMBERS[: len(os.sched_getaffinity(0)) + 1]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TESTWRIGHT_CACHE", str(tmp_path))


def test_a_number_belongs_to_one_job_until_it_ends():
    taken = [take_number() for _ in range(len(FEW) + 2)]
    numbers = [number for number, _ in taken]
    assert len(set(numbers)) == len(numbers)
    assert set(numbers[: len(FEW)]) == set(FEW), "no more images than jobs run at once"
    number, lock = taken[0]
    lock.release()
    assert take_number()[0] == number


def test_numbers_are_drawn():
    def drawn() -> int:
        number, lock = take_number()
        lock.release()
        return number

    assert len({drawn() for _ in range(100)}) > 1


def test_arms_have_users_of_their_own_and_builds_have_not():
    repo = Catalog().repo("aiosmtpd")
    assert (arm_options(repo).own_user, repo_options(repo).own_user) == (True, False)
