"""A pytest plugin for pytest-xdist: each process takes the next test as it becomes free, in the order of collection.

usage: pytest -n 3 -p tests.support.shared_pool

Tests of `TOGETHER` go to one process, place by place, for they share something costly: a fixture, or imports. So do
those of one file of `tests/unit`: what they import, read and compute once is theirs alone, and spread over three
processes it is done three times. (xdist's own `xdist_group` has no effect with pytest 9.)

Every other process begins with the unit tests, the rest with what starts containers; each goes on with what is left.
So fewer processes import what unit tests need, and cores compute while containers start.

Tests of the groups in TESTWRIGHT_IMAGE_GROUPS wait until the file is there that TESTWRIGHT_IMAGES_MADE names. Before
that a process gets one of them only where nothing else is left.
"""

import os
import re
import threading
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from xdist.scheduler import LoadScopeScheduling

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

TOGETHER = (
    "tests/browser/test_site_in_browser.py",
    "tests/cluster/",
    # One for each language: variants are compiled once in a process.
    "tests/corpora/test_verdicts.py::test_a_verdict_on_a_light_task[c/",
    "tests/corpora/test_verdicts.py::test_a_verdict_on_a_light_task[go/",
    "tests/corpora/test_verdicts.py::test_a_verdict_on_a_light_task[python/",
    "tests/corpora/test_verdicts.py::test_a_verdict_on_a_light_task[typescript/",
    "tests/docker/test_arms_are_alike.py",
    "tests/docker/test_c_rewriting.py",
    "tests/docker/test_published_campaigns.py",
    "tests/docker/test_repo_bundle.py",
    "tests/unit/test_statistics_",
    "tests/wheel/",
)

CLIENTS = (
    "tests/docker/test_run_money.py",
    "tests/unit/test_credentials.py",
    "tests/unit/test_gateway_",
    "tests/unit/test_litellm_adapters.py",
    "tests/unit/test_llm_",
    "tests/unit/test_model_files.py",
    "tests/unit/test_provider_",
    "tests/unit/test_rate_limits.py",
    "tests/unit/test_scripted_parameters.py",
)
"""Tests that import litellm and the vendors' clients, 6 s of CPU: all of them go to one process."""

ONE_SANDBOX = ("tests/contract/test_sandbox_commands.py", "tests/contract/test_sandbox_files.py")
"""Files whose tests share one sandbox of each kind, which is each test's first parameter."""

IMAGES_BY = time.monotonic() + 1800
"""When nothing waits for images any longer: whoever makes them may have been killed."""


class SharedPool(LoadScopeScheduling):
    """One test is one unit of work, but for what shares a process."""

    def mark_test_complete(self, node: "WorkerController", item_index: int, duration: float = 0) -> None:
        """Forget units that are done: xdist would count the tests of all of them again after each test."""
        work = self.assigned_work[node]
        scope = self._split_scope(self.registered_collections[node][item_index])
        if sum(not done for done in work[scope].values()) == 1:
            del work[scope]
            self._reschedule(node)
        else:
            super().mark_test_complete(node, item_index, duration)

    def _assign_work_unit(self, node: "WorkerController") -> None:
        """Assign the next unit of the node's kind; where none is left, the next of all."""
        computes = self.nodes.index(node) % 2 == 0
        waiting = _waiting_groups()
        ready = (scope for scope in self.workqueue if not scope.startswith(waiting))
        if scope := next((scope for scope in ready if _is_computed(scope) == computes), None):
            self.workqueue.move_to_end(scope, last=False)
        super()._assign_work_unit(node)

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(CLIENTS):
            return "clients of models"
        if nodeid.startswith(ONE_SANDBOX):
            return re.sub(r"::[^[]*\[(\w+).*", r"[\1]", nodeid, flags=re.DOTALL)
        alone = nodeid.partition("::")[0] if nodeid.startswith("tests/unit/") else nodeid
        return next((place for place in TOGETHER if nodeid.startswith(place)), alone)


def _is_computed(scope: str) -> bool:
    return scope.startswith(("tests/unit/", "clients"))


def _waiting_groups() -> tuple[str, ...]:
    """Return what the names of tests begin with that need images which are still being made."""
    made = os.environ.get("TESTWRIGHT_IMAGES_MADE", "")
    if made == "" or Path(made).exists():
        return ()
    return tuple(f"tests/{group}/" for group in os.environ.get("TESTWRIGHT_IMAGE_GROUPS", "").split())


def pytest_xdist_make_scheduler(config: pytest.Config, log: "Producer") -> SharedPool:
    # Else those with the most tests would come first, whatever they take.
    config.option.loadscopereorder = False
    return SharedPool(config, log)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Wait for the images that are being made, outside of the test's own time."""
    while item.nodeid.startswith(_waiting_groups()) and time.monotonic() < IMAGES_BY:
        threading.Event().wait(0.2)
    return (yield)
