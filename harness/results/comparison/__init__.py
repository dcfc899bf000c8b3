"""Two systems on the same tasks."""
