"""Sandboxes on any SWE-ReX deployment: a server that runs commands, here, on another machine or in a cloud."""
