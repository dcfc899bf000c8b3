"""Any provider, through litellm."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ValidationError

from harness.models.faults import Fault, complete_with_retries, no_key, refusal
from harness.models.openai_format import ChatResponse, ChatUsage, message_json, tool_json
from harness.models.price_table import knows_tools, litellm_module, priced
from harness.models.protocol import Completion, FaultObserver, Message, Tool, cache_marks, ignore_faults
from harness.models.rate_limits import Limiter, about_tokens
from harness.specs.errors import ProviderFault
from harness.specs.model_file import ModelFile
from harness.specs.usage import NO_USAGE, Usage

_MARKED = re.compile(r"claude|anthropic")
"""Models whose prompts are cached only where a marker says so; the others cache by themselves, or never."""
_PREFIXES = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout)(?:: | - ))+")
"""litellm says which exceptions an error has been, one after the other, before it says what happened."""
_KEYLESS = re.compile(
    r"missing credentials|missing \w* ?api key|api_?key\b.{0,40}\bnot set\b|unable to locate credentials",
    re.IGNORECASE,
)
"""Messages of the clients behind litellm where there is no key; litellm makes server or connection errors of them."""


class LiteLLMModel:
    """Importing litellm takes seconds, so that waits for the first call."""

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
        self._tools = file.tools

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """See `Model`. It raises ProviderError at once, or after the retries where the fault's class allows them.

        A model that turns out to have no tools is asked without them from then on: its answers are text.
        """
        litellm = await litellm_module()
        if self._tools is None:
            self._tools = knows_tools(self._file.model) is not False

        async def ask() -> Completion:
            try:
                return await self._ask(litellm, messages, tools if self._tools else ())
            except Fault as fault:
                if fault.kind is not ProviderFault.TOOLS or not self._may_do_without(messages, tools):
                    raise
                self._observe(fault.request(retry_in=0))
            self._tools = False
            return await self._ask(litellm, messages, ())

        return await complete_with_retries(self._file, self._limiter, about_tokens(messages), ask, self._observe)

    def _may_do_without(self, messages: Sequence[Message], tools: Sequence[Tool]) -> bool:
        """Return whether the model can go on without tools: it has called none, and the file leaves it free."""
        return bool(tools) and not self._file.tools and not any(message.tool_calls for message in messages)

    async def _ask(self, litellm: Any, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        marks = cache_marks(messages) if _MARKED.search(self._file.model) else frozenset()
        heard: list[Any] = []
        try:
            response = await litellm.acompletion(
                model=self._file.model,
                messages=[message_json(message, index in marks) for index, message in enumerate(messages)],
                tools=[tool_json(tool) for tool in tools] or None,
                api_base=self._file.api_base,
                api_key=self._key,
                temperature=self._file.temperature,
                reasoning_effort=self._file.effort and self._file.effort.value,
                max_tokens=self._file.max_tokens,
                timeout=self._file.request_seconds,
                # Only faults.py retries: litellm's own retries would multiply, and repeat permanent faults.
                num_retries=0,
                max_retries=0,
                # Else litellm 1.106 imports mcp as soon as there are tools, a package that it doesn't ask for.
                _skip_mcp_handler=True,
                # What litellm itself can't read it throws away, with the count of what was paid for it.
                logger_fn=lambda call: heard.append(call.get("original_response")),
            )
        except tuple(litellm.exceptions.LITELLM_EXCEPTION_TYPES) as error:
            fault = fault_of(litellm, error)
            if fault.kind is ProviderFault.MALFORMED and heard:
                fault.usage = self._lost(heard[-1])
            raise fault from None
        return self._completion(response.model_dump(warnings=False))

    def _completion(self, response: dict[str, Any]) -> Completion:
        try:
            answer = ChatResponse.model_validate(response)
        except ValidationError as error:
            message = f"the answer is no chat completion: {error.errors()[0]['msg']}"
            lost = self._lost(json.dumps(response, default=str))
            raise Fault(ProviderFault.MALFORMED, message, usage=lost) from None
        return answer.completion(priced(self._file, answer.usage.counts(), answer.usage.cost))

    def _lost(self, answer: Any) -> Usage:
        """Return what an answer cost of which nothing else can be read; nothing where it has no count either."""
        try:
            counted = ChatUsage.model_validate(json.loads(answer)["usage"])
        except (ValueError, TypeError, KeyError):  # a ValidationError is a ValueError
            return NO_USAGE
        usage = counted.counts()
        return priced(self._file, usage, counted.cost) if usage.input + usage.output else NO_USAGE


def fault_of(litellm: Any, error: Any) -> Fault:
    """Return the fault that litellm's exception stands for: by its class where the status says less, else by both."""
    kinds = litellm.exceptions
    words, _, _ = _PREFIXES.sub("", str(error)).partition("Traceback (most recent call last)")
    message = f"{type(error).__name__}: {words}"
    causes = list(_causes(error))
    if isinstance(error, kinds.Timeout):
        return Fault(ProviderFault.TIMEOUT, message)
    if not getattr(error, "litellm_response_headers", None) and _KEYLESS.search(message):
        return no_key(message)
    if any(isinstance(cause, ImportError) for cause in causes):
        return Fault(ProviderFault.BAD_REQUEST, message)  # a provider whose package isn't installed
    broken = (kinds.httpx.NetworkError, kinds.httpx.ProtocolError)
    unreachable = (kinds.APIConnectionError, kinds.openai.APIConnectionError, *broken)
    if any(isinstance(cause, unreachable) for cause in causes):
        return Fault(ProviderFault.CONNECTION, message)
    if isinstance(error, kinds.InternalServerError) and not getattr(error, "litellm_response_headers", None):
        return Fault(ProviderFault.MALFORMED, message)  # it was a success that litellm couldn't read
    if isinstance(error, kinds.ContextWindowExceededError):
        return Fault(ProviderFault.CONTEXT, message)
    if isinstance(error, kinds.ContentPolicyViolationError):
        return Fault(ProviderFault.POLICY, message)
    headers = getattr(error, "litellm_response_headers", None) or {}
    return refusal(getattr(error, "status_code", None) or 500, message, getattr(error, "body", None), headers)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from: litellm makes a server error of a connection that broke."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
