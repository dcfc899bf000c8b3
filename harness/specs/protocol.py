"""By whose rules a submission is judged."""

from enum import StrEnum


class JudgingProtocol(StrEnum):
    TESTWRIGHT = "testwright"
    PUBLISHED = "published"
    """As the published verifier of the SWE-Atlas layout decides."""
    BOTH = "both"
    """Ours decides; what the published one comes to is written beside it."""

    @property
    def is_ours(self) -> bool:
        return self is not JudgingProtocol.PUBLISHED

    @property
    def is_published(self) -> bool:
        return self is not JudgingProtocol.TESTWRIGHT
