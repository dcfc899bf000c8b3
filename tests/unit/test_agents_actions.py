"""Which commands a model's message asks for."""

import pytest

from harness.agents.actions import Action, Complaint, FormatError, FormatFault, answer, parse_actions
from harness.models.protocol import Message, MessageRole, ToolCall


def message(text: str = "", *calls: tuple[str, str]) -> Message:
    tool_calls = tuple(ToolCall(id=f"c{n}", name=name, arguments=given) for n, (name, given) in enumerate(calls))
    return Message(role=MessageRole.ASSISTANT, content=text, tool_calls=tool_calls)


def fault_of(asked: Message) -> FormatFault:
    with pytest.raises(FormatError) as caught:
        parse_actions(asked)
    [complaint] = caught.value.complaints
    return complaint.fault


def test_tool_calls_come_before_a_block_in_the_text() -> None:
    asked = message("```bash\nrm x\n```", ("bash", '{"command": "ls"}'), ("bash", '{"command": "pwd"}'))
    assert parse_actions(asked) == [Action("ls", "c0"), Action("pwd", "c1")]


def test_one_fenced_block_is_the_command_when_there_is_no_tool_call() -> None:
    asked = message("I look.\n```bash\ncat <<'E'\n  ``` not a fence\nE\n```\nThen I write.")
    assert parse_actions(asked) == [Action("cat <<'E'\n  ``` not a fence\nE\n", None)]


@pytest.mark.parametrize("text", ["", "I am done.", "```\nls\n```", "```python\nls\n```", "```bash\n\n```"])
def test_text_without_a_shell_block_has_no_command(text: str) -> None:
    assert fault_of(message(text)) is FormatFault.NO_COMMAND


def test_a_block_of_an_answer_that_was_cut_off_is_not_run() -> None:
    with pytest.raises(FormatError, match=r"^cut-off$"):
        parse_actions(message("```bash\ncat > x <<'E'\n```\nand here the answer was cut"), is_cut_off=True)


def test_two_blocks_are_one_too_many() -> None:
    assert fault_of(message("```bash\nls\n```\n```bash\npwd\n```")) is FormatFault.SEVERAL_BLOCKS


@pytest.mark.parametrize(
    "arguments",
    ["", "ls", '{"command": "ls"', "[]", "{}", '{"command": 3}', '{"command": ""}', '{"command": "a\\u0000b"}',
     '{"command": "\\ud800"}', "[" * 100_000],
)  # fmt: skip
def test_arguments_that_are_no_command_are_malformed(arguments: str) -> None:
    assert fault_of(message("", ("bash", arguments))) is FormatFault.MALFORMED_ARGUMENTS


def test_each_call_gets_its_own_complaint_and_the_good_ones_are_not_run_either() -> None:
    asked = message("", ("bash", '{"command": "ls"}'), ("edit", "{}"), ("bash", "{}"))
    with pytest.raises(FormatError, match=r"^unknown-tool: edit$") as caught:
        parse_actions(asked)
    assert caught.value.complaints == (
        Complaint("c0", FormatFault.NOT_RUN),
        Complaint("c1", FormatFault.UNKNOWN_TOOL, "edit"),
        Complaint("c2", FormatFault.MALFORMED_ARGUMENTS, "command: Field required"),
    )


def test_a_call_is_answered_by_its_id_and_text_as_a_user_does() -> None:
    assert answer("c0", "no") == Message(role=MessageRole.TOOL, content="no", tool_call_id="c0")
    assert answer(None, "no") == Message(role=MessageRole.USER, content="no")


def test_keys_that_a_model_makes_up_are_ignored() -> None:
    assert parse_actions(message("", ("bash", '{"command": "ls", "timeout": 5}'))) == [Action("ls", "c0")]
