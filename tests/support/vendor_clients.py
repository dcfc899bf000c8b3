"""The vendors' own clients, each asking one question, and what they make of the answer.

They are imported where they ask: seconds and 100 MB that most processes with tests can do without.
"""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Heard:
    """What a client makes of an answer, in words that all clients share."""

    text: str = ""
    thinking: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    stop: str = ""
    counts: dict[str, Any] = field(default_factory=dict)


async def chat(url: str, prompt: str, streaming: bool, key: str = "k") -> Heard:
    import openai

    client = openai.AsyncOpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0)
    asked: Any = {"model": "scripted", "messages": [{"role": "user", "content": prompt}]}
    async with client:
        if not streaming:
            done = await client.chat.completions.create(**asked)
            return heard_in_chat(done.choices[0].message, done.choices[0].finish_reason, done.usage)
        async with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
            thinking = ""
            async for event in stream:
                if event.type == "chunk" and event.chunk.choices:
                    thinking += getattr(event.chunk.choices[0].delta, "reasoning_content", None) or ""
            final = stream.current_completion_snapshot
    heard = heard_in_chat(final.choices[0].message, final.choices[0].finish_reason, final.usage)
    heard.thinking = thinking
    return heard


def heard_in_chat(message: Any, finish: str | None, usage: Any) -> Heard:
    calls = message.tool_calls or []
    refused = message.refusal is not None and finish == "stop"
    return Heard(
        text=(message.refusal if refused else message.content) or "",
        thinking=getattr(message, "reasoning_content", None) or "",
        calls=[(call.function.name, json.loads(call.function.arguments)) for call in calls],
        ids=[call.id for call in calls],
        stop="refusal" if refused else finish or "",
        counts={
            "input": usage.prompt_tokens,
            "output": usage.completion_tokens,
            "reasoning": usage.completion_tokens_details.reasoning_tokens,
            "cache_read": usage.prompt_tokens_details.cached_tokens,
            "cache_write": usage.prompt_tokens_details.cache_write_tokens,
            "cost_usd": getattr(usage, "cost", None),
        },
    )


async def responses(url: str, prompt: str, streaming: bool, key: str = "k") -> Heard:
    import openai

    client = openai.AsyncOpenAI(api_key=key, base_url=f"{url}/v1", max_retries=0)
    asked: Any = {"model": "scripted", "input": prompt}
    async with client:
        if not streaming:
            return heard_in_response(await client.responses.create(**asked))
        # The client puts a response together out of the deltas; the last event alone would prove nothing.
        async with client.responses.stream(**asked) as stream:
            last, texts, arguments = None, "", ""
            async for event in stream:
                if event.type in ("response.output_text.delta", "response.refusal.delta"):
                    texts += event.delta
                elif event.type == "response.function_call_arguments.delta":
                    arguments += event.delta
                elif event.type in ("response.completed", "response.incomplete"):
                    last = event.response
    assert last is not None
    heard = heard_in_response(last)
    assert texts == heard.text
    assert arguments == "".join(item.arguments for item in last.output if item.type == "function_call")
    return heard


def heard_in_response(response: Any) -> Heard:
    heard = Heard(stop=response.incomplete_details.reason if response.incomplete_details else response.status)
    for item in response.output:
        if item.type == "function_call":
            heard.calls.append((item.name, json.loads(item.arguments)))
            heard.ids.append(item.call_id)
        elif item.type == "reasoning":
            heard.thinking = item.summary[0].text
        elif item.content[0].type == "refusal":
            heard.text, heard.stop = item.content[0].refusal, "refusal"
        else:
            heard.text = item.content[0].text
    heard.counts = {
        "input": response.usage.input_tokens,
        "output": response.usage.output_tokens,
        "reasoning": response.usage.output_tokens_details.reasoning_tokens,
        "cache_read": response.usage.input_tokens_details.cached_tokens,
        "cache_write": response.usage.input_tokens_details.cache_write_tokens,
        "cost_usd": getattr(response.usage, "cost", None),
    }
    return heard


async def messages(url: str, prompt: str, streaming: bool, key: str = "k") -> Heard:
    import anthropic

    client = anthropic.AsyncAnthropic(api_key=key, base_url=url, max_retries=0)
    asked: Any = {"model": "scripted", "max_tokens": 100, "messages": [{"role": "user", "content": prompt}]}
    async with client:
        if streaming:
            async with client.messages.stream(**asked) as stream:
                done = await stream.get_final_message()
        else:
            done = await client.messages.create(**asked)
    heard = Heard(stop=done.stop_reason or "")
    for block in done.content:
        if block.type == "tool_use":
            heard.calls.append((block.name, block.input))
            heard.ids.append(block.id)
        elif block.type == "thinking":
            heard.thinking = block.thinking
        elif block.type == "text":
            heard.text = block.text
    usage = done.usage
    read, written = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    heard.counts = {
        "input": usage.input_tokens + read + written,
        "output": usage.output_tokens,
        "reasoning": usage.output_tokens_details.thinking_tokens if usage.output_tokens_details else 0,
        "cache_read": read,
        "cache_write": written,
    }
    return heard


Client = Callable[..., Awaitable[Heard]]
CLIENTS: list[Client] = [chat, responses, messages]
