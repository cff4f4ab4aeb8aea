"""What is refused before any world is asked, and how a client is told."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.server.exchange import Send, respond
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.json_text import encode


class Refusal(McpSimError):
    """An HTTP request that will not be answered: its status, and the JSON-RPC error that says why."""

    def __init__(self, status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.code, self.headers = status, code, dict(headers or {})
        super().__init__(message)

    async def send(self, send: Send) -> None:
        """Tell the client."""
        body = encode({"jsonrpc": "2.0", "id": None, "error": {"code": self.code, "message": str(self)}})
        headers = {"content-type": "application/json", **self.headers}
        await respond(send, self.status, [(name.encode(), value.encode()) for name, value in headers.items()], body)
