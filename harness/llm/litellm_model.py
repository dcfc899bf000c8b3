"""Any provider, through litellm."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from harness.llm.openai_format import ChatResponse, message_json, tool_json
from harness.llm.protocol import Completion, Message, Tool
from harness.specs.errors import ProviderError
from harness.specs.usage import Usage

_MESSAGE_CHARS = 300


@dataclass(frozen=True)
class Retries:
    """Attempts in all, and the bounds of the growing random wait between them, in seconds."""

    attempts: int = 6
    first_wait: float = 2
    longest_wait: float = 60


@dataclass(frozen=True)
class ModelSettings:
    """None leaves a choice to the provider. Keys are not here: litellm reads them from the environment."""

    api_base: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_seconds: float = 600


class MalformedResponse(Exception):
    """The provider's answer isn't a chat completion; asking again may help."""


class LiteLLMModel:
    """`name` is PROVIDER/MODEL. Importing litellm takes seconds, so that waits for the first call."""

    def __init__(self, name: str, settings: ModelSettings = ModelSettings(), retries: Retries = Retries()) -> None:
        self.name = name
        self._settings = settings
        self._retries = retries

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        """Raises ProviderError: at once, or after the retries where the error's class allows them."""
        litellm = await asyncio.to_thread(_load)
        retrying = AsyncRetrying(
            retry=retry_if_exception(lambda error: _is_transient(litellm, error)),
            stop=stop_after_attempt(self._retries.attempts),
            wait=wait_random_exponential(multiplier=self._retries.first_wait, max=self._retries.longest_wait),
            reraise=True,
        )
        try:
            return await retrying(self._ask, litellm, messages, tools)
        except (MalformedResponse, *litellm.exceptions.LITELLM_EXCEPTION_TYPES) as error:
            raise ProviderError(f"{self.name}: {_explain(litellm, error)}") from None

    async def _ask(self, litellm: Any, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:
        response = await litellm.acompletion(
            model=self.name,
            messages=[message_json(message) for message in messages],
            tools=[tool_json(tool) for tool in tools] or None,
            api_base=self._settings.api_base,
            temperature=self._settings.temperature,
            max_tokens=self._settings.max_tokens,
            timeout=self._settings.timeout_seconds,
            # Ours are the only retries: theirs would multiply, and repeat what no repetition cures.
            num_retries=0,
            max_retries=0,
            # Else litellm 1.106 imports mcp as soon as there are tools, a package that it doesn't ask for.
            _skip_mcp_handler=True,
        )
        try:
            answer = ChatResponse.model_validate(response.model_dump())
        except ValidationError as error:
            raise MalformedResponse(f"the answer is no chat completion: {error.errors()[0]['msg']}") from None
        usage = answer.counts()
        return answer.completion(usage.model_copy(update={"cost_usd": self._cost(litellm, response, answer, usage)}))

    def _cost(self, litellm: Any, response: Any, answer: ChatResponse, usage: Usage) -> float | None:
        """USD: what the provider says, else by the price table, else None."""
        if answer.usage.cost is not None:
            return answer.usage.cost
        try:
            cost = litellm.completion_cost(completion_response=response, model=self.name)
        except Exception:  # litellm raises a bare Exception for a model that its table doesn't have
            return None
        # The table has zeros for models whose price it doesn't know.
        return float(cost) if cost > 0 and usage.input + usage.output > 0 else None


def _load() -> Any:
    # Without it the import fetches a price table from the network and waits when there is none.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _is_transient(litellm: Any, error: BaseException) -> bool:
    """Whether to ask again: busy, slow, down or unreachable. Not for keys, bad requests, context or policy."""
    kinds = litellm.exceptions
    if isinstance(error, kinds.APIError):
        return bool((error.status_code or 0) >= 500)
    passing = (
        kinds.RateLimitError,
        kinds.Timeout,
        kinds.APIConnectionError,
        kinds.InternalServerError,
        kinds.ServiceUnavailableError,
        kinds.BadGatewayError,
        MalformedResponse,
    )
    return isinstance(error, passing)


def _explain(litellm: Any, error: Exception) -> str:
    """One line without control characters and without any key, which a provider's message may repeat."""
    if isinstance(error, litellm.exceptions.AuthenticationError | litellm.exceptions.PermissionDeniedError):
        return f"{type(error).__name__}: the provider refuses the key; check the environment variable that holds it"
    text = str(error).removeprefix("litellm.")
    for name, value in os.environ.items():
        if len(value) >= 8 and any(word in name.upper() for word in ("KEY", "TOKEN", "SECRET")):
            text = text.replace(value, f"${name}")
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:_MESSAGE_CHARS]
