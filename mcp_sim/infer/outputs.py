"""What does a tool show of what it works on, and what stands where in its result?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mcp_sim.infer.envelopes import envelope_of, plain_envelope
from mcp_sim.infer.result_forms import form_declared, shown_result
from mcp_sim.infer.shown_types import typed
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, properties, schema_of
from mcp_sim.types.plans import RECORDLESS, Envelope, Verb

_NO_TYPES: Mapping[str, Record] = {}


def output_of(tool: Tool, example: Json, text: str | None = None, types: Mapping[str, Record] = _NO_TYPES) -> Record:
    """The outputSchema, expanded; without one, the shape of an example's result; else what the description shows.

    {} where nothing is known. `text` is the property that holds the whole as JSON text, `types` are those of arguments.
    """
    if tool.output_schema is None and isinstance(example, dict | list):
        return schema_of(example)
    said = form_declared(tool) if text is None else None
    return _first_form(said) if said is not None else typed(shown_result(tool.description) or {}, types)


def _first_form(output: Record) -> Record:
    """Of a result that has one of several forms, the first that says what is in it."""
    forms = [as_object(form) for word in ("anyOf", "oneOf") for form in as_list(output.get(word))]
    return output if properties(output) else next((form for form in forms if properties(form)), output)


def envelope_meant(
    verb: Verb, entity: str, output: Record, *, bare: bool = False, limited: bool = False, text: str | None = None
) -> Envelope:
    """Where things stand in the result, by its schema if there is one. `text` is what holds it all as JSON text."""
    if verb in RECORDLESS:
        return Envelope()
    said = properties(output) or items(output)
    envelope = envelope_of(verb, entity, output) if said else plain_envelope(verb, entity, bare=bare, limited=limited)
    return replace(envelope, text=text)
