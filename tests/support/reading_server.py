"""A real MCP server over stdio with a reading list, whose answers no list of tools reveals."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

reading = MCPServer("reading")
books = dict[int, dict[str, Any]]()
numbers = count(1)


@reading.tool(structured_output=False)
def add_book(title: str, author: str, shelf: str = "") -> str:
    """Add a book to the list."""
    number = next(numbers)
    books[number] = {"id": number, "title": title, "author": author, "shelf": shelf, "state": "unread", "stars": None}
    return f"Noted as #{number}: {title} by {author}."


@reading.tool(structured_output=False)
def list_books() -> str:
    """List all books."""
    if not books:
        return "The list is empty."
    rows = [f"#{book['id']} {book['title']} ({book['author']}){_shelved(book)}" for book in books.values()]
    return "\n".join([f"Books on the list: {len(books)}", *rows])


@reading.tool(structured_output=False)
def get_book(id: int) -> str:  # noqa: A002 (a name in the protocol)
    """Get a book."""
    if id not in books:
        return json.dumps({"ok": False, "error": "no_such_book", "id": id}, indent=2)
    return json.dumps({"ok": True, "book": books[id], "source": "reading list"}, indent=2)


@reading.tool(structured_output=False)
def remove_book(id: int) -> str:  # noqa: A002 (a name in the protocol)
    """Remove a book."""
    if id not in books:
        raise ToolError(f"Sorry, #{id} is not on the list")
    return f"Crossed out: {books.pop(id)['title']}"


def _shelved(book: dict[str, Any]) -> str:
    return f" on shelf {book['shelf']}" if book["shelf"] else ""


if __name__ == "__main__":
    reading.run()
