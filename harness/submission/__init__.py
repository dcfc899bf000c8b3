"""Patch and manifest: extraction, policy, grammar, test discovery."""
