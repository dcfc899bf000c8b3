"""Small mutants of the lines that a task's removal takes out: which of them a suite kills. No part of a verdict."""
