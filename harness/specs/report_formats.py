"""The names of report formats: those of this package, and those that other packages register."""

from typing import Annotated

from pydantic import AfterValidator

from harness.specs.registry import Registry

REPORT_FORMATS: Registry[object] = Registry(
    "report format",
    "testwright.readers",
    {
        "junit": "harness.testing.junit:READER",
        "tap": "harness.testing.tap:READER",
        "automake": "harness.testing.automake:READER",
        "go-test": "harness.testing.go_test:READER",
        "vitest": "harness.testing.vitest:READER",
        "published": "harness.testing.published:READER",
    },
)
"""Behind each name is a `harness.testing.readers.Reader`; `reader_of` gives it, and checks that it is one."""
PUBLISHED = "published"
"""What a published task's own parser makes of its run script's output."""


def _known(name: str) -> str:
    if name not in REPORT_FORMATS.names:
        raise ValueError(REPORT_FORMATS.unknown(name))
    return name


ReportFormat = Annotated[str, AfterValidator(_known)]
"""The name of a registered report format; any other is an error of the file that has it."""
