"""What is kept of a trial's attempts."""

from pathlib import Path

from harness.models.replay import now
from harness.runs.attempts import AttemptEnd, AttemptLog, AttemptRecord


def test_an_error_whose_words_no_file_can_hold_is_kept_all_the_same(tmp_path: Path) -> None:
    """The name of a file needn't be UTF-8, and stands in the error of whoever opens it."""
    log = AttemptLog(tmp_path / "1.attempts.jsonl")
    log.add(AttemptRecord(number=1, started=now(), end=AttemptEnd.HARNESS_ERROR, message="a\udcff is absent"))
    [record] = log.read()
    assert (record.message, log.next_number(), log.is_damaged) == ("a\ufffd is absent", 2, False)
