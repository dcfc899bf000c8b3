"""A pytest plugin for pytest-xdist: each process takes the next test as it becomes free, in the order of collection.

usage: pytest -n 3 -p tests.support.shared_pool

Tests of `TOGETHER` go to one process, place by place, for they share something costly. (xdist's own `xdist_group`
has no effect with pytest 9.)
"""

from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer

TOGETHER = (
    "tests/browser/test_site_in_browser.py",
    "tests/cluster/",
    "tests/docker/test_arms_are_alike.py",
    "tests/docker/test_repo_bundle.py",
    "tests/unit/test_compare_command.py",
    "tests/unit/test_large_runs_go_on.py",
    "tests/unit/test_local_recipe.py",
    "tests/unit/test_provider_fault_table.py",
    "tests/unit/test_site_pages.py",
    "tests/unit/test_what_failed_is_said.py",
    "tests/wheel/",
)


class SharedPool(LoadScopeScheduling):
    """One test is one unit of work, but for those of a place in `TOGETHER`."""

    def _split_scope(self, nodeid: str) -> str:
        return next((place for place in TOGETHER if nodeid.startswith(place)), nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> SharedPool:
    # Else those with the most tests would come first, whatever they take.
    config.option.loadscopereorder = False
    return SharedPool(config, log)
