"""The JSON-RPC messages of observations, for perturbations that break them."""

from __future__ import annotations

from mcp_sim.types import Json, Record, RpcError, ToolResult
from mcp_sim.types.json_values import encode


def jsonrpc_message(body: ToolResult | RpcError) -> Record:
    """Return the JSON-RPC response, without the id of the request, which only the server knows."""
    if isinstance(body, RpcError):
        error = {
            "code": body.code,
            "message": body.message,
            **({} if body.data is None else {"data": body.data}),
        }
        return {"jsonrpc": "2.0", "error": error}
    structured: Json = {"structuredContent": body.value} if body.form == "structured" else {}
    return {"jsonrpc": "2.0", "result": {"content": body.content, **structured, "isError": body.is_error}}


def message_prefix(body: ToolResult | RpcError, share: float) -> str:
    """Return about this share of the response's text: never empty, and never the whole message."""
    text = encode(jsonrpc_message(body)).decode()
    return text[: min(max(1, int(len(text) * share)), len(text) - 1)]
