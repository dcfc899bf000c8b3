"""Items of work side by side: what goes wrong in one is its own result, and no error is dropped."""

import asyncio
import traceback

import pytest

from harness.runs.concurrency import side_by_side
from harness.specs.errors import UserError, first_error


async def test_results_come_in_the_items_order_whatever_order_they_end_in():
    turns = {"slow": 5, "quick": 0, "middle": 2}
    ended: list[str] = []

    async def work(item: str) -> str:
        for _ in range(turns[item]):
            await asyncio.sleep(0)
        return item.upper()

    def failed(item: str, error: Exception) -> str:
        raise AssertionError(item) from error

    results = await side_by_side(list(turns), work, failed, 3, ended.append)
    assert results == ["SLOW", "QUICK", "MIDDLE"]
    assert ended == ["QUICK", "MIDDLE", "SLOW"]


async def test_no_more_items_are_at_work_than_there_are_jobs():
    at_work, most = 0, 0

    async def work(item: int) -> int:
        nonlocal at_work, most
        at_work += 1
        most = max(most, at_work)
        await asyncio.sleep(0)
        at_work -= 1
        return item

    def failed(item: int, error: Exception) -> int:
        raise AssertionError(item) from error

    assert await side_by_side(range(20), work, failed, 3) == list(range(20))
    assert most == 3


async def test_an_item_that_raises_has_the_result_that_is_made_of_its_error():
    async def work(item: int) -> str:
        return str(10 // item)

    def failed(item: int, error: Exception) -> str:
        return f"{item}: {error}"

    assert await side_by_side([5, 0, 2], work, failed, 2) == ["2", "0: integer division or modulo by zero", "5"]


async def test_an_item_that_may_not_begin_is_left_out():
    ended: list[int] = []

    async def work(item: int) -> int:
        return item

    def failed(item: int, error: Exception) -> int:
        raise AssertionError(item) from error

    results = await side_by_side([1, 2, 3, 4], work, failed, 1, ended.append, lambda: len(ended) < 2)
    assert results == ended == [1, 2]


async def test_an_error_that_cannot_be_a_result_ends_everything():
    async def work(item: int) -> int:
        if item:
            await asyncio.Event().wait()
        raise ValueError("no disk")

    def failed(item: int, error: Exception) -> int:
        raise error

    with pytest.raises(ValueError, match="no disk"):
        await side_by_side([0, 1, 2], work, failed, 3)


async def test_the_first_error_of_a_group_names_the_others_and_has_their_tracebacks():
    async def fails(error: Exception) -> None:
        raise error

    async def all_fail() -> None:
        with first_error():
            async with asyncio.TaskGroup() as group:
                group.create_task(fails(UserError("tasks/x: wrong")))
                group.create_task(fails(ZeroDivisionError("unforeseen")))
                group.create_task(fails(OSError("no disk")))

    with pytest.raises(UserError, match=r"tasks/x: wrong") as caught:
        await all_fail()
    assert caught.value.__notes__ == ["beside it: ZeroDivisionError: unforeseen", "beside it: OSError: no disk"]
    text = "".join(traceback.format_exception(caught.value))
    assert text.count("in fails\n") == 3


async def test_errors_of_groups_within_groups_are_all_there():
    with pytest.raises(ValueError, match="first") as caught, first_error():
        raise ExceptionGroup("outer", [ExceptionGroup("inner", [ValueError("first"), KeyError("second")])])
    assert caught.value.__notes__ == ["beside it: KeyError: 'second'"]


async def test_an_error_that_is_alone_stays_as_it_was():
    with pytest.raises(ValueError, match="alone") as caught, first_error():
        raise ExceptionGroup("outer", [ValueError("alone")])
    assert not hasattr(caught.value, "__notes__")
