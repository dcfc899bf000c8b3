import pytest

from chat.store import Store


def test_a_store_opened_again_has_everything(tmp_path):
    store = Store(tmp_path / "chat.db")
    name, other = store.make("Be brief.", 50), store.make(None, 7)
    assert name != other
    store.keep(name, [{"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}], {"b": "1", "a": "2"})
    store.keep(name, [{"role": "user", "content": "three"}], {"b": "3"})
    store.spend(name, 5)
    store.spend(name, 6)
    again = Store(tmp_path / "chat.db")
    assert again.find(name) == {"id": name, "system": "Be brief.", "budget": 50, "used": 11}
    assert again.find(other) == {"id": other, "system": None, "budget": 7, "used": 0}
    assert [message["content"] for message in again.messages(name)] == ["one", "two", "three"]
    assert list(again.notes(name).items()) == [("a", "2"), ("b", "3")]
    assert again.messages(other) == []


def test_what_is_removed_is_gone(tmp_path):
    store = Store(tmp_path / "chat.db")
    name = store.make(None, 7)
    store.keep(name, [{"role": "user", "content": "one"}], {"a": "1"})
    assert store.remove(name)
    assert not store.remove(name)
    assert store.find(name) is None
    assert (store.messages(name), store.notes(name)) == ([], {})


def test_a_change_that_fails_leaves_the_store_as_it_was(tmp_path):
    store = Store(tmp_path / "chat.db")
    name = store.make(None, 7)
    with pytest.raises(TypeError):
        store.keep(name, [{"role": "user"}, {"role": object()}], {})
    store.keep(name, [], {"a": "1"})
    with pytest.raises(Exception, match="not supported"):
        store.keep(name, [{"role": "user"}], {"a": object()})
    assert (store.messages(name), store.notes(name)) == ([], {"a": "1"})
