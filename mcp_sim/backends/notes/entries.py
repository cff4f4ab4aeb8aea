"""Operations on a list of notes."""

from __future__ import annotations

from mcp_sim.backends.operation import read_names
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused, label, noun
from mcp_sim.backends.request import Request
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import plural

_WORDS = read_names(__name__)
KEY = "number"
"""The key of an entry: its number in the order of writing."""

TEXTS = _WORDS.ordered("text")
"""Names of the field that holds the text of an entry."""


def entry(row: Record) -> Record:
    """Return an object as an entry: with its text, whatever field holds it."""
    text = next((row[name] for name in TEXTS if isinstance(row.get(name), str)), None)
    return row if text is None else {**row, "text": text}


def add(request: Request) -> Outcome:
    """Add an entry at the end of the list."""
    place, number = request.view.count(request.entity) + _first(request), _next_number(request)
    fields: Record = {KEY: number, "text": request.text("text"), "created_at": request.time("created_at")}
    return _written(request, "Added {noun} {place}: {text}", place, {**request.others, **fields})


def read(request: Request) -> Outcome:
    """List all entries."""
    return _listed(request, list(request.rows()))


def search(request: Request) -> Outcome:
    """List the entries whose text contains the query."""
    wanted = request.text("query").lower()
    return _listed(request, [row for row in request.rows() if wanted in str(row.get("text") or "").lower()])


def clear(request: Request) -> Outcome:
    """Remove all entries."""
    count = _drop_all(request)
    return done(f"Cleared {count} {plural(noun(request.entity))}", count=count)


def remove(request: Request) -> Outcome:
    """Remove the entry at a position."""
    place, row = _entry_at(request)
    request.drop(row[KEY])
    return done(f"Removed {noun(request.entity)} {place}: {row.get('text')}", **{**row, "place": place})


def tick(request: Request) -> Outcome:
    """Mark the entry at a position as done."""
    return _changed(request, "{label} {place} is done: {text}", {"done": True})


def untick(request: Request) -> Outcome:
    """Mark the entry at a position as not done."""
    return _changed(request, "{label} {place} is open again: {text}", {"done": False})


def change(request: Request) -> Outcome:
    """Replace the text of the entry at a position."""
    return _changed(request, "Changed {noun} {place}: {text}", {"text": request.text("text")})


def replace_all(request: Request) -> Outcome:
    """Replace the whole list."""
    texts, start = as_list(request.get("items")), _next_number(request)
    _drop_all(request)
    for number, text in enumerate(texts, start):
        request.put(number, {**entry(as_object(text) or {"text": str(text)}), KEY: number})
    facts: Record = {"entries": texts, "count": len(texts)}
    return Outcome(f"The list has {len(texts)} {plural(noun(request.entity))} now", facts, "entries")


def _changed(request: Request, sentence: str, fields: Record) -> Outcome:
    place, row = _entry_at(request)
    return _written(request, sentence, place, {**row, **fields})


def _written(request: Request, sentence: str, place: int, row: Record) -> Outcome:
    """Write an entry. Return the outcome of the call, with a sentence made from a template."""
    request.put(row[KEY], row)
    name = request.entity
    text = sentence.format(noun=noun(name), label=label(name), place=place, text=row.get("text"))
    return done(text, **{**row, "place": place})


def _entry_at(request: Request) -> tuple[int, Record]:
    """Return the position that the call names and its entry. Raises `Refused` if there is no such entry."""
    rows, first, index = list(request.rows()), _first(request), request.get("index")
    place = int(index) - first if isinstance(index, int | float) else -1
    if not 0 <= place < len(rows):
        there = f"; there are {first} to {first + len(rows) - 1}" if rows else "; the list is empty"
        message = f"No {noun(request.entity)} {index}{there}"
        raise Refused("not_found", message, key=index, entity=request.entity)
    return place + first, rows[place]


def _listed(request: Request, rows: list[Record]) -> Outcome:
    shown = [{name: value for name, value in row.items() if name != KEY} for row in rows]
    placed = [{"place": at, **row} for at, row in enumerate(shown, _first(request))]
    lines = [
        f"{row['place']}. {('[x] ' if row['done'] else '[ ] ') if 'done' in row else ''}{row.get('text') or row}"
        for row in placed
    ]
    text = "\n".join(str(row.get("text") or "") for row in rows)
    facts: Record = {"entries": placed, "text": text, "count": len(rows)}
    return Outcome("\n".join(lines) or f"No {plural(noun(request.entity))} yet", facts, "entries")


def _drop_all(request: Request) -> int:
    """Remove all entries. Return their number."""
    numbers = [row[KEY] for row in request.rows()]
    for number in numbers:
        request.drop(number)
    return len(numbers)


def _next_number(request: Request) -> int:
    last = request.view.last_key(request.entity)
    return last + 1 if isinstance(last, int) else 1


def _first(request: Request) -> int:
    """Return the first position."""
    first = request.number("first")
    return 1 if first is None else first
