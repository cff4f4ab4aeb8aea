"""A real MCP server without SDK, over stdio: it answers as a file says, and writes every call into another.

python answering_server.py ANSWERS.json CALLS.jsonl

ANSWERS has the tools, and by tool the `result` or `error` of each call. `"die"` ends the process at the call, `"hang"`
answers nothing, and `"flood"` is a line without an end.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FILE = Path(__file__)


def body(request: dict[str, Any], given: dict[str, Any], log: Path) -> dict[str, Any] | None:
    match request["method"]:
        case "initialize":
            info = {"name": "answering", "version": "1"}
            return {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}}
        case "tools/list":
            return {"result": {"tools": given["tools"]}}
        case "tools/call":
            with log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(request["params"]) + "\n")
            answer = given["answers"][request["params"]["name"]]
            if answer == "die":
                sys.stderr.write("still printing\n" * 100_000 + "out of paper\n")
                sys.exit(3)
            while answer == "flood":
                sys.stdout.write("x" * 1_000_000)
            return None if answer == "hang" else answer
        case _:
            return {"error": {"code": -32601, "message": "no such method"}}


def main() -> None:
    given, log = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), Path(sys.argv[2])
    for line in sys.stdin:
        request = json.loads(line)
        answer = body(request, given, log) if "id" in request else None
        if answer is not None:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
