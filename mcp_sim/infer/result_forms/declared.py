"""What does an outputSchema say of a result: nothing, that it is an object or a text, or what is in it at its best?

Frameworks write the union of what a function returns: `Task | Error`, or the replies of all tools of a server in one.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    expanded,
    is_open,
    main_type,
    properties,
    required,
)
from mcp_sim.types.lexicon.words import snake, vocabulary, words

_BRANCHES = ("anyOf", "oneOf")
_GOOD = vocabulary("success ok successful succeeded")
_BAD = vocabulary("error errors failure exception")
_LONGEST_READ = 400
_FAR = 100
"""So far away is what is not called after the tool at all."""


def result_schema(tool: Tool) -> Record:
    """The outputSchema, expanded; of several objects that it allows, the one that the tool gives. {} without one."""
    if tool.output_schema is None:
        return {}
    schema = expanded(tool.output_schema)
    parts = properties(schema)
    if len(parts) != 1:
        return schema if parts else _own(schema, tool)
    ((name, part),) = parts.items()
    return {**schema, "properties": {name: part if properties(part) else _own(part, tool)}}


def form_declared(tool: Tool) -> Record | None:
    """The schema of a result, None where no outputSchema says what is in it."""
    said = result_schema(tool) if tool.output_schema is not None else None
    return said if said is not None and not is_open(said) else None


def text_place(tool: Tool) -> str | None:
    """The only property of an outputSchema, where it holds a text: what frameworks say of any text."""
    parts = properties(result_schema(tool))
    name = next(iter(parts), None)
    return name if name is not None and len(parts) == 1 and main_type(parts[name]) == "string" else None


def _own(schema: Record, tool: Tool) -> Record:
    """The form that this tool gives where all goes well: that which is called after it, else the first."""
    forms = [as_object(form) for word in _BRANCHES for form in as_list(schema.get(word))]
    if len(forms) < 2 or any(main_type(form) != "object" or not properties(form) for form in forms):
        return schema
    good = [form for form in forms if not _fails(form)]
    return min(good, key=lambda form: _distance(form, tool)) if good else schema


def _fails(form: Record) -> bool:
    parts = {snake(name): part for name, part in properties(form).items()}
    if any(constants(part) == [False] for name, part in parts.items() if name in _GOOD):
        return True
    called = words(str(form.get("title", "")))
    return not _BAD.isdisjoint(called) and not _BAD.isdisjoint(map(snake, required(form)))


def _distance(form: Record, tool: Tool) -> int:
    """How many words beside the tool's own it is called by, as `CreateNoteResponse` or "Reply of create_note"."""
    own = frozenset(words(tool.name))
    return min((len(said - own) for said in _said(form) if own <= said), default=_FAR)


def _said(form: Record) -> Iterator[frozenset[str]]:
    yield frozenset(words(str(form.get("title", ""))))
    described = str(form.get("description", ""))[:_LONGEST_READ]
    yield from (frozenset(words(name)) for name in described.replace("`", " ").split() if "_" in name)
