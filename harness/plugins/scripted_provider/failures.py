"""Error answers, each with the status and the body of its vendor."""

from enum import StrEnum
from typing import Any, NamedTuple

Json = dict[str, Any]


class ErrorKind(StrEnum):
    """The classes of errors, named by their cause: vendors give one and the same cause different statuses."""

    BAD_REQUEST = "bad-request"
    CONTEXT_OVERFLOW = "context-overflow"
    CONTENT_POLICY = "content-policy"
    UNAUTHORIZED = "unauthorized"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not-found"
    TIMEOUT = "timeout"
    TOO_LARGE = "too-large"
    UNPROCESSABLE = "unprocessable"
    RATE_LIMIT = "rate-limit"
    QUOTA = "quota"
    SERVER_ERROR = "server-error"
    BAD_GATEWAY = "bad-gateway"
    UNAVAILABLE = "unavailable"
    OVERLOADED = "overloaded"


class ErrorAnswer(NamedTuple):
    """An error answer: its status and its body."""

    status: int
    body: Json


class RequestRefused(Exception):
    """A request that the vendor wouldn't accept. `param` and `code` are said in OpenAI's formats only."""

    def __init__(
        self,
        message: str,
        *,
        kind: ErrorKind = ErrorKind.BAD_REQUEST,
        param: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind, self.message, self.param, self.code = kind, message, param, code


_INVALID = "invalid_request_error"
_OPENAI: dict[ErrorKind, tuple[int, str, str | None, str]] = {
    ErrorKind.BAD_REQUEST: (400, _INVALID, None, "Invalid request."),
    ErrorKind.CONTEXT_OVERFLOW: (
        400,
        _INVALID,
        "context_length_exceeded",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 210000 tokens. "
        "Please reduce the length of the messages.",
    ),
    ErrorKind.CONTENT_POLICY: (
        400,
        _INVALID,
        "content_policy_violation",
        "Your request was rejected as a result of our safety system.",
    ),
    ErrorKind.UNAUTHORIZED: (401, _INVALID, "invalid_api_key", "Incorrect API key provided."),
    ErrorKind.FORBIDDEN: (403, _INVALID, None, "You do not have access to this resource."),
    ErrorKind.NOT_FOUND: (
        404,
        _INVALID,
        "model_not_found",
        "The model does not exist or you do not have access to it.",
    ),
    ErrorKind.TIMEOUT: (408, "server_error", None, "Request timed out."),
    ErrorKind.TOO_LARGE: (413, _INVALID, None, "The request body is too large."),
    ErrorKind.UNPROCESSABLE: (422, _INVALID, None, "Unprocessable entity."),
    ErrorKind.RATE_LIMIT: (
        429,
        "requests",
        "rate_limit_exceeded",
        "Rate limit reached on requests per min (RPM): Limit 3, Used 3, Requested 1.",
    ),
    ErrorKind.QUOTA: (
        429,
        "insufficient_quota",
        "insufficient_quota",
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    ErrorKind.SERVER_ERROR: (500, "server_error", None, "The server had an error while processing your request."),
    ErrorKind.BAD_GATEWAY: (502, "server_error", None, "Bad gateway."),
    ErrorKind.UNAVAILABLE: (503, "server_error", None, "The service is unavailable."),
    # OpenAI has no 529.
    ErrorKind.OVERLOADED: (503, "server_error", None, "The engine is currently overloaded, please try again later."),
}
_ANTHROPIC: dict[ErrorKind, tuple[int, str, str]] = {
    ErrorKind.BAD_REQUEST: (400, _INVALID, "Invalid request."),
    ErrorKind.CONTEXT_OVERFLOW: (400, _INVALID, "prompt is too long: 210000 tokens > 200000 maximum"),
    ErrorKind.CONTENT_POLICY: (400, _INVALID, "Output blocked by content filtering policy"),
    ErrorKind.UNAUTHORIZED: (401, "authentication_error", "invalid x-api-key"),
    ErrorKind.FORBIDDEN: (403, "permission_error", "Your API key does not have permission to use this resource."),
    ErrorKind.NOT_FOUND: (404, "not_found_error", "model: not found"),
    ErrorKind.TIMEOUT: (408, "timeout_error", "Request timed out."),
    ErrorKind.TOO_LARGE: (413, "request_too_large", "Request exceeds the maximum size"),
    ErrorKind.UNPROCESSABLE: (422, _INVALID, "Unprocessable entity."),
    ErrorKind.RATE_LIMIT: (
        429,
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50 requests per minute.",
    ),
    # Anthropic says so with a 400, not a 429.
    ErrorKind.QUOTA: (400, _INVALID, "Your credit balance is too low to access the Anthropic API."),
    ErrorKind.SERVER_ERROR: (500, "api_error", "Internal server error"),
    ErrorKind.BAD_GATEWAY: (502, "api_error", "Bad gateway"),
    ErrorKind.UNAVAILABLE: (503, "api_error", "Service unavailable"),
    ErrorKind.OVERLOADED: (529, "overloaded_error", "Overloaded"),
}
_GOOGLE: dict[ErrorKind, tuple[int, str, str]] = {
    ErrorKind.BAD_REQUEST: (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    ErrorKind.CONTEXT_OVERFLOW: (
        400,
        "INVALID_ARGUMENT",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ),
    ErrorKind.CONTENT_POLICY: (400, "INVALID_ARGUMENT", "The request was blocked by the content filtering policy."),
    ErrorKind.UNAUTHORIZED: (401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    ErrorKind.FORBIDDEN: (403, "PERMISSION_DENIED", "The caller does not have permission."),
    ErrorKind.NOT_FOUND: (404, "NOT_FOUND", "models/unknown is not found for API version v1beta."),
    ErrorKind.TIMEOUT: (504, "DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
    ErrorKind.TOO_LARGE: (413, "INVALID_ARGUMENT", "Request payload size exceeds the limit."),
    ErrorKind.UNPROCESSABLE: (400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    ErrorKind.RATE_LIMIT: (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    ErrorKind.QUOTA: (429, "RESOURCE_EXHAUSTED", "insufficient_quota: You exceeded your current quota."),
    ErrorKind.SERVER_ERROR: (500, "INTERNAL", "An internal error has occurred."),
    ErrorKind.BAD_GATEWAY: (502, "UNAVAILABLE", "Bad gateway."),
    ErrorKind.UNAVAILABLE: (503, "UNAVAILABLE", "The service is currently unavailable."),
    ErrorKind.OVERLOADED: (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
}


def openai_error(
    kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
) -> ErrorAnswer:
    """Return an error in OpenAI's words."""
    status, type_, usual_code, usual = _OPENAI[kind]
    error = {"message": usual if message is None else message, "type": type_}
    return ErrorAnswer(status, {"error": {**error, "param": param, "code": code or usual_code}})


def anthropic_error(
    kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
) -> ErrorAnswer:
    """Return an error in Anthropic's form, where `param` and `code` have no place."""
    del param, code
    status, type_, usual = _ANTHROPIC[kind]
    error = {"type": type_, "message": usual if message is None else message}
    return ErrorAnswer(status, {"type": "error", "error": error, "request_id": "req_scripted"})


def google_error(
    kind: ErrorKind, message: str | None = None, param: str | None = None, code: str | None = None
) -> ErrorAnswer:
    """Return an error in Google's form, where `param` and `code` have no place."""
    del param, code
    status, name, usual = _GOOGLE[kind]
    said = usual if message is None else message
    return ErrorAnswer(status, {"error": {"code": status, "message": said, "status": name}})
