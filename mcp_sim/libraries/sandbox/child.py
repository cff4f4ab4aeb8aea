"""The confined process itself: it takes over the standard streams, sets its limits and runs one function."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

from mcp_sim.libraries.sandbox.confinement import Limits, Unconfined, restrict

READY = b"ready"
"""The first message of a process that is confined; of any other one, the first message is the reason."""
HEADER = 4
"""Bytes that hold the size of a message."""


class Channel:
    """The messages between a confined process and the one that started it."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write = read, write

    def receive(self) -> bytes:
        """Return the next message. Raises `EOFError` if it does not exist any more."""
        return self._bytes(int.from_bytes(self._bytes(HEADER), "little"))

    def send(self, message: bytes) -> None:
        rest = memoryview(len(message).to_bytes(HEADER, "little") + message)
        while rest:
            rest = rest[os.write(self._write, rest) :]

    def _bytes(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            read = os.read(self._read, size - len(data))
            if not read:
                raise EOFError
            data += read
        return data


def answer(channel: Channel) -> None:
    """Call one function."""
    target, argument = json.loads(channel.receive())
    try:
        module, _, name = target.partition(":")
        reply = json.dumps({"result": getattr(import_module(module), name)(argument)})
    except Exception as error:  # noqa: BLE001 (the edge: whatever it is becomes a message)
        reply = json.dumps({"failed": f"{type(error).__name__}: {error}"})
    channel.send(reply.encode())


def main() -> None:
    """Take over the standard streams, set the limits, and call the function."""
    options = json.loads(sys.argv[1])
    channel = Channel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):
        os.dup2(nothing, stream)
    try:
        restrict(
            Limits(**options["limits"]), *([Path(path) for path in options[name]] for name in ("readable", "writable"))
        )
    except Unconfined as error:
        channel.send(str(error).encode())
        return
    os.dup2(nothing, 2)
    channel.send(READY)
    answer(channel)
