"""Anthropic's models through its own client: litellm changes cache control and thinking."""

import asyncio
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from pydantic import ValidationError

from harness.models.anthropic_format import AnthropicResponse, AnthropicUsage, conversation, tool_json
from harness.models.faults import Fault, complete_with_retries, no_key, refusal
from harness.models.price_table import litellm_module, priced, thinks_adaptively
from harness.models.protocol import Completion, FaultObserver, Message, Tool, ignore_faults
from harness.models.rate_limits import Limiter, about_tokens
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import Usage

_MAX_TOKENS = 16_000
"""Tokens of one answer where a model file says nothing: this provider wants a number."""


class AnthropicModel:
    """The client is imported and made at the first call; it reads ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL."""

    def __init__(
        self,
        name: str,
        file: ModelFile,
        key: str | None,
        limiter: Limiter,
        observe: FaultObserver = ignore_faults,
    ) -> None:
        self.name = name
        self._file = file
        self._key = key
        self._limiter = limiter
        self._observe = observe

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """See `Model`. It raises ProviderError at once, or after the retries where the fault's class allows them."""
        if self._file.prices is None or self._file.effort:
            await litellm_module()  # for its table
        anthropic = await asyncio.to_thread(import_module, "anthropic")
        body = self._body(messages, () if self._file.tools is False else tools)
        try:
            client = anthropic.AsyncAnthropic(
                api_key=self._key,
                base_url=self._file.api_base,
                timeout=self._file.request_seconds,
                max_retries=0,  # ours are the only ones
            )
        except anthropic.AnthropicError as error:
            fault = no_key(str(error))
            raise ProviderError(f"{self._file.model}: {fault.kind}: {fault.message}", fault.kind) from None
        async with client:
            return await complete_with_retries(
                self._file,
                self._limiter,
                about_tokens(messages),
                lambda: self._ask(anthropic, client, body),
                self._observe,
            )

    def _body(self, messages: Sequence[Message], tools: Sequence[Tool]) -> dict[str, Any]:
        file = self._file
        body = conversation(messages) | {
            "model": file.model.partition("/")[2],
            "max_tokens": file.max_tokens or _MAX_TOKENS,
        }
        if tools:
            body["tools"] = [tool_json(tool) for tool in tools]
        if file.temperature is not None:
            body["extra_body"] = {"temperature": file.temperature}  # not among the client's own parameters any more
        if file.effort:
            body["output_config"] = {"effort": file.effort.value}
            if thinks_adaptively(file.model):
                body["thinking"] = {"type": "adaptive"}
        return body

    async def _ask(self, anthropic: Any, client: Any, body: dict[str, Any]) -> Completion:
        try:
            response = await client.messages.with_raw_response.create(**body)
            return self._completion(response.http_response.json())
        except anthropic.APITimeoutError:
            raise Fault(
                ProviderFault.TIMEOUT, f"Timeout: no answer within {self._file.request_seconds:g} seconds"
            ) from None
        except anthropic.APIConnectionError as error:
            raise Fault(ProviderFault.CONNECTION, f"APIConnectionError: {error.__cause__ or error}") from None
        except anthropic.APIStatusError as error:
            message = f"{type(error).__name__}: {error.api_message or error.message}"
            raise refusal(error.status_code, message, error.body, error.response.headers) from None
        except anthropic.AnthropicError as error:
            raise no_key(str(error)) from None
        except TypeError as error:
            if "authentication" not in str(error):  # so its client says that it has no key
                raise
            raise no_key(str(error)) from None
        except ValueError:
            raise Fault(ProviderFault.MALFORMED, "the answer is not JSON") from None

    def _completion(self, response: Any) -> Completion:
        try:
            answer = AnthropicResponse.model_validate(response)
        except ValidationError as error:
            message = f"the answer is no message: {error.errors()[0]['msg']}"
            raise Fault(ProviderFault.MALFORMED, message, usage=self._lost(response)) from None
        return answer.completion(priced(self._file, answer.usage.counts()))

    def _lost(self, response: Any) -> Usage:
        """Return what an answer cost of which nothing else can be read; nothing where it has no count either."""
        try:
            usage = AnthropicUsage.model_validate(response["usage"]).counts()
        except (ValidationError, TypeError, KeyError):
            return Usage()
        return priced(self._file, usage) if usage.input + usage.output else Usage()
