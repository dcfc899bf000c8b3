"""Sandboxes for untrusted code: engines, images, and the trusted copy of a tree."""
