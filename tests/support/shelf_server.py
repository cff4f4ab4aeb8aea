"""A real MCP server with a shelf of books that begins empty, and gives random ids.

python shelf_server.py [broken | http]

`broken`: no book is shown any more, whatever its id.
"""

from __future__ import annotations

import json
import sys
from typing import Any
from uuid import uuid4

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

SERVER = MCPServer("shelf", log_level="ERROR")
READS = ToolAnnotations(read_only_hint=True)
books = dict[str, dict[str, Any]]()


def _found(book_id: str) -> dict[str, Any]:
    if book_id not in books:
        raise ToolError(f"No book {book_id}")
    return books[book_id]


@SERVER.tool(structured_output=False)
def add_book(title: str) -> str:
    """Put a book on the shelf."""
    book_id = str(uuid4())
    books[book_id] = {"id": book_id, "title": title, "place": len(books) + 1}
    return f"Added {title} as {book_id}"


@SERVER.tool(structured_output=False, annotations=READS)
def show_book(book_id: str) -> str:
    """Show a book."""
    if "broken" in sys.argv:
        raise ToolError("out of order")
    return json.dumps(_found(book_id))


@SERVER.tool(structured_output=False, annotations=READS)
def list_books() -> str:
    """List the books."""
    return "\n".join(f"{book['place']}. {book['title']} ({book['id']})" for book in books.values()) or "Empty"


@SERVER.tool(structured_output=False)
def remove_book(book_id: str) -> str:
    """Take a book off the shelf."""
    return f"Removed {books.pop(_found(book_id)['id'])['title']}, {len(books)} left"


if __name__ == "__main__":
    if "http" in sys.argv:
        uvicorn.run(SERVER.streamable_http_app(), port=0, timeout_graceful_shutdown=1)
    else:
        SERVER.run()
