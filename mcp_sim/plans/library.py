"""Operations of a backend, called from Python on a view of a state, without a tool or a plan."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from mcp_sim.plans.operation import Operation
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.request import NO_DRAWS
from mcp_sim.types import Change, Json, View
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import backends


class Library:
    """The operations of one backend as methods: `files.write("/a.txt", "text")`, `git.commit("Fix it")`.

    Arguments are given in the order of the operation's roles, or by the name of a role. A method returns an `Outcome`
    and raises `Refused` if the operation fails. Each call sees the changes of those before; `changes` are all of them,
    to be committed by the caller.
    """

    def __init__(
        self,
        kind: str,
        view: View,
        now: datetime,
        *,
        draws: Draws = NO_DRAWS,
        prefix: str = "",
        kept: dict[Hashable, Any] | None = None,
    ) -> None:
        """Open the backend `kind` on a view. `prefix` is that of its entities, if servers have separate state.

        `kept` is what libraries of one scenario share, such as a database that follows the views of all calls.

        Raises `UnknownKind` if there is no such backend, and `TypeError` if it has no operations.
        """
        backend = backends[kind]()
        if not isinstance(backend, OperationsBackend):
            raise TypeError(f"the backend {kind!r} has no operations")
        self._backend, self._view, self._now, self._draws, self._prefix = backend, view, now, draws, prefix
        self._kept: dict[Hashable, Any] = {} if kept is None else kept
        self._changes: tuple[Change, ...] = ()
        self.part: int | None = None
        """The item of a batch that the next changes belong to."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of all calls so far."""
        return self._changes

    @property
    def view(self) -> View:
        """The state with these changes."""
        return self._view

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *self._backend.known])

    def __getattr__(self, name: str) -> Callable[..., Outcome]:
        operation = self._backend.known.get(name)
        if operation is None:
            raise AttributeError(f"no operation {name!r}{did_you_mean(name, self._backend.known)}")
        return partial(self._run, operation)

    def _run(self, operation: Operation, *values: Json, **named: Json) -> Outcome:
        given = _bound(operation, values, named)
        binding = self._backend.unbound(operation, self._prefix, self._kept)
        request: Any = self._backend.request_type(binding, self._view, self._now, given, draws=self._draws)
        outcome = self._backend.function(operation)(request)
        self._changes += tuple(replace(change, part=self.part) for change in request.changes)
        self._view = request.view
        return outcome


def _bound(operation: Operation, values: tuple[Json, ...], named: dict[str, Json]) -> dict[str, Json]:
    """Return the values by role. Raises `TypeError` as a call of a Python function does."""
    names = [role.name for role in operation.roles]
    if len(values) > len(names):
        raise TypeError(f"{operation.name}() takes {len(names)} arguments, {len(values)} were given")
    given = dict(zip(names, values, strict=False))
    for name in named:
        if name not in names:
            raise TypeError(f"{operation.name}() has no argument {name!r}{did_you_mean(name, names)}")
        if name in given:
            raise TypeError(f"{operation.name}() got several values for {name!r}")
    return {**given, **named}
