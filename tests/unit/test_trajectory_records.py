"""A trajectory is written as it happens and can be read whatever cut it short."""

import time
from pathlib import Path

import pytest

from harness.agents.trajectory import Ending, EndRecord, HeaderRecord, ObservationRecord, Trajectory, read_trajectory
from harness.models.protocol import Message, MessageRole, StopReason
from harness.models.replay import MessageRecord, read_messages
from harness.specs.errors import UserError
from harness.specs.usage import Usage

HEADER = HeaderRecord(scaffold="mini", scaffold_version="1.0", model="m", task="t")
ANSWER = MessageRecord(
    step=1,
    message=Message(role=MessageRole.ASSISTANT, content="é\n\x1b[0m\u2028"),
    usage=Usage(calls=1, input=7, cost_usd=None),
    stop=StopReason.END,
)
OBSERVATION = ObservationRecord(
    step=1, command="ls", exit_status=2, seconds=0.5, output_bytes=3, truncated=0, timed_out=False
)
END = EndRecord(ending=Ending.STEP_LIMIT, steps=1, usage=Usage(calls=1), counted_usd=0.25)


def written(path: Path) -> Path:
    with Trajectory(path) as trajectory:
        for record in (HEADER, ANSWER, OBSERVATION, END):
            trajectory.add(record)
    return path


def test_what_is_written_is_read_back_typed(tmp_path: Path) -> None:
    assert read_trajectory(written(tmp_path / "new" / "t.jsonl")) == [HEADER, ANSWER, OBSERVATION, END]


def test_each_record_is_on_disk_before_the_next_is_made(tmp_path: Path) -> None:
    with Trajectory(tmp_path / "t.jsonl") as trajectory:
        trajectory.add(HEADER)
        assert read_trajectory(trajectory.path) == [HEADER]


def test_a_second_attempt_does_not_mix_into_the_first_ones_file(tmp_path: Path) -> None:
    path = written(tmp_path / "t.jsonl")
    with pytest.raises(FileExistsError):
        Trajectory(path)


def test_a_last_line_cut_anywhere_is_left_out(tmp_path: Path) -> None:
    data = written(tmp_path / "t.jsonl").read_bytes()
    start = data.rindex(b"\n", 0, len(data) - 1) + 1
    torn = tmp_path / "torn.jsonl"
    for end in range(start, len(data) - 1):
        torn.write_bytes(data[:end])
        assert read_trajectory(torn) == [HEADER, ANSWER, OBSERVATION]


def test_a_line_cut_within_a_character_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(HEADER.model_dump_json().encode() + b"\n" + ANSWER.model_dump_json().encode().split(b"\xa9")[0])
    assert read_trajectory(path) == [HEADER]


@pytest.mark.parametrize("line", [b"{", b'"text"', b'{"kind": "other"}', b'{"kind": "end", "steps": "many"}'])
def test_a_broken_line_before_the_last_is_named(tmp_path: Path, line: bytes) -> None:
    path = written(tmp_path / "t.jsonl")
    path.write_bytes(line + b"\n" + path.read_bytes())
    with pytest.raises(UserError, match=r"t\.jsonl:1: "):
        read_trajectory(path)


def test_replay_reads_the_messages_alone(tmp_path: Path) -> None:
    assert read_messages(written(tmp_path / "t.jsonl")) == [ANSWER]


def test_a_file_without_an_answer_is_no_recording(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(HEADER.model_dump_json() + "\n")
    with pytest.raises(UserError, match="no assistant's message"):
        read_messages(path)


def test_500_steps_are_written_in_a_fifth_of_a_second(tmp_path: Path) -> None:
    observation = Message(role=MessageRole.TOOL, content="x" * 12_000, tool_call_id="call-1")
    with Trajectory(tmp_path / "t.jsonl") as trajectory:
        started = time.process_time()
        for step in range(500):
            trajectory.add(ANSWER)
            trajectory.add(OBSERVATION)
            trajectory.add(MessageRecord(step=step, message=observation))
        spent = time.process_time() - started
    assert spent < 0.2 * 3  # processor time, and a margin for slow machines: the measured budget is a benchmark's
