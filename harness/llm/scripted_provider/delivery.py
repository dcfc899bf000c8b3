"""Delivers an answer to the client: headers, pieces, delays and faults."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import NamedTuple, Never

from aiohttp import web

from harness.llm.scripted_provider.dialect import Dialect, Turn, sse
from harness.llm.scripted_provider.failures import ErrorAnswer, Json
from harness.llm.scripted_provider.scenario import Failure, Fault, RetryAfter

_JSON, _EVENTS = "application/json", "text/event-stream"
_PARTS = 4
_GARBAGE: dict[Fault, tuple[str, str]] = {
    Fault.NOT_JSON: (_JSON, "upstream connect error or disconnect/reset before headers"),
    Fault.WRONG_SHAPE: (_JSON, '{"result": "ok", "choices": "none", "content": 7}'),
    Fault.HTML: ("text/html", "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"),
}


class _Payload(NamedTuple):
    """`chunks` are what is sent at once, with the reply's delay between them."""

    content_type: str
    chunks: list[bytes]


async def deliver(request: web.Request, dialect: Dialect, turn: Turn) -> web.StreamResponse:
    """Answer a request as its reply says."""
    reply = turn.reply
    if reply.fault is Fault.HANG:
        await _wait_for_ever()
    await asyncio.sleep(reply.delay_seconds)
    if reply.fault is Fault.DROP:
        return _dropped(request, web.Response())
    if reply.error:
        answer = dialect.error(reply.error.kind, reply.error.message)
        return error_response(answer, _retry_headers(reply.error))
    streaming = bool(turn.request.get("stream"))
    payload = _payload(dialect, turn, streaming)
    response = web.StreamResponse(headers={"content-type": payload.content_type, "cache-control": "no-cache"})
    if not streaming:
        response.content_length = sum(map(len, payload.chunks))
    await response.prepare(request)
    return await _send(request, response, payload.chunks, turn)


def error_response(answer: ErrorAnswer, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(answer.body, status=answer.status, headers=headers)


async def _send(
    request: web.Request, response: web.StreamResponse, chunks: list[bytes], turn: Turn
) -> web.StreamResponse:
    ends_midway = turn.reply.fault in (Fault.DROP_MIDWAY, Fault.STALL)
    for chunk in chunks[: len(chunks) // 2] if ends_midway else chunks:
        await response.write(chunk)
        await asyncio.sleep(turn.reply.chunk_delay_seconds)
    if turn.reply.fault is Fault.STALL:
        await _wait_for_ever()
    if turn.reply.fault is Fault.DROP_MIDWAY:
        return _dropped(request, response)
    await response.write_eof()
    return response


def _payload(dialect: Dialect, turn: Turn, streaming: bool) -> _Payload:
    reply = turn.reply
    if reply.body is not None:
        return _Payload(_EVENTS if streaming else _JSON, [reply.body.encode()])
    if reply.fault in _GARBAGE:
        content_type, text = _GARBAGE[reply.fault]
        if streaming and content_type == _JSON:
            return _Payload(_EVENTS, [sse(text)])
        return _Payload(content_type, [text.encode()])
    whole = dialect.events(turn) if streaming else _parts(dialect.answer(turn))
    if reply.fault is Fault.TRUNCATED:
        middle = len(whole) // 2
        whole = [*whole[:middle], whole[middle][: len(whole[middle]) // 2]]
    return _Payload(_EVENTS if streaming else _JSON, whole)


def _parts(answer: Json) -> list[bytes]:
    body = json.dumps(answer).encode()
    size = -(-len(body) // _PARTS)
    return [body[start : start + size] for start in range(0, len(body), size)]


def _retry_headers(failure: Failure) -> dict[str, str]:
    if failure.retry_after is None:
        return {}
    match failure.retry_after_form:
        case RetryAfter.SECONDS:
            return {"retry-after": f"{failure.retry_after:g}"}
        case RetryAfter.MILLISECONDS:
            return {"retry-after-ms": f"{failure.retry_after * 1000:g}"}
        case RetryAfter.DATE:
            when = datetime.now(UTC) + timedelta(seconds=failure.retry_after)
            return {"retry-after": format_datetime(when, usegmt=True)}


def _dropped(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Nothing of `response` that isn't on its way already will be sent."""
    if request.transport:
        request.transport.close()
    return response


async def _wait_for_ever() -> Never:
    """Until the client leaves or the server ends, either of which cancels a request's task."""
    await asyncio.get_running_loop().create_future()
    raise AssertionError
