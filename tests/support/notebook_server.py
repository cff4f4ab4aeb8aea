"""A real MCP server with notes, over stdio or the older HTTP+SSE, and sessions with it as `record` writes them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import uvicorn
from mcp import Client, MCPError, StdioServerParameters
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from mcp_sim.spec.sessions import session_lines

notebook = MCPServer("notebook")
notes = dict[str, dict[str, Any]]()
numbers = count(41)

CALLS: Sequence[tuple[str, dict[str, Any]]] = (
    ("create_note", {"title": "Milk", "text": "two litres"}),
    ("create_note", {"title": "Bread"}),
    ("list_notes", {}),
    ("get_note", {"note_id": "note-41"}),
    ("delete_note", {"note_id": "note-41"}),
    ("list_notes", {}),
    ("get_note", {"note_id": "note-41"}),
    ("delete_note", {"note_id": "note-41"}),
)
"""A session that reads, deletes, and looks for what is gone."""


@notebook.tool(structured_output=False)
def create_note(title: str, text: str = "") -> str:
    """Create a note."""
    note = {"id": f"note-{next(numbers)}", "title": title, "text": text}
    notes[note["id"]] = note
    return json.dumps(note)


@notebook.tool(structured_output=False)
def get_note(note_id: str) -> str:
    """Get a note by its id."""
    return json.dumps(_found(note_id))


@notebook.tool(structured_output=False)
def list_notes() -> str:
    """List all notes."""
    return json.dumps({"notes": list(notes.values())})


@notebook.tool(structured_output=False)
def delete_note(note_id: str) -> str:
    """Delete a note."""
    title = _found(note_id)["title"]
    del notes[note_id]
    return f"Deleted {title}"


def _found(note_id: str) -> dict[str, Any]:
    if note_id not in notes:
        raise ToolError(f"Note {note_id} not found")
    return notes[note_id]


async def record(
    folder: Path, name: str, calls: Sequence[tuple[str, dict[str, Any]]], server: str = "notebook"
) -> None:
    """Make these calls in a new process of a server, and write the session and the tools into a folder."""
    from support.warm import PYTHON  # not for the server, which is a warm process itself

    program = Path(__file__).with_name(f"{server}_server.py")
    async with Client(StdioServerParameters(command=PYTHON, args=[str(program)])) as client:
        tools = [
            tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools
        ]
        lines = [{"tool": tool, "arguments": given, **await _answer(client, tool, given)} for tool, given in calls]
    header: dict[str, Any] = {"server": server, "session": name, "initial_state": {}}
    (folder / f"{name}.jsonl").write_text("\n".join(session_lines(header, lines)) + "\n", encoding="utf-8")
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")


async def _answer(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as error:
        return {"error": error.error.model_dump(mode="json", exclude_none=True)}
    return {"result": result.model_dump(mode="json", by_alias=True, exclude_none=True, exclude={"meta", "result_type"})}


if __name__ == "__main__":
    if sys.argv[1:] == ["sse"]:
        uvicorn.run(notebook.sse_app(), port=0, timeout_graceful_shutdown=1)
    else:
        notebook.run()
