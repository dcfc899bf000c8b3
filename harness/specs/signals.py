"""The signals that ask a command to end."""

import signal

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def heeded() -> list[signal.Signals]:
    """Return the signals of `ENDING` that this process wasn't started to ignore, as by nohup or in the background."""
    return [each for each in ENDING if signal.getsignal(each) is not signal.SIG_IGN]


def end_like_an_interrupt() -> None:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt from now on, as SIGINT does. For a command's main thread."""
    for each in heeded():
        signal.signal(each, signal.default_int_handler)
