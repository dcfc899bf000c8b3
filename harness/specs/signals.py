"""The signals that ask a command to end."""

import signal

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heeded() -> list[signal.Signals]:
    """Return those of `ENDING` that this process wasn't started to ignore, as by nohup or as a job in the
    background.
    """
    return [each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN]


def end_like_an_interrupt() -> None:
    """From now on SIGTERM and SIGHUP raise KeyboardInterrupt as SIGINT does. For a command's main thread."""
    for each in heeded():
        signal.signal(each, signal.default_int_handler)
