"""Images that testwright pulled from a registry, which it may remove again; not those that were there before."""

import contextlib
from pathlib import Path

from harness.sandbox.cache import cache_directory
from harness.sandbox.images.engine_images import EngineImages, StoredImage
from harness.sandbox.images.in_use import file_name


async def fetch(images: EngineImages, tag: str) -> StoredImage | None:
    """An image of the engine, or of its registry; None where it is gone again. Raises ImageUnavailable."""
    if stored := await images.find(tag):
        return stored
    await images.pull(tag)
    stored = await images.find(tag)
    if stored:
        note = _note(tag)
        with contextlib.suppress(OSError):  # without a cache that can be written it stays
            note.parent.mkdir(parents=True, exist_ok=True)
            note.write_text(stored.engine_id)
    return stored


def was_fetched(tag: str, engine_id: str) -> bool:
    """Whether an engine's image is what `fetch` has pulled by this name."""
    try:
        return _note(tag).read_text() == engine_id
    except (OSError, ValueError):
        return False


def _note(tag: str) -> Path:
    return cache_directory() / "pulled" / file_name(tag)
