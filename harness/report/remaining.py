"""What a run has still to do, estimated from the trials that have ended."""

from collections.abc import Callable
from statistics import fmean
from time import monotonic


class Remaining:
    """Counts a run's trials and times them. Trials that only turned out to be done already aren't timed.

    `clock` gives seconds.
    """

    def __init__(self, total: int, clock: Callable[[], float] = monotonic) -> None:
        self.total = total
        self.done = 0
        self._clock = clock
        self._began: dict[object, float] = {}
        self._worked: set[object] = set()
        self._took: list[float] = []
        self._most_at_once = 1

    def began(self, trial: object) -> None:
        """A second try goes on with the time of the first."""
        self._began.setdefault(trial, self._clock())
        self._most_at_once = max(self._most_at_once, len(self._began))

    def worked(self, trial: object) -> None:
        """There was something to do for it."""
        self._worked.add(trial)

    def ended(self, trial: object) -> None:
        took = self._clock() - self._began.pop(trial, self._clock())
        self.done += 1
        if trial in self._worked:
            self._took.append(took)

    @property
    def seconds(self) -> float | None:
        """None where nothing tells. Trials at work have their own time still to go, the others the mean of all."""
        left = self.total - self.done
        if not left:
            return 0.0
        if not self._took:
            return None
        mean, now = fmean(self._took), self._clock()
        at_work = [max(0.0, mean - (now - began)) for began in self._began.values()]
        waiting = max(0, left - len(at_work))
        return max((sum(at_work) + waiting * mean) / self._most_at_once, max(at_work, default=0.0))

    def __str__(self) -> str:
        """`3 of 12 done, about 4 min left`."""
        seconds = self.seconds
        about = f", about {_about(seconds)} left" if seconds else ""
        return f"{self.done} of {self.total} done{about}"


def _about(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
