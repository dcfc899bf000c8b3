"""Start, health, end: the same for every brief. The tests run in this order, on one application."""

from typing import Any

import pytest
from conftest import Application


@pytest.fixture(scope="module")
def end(app: Application) -> Any:
    return app.stop()


def test_it_starts_in_time(app: Application) -> None:
    assert app.healthy()


def test_it_is_healthy_twice(app: Application) -> None:
    assert app.healthy()
    assert app.healthy()


def test_a_request_to_stop_ends_it_and_leaves_nothing(end: Any) -> None:
    assert end["status"] is not None, "it went on"
    assert not end["left"], "a process of it stayed"


def test_it_writes_nothing_outside_its_data_directory(end: Any) -> None:
    assert not end["written"]
