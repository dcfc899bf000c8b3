"""Intake, manifest, mutation, rubric, verdict."""
