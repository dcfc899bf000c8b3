"""`testwright repo new`: pins a source and writes all that its images need."""
