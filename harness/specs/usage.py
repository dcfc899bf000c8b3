"""Tokens and money."""

from typing import Self

from pydantic import BaseModel, ConfigDict


def _add(left: float | None, right: float | None) -> float | None:
    return None if left is None or right is None else left + right


class Usage(BaseModel):
    """Token counts and cost in USD of one or several model calls.

    `input` counts all prompt tokens, cached ones included; `cache_read` and `cache_write` are parts of it,
    as `reasoning` is of `output`. `cost_usd` is None when it is unknown, and so is any sum with it.
    `priced_by` says where the known costs come from: the provider, a model file, or a version of litellm's table.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    calls: int = 0
    input: int = 0
    output: int = 0
    reasoning: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cost_usd: float | None = 0.0
    priced_by: tuple[str, ...] = ()

    def __add__(self, other: Self) -> "Usage":
        return Usage(
            calls=self.calls + other.calls,
            input=self.input + other.input,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cost_usd=_add(self.cost_usd, other.cost_usd),
            priced_by=tuple(sorted({*self.priced_by, *other.priced_by})),
        )

    def __sub__(self, other: Self) -> "Usage":
        """Return what has been added to `other` to come to this."""
        return Usage(
            calls=self.calls - other.calls,
            input=self.input - other.input,
            output=self.output - other.output,
            reasoning=self.reasoning - other.reasoning,
            cache_read=self.cache_read - other.cache_read,
            cache_write=self.cache_write - other.cache_write,
            cost_usd=_add(self.cost_usd, None if other.cost_usd is None else -other.cost_usd),
            priced_by=self.priced_by,
        )


NO_USAGE = Usage()
