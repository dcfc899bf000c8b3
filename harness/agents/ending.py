"""Why an agent stopped."""

from enum import StrEnum


class Ending(StrEnum):
    """Whatever it was, what lies in the sandbox then is the submission."""

    SUBMITTED = "submitted"
    STEP_LIMIT = "step-limit"
    WALL_LIMIT = "wall-limit"
    COST_LIMIT = "cost-limit"
    CONTEXT_LIMIT = "context-limit"
    FORMAT_ERRORS = "format-errors"
    CRASHED = "crashed"
    """A native agent's command ended with another status than 0."""
    MEMORY_LIMIT = "memory-limit"
    DISK_LIMIT = "disk-limit"
    PIDS_LIMIT = "pids-limit"

    @classmethod
    def by_limit(cls, limit: str) -> "Ending":
        """For `step`, `wall` or `cost` of an allowance, and for `memory`, `disk` or `pids` of a sandbox."""
        return cls(f"{limit}-limit")
