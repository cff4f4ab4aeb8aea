"""How does a tool tell what came of a call: under its outputSchema, in the form of an example, or in the plainest form?

A backend says what there is to tell, as facts under names of its own; `fitting` finds the places for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.fitting import Names, Told, fitter
from mcp_sim.infer.result_forms import result_schema
from mcp_sim.infer.result_forms.prose import returns_data
from mcp_sim.types import Change, Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Example
from mcp_sim.types.json_schema.shapes import as_list, as_object, expanded, properties, schema_of
from mcp_sim.types.json_text import encode
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.words import snake, vocabulary


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call. `main` names the fact that is the answer proper, `text` tells it to people.

    `is_json`: where nothing says in which form, the main fact (all facts, where there is no main one) goes out as JSON.
    `is_absent`: what was asked for is not there; where a result may have any form, the text alone says so.
    `guessed`: nobody can know whether it is so, as with a translation.
    """

    text: str
    facts: Mapping[str, Json] = field(default_factory=dict[str, Any])
    main: str = ""
    is_json: bool = False
    changes: tuple[Change, ...] = ()
    guessed: bool = False
    is_absent: bool = False

    @property
    def value(self) -> Json:
        """What goes out as JSON where nothing says in which form."""
        return self.facts[self.main] if self.main else dict(self.facts)


Operate: TypeAlias = Callable[[Turn], Outcome]
"""What a tool does, before it is told; raises Refused."""

_OPEN: Record = {"type": "object"}
_PAGED = vocabulary("cursor page page_size page_token next_token next_cursor continuation_token")
"""Arguments by which callers ask for more: what they need for that they get as data."""

Tell: TypeAlias = Callable[[Turn, Outcome], Observation]


def plain(value: Json) -> str:
    """A value as a text that stands alone."""
    return value if isinstance(value, str) else encode(value).decode()


def valued(value: Json, **facts: Json) -> Outcome:
    """The outcome whose answer proper is this value; what has parts is JSON, all else a text."""
    has_parts = isinstance(value, dict | list)
    return Outcome(plain(value), {**facts, "value": value}, "value", is_json=has_parts)


def done(sentence: str, *changes: Change, **facts: Json) -> Outcome:
    """The outcome that something was done, told in a sentence."""
    return Outcome(sentence, facts, changes=changes)


def answering(tool: Tool, domain: Domain, operate: Operate, names: Names) -> Answer:
    """The answer of a tool that does this; what is refused fails in the tool's own style."""
    return inventing(tool, domain, lambda turn, _invent: operate(turn), names)


def inventing(tool: Tool, domain: Domain, operate: Callable[[Turn, Invent], Outcome], names: Names) -> Answer:
    """The same for what may have to make up a field that nobody said."""
    tell = teller(tool, domain, names)

    def answer(turn: Turn, invent: Invent) -> Transition:
        try:
            outcome = operate(turn, invent)
        except Refused as refused:
            return Transition(tool.failure(refused.kind, str(refused), **{**turn.call.arguments, **refused.slots}))
        return Transition(tell(turn, outcome), outcome.changes, guessed=outcome.guessed)

    return answer


def teller(tool: Tool, domain: Domain, names: Names) -> Tell:
    """What makes a result of an outcome."""
    examples = [one for one in domain.examples if one.tool in {tool.id, tool.name} and not one.is_blocks]
    shape, form = _shape(tool, examples)
    if shape is None and not examples and _answers_in_data(tool, domain):
        shape, form = _OPEN, "json"
    if shape is not None:
        fit, is_open = fitter(shape, names), shape is _OPEN

        def fitted(turn: Turn, outcome: Outcome) -> Observation:
            if is_open and outcome.is_absent:
                return Observation(ToolResult(outcome.text, form="text"))
            return Observation(ToolResult(fit(_told(turn, outcome)), form=form))

        return fitted
    worded = worded_like(examples)

    def tell(turn: Turn, outcome: Outcome) -> Observation:
        if outcome.is_json and not examples:
            return Observation(ToolResult(outcome.value, form="json"))
        said = worded(turn.call.arguments) if outcome.changes else None
        return Observation(ToolResult(said or outcome.text, form="text"))

    return tell


def _shape(tool: Tool, examples: list[Example]) -> tuple[Record | None, Any]:
    """The schema that results have, said or shown, and the form in which they go out."""
    if tool.output_schema is not None:
        return result_schema(tool), "structured"
    shown = next((one.result for one in examples if as_object(one.result) or as_list(one.result)), None)
    return (None if shown is None else schema_of(shown)), "json"


def _answers_in_data(tool: Tool, domain: Domain) -> bool:
    """Does it, or does its whole server, where one of its tools is asked for pages?"""
    others = (one for one in domain.tools.values() if one.server == tool.server)
    return returns_data(tool.description) or any(_gives_pages(one) for one in others)


def _gives_pages(tool: Tool) -> bool:
    return not _PAGED.isdisjoint(map(snake, properties(expanded(tool.input_schema))))


def _told(turn: Turn, outcome: Outcome) -> Told:
    return Told(turn, outcome.text, outcome.facts, outcome.main, bool(outcome.changes), outcome.is_json)


def worded_like(examples: Sequence[Example]) -> Callable[[Record], str | None]:
    """A sentence for the arguments of a call; None where no example words one with nothing but what was asked for."""
    templates = [parts for one in examples if (parts := _template(one)) is not None]

    def worded(arguments: Record) -> str | None:
        fitting = (parts for parts in templates if {part[1] for part in parts if part[1]} <= arguments.keys())
        found = next(fitting, None)
        return None if found is None else "".join(text or written(arguments[name]) for text, name in found)

    return worded


def written(value: Json) -> str:
    """A value within a sentence."""
    return value if isinstance(value, str) else encode(value).decode()


def _template(example: Example) -> list[tuple[str, str]] | None:
    """The text of a recorded call in parts: as it stands, or the name of the argument that stands there.

    A sentence that holds a number of its own tells of the record, not of the call: it is no template.
    """
    if not isinstance(example.result, str):
        return None
    slots = {written(value): name for name, value in example.arguments.items() if len(written(value)) > 1}
    if not slots:
        return None
    ordered = sorted(slots, key=lambda text: -len(text))
    pieces = re.split("|".join(f"({re.escape(text)})" for text in ordered), example.result)
    parts = [("", slots[piece]) if piece in slots else (piece, "") for piece in pieces if piece]
    own = "".join(text for text, _ in parts)
    is_usable = any(name for _, name in parts) and not re.search(r"\d", own) and "\n" not in own
    return parts if is_usable else None
