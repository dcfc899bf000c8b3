"""Which models there are, as each vendor lists them."""

from collections.abc import Sequence

from harness.llm.scripted_provider.failures import Json
from harness.llm.scripted_provider.openai_chat import CREATED

_CREATED_AT = "2025-01-01T00:00:00Z"


def openai_models(names: Sequence[str]) -> Json:
    data = [{"id": name, "object": "model", "created": CREATED, "owned_by": "scripted"} for name in names]
    return {"object": "list", "data": data}


def anthropic_models(names: Sequence[str]) -> Json:
    data = [{"id": name, "type": "model", "display_name": name, "created_at": _CREATED_AT} for name in names]
    return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}
