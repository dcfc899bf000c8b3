"""Which lines and branches of the code a run of tests reaches, by the tools of each language."""
