"""Lines and branches of the code that a run of tests reaches, by the tools of each language."""
