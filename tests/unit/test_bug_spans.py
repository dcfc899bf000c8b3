"""Spans of a fault: their file, their width, and what is put in their place."""

import contextlib
import time
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plugins.bug.differences import differences
from harness.plugins.bug.spans import (
    FEWEST_LINES,
    Edit,
    Span,
    SpanError,
    applied,
    check_spans,
    contain,
    edits,
    gold_spans,
    parse_spans,
    transplanted,
    widest,
    width,
)

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"}\n"]), max_size=12).map(b"".join)
SPANS = st.lists(
    st.tuples(st.sampled_from("xy"), st.integers(1, 14), st.integers(0, 5)).map(
        lambda drawn: Span(drawn[0], drawn[1], drawn[1] + drawn[2])
    ),
    max_size=3,
)


def written(spans: list[Span]) -> bytes:
    return "".join(f"- {{file: {span.file}, lines: [{span.first}, {span.last}]}}\n" for span in spans).encode()


@given(SPANS.filter(bool))
def test_what_is_written_is_read(spans):
    assert list(parse_spans(written(spans))) == spans


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data):
    with contextlib.suppress(SpanError):
        parse_spans(data)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a list"),
        ("file: x", "not a list"),
        ("- {file: x, lines: [1, 2]}\n" * 4, "4 spans"),
        ("- {file: x, lines: [2, 1]}", "the first one not behind the last"),
        ("- {file: x, lines: [0, 1]}", "lines count from 1"),
        ("- {file: x, lines: [a, b]}", "lines must be two numbers"),
        ("- {file: x, lines: [1, 99999999999999999]}", "lines must be two numbers"),
        ("- {file: x, lines: [1]}", "not a span"),
        ("- {file: x, lines: [1, 2], why: y}", "not a span"),
        ("- {file: [x], lines: [1, 2]}", "not a span"),
        ("- &a {file: x, lines: [1, 2]}\n- *a", "line"),
        ("- {file: x\n", "line 1"),
    ],
)
def test_what_is_no_list_of_spans_is_told_in_a_line(text, words):
    with pytest.raises(SpanError) as raised:
        parse_spans(text.encode())
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)


def test_spans_outside_of_the_code_are_refused():
    check_spans([Span("x", 1, 3)], {"x": 3})
    with pytest.raises(SpanError, match="has 3 lines, not 4"):
        check_spans([Span("x", 1, 4)], {"x": 3})
    with pytest.raises(SpanError, match="is no file of the code"):
        check_spans([Span("tests/x", 1, 1)], {"x": 3})


@given(SPANS)
def test_the_width_is_the_number_of_named_lines(spans):
    lines = {(span.file, line) for span in spans for line in range(span.first, span.last + 1)}
    assert width(spans) == len(lines)


@given(LINES, LINES)
def test_all_edits_make_the_other_text(old, new):
    assert applied(old, edits(old, new)) == new


@given(LINES, LINES)
def test_the_narrowest_spans_are_the_whole_fault_and_narrow_enough(old, new):
    buggy, fixed = {"x": old}, {"x": new}
    spans = gold_spans(buggy, fixed)
    assert transplanted(buggy, fixed, spans) == fixed
    assert len(spans) <= 3
    if len(list(edits(old, new))) <= 3:
        assert width(spans) <= widest(buggy, fixed)


@given(LINES, LINES, SPANS)
def test_whatever_is_named_only_lines_of_the_fixed_text_come_in(old, new, spans):
    buggy, fixed = {"x": old, "y": b"same\n"}, {"x": new, "y": b"same\n"}
    found = transplanted(buggy, fixed, spans)
    assert found["y"] == b"same\n"
    assert set(found["x"].splitlines()) <= {*old.splitlines(), *new.splitlines()}
    if not any(span.file == "x" for span in spans):
        assert found == buggy


@given(LINES, LINES)
def test_naming_every_line_brings_all_of_the_fix(old, new):
    span = Span("x", 1, max(1, len(old.splitlines())))
    assert transplanted({"x": old}, {"x": new}, [span]) == {"x": new}


@given(LINES, LINES)
def test_a_repair_lies_within_the_spans_that_its_own_edits_give(old, new):
    if old == new or len(list(edits(old, new))) > 3:
        return
    assert contain(gold_spans({"x": old}, {"x": new}), {"x": old}, {"x": new})
    assert not contain([], {"x": old}, {"x": new})


def test_a_line_that_was_taken_out_is_named_by_one_beside_its_gap():
    buggy, fixed = {"x": b"a\nb\n"}, {"x": b"a\nnew\nb\n"}
    for line in (1, 2):
        assert transplanted(buggy, fixed, [Span("x", line, line)]) == fixed
    assert widest(buggy, fixed) == FEWEST_LINES


def test_new_and_deleted_files_are_within_no_span():
    spans = [Span("x", 1, 9)]
    assert not contain(spans, {"x": b"a\n"}, {"x": b"b\n", "new": b"c\n"})
    assert not contain(spans, {"x": b"a\n"}, {"x": None})


@given(LINES, LINES)
def test_edits_are_what_difflib_finds(old, new):
    ours, theirs = old.splitlines(keepends=True), new.splitlines(keepends=True)
    found = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    assert list(edits(old, new)) == [
        Edit(first + 1, end, tuple(theirs[there:until])) for tag, first, end, there, until in found if tag != "equal"
    ]


@given(LINES, LINES)
def test_one_difference_is_the_other_text_too_and_begins_and_ends_with_what_differs(old, new):
    ours, theirs = old.splitlines(), new.splitlines()
    found = differences(ours, theirs, most=-1)
    for first, end, there, until in found:
        assert [*ours[:first], *theirs[there:until], *ours[end:]] == theirs
        for at, other in ((first, there), (end - 1, until - 1)):
            assert min(end - first, until - there) == 0 or ours[at] != theirs[other]
    assert len(found) == (ours != theirs)


def test_texts_with_too_much_in_common_differ_in_one_edit():
    """Comparing them whole took a quarter of an hour."""
    lines = [b"int f%d;\n\n" % number for number in range(1_000)]
    old = b"head\n" + b"".join(lines) + b"tail\n"
    new = b"head\n" + b"\n" * 300_000 + b"/**/\n".join(lines) + b"tail\n"
    began = time.process_time()
    [edit] = edits(old, new)
    assert time.process_time() - began < 2
    assert (edit.first, edit.last) == (2, 1_999)
    assert applied(old, [edit]) == new
    assert list(edits(new, new)) == []
    assert contain([Span("x", 2, 1_999)], {"x": old}, {"x": new})
    assert not contain([Span("x", 2, 30)], {"x": old}, {"x": new})


def test_a_long_file_with_some_changes_is_compared_line_by_line():
    old = [b'  "%d": {\n    "type": "number"\n  },\n' % number for number in range(1_200)]
    new = [b"new\n" if number in (0, 500, 1_199) else text for number, text in enumerate(old)]
    assert len(list(edits(b"".join(old), b"".join(new)))) == 3
