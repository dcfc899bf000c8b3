"""What the model can call."""

import json


def _offered(name, words, *arguments):
    properties = {argument: {"type": "string"} for argument in arguments}
    parameters = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "description": words, "parameters": parameters}}


OFFERED = [
    _offered("save_note", "Keep a note for later.", "name", "text"),
    _offered("read_note", "Read a note that was kept.", "name"),
]


def run(name, arguments, notes):
    """Return a call's result. `notes` are the conversation's, by name, and are changed."""
    needed = {"save_note": ("name", "text"), "read_note": ("name",)}.get(name)
    if needed is None:
        return f"error: there is no tool {name}"
    try:
        told = json.loads(arguments)
    except ValueError:
        told = None
    if not isinstance(told, dict) or not all(isinstance(told.get(argument), str) for argument in needed):
        return f"error: the arguments must be a JSON object with the texts {', '.join(needed)}"
    if name == "save_note":
        notes[told["name"]] = told["text"]
        return "saved"
    return notes.get(told["name"], "error: there is no such note")
