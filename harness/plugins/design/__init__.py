"""The design track: test cases designed from a requirement, played on correct and on wrong implementations."""
