"""The way from a sandbox to package registries, for tasks that ask for it: a proxy here with a list of hosts."""
