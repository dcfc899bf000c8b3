"""docs/planted-names/ is of the files in tests/planted, and docs/names.md says what it holds."""

from itertools import chain

import pytest

from tests.support.names_page import PAGE, Measured, kept, section
from tests.support.planted_names import LANGUAGES, planted

LEAST_RECALL = {"python": 0.9, "go": 0.8, "c": 0.9, "typescript": 0.9}
"""In Go a sixth of the files has names in tags, templates or other strings, of which no compiler says anything."""


@pytest.mark.parametrize("measured", kept(), ids=lambda measured: measured.language)
def test_what_is_kept_is_of_the_files_that_there_are(measured: Measured) -> None:
    files = planted(measured.language)
    assert [each.name for each in measured.files] == [file.path.name for file in files]
    assert sum(not file.is_honest for file in files) >= 60
    assert [file.path.name for file, is_found in measured.found() if file.is_honest and is_found] == []
    assert measured.recall >= LEAST_RECALL[measured.language]


def test_nine_in_ten_inventions_are_found_in_all() -> None:
    assert [measured.language for measured in kept()] == list(LANGUAGES)
    every = chain.from_iterable(measured.found() for measured in kept())
    found = [is_found for file, is_found in every if not file.is_honest]
    assert sum(found) / len(found) >= 0.9


def test_the_page_on_names_has_these_figures() -> None:
    assert PAGE.read_text().endswith(section(kept()))
