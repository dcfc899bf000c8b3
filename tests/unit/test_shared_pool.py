"""The scheduler of the tests: what shares something costly stays together, and what needs images waits for them."""

import threading
from collections import OrderedDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support import shared_pool
from tests.support.shared_pool import CLIENTS, ONE_SANDBOX, TOGETHER, SharedPool

CHECKOUT = Path(__file__).parents[2]
LIGHT = "tests/corpora/test_verdicts.py::test_a_verdict_on_a_light_task"


def scope(nodeid: str) -> str:
    return SharedPool._split_scope(cast("SharedPool", None), nodeid)


def begin(nodeid: str) -> threading.Thread:
    """A thread that ends when a test may begin."""
    hook = cast("Any", shared_pool.pytest_runtest_protocol)(SimpleNamespace(nodeid=nodeid))
    thread = threading.Thread(target=next, args=(hook,), daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("place", [*TOGETHER, *CLIENTS, *ONE_SANDBOX])
def test_every_place_that_is_named_is_there(place: str) -> None:
    """Else its tests would be spread again, and nobody would notice."""
    file, _, test = place.partition("::")
    found = [path for path in CHECKOUT.glob(f"{file.rstrip('/')}*") if path.is_dir() or path.suffix == ".py"]
    assert found
    assert f"def {test.partition('[')[0]}(" in found[0].read_text() if test else True


def test_judgings_on_one_light_task_share_a_process_and_others_do_not() -> None:
    for language in ("c", "go", "python", "typescript"):
        assert scope(f"{LIGHT}[{language}/one]") == scope(f"{LIGHT}[{language}/two]")
    assert scope(f"{LIGHT}[c/one]") != scope(f"{LIGHT}[go/one]")
    assert scope("tests/docker/test_x.py::test_one") != scope("tests/docker/test_x.py::test_two")


def test_tests_of_one_file_of_unit_tests_share_a_process() -> None:
    assert scope("tests/unit/test_x.py::test_one") == scope("tests/unit/test_x.py::test_two[tests/unit/test_y.py]")
    assert scope("tests/unit/test_x.py::test_one") != scope("tests/unit/test_y.py::test_one")


def test_tests_on_one_sandbox_share_a_process() -> None:
    [commands, files] = ONE_SANDBOX
    assert scope(f"{commands}::test_one[docker]") == scope(f"{commands}::test_two[docker-echo '[x]'\n-1]")
    assert scope(f"{commands}::test_one[docker]") != scope(f"{commands}::test_one[plain]")
    assert scope(f"{commands}::test_one[docker]") != scope(f"{files}::test_one[docker]")


def test_what_imports_clients_of_models_shares_a_process_wherever_it_lies() -> None:
    scopes = {scope(f"{place}::test_one") for place in CLIENTS}
    assert len(scopes) == 1
    assert scope("tests/unit/test_x.py::test_one") not in scopes


def test_a_test_that_needs_images_begins_when_they_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = tmp_path / "images.end"
    monkeypatch.setenv("TESTWRIGHT_IMAGES_MADE", str(made))
    monkeypatch.setenv("TESTWRIGHT_IMAGE_GROUPS", "corpora docker")
    begins = begin("tests/unit/test_x.py::test_one")
    begins.join(60)
    assert not begins.is_alive()
    waits = begin("tests/docker/test_x.py::test_one")
    waits.join(0.3)
    assert waits.is_alive()
    made.touch()
    waits.join(60)
    assert not waits.is_alive()


def test_nothing_waits_where_no_images_are_being_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TESTWRIGHT_IMAGES_MADE", raising=False)
    begins = begin("tests/docker/test_x.py::test_one")
    begins.join(60)
    assert not begins.is_alive()


class Node:
    """A process of the pool that is told what to run."""

    def __init__(self) -> None:
        self.told: list[int] = []

    def send_runtest_some(self, indexes: list[int]) -> None:
        self.told += indexes


ORDER = [
    "tests/unit/test_a.py", "tests/unit/test_b.py", "tests/contract/test_c.py::test_one", "tests/unit/test_d.py",
    "tests/docker/test_e.py::test_one", "tests/docker/test_f.py::test_one",
]  # fmt: skip


def assigned(*turns: int) -> str:
    """What each of two processes gets, turn by turn, by the letter of its file."""
    pool, nodes = SharedPool.__new__(SharedPool), [Node(), Node()]
    pool.workqueue = OrderedDict((scope, {scope: False}) for scope in ORDER)
    pool.assigned_work = cast("Any", {node: {} for node in nodes})
    pool.registered_collections = cast("Any", dict.fromkeys(nodes, ORDER))
    for turn in turns:
        pool._assign_work_unit(cast("Any", nodes[turn]))
    return " ".join("".join("abcdef"[index] for index in node.told) for node in nodes)


def test_every_other_process_begins_with_containers_and_goes_on_with_what_is_left(tmp_path, monkeypatch):
    monkeypatch.delenv("TESTWRIGHT_IMAGES_MADE", raising=False)
    assert assigned(0, 1, 0, 1, 1, 0) == "abd cef"
    assert assigned(0, 0, 0, 0, 1, 0) == "abdcf e"
    assert assigned(1, 1, 1, 1, 1, 1) == " cefabd"
    monkeypatch.setenv("TESTWRIGHT_IMAGES_MADE", str(tmp_path / "not yet"))
    monkeypatch.setenv("TESTWRIGHT_IMAGE_GROUPS", "corpora docker")
    assert assigned(0, 1, 1, 0, 1, 1) == "ad cbef"


def test_a_unit_is_forgotten_when_its_last_test_is_done_and_no_sooner() -> None:
    """xdist counts what is pending over all units that it knows, and takes a test that isn't there for a lost one."""
    first, second = (f"tests/unit/test_x.py::test_{name}" for name in ("one", "two"))
    node = cast("Any", object())
    asked: list[bool] = []
    pool = object.__new__(SharedPool)
    pool.registered_collections = {node: [first, second]}
    pool.assigned_work = {node: {"tests/unit/test_x.py": {first: False, second: False}}}
    pool._reschedule = lambda _node: asked.append(True)  # type: ignore[method-assign]
    pool.mark_test_complete(node, 0)
    assert pool.assigned_work == {node: {"tests/unit/test_x.py": {first: True, second: False}}}
    pool.mark_test_complete(node, 1)
    assert pool.assigned_work == {node: {}}
    assert asked == [True, True]
