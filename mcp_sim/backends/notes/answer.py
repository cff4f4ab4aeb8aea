"""Answer calls of tools that add to a list of notes, read it, check entries off or clear it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcp_sim.backends.notes.matching import NUMBER, entry
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer, done
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Answer
from mcp_sim.types.lexicon.english import plural
from mcp_sim.types.plans import Plan


@dataclass(frozen=True, slots=True)
class NoteList:
    """A list as one call sees it."""

    turn: Turn
    plan: Plan

    @property
    def entity(self) -> str:
        return self.plan.entity or ""

    @property
    def noun(self) -> str:
        return self.entity.rpartition(".")[2].replace("_", " ")

    def get(self, role: str) -> Json:
        return self.turn.call.arguments.get(self.plan.arguments.get(role, ""))

    def rows(self) -> list[Record]:
        return [row for _, row in self.turn.view.rows(self.entity)]

    def put(self, record: Record) -> Change:
        key = record[NUMBER]
        return Change("put", self.entity, key, record, expected=self.turn.view.version(self.entity, key))

    def drop(self, record: Record) -> Change:
        key = record[NUMBER]
        return Change("remove", self.entity, key, expected=self.turn.view.version(self.entity, key))

    def next_number(self) -> int:
        last = self.turn.view.last_key(self.entity)
        return last + 1 if isinstance(last, int) else 1

    def at(self) -> tuple[int, Record]:
        """Return the position that the call names and its entry. Raises Refused if there is no such entry."""
        rows, first, index = self.rows(), int(self.plan.fixed.get("first", 1)), self.get("index")
        place = int(index) - first if isinstance(index, int | float) else -1
        if not 0 <= place < len(rows):
            there = f"; there are {first} to {first + len(rows) - 1}" if rows else "; the list is empty"
            raise Refused("not_found", f"No {self.noun} {index}{there}", key=index, entity=self.entity)
        return place + first, rows[place]


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Compile the answer of a tool."""
    work = _OPERATIONS[plan.operation]
    return compile_answer(tool, domain, lambda turn: work(NoteList(turn, plan)), _names(plan))


def _names(plan: Plan) -> Names:
    """Return the names that results may use for the facts of a list."""
    noun = (plan.entity or "").rpartition(".")[2]
    listed = (plural(noun), "items", "results", "entries", "list", "data", noun)
    return {"entries": listed, "text": ("content", noun, "task", "title", "note"), "place": ("index", NUMBER, "id")}


def _add(notes: NoteList) -> Outcome:
    other = {name: value for name, value in notes.turn.call.arguments.items() if name != notes.plan.arguments["text"]}
    text, number = str(notes.get("text")), notes.next_number()
    record: Record = {**other, NUMBER: number, "text": text, "created_at": iso(notes.turn.now.replace(microsecond=0))}
    place = notes.turn.view.count(notes.entity) + int(notes.plan.fixed.get("first", 1))
    return done(f"Added {notes.noun} {place}: {text}", notes.put(record), **{**record, "place": place})


def _read(notes: NoteList) -> Outcome:
    return _listed(notes, notes.rows())


def _search(notes: NoteList) -> Outcome:
    wanted = str(notes.get("query") or "").lower()
    return _listed(notes, [row for row in notes.rows() if wanted in str(row.get("text") or "").lower()])


def _listed(notes: NoteList, rows: list[Record]) -> Outcome:
    first = int(notes.plan.fixed.get("first", 1))
    shown = [{name: value for name, value in row.items() if name != NUMBER} for row in rows]
    placed = [{"place": at, **row} for at, row in enumerate(shown, first)]
    lines = [f"{row['place']}. {_mark(row)}{row.get('text') or row}" for row in placed]
    text = "\n".join(str(row.get("text") or "") for row in rows)
    facts: Record = {"entries": placed, "text": text, "count": len(rows)}
    return Outcome("\n".join(lines) or f"No {plural(notes.noun)} yet", facts, "entries")


def _mark(row: Record) -> str:
    if "done" not in row:
        return ""
    return "[x] " if row["done"] else "[ ] "


def _clear(notes: NoteList) -> Outcome:
    rows = notes.rows()
    return done(f"Cleared {len(rows)} {plural(notes.noun)}", *map(notes.drop, rows), count=len(rows))


def _remove(notes: NoteList) -> Outcome:
    place, row = notes.at()
    return done(f"Removed {notes.noun} {place}: {row.get('text')}", notes.drop(row), **{**row, "place": place})


def _ticked(*, flag: bool) -> Callable[[NoteList], Outcome]:
    def tick(notes: NoteList) -> Outcome:
        place, row = notes.at()
        changed = {**row, "done": flag}
        text = f"{notes.noun.capitalize()} {place} is {'done' if flag else 'open again'}: {row.get('text')}"
        return done(text, notes.put(changed), **{**changed, "place": place})

    return tick


def _change(notes: NoteList) -> Outcome:
    place, row = notes.at()
    changed = {**row, "text": str(notes.get("text"))}
    return done(f"Changed {notes.noun} {place}: {changed['text']}", notes.put(changed), **{**changed, "place": place})


def _replace(notes: NoteList) -> Outcome:
    """Replace the whole list."""
    texts, start = as_list(notes.get("items")), notes.next_number()
    fresh = [entry(number, one) for number, one in enumerate(texts, start)]
    changes = (*map(notes.drop, notes.rows()), *map(notes.put, fresh))
    facts: Record = {"entries": texts, "count": len(texts)}
    return Outcome(f"The list has {len(texts)} {plural(notes.noun)} now", facts, "entries", changes=changes)


_OPERATIONS: Mapping[str, Callable[[NoteList], Outcome]] = {
    "add": _add, "read": _read, "search": _search, "clear": _clear, "remove": _remove, "tick": _ticked(flag=True),
    "untick": _ticked(flag=False), "change": _change, "replace": _replace,
}  # fmt: skip
