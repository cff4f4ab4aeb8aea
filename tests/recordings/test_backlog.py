"""The queue of what passes through a proxy: how long its rest is waited for."""

from __future__ import annotations

from threading import Semaphore, Thread
from typing import Any

import pytest

from mcp_sim.recordings.relays import backlog


def test_a_reader_that_goes_on_is_waited_for_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on, taken = Semaphore(0), Semaphore(0), list[bytes]()

    class Reader:
        def take(self, kind: str, channel: int, data: Any, at: float) -> None:
            begun.release()
            assert may_go_on.acquire(timeout=60)
            taken.append(data)

        def finish(self, at: float) -> None:
            begun.release()

    class Impatient(Thread):
        """Its `join` gives up each time that the reader begins with the next event."""

        def join(self, timeout: float | None = None) -> None:
            may_go_on.release()
            assert begun.acquire(timeout=60)
            if len(taken) == len(sent):
                super().join(60)

    sent = [b"a", b"b", b"c"]
    monkeypatch.setattr(backlog, "Thread", Impatient)
    queue = backlog.Backlog(Reader)
    for data in sent:
        queue.put("server", 0, data)
    assert begun.acquire(timeout=60)
    assert queue.finish()
    assert taken == sent
