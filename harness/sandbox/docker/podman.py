"""What Podman can limit.

Its answers in Docker's form say that it can limit all, also where it drops what is asked for.
"""

import docker
import docker.errors
import requests

MEMORY, PIDS, CPU = "memory", "pids", "cpu"
ALL = frozenset({MEMORY, PIDS, CPU})
_INFO = "/v4.0.0/libpod/info"


def limits_of(api: docker.APIClient) -> frozenset[str]:
    """The control groups that this Podman may set: a user's own service has few, and with cgroup v1 none.

    All where it doesn't tell. Raises requests.RequestException.
    """
    answer = api.get(api.base_url + _INFO, timeout=api.timeout)
    try:
        answer.raise_for_status()
        told = answer.json()["host"]["cgroupControllers"]
    except (requests.HTTPError, ValueError, KeyError, TypeError):
        return ALL
    return ALL.intersection(told or ())
