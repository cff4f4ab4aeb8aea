"""The end of a server, also of one that hangs: signals end it within three seconds, and a call in C that goes on."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from time import sleep

END_SECONDS = 2.5
"""Seconds that a server gets after a signal to end, unless calls are to get more (`--grace`). Clients kill it soon."""

STUCK_SECONDS = 2.5
"""Seconds of processor time after which a server is ended in which no thread but one has run."""

_PERIOD = 0.5


def end_soon(number: int, seconds: float = END_SECONDS, kill: Callable[[], None] | None = None) -> None:
    """Call `kill` and end this process after some seconds, with the code of a signal, whatever it still does."""

    def end() -> None:
        sleep(seconds)
        if kill is not None:
            kill()
        os._exit(128 + number)

    Thread(target=end, daemon=True).start()


def end_if_stuck() -> None:
    """Let the kernel end this process if one call in C keeps all threads from running, and show where.

    Python cannot interrupt such a call: a regular expression, a sum of a billion numbers. The timer counts processor
    time, so that neither a busy machine nor a pause of the process matters. Worlds that are not stored are lost.
    """
    stderr = sys.__stderr__
    if stderr is not None and hasattr(signal, "setitimer") and signal.getsignal(signal.SIGPROF) == signal.SIG_DFL:
        with suppress(OSError, ValueError):  # stderr is closed
            faulthandler.register(signal.SIGPROF, stderr, all_threads=False, chain=True)
        Thread(target=_wind, name="mcp-sim stuck", daemon=True).start()


def _wind() -> None:
    while True:
        signal.setitimer(signal.ITIMER_PROF, STUCK_SECONDS)
        sleep(_PERIOD)
