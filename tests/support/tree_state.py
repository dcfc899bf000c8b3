"""What lies below a directory, to see that nothing was written there."""

from pathlib import Path


def tree_state(directory: Path) -> dict[str, bytes | None]:
    """Path -> content, None of a directory."""
    found = directory.rglob("*")
    return {
        path.relative_to(directory).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(found)
    }
