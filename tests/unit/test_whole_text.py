"""Halves of surrogate pairs, which sources and JSON may have and no file can."""

import pytest

from harness.specs.reasons import Note, NoteCode, Reason, ReasonCode, Stage
from harness.specs.whole_text import whole_text


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("", ""),
        ("plain", "plain"),
        ("\ufeffé \U0001f600", "\ufeffé \U0001f600"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud800b\udcff", "a\ufffdb\ufffd"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
    ],
)
def test_pairs_are_characters_and_half_a_pair_is_none(text: str, whole: str) -> None:
    assert whole_text(text) == whole
    assert whole_text(text).encode().decode() == whole


def test_reasons_and_notes_that_quote_a_source_fit_into_a_file() -> None:
    words, subject = "line 1 imports ctypes.\ud800: x", "tests/a\udcff.py"
    reason = Reason(code=ReasonCode.BASELINE_RED, stage=Stage.MUTATION, subject=subject, words=words)
    note = Note(code=NoteCode.INSPECTS_CODE, subject=subject, words=words)
    for found in (reason, note):
        assert (found.subject, found.words) == ("tests/a\ufffd.py", "line 1 imports ctypes.\ufffd: x")
        assert found.model_dump_json()
