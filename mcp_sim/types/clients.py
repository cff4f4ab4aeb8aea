"""The client of a request, as world models see it that pass requests on to a real server."""

from __future__ import annotations

from typing import Protocol

from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import Record


class RequestingClient(Protocol):
    """The client that waits for the answer to a request. It exists only until then."""

    @property
    def meta(self) -> Record:
        """The `_meta` of the request, without what the protocol and mcp-sim put there."""
        ...

    @property
    def log_level(self) -> str | None:
        """The least severe log messages that it wants; None: no messages."""
        ...

    @property
    def wants_progress(self) -> bool: ...

    @property
    def repeats(self) -> Record:
        """Of a request that is repeated with answers to questions: `inputResponses` and `requestState`."""
        ...

    @property
    def is_asked_by_results(self) -> bool:
        """Whether questions are results, after which it repeats the request (`InputRequired`), not requests."""
        ...

    def can_answer(self, method: str, params: Record) -> bool:
        """Whether it has declared the capability for a question, a request such as `elicitation/create`."""
        ...

    async def ask(self, method: str, params: Record) -> Record | None:
        """Send a question, and return its result; None if the client cannot answer it."""
        ...

    async def notify(self, method: str, params: Record) -> None:
        """Send a notification that belongs to the request: `notifications/progress` or `notifications/message`."""
        ...


@frozen
class Request:
    """A request other than a call, such as `resources/read`."""

    method: str
    params: Record
    """Without `_meta`."""
    client: RequestingClient | None = None
