"""An event loop in a thread of its own, for calls from code without a loop that may wait."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Loop:
    """The loop of a process. It starts with the first call; a forked process starts one of its own."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        if hasattr(os, "register_at_fork"):  # not on Windows
            os.register_at_fork(after_in_child=self._forget)

    def get(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True, name="mcp-sim").start()
            return self._loop

    def _forget(self) -> None:
        """Forget the loop, whose thread the forked process does not have."""
        self._starting, self._loop = threading.Lock(), None


_LOOP = _Loop()


def begin(coroutine: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    """Run a coroutine in the loop, and return its result as a future of the running loop."""
    return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, _LOOP.get()))


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in the loop, and wait for its result. Must not be called in that loop itself."""
    return asyncio.run_coroutine_threadsafe(coroutine, _LOOP.get()).result()
