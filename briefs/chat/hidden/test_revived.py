from chatting import answered, shown, texts
from provider import Reply


def test_it_starts_again_with_all_that_it_had_answered(app, provider):
    done = app.left()
    assert done
    for conversation, count in done.items():
        found = texts(app, conversation)
        assert len(found) >= 2 * count
        assert found == [("user", "Hello"), ("assistant", "Yes, that is so.")] * (len(found) // 2)
        assert shown(app, conversation)["used"] >= 120 * count
        provider.will(Reply(text="Still here."))
        answered(app, conversation, "Are you there?")
