"""A runner that is killed at its n-th write: SIGKILL comes as it asks the kernel for it, whatever the write is.

A write is a file opened for writing below a directory, a rename, a removal or a new folder there. Python tells of
each through its audit hooks, so nothing of ours is patched. As a program it runs the command line so:

    python -m tests.support.killed_at DIRECTORY N run -t TASK ...
"""

import os
import signal
import sys
from pathlib import Path

_OPENED_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_CHANGES = {"os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate"}


def die_at(directory: Path, number: int) -> None:
    """From now on count this process's writes below a directory; it is dead before the `number`-th is done."""
    below, count = f"{directory.absolute()}/", 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal count
        if event == "open":
            is_write = isinstance(arguments[2], int) and bool(arguments[2] & _OPENED_TO_WRITE)
        else:
            is_write = event in _CHANGES
        if not is_write or not str(arguments[0]).startswith(below):
            return
        count += 1
        if count == number:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


if __name__ == "__main__":
    from harness.cli.main import main

    directory, number, *words = sys.argv[1:]
    die_at(Path(directory), int(number))
    sys.argv = ["testwright", *words]
    main()
