"""What a task's network policy may name."""

from enum import StrEnum


class PackageClient(StrEnum):
    """Whose package registries an agent may reach."""

    PIP = "pip"
    NPM = "npm"
    GO = "go"
