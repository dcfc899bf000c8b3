"""Why an agent stopped."""

from enum import StrEnum


class Ending(StrEnum):
    """Whatever it was, what lies in the sandbox is the submission."""

    SUBMITTED = "submitted"
    STEP_LIMIT = "step-limit"
    WALL_LIMIT = "wall-limit"
    COST_LIMIT = "cost-limit"
    CONTEXT_LIMIT = "context-limit"
    FORMAT_ERRORS = "format-errors"
    MEMORY_LIMIT = "memory-limit"
    DISK_LIMIT = "disk-limit"
    PIDS_LIMIT = "pids-limit"

    @classmethod
    def by_sandbox(cls, limit: str) -> "Ending":
        """The ending for a sandbox's own limit: `memory`, `disk` or `pids`."""
        return cls(f"{limit}-limit")
