"""An MCP server over stdio that lists given tools, valid or not, in pages; or hangs, or fails with a message.

python odd_server.py LIST.json [PAGE_SIZE]      python odd_server.py --silent      python odd_server.py --says TEXT
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def answer(request: dict[str, Any], tools: list[Any], size: int) -> dict[str, Any]:
    if request["method"] == "initialize":
        info = {"name": "odd", "version": "0.3"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "prompts": {}}, "serverInfo": info}
    params: dict[str, Any] = request.get("params") or {}
    at = int(params.get("cursor") or 0)
    more = {"nextCursor": str(at + size)} if at + size < len(tools) else {}
    return {"tools": tools[at : at + size], **more}


def serve(tools: list[Any], size: int) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        body: dict[str, Any] = {"error": {"code": -32601, "message": "no such method"}}
        if request["method"] in {"initialize", "tools/list"}:
            body = {"result": answer(request, tools, size)}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}) + "\n")
        sys.stdout.flush()


if sys.argv[1] == "--silent":
    Path(sys.argv[2]).write_text(str(os.getpid()), encoding="utf-8")
    while True:
        time.sleep(3600)
elif sys.argv[1] == "--says":
    sys.stderr.write(os.path.expandvars(sys.argv[2]) + "\n")
    sys.exit(3)
else:
    listed = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    serve(listed, int(sys.argv[2]) if len(sys.argv) > 2 else len(listed))
