"""Render the result templates of a spec."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from datetime import datetime
from typing import Any, TypeAlias, cast

from mcp_sim.types import Json, Observation, Record, Tool, ToolResult
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import NOWHERE, as_text, value_at
from mcp_sim.types.result_schemas import text_place
from mcp_sim.types.result_templates import (
    EVERYTHING,
    NUMBER_FORM,
    OPTIONAL,
    ROWS,
    SLOT,
    SPELLINGS,
    ResultTemplate,
    Rows,
    replaced_path,
)
from mcp_sim.types.time_formats import parse_time, time_format

_EMPTY: tuple[Json, ...] = (None, "", [], {})
_PLAIN_JSON = re.compile(r"true|false|-?(0|[1-9]\d{0,15})(\.\d{1,15})?")
_WIDE = re.compile(r"%[-_0^#]*\d{2,}")  # for which glibc pads


@frozen
class Scope:
    """What a template can show."""

    arguments: Record
    now: datetime
    start: datetime
    """When the world began."""
    record: Record = field(default_factory=dict[str, Any])
    """The record that the call is about; empty if it is missing. Within a row, that of the row."""
    rows: Sequence[Record] = ()
    facts: Record = field(default_factory=dict[str, Any])
    """Other things by name: the key, counts, the record before the call."""
    defaults: Record = field(default_factory=dict[str, Any])
    """Values of fields that a record lacks."""

    def get(self, path: str) -> Json:
        """Return the value at the path of a slot; NOWHERE if it is missing."""
        if path == "now":
            return self.now.isoformat()
        if path == "rows":
            return [*self.rows]
        if path.startswith("rows."):
            column = (value_at(row, path.removeprefix("rows.")) for row in self.rows)
            return [value for value in column if value is not NOWHERE]
        named = {**self.arguments, "arguments": self.arguments}
        for place in (self.record, self.facts, named, self.defaults):
            value: Json = value_at(place, path)
            if value is not NOWHERE:
                return value
        return NOWHERE

    def everything(self) -> Record:
        """Return all that a template can show."""
        known: Record = {"record": self.record, "rows": [*self.rows], "arguments": self.arguments}
        return {**known, "facts": self.facts, "defaults": self.defaults}

    def of_row(self, number: int, row: Record) -> Scope:
        """Return the scope within a row."""
        return replace(self, record=row, rows=(), facts={**self.facts, "number": number})


Render: TypeAlias = Callable[[Scope], Observation | None]


def template_renderer(tool: Tool, templates: Sequence[ResultTemplate]) -> Render:
    """Return what renders results by the first template that fits; None if none does."""
    place = text_place(tool)
    is_structured = tool.output_schema is not None

    def render(scope: Scope) -> Observation | None:
        template = next((result_template for result_template in templates if _fits(result_template, scope)), None)
        if template is None:
            return None
        if template.form == "text":
            text = filled_parts(template, scope)
            return Observation(ToolResult(text, form="text") if place is None else ToolResult({place: text}))
        return Observation(_json_result(template, scope, place, is_structured=is_structured))

    return render


def _json_result(template: ResultTemplate, scope: Scope, place: str | None, *, is_structured: bool) -> ToolResult:
    value = fill_json(template.value, scope)
    text = json.dumps(value, ensure_ascii=False, indent=template.indent)
    if place is not None and is_structured and place not in as_object(value):
        return ToolResult({place: text})
    result = ToolResult(value, form="structured" if is_structured else "json")
    if template.block_per_row and isinstance(value, list):
        texts = (item if isinstance(item, str) else json.dumps(item, ensure_ascii=False, indent=template.indent)
                 for item in cast("list[Json]", value))  # fmt: skip
        return replace(result, blocks=tuple({"type": "text", "text": text} for text in texts))
    return replace(result, text=text) if template.indent is not None else result


def _fits(template: ResultTemplate, scope: Scope) -> bool:
    if not all(_is(scope.get(path), wanted) for path, wanted in template.when.items()):
        return False
    return all(_fits_rows(rows.row, scope) for rows in template.parts if isinstance(rows, Rows))


def _fits_rows(row: str, scope: Scope) -> bool:
    """Whether a row has a value for a slot, if there are rows and slots for their values."""
    slots = [slot for slot in SLOT.findall(OPTIONAL.sub("", row)) if slot[0] != "number"]
    if not slots or not scope.rows:
        return True
    each = (scope.of_row(number, row) for number, row in enumerate(scope.rows, 1))
    return any(
        instead or row_scope.get(path) not in (NOWHERE, *_EMPTY) for row_scope in each for path, _, instead in slots
    )


def _is(value: Json, wanted: Json) -> bool:
    if isinstance(value, list) and isinstance(wanted, int) and not isinstance(wanted, bool):
        return len(cast("list[Json]", value)) == wanted
    if value is NOWHERE or value is None:
        return wanted is None
    return value == wanted and isinstance(value, bool) == isinstance(wanted, bool)


# JSON -----------------------------------------------------------------------------------------------------------------


def fill_json(template: Json, scope: Scope) -> Json:
    """Return a document with its slots filled."""
    if isinstance(template, dict):
        return _filled_object(cast("Record", template), scope)
    if isinstance(template, list):
        return [fill_json(item, scope) for item in cast("list[Json]", template)]
    if not isinstance(template, str):
        return template
    if template == EVERYTHING:
        return scope.everything()
    whole = SLOT.fullmatch(template)
    if whole is None:
        return fill_text(template, scope)
    value = spelled(scope.get(whole[1]), whole[2], scope)
    if whole[3] is None:
        return None if value is NOWHERE else value
    return plain_json(whole[3]) if value is NOWHERE or value in _EMPTY else value


def plain_json(text: str) -> Json:
    """Return the number or flag that a text is, else the text."""
    return json.loads(text) if _PLAIN_JSON.fullmatch(text) else text


def _filled_object(template: Record, scope: Scope) -> Json:
    if template.keys() == {ROWS}:
        return [fill_json(template[ROWS], scope.of_row(number, row)) for number, row in enumerate(scope.rows, 1)]
    if path := replaced_path(template):
        known = scope.get(path)
        return fill_json(template[f"{{{path}??}}"], scope) if known is NOWHERE or known is None else known
    body: Record = {}
    for name, inner in template.items():
        value = fill_json(inner, scope)
        if not name.endswith("?"):
            body[name] = value
        elif value not in _EMPTY:
            body[name[:-1]] = value
    return body


# texts ----------------------------------------------------------------------------------------------------------------


def filled_parts(template: ResultTemplate, scope: Scope) -> str:
    lines: list[str] = []
    for piece in template.parts:
        if isinstance(piece, Rows):
            rows = [fill_text(piece.row, scope.of_row(number, row)) for number, row in enumerate(scope.rows, 1)]
            lines += [piece.between.join(rows)] if rows else []
        else:
            text = fill_text(piece, scope)
            lines += [] if not text and OPTIONAL.fullmatch(piece) is not None else [text]
    return "\n".join(lines)


def fill_text(text: str, scope: Scope) -> str:
    """Return a text with its slots filled. Missing values are empty."""
    shown = OPTIONAL.sub(lambda match: match[1] if _has_all(match[1], scope) else "", text)
    return SLOT.sub(lambda match: _text_of(spelled(scope.get(match[1]), match[2], scope)) or match[3] or "", shown)


def _has_all(line: str, scope: Scope) -> bool:
    values = (scope.get(path) for path, _, instead in SLOT.findall(line) if not instead)
    return all(value is not NOWHERE and value not in _EMPTY and value is not False for value in values)


def _text_of(value: Json) -> str:
    if value is NOWHERE or value is None:
        return ""
    if isinstance(value, list) and all(isinstance(item, str | int) for item in cast("list[Json]", value)):
        return ", ".join(map(str, cast("list[Json]", value)))
    return as_text(value)


def spelled(value: Json, spelling: str, scope: Scope) -> Json:
    """Return a value as a slot spells it. A time that is missing is the beginning of the world."""
    if not spelling:
        return value
    if spelling in SPELLINGS:
        return SPELLINGS[spelling](value) if isinstance(value, str) else value
    if "=" in spelling:  # a table: `true=x;=-`
        table = {name: text for name, _, text in (entry.partition("=") for entry in spelling.split(";"))}
        named = "" if value is NOWHERE or value in _EMPTY else _text_of(value)
        return table.get(named, table.get("", NOWHERE) if value is False else NOWHERE)
    if spelling == "count":
        return len(cast("Sequence[Json]", value)) if isinstance(value, str | list | dict) else NOWHERE
    if isinstance(value, int | float) and NUMBER_FORM.fullmatch(spelling):
        return format(value, spelling)
    if "%" in spelling:
        moment = scope.start if value is NOWHERE else parse_time(value)
        if moment is None or _WIDE.search(spelling):
            return value
        if spelling in {"%s", "%s000"}:
            return int(moment.timestamp()) * (1000 if spelling.endswith("000") else 1)
        return re.sub(r"%3f", f"{moment.microsecond // 1000:03d}", moment.strftime(spelling.replace("%3f", "%%3f")))
    if spelling.startswith("join ") and isinstance(value, list):
        separator = spelling.removeprefix("join ").replace("\\n", "\n")
        return separator.join(map(_text_of, cast("list[Json]", value)))
    return value


def time_spelling(value: Json) -> str:
    """Return the spelling of a time like this one, or ''."""
    form = time_format(value)
    if form is None or (not form.is_text and form.per_second not in {1, 1000}):
        return ""
    if not form.date:
        return "%s" if form.per_second == 1 else "%s000"
    fraction = {0: "", 3: f"{form.point}%3f", 6: f"{form.point}%f"}.get(form.digits)
    if fraction is None or not form.is_padded:
        return ""
    return f"{form.date}{form.between}{form.time}{fraction}{'%p' if form.half else ''}{form.zone}"
