"""What Google's generateContent refuses of a request, in Google's words."""

import json
from typing import Any

from harness.llm.scripted_provider.failures import Json, RequestRefused

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
    """Raises RequestRefused for the first thing that is wrong."""
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
    """As many answers in the turn that follows as functions were called."""
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
    system = request.get("systemInstruction") or request.get("system_instruction")
    parts = [part for turn in (system, *request["contents"]) if isinstance(turn, dict) for part in _parts(turn)]
    return "\n".join(filter(None, map(_part_text, parts)))


def _parts(turn: Json) -> list[Json]:
    parts = turn.get("parts")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _part_text(part: Json) -> str:
    for name in (*_CALLS, *_ANSWERS):
        if isinstance(part.get(name), dict):
            return json.dumps(part[name].get("args", part[name].get("response")))
    return str(part.get("text", ""))
