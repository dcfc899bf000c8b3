"""The columns that tracks add to tables of trials."""

from collections.abc import Iterable

from harness.tracks.protocol import Column
from harness.tracks.registry import TRACKS
from harness.verify.verdict import VerdictRecord


def track_columns(records: Iterable[VerdictRecord]) -> tuple[str, ...]:
    """The titles of all columns that the tracks of these verdicts have, each once."""
    titles = [column.title for record in records for column in _columns(record)]
    return tuple(dict.fromkeys(titles))


def column_value(title: str, record: VerdictRecord | None) -> str:
    """What a trial's track says in the column of this title; `-` where it has none."""
    columns = _columns(record) if record else ()
    return next((column.value(record) for column in columns if record and column.title == title), "-")


def _columns(record: VerdictRecord) -> tuple[Column, ...]:
    """None where the track that graded it isn't installed here."""
    return TRACKS.get(record.track).columns if record.track in TRACKS.names else ()
