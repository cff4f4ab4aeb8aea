"""The requests that a real server is answering, and what it asks and reports to their clients meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from secrets import token_urlsafe
from typing import Any

from mcp_sim.types import Json, Record
from mcp_sim.types.calls import RequestingClient

NO_CLIENT = "There is no client that can answer this"  # what a server reads whose question cannot be passed on


class Exchange:
    """One request, and its client.

    A client of a protocol with a handshake is asked while its request is open. Any other one gets the question as its
    result, and repeats the request with the answer. Until then the exchange is parked.
    """

    def __init__(self, client: RequestingClient | None) -> None:
        self.client = client
        self._task: asyncio.Task[Record] | None = None
        self._question: asyncio.Future[Record] = _future()
        self._reply: asyncio.Future[Json] = _future()
        self.is_asking = False
        """Whether a question is open, so that another one is not of this request."""
        self._has_asked = False
        self._notices = set[asyncio.Task[None]]()

    def start(self, sending: Coroutine[Any, Any, Record], ended: Callable[[], None]) -> None:
        self._task = asyncio.create_task(sending)
        self._task.add_done_callback(lambda _: ended())

    async def next(self, seconds: float) -> Record | None:
        """Wait for the server: return the question that is to be a result, or None if the answer has come.

        Raises `TimeoutError`. The time that the client takes for answers does not count.
        """
        assert self._task is not None
        waiting = {self._task, self._question}
        while True:
            self._has_asked = False
            done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if self._question in done:
                return self._question.result()
            if done:
                return None
            if not (self.is_asking or self._has_asked):
                raise TimeoutError

    async def result(self) -> Record:
        """Return the answer, once everything that came before it has been passed on."""
        assert self._task is not None
        if self._notices:
            await asyncio.wait(self._notices)
        return await self._task

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task.add_done_callback(_seen)

    # what the server sends meanwhile ----------------------------------------------------------------------------------

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        given = {"progress": _plain(progress), "total": _plain(total), "message": message}
        await self.notify("notifications/progress", {name: value for name, value in given.items() if value is not None})

    async def notify(self, method: str, params: Record) -> None:
        """Pass a notification on to the client, if it still waits."""
        client = self.client
        if client is not None:
            task = asyncio.current_task()
            assert task is not None
            self._notices.add(task)
            try:
                await client.notify(method, params)
            finally:
                self._notices.discard(task)

    async def ask(self, method: str, params: Record) -> Json:
        """Return the client's answer to a question; None if it cannot be asked."""
        client = self.client
        if client is None or not client.can_answer(method, params):
            return None
        self.is_asking = True
        try:
            if not client.is_asked_by_results:
                return await client.ask(method, params)
            self._reply = _future()
            self._question.set_result({"method": method, "params": params})
            return await self._reply
        finally:
            self.is_asking, self._has_asked = False, True

    def resume(self, client: RequestingClient | None, reply: Json) -> None:
        """Go on with the reply to the question that the client got as a result."""
        self.client, self._question = client, _future()
        self._reply.set_result(reply)


class Exchanges:
    """The exchanges of one connection."""

    def __init__(self) -> None:
        self._open = dict[Exchange, None]()
        self._parked = dict[str, Exchange]()

    def begin(self, exchange: Exchange, sending: Coroutine[Any, Any, Record]) -> None:
        self._open[exchange] = None
        exchange.start(sending, lambda: self._open.pop(exchange, None))

    def park(self, exchange: Exchange, seconds: float) -> str:
        """Keep an exchange until its client repeats the request, at most so long. Return the state to repeat."""
        state, exchange.client = token_urlsafe(), None
        self._parked[state] = exchange
        asyncio.get_running_loop().call_later(seconds, self._forget, state)
        return state

    def resumed(self, state: Json) -> Exchange | None:
        """Return the parked exchange that a request goes on with, if any."""
        return self._parked.pop(state, None) if isinstance(state, str) else None

    def _forget(self, state: str) -> None:
        exchange = self._parked.pop(state, None)
        if exchange is not None:
            exchange.cancel()

    def cancel(self) -> None:
        """End all requests, since the connection ends."""
        for exchange in list(self._open):
            exchange.cancel()
        self._parked.clear()

    # what the SDK's client calls --------------------------------------------------------------------------------------

    def callbacks(self, client: RequestingClient | None) -> dict[str, Any]:
        """Return the callbacks for a connection that has the capabilities of a client."""
        asked: dict[str, tuple[str, Callable[..., Awaitable[Any]]]] = {
            "elicitation/create": ("elicitation_callback", self._elicited),
            "sampling/createMessage": ("sampling_callback", self._sampled),
            "roots/list": ("list_roots_callback", self._rooted),
        }
        can = [pair for method, pair in asked.items() if client is not None and client.can_answer(method, {})]
        return {"logging_callback": self._logged, **dict(can)}

    async def _logged(self, params: Any) -> None:
        """Pass a log message on to all clients whose requests are open: it does not say which it belongs to."""
        body = params.model_dump(by_alias=True, mode="json", exclude_none=True)
        for exchange in list(self._open):
            with suppress(OSError):
                await exchange.notify("notifications/message", body)

    async def _elicited(self, _context: Any, params: Any) -> Any:
        from mcp_types import ElicitResult  # noqa: PLC0415 (half a second, only where a server is asked)

        return await self._answered("elicitation/create", params, ElicitResult)

    async def _sampled(self, _context: Any, params: Any) -> Any:
        from mcp_types import CreateMessageResult, CreateMessageResultWithTools  # noqa: PLC0415 (see above)

        form = CreateMessageResultWithTools if params.tools else CreateMessageResult
        return await self._answered("sampling/createMessage", params, form)

    async def _rooted(self, _context: Any) -> Any:
        from mcp_types import ListRootsResult  # noqa: PLC0415 (see above)

        return await self._answered("roots/list", None, ListRootsResult)

    async def _answered(self, method: str, params: Any, form: Any) -> Any:
        """Return the answer of the client whose request is the only one that the server works on, else an error."""
        from mcp_types import INVALID_REQUEST, ErrorData  # noqa: PLC0415 (see above)

        body: Record = {} if params is None else params.model_dump(by_alias=True, mode="json", exclude_none=True)
        working = [exchange for exchange in self._open if not exchange.is_asking]
        answer = await working[0].ask(method, body) if len(working) == 1 else None
        if answer is None:
            return ErrorData(code=INVALID_REQUEST, message=NO_CLIENT)
        return form.model_validate(answer, by_name=False)


def _future() -> asyncio.Future[Any]:
    return asyncio.get_running_loop().create_future()


def _plain(number: float | None) -> float | None:
    """Return a number as servers write it: the SDK makes a float of each."""
    return int(number) if number is not None and number.is_integer() else number


def _seen(task: asyncio.Task[Any]) -> None:
    """Take note of a failure that no caller waits for."""
    if not task.cancelled():
        task.exception()
