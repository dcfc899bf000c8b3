"""The run scripts that `repo new` writes are those of the shipped repositories: a change of one is made in both."""

from difflib import ndiff
from importlib.resources import files

import pytest

from harness.specs.catalog import default_directory

TEMPLATES = files("harness.authoring.repo_new") / "templates"
DIFFERENT = {
    ("python/run_tests.sh", "aiosmtpd/run_tests.sh"): 2,
    ("go/run_tests.sh", "restic/run_tests.sh"): 4,
    ("c/run_tests.sh", "jansson/run_tests.sh"): 70,
    ("typescript/run_tests.sh", "zod/run_tests.sh"): 2,
    ("typescript/run.mjs", "zod/run.mjs"): 12,
    ("typescript/runner.mjs", "zod/runner.mjs"): 0,
    ("typescript/transformed.mjs", "zod/transformed.mjs"): 10,
}
"""Template, file below repos/ -> lines that only one of the two has: what the template leaves open."""


@pytest.mark.parametrize(("template", "shipped"), DIFFERENT)
def test_a_template_differs_from_the_shipped_script_in_what_it_leaves_open_alone(template: str, shipped: str) -> None:
    ours = (TEMPLATES / template).read_text().splitlines()
    theirs = (default_directory() / "repos" / shipped).read_text().splitlines()
    found = [line for line in ndiff(ours, theirs) if line[0] in "-+"]
    assert len(found) == DIFFERENT[template, shipped], "\n".join(found)
