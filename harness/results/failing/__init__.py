"""Stages at which trials fail, and what goes with it."""
