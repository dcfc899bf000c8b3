"""What goes through the gateway and what stays: bytes, keys, tokens, paths."""

import asyncio
import contextlib
import json
import re
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from harness.models.allowance import Allowance
from harness.models.build import Models
from harness.models.gateway.dialects.protocol import DialectName
from harness.models.gateway.routes import MOST_BYTES, MOST_VALUES, has_too_many_values
from harness.models.gateway.server import MAX_CONNECTIONS, serve_gateway
from harness.models.protocol import Message, MessageRole
from harness.plugins.scripted_provider.scenario import Reply, Tokens
from harness.specs.catalog import Catalog
from harness.specs.errors import ProviderFault, UserError
from tests.support.gateways import (
    ANTHROPIC,
    GEMINI,
    GENEROUS,
    KEY,
    NATIVE,
    OPENAI,
    asking,
    get,
    opened,
    path_of,
    post,
    send,
    served_by,
)
from tests.support.provider import ErrorKind, failing, playing


def peak() -> int:
    """Megabytes that this process has had at most since the last `peak_from_now`."""
    return int(re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[0]) // 1024


def peak_from_now() -> int:
    """Megabytes that this process has: the kernel forgets what it had at most, for other tests may have had more."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


HELLO = Message(role=MessageRole.USER, content="hello")
ODD = b'{ "model":"unheard-of",\n "max_tokens": 5e1, "messages":[{"role":"user", "content":"\\u00fc and \xc3\xbc"}] }'


class Upstream:
    """A provider that keeps what it is sent as it came, and answers with the same bytes each time."""

    def __init__(self, answer: bytes, content_type: str = "application/json") -> None:
        self.answer, self.content_type = answer, content_type
        self.bodies: list[bytes] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""
        self.requests: list[object] = []

    async def say(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.read())
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        heads = {"Content-Type": self.content_type, "Set-Cookie": "a=b", "openai-organization": "ours", "x-mine": "1"}
        return web.Response(body=self.answer, headers=heads)

    async def __aenter__(self) -> "Upstream":
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_route("*", "/{path:.*}", self.say)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()


WHOLE = b'{"type":"message", "content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn" , "usage":{}}\n'
STREAM = (
    b'event: message_start\r\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3}}}\r\n\r\n'
    b": comment\n\n"
    b'data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n'
    b'data: {"type":"message_stop"}\n\n'
)


@pytest.mark.parametrize(("said", "kind"), [(WHOLE, "application/json"), (STREAM, "text/event-stream")])
async def test_bytes_go_through_unchanged_both_ways(said: bytes, kind: str) -> None:
    async with Upstream(said, kind) as provider, opened(provider, ANTHROPIC) as trial:  # type: ignore[arg-type]
        path = trial.url(DialectName.MESSAGES) + path_of(DialectName.MESSAGES)
        got = await post(path, ODD, trial.access.token, {"anthropic-beta": "some-beta", "cookie": "c=d"})
    assert provider.bodies == [ODD]
    assert got.body == said
    assert trial.answers[0].message.content == "hi"
    seen = provider.headers[0]
    assert (seen["anthropic-beta"], seen["x-api-key"]) == ("some-beta", KEY)
    assert trial.access.token not in str(seen)
    assert "cookie" not in seen
    assert got.headers["x-mine"] == "1"
    assert not {"set-cookie", "openai-organization"} & set(got.headers)


async def test_a_stream_comes_as_it_is_sent_not_when_it_is_whole() -> None:
    slow = Reply(text="one two three four", chunk_delay_seconds=0.05)
    async with playing(slow) as provider, opened(provider, ANTHROPIC) as trial:
        body = {**asking(DialectName.MESSAGES, HELLO), "stream": True}
        heads = {"x-api-key": trial.access.token, "anthropic-version": "1"}
        path = trial.url(DialectName.MESSAGES) + path_of(DialectName.MESSAGES)
        async with aiohttp.ClientSession() as http, http.post(path, json=body, headers=heads) as got:
            await got.content.readany()
            assert trial.allowance.steps == 0  # the answer isn't whole yet
            assert trial.allowance.is_waiting
            await got.read()
        assert trial.allowance.steps == 1


async def test_an_agent_that_leaves_pays_for_what_it_asked_for() -> None:
    slow = Reply(text="one two three four", chunk_delay_seconds=0.02, usage=Tokens(input=1000, output=500))
    async with playing(slow) as provider, opened(provider, ANTHROPIC) as trial:
        body = {**asking(DialectName.MESSAGES, HELLO), "stream": True}
        heads = {"x-api-key": trial.access.token, "anthropic-version": "1"}
        path = trial.url(DialectName.MESSAGES) + path_of(DialectName.MESSAGES)
        async with aiohttp.ClientSession() as http, http.post(path, json=body, headers=heads) as got:
            await got.content.readany()
            got.close()
    assert trial.allowance.steps == 1
    assert trial.answers[0].message.content == slow.text
    assert trial.allowance.spending.usage.cost_usd == pytest.approx(0.06)


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streaming"])
async def test_counts_that_an_agent_has_not_asked_for_are_read_and_kept_back(streaming: bool) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        got = await send(trial, DialectName.CHAT, asking(DialectName.CHAT, HELLO), streaming)
    assert trial.allowance.spending.usage.input == 100
    if streaming:
        assert not [event for event in got.events if event["choices"] == []]
        assert got.body.endswith(b"data: [DONE]\n\n")


async def test_every_name_of_a_model_is_the_trials_one_model() -> None:
    async with playing(Reply(text="hi")) as provider:
        for dialect, model in NATIVE.items():
            async with opened(provider, model) as trial:
                await send(trial, dialect, asking(dialect, HELLO))
            [asked] = trial.summary.models
            assert asked in ("gpt-mini", "codex-mini", "claude-small", "some-model")
        paths = [seen.path for seen in provider.requests]
        names = [seen.body.get("model") for seen in provider.requests]
    assert names == ["unheard-of", "unheard-of", "unheard-of", None]
    assert paths[-1] == "/v1beta/models/unheard-of:generateContent"


@pytest.mark.parametrize("dialect", DialectName)
@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "x-goog-api-key", "key"])
async def test_a_token_is_taken_wherever_agents_put_their_key_and_only_the_hosts_key_goes_out(
    dialect: DialectName, header: str
) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        path = trial.url(dialect) + path_of(dialect)
        token = trial.access.token
        heads = {} if header == "key" else {header: f"Bearer {token}" if header == "Authorization" else token}
        path += f"?key={token}" if header == "key" else ""
        got = await post(path, asking(dialect, HELLO), "", {"anthropic-version": "1", "Authorization": "", **heads})
        assert got.status == 200, got.body
        seen = provider.requests[-1].headers
    assert [name for name, value in seen.items() if KEY in value] == [
        {DialectName.MESSAGES: "x-api-key", DialectName.GOOGLE: "x-goog-api-key"}.get(dialect, "authorization")
    ]
    assert token not in str(seen) + provider.requests[-1].path


@pytest.mark.parametrize("dialect", DialectName)
async def test_a_token_is_good_until_its_trial_ends(dialect: DialectName) -> None:
    async with playing(Reply(text="hi")) as provider, serve_gateway(port=0) as gateway:
        async with gateway.open(served_by(provider, NATIVE[dialect]), Allowance(GENEROUS), lambda _: None) as access:
            path = access.base_url(dialect, gateway.url) + path_of(dialect)
            heads = {"anthropic-version": "1"}
            assert (await post(path, asking(dialect, HELLO), access.token, heads)).status == 200
        for token in (access.token, "", "sk-another"):
            got = await post(path, asking(dialect, HELLO), token, heads)
            assert got.status == 401
            assert "its trial is over" in got.json["error"]["message"]
        assert len(provider.requests) == 1
    assert (got.json.get("type") == "error") == (dialect is DialectName.MESSAGES)
    assert (got.json["error"].get("status") == "UNAUTHENTICATED") == (dialect is DialectName.GOOGLE)


async def test_two_trials_have_their_own_tokens_records_and_models() -> None:
    async with playing(Reply(text="hi")) as provider, serve_gateway(port=0) as gateway:
        first, second = [], []
        allowance = Allowance(GENEROUS)
        async with (
            gateway.open(served_by(provider, OPENAI), allowance, first.append) as one,
            gateway.open(served_by(provider, "openai/other"), Allowance(GENEROUS), second.append) as two,
        ):
            assert one.token != two.token
            path = two.base_url(DialectName.CHAT, gateway.url) + path_of(DialectName.CHAT)
            assert (await post(path, asking(DialectName.CHAT, HELLO), two.token)).status == 200
    assert provider.requests[0].body["model"] == "other"
    assert (len(first), len(second), allowance.steps) == (1, 4, 0)


async def test_each_agent_has_a_socket_that_others_cannot_use_up() -> None:
    async with (
        playing(Reply(text="hi")) as provider,
        serve_gateway() as gateway,
        gateway.socket() as one,
        gateway.socket() as other,
        gateway.open(served_by(provider, OPENAI), Allowance(GENEROUS), lambda _: None) as access,
    ):
        path = access.base_url(DialectName.CHAT, "http://gateway") + path_of(DialectName.CHAT)
        body = asking(DialectName.CHAT, HELLO)
        connections = [await asyncio.open_unix_connection(one) for _ in range(MAX_CONNECTIONS)]
        for _ in range(2):
            reader, writer = await asyncio.open_unix_connection(one)
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            writer.close()
        assert (await post(path, body, access.token, socket=other)).status == 200
        _, first = connections.pop()
        first.close()
        await first.wait_closed()
        assert await answered(path, body, access.token, one) == 200
        for _, writer in connections:
            writer.close()
        assert one.stat().st_mode & 0o777 == 0o666
        assert one.parent.parent.stat().st_mode & 0o777 == 0o700
        assert gateway.url == ""
    assert not one.parent.parent.exists()


async def answered(path: str, body: Any, token: str, socket: Path) -> int:
    """The status of an answer, once there is room for the question."""
    while True:
        with contextlib.suppress(aiohttp.ClientError):
            return (await post(path, body, token, socket=socket)).status


async def test_a_port_in_use_and_a_socket_that_cannot_be_are_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serve_gateway(port=0) as gateway:
        port = int(gateway.url.rpartition(":")[2])
        with pytest.raises(UserError, match=f"^gateway: port {port}: .*in use; name another one, or 0 for any$"):
            async with serve_gateway(port=port):
                pass
    (tmp_path / ("n" * 100)).mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("n" * 100)))
    with pytest.raises(UserError, match=r"^gateway: socket .*gateway\.sock: .*; set TMPDIR to a shorter path$"):
        async with serve_gateway() as gateway, gateway.socket():
            pass


def test_a_model_that_no_provider_serves_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="a native agent can't speak to a replay model"):
        Models(Catalog()).served("replay:some.jsonl")


@pytest.mark.parametrize("dialect", DialectName)
async def test_a_request_that_is_too_large_is_refused_and_one_below_goes_through(dialect: DialectName) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        path = trial.url(dialect) + path_of(dialect)
        got = await post(path, b" " * (MOST_BYTES + 1), trial.access.token)
        assert (got.status, len(provider.requests)) == (413, 0)
        assert [item.fault for item in trial.failed] == [ProviderFault.TOO_LARGE]
        body = json.dumps(asking(dialect, HELLO)).encode() + b" " * 1024**2
        assert (await post(path, body, trial.access.token, {"anthropic-version": "1"})).status == 200


async def test_requests_of_too_many_values_are_the_agents_failures_and_no_outage_of_its_provider() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, ANTHROPIC, attempts=2) as trial:
        path = trial.url(DialectName.MESSAGES) + path_of(DialectName.MESSAGES)
        body = b'{"x": [' + b"[]," * MOST_VALUES + b"[]]}"
        for _ in range(3):
            assert (await post(path, body, trial.access.token)).status == 413
    assert trial.allowance.failed_requests == 3
    assert (trial.access.fault, trial.access.end, provider.requests) == (None, None, [])


@pytest.mark.parametrize("body", [b"{", b"[1]", b"null", b"[" * 100_000])
@pytest.mark.parametrize("dialect", DialectName)
async def test_a_body_that_is_no_object_is_refused(dialect: DialectName, body: bytes) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        got = await post(trial.url(dialect) + path_of(dialect), body, trial.access.token)
        assert (got.status, trial.failed) == (400, [])
    assert provider.requests == []


async def test_unknown_paths_are_not_found_and_counted() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, ANTHROPIC) as trial:
        for path in ("/anthropic/api/event_logging/batch", "/anthropic/api/event_logging/batch", "/openai/v1/files"):
            got = await post(trial.gateway.url + path, {}, trial.access.token)
            assert got.status == 404
        assert got.json["error"]["type"] == "invalid_request_error"
        await get(f"{trial.gateway.url}/telemetry", "")
        assert trial.gateway.unknown == {"/telemetry": 1}
    assert trial.summary.unknown == {"POST /anthropic/api/event_logging/batch": 2, "POST /openai/v1/files": 1}
    assert provider.requests == []


async def test_agents_find_one_model_whatever_they_call_it() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, OPENAI) as trial:
        token, url = trial.access.token, trial.gateway.url
        assert (await get(f"{url}/openai/v1/models", token)).json["data"][0]["id"] == "unheard-of"
        assert (await get(f"{url}/openai/v1/models/gpt-mini", token)).json["id"] == "gpt-mini"
        assert (await get(f"{url}/anthropic/v1/models", token)).json["data"][0]["id"] == "unheard-of"
        assert (await get(f"{url}/google/v1beta/models", token)).json["models"][0]["name"] == "models/unheard-of"
        assert (await get(f"{url}/google/v1beta/models", "")).status == 401
    assert provider.requests == []


async def test_what_is_withheld_from_a_provider_is_not_counted_there_either() -> None:
    body = {**asking(DialectName.MESSAGES, HELLO), "tools": [{"type": "web_search_20250305", "name": "web_search"}]}
    async with playing(Reply(text="hi")) as provider, opened(provider, ANTHROPIC) as trial:
        path = f"{trial.url(DialectName.MESSAGES)}/v1/messages/count_tokens"
        got = await post(path, body, trial.access.token, {"anthropic-version": "1"})
        assert got.json["input_tokens"] > 0
        assert provider.requests == []


@pytest.mark.parametrize("model", [ANTHROPIC, GEMINI, OPENAI])
async def test_tokens_are_counted_without_being_a_step(model: str) -> None:
    body = asking(DialectName.MESSAGES, HELLO, system="be brief " * 100, tools=("bash",))
    async with playing(Reply(text="hi")) as provider, opened(provider, model) as trial:
        path = f"{trial.url(DialectName.MESSAGES)}/v1/messages/count_tokens"
        got = await post(path, body | {"max_tokens": None}, trial.access.token, {"anthropic-version": "1"})
        assert 150 < got.json["input_tokens"] < 400
        path = f"{trial.url(DialectName.GOOGLE)}/v1beta/models/some-model:countTokens"
        got = await post(path, asking(DialectName.GOOGLE, HELLO, system="be brief " * 100), trial.access.token)
        assert 100 < got.json["totalTokens"] < 400
        assert len(provider.requests) == (0 if model == OPENAI else 1)
    assert (trial.allowance.steps, trial.answers) == (0, [])


async def test_no_key_is_in_an_error_a_record_or_a_log(tmp_path: Path) -> None:
    repeating = failing(ErrorKind.UNAUTHORIZED, f"Incorrect API key provided: {KEY}")
    log = tmp_path / "calls.jsonl"
    for dialect, model in [(DialectName.CHAT, OPENAI), (DialectName.CHAT, ANTHROPIC)]:
        async with playing(repeating) as provider, opened(provider, model, calls=log) as trial:
            got = await send(trial, dialect, asking(dialect, HELLO))
            assert got.status == 401
        told = [got.body.decode(), str(got.headers), str(trial.records), str(trial.failed), log.read_text()]
        told += [str(trial.access.fault), repr(trial.access.served)]
        assert KEY not in "".join(told)
        assert trial.access.token not in "".join(told)


async def test_calls_are_logged_one_line_each(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    replies = (Reply(text="hi"), failing("overloaded"))
    async with playing(*replies) as provider, opened(provider, OPENAI, calls=log) as trial:
        for _ in range(2):
            await send(trial, DialectName.CHAT, asking(DialectName.CHAT, HELLO), streaming=True)
    first, second = map(json.loads, log.read_text().splitlines())
    assert (first["step"], first["status"], first["model"], first["usage"]["input"]) == (1, 200, "gpt-mini", 100)
    assert (second["step"], second["status"], second["fault"]) == (0, 503, "overloaded")


async def test_calls_at_once_are_passed_on_at_once() -> None:
    slow = Reply(text="hi", delay_seconds=0.3)
    async with playing(slow) as provider, opened(provider, OPENAI) as trial:
        began = asyncio.get_running_loop().time()
        asked = [send(trial, DialectName.CHAT, asking(DialectName.CHAT, HELLO)) for _ in range(4)]
        assert {got.status for got in await asyncio.gather(*asked)} == {200}
        assert asyncio.get_running_loop().time() - began < 0.9
    assert trial.allowance.steps == 4


@pytest.mark.parametrize("dialect", DialectName)
async def test_a_body_of_too_many_values_is_refused_before_it_is_built(dialect: DialectName) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        body = b'{"x": [' + b",".join([b"[]"] * (MOST_VALUES // 2 + 1)) + b"]}"
        got = await post(trial.url(dialect) + path_of(dialect), body, trial.access.token)
        assert (got.status, len(provider.requests)) == (413, 0)
        assert [item.fault for item in trial.failed] == [ProviderFault.TOO_LARGE]


def test_brackets_commas_and_quotes_within_strings_are_not_values() -> None:
    prompt = json.dumps({"prompt": ',[{"\\' * 1000}).encode()
    assert not has_too_many_values(prompt, 3)
    assert has_too_many_values(prompt, 2)


@pytest.mark.dear("makes and counts bodies of 64 MB")
@pytest.mark.parametrize("piece", [b"[],", b"[", b'"a",', b'{"":0},'], ids=["lists", "deep", "strings", "objects"])
def test_the_largest_body_is_refused_in_little_time_and_memory(piece: bytes) -> None:
    body = b'{"x": [' + piece * (MOST_BYTES // len(piece))
    before, began = peak_from_now(), time.process_time()
    assert has_too_many_values(body)
    assert time.process_time() - began < 2
    assert peak() - before < 200


async def test_an_error_that_comes_in_pieces_is_passed_on_whole() -> None:
    said = json.dumps({"error": {"message": "x" * 5_000, "type": "insufficient_quota"}}).encode()

    async def in_pieces(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse(status=429, headers={"Content-Type": "application/json"})
        await answer.prepare(request)
        for start in range(0, len(said), 1_000):
            await answer.write(said[start : start + 1_000])
            await asyncio.sleep(0.01)
        return answer

    provider = Upstream(b"")
    provider.say = in_pieces  # type: ignore[method-assign, assignment]
    async with provider, opened(provider, OPENAI) as trial:  # type: ignore[arg-type]
        got = await send(trial, DialectName.CHAT, asking(DialectName.CHAT, HELLO))
    assert (got.status, got.body) == (429, said)
    assert [item.fault for item in trial.failed] == [ProviderFault.QUOTA]


@pytest.mark.parametrize(
    "said", [b'[{"error": {"message": "no such thing"}}]', b'"no such thing"', b"[]", b"7", b'{"error": ["x"]}', b""]
)
async def test_an_error_of_another_form_is_a_fault_all_the_same(said: bytes) -> None:
    async def refuse(_: web.Request) -> web.Response:
        return web.Response(status=400, body=said, content_type="application/json")

    provider = Upstream(b"")
    provider.say = refuse  # type: ignore[method-assign]
    async with provider, opened(provider, GEMINI) as trial:  # type: ignore[arg-type]
        got = await send(trial, DialectName.GOOGLE, asking(DialectName.GOOGLE, HELLO))
        assert (got.status, trial.access.end) == (400, None)
    [fault] = trial.failed
    assert fault.fault is ProviderFault.BAD_REQUEST
    assert fault.message in ("no such thing", "status 400")


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x85"])
async def test_what_python_takes_for_the_end_of_a_line_is_text_in_an_event(char: str) -> None:
    """JSON may have it as it is, and some providers send it so."""
    said = json.dumps({"choices": [{"index": 0, "delta": {"content": f"a{char}b"}}]}, ensure_ascii=False)
    end = '{"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "error": null}'
    events = f"data: {said}\r\n\r\ndata: {end}\n\ndata: [DONE]\n\n".encode()
    async with Upstream(events, "text/event-stream") as provider, opened(provider, OPENAI) as trial:  # type: ignore[arg-type]
        await send(trial, DialectName.CHAT, asking(DialectName.CHAT, HELLO), streaming=True)
    assert trial.failed == []
    assert trial.answers[0].message.content == f"a{char}b"


@pytest.mark.parametrize(("size", "most"), [(5 * 1024**2, 1), (1024, 3)], ids=["large", "small"])
async def test_of_a_trials_large_requests_one_is_read_at_a_time(size: int, most: int) -> None:
    under_way: list[int] = [0]
    seen: list[int] = []
    last = asyncio.Event()

    async def say(request: web.Request) -> web.Response:
        await request.read()
        under_way[0] += 1
        seen.append(under_way[0])
        if under_way[0] == most:
            last.set()
        await last.wait()
        await asyncio.sleep(0.05)  # for another one, which would come now
        under_way[0] -= 1
        return web.Response(body=WHOLE, content_type="application/json")

    provider = Upstream(WHOLE)
    provider.say = say  # type: ignore[method-assign]
    async with provider, opened(provider, ANTHROPIC) as trial:  # type: ignore[arg-type]
        path = trial.url(DialectName.MESSAGES) + path_of(DialectName.MESSAGES)
        body = json.dumps(asking(DialectName.MESSAGES, HELLO)).encode() + b" " * size
        heads = {"anthropic-version": "1"}
        got = await asyncio.gather(*[post(path, body, trial.access.token, heads) for _ in range(3)])
    assert [one.status for one in got] == [200] * 3
    assert max(seen) == most


async def test_a_request_that_waits_when_its_trial_ends_is_not_sent() -> None:
    arrived, released = asyncio.Event(), asyncio.Event()
    seen: list[int] = []

    async def say(request: web.Request) -> web.Response:
        seen.append(len(await request.read()))
        arrived.set()
        await released.wait()
        return web.Response(body=WHOLE, content_type="application/json")

    provider = Upstream(WHOLE)
    provider.say = say  # type: ignore[method-assign]
    body = json.dumps(asking(DialectName.MESSAGES, HELLO)).encode() + b" " * 5 * 1024**2
    async with provider, serve_gateway(port=0) as gateway:
        served = served_by(provider, ANTHROPIC)  # type: ignore[arg-type]
        async with gateway.open(served, Allowance(GENEROUS), lambda _: None) as access:
            path = access.base_url(DialectName.MESSAGES, gateway.url) + path_of(DialectName.MESSAGES)
            first = asyncio.create_task(post(path, body, access.token))
            await arrived.wait()
            second = asyncio.create_task(post(path, body, access.token))
            await asyncio.sleep(0.2)  # it waits for the first
            asyncio.get_running_loop().call_later(0.1, released.set)
        assert ((await first).status, (await second).status, len(seen)) == (200, 401, 1)
