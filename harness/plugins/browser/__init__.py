"""Tests in a browser against a live application: its stage, tasks that state a constraint, and end-to-end tasks."""
