"""Judgings with few arms: in this process, and in one that is started."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.support.few_arms import few_arms, few_arms_elsewhere, settings

NAMES = [name.rpartition(".") for name in settings(0, True, True)]
PRINTS = "from importlib import import_module\n" + "".join(
    f"print(getattr(import_module({module!r}), {own!r}))\n" for module, _, own in NAMES
)


def test_a_process_that_is_started_judges_as_this_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few_arms(monkeypatch, 0)
    here = [getattr(import_module(module), own) for module, _, own in NAMES]
    env = {**os.environ, **few_arms_elsewhere(tmp_path)}
    command = [sys.executable, "-c", PRINTS]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    there = [line.split()[:2] for line in done.stdout.splitlines()]
    assert there == [["<function", "says_no"] if callable(each) else [str(each)] for each in here]
