"""Places in a result: record, rows, total, cursor, key and success."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import at, is_rows, items, main_type, properties
from mcp_sim.types.lexicon.english import plural, snake, vocabulary
from mcp_sim.types.plans import RECORDLESS, Envelope, Verb

ROW_NAMES = ("items", "results", "data", "records", "entries", "values", "rows", "result", "list", "matches", "hits")
RECORD_NAMES = ("data", "result", "record", "item", "object", "entity", "response", "value")
TOTALS = vocabulary(
    "total total_count total_results total_items total_matches total_hits total_records total_size count_total"
)
CURSORS = vocabulary("next_cursor next_page_token next_token cursor next continuation_token end_cursor after")
MORE = vocabulary("has_more has_next has_next_page more is_truncated truncated")
SUCCESS = vocabulary("success ok successful deleted removed updated created acknowledged succeeded completed cancelled")
_FAILED = vocabulary(
    "errors failed failures not_found notfound skipped rejected invalid missing failed_items failed_ids"
)
_MESSAGE = vocabulary("result message text output success status ok detail content")
_MAX_DEPTH = 2


def read_envelope(verb: Verb, entity: str, output: Record) -> Envelope:
    """Return the places in an expanded outputSchema. `record` is '' if the whole is the record."""
    parts = dict(_walk(output, "", 0))
    rows = _rows_place(entity, output, parts) if verb in {"list", "search"} else None
    record = None if rows is not None else _record_place(entity, output, parts)
    return Envelope(
        record=record if verb != "delete" else None,
        rows=rows,
        total=_find_place(parts, TOTALS, ("integer", "number")) if verb in {"list", "search"} else None,
        cursor=_find_place(parts, CURSORS, ("string",)) if rows is not None else None,
        more=_find_place(parts, MORE, ("boolean",)) if rows is not None else None,
        key=_key_place(entity, parts) if record is None or verb == "delete" else None,
        success=_find_place(parts, SUCCESS, ("boolean",)) if verb not in {"get", "list", "search"} else None,
    )


def default_envelope(verb: Verb, entity: str, *, bare: bool = False, limited: bool = False) -> Envelope:
    """Return the places in the result of a tool that declares none.

    `bare`: rows come with nothing around them. The total is the `count` of a complete list, else the `total`. A search
    has `results`.
    """
    if verb in {"list", "search"}:
        if bare:
            return Envelope(rows="")
        rows = "results" if verb == "search" else plural(entity)
        return Envelope(rows=rows, total="total" if limited else "count", cursor="next_cursor")
    return Envelope(key="id", success="deleted") if verb == "delete" else Envelope(record="")


def batch_envelope(verb: Verb, entity: str, output: Record) -> Envelope:
    """Return the places in the result of a tool that writes several records."""
    if not properties(output) and not items(output):
        return Envelope(rows="deleted" if verb == "delete" else plural(entity))
    parts = {path: part for path, part in _walk(output, "", 0) if _last(path) not in _FAILED}
    return Envelope(rows=_rows_place(entity, output, parts), success=_find_place(parts, SUCCESS, ("boolean",)))


def record_schema(envelope: Envelope, output: Record) -> Record:
    """Return the schema of a row or of the record, as this tool shows it."""
    if envelope.rows is not None:
        return items(at(output, envelope.rows))
    return at(output, envelope.record) if envelope.record is not None else {}


def _walk(schema: Record, path: str, depth: int) -> Iterator[tuple[str, Record]]:
    for name, part in properties(schema).items():
        here = f"{path}.{name}" if path else name
        yield here, part
        if depth < _MAX_DEPTH and main_type(part) == "object":
            yield from _walk(part, here, depth + 1)


def _last(path: str) -> str:
    return snake(path.rsplit(".", 1)[-1])


def _rows_place(entity: str, output: Record, parts: dict[str, Record]) -> str | None:
    if main_type(output) == "array":
        return ""
    lists = [path for path, part in parts.items() if _may_be(part, "array")]
    objects = [path for path in lists if is_rows(parts[path])]
    wanted = (snake(plural(entity)), entity, snake(plural(entity.rsplit("_", 1)[-1])), *ROW_NAMES)
    named = (path for name in wanted for path in objects or lists if _last(path) == name)
    shallow = sorted(objects, key=lambda path: path.count(".")) or (lists if len(lists) == 1 else [])
    return next(named, next(iter(shallow), None))


def _record_place(entity: str, output: Record, parts: dict[str, Record]) -> str | None:
    """Return '' unless the record is in a property: one named after the entity, or a wrapper."""
    objects = [path for path, part in parts.items() if _may_be(part, "object") and "." not in path]
    wanted = ({entity, entity.rsplit("_", 1)[-1]}, RECORD_NAMES)
    named = [path for names in wanted for path in objects if _last(path) in names]
    if named and not _has_key(entity, output):
        return named[0]
    if len(objects) == 1 == len(properties(output)):
        return objects[0]
    return "" if main_type(output) == "object" and not _is_message(output) else None


def _may_be(schema: Record, kind: str) -> bool:
    """Whether values are of a type, or of any: frameworks declare `{result: {title: Result}}`."""
    return main_type(schema) == kind or not schema.keys() - {"title", "description", "default"}


def _is_message(output: Record) -> bool:
    """Whether a result only wraps a sentence or a number: `{result: string}`, `{message: string}`."""
    names = {snake(name) for name in properties(output)}
    return bool(names) and names <= _MESSAGE


def _has_key(entity: str, output: Record) -> bool:
    names = {snake(name) for name in properties(output)}
    return bool(names & {"id", f"{entity}_id", "uuid", "key"})


def _find_place(parts: dict[str, Record], names: frozenset[str], types: tuple[str, ...]) -> str | None:
    found = [path for path, part in parts.items() if _last(path) in names and main_type(part) in types]
    return min(found, key=lambda path: path.count("."), default=None)


def _key_place(entity: str, parts: dict[str, Record]) -> str | None:
    names = (f"{entity}_id", "id", f"deleted_{entity}_id", "deleted_id", f"{entity}_key", "key", "uuid")
    scalar = {path for path, part in parts.items() if main_type(part) in {"string", "integer", ""}}
    return next((path for name in names for path in sorted(scalar) if _last(path) == name), None)


def find_envelope(
    verb: Verb, entity: str, output: Record, *, bare: bool = False, limited: bool = False, text: str | None = None
) -> Envelope:
    """Return the places in the result, by its schema if there is one.

    `text` is the property that holds everything as JSON text.
    """
    if verb in RECORDLESS:
        return Envelope()
    is_declared = properties(output) or items(output)
    envelope = (
        read_envelope(verb, entity, output)
        if is_declared
        else default_envelope(verb, entity, bare=bare, limited=limited)
    )
    return replace(envelope, text=text)
