"""Writes docs/catalogue.md, the catalogue of the tasks that come with testwright.

usage: catalogue.py [--check]     --check: change nothing, status 1 where the page differs
"""

import sys
from pathlib import Path

from harness.authoring.catalogue import catalogue
from harness.specs.catalog import Catalog

CHECKOUT = Path(__file__).parents[1]
PAGE, RECORDS = CHECKOUT / "docs" / "catalogue.md", CHECKOUT / "docs" / "check-records"
ABOUT = (
    "Written by `make check-tasks`, which checks every task in full and leaves a record of each in"
    " `docs/check-records/`.\n"
)
BESIDE = ("build:*", "e2e:*", "technique:*")
"""Tasks that lie in `briefs/` and `browser/`."""


def page() -> str:
    return catalogue(Catalog(CHECKOUT), RECORDS, ABOUT, BESIDE)


def main() -> int:
    text = page()
    if "--check" in sys.argv[1:]:
        if PAGE.is_file() and PAGE.read_text() == text:
            return 0
        print(
            "docs/catalogue.md differs from the tasks and their check records; run make check-tasks", file=sys.stderr
        )
        return 1
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
