"""Models pointed at the scripted provider."""

from collections.abc import Sequence
from typing import Any

from harness.agents.actions import BASH
from harness.models.anthropic_model import AnthropicModel
from harness.models.litellm_model import LiteLLMModel
from harness.models.protocol import Completion, FaultObserver, Message, MessageRole, Model, Tool, ignore_faults
from harness.models.rate_limits import SYSTEM_CLOCK, Clock, RateLimiter
from harness.plugins.scripted_provider.server import Provider
from harness.specs.model_file import ModelFile, Retries

KEY = "sk-honeytoken-0123456789"
OPENAI, ANTHROPIC = "openai/unheard-of", "anthropic/unheard-of"
CONVERSATION = (Message(role=MessageRole.SYSTEM, content="be brief"), Message(role=MessageRole.USER, content="hello"))


def model_at(
    provider: Provider,
    name: str = OPENAI,
    attempts: int = 3,
    observe: FaultObserver = ignore_faults,
    clock: Clock = SYSTEM_CLOCK,
    **wishes: Any,
) -> Model:
    """A model that repeats a request at once; `wishes` are keys of its model file."""
    own_client = name.startswith("anthropic/")
    base = provider.url if own_client else f"{provider.url}/v1"
    retries = Retries(attempts=attempts, first_wait=0, longest_wait=0)
    file = ModelFile.model_validate({"model": name, "api_base": base, "retries": retries, **wishes})
    made = AnthropicModel if own_client else LiteLLMModel
    return made(name, file, KEY, RateLimiter(file.limits, clock=clock), observe)


async def ask(
    provider: Provider,
    name: str = OPENAI,
    messages: Sequence[Message] = CONVERSATION,
    tools: Sequence[Tool] = (BASH,),
    **wishes: Any,
) -> Completion:
    return await model_at(provider, name, **wishes).complete(messages, tools)
