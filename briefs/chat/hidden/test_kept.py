from chatting import BUDGET, answered, notes, post, refused, sentence, shown, texts
from provider import Reply


def test_conversations_are_there_after_a_restart(app, provider):
    left = app.left()
    first, second, deleted = left["ids"]
    found = shown(app, first)
    assert (found["system"], found["budget"], found["used"]) == (left["system"], BUDGET, 360)
    assert texts(app, first) == list(zip(("user", "assistant"), left["texts"], strict=True))
    assert notes(app, first) == [tuple(left["note"])]
    refused(app.ask("GET", f"/conversations/{deleted}"), 404)
    refused(post(app, second, sentence()), 402)
    provider.will(Reply(text=sentence()))
    answered(app, first)
    roles = [message["role"] for message in provider.requests[-1]["messages"] if message["role"] != "system"]
    assert roles == ["user", "assistant", "tool", "assistant", "user"]
