"""What engines tell of their volumes, in the forms of different versions."""

import pytest

from harness.sandbox.docker.client import volume_sizes

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
