"""What engines tell of themselves and their volumes, in the forms of different versions."""

import pytest

from harness.sandbox.docker.client import volume_sizes
from harness.sandbox.docker.podman import CPU, MEMORY, PIDS, Limiting

VOLUME = {"Name": "kept", "UsageData": {"RefCount": 1, "Size": 4096}}


@pytest.mark.parametrize(
    ("usage", "sizes"),
    [
        ({"Volumes": [VOLUME], "Images": []}, {"kept": 4096}),
        ({"VolumeUsage": {"ActiveCount": 1, "Items": [VOLUME]}}, {"kept": 4096}),
        ({"Volumes": None}, {}),
        ({"VolumeUsage": {"TotalSize": 0}}, {}),
        ({}, {}),
        ({"Volumes": [{"Name": "unknown", "UsageData": {"Size": -1}}, {"Name": "none"}]}, {"unknown": 0, "none": 0}),
    ],
    ids=["up to API 1.51", "from 1.52 on", "null", "no items", "nothing", "sizes that aren't known"],
)
def test_sizes_are_read_of_either_form(usage: dict[str, object], sizes: dict[str, int]) -> None:
    assert dict(volume_sizes(usage)) == sizes


def test_a_kernel_may_lack_limits_and_an_engine_that_says_nothing_has_all() -> None:
    assert Limiting.of_docker({}).groups == {MEMORY, PIDS, CPU}
    assert Limiting.of_docker({"CpuCfsQuota": False, "MemoryLimit": True}).groups == {MEMORY, PIDS}
    assert Limiting.of_docker({"MemoryLimit": False, "PidsLimit": False}).groups == {CPU}
