"""How the image of an application beside tests is made of a release that others publish."""

import pytest

from harness.plugins.browser.application import application_repo, data_directory

SHARED = (data_directory() / "Dockerfile").read_text()


@pytest.mark.parametrize("name", ["datasette", "deskapp"])
def test_applications_have_the_dockerfile_of_all(name) -> None:
    assert (application_repo(name).directory / "Dockerfile").read_text() == SHARED


def test_a_release_of_source_alone_is_unpacked_without_the_folder_around_it() -> None:
    text = (application_repo("roundup").directory / "Dockerfile").read_text()
    lines = [line for line in text.splitlines() if line not in SHARED.splitlines()]
    assert [line.split()[:2] for line in lines] == [["--no-deps", "--no-build-isolation"], ["tar", "--extract"]]
    assert "zipfile" not in text
