"""Operations on a list of notes."""

from __future__ import annotations

from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused, noun
from mcp_sim.backends.request import Request
from mcp_sim.types import Record
from mcp_sim.types.clock import iso
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import plural

NUMBER = "number"
"""The key of an entry: its number in the order of writing."""

_TEXTS = (
    "text", "content", "note", "task", "todo", "item", "memory", "insight", "entry", "message", "title", "thought",
    "description", "idea", "finding", "reminder", "observation", "value",
)  # fmt: skip
"""Names of the field that holds the text of an entry."""


def entry(row: Record) -> Record:
    """Return an object as an entry: with its text, whatever field holds it."""
    text = next((row[name] for name in _TEXTS if isinstance(row.get(name), str)), None)
    return row if text is None else {**row, "text": text}


def add(request: Request) -> Outcome:
    """Add an entry at the end of the list."""
    text, number = request.text("text"), _next_number(request)
    record: Record = {**request.others, NUMBER: number, "text": text, "created_at": _now(request)}
    place = request.view.count(request.entity) + _first(request)
    request.put(number, record)
    return done(f"Added {noun(request.entity)} {place}: {text}", **{**record, "place": place})


def read(request: Request) -> Outcome:
    """List all entries."""
    return _listed(request, list(request.rows()))


def search(request: Request) -> Outcome:
    """List the entries whose text contains the query."""
    wanted = request.text("query").lower()
    return _listed(request, [row for row in request.rows() if wanted in str(row.get("text") or "").lower()])


def clear(request: Request) -> Outcome:
    """Remove all entries."""
    rows = list(request.rows())
    _drop_all(request, rows)
    return done(f"Cleared {len(rows)} {plural(noun(request.entity))}", count=len(rows))


def remove(request: Request) -> Outcome:
    """Remove the entry at a position."""
    place, row = _entry_at(request)
    request.drop(row[NUMBER])
    return done(f"Removed {noun(request.entity)} {place}: {row.get('text')}", **{**row, "place": place})


def tick(request: Request) -> Outcome:
    """Mark the entry at a position as done."""
    return _ticked(request, flag=True, word="done")


def untick(request: Request) -> Outcome:
    """Mark the entry at a position as not done."""
    return _ticked(request, flag=False, word="open again")


def change(request: Request) -> Outcome:
    """Replace the text of the entry at a position."""
    place, row = _entry_at(request)
    changed = {**row, "text": request.text("text")}
    request.put(row[NUMBER], changed)
    return done(f"Changed {noun(request.entity)} {place}: {changed['text']}", **{**changed, "place": place})


def replace_all(request: Request) -> Outcome:
    """Replace the whole list."""
    texts, start = as_list(request.get("items")), _next_number(request)
    _drop_all(request, list(request.rows()))
    for number, one in enumerate(texts, start):
        request.put(number, {**entry(as_object(one) or {"text": str(one)}), NUMBER: number})
    facts: Record = {"entries": texts, "count": len(texts)}
    return Outcome(f"The list has {len(texts)} {plural(noun(request.entity))} now", facts, "entries")


def _ticked(request: Request, *, flag: bool, word: str) -> Outcome:
    place, row = _entry_at(request)
    changed = {**row, "done": flag}
    request.put(row[NUMBER], changed)
    text = f"{noun(request.entity).capitalize()} {place} is {word}: {row.get('text')}"
    return done(text, **{**changed, "place": place})


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
    shown = [{name: value for name, value in row.items() if name != NUMBER} for row in rows]
    placed = [{"place": at, **row} for at, row in enumerate(shown, _first(request))]
    lines = [f"{row['place']}. {_mark(row)}{row.get('text') or row}" for row in placed]
    text = "\n".join(str(row.get("text") or "") for row in rows)
    facts: Record = {"entries": placed, "text": text, "count": len(rows)}
    return Outcome("\n".join(lines) or f"No {plural(noun(request.entity))} yet", facts, "entries")


def _mark(row: Record) -> str:
    if "done" not in row:
        return ""
    return "[x] " if row["done"] else "[ ] "


def _drop_all(request: Request, rows: list[Record]) -> None:
    for row in rows:
        request.drop(row[NUMBER])


def _next_number(request: Request) -> int:
    last = request.view.last_key(request.entity)
    return last + 1 if isinstance(last, int) else 1


def _first(request: Request) -> int:
    """Return the first position."""
    first = request.number("first")
    return 1 if first is None else first


def _now(request: Request) -> str:
    return iso(request.now.replace(microsecond=0))
