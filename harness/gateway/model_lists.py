"""The models that an agent finds: its trial's one, by whatever name it asks for it."""

from harness.gateway.dialects.protocol import DialectName, Json


def model_list(dialect: DialectName, model: str, asked: str | None) -> Json:
    """All models, or the one that was asked for."""
    name = asked or model
    match dialect:
        case DialectName.MESSAGES:
            one: Json = {"id": name, "type": "model", "display_name": name, "created_at": "2025-01-01T00:00:00Z"}
            many = {"data": [one], "has_more": False, "first_id": name, "last_id": name}
        case DialectName.GOOGLE:
            name = name.removeprefix("models/")
            methods = ["generateContent", "countTokens"]
            one = {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}
            many = {"models": [one]}
        case DialectName.CHAT | DialectName.RESPONSES:
            one = {"id": name, "object": "model", "created": 0, "owned_by": "testwright"}
            many = {"object": "list", "data": [one]}
    return one if asked else many
