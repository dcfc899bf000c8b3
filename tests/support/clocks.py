"""A clock for tests: its hours take no time."""


class ManualClock:
    """Stands still until somebody waits for it or moves it."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds
