"""Google's generateContent, as a server checks and answers it."""

import json
from collections.abc import Mapping
from typing import Any

from harness.plugins.scripted_provider.dialect import Turn, arguments_object, pieces, sse
from harness.plugins.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused, google_error
from harness.plugins.scripted_provider.scenario import Reply, Stop, Tokens

_NAMES = """contents systemInstruction tools toolConfig generationConfig safetySettings cachedContent labels
system_instruction tool_config generation_config safety_settings cached_content model serviceTier store"""
_KNOWN = frozenset(_NAMES.split())
_ROLES = ("user", "model", "function", None)
_PART = """text inlineData inline_data fileData file_data functionCall function_call functionResponse
function_response thought thoughtSignature executableCode codeExecutionResult videoMetadata mediaResolution"""
_CALLS = ("functionCall", "function_call")
_ANSWERS = ("functionResponse", "function_response")
_PARTS = frozenset(_PART.split())


def check(request: Json) -> None:
    """Check a request.

    Raises:
        RequestRefused: For the first thing that is wrong.
    """
    for name in request:
        if name not in _KNOWN:
            raise RequestRefused(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
    contents = request.get("contents")
    if not isinstance(contents, list) or not contents:
        raise RequestRefused("* GenerateContentRequest.contents: contents is not specified")
    for position, turn in enumerate(contents):
        _check_turn(turn, f"GenerateContentRequest.contents[{position}]")
    _check_answers(contents)


def _check_turn(turn: Any, where: str) -> None:
    if not isinstance(turn, dict) or turn.get("role") not in _ROLES:
        raise RequestRefused("Please use a valid role: user, model.")
    if not isinstance(turn.get("parts"), list) or not turn["parts"]:
        raise RequestRefused(f"* {where}.parts: contents.parts must not be empty.")
    for number, part in enumerate(turn["parts"]):
        if (
            not isinstance(part, dict)
            or not set(part) <= _PARTS
            or not all(isinstance(part[name], dict) for name in (*_CALLS, *_ANSWERS) if name in part)
        ):
            raise RequestRefused(f"Invalid value at '{where}.parts[{number}]'")


def _check_answers(contents: list[Json]) -> None:
    """Check that the turn that follows has as many answers as functions were called."""
    for turn, following in zip(contents, [*contents[1:], None], strict=True):
        calls, answers = _count(turn, _CALLS), _count(following, _ANSWERS)
        if calls != answers and (following is not None or calls):
            raise RequestRefused(
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )


def _count(turn: Json | None, names: tuple[str, ...]) -> int:
    return sum(1 for part in (turn or {}).get("parts", []) if any(name in part for name in names))


def request_text(request: Json) -> str:
    """Return all text of a request, for rules that look for words."""
    system = request.get("systemInstruction") or request.get("system_instruction")
    parts = [
        part
        for turn in (system, *request["contents"])
        if isinstance(turn, dict)
        for part in _google_request_parts(turn)
    ]
    return "\n".join(filter(None, map(_part_text, parts)))


def _google_request_parts(turn: Json) -> list[Json]:
    parts = turn.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _part_text(part: Json) -> str:
    for name in (*_CALLS, *_ANSWERS):
        if isinstance(part.get(name), dict):
            return json.dumps(part[name].get("args", part[name].get("response")))
    return str(part.get("text", ""))


class ServedGoogleGenerate:
    """A request's `model` and `stream` are in its path; whoever serves it puts them into the turn's request."""

    path = "/v1beta/models/{call}"

    def check_headers(self, headers: Mapping[str, str]) -> None:
        if not headers.get("x-goog-api-key", "").strip():
            raise RequestRefused("Method doesn't allow unregistered callers.", kind=ErrorKind.FORBIDDEN)

    def read(self, request: Json) -> str:
        check(request)
        return request_text(request)

    def answer(self, turn: Turn) -> Json:
        return {"candidates": [_candidate(_parts(turn), _finish(turn.reply))], **_tail(turn)}

    def events(self, turn: Turn) -> list[bytes]:
        """See `ServedDialect`. Calls come whole, texts in pieces; the last event has the finish reason."""
        parts: list[Json] = []
        for part in _parts(turn):
            said = part.get("text")
            parts += [{**part, "text": piece} for piece in pieces(said)] if isinstance(said, str) else [part]
        chunks = [{"candidates": [_candidate([part])], **_head(turn)} for part in parts]
        last = {"candidates": [_candidate([{"text": ""}], _finish(turn.reply))], **_tail(turn)}
        return [sse(chunk) for chunk in [*chunks, last]]

    def error(
        self, kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
    ) -> ErrorAnswer:
        return google_error(kind, message, param, code)


def _candidate(parts: list[Json], finish: str | None = None) -> Json:
    candidate: Json = {"content": {"parts": parts, "role": "model"}, "index": 0}
    return candidate | ({"finishReason": finish} if finish else {})


def _parts(turn: Turn) -> list[Json]:
    reply = turn.reply
    parts: list[Json] = [{"text": reply.thinking, "thought": True}] if reply.thinking else []
    if reply.text:
        parts.append({"text": reply.text})
    for position, call in enumerate(reply.calls):
        called = {"id": turn.call_id("fc", position), "name": call.name, "args": arguments_object(call)}
        parts.append({"functionCall": called})
    return parts


def _finish(reply: Reply) -> str:
    match reply.stop:
        case Stop.LENGTH:
            return "MAX_TOKENS"
        case Stop.REFUSAL | Stop.FILTERED:
            return "SAFETY"
        case None:
            return "STOP"


def _head(turn: Turn) -> Json:
    return {"modelVersion": turn.model, "responseId": f"resp-{turn.number:04d}"}


def _tail(turn: Turn) -> Json:
    return {**_head(turn), **({"usageMetadata": _counts(turn.reply.usage)} if turn.reply.usage else {})}


def _counts(tokens: Tokens) -> Json:
    """Return counts as Google does: thoughts apart from the answer, and nothing on what went into the cache."""
    return {
        "promptTokenCount": tokens.input,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.input + tokens.output,
    }
