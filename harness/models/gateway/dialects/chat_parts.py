"""Parts that the translations to and from chat completions share, and the settings of a model's file in a request."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from harness.models.gateway.dialects.protocol import Json, objects, text
from harness.models.openai_format import ChatResponse, ChatUsage
from harness.models.protocol import StopReason, ToolCall
from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage


class ChatAnswer(NamedTuple):
    """An answer of chat completions, read for another dialect to tell."""

    text: str
    reasoning: str
    signed: tuple[Json, ...]
    calls: tuple[ToolCall, ...]
    finish: str
    is_refusal: bool
    usage: Usage

    @classmethod
    def of(cls, whole: Json, number: int) -> Self:
        """Read an answer; calls without an id get one that no other answer has.

        Raises:
            ValueError: It is no answer.
        """
        read = chat_response(whole)
        choice = objects(whole["choices"])[0]
        said = choice["message"]
        completion = read.completion(read.usage.counts())
        ids = [text(call.get("id")) for call in objects(said.get("tool_calls"))]
        calls = completion.message.tool_calls
        return cls(
            text=completion.message.content,
            reasoning=text(said.get("reasoning_content")) or text(said.get("reasoning")),
            signed=completion.message.signed,
            calls=tuple(
                call if given else call.model_copy(update={"id": f"call_{number:06d}_{position}"})
                for position, (call, given) in enumerate(zip(calls, ids, strict=True))
            ),
            finish=text(choice.get("finish_reason")),
            is_refusal=completion.stop is StopReason.REFUSAL,
            usage=completion.usage,
        )


def chat_response(whole: Json) -> ChatResponse:
    """Read a response.

    Raises:
        ValueError: It is no answer.
    """
    try:
        read = ChatResponse.model_validate(_with_refusal(whole))
    except ValidationError as error:
        raise ValueError(f"the answer is no chat completion: {error.errors()[0]['msg']}") from None
    return read


def _with_refusal(whole: Json) -> Json:
    """Copy a refusal, which the vendor puts beside the content, to where the reader of answers looks for it."""
    choices = objects(whole.get("choices"))
    message = choices[0].get("message") if choices else None
    if not isinstance(message, dict) or not message.get("refusal"):
        return whole
    extras = {"provider_specific_fields": {"refusal": message["refusal"]}}
    return {**whole, "choices": [{**choices[0], "message": {**message, **extras}}]}


def usage_json(usage: Usage) -> Json:
    """Return token counts as chat completions say them."""
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, "cache_write_tokens": usage.cache_write},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def read_usage(value: Any) -> Usage | None:
    """Return the counts of chat completions; None where there are none that can be read."""
    try:
        return ChatUsage.model_validate(value).counts() if isinstance(value, dict) else None
    except ValidationError:
        return None


def image_part(media_type: str, data: str) -> Json:
    """Return an image as a part of a chat message."""
    return {"type": "image_url", "image_url": {"url": f"data:{media_type or 'image/png'};base64,{data}"}}


def sampling(body: Json, names: Mapping[str, str]) -> Json:
    """Return the parameters that a request has, by the names that chat completions give them."""
    return {ours: body[theirs] for theirs, ours in names.items() if body.get(theirs) is not None}


def merged(messages: Sequence[Json]) -> list[Json]:
    """Return messages with a single text as plain text, since some providers know no parts."""
    return [_plain(message) for message in messages]


def _plain(message: Json) -> Json:
    parts = message.get("content")
    if isinstance(parts, list) and all(isinstance(part, dict) and part.get("type") == "text" for part in parts):
        return {**message, "content": "\n".join(text(part.get("text")) for part in parts)}
    return message


def set_sampling(body: Json, file: ModelFile, max_tokens_key: str) -> None:
    """Set temperature and the most tokens of an answer: the fewer of what agent and file ask for."""
    if file.temperature is not None:
        body["temperature"] = file.temperature
    if file.max_tokens:
        asked = body.get(max_tokens_key)
        body[max_tokens_key] = min(asked, file.max_tokens) if isinstance(asked, int) else file.max_tokens


def set_effort(body: Json, file: ModelFile, key: str) -> None:
    """Set the effort in the request's object `key`; its other parts stay."""
    if file.effort:
        settings = body.get(key)
        body[key] = {**(settings if isinstance(settings, dict) else {}), "effort": file.effort.value}
