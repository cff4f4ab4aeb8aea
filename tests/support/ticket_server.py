"""A real MCP server with twenty tickets, over stdio, that writes every call into a file.

python ticket_server.py CALLS.jsonl
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

FILE = Path(__file__)
STATUSES = ("open", "pending", "closed")
SERVER = MCPServer("tickets", log_level="ERROR")
READS = ToolAnnotations(read_only_hint=True)
WRITES = ToolAnnotations(read_only_hint=False)


def first_tickets() -> dict[str, dict[str, Any]]:
    """Return the tickets that the server begins with."""
    return {
        f"T-{n:03}": {"id": f"T-{n:03}", "title": f"Ticket number {n}", "status": STATUSES[n % 3], "votes": n * 3 % 7}
        for n in range(1, 21)
    }


tickets = first_tickets()


def _note(tool: str, **arguments: Any) -> None:
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"tool": tool, **arguments}) + "\n")


def _found(ticket_id: str) -> dict[str, Any]:
    if ticket_id not in tickets:
        raise ToolError(f"No ticket {ticket_id}")
    return tickets[ticket_id]


@SERVER.tool(structured_output=False, annotations=READS)
def get_ticket(ticket_id: str) -> str:
    """Get a ticket by its id."""
    _note("get_ticket", ticket_id=ticket_id)
    return json.dumps(_found(ticket_id), indent=2)


@SERVER.tool(structured_output=False, annotations=READS)
def list_tickets(status: str | None = None) -> str:
    """List tickets, optionally only those with a status."""
    _note("list_tickets", status=status)
    shown = [ticket for ticket in tickets.values() if status in (None, ticket["status"])]
    return json.dumps({"tickets": shown, "total": len(shown)})


@SERVER.tool(structured_output=False, annotations=READS)
def summarize_tickets() -> str:
    """Summarize the tickets."""
    _note("summarize_tickets")
    return f"There are {len(tickets)} tickets."


@SERVER.tool(structured_output=False, annotations=WRITES)
def create_ticket(title: str, status: str = "open", votes: int = 0) -> str:
    """Create a ticket."""
    _note("create_ticket", title=title)
    key = f"T-{len(tickets) + 1:03}"
    tickets[key] = {"id": key, "title": title, "status": status, "votes": votes}
    return json.dumps(tickets[key])


@SERVER.tool(structured_output=False, annotations=WRITES)
def update_ticket(ticket_id: str, title: str | None = None, status: str | None = None, votes: int | None = None) -> str:
    """Update fields of a ticket."""
    _note("update_ticket", ticket_id=ticket_id)
    given = {"title": title, "status": status, "votes": votes}
    _found(ticket_id).update({name: value for name, value in given.items() if value is not None})
    return json.dumps(tickets[ticket_id])


@SERVER.tool(structured_output=False, annotations=WRITES)
def delete_ticket(ticket_id: str) -> str:
    """Delete a ticket."""
    _note("delete_ticket", ticket_id=ticket_id)
    del tickets[_found(ticket_id)["id"]]
    return json.dumps({"deleted": ticket_id})


if __name__ == "__main__":
    SERVER.run()
