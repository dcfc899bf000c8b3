"""Carries connections from a sandbox's loopback to the gateway on this machine."""
