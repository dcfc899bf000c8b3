"""Whether a Docker engine is there for the tests that need one."""

import os
from functools import cache

import docker
import pytest
import requests


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("docker") and (complaint := _engine_complaint()):
        if os.environ.get("TESTWRIGHT_REQUIRE_DOCKER") == "1":
            pytest.fail(complaint, pytrace=False)
        pytest.skip(complaint)


@cache
def _engine_complaint() -> str:
    """Empty where an engine answers."""
    try:
        client = docker.from_env(timeout=10)
        client.ping()
        client.close()
    except (docker.errors.DockerException, requests.RequestException) as error:
        return f"NO DOCKER ENGINE ANSWERS, so this was NOT tested: {str(error).splitlines()[0]}"
    return ""
