"""Checks for those who write tasks and pin repositories."""
