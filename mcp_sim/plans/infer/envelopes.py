"""Places in a result: record, rows, total, cursor, key and success."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace

from mcp_sim.plans.infer.arguments import last_name
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import at, is_rows, items, main_type, map_of, properties
from mcp_sim.types.lexicon.english import plural, snake
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.plans import RECORDLESS, Envelope, Verb
from mcp_sim.types.tools import WRAPPER

SUCCESS = terms("results.success")
_ROWS, _RECORD = ordered("results.rows"), ordered("results.record")
_AMOUNTS = terms("arguments.amount") & terms("fields.total")
_TOTAL, _CURSOR, _MORE = (terms(f"results.{kind}") for kind in ("total", "cursor", "more"))
_FAILED = terms("batches.failures")
_MESSAGE = terms("results.text", "results.message", "results.success") | {"status"}
_NOTES = _MESSAGE | terms("results.error", "results.note")
_IDS = frozenset({"id", "uuid", "uid", "gid", "sid", "key"})
_IDENTITY = _IDS | {"name", "title"}
_MANY = frozenset({"list", "search"})
_ENDED = frozenset({"deleted", "removed", "cancelled"})
"""Words of success that, in a record that was just written, say what has become of it."""
_MAX_DEPTH = 2  # deeper lists belong to a record, not to the envelope


def find_envelope(
    verb: Verb,
    entity: str,
    output: Record,
    *,
    bare: bool = False,
    limited: bool = False,
    text: str | None = None,
) -> Envelope:
    """Return the places in the result, by its schema if there is one.

    `text` is the property that holds everything as JSON text. `bare` and `limited` are as in `_usual_envelope`.
    """
    if verb in RECORDLESS:
        return Envelope()
    is_declared = properties(output) or items(output) or (verb in _MANY and map_of(output))
    usual = _usual_envelope(verb, entity, bare=bare, limited=limited)
    return replace(read_envelope(verb, entity, output) if is_declared else usual, text=text)


def read_envelope(verb: Verb, entity: str, output: Record) -> Envelope:
    """Return the places in an expanded outputSchema. `record` is '' if the whole is the record."""
    parts = dict(_walk(output))
    rows = _rows_place(entity, output, parts) if verb in _MANY else None
    record = _record_place(entity, output) if rows is None and verb != "delete" else None
    paged = parts if rows is not None else {}
    return Envelope(
        record=record,
        rows=rows,
        total=_find_place(parts, _TOTAL, *_counting(parts.get(rows or "", output))) if verb in _MANY else None,
        cursor=_find_place(paged, _CURSOR, "string"),
        more=_find_place(paged, _MORE, "boolean"),
        key=_key_place(entity, parts) if record is None else None,
        success=_find_place(parts, {WRAPPER, *(SUCCESS - _ENDED if verb != "delete" else SUCCESS)}, "boolean")
        if verb not in {"get", *_MANY}
        else None,
    )


def _usual_envelope(verb: Verb, entity: str, *, bare: bool, limited: bool) -> Envelope:
    """Return the places in the result of a tool that declares none.

    `bare`: rows come with nothing around them. The total is the `count` of a complete list, else the `total`. A search
    has `results`.
    """
    if verb not in _MANY:
        if verb == "delete":
            return Envelope(key="id", success="success")
        return Envelope(record="")
    rows = "results" if verb == "search" else plural(entity)
    whole = Envelope(rows=rows, total="total" if limited else "count", cursor="next_cursor")
    return Envelope(rows="") if bare else whole


def batch_envelope(verb: Verb, entity: str, output: Record) -> Envelope:
    """Return the places in the result of a tool that writes several records."""
    if not properties(output) and not items(output):
        return Envelope(rows="deleted" if verb == "delete" else plural(entity))
    parts = {path: schema for path, schema in _walk(output) if last_name(path) not in _FAILED}
    return Envelope(rows=_rows_place(entity, output, parts), success=_find_place(parts, SUCCESS, "boolean"))


def record_schema(envelope: Envelope, output: Record) -> Record:
    """Return the schema of a row or of the record, as this tool shows it."""
    if envelope.rows is not None:
        return items(at(output, envelope.rows))
    return at(output, envelope.record) if envelope.record is not None else {}


def _walk(schema: Record, path: str = "", depth: int = 0) -> Iterator[tuple[str, Record]]:
    for name, subschema in properties(schema).items():
        yield path + name, subschema
        if depth < _MAX_DEPTH and main_type(subschema) == "object":
            yield from _walk(subschema, f"{path}{name}.", depth + 1)


def _find_place(parts: Mapping[str, Record], names: Container[str], *types: str) -> str | None:
    """Return the shallowest place with one of the names and types."""
    paths = (path for path, schema in parts.items() if last_name(path) in names and main_type(schema) in types)
    return min(paths, key=lambda path: path.count("."), default=None)


def _counting(rows: Record) -> tuple[str, ...]:
    """Return the types of the number of rows. Beside rows with an amount, a `number` is the sum of these."""
    return ("integer",) if not _AMOUNTS.isdisjoint(map(snake, properties(items(rows)))) else ("integer", "number")


def _rows_place(entity: str, output: Record, parts: Mapping[str, Record]) -> str | None:
    if main_type(output) == "array":
        return ""
    lists = [path for path, schema in parts.items() if _may_be(schema, "array")]
    objects = [path for path in lists if is_rows(parts[path])]
    wanted = (snake(plural(entity)), entity, snake(plural(entity.rsplit("_", 1)[-1])), *_ROWS)
    named = (path for name in wanted for path in objects or lists if last_name(path) == name)
    shallow = min(objects, key=lambda path: path.count("."), default=lists[0] if len(lists) == 1 else None)
    return next(named, shallow)


def _record_place(entity: str, output: Record) -> str | None:
    """Return '' unless the record is in a property: one named after the entity, or a wrapper of any name.

    A wrapper is the only object with an id, a name or a property that is named after the entity, beside nothing but
    notes on the call: `{code: 0, meta: {id: ..}}`, `{error: .., reply: {shelf: ..}}`.
    """
    whole = {snake(name) for name in properties(output)}
    inner = _wrapped(entity, output, whole)
    if inner is None:
        return None if _is_message(whole, output) else ""
    place = properties(output)[inner]
    is_named = snake(inner) in (entity, entity.rsplit("_", 1)[-1])
    below = _record_place(entity, place) if properties(place) and not is_named else ""
    return f"{inner}.{below}" if below else inner


def _wrapped(entity: str, output: Record, whole: AbstractSet[str]) -> str | None:
    """Return the property that holds the record, or more of it; None if the whole is the record."""
    objects = {name: schema for name, schema in properties(output).items() if _may_be(schema, "object")}
    if _IDS.isdisjoint(name.removeprefix(f"{entity}_") for name in whole):
        by_name = {snake(name): name for name in reversed(objects)}
        wanted = (entity, entity.rsplit("_", 1)[-1], *_RECORD)
        named = next((by_name[name] for name in wanted if name in by_name), None)
        if named is not None:
            return named
    if len(objects) == 1 == len(whole):
        return next(iter(objects))
    others = {name: schema for name, schema in properties(output).items() if name not in objects}
    told = _IDENTITY | {entity, entity.rsplit("_", 1)[-1]}
    holding = [name for name, schema in objects.items() if told & {*map(snake, properties(schema))}]
    is_wrapper = len(holding) == 1 and all(_is_note(name, schema) for name, schema in others.items())
    return holding[0] if is_wrapper else None


def _is_note(name: str, schema: Record) -> bool:
    """Whether a property beside a record says something about the call: whether it worked, how long it took."""
    return main_type(schema) == "boolean" or snake(name) in _NOTES


def _is_message(names: AbstractSet[str], output: Record) -> bool:
    """Whether a result only wraps a sentence or a number: `{result: string}`, `{message: string}`."""
    return main_type(output) != "object" or (bool(names) and names <= _MESSAGE)


def _may_be(schema: Record, kind: str) -> bool:
    """Whether values are of a type, or of any: frameworks declare `{result: {title: Result}}`."""
    return main_type(schema) == kind or not schema.keys() - {"title", "description", "default"}


def _key_place(entity: str, parts: Mapping[str, Record]) -> str | None:
    names = (f"{entity}_id", "id", f"deleted_{entity}_id", "deleted_id", f"{entity}_key", "key", "uuid")
    scalar = sorted(path for path, schema in parts.items() if main_type(schema) in {"string", "integer", ""})
    return next((path for name in names for path in scalar if last_name(path) == name), None)
