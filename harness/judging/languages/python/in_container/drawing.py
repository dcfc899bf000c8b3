"""Lies beside fuzz files while they run: draws by the check's seed, and writes down what the code answers."""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def answer(function: Callable[[], object], thrown: Callable[[Exception], str] = error_text) -> str:
    """Return what a call returns or raises, as text."""
    try:
        return repr(function())
    except Exception as error:
        return thrown(error)


@contextmanager
def drawn_calls(
    thrown: Callable[[Exception], str] = error_text, shown: Callable[[object], str] = ascii
) -> Iterator[tuple[random.Random, Callable[[str, object, Callable[[], object]], None]]]:
    """Provide what inputs are drawn with, and a function that makes a call twice and keeps `NAME INPUT => ANSWER`.

    An exception is an answer: the text that `thrown` makes of it. What `shown` returns is written, of both.
    """
    lines: list[str] = []

    def call(name: str, asked: object, function: Callable[[], object]) -> None:
        for _ in range(2):
            lines.append(f"{name} {shown(asked)} => {shown(answer(function, thrown))}\n")

    yield random.Random(int(os.environ["TESTWRIGHT_FUZZ_SEED"])), call
    with (Path(os.environ["TESTWRIGHT_REPORT_DIR"]) / "fuzz.txt").open("a", encoding="utf-8") as report:
        report.writelines(lines)
