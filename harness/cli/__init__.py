"""Commands; no logic."""
