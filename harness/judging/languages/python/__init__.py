"""Python: pytest and unittest, modules compiled to bytecode."""
