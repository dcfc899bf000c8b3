"""What would leave the sandbox is taken out of requests, or refused, and counted by kind."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.models.gateway.dialects.protocol import DialectName
from harness.models.gateway.dialects.registry import DIALECTS
from harness.models.gateway.withholding import RefusedRequest, Withheld
from harness.models.protocol import Message, MessageRole
from harness.plugins.scripted_provider.scenario import Reply
from tests.support.gateways import NATIVE, asking, opened, path_of, post, send
from tests.support.provider import playing

HELLO = Message(role=MessageRole.USER, content="hello")
HOSTED: dict[DialectName, list[tuple[dict[str, Any], str]]] = {
    DialectName.CHAT: [({"type": "web_search_preview"}, "web-search"), ({"type": "mcp"}, "mcp")],
    DialectName.RESPONSES: [
        ({"type": "web_search"}, "web-search"),
        ({"type": "web_search_preview_2025_03_11"}, "web-search"),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, "code-execution"),
        ({"type": "mcp", "server_url": "https://example.invalid"}, "mcp"),
        ({"type": "computer_use_preview"}, "computer-use"),
        ({"type": "file_search", "vector_store_ids": ["vs"]}, "file-search"),
        ({"type": "image_generation"}, "hosted-tool"),
        ({"type": "shell", "environment": {"type": "container_auto"}}, "code-execution"),
        ({"type": "namespace", "name": "n", "tools": [{"type": "mcp"}]}, "mcp"),
        ({"name": "nameless"}, "hosted-tool"),
    ],
    DialectName.MESSAGES: [
        ({"type": "web_search_20250305", "name": "web_search"}, "web-search"),
        ({"type": "web_fetch_20250910", "name": "web_fetch"}, "web-fetch"),
        ({"type": "code_execution_20250825", "name": "code_execution"}, "code-execution"),
        ({"type": "computer_20250124", "name": "computer"}, "computer-use"),
        ({"type": "mcp_toolset", "mcp_server_name": "x"}, "mcp"),
        ({"type": "something_new_20300101", "name": "new"}, "hosted-tool"),
    ],
    DialectName.GOOGLE: [
        ({"googleSearch": {}}, "web-search"),
        ({"google_search": {}}, "web-search"),
        ({"googleSearchRetrieval": {}}, "web-search"),
        ({"urlContext": {}}, "web-fetch"),
        ({"codeExecution": {}}, "code-execution"),
        ({"computer_use": {}}, "computer-use"),
        ({"mcpServers": [{}]}, "mcp"),
        ({"somethingNew": {}}, "hosted-tool"),
    ],
}
TOOLS = [(dialect, tool, kind) for dialect, tools in HOSTED.items() for tool, kind in tools]


@pytest.mark.parametrize(("dialect", "tool", "kind"), TOOLS)
async def test_a_tool_of_the_provider_is_taken_out_and_the_agents_own_stay(
    dialect: DialectName, tool: dict[str, Any], kind: str
) -> None:
    body = asking(dialect, HELLO, tools=("bash",))
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        got = await send(trial, dialect, {**body, "tools": [*body["tools"], tool]})
        assert (got.status, provider.requests[-1].body["tools"]) == (200, body["tools"])
    assert trial.summary.withheld == {kind: 1}


@pytest.mark.parametrize(("dialect", "tool", "kind"), TOOLS)
async def test_a_request_for_nothing_but_such_a_tool_is_refused(
    dialect: DialectName, tool: dict[str, Any], kind: str
) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        got = await send(trial, dialect, {**asking(dialect, HELLO), "tools": [tool]})
        assert (got.status, provider.requests) == (400, [])
        assert "it would leave the sandbox" in got.json["error"]["message"]
    assert (trial.summary.withheld, trial.allowance.steps, trial.failed) == ({kind: 1}, 0, [])


async def test_a_request_that_insists_on_such_a_tool_is_refused() -> None:
    tool = {"type": "web_search_20250305", "name": "web_search"}
    body = asking(DialectName.MESSAGES, HELLO, tools=("bash",))
    body |= {"tools": [*body["tools"], tool], "tool_choice": {"type": "tool", "name": "web_search"}}
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[DialectName.MESSAGES]) as trial:
        assert (await send(trial, DialectName.MESSAGES, body)).status == 400


async def test_tools_that_the_agent_runs_itself_stay() -> None:
    tools = {
        DialectName.MESSAGES: [
            {"type": "bash_20250124", "name": "bash"},
            {"type": "text_editor_20250728", "name": "str_replace_based_edit_tool"},
            {"type": "custom", "name": "mine", "input_schema": {"type": "object"}},
        ],
        DialectName.RESPONSES: [
            {"type": "local_shell"},
            {"type": "shell", "environment": {"type": "local"}},
            {"type": "custom", "name": "apply_patch"},
            {"type": "function", "name": "web_search"},  # an agent's own tool may be called so
        ],
    }
    for dialect, given_tools in tools.items():
        async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
            assert (await send(trial, dialect, {**asking(dialect, HELLO), "tools": given_tools})).status == 200
            assert provider.requests[-1].body["tools"] == given_tools
        assert trial.summary.withheld == {}


URL = "https://example.invalid/a.png"
PARTS: list[tuple[DialectName, dict[str, Any], str]] = [
    (DialectName.CHAT, {"type": "image_url", "image_url": {"url": URL}}, "url-media"),
    (DialectName.CHAT, {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}, "url-media"),
    (DialectName.CHAT, {"type": "audio_url", "audio_url": {"url": URL}}, "url-media"),
    (DialectName.CHAT, {"type": "file", "file": {"file_id": "file-1"}}, "file"),
    (DialectName.CHAT, {"type": "file", "file": {"file_data": URL}}, "file"),
    (DialectName.RESPONSES, {"type": "input_image", "image_url": URL}, "url-media"),
    (DialectName.RESPONSES, {"type": "input_image", "file_id": "file-1"}, "file"),
    (DialectName.RESPONSES, {"type": "input_file", "file_url": URL}, "url-media"),
    (DialectName.MESSAGES, {"type": "image", "source": {"type": "url", "url": URL}}, "url-media"),
    (DialectName.MESSAGES, {"type": "document", "source": {"type": "file", "file_id": "f"}}, "file"),
    (DialectName.MESSAGES, {"type": "container_upload", "file_id": "f"}, "file"),
    (DialectName.GOOGLE, {"fileData": {"fileUri": URL}}, "url-media"),
    (DialectName.GOOGLE, {"file_data": {"file_uri": URL}}, "url-media"),
]
INLINE: dict[DialectName, dict[str, Any]] = {
    DialectName.CHAT: {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    DialectName.RESPONSES: {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
    DialectName.MESSAGES: {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
    DialectName.GOOGLE: {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
}
CONTENT = {
    DialectName.CHAT: ("messages", "content"),
    DialectName.RESPONSES: ("input", "content"),
    DialectName.MESSAGES: ("messages", "content"),
    DialectName.GOOGLE: ("contents", "parts"),
}


def with_part(dialect: DialectName, part: dict[str, Any]) -> dict[str, Any]:
    body = asking(dialect, HELLO)
    messages, content = CONTENT[dialect]
    body[messages][0][content] = [part]
    return body


@pytest.mark.parametrize(("dialect", "part", "kind"), PARTS)
async def test_media_elsewhere_is_replaced_by_a_line_that_says_so(
    dialect: DialectName, part: dict[str, Any], kind: str
) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        assert (await send(trial, dialect, with_part(dialect, part))).status == 200
        assert f"[{kind} is withheld" in provider.requests[-1].text
        assert "example.invalid" not in str(provider.requests[-1].body)
    assert trial.summary.withheld == {kind: 1}


async def test_media_elsewhere_is_found_within_a_tools_result() -> None:
    picture = {"type": "image", "source": {"type": "url", "url": URL}}
    document = {"type": "document", "source": {"type": "content", "content": [picture]}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [picture, document]}
    withheld = Withheld()
    body = {"messages": [{"role": "user", "content": [result]}]}
    DIALECTS[DialectName.MESSAGES].withhold(body, withheld)
    assert withheld.counts == {"url-media": 2}
    assert URL not in str(body)


@pytest.mark.parametrize("dialect", DialectName)
async def test_media_that_a_request_brings_along_goes_through(dialect: DialectName) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        assert (await send(trial, dialect, with_part(dialect, INLINE[dialect]))).status == 200
        assert "AAAA" in str(provider.requests[-1].body)
    assert trial.summary.withheld == {}
    assert "image" in trial.messages[0][2]


async def test_parameters_that_leave_the_sandbox_are_taken_out() -> None:
    given: list[tuple[DialectName, dict[str, Any], dict[str, int]]] = [
        (DialectName.MESSAGES, {"mcp_servers": [{"url": URL}]}, {"mcp": 1}),
        (DialectName.MESSAGES, {"container": {"skills": []}}, {"code-execution": 1}),
        (DialectName.CHAT, {"web_search_options": {"a": 1}}, {"web-search": 1}),
        (DialectName.CHAT, {"models": ["another/model"]}, {"other-model": 1}),
        (DialectName.CHAT, {"plugins": [{"id": "web"}]}, {"web-search": 1}),
        (DialectName.CHAT, {"enable_search": True, "search_parameters": {"mode": "on"}}, {"parameter": 2}),
        (DialectName.CHAT, {"preset": "mine", "provider": {}, "service_tier": "priority"}, {"parameter": 2}),
        (DialectName.RESPONSES, {"background": True}, {"stored-at-provider": 1}),
        (DialectName.RESPONSES, {"service_tier": "flex"}, {"parameter": 1}),
        (DialectName.MESSAGES, {"fallbacks": [{"model": "another"}]}, {"other-model": 1}),
        (DialectName.MESSAGES, {"speed": "fast", "inference_geo": "us"}, {"parameter": 2}),
        (DialectName.GOOGLE, {"serviceTier": "priority"}, {"parameter": 1}),
    ]
    for dialect, extra, counts in given:
        async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
            assert (await send(trial, dialect, {**asking(dialect, HELLO), **extra})).status == 200
            assert not set(extra) & set(provider.requests[-1].body)
        assert trial.summary.withheld == counts


@pytest.mark.parametrize("dialect", DialectName)
async def test_parameters_of_the_dialect_stay(dialect: DialectName) -> None:
    own: dict[DialectName, dict[str, Any]] = {
        DialectName.CHAT: {"temperature": 0.5, "seed": 1, "parallel_tool_calls": True, "prompt_cache_key": "k"},
        DialectName.RESPONSES: {"include": ["reasoning.encrypted_content"], "store": False, "prompt_cache_key": "k"},
        DialectName.MESSAGES: {"top_k": 3, "thinking": {"type": "disabled"}, "metadata": {"user_id": "u"}},
        DialectName.GOOGLE: {"generationConfig": {"topK": 3}, "safetySettings": [], "labels": {"a": "b"}},
    }
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        assert (await send(trial, dialect, {**asking(dialect, HELLO), **own[dialect]})).status == 200
        seen = provider.requests[-1].body
        assert {key: seen[key] for key in own[dialect]} == own[dialect]
    assert trial.summary.withheld == {}


@pytest.mark.parametrize(
    ("dialect", "extra"),
    [
        (DialectName.RESPONSES, {"previous_response_id": "resp_of_somebody"}),
        (DialectName.RESPONSES, {"conversation": "conv_1"}),
        (DialectName.RESPONSES, {"prompt": {"id": "pmpt_1"}}),
        (DialectName.RESPONSES, {"input": [{"type": "item_reference", "id": "msg_of_somebody"}]}),
        (DialectName.GOOGLE, {"cachedContent": "cachedContents/1"}),
    ],
)
async def test_texts_that_somebody_left_with_the_provider_are_refused(
    dialect: DialectName, extra: dict[str, Any]
) -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[dialect]) as trial:
        assert (await send(trial, dialect, {**asking(dialect, HELLO), **extra})).status == 400
        assert provider.requests == []
    assert trial.summary.withheld == {"stored-at-provider": 1}


async def test_an_answer_of_the_trials_own_may_be_continued() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[DialectName.RESPONSES]) as trial:
        first = (await send(trial, DialectName.RESPONSES, asking(DialectName.RESPONSES, HELLO))).json
        more = {"model": "m", "input": "and more", "previous_response_id": first["id"]}
        await send(trial, DialectName.RESPONSES, more)
        assert provider.requests[-1].body["previous_response_id"] == first["id"]  # this provider keeps nothing
    assert {conversation for conversation, _, _ in trial.messages} == {""}


async def test_no_parameter_of_litellms_own_reaches_it() -> None:
    """`api_base` would send the host's key wherever an agent likes."""
    theirs = {"api_base": URL, "api_key": "mine", "mock_response": "hi", "extra_headers": {"a": "b"}, "n": 5}
    async with playing(Reply(text="real")) as provider, opened(provider, "anthropic/unheard-of") as trial:
        got = await send(trial, DialectName.CHAT, {**asking(DialectName.CHAT, HELLO), **theirs})
        assert got.json["choices"][0]["message"]["content"] == "real"
        assert "a" not in provider.requests[-1].headers


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["user", "tool", "function"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *(
                        "role",
                        "content",
                        "parts",
                        "type",
                        "text",
                        "source",
                        "id",
                        "name",
                        "input",
                        "arguments",
                        "output",
                    ),
                    *("tool_calls", "function", "functionCall", "functionResponse", "response", "image_url", "url"),
                    *("file", "fileData", "inlineData", "call_id", "tool_use_id", "args", "tools", "environment"),
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
BODIES = st.dictionaries(
    st.sampled_from(
        [
            *("messages", "contents", "input", "system", "instructions", "systemInstruction", "tools", "tool_choice"),
            *("generationConfig", "toolConfig", "reasoning", "thinking", "output_config", "text", "max_tokens"),
            *("previous_response_id", "stream_options", "mcp_servers", "model"),
        ]
    ),
    JSON,
    max_size=6,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(body=BODIES)
@pytest.mark.parametrize("dialect", DialectName)
def test_no_request_whatever_breaks_a_dialect(dialect: DialectName, body: dict[str, Any]) -> None:
    spoken = DIALECTS[dialect]
    try:
        spoken.withhold(body, Withheld())
        spoken.asked(body)
        spoken.chat(body)
    except RefusedRequest:
        return


ANSWERS = st.dictionaries(st.sampled_from(["choices", "content", "output", "candidates", "usage", "object"]), JSON)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(whole=ANSWERS)
@pytest.mark.parametrize("dialect", DialectName)
def test_no_answer_whatever_breaks_a_dialect(dialect: DialectName, whole: dict[str, Any]) -> None:
    spoken = DIALECTS[dialect]
    assembler = spoken.assembler()
    assembler.add(whole)
    for given_answer in (whole, {**whole, "object": "response"}):
        try:
            spoken.answer(given_answer)
        except ValueError:
            continue
    try:
        spoken.told(whole, {}, "m", 1)
    except ValueError:
        return


@pytest.mark.parametrize("key", ["googleSearch", "urlContext"])
async def test_a_tool_that_is_in_no_list_is_withheld_as_well(key: str) -> None:
    """Google takes one object for a list of one."""
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[DialectName.GOOGLE]) as trial:
        body = {**asking(DialectName.GOOGLE, HELLO), "tools": {key: {}}}
        assert (await send(trial, DialectName.GOOGLE, body)).status == 400
        own = {"functionDeclarations": [{"name": "bash"}], key: {}}
        assert (await send(trial, DialectName.GOOGLE, body | {"tools": own})).status == 200
        assert provider.requests[-1].body["tools"] == [{"functionDeclarations": [{"name": "bash"}]}]
        assert len(provider.requests) == 1
    assert sum(trial.summary.withheld.values()) == 2


async def test_neither_url_nor_header_says_what_an_answer_is_to_leave_out() -> None:
    async with playing(Reply(text="hi")) as provider, opened(provider, NATIVE[DialectName.GOOGLE]) as trial:
        path = trial.url(DialectName.GOOGLE) + path_of(DialectName.GOOGLE, streaming=True)
        body = asking(DialectName.GOOGLE, HELLO)
        heads = {"X-Goog-FieldMask": "candidates", "X-HTTP-Method-Override": "GET", "X-Unheard-Of": "a"}
        heads |= {"X-Stainless-Lang": "js", "User-Agent": "agent/1"}
        got = await post(f"{path}&fields=candidates&%24fields=candidates", body, trial.access.token, heads)
        assert (got.status, trial.allowance.spending.usage.input) == (200, 100)
        assert "fields" not in provider.requests[-1].path + str(provider.requests[-1])
        seen = {name.lower() for name in provider.requests[-1].headers}
        assert not {"x-goog-fieldmask", "x-http-method-override", "x-unheard-of"} & seen
        assert {"x-stainless-lang", "user-agent", "content-type"} <= seen
