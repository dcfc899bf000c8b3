"""Where trials run: on this machine, or elsewhere through an executor."""
