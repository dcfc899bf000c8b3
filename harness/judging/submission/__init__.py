"""Patch and manifest: extraction, policy, grammar."""
