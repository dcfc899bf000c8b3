import pytest

from chat.tools import OFFERED, run


def test_what_is_offered():
    functions = [tool["function"] for tool in OFFERED]
    assert [tool["type"] for tool in OFFERED] == ["function", "function"]
    assert [function["name"] for function in functions] == ["save_note", "read_note"]
    assert [function["parameters"]["required"] for function in functions] == [["name", "text"], ["name"]]
    assert functions[0]["parameters"] == {
        "type": "object",
        "properties": {"name": {"type": "string"}, "text": {"type": "string"}},
        "required": ["name", "text"],
    }


def test_notes_are_saved_replaced_and_read():
    notes = {}
    assert run("save_note", '{"name": "a", "text": "one"}', notes) == "saved"
    assert run("save_note", '{"name": "a", "text": "two"}', notes) == "saved"
    assert notes == {"a": "two"}
    assert run("read_note", '{"name": "a", "more": 1}', notes) == "two"
    assert run("read_note", '{"name": "b"}', notes) == "error: there is no such note"


@pytest.mark.parametrize("arguments", ["{", "[]", "{}", '{"name": "a"}', '{"name": "a", "text": 1}', '"name text"'])
def test_wrong_arguments(arguments):
    notes = {}
    assert run("save_note", arguments, notes).startswith("error: the arguments must be a JSON object with the texts name")
    assert notes == {}


def test_a_tool_that_is_not_there():
    assert run("open_door", "{}", {}) == "error: there is no tool open_door"
