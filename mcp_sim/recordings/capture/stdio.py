"""Record what passes between the pipes of a client and its server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_sim.recordings.capture.conversation import Conversation, iso
from mcp_sim.recordings.capture.folder import Folder
from mcp_sim.recordings.capture.parsing import Lines
from mcp_sim.recordings.relays.backlog import now


class StdioRecorder:
    """Reads a backlog of the bytes of both sides."""

    def __init__(self, folder: Folder, command: Sequence[str]) -> None:
        about = {"started": iso(now()), "transport": "stdio", "command": [*command]}
        self._conversation = Conversation(folder, about)
        self._lines = {"client": Lines(), "server": Lines()}
        self._exit: int | None = None

    def take(self, kind: str, _channel: int, data: Any, at: float) -> None:
        """Take bytes of a side, or the exit code of the server."""
        if kind == "exit":
            self._exit = data
            return
        for message in self._lines[kind].feed(data):
            self._conversation.note(kind, message, at)  # pyright: ignore[reportArgumentType] (a side)

    def finish(self, at: float) -> None:
        """End the session."""
        for side, lines in self._lines.items():
            for message in lines.rest():
                self._conversation.note(side, message, at)  # pyright: ignore[reportArgumentType] (a side)
        self._conversation.end(at, {} if self._exit is None else {"exit": self._exit})
