"""Where trials fail, and what goes with it."""
