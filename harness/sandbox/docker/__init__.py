"""The Docker engine: sandboxes and jobs in containers."""
