"""Values that programs ask a language model for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anyio import from_thread

from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.conversation import Conversation
from mcp_sim.models.language_model.reply import observation_text, parse_json
from mcp_sim.types import Json, Key, Record, Turn
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import Invent


@dataclass(slots=True)
class Imagination:
    """An `Invent` for a program in a thread: it asks a language model for what the program imagines."""

    invent: Invent
    conversation: Conversation
    attempts: int
    """How often the model is asked for one value; then it is generated."""
    asked: int = 0

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        return self.invent(turn, entity, field, schema, record)

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        return self.invent.choose_reference(turn, entity, field, target, keys)

    def imagine(self, turn: Turn, schema: Record, about: str) -> Json:
        validator, user = Validator(schema), prompt.imagined_turn(turn, about)
        for attempt in range(self.attempts):
            self.asked += 1
            reply = from_thread.run(self.conversation.ask_about, turn, user, schema, f"imagine/{attempt}")
            try:
                value = None if reply is None else parse_json(observation_text(reply), reply.content)
            except Rejected:
                continue
            if reply is not None and validator.is_valid(value):
                return value
        return self.invent.imagine(turn, schema, about)
