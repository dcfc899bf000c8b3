"""Headers on their way through: keys and what belongs to one connection stay behind."""

from collections.abc import Mapping

_HOP_BY_HOP = {
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "content-length",
}
_NOT_SENT = _HOP_BY_HOP | {
    "host",
    "authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-goog-user-project",
    "openai-organization",
    "openai-project",
    "cookie",
    "forwarded",
    "via",
    "accept-encoding",
    "content-encoding",
    "expect",
}
"""Of a request: also whose account is asked is not the agent's to say."""
_NOT_TOLD = _HOP_BY_HOP | {
    "set-cookie",
    "content-encoding",
    "openai-organization",
    "openai-project",
    "anthropic-organization-id",
    "location",
}
"""Of an answer: nothing about the account behind the key."""


def sent_on(headers: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """An agent's headers as the provider gets them, with `own`: the key."""
    kept = {name: value for name, value in headers.items() if name.lower() not in _NOT_SENT}
    kept = {name: value for name, value in kept.items() if not name.lower().startswith("x-forwarded-")}
    return {**kept, **own, "Accept-Encoding": "identity"}


def told_back(headers: Mapping[str, str]) -> dict[str, str]:
    """A provider's headers as the agent gets them."""
    return {name: value for name, value in headers.items() if name.lower() not in _NOT_TOLD}


def token_of(headers: Mapping[str, str], query: Mapping[str, str]) -> str:
    """The token, wherever an agent puts its key."""
    scheme, _, bearer = headers.get("Authorization", "").partition(" ")
    given = (bearer if scheme.lower() == "bearer" else "", headers.get("x-api-key"), headers.get("x-goog-api-key"))
    return next((value.strip() for value in (*given, query.get("key")) if value), "")
