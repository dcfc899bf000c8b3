"""Tells an agent's conversations apart, and which of the messages that it sends again are new.

Native agents send the whole history with each request. Several conversations may go on at once: of the agent, of
subagents, of side calls for a title or a summary. An agent may also rewrite a history: take out old output, or put in
reminders that are gone in the next request.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.models.gateway.dialects.protocol import Asked
from harness.models.protocol import Message, MessageRole


@dataclass
class Conversation:
    """A conversation of an agent. `name` is empty for the first of a trial."""

    name: str
    sort: str
    history: list[str] = field(default_factory=list)
    """Digests of the messages as they were sent or answered last."""
    spoken: set[str] = field(default_factory=set)
    """Digests of the assistant's."""
    recorded: Counter[str] = field(default_factory=Counter)


class Conversations:
    """The conversations of one trial."""

    def __init__(self) -> None:
        self._all: list[Conversation] = []
        self._answers: dict[str, Conversation] = {}

    def __len__(self) -> int:
        return len(self._all)

    def asked(self, asked: Asked) -> tuple[Conversation, list[Message]]:
        """Return the conversation that a request belongs to, and those of its messages that are new in it."""
        digests = [_digest(message) for message in asked.messages]
        if known := self._answers.get(asked.continues):
            digests = known.history + digests
            return known, self._new(known, digests, asked.messages)
        found = self._found(digests, _sort(asked))
        return found, self._new(found, digests, asked.messages)

    def answered(self, conversation: Conversation, message: Message, ids: Iterable[str] = ()) -> None:
        """Note an answer: what an agent sends back of it is not new. `ids` are names that it can be continued by."""
        digest = _digest(message)
        conversation.history.append(digest)
        conversation.spoken.add(digest)
        conversation.recorded[digest] += 1
        self._answers.update(dict.fromkeys(filter(None, ids), conversation))

    def _found(self, digests: Sequence[str], sort: str) -> Conversation:
        """Return the conversation with the longest common part, if that distinguishes it from all others."""
        for conversation in sorted(self._all, key=lambda known: -_common(known.history, digests)):
            common = _common(conversation.history, digests)
            if common and (conversation.sort == sort or not conversation.spoken.isdisjoint(digests[:common])):
                return conversation
        made = Conversation("" if not self._all else str(len(self._all) + 1), sort)
        self._all.append(made)
        return made

    def _new(self, conversation: Conversation, digests: list[str], messages: Sequence[Message]) -> list[Message]:
        """Return the messages that are new: the end of a history that has grown.

        Of one that was rewritten it is each message that stands in it more often than it was recorded.
        """
        known, recorded = conversation.history, conversation.recorded
        given = digests[len(digests) - len(messages) :]
        if digests[: len(known)] == known:
            fresh = len(digests) - len(known)
            new = list(zip(given, messages, strict=True))[len(given) - fresh :]
        else:
            seen: Counter[str] = Counter()
            new = []
            for digest, message in zip(given, messages, strict=True):
                seen[digest] += 1
                if seen[digest] > recorded[digest]:
                    new.append((digest, message))
        recorded.update(digest for digest, _ in new)
        conversation.history = digests
        return [message for _, message in new]


def _sort(asked: Asked) -> str:
    """Return the names of a request's tools, which tell a side call from the conversation that it is about.

    System prompts can't: they change from call to call.
    """
    return json.dumps(sorted(asked.tools))


def _common(known: Sequence[str], digests: Sequence[str]) -> int:
    count = 0
    for old, new in zip(known, digests, strict=False):
        if old != new:
            break
        count += 1
    return count


def _digest(message: Message) -> str:
    """Return a digest of what an agent leaves as it is: not of ids, which some rename, nor of space around a text."""
    calls = [[call.name, _arguments(call.arguments)] for call in message.tool_calls]
    role = MessageRole.USER if message.role is MessageRole.SYSTEM else message.role
    return hashlib.sha256(json.dumps([role, message.content.strip(), calls]).encode()).hexdigest()


def _arguments(text: str) -> object:
    try:
        return json.dumps(json.loads(text), sort_keys=True) if text else "{}"
    except (ValueError, RecursionError):
        return text
