"""The connection to a real server: opened at the first call, shared by all worlds, opened again after it broke."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any, TypeAlias

import anyio
from pydantic import TypeAdapter

from mcp_sim.spec.foreign.secrets import Secrets
from mcp_sim.spec.live_server import failures, last_lines, leaves, reason_of
from mcp_sim.types import Record
from mcp_sim.types.errors import Crash

Transport: TypeAlias = Callable[[IO[bytes]], AbstractAsyncContextManager[Any]]
"""Opens the streams to a server, given a file for what its process writes to stderr."""

ASKS_BACK = "input_required"
"""The `resultType` of an answer with questions for the client."""

NO_ANSWERS = frozenset({"Connection closed", "Session terminated", "Not Found", "Server returned an error response"})
"""The messages of the errors that the SDK's client makes where a server has not answered in the protocol."""


class RealServer:
    """A real server. `name` is what messages call it."""

    def __init__(self, name: str, transport: Transport, secrets: Secrets, timeout: float) -> None:
        self._name, self._transport, self._secrets, self._timeout = name, transport, secrets, timeout
        self._session: _Session | None = None

    async def call(self, tool: str, arguments: Record) -> Record:
        """Return the `result` or the `error` that the server answers.

        Raises `Crash` if it cannot be reached, breaks off or takes too long. After a connection that broke, the next
        call connects again; a server that is only slow is kept, with its state.
        """
        session = self._session = self._session or _Session.open(self._transport)
        try:
            with anyio.fail_after(self._timeout):
                return await self._asked(await asyncio.shield(session.client), tool, arguments)
        except (BaseExceptionGroup, *failures()) as error:
            reason = self._secrets.redact(self._reason(error) + session.last_lines)
            if not (isinstance(error, TimeoutError) and session.is_open):
                await self._close(session)
            raise Crash(tool, f"{self._name}: {reason}") from None

    async def aclose(self) -> None:
        """Close the connection, and end the process that it started."""
        if self._session is not None:
            await self._close(self._session)

    async def _asked(self, client: Any, tool: str, arguments: Record) -> Record:
        from mcp import MCPError  # noqa: PLC0415 (half a second, only where a server is asked)
        from mcp_types import CallToolRequest, CallToolRequestParams  # noqa: PLC0415 (see above)

        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        try:
            result = await client.session.send_request(request, TypeAdapter(dict[str, Any]))
        except MCPError as error:
            if error.message in NO_ANSWERS:
                raise
            return {"error": error.error.model_dump(by_alias=True, exclude_none=True)}
        if result.get("resultType") == ASKS_BACK:
            raise Crash(tool, f"{self._name} asks the user a question, which is not passed on")
        return {"result": result}

    def _reason(self, error: BaseException) -> str:
        causes = list(leaves(error))
        if not all(isinstance(cause, failures()) for cause in causes):
            raise error
        if any(isinstance(cause, TimeoutError) for cause in causes):
            return f"did not answer within {self._timeout:g} seconds"
        return "; ".join(dict.fromkeys(map(reason_of, causes)))

    async def _close(self, session: _Session) -> None:
        if self._session is session:
            self._session = None
        await session.close()


@dataclass(slots=True)
class _Session:
    """A session, held open by a task of its own, as the worlds that call have theirs."""

    client: asyncio.Future[Any]
    stderr: IO[bytes]
    over: asyncio.Event
    task: asyncio.Task[None]

    @classmethod
    def open(cls, transport: Transport) -> _Session:
        client, over, stderr = asyncio.get_running_loop().create_future(), asyncio.Event(), TemporaryFile()  # noqa: SIM115 (closed with the session)
        task = asyncio.create_task(_hold(transport(stderr), client, over))
        return cls(client, stderr, over, task)

    @property
    def last_lines(self) -> str:
        """The last lines that the server's process wrote to stderr."""
        return "" if self.stderr.closed else last_lines(self.stderr)

    @property
    def is_open(self) -> bool:
        return self.client.done() and not self.task.done()

    async def close(self) -> None:
        self.over.set()
        if not self.client.done():
            self.task.cancel()
        await asyncio.wait([self.task])
        self.stderr.close()


async def _hold(transport: AbstractAsyncContextManager[Any], client: asyncio.Future[Any], over: asyncio.Event) -> None:
    """Open a client, hand it out, and hold it open. What goes wrong before is handed out, too."""
    from mcp import Client  # noqa: PLC0415 (see above)

    try:
        async with Client(transport, cache=None) as opened:
            client.set_result(opened)
            await over.wait()
    except BaseException as error:
        if not client.done():
            client.set_exception(TimeoutError() if isinstance(error, asyncio.CancelledError) else error)
            client.exception()  # seen, even if no call waits for it any more
        elif not _is_a_failure([error]):
            raise


def _is_a_failure(errors: Iterable[BaseException]) -> bool:
    """Whether a server can cause these errors, such as by ending while its client is closed."""
    return all(isinstance(leaf, failures()) for error in errors for leaf in leaves(error))
