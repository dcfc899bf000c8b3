"""Many items of work at once: a limit, an error boundary around each item, results in the items' order."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from harness.specs.errors import first_error

T = TypeVar("T")
R = TypeVar("R")


def always() -> bool:
    """Every item may begin."""
    return True


async def side_by_side(
    items: Sequence[T],
    work: Callable[[T], Awaitable[R]],
    failed: Callable[[T, Exception], R],
    jobs: int,
    ended: Callable[[R], None] = lambda _: None,
    may_begin: Callable[[], bool] = always,
) -> list[R]:
    """Do `work` for each item, at most `jobs` at a time, begun in their order; `ended` is told of each result.

    An item whose work raises costs that item only: its result is what `failed` makes of the error. `may_begin` is
    asked before each item; where it says no, the item is left out. What `failed` and `ended` raise ends everything.
    """
    turns = asyncio.Semaphore(jobs)
    results: dict[int, R] = {}

    async def turn(number: int, item: T) -> None:
        async with turns:
            if not may_begin():
                return
            try:
                results[number] = await work(item)
            except Exception as error:
                results[number] = failed(item, error)
            ended(results[number])

    with first_error():
        async with asyncio.TaskGroup() as group:
            for number, item in enumerate(items):
                group.create_task(turn(number, item))
    return [results[number] for number in sorted(results)]
