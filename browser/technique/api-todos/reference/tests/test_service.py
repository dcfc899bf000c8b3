"""The service of to-dos, asked directly: no page is opened."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import APIRequestContext, APIResponse, Playwright


@pytest.fixture
def api(playwright: Playwright, base_url: str) -> Iterator[APIRequestContext]:
    context = playwright.request.new_context(base_url=base_url)
    yield context
    context.dispose()


def add(api: APIRequestContext, title: str) -> APIResponse:
    return api.post("/api/todos", data={"title": title})


def test_a_new_todo_is_answered_and_kept(api: APIRequestContext) -> None:
    answer = add(api, "Dust the shelves")
    assert answer.status == 201
    todo = answer.json()
    assert (todo["title"], todo["done"]) == ("Dust the shelves", False)
    assert todo in api.get("/api/todos").json()["todos"]
    assert api.get(f"/api/todos/{todo['id']}").json() == todo


@pytest.mark.parametrize("body", [{}, {"title": ""}, {"title": "  "}])
def test_a_todo_needs_a_title(api: APIRequestContext, body: dict[str, str]) -> None:
    before = api.get("/api/todos").json()
    assert api.post("/api/todos", data=body).status == 422
    assert api.get("/api/todos").json() == before


def test_a_title_has_at_most_100_characters(api: APIRequestContext) -> None:
    assert add(api, "x" * 100).status == 201
    assert add(api, "x" * 101).status == 422


def test_done_is_kept_and_is_true_or_false(api: APIRequestContext) -> None:
    number = add(api, "Empty the bin").json()["id"]
    for done in (True, False):
        assert api.patch(f"/api/todos/{number}", data={"done": done}).status == 200
        assert api.get(f"/api/todos/{number}").json()["done"] is done


def test_what_was_removed_is_gone(api: APIRequestContext) -> None:
    number = add(api, "Nothing much").json()["id"]
    assert api.delete(f"/api/todos/{number}").status == 204
    assert api.get(f"/api/todos/{number}").status == 404
    assert number not in [todo["id"] for todo in api.get("/api/todos").json()["todos"]]
