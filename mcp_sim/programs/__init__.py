"""What a program imports: Python files that simulate a server, beside its tool spec.

A program declares `tables`, and one function for each tool that it answers. The functions read and write a `World`;
nothing else about a call is visible to them. May import `types`, `world`, `spec`, `libraries`, `generate` and `plans`.

    from mcp_sim.programs import Refused, tool

    tables = {"book": {"key": "isbn", "natural": True, "fields": {"title": "", "copies": 1}}}

    @tool
    def add_book(world, isbn, title):
        if world.book.get(isbn) is not None:
            raise Refused(f"There is a book {isbn} already")
        world.book.add(isbn=isbn, title=title)
        return f"{title} is in the catalogue"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from mcp_sim.programs.initial_records import records
from mcp_sim.programs.results import Refused, Result, Rpc, fail
from mcp_sim.programs.rows import Page, Row
from mcp_sim.programs.tables import Table
from mcp_sim.programs.world import World

__all__ = [
    "Page", "Refused", "Result", "Row", "Rpc", "Table", "World", "fail", "initial", "invalid_arguments", "records",
    "resource", "tool", "unknown_tool",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(name: F, /) -> F: ...


@overload
def tool(
    name: str = "",
    /,
    *,
    reads: bool = ...,
    verb: str = ...,
    entity: str = ...,
    key: str = ...,
    rows: str = ...,
    validate: bool = ...,
    conforms: bool = ...,
    idempotency: str = ...,
    expires: str = ...,
    gesture: str = ...,
) -> Callable[[F], F]: ...


def tool(name: Any = "", /, **_options: Any) -> Any:
    """Let a function answer the tool of its name, or of the given name.

    The function gets the world, and the arguments that it has parameters for. `validate=False`: it also gets calls that
    violate the inputSchema. `conforms=False`: results may violate the outputSchema, as those of the real server do.
    `idempotency` names the argument with the idempotency key, and `expires` ("24h") says how long the server remembers
    a key: a repeated call gets the first answer, and the function does not run.

    `gesture` (click, fill, choose): a person who does this on a screen makes a call of the tool; its first parameters
    get the reference of the element, and the text or the list of options.

    The rest says what faults and reports should know if it cannot be read from the function:
    `reads=True` (nothing is written), `verb` (as in `sim:`), `entity` (a table), `key` (the argument that names the
    record), `rows` (the path of the list in a result, '' for the result itself). mcp-sim reads all of them without
    running the file, so they are literals.
    """
    return name if callable(name) else _unchanged


def resource(_uri: str, /, *, name: str = "", description: str = "", mime_type: str = "") -> Callable[[F], F]:  # noqa: ARG001 (read from the syntax tree)
    """Let a function `(world, ...)` return the contents of a resource: a text, bytes, any other JSON, or None.

    The variables of the URI, as in `notes://{id}`, are parameters of the function. Without variables it is one
    resource, with some a template. None: there is no such resource. The function only reads.
    """
    return _unchanged


def initial(function: F) -> F:
    """Let a function `(given, world)` write the records that worlds begin with. `given` is the scenario's state."""
    return function


def unknown_tool(function: F) -> F:
    """Let a function `(world, tool, arguments)` answer calls of tools that the server does not have."""
    return function


def invalid_arguments(function: F) -> F:
    """Let a function `(world, tool, arguments, problems)` answer calls that violate the inputSchema.

    `problems` are sentences, one for each violation.
    """
    return function


def _unchanged(function: F) -> F:
    return function
