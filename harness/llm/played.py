"""A scenario of the scripted provider, played without HTTP: a model that answers by rules."""

from collections.abc import Sequence

from harness.llm.protocol import Completion, Message, Role, StopReason, Tool
from harness.llm.scripted_provider.scenario import Scenario, Stop
from harness.llm.scripted_provider.script import Script, ScriptEnded
from harness.specs.errors import ProviderError, ProviderFault
from harness.specs.usage import Usage


class PlayedModel:
    """Costs nothing. Only texts, stops and errors of a scenario can be played this way.

    Raises ProviderError for a reply that is an error, and where no rule has one left.
    """

    def __init__(self, scenario: Scenario, name: str) -> None:
        self.name = name
        self._script = Script(scenario, name)

    async def complete(self, messages: Sequence[Message], tools: Sequence[Tool]) -> Completion:  # noqa: ARG002
        try:
            reply = self._script.reply_to("\n".join(message.content for message in messages))
        except ScriptEnded as ended:
            raise ProviderError(str(ended), ProviderFault.ENDED) from None
        if reply.error:
            raise ProviderError(f"{self.name}: {reply.error.kind}", ProviderFault.ENDED)
        said = Message(role=Role.ASSISTANT, content=reply.text)
        return Completion(message=said, usage=Usage(calls=1), stop=_stop(reply.stop))


def _stop(stop: Stop | None) -> StopReason:
    if stop is None:
        return StopReason.END
    return StopReason.LENGTH if stop is Stop.LENGTH else StopReason.REFUSAL
