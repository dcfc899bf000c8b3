import pytest

from shortener.store import Store, Taken, UsedUp


def test_a_store_opened_again_has_everything(tmp_path):
    store = Store(tmp_path / "links.db")
    store.add("one", "https://a.example/", 2)
    assert store.visit("one", "b.example") == "https://a.example/"
    again = Store(tmp_path / "links.db")
    assert again.find("one") == {"code": "one", "url": "https://a.example/", "visits": 1, "max_visits": 2}
    assert again.referrers("one") == [{"host": "b.example", "visits": 1}]


def test_a_refused_change_leaves_the_store_as_it_was(tmp_path):
    store = Store(tmp_path / "links.db")
    store.add("one", "https://a.example/", 1)
    with pytest.raises(Taken):
        store.add("one", "https://b.example/", None)
    store.visit("one", "")
    with pytest.raises(UsedUp):
        store.visit("one", "")
    assert store.visit("two", "") is None
    assert not store.remove("two")
    assert store.total() == 1
    assert store.remove("one")
    assert store.total() == 0
