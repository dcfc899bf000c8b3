"""Running a repository's tests and reading their reports."""
