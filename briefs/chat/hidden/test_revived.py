from chatting import answered, sentence, shown, texts
from provider import Reply


def test_it_starts_again_with_all_that_it_had_answered(app, provider):
    left = app.left()
    done, [asked, said] = left["done"], left["texts"]
    assert done
    for conversation, count in done.items():
        found = texts(app, conversation)
        assert len(found) >= 2 * count
        assert found == [("user", asked), ("assistant", said)] * (len(found) // 2)
        assert shown(app, conversation)["used"] >= 120 * count
        provider.will(Reply(text=sentence()))
        answered(app, conversation)
