"""`python -m harness.cli` is `testwright`."""

from harness.cli.main import main

if __name__ == "__main__":
    main()
