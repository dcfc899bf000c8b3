import pytest

from lending.rules import Refused
from lending.store import Store

TODAY = "2026-05-10"


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "lending.db")
    store.register("Ann", "ann's own")
    store.register("Bob", "bob's own")
    for name in ("saw", "Axe", "hoe", "Jack", "vice"):
        store.add_tool(name)
    return store


def refused(status, words, does, *told):
    with pytest.raises(Refused) as refused:
        does(*told)
    assert refused.value.status == status
    assert words in str(refused.value)


def ids(store):
    return {tool["name"]: tool["id"] for tool in store.tools()}


def loans(found):
    return [(loan["tool"], loan["person"], loan["due"]) for loan in found]


def test_people(store):
    assert store.knows("aNN", "ann's own") == "Ann"
    assert store.knows("Ann", "bob's own") is None
    assert store.knows("Eve", "ann's own") is None
    for name in ("ann", "DESK"):
        refused(409, "This name is taken.", store.register, name, "another one")
    assert store.knows("Ann", "ann's own") == "Ann"


def test_tools(store):
    assert [tool["name"] for tool in store.tools()] == ["Axe", "hoe", "Jack", "saw", "vice"]
    assert [tool["name"] for tool in store.tools("A")] == ["Axe", "Jack", "saw"]
    assert {tool["due"] for tool in store.tools()} == {None}
    refused(409, "This tool is there already.", store.add_tool, "SAW")
    assert len(store.tools()) == 5


def test_borrowing(store):
    known = ids(store)
    store.borrow(known["saw"], "Ann", "2026-05-12", TODAY)
    refused(409, "This tool is on loan.", store.borrow, known["saw"], "Bob", "2026-05-13", TODAY)
    refused(404, "There is no such tool.", store.borrow, 99, "Bob", "2026-05-13", TODAY)
    store.borrow(known["hoe"], "Ann", "2026-05-11", TODAY)
    store.borrow(known["Axe"], "Ann", TODAY, TODAY)
    refused(409, "Nobody has more than 3 tools at a time.", store.borrow, known["vice"], "Ann", TODAY, TODAY)
    assert loans(store.loans_of("Ann")) == [("Axe", "Ann", TODAY), ("hoe", "Ann", "2026-05-11"), ("saw", "Ann", "2026-05-12")]
    assert store.loans_of("Bob") == []
    store.take_back(known["hoe"])
    refused(404, "This tool is not on loan.", store.take_back, known["hoe"])
    store.borrow(known["vice"], "Ann", "2026-05-14", TODAY)
    assert {tool["name"]: tool["due"] for tool in store.tools("vi")} == {"vice": "2026-05-14"}


def test_who_is_late_borrows_none(store):
    known = ids(store)
    store.borrow(known["saw"], "Ann", TODAY, TODAY)
    store.borrow(known["hoe"], "Ann", TODAY, TODAY)
    refused(409, "Bring back what is overdue first.", store.borrow, known["Axe"], "Ann", "2026-06-01", "2026-05-11")
    store.borrow(known["Axe"], "Bob", "2026-06-01", "2026-05-11")


def test_loans_on_paper(store):
    for tool, person, due in (("SAW", "bob", "2020-01-01"), ("hoe", "Ann", TODAY), ("Axe", "Bob", "2020-01-01"), ("vice", "Bob", "2026-05-09")):
        store.record(tool, person, due)
    late = [("Axe", "Bob", "2020-01-01"), ("saw", "Bob", "2020-01-01"), ("vice", "Bob", "2026-05-09")]
    assert loans(store.overdue(TODAY)) == late
    assert loans(store.loans()) == [*late, ("hoe", "Ann", TODAY)]
    for tool, person in (("Jack", "Eve"), ("none", "Ann")):
        refused(404, "There is no such neighbour or tool.", store.record, tool, person, TODAY)
    refused(409, "This tool is on loan.", store.record, "saw", "Ann", TODAY)


def test_a_store_opened_again_has_everything(store, tmp_path):
    store.record("saw", "Ann", TODAY)
    again = Store(tmp_path / "lending.db")
    assert again.knows("Ann", "ann's own") == "Ann"
    assert loans(again.loans()) == [("saw", "Ann", TODAY)]
    assert again.secret() == store.secret()
    assert len(again.secret()) == 32
