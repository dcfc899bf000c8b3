"""The dialects by name, and where they are spoken."""

from collections.abc import Mapping

from harness.models.gateway.dialects.anthropic_messages import AnthropicMessages
from harness.models.gateway.dialects.google_generate import GoogleGenerate
from harness.models.gateway.dialects.openai_chat import OpenAIChat
from harness.models.gateway.dialects.openai_responses import OpenAIResponses
from harness.models.gateway.dialects.protocol import Dialect, DialectName

DIALECTS: Mapping[DialectName, Dialect] = {
    DialectName.CHAT: OpenAIChat(),
    DialectName.RESPONSES: OpenAIResponses(),
    DialectName.MESSAGES: AnthropicMessages(),
    DialectName.GOOGLE: GoogleGenerate(),
}
BASES: Mapping[DialectName, str] = {
    DialectName.CHAT: "/openai/v1",
    DialectName.RESPONSES: "/openai/v1",
    DialectName.MESSAGES: "/anthropic",
    DialectName.GOOGLE: "/google",
}
"""The endings of an agent's base URL."""


def dialect_at(path: str) -> Dialect:
    """Return the dialect that an error at a path is told in; OpenAI's where the path is nobody's."""
    first = path.strip("/").partition("/")[0]
    names = {"anthropic": DialectName.MESSAGES, "google": DialectName.GOOGLE}
    return DIALECTS[names.get(first, DialectName.CHAT)]
