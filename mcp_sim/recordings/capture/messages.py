"""Record a conversation from a file with its JSON-RPC messages, a line each, in the order in which they passed."""

from __future__ import annotations

from pathlib import Path

from mcp_sim.recordings.capture.conversation import Conversation, Side, iso
from mcp_sim.recordings.capture.folder import Folder
from mcp_sim.recordings.capture.parsing import Lines, Parsed
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import canonical

ASKED_BY_SERVERS = frozenset({"sampling/createMessage", "roots/list", "elicitation/create"})


def is_message(value: Json) -> bool:
    """Whether a JSON value is a JSON-RPC message, or a batch of them."""
    messages = as_list(value) or [value]
    return all("jsonrpc" in as_object(message) for message in messages)


class MessagesRecorder:
    """Reads lines. Nothing in them says who sent a message: its method does, and for an answer, its request.

    The messages have no times: all have that of the file. A handshake begins a new session.
    """

    def __init__(self, folder: Folder, file: Path) -> None:
        self._folder = folder
        self._at = file.stat().st_mtime
        self._conversation: Conversation | None = None
        self._asked = set[str]()
        """The ids of the server's requests that are not answered yet."""

    def read(self, data: bytes) -> None:
        """Take all messages."""
        lines = Lines()
        for message in [*lines.feed(data), *lines.rest()]:
            self._take(message)
        if self._conversation is not None:
            self._conversation.end(self._at)

    def _take(self, parsed: Parsed) -> None:
        message = as_object((as_list(parsed.value) or [parsed.value])[0])
        begins = message.get("method") == "initialize"
        if self._conversation is None or begins:
            if self._conversation is not None:
                self._conversation.end(self._at)
            about = {"started": iso(self._at), "transport": "messages"}
            self._conversation = Conversation(self._folder, about)
        self._conversation.note(self._side(message), parsed, self._at)

    def _side(self, message: dict[str, Json]) -> Side:
        key = canonical(message.get("id"))
        if "method" in message:
            if message["method"] not in ASKED_BY_SERVERS:
                return "client"
            self._asked.add(key)
            return "server"
        if key in self._asked:
            self._asked.discard(key)
            return "client"
        return "server"
