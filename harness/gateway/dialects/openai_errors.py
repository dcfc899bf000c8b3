"""OpenAI's errors, the same for both of its dialects."""

from harness.gateway.dialects.protocol import Json
from harness.specs.errors import ProviderFault

_CODES = {
    401: "invalid_api_key",
    404: "not_found",
    429: "rate_limit_exceeded",
}


def openai_error(status: int, message: str, fault: ProviderFault | None = None) -> Json:
    code = "context_length_exceeded" if fault is ProviderFault.CONTEXT else _CODES.get(status)
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
