"""A server over stdio that does what the arguments of each call ask for, in bytes of its own.

`reply` is the text of the result, `hold` delays the answer until the next call is answered, `progress` sends
notifications before it, `silent` sends none, `size` makes the result long, `die` ends the server by a signal, and
`environment` replies with a variable. The id comes last in an answer.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from threading import Thread
from typing import Any, cast

TOOLS = [{"name": "do", "inputSchema": {"type": "object"}}, {"name": "look", "inputSchema": {"type": "object"}}]
SIGNALS = (signal.SIGINT, signal.SIGTERM)
held = list[str]()


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def call(number: Any, given: dict[str, Any], meta: dict[str, Any]) -> None:
    if "die" in given:
        os.kill(os.getpid(), given["die"])
    for at in range(given.get("progress", 0)):
        write({"method": "notifications/progress", "params": {"progressToken": meta["progressToken"], "progress": at}})
    if given.get("silent"):
        return
    text = os.environ.get(given.get("environment", ""), given.get("reply", "done")) + "x" * given.get("size", 0)
    answer = json.dumps({"result": {"content": [{"type": "text", "text": text}]}, "jsonrpc": "2.0", "id": number})
    if given.get("hold"):
        held.append(answer)
        return
    for line in (answer, *held):
        sys.stdout.write(line + "\n")
    held.clear()
    sys.stdout.flush()


def take(message: dict[str, Any]) -> None:
    params: dict[str, Any] = message.get("params") or {}
    match message.get("method"):
        case "initialize":
            info: dict[str, Any] = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted"},
            }
            write({"jsonrpc": "2.0", "id": message["id"], "result": {**info, "instructions": "Look, then do."}})
        case "tools/list":
            at = int(params.get("cursor") or 0)
            more = {"nextCursor": str(at + 1)} if at + 1 < len(TOOLS) else {}
            write({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": TOOLS[at : at + 1], **more}})
        case "tools/call":
            call(message["id"], params.get("arguments") or {}, params.get("_meta") or {})
        case "resources/read" | "prompts/get":
            write({"jsonrpc": "2.0", "id": message["id"], "result": {"read": params}})
        case _:
            pass


def note_signals() -> None:
    """Write the names of signals. A handler would not run if the signal comes just before a line is read."""
    while True:
        sys.stderr.write(f"got {signal.Signals(signal.sigwait(SIGNALS)).name}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    Thread(target=note_signals, daemon=True).start()
    for line in sys.stdin:
        try:
            parsed: Any = json.loads(line)
        except ValueError:
            continue
        batch = cast("list[dict[str, Any]]", parsed if isinstance(parsed, list) else [parsed])
        for request in batch:
            take(request)
    sys.exit(7)
