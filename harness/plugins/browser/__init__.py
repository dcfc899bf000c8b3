"""Tests in a browser against a live application: its stage, and tasks that ask for a technique by its constraint."""
