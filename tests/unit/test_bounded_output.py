"""Output of any length in bounded memory."""

from hypothesis import given
from hypothesis import strategies as st

from harness.sandbox.channel import BoundedOutput


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 20), st.integers(0, 20))
def test_head_and_tail_are_kept_however_the_output_is_cut(parts: list[bytes], head: int, tail: int) -> None:
    output = BoundedOutput(head, tail)
    for part in parts:
        output.add(part)
    whole = b"".join(parts)
    missing = max(0, len(whole) - head - tail)
    assert output.truncated == missing
    assert output.value == whole[:head] + whole[head + missing :]


def test_no_more_is_held_than_twice_the_tail_and_one_part() -> None:
    output = BoundedOutput(10, 10)
    for _ in range(1000):
        output.add(b"x" * 7)
        assert len(output._head) + len(output._tail) <= 10 + 20 + 7
