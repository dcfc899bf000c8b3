"""Makes texts to and from a model valid for files and providers."""

import json


def whole_text(value: str | None) -> str:
    """Half of a surrogate pair, which JSON can hold, fits into no file: it becomes a question mark."""
    return (value or "").encode(errors="replace").decode()


def sendable_arguments(arguments: str) -> str:
    """A tool call's arguments as a JSON object, since some providers refuse a conversation with anything else."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"malformed": arguments})
