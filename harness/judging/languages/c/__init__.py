"""C: test programs, linked with a library that is built beforehand."""
