"""One call of an operation: its arguments by role, and the state as the call sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, ClassVar

from mcp_sim.plans.operation import Operation
from mcp_sim.plans.outcome import as_text
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Change, Json, Key, PastCall, Record, Tool, Turn, View
from mcp_sim.types.clock import iso_seconds
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, properties
from mcp_sim.types.kinds import Invent
from mcp_sim.types.time_formats import time_format

NO_DRAWS = Draws(0, "", "", 0)
"""The draws of calls from Python that give none."""

_INTEGER = re.compile(r"-?\d{1,400}")
"""The form of integers in texts."""
_USUAL_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""The form of times where no record has another one."""


@dataclass(frozen=True)
class Binding:
    """How an operation is called: what all calls through one tool share. Calls from Python have no tool."""

    operation: Operation
    entity: str = ""
    """The entity that the operation works on, with the prefix of the server if servers have separate state."""
    prefix: str = ""
    """That prefix."""
    selector: str = ""
    """The argument by which the tool selects the operation, if it has several."""
    tool: Tool | None = None
    arguments: Mapping[str, str] = field(default_factory=dict[str, str])
    """Role -> the argument that has it."""
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Any])
    """Role, or name of a setting -> the value that the tool itself implies."""
    peers: frozenset[str] = frozenset()
    """The operations of all tools of this backend."""
    shared: Any = None
    """What the backend prepared for all calls."""

    @cached_property
    def defaults(self) -> Mapping[str, Json]:
        """Role -> the default that the tool declares for its argument."""
        if self.tool is None:
            return {}
        declared = properties(expanded(self.tool.input_schema))
        parts = ((role, declared.get(name, {})) for role, name in self.arguments.items())
        return {role: schema["default"] for role, schema in parts if schema.get("default") is not None}

    @cached_property
    def is_open(self) -> bool:
        """Whether the tool has no output schema that lists the parts of a result."""
        return self.tool is not None and not properties(expanded(self.tool.output_schema or {})).keys() - {"result"}


class Request:
    """One call of an operation.

    `put` and `drop` collect changes, which later reads of the same call see. Nothing is written before the call ends.
    """

    missing: ClassVar[tuple[Json, ...]] = (None,)
    """Values of arguments that mean the same as none."""

    def __init__(
        self,
        binding: Binding,
        view: View,
        now: datetime,
        given: Mapping[str, Json],
        *,
        draws: Draws = NO_DRAWS,
        history: Sequence[PastCall] = (),
        turn: Turn | None = None,
        invent: Invent | None = None,
    ) -> None:
        self.binding, self.now, self.draws, self.history = binding, now, draws, history
        self.given = given
        """Role -> value, as the call gives it."""
        self.turn, self.invent = turn, invent
        self._view = view
        self._start = view
        self._changes: list[Change] = []
        self._seen = 0
        self._writes: dict[tuple[str, Key], int] = {}

    @classmethod
    def of(cls, binding: Binding, turn: Turn, invent: Invent) -> Request:
        """Return the request of a tool call."""
        called = turn.call.arguments
        given = dict(binding.fixed)
        for role, name in binding.arguments.items():
            if name in called:
                given[role] = called[name]
        return cls(
            binding, turn.view, turn.now, given, draws=turn.draws, history=turn.history, turn=turn, invent=invent
        )

    # arguments

    def get(self, role: str, default: Json = None) -> Json:
        """Return the argument with a role: as given, else as the tool's schema or the tool itself implies."""
        value = self.given.get(role)
        if value in self.missing:
            value = self.binding.defaults.get(role)
        return default if value in self.missing else value

    @property
    def others(self) -> Record:
        """The arguments without a role, by name."""
        called: Record = self.turn.call.arguments if self.turn is not None else {}
        taken = {*self.binding.arguments.values(), self.binding.selector}
        return {name: value for name, value in called.items() if name not in taken}

    def has(self, role: str) -> bool:
        """Return whether the tool has an argument with a role, or the call from Python gives it."""
        return role in self.binding.arguments or role in self.given

    def text(self, role: str, default: str = "") -> str:
        """Return an argument as text."""
        value = self.get(role)
        return default if value is None else as_text(value)

    def required(self, role: str) -> str:
        """Return an argument as text. Raises `Refused` if it is missing or blank."""
        value = self.text(role)
        if not value.strip():
            raise Refused("invalid", f"Missing required argument: {self.named(role)}")
        return value

    def texts(self, role: str) -> list[str]:
        """Return an argument as a list of texts; a single text is a list of one."""
        value = self.get(role)
        return [value] if isinstance(value, str) else [as_text(item) for item in as_list(value)]

    def flag(self, role: str) -> bool:
        """Return whether a flag is set."""
        return self.get(role) is True

    def number(self, role: str) -> int | None:
        """Return an argument as an integer, or None."""
        value = self.get(role)
        if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
            return int(value)
        return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None

    def named(self, role: str) -> str:
        """Return the name of the argument with a role, for messages."""
        return self.binding.arguments.get(role, role)

    @property
    def tool(self) -> Tool | None:
        """The tool that is called; None for calls from Python."""
        return self.binding.tool

    @property
    def peers(self) -> frozenset[str]:
        """The operations of all tools of this backend."""
        return self.binding.peers

    def mentions(self, *phrases: str) -> bool:
        """Return whether the tool's description contains one of these phrases, in lower case."""
        description = self.tool.description.lower() if self.tool is not None else ""
        return any(phrase in description for phrase in phrases)

    # state

    @property
    def entity(self) -> str:
        """The entity that the operation works on."""
        return self.binding.entity

    def entity_named(self, name: str) -> str:
        """Return the name of an entity in this world; the empty name is that of the operation's own."""
        return self.binding.prefix + name if name else self.binding.entity

    @property
    def view(self) -> View:
        """The state with the changes of this call."""
        if self._seen < len(self._changes):
            self._view = self._view.after(self._changes[self._seen :])
            self._seen = len(self._changes)
        return self._view

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes of this call."""
        return tuple(self._changes)

    def record(self, key: Key, entity: str = "") -> Record | None:
        """Return a record, or None."""
        return self.view.get(self.entity_named(entity), key)

    def rows(self, entity: str = "") -> Iterator[Record]:
        """Iterate over the records of an entity, in the order of creation."""
        return (record for _, record in self.view.rows(self.entity_named(entity)))

    def time(self, field: str, entity: str = "") -> Json:
        """Return the time of the call for a field, in the format of the newest record, by default RFC 3339."""
        name, view = self.entity_named(entity), self.view
        keys = (view.last_key(name), view.sample_key(name, 0))
        record = next((held for key in keys if key is not None and (held := view.get(name, key)) is not None), None)
        newest: Json = (record or {}).get(field)
        form = None if newest is None or _USUAL_TIME.fullmatch(str(newest)) else time_format(newest)
        return iso_seconds(self.now) if form is None else form.write(self.now)

    def put(self, key: Key, record: Record, entity: str = "") -> None:
        """Write a record."""
        self._change("put", self.entity_named(entity), key, record)

    def drop(self, key: Key, entity: str = "") -> None:
        """Remove a record."""
        self._change("remove", self.entity_named(entity), key, None)

    def undo(self) -> None:
        """Drop all changes of this call."""
        self._view, self._changes, self._seen, self._writes = self._start, [], 0, {}

    def _change(self, op: Any, entity: str, key: Key, record: Record | None) -> None:
        written = self._writes.get((entity, key), 0)
        expected = self._start.version(entity, key) + written
        self._writes[entity, key] = written + 1
        self._changes.append(Change(op, entity, key, record, expected=expected))
