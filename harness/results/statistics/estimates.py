"""A rate over tasks, or a difference between two of them, with what can be said of it on other tasks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from harness.results.statistics.clusters import Clusters, bootstrap_bounds, mean, minimum_detectable, t_bounds
from harness.results.statistics.proportions import Bounds, score_bounds, score_bounds_of_difference

_RATES, _DIFFERENCES = Bounds(0.0, 1.0), Bounds(-1.0, 1.0)


class TaskValue(NamedTuple):
    """A share from 0 to 1 at one task, mostly of its attempts. `repository` is empty where it isn't known."""

    task: str
    repository: str
    value: float


class TaskPair(NamedTuple):
    """The shares of two sides at one task."""

    task: str
    repository: str
    first: float
    second: float


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks, each of which counts once, with its 95% intervals.

    `by_task` and `by_repository` draw whole tasks and whole repositories again, `by_repository_t` has the t
    distribution; the last two are None where there is one repository, or where it isn't known (`repositories` is 0).
    Where all tasks (or repositories) are alike, drawing them again shows nothing: the interval is then the score
    interval for their number.
    """

    value: float
    tasks: int
    repositories: int
    by_task: Bounds
    by_repository: Bounds | None
    by_repository_t: Bounds | None

    @property
    def intervals(self) -> Mapping[str, Bounds | None]:
        """Return what each is called -> the interval."""
        return {
            "by task": self.by_task,
            "by repository": self.by_repository,
            "by repository (t)": self.by_repository_t,
        }


@dataclass(frozen=True)
class Difference(Estimate):
    """A difference: first side minus second.

    `detectable` is the smallest true difference that is found with 80% power, by tasks; `detectable_by_repository`
    likewise. None where nothing varies.
    """

    detectable: float | None
    detectable_by_repository: float | None

    @property
    def largest_detectable(self) -> float | None:
        """Return what both need."""
        known = [value for value in (self.detectable, self.detectable_by_repository) if value is not None]
        return max(known, default=None)

    @property
    def has_too_few_tasks(self) -> bool:
        """Return whether not even a difference of 100 points would be found with 80% power."""
        return (self.largest_detectable or 0.0) > 1


def means_of_tasks(shares: Iterable[tuple[str, str, float]]) -> list[TaskValue]:
    """Return the mean of each task's values.

    Args:
        shares: A task, its repository and a value. Runs may know a task's repository differently, or not at all: the
            first that isn't empty is taken.
    """
    values: defaultdict[str, list[float]] = defaultdict(list)
    repositories: dict[str, str] = {}
    for task, repository, value in shares:
        values[task].append(value)
        repositories[task] = repositories.get(task) or repository
    return [TaskValue(task, repositories[task], mean(found)) for task, found in values.items()]


def rate_over_tasks(values: Sequence[TaskValue]) -> Estimate:
    """Return the mean of tasks' values with its interval. Pure, as all here.

    Raises:
        ZeroDivisionError: There is no value.
    """
    share = mean(item.value for item in values)
    tasks = {item.task: [item.value] for item in values}
    groups = _by_repository(values, [item.value for item in values])
    by_task = bootstrap_bounds(tasks, _RATES) or score_bounds(share, len(tasks))
    several = len(groups) > 1
    score = score_bounds(share, len(groups)) if several else None
    return Estimate(
        value=share,
        tasks=len(tasks),
        repositories=len(groups),
        by_task=by_task,
        by_repository=(bootstrap_bounds(groups, _RATES) or score) if several else None,
        by_repository_t=(t_bounds(groups, _RATES) or score) if several else None,
    )


def difference_over_tasks(pairs: Sequence[TaskPair]) -> Difference:
    """Return the mean difference of pairs of tasks' values with its interval.

    Raises:
        ZeroDivisionError: There is no pair.
    """
    first, second = mean(pair.first for pair in pairs), mean(pair.second for pair in pairs)
    differences = [pair.first - pair.second for pair in pairs]
    tasks = {pair.task: [value] for pair, value in zip(pairs, differences, strict=True)}
    groups = _by_repository(pairs, differences)
    several = len(groups) > 1
    score = score_bounds_of_difference(first, second, len(groups)) if several else None
    return Difference(
        value=first - second,
        tasks=len(tasks),
        repositories=len(groups),
        by_task=bootstrap_bounds(tasks, _DIFFERENCES) or score_bounds_of_difference(first, second, len(tasks)),
        by_repository=(bootstrap_bounds(groups, _DIFFERENCES) or score) if several else None,
        by_repository_t=(t_bounds(groups, _DIFFERENCES) or score) if several else None,
        detectable=minimum_detectable(tasks),
        detectable_by_repository=minimum_detectable(groups) if several else None,
    )


def _by_repository(items: Iterable[TaskValue | TaskPair], values: Iterable[float]) -> Clusters:
    """Return values in clusters by repository; empty where the repository of a task isn't known."""
    groups: defaultdict[str, list[float]] = defaultdict(list)
    for item, value in zip(items, values, strict=True):
        groups[item.repository].append(value)
    return {} if "" in groups else groups
