"""Trials, the scheduler, the store, resuming."""
