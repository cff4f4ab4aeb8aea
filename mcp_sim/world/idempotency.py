"""Idempotency keys: two requests with the same key in the same world are one call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from anyio import Lock

from mcp_sim.types import Call, Observation, ToolResult
from mcp_sim.types.errors import UsageError

KEPT = 1000
"""The most keys that a world remembers; then the oldest is forgotten. A retry follows its call closely, and an agent
makes far fewer calls."""

MOST_BYTES = 64 * 1024 * 1024
"""The most bytes of remembered answers; then the oldest is forgotten. Answers may have megabytes, and a thousand of
them would fill the memory."""

LONGEST_KEY = 256  # keys are kept as long as the world; real APIs allow as many or fewer (Stripe: 255)


class KeyReused(UsageError):
    """An idempotency key was used for another call."""

    def __init__(self) -> None:
        super().__init__("The idempotency key was used for another call")


@dataclass(slots=True)
class _Keyed:
    """A call with a key, and its observation once there is one; `size` is about how many bytes that has."""

    call: Call
    observation: Observation | None = None
    size: int = 0
    lock: Lock = field(default_factory=Lock)


class KeyedCalls:
    """The calls of one world with a key. A call that crashed or was cancelled is made again when it is repeated.

    `size` is about how many bytes the observations have.
    """

    __slots__ = ("_keyed", "size")

    def __init__(self) -> None:
        self._keyed: OrderedDict[str, _Keyed] = OrderedDict()
        self.size = 0

    async def once(self, key: str, call: Call, answer: Callable[[], Awaitable[Observation]]) -> Observation:
        """Return the observation of the first call under this key.

        Raises `KeyReused` if that was another call, and `UsageError` if the key is too long.
        """
        if len(key) > LONGEST_KEY:
            raise UsageError(f"an idempotency key has at most {LONGEST_KEY} characters")
        keyed = self._of(key, call)
        async with keyed.lock:
            if keyed.observation is None:
                self._note(key, keyed, await answer())
            assert keyed.observation is not None
            return keyed.observation

    def known(self, call: Call) -> Observation | None:
        """Return the earlier answer to this call, if it has a key; else None. Raises `KeyReused`."""
        return self._of(call.key, call).observation if call.key is not None else None

    def learn(self, call: Call, observation: Observation) -> None:
        """Remember the answer to a call, made here or in another process."""
        if call.key is not None:
            self._note(call.key, self._of(call.key, call), observation)

    def _of(self, key: str, call: Call) -> _Keyed:
        keyed = self._keyed.setdefault(key, _Keyed(replace(call, client=None)))
        if keyed.call != call:
            raise KeyReused
        self._forget()
        return keyed

    def _note(self, key: str, keyed: _Keyed, observation: Observation) -> None:
        if keyed.observation is None:
            keyed.observation = observation
            if self._keyed.get(key) is keyed:
                keyed.size = len(observation.body.encoded) if isinstance(observation.body, ToolResult) else 0
                self.size += keyed.size
                self._forget()

    def _forget(self) -> None:
        """Forget the oldest answers, if there are too many keys or bytes."""
        while len(self._keyed) > 1 and (len(self._keyed) > KEPT or self.size > MOST_BYTES):
            self.size -= self._keyed.popitem(last=False)[1].size
