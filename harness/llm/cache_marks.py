"""Which parts of a conversation a provider is asked to cache."""

from collections.abc import Sequence

from harness.llm.protocol import Message, Role

_MARKS = 4
"""As many as Anthropic takes in one request."""


def with_cache_marks(messages: Sequence[Message]) -> list[Message]:
    """The conversation with marks at its end and at its end one step ago, where the last request left its cache."""
    answers = [index for index, message in enumerate(messages) if message.role is Role.ASSISTANT]
    ends = {len(messages) - 1, *(index - 1 for index in answers[-1:])}
    return [
        message.model_copy(update={"cache": True}) if index in ends else message
        for index, message in enumerate(messages)
    ]


def cache_marks(messages: Sequence[Message]) -> frozenset[int]:
    """Indexes of the messages to mark: where more ask for it than providers take, the first and the last ones."""
    asked = [index for index, message in enumerate(messages) if message.cache]
    return frozenset(asked if len(asked) <= _MARKS else [asked[0], *asked[1 - _MARKS :]])
