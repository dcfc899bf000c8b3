"""Warnings of ours on a node, in the log of the trial that they are about."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from harness.runs.trial_store import TrialStore

_store: ContextVar[TrialStore | None] = ContextVar("trial", default=None)


class _TrialLog(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        store = _store.get()
        if store and store.directory.is_dir():
            store.log(f"{record.levelname.lower()}: {self.format(record)}")


_handler = _TrialLog(logging.WARNING)


@contextmanager
def logging_to(store: TrialStore) -> Iterator[None]:
    """In this block, and in what it starts."""
    logging.getLogger("harness").addHandler(_handler)
    token = _store.set(store)
    try:
        yield
    finally:
        _store.reset(token)
