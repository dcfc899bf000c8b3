from chatting import answered, notes, post, refused, shown, texts
from provider import Reply


def test_conversations_are_there_after_a_restart(app, provider):
    first, second, deleted = app.left()
    found = shown(app, first)
    assert (found["system"], found["budget"], found["used"]) == ("Be brief.", 10_000, 360)
    assert texts(app, first) == [("user", "Remember the door"), ("assistant", "It is saved.")]
    assert notes(app, first) == [("door", "green")]
    refused(app.ask("GET", f"/conversations/{deleted}"), 404)
    refused(post(app, second, "And now?"), 402)
    provider.will(Reply(text="Green."))
    answered(app, first, "Which colour?")
    roles = [message["role"] for message in provider.requests[-1]["messages"] if message["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
