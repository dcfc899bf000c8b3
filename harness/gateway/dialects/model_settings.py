"""What a model's file asks for, put into a request of a native agent."""

from harness.gateway.dialects.protocol import Json
from harness.specs.model_file import ModelFile


def set_sampling(body: Json, file: ModelFile, max_tokens_key: str) -> None:
    """Temperature, and the most tokens of an answer: the fewer of what agent and file ask for."""
    if file.temperature is not None:
        body["temperature"] = file.temperature
    if file.max_tokens:
        asked = body.get(max_tokens_key)
        body[max_tokens_key] = min(asked, file.max_tokens) if isinstance(asked, int) else file.max_tokens


def set_effort(body: Json, file: ModelFile, key: str) -> None:
    """The effort as a part of the request's object `key`; its other parts stay."""
    if file.effort:
        settings = body.get(key)
        body[key] = {**(settings if isinstance(settings, dict) else {}), "effort": file.effort.value}
