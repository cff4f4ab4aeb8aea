"""Tools about notes: some whose effect is certain, and one whose effect is a guess."""

from __future__ import annotations

import json
from pathlib import Path


def guessing_tools(path: Path) -> None:
    """Write a list of the tools `create_note` and `get_note`, and of `frobnicate`, which is a guess."""
    arguments = {"create_note": "title", "get_note": "note_id", "frobnicate": "title"}
    tools = [
        {"name": name, "inputSchema": {"type": "object", "properties": {argument: {"type": "string"}}}}
        for name, argument in arguments.items()
    ]
    path.write_text(json.dumps({"tools": tools}), encoding="utf-8")
