"""What many verdicts say together."""
