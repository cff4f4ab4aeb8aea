"""A server over stdio that asks its client, reports progress and logs, of the protocol era that its argument names.

`modern`: without a handshake. The result of `ask` shows the answer, and the `_meta` of the call.
"""

from __future__ import annotations

import json
import sys
from typing import Any

TOOLS = [{"name": "ask", "inputSchema": {"type": "object"}}, {"name": "count", "inputSchema": {"type": "object"}}]
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}, "logging": {}, "completions": {}}
INFO = {"name": "asking", "version": "7"}
FORM = {"type": "object", "properties": {"name": {"type": "string"}}}
QUESTION: dict[str, Any] = {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": FORM}}
PAGE = {"contents": [{"uri": "notes://1", "mimeType": "text/plain", "text": "Milk"}]}
is_modern = sys.argv[1:] == ["modern"]


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    return json.loads(line) if line else sys.exit()


def asked() -> Any:
    """Ask the client by a request, and return its answer."""
    write({"id": "q", **QUESTION, "params": {"mode": "form", **QUESTION["params"]}})
    while (message := read()).get("id") != "q":
        pass
    return message.get("result") or message.get("error")


def called(params: dict[str, Any]) -> dict[str, Any]:
    meta = params.get("_meta", {})
    if "progressToken" in meta:
        for at in (1, 2):
            body = {"progressToken": meta["progressToken"], "progress": at, "total": 2, "message": f"step {at}"}
            write({"method": "notifications/progress", "params": body})
    write({"method": "notifications/message", "params": {"level": "info", "data": {"at": "work"}}})
    if params["name"] == "count":
        answer: Any = None
    elif not is_modern:
        answer = asked()
    elif "inputResponses" in params:
        answer = {**params["inputResponses"]["who"], "state": params["requestState"]}
    else:
        return {"resultType": "input_required", "inputRequests": {"who": QUESTION}, "requestState": "s-1"}
    own = {
        name: value for name, value in meta.items() if name != "progressToken" and "modelcontextprotocol" not in name
    }
    text = json.dumps({"answer": answer, "meta": own})
    complete = {"resultType": "complete"} if is_modern else {}
    return {"content": [{"type": "text", "text": text}], "_meta": {"shop/cost": 3}, **complete}


KEPT: dict[str, Any] = {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"} if is_modern else {}
ANSWERS: dict[str, dict[str, Any]] = {
    "tools/list": {"tools": TOOLS},
    "resources/list": {"resources": [{"uri": "notes://1", "name": "first"}], "nextCursor": "2"},
    "resources/templates/list": {"resourceTemplates": []},
    "prompts/list": {"prompts": [{"name": "greet"}]},
    "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello"}}]},
    "completion/complete": {"completion": {"values": ["Milk"]}},
    "server/discover" if is_modern else "initialize": {
        "protocolVersion": "2025-11-25",
        "supportedVersions": ["2026-07-28"],
        "capabilities": CAPABILITIES,
        "serverInfo": INFO,
    },
}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "tools/call":
        return {"result": called(params)}
    if method == "resources/read":
        if params["uri"] == "notes://1":
            return {"result": {**PAGE, **KEPT}}
        return {"error": {"code": -32002, "message": "No such note", "data": {"uri": params["uri"]}}}
    if method in ANSWERS:
        return {"result": {**ANSWERS[method], **KEPT}}
    return {"error": {"code": -32601, "message": "Method not found"}}


if __name__ == "__main__":
    while True:
        request = read()
        if "id" in request and "method" in request:
            write({"id": request["id"], **answer(request["method"], request.get("params") or {})})
