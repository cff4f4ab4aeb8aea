"""What would go over the wire for an observation, if nobody broke it? For those who do."""

from __future__ import annotations

from mcp_sim.types import Json, Record, RpcError, ToolResult
from mcp_sim.types.json_text import encode


def message(body: ToolResult | RpcError) -> Record:
    """The JSON-RPC answer, without the id of the request, which only the server knows."""
    if isinstance(body, RpcError):
        error = {"code": body.code, "message": body.message, **({} if body.data is None else {"data": body.data})}
        return {"jsonrpc": "2.0", "error": error}
    structured: Json = {"structuredContent": body.value} if body.form == "structured" else {}
    return {"jsonrpc": "2.0", "result": {"content": body.content, **structured, "isError": body.is_error}}


def beginning(body: ToolResult | RpcError, share: float) -> str:
    """So much of the answer's text that it is no whole message, and not nothing."""
    text = encode(message(body)).decode()
    return text[: min(max(1, int(len(text) * share)), len(text) - 1)]
