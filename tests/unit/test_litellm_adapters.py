"""Why the gateway translates between dialects itself: what litellm's own adapters lose of what agents send.

Where one of these fails, litellm has mended it, and its adapter may serve in place of ours (docs/gateway.md).
"""

from importlib import import_module
from typing import Any

from harness.models.gateway.dialects import anthropic_chat, google_chat

TWO_CALLS_OF_ONE_TOOL: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": "Look around."}]},
    {
        "role": "model",
        "parts": [
            {"functionCall": {"name": "shell", "args": {"command": "ls"}}},
            {"functionCall": {"name": "shell", "args": {"command": "pwd"}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"name": "shell", "response": {"output": "a.py"}}},
            {"functionResponse": {"name": "shell", "response": {"output": "/src"}}},
        ],
    },
]


def adapter(module: str, name: str) -> Any:
    """One of litellm's; its import takes seconds, so whoever only collects tests does without."""
    return getattr(import_module(f"litellm.{module}"), name)


def test_googles_gives_two_calls_of_one_tool_the_same_id_and_ours_does_not():
    their_adapter = adapter("google_genai.adapters.transformation", "GoogleGenAIAdapter")
    theirs = their_adapter().translate_generate_content_to_completion("m", TWO_CALLS_OF_ONE_TOOL)
    ours = google_chat.chat({"contents": TWO_CALLS_OF_ONE_TOOL})
    assert [answer["tool_call_id"] for answer in theirs["messages"][2:]] == ["call_shell", "call_shell"]
    called = [call["id"] for call in ours["messages"][1]["tool_calls"]]
    assert len(set(called)) == 2
    assert [(answer["tool_call_id"], answer["content"]) for answer in ours["messages"][2:]] == [
        (called[0], "a.py"),
        (called[1], "/src"),
    ]


def _of_anthropic(**more: object) -> dict[str, Any]:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "seen"}, picture]}
    call = {"type": "tool_use", "id": "t", "name": "look", "input": {}}
    messages = [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    return {"model": "m", "max_tokens": 9, "messages": messages, **more}


def test_anthropics_lets_a_tools_answer_hold_a_picture_and_forgets_that_one_call_at_a_time_was_asked_for():
    """A `tool` message of chat completions holds text only: OpenAI refuses a request whose `tool` message doesn't."""
    tools = [{"name": "look", "description": "", "input_schema": {"type": "object", "properties": {}}}]
    body = _of_anthropic(tools=tools, tool_choice={"type": "any", "disable_parallel_tool_use": True})
    module = "llms.anthropic.pass_through.adapters.transformation"
    theirs, _ = adapter(module, "LiteLLMAnthropicMessagesAdapter")().translate_anthropic_to_openai(body)
    ours = anthropic_chat.chat(body)
    held = [message["content"] for message in theirs["messages"] if message["role"] == "tool"]
    assert [part["type"] for part in held[0]] == ["text", "image_url"]  # type: ignore[index]
    assert "parallel_tool_calls" not in theirs
    assert [message["content"] for message in ours["messages"] if message["role"] == "tool"] == ["seen"]
    assert ours["parallel_tool_calls"] is False


def test_that_of_responses_makes_a_vendors_tool_a_wish_that_the_model_may_not_know():
    """Ours refuses it with a clear error: tests/unit/test_gateway_withholding.py."""
    module = "responses.litellm_completion_transformation.transformation"
    theirs = adapter(
        module, "LiteLLMCompletionResponsesConfig"
    ).transform_responses_api_request_to_chat_completion_request("m", "hi", {"tools": [{"type": "web_search"}]})
    assert "web_search_options" in theirs
