"""The provider beside hidden tests: the same requests, answers and errors as the scripted provider's own."""

import http.client
import json
import socket
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from harness.plugins.build.provider import StandIn, provider_files
from harness.plugins.build.task import HIDDEN, build_task
from harness.plugins.scripted_provider import scenario
from harness.plugins.scripted_provider.dialect import Turn
from harness.plugins.scripted_provider.openai_chat import ServedOpenAIChat
from harness.specs.catalog import Catalog
from harness.specs.yaml_files import parse_yaml

REQUEST = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "Hello"}]}
USAGE = {"stream_options": {"include_usage": True}}


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module as a container has it: nothing of this package is imported for it."""
    for path, data in provider_files().items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in ("harness", "provider")}
    for name in ours:
        monkeypatch.delitem(sys.modules, name)
    library = [
        each for each in sys.path if Path(each).is_relative_to(sys.base_prefix) and "site-packages" not in each
    ]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *library])
    monkeypatch.setenv("PROVIDER_KEY", "key")
    import provider

    assert provider.__file__ == str(tmp_path / "provider.py")
    yield provider
    for name in [name for name in sys.modules if name.partition(".")[0] in ("harness", "provider")]:
        monkeypatch.delitem(sys.modules, name)


def served(inside: ModuleType) -> tuple[Any, int]:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port = place.getsockname()[1]
    found = inside.Provider()
    found.serve(port)
    return found, port


def asked(port: int, body: object, key: str = "key", path: str = "/v1/chat/completions") -> tuple[int, bytes, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", path, json.dumps(body), {"Authorization": f"Bearer {key}"})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def test_an_answer_is_that_of_the_scripted_provider(inside: ModuleType) -> None:
    found, port = served(inside)
    call = {"name": "save", "arguments": {"a": 1}}
    found.will(
        inside.Reply(text="Good day"), inside.Reply(tool_calls=(inside.Call(**call),), usage=inside.Tokens(5, 6))
    )
    theirs = (
        scenario.Reply(text="Good day"),
        scenario.Reply(tool_calls=(scenario.Call(**call),), usage=scenario.Tokens(input=5, output=6)),
    )
    for number, (reply, request) in enumerate(zip(theirs, (REQUEST, {**REQUEST, **USAGE}), strict=True), 1):
        status, body, headers = asked(port, request)
        assert (status, headers["Content-Type"]) == (200, "text/event-stream")
        assert body == b"".join(ServedOpenAIChat().events(Turn(reply, request, number)))
    assert found.requests == [REQUEST, {**REQUEST, **USAGE}]


def test_an_error_and_a_refusal_are_those_of_the_scripted_provider(inside: ModuleType) -> None:
    found, port = served(inside)
    found.will(inside.Reply(error=inside.Failure(inside.ErrorKind.RATE_LIMIT, retry_after=2)))
    status, body, headers = asked(port, REQUEST)
    assert (status, headers["Retry-After"], json.loads(body)["error"]["code"]) == (429, "2", "rate_limit_exceeded")
    for body, key, path, expected in (
        ({**REQUEST, "messages": []}, "key", "/v1/chat/completions", 400),
        (REQUEST, "other", "/v1/chat/completions", 401),
        (REQUEST, "key", "/chat/completions", 404),
        ([], "key", "/v1/chat/completions", 400),
    ):
        assert asked(port, body, key, path)[0] == expected
    assert len(found.requests) == 1


def test_an_answer_that_is_cut_is_cut_for_whoever_reads_it(inside: ModuleType) -> None:
    found, port = served(inside)
    found.will(inside.Reply(text="Good day", fault=inside.ScriptedFault.DROP_MIDWAY))
    with pytest.raises(http.client.IncompleteRead):
        asked(port, REQUEST)


def test_a_reply_has_the_fields_that_dialects_read(inside: ModuleType) -> None:
    for name in ("Reply", "Tokens", "Failure"):
        own = {field.name for field in fields(getattr(inside, name))} - {"arrived", "gate"}
        assert own <= set(getattr(scenario, name).model_fields)
    assert {fault.value for fault in inside.ScriptedFault} <= {fault.value for fault in scenario.ScriptedFault}


def test_only_a_brief_whose_contract_names_a_provider_has_one() -> None:
    with_one, without = (build_task(Catalog().task(f"build:{name}")) for name in ("chat", "link-shortener"))
    assert (with_one.has_provider, without.has_provider) == (True, False)
    assert f"{HIDDEN}/provider.py" in with_one.hidden_files()
    assert f"{HIDDEN}/provider.py" not in without.hidden_files()
    contract = parse_yaml(with_one.patch("tree/contract.yaml").decode(), "contract.yaml")[0]
    assert set(StandIn.drawn(4000, 1).for_application()) <= set(contract["environment"])


def test_each_judging_has_a_key_of_its_own() -> None:
    first, second = (StandIn.drawn(4000, seed) for seed in (1, 2))
    assert first.key != second.key
    assert first.for_application()["OPENAI_API_KEY"] == first.for_tests()["PROVIDER_KEY"] == first.key
    assert first.for_application()["OPENAI_BASE_URL"] == "http://127.0.0.1:4000/v1"
