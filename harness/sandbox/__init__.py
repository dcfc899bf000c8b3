"""Where untrusted code runs: engines, sandboxes, images, and the trusted copy of a tree."""
