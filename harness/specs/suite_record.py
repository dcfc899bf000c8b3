"""What a repository's own tests came to, run several times."""

from harness.specs.loading import FileModel


class SuiteRecord(FileModel):
    """`repos/NAME/suite.yaml`: how many tests passed every time, and those that didn't, by how they ended."""

    image_digest: str
    times: int
    green: int
    red: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
