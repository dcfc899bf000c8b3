"""What a model is called in tables."""

from collections.abc import Iterable
from pathlib import PurePath


def called(model: str) -> str:
    """A model's name: that of its provider, and of what is named by a file the file's name without its path.

    `replay:runs/a/trajectory.jsonl` is `replay:trajectory`, `settings/small.yaml` is `small`.
    """
    kind, separator, place = model.partition(":")
    if separator and kind in ("replay", "scripted"):
        return f"{kind}:{PurePath(place).stem or place}"
    is_file = model.endswith((".yaml", ".yml"))
    return PurePath(model).stem if is_file else model


def called_apart(models: Iterable[str]) -> dict[str, str]:
    """Model -> what it is called among these: the whole where two would be called alike."""
    names = {model: called(model) for model in dict.fromkeys(models)}
    counts = list(names.values())
    return {model: model if counts.count(name) > 1 else name for model, name in names.items()}
