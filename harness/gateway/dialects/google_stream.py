"""Google's generateContent as a stream, put together: each event is a part of the answer in the same form."""

from typing import Any

from harness.gateway.dialects.protocol import Heard, Json, objects, text
from harness.specs.usage import Usage


class ContentAssembler:
    def __init__(self) -> None:
        self.heard = Heard()
        self._parts: list[Json] = []
        self._whole: Json = {}

    def add(self, event: Json) -> None:
        if "error" in event:
            self.heard.error = event
            return
        for key in ("usageMetadata", "promptFeedback", "responseId", "modelVersion"):
            if key in event:
                self._whole[key] = event[key]
        self.heard.usage = counts(self._whole.get("usageMetadata"))
        for candidate in objects(event.get("candidates"))[:1]:
            content = candidate.get("content")
            for part in objects(content.get("parts")) if isinstance(content, dict) else []:
                self._add(part)
            if candidate.get("finishReason"):
                made = {"content": {"role": "model", "parts": self._parts}, "finishReason": candidate["finishReason"]}
                self._whole["candidates"] = [made]
        if "candidates" in self._whole or "promptFeedback" in self._whole:
            self.heard.whole = self._whole

    def _add(self, part: Json) -> None:
        """Texts of one kind in a row are one part."""
        last = self._parts[-1] if self._parts else {}
        is_text = "text" in part and "text" in last
        if is_text and bool(part.get("thought")) == bool(last.get("thought")):
            last["text"] = text(last["text"]) + text(part["text"])
        else:
            self._parts.append(dict(part))


def counts(usage: Any) -> Usage:
    """Tokens without cost. This vendor counts thoughts beside the answer, and results of tools beside the prompt."""
    found = usage if isinstance(usage, dict) else {}

    def number(key: str) -> int:
        value = found.get(key)
        return value if isinstance(value, int) and value > 0 else 0

    thoughts = number("thoughtsTokenCount")
    return Usage(
        calls=1,
        input=number("promptTokenCount") + number("toolUsePromptTokenCount"),
        output=number("candidatesTokenCount") + thoughts,
        reasoning=thoughts,
        cache_read=number("cachedContentTokenCount"),
        cost_usd=None,
    )
