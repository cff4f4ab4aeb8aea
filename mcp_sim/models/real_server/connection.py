"""The connection to a real server: opened at the first call, shared by all worlds, opened again after it broke."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

from mcp_sim.models.real_server.exchanges import Exchange, Exchanges
from mcp_sim.spec.foreign.secrets import Secrets
from mcp_sim.spec.live_server import AtUrl, Place, Stderr, connected, failure_reason, failures, leaves
from mcp_sim.types import Record, as_object
from mcp_sim.types.calls import Request, RequestingClient
from mcp_sim.types.errors import Crash, InputRequired

ASKS_BACK = "input_required"  # the `resultType` of an answer with questions for the client

CLOSED = "Connection closed"

NO_ANSWER = re.compile(
    r"Session terminated|Not Found|Server returned an error response"
    r"|(?:Unexpected content type: |Failed to parse (?:SSE message|JSON response): |SSE stream (?:failed: |ended )"
    r"|server answered a request with 202 Accepted|Redirect to \S+ not followed).*",
    re.DOTALL,
)
"""The messages of errors that the SDK's client makes where a server has not answered in the protocol, over HTTP."""

LONGEST_PARKED = 600.0  # the most seconds that a real server waits for the client to repeat a request with its answers


class RealServer:
    """A real server. `name` is what messages call it."""

    def __init__(self, name: str, place: Place, secrets: Secrets, timeout: float) -> None:
        self._name, self._place, self._secrets, self._timeout = name, place, secrets, timeout
        self._session: _Session | None = None

    async def call(self, tool: str, arguments: Record, client: RequestingClient | None = None) -> Record:
        """Return the `result` or the `error` that the server answers to a call.

        Its questions and notifications go to the `client`. Raises `InputRequired` if the client is to repeat the call
        with answers, and `Crash` if the server cannot be reached, breaks off or takes too long. After a connection that
        broke, the next call connects again; a server that is only slow is kept, with its state.
        """
        return await self._answered(Request("tools/call", {"name": tool, "arguments": arguments}, client), tool)

    async def request(self, request: Request) -> Record:
        """Return the answer to another request, like `call`."""
        return await self._answered(request, request.method)

    async def aclose(self) -> None:
        """Close the connection, and end the process that it started."""
        if self._session is not None:
            await self._close(self._session)

    async def _answered(self, request: Request, named: str) -> Record:
        session = self._session = self._session or _Session.open(self._place, request.client)
        try:
            return await self._asked(session, request, named)
        except (BaseExceptionGroup, *failures()) as error:
            if not (isinstance(error, TimeoutError) and session.is_open):
                await self._close(session)
            reason = failure_reason(session.what_broke(error), self._timeout)
            raise Crash(named, f"{self._name}: {self._secrets.redact(reason + session.stderr.last_lines)}") from None

    async def _asked(self, session: _Session, request: Request, named: str) -> Record:
        """Return the answer. Questions that a server returns as a result are put to a client that takes requests."""
        answer = await self._sent(session, request)
        result = as_object(answer.get("result"))
        if result.get("resultType") != ASKS_BACK:
            return answer
        client, questions = request.client, as_object(result.get("inputRequests"))
        if client is not None and client.is_asked_by_results:
            raise InputRequired(result)
        answers = dict[str, Any]()
        for name, question in questions.items():
            body = as_object(question)
            answers[name] = (
                None if client is None else await client.ask(str(body.get("method")), as_object(body.get("params")))
            )
            if answers[name] is None:
                raise Crash(named, f"{self._name} asks the user a question, which this client cannot answer")
        again = {"inputResponses": answers, "requestState": result.get("requestState")}
        params = {**request.params, **{name: value for name, value in again.items() if value is not None}}
        return await self._asked(session, Request(request.method, params, client), named)

    async def _sent(self, session: _Session, request: Request) -> Record:
        """Return the answer of the server, which may take part of its time for questions to the client."""
        from mcp import MCPError  # noqa: PLC0415 (half a second, only where a server is asked)

        exchange = await self._exchange(session, request)
        try:
            question = await exchange.next(self._timeout)
        except BaseException:
            exchange.cancel()
            raise
        if question is not None:
            state = session.exchanges.park(exchange, LONGEST_PARKED)
            raise InputRequired({"resultType": ASKS_BACK, "inputRequests": {"1": question}, "requestState": state})
        try:
            return {"result": await exchange.result()}
        except MCPError as error:
            is_http = isinstance(self._place, AtUrl)
            if error.message == CLOSED or (is_http and NO_ANSWER.fullmatch(error.message)):
                raise
            return {"error": error.error.model_dump(by_alias=True, exclude_none=True)}

    async def _exchange(self, session: _Session, request: Request) -> Exchange:
        """Return the exchange of a request: one that waits for the answers that came with it, else a new one."""
        async with asyncio.timeout(self._timeout):
            client = await asyncio.shield(session.client)
        repeats = {} if request.client is None else request.client.repeats
        parked = session.exchanges.resumed(repeats.get("requestState"))
        if parked is not None:
            parked.resume(request.client, as_object(repeats.get("inputResponses")).get("1"))
            return parked
        exchange = Exchange(request.client)
        session.exchanges.begin(exchange, _send(client.session, request, repeats, exchange))
        return exchange

    async def _close(self, session: _Session) -> None:
        if self._session is session:
            self._session = None
        await session.close()


async def _send(session: Any, request: Request, repeats: Record, exchange: Exchange) -> Record:
    """Send a request as it is, with what of its client's `_meta` is its own."""
    from mcp_types import LOG_LEVEL_META_KEY  # noqa: PLC0415 (see above)
    from mcp_types import Request as Sent  # noqa: PLC0415 (see above)
    from pydantic import TypeAdapter  # noqa: PLC0415 (see above)

    client = request.client
    meta: Record = {} if client is None else {**client.meta}
    if client is not None and client.log_level is not None and session.discover_result is not None:
        meta[LOG_LEVEL_META_KEY] = client.log_level
    params = {**repeats, **request.params, **({"_meta": meta} if meta else {})}
    on_progress = exchange.progress if client is not None and client.wants_progress else None
    sent = Sent[Any, Any](method=request.method, params=params)
    return await session.send_request(sent, TypeAdapter(dict[str, Any]), progress_callback=on_progress)


@dataclass(slots=True)
class _Session:
    """A session, held open by a task of its own, as the worlds that call have theirs."""

    client: asyncio.Future[Any]
    stderr: Stderr
    over: asyncio.Event
    task: asyncio.Task[BaseException | None]
    exchanges: Exchanges

    @classmethod
    def open(cls, place: Place, client: RequestingClient | None) -> _Session:
        """Begin to connect, with the capabilities of the client whose request comes first."""
        opened, over, stderr = asyncio.get_running_loop().create_future(), asyncio.Event(), Stderr()
        exchanges = Exchanges()
        task = asyncio.create_task(_hold(place, stderr, exchanges.callbacks(client), opened, over))
        return cls(opened, stderr, over, task, exchanges)

    @property
    def is_open(self) -> bool:
        return self.client.done() and not self.task.done()

    def what_broke(self, error: BaseException) -> BaseException:
        """Return why the connection of a request closed, if that is its error and the reason is known."""
        if not (str(error) == CLOSED and self.task.done() and not self.task.cancelled()):
            return error
        return self.task.result() or error

    async def close(self) -> None:
        self.over.set()
        self.exchanges.cancel()
        if not self.client.done():
            self.task.cancel()
        await asyncio.wait([self.task])
        self.stderr.close()


async def _hold(
    place: Place, stderr: Stderr, callbacks: dict[str, Any], client: asyncio.Future[Any], over: asyncio.Event
) -> BaseException | None:
    """Open a client, hand it out, and hold it open. What goes wrong before is handed out, too.

    Return what broke it afterwards, such as a server that ends.
    """
    try:
        async with connected(place, stderr, **callbacks) as opened:
            client.set_result(opened)
            await over.wait()
    except BaseException as error:
        if not client.done():
            client.set_exception(TimeoutError() if isinstance(error, asyncio.CancelledError) else error)
            client.exception()  # seen, even if no call waits for it any more
        elif all(isinstance(leaf, failures()) for leaf in leaves(error)):
            return error
        else:
            raise
    return None
