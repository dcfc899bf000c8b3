"""Google's generateContent, as a server answers it."""

from collections.abc import Mapping

from harness.llm.scripted_provider.dialect import Turn, arguments_object, pieces, sse
from harness.llm.scripted_provider.failures import ErrorAnswer, ErrorKind, Json, RequestRefused, google_error
from harness.llm.scripted_provider.google_request import check, request_text
from harness.llm.scripted_provider.scenario import Reply, Stop, Tokens


class GoogleGenerate:
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
        """Calls come whole, texts in pieces; the last event has the finish reason."""
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
    """Google counts thoughts apart from the rest of the answer, and says nothing of what went into the cache."""
    return {
        "promptTokenCount": tokens.input,
        "cachedContentTokenCount": tokens.cache_read,
        "candidatesTokenCount": tokens.output - tokens.reasoning,
        "thoughtsTokenCount": tokens.reasoning,
        "totalTokenCount": tokens.input + tokens.output,
    }
