"""Anthropic's messages: reading requests and answers, and what is withheld."""

import json

from pydantic import ValidationError

from harness.gateway.dialects import anthropic_chat
from harness.gateway.dialects.anthropic_stream import MessageAssembler, message_events
from harness.gateway.dialects.model_settings import set_effort, set_sampling
from harness.gateway.dialects.protocol import (
    Answer,
    Asked,
    DialectName,
    Json,
    digest,
    joined,
    media_note,
    objects,
    text,
)
from harness.gateway.withholding import URL_MEDIA, Withheld, is_remote
from harness.llm.anthropic_format import AnthropicResponse
from harness.llm.protocol import Message, Role, ToolCall
from harness.llm.text import whole_text
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile

_LOCAL_TOOLS = ("bash_", "text_editor_", "memory_", "tool_search_tool_")
"""The vendor's tools that the agent itself runs, or that only look through its list of tools."""
_ERRORS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


class AnthropicMessages:
    name = DialectName.MESSAGES

    def asked(self, body: Json) -> Asked:
        tools = objects(body.get("tools"))
        return Asked(
            system=content_text(body.get("system")),
            messages=tuple(part for message in objects(body.get("messages")) for part in _messages(message)),
            tools=tuple(whole_text(text(tool.get("name"))) for tool in tools),
            tools_sha256=digest(tools) if tools else "",
        )

    def withhold(self, body: Json, withheld: Withheld) -> None:
        withheld.tools(body, _hosted, _forced)
        withheld.drop(body, "mcp_servers", "mcp")
        withheld.drop(body, "container", "code-execution")
        for key in ("messages", "system"):
            if key in body:
                body[key] = withheld.parts(body[key], _remote, lambda note: {"type": "text", "text": note})

    def wish(self, body: Json, file: ModelFile) -> None:
        set_sampling(body, file, "max_tokens")
        set_effort(body, file, "output_config")

    def assembler(self) -> MessageAssembler:
        return MessageAssembler()

    def answer(self, whole: Json) -> Answer:
        try:
            read = AnthropicResponse.model_validate(whole)
        except ValidationError as error:
            raise ValueError(f"the answer is no message: {error.errors()[0]['msg']}") from None
        completion = read.completion(read.usage.counts())
        return Answer(completion.message, completion.stop, completion.usage)

    def error(self, status: int, message: str, fault: ProviderFault | None = None) -> Json:
        if fault is ProviderFault.CONTEXT and "prompt is too long" not in message:
            message = f"prompt is too long: {message}"  # the words that this vendor's agents look for
        kind = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return {"type": "error", "error": {"type": kind, "message": message}}

    def chat(self, body: Json) -> Json:
        return anthropic_chat.chat(body)

    def told(self, whole: Json, body: Json, model: str, number: int) -> Json:  # noqa: ARG002
        return anthropic_chat.told(whole, model, number)

    def events(self, told: Json, body: Json) -> list[bytes]:  # noqa: ARG002
        return message_events(told)


def content_text(content: object) -> str:
    """All text of a content, with a note for each image or document."""
    if isinstance(content, str):
        return whole_text(content)
    return joined([_block_text(block) for block in objects(content)])


def _block_text(block: Json) -> str:
    source = block.get("source")
    if isinstance(source, dict):
        return media_note(text(source.get("media_type")), source.get("data"))
    return whole_text(text(block.get("text"))) or content_text(block.get("content"))


def _messages(message: Json) -> list[Message]:
    content = message.get("content")
    role = message.get("role")
    if role == "assistant":
        return [_spoken(content)]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    found = [
        Message(
            role=Role.TOOL,
            content=content_text(block.get("content")),
            tool_call_id=whole_text(text(block.get("tool_use_id"))),
        )
        for block in blocks
        if block.get("type") == "tool_result"
    ]
    said = joined([_block_text(block) for block in blocks if block.get("type") != "tool_result"])
    if said or not found:
        found.append(Message(role=Role.SYSTEM if role == "system" else Role.USER, content=said))
    return found


def _spoken(content: object) -> Message:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)
    return Message(
        role=Role.ASSISTANT,
        content="".join(whole_text(text(block.get("text"))) for block in blocks if block.get("type") == "text"),
        tool_calls=tuple(
            ToolCall(
                id=whole_text(text(block.get("id"))),
                name=whole_text(text(block.get("name"))),
                arguments=whole_text(json.dumps(block.get("input"))),
            )
            for block in blocks
            if block.get("type") == "tool_use"
        ),
    )


def _hosted(tool: Json) -> str | None:
    kind = text(tool.get("type"))
    return None if kind in ("", "custom") or kind.startswith(_LOCAL_TOOLS) else kind


def _forced(body: Json) -> str:
    choice = body.get("tool_choice")
    name = choice.get("name") if isinstance(choice, dict) else None
    return next((_hosted(tool) or "" for tool in objects(body.get("tools")) if name and tool.get("name") == name), "")


def _remote(block: Json) -> str | None:
    source = block.get("source")
    if block.get("type") == "container_upload":
        return "file"
    if not isinstance(source, dict):
        return None
    if source.get("type") == "file" or "file_id" in source:
        return "file"
    return URL_MEDIA if source.get("type") == "url" or is_remote(source.get("url")) else None
