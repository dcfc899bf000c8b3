"""Starting commands that signals are sent to."""

import signal


def heed_signals() -> None:
    """For `preexec_fn`: a child that inherited ignored signals, as of a job in the background, heeds them again."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_DFL)


def ignore_interrupts() -> None:
    """For `preexec_fn`: as a shell without job control starts what is to run in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
