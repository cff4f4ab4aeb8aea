"""Match tools that keep one list of notes or tasks without ids, and read the entries of a given state.

Evidence is a tool that adds a text or writes the whole list, and one that reads it, clears it, or addresses entries by
position. Where a tool takes the id of a note, notes are records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.lexicon.english import plural, singular, snake, vocabulary
from mcp_sim.types.plans import Plan, Verb

NUMBER = "number"
_NOUNS = vocabulary("note scratchpad scratch memo todo to_do task memory insight journal reminder jotting finding log "
                    "checklist thought idea notepad notebook diary")  # fmt: skip
_ADDS = vocabulary("add append write store save create remember record log jot")
_READS = vocabulary("read list get show view recall fetch display")
_CLEARS = vocabulary("clear reset wipe empty")
_TAKES = vocabulary("remove delete drop")
_TICKS = vocabulary("complete done finish check tick mark toggle")
_CHANGES = vocabulary("update edit change replace")
_WHOLE = _CHANGES | vocabulary("write store save set")
_INDEXES = (
    "index", "number", "position", "item_number", "task_number", "todo_index", "item_index", "line", "n", "idx",
)  # fmt: skip
_TEXTS = (
    "text", "content", "note", "task", "todo", "item", "memory", "insight", "entry", "message", "title", "thought",
    "description", "idea", "finding", "reminder", "new_text", "observation", "value",
)  # fmt: skip
_LISTS = ("todos", "items", "notes", "tasks", "entries", "list", "memories")
_QUERIES = ("query", "q", "text", "keyword", "search", "term")
_VERBS: Mapping[str, Verb] = {
    "add": "create", "read": "list", "clear": "delete", "remove": "delete", "tick": "update", "untick": "update",
    "change": "update", "replace": "update", "search": "search",
}  # fmt: skip
_NEEDS = {"add": {"text"}, "remove": {"index"}, "tick": {"index"}, "untick": {"index"}, "change": {"index", "text"},
          "replace": {"items"}, "search": {"query"}}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MatchedTool:
    """A tool of a list: its operation, the noun of the entries, and its arguments by role."""

    profile: ToolProfile
    operation: str
    noun: str
    arguments: Mapping[str, str]


def recognised(listed: Sequence[ToolProfile]) -> list[MatchedTool]:
    """Return the tools on lists of notes, except for nouns whose notes have ids or no order."""
    found = [one for profile in listed if (one := _recognised(profile)) is not None]
    kept: list[MatchedTool] = []
    for noun in dict.fromkeys(one.noun for one in found):
        mine = [one for one in found if one.noun == noun]
        done = {one.operation for one in mine}
        every = [profile for profile in listed if noun in profile.nouns]
        writes = done & {"add", "replace"}
        whole = done & {"clear", "remove", "tick", "replace"} or any("append" in one.profile.words for one in mine)
        if writes and whole and len(mine) == len(every) and (len(mine) > 1 or "append" in mine[0].profile.words):
            kept += mine
    return kept


def plans_for(found: Sequence[MatchedTool]) -> list[Plan]:
    """Return the plans of the recognised tools. All tools of a list count positions from the same number."""
    by_place = [one for one in found if "index" in one.arguments]
    return [
        _plan(one, min((_first(other) for other in by_place if other.noun == one.noun), default=1)) for one in found
    ]


def _plan(one: MatchedTool, first: int) -> Plan:
    reasons = (f"a list of {plural(one.noun)}, without ids",)
    verb = _VERBS[one.operation]
    made = operation_plan(one.profile, one.operation, "notes", one.arguments, 0.8, reasons, verb=verb, entity=one.noun)
    return replace(made, fixed={"first": first})


def entities(found: Sequence[MatchedTool]) -> list[Entity]:
    """Return the entities: one per list, with entries in the order in which they were written."""
    text: Record = {"type": ["string", "null"]}
    fields = {NUMBER: Field(NUMBER, {"type": "integer"}, required=True), "text": Field("text", text)}
    fields |= {"done": Field("done", {"type": ["boolean", "null"]})}
    return [Entity(noun, NUMBER, 1, fields) for noun in dict.fromkeys(one.noun for one in found)]


def given_notes(state: Json, nouns: Sequence[str]) -> tuple[dict[str, list[Record]], Json]:
    """Return the entries that a given state has for these nouns, and the rest of the state."""
    body, rows = as_object(state), {noun: list[Record]() for noun in nouns}
    left: Record = {}
    for name, value in body.items():
        noun = singular(snake(name))
        if noun in rows and isinstance(value, list):
            rows[noun] = [entry(at, one) for at, one in enumerate(as_list(value), 1)]
        else:
            left[name] = value
    return rows, left or None


def entry(number: int, item: Json) -> Record:
    """Return an entry of a list from its text or an object."""
    body = as_object(item)
    if not body:
        return {NUMBER: number, "text": str(item)}
    text = next((body[name] for name in _TEXTS if isinstance(body.get(name), str)), None)
    return {**body, NUMBER: number, **({"text": text} if text is not None else {})}


def _recognised(profile: ToolProfile) -> MatchedTool | None:
    noun = next((noun for noun in (singular(word) for word in reversed(profile.words)) if noun in _NOUNS), None)
    operation = _operation(profile, set(profile.words)) if noun is not None else None
    if noun is None or operation is None:
        return None
    roles = {
        "text": profile.argument(_TEXTS, ("string",)) if operation in {"add", "change"} else None,
        "index": profile.argument(_INDEXES, ("integer", "number")),
        "items": _list(profile) if operation == "replace" else None,
        "query": profile.argument(_QUERIES, ("string",)) if operation == "search" else None,
    }
    arguments = {role: name for role, name in roles.items() if name is not None}
    stray = profile.needed - set(arguments.values())
    if stray or _NEEDS.get(operation, set[str]()) - arguments.keys() or _is_grouped(profile, operation):
        return None
    return MatchedTool(profile, operation, noun, arguments)


def _is_grouped(profile: ToolProfile, operation: str) -> bool:
    """Whether the tool takes a name, path or id, so that there is more than one list."""
    kinds = {"id", "path", "file", "filename", "key", "name", "project", "user"}
    named = {snake(name).rsplit("_", 1)[-1] for name in profile.arguments}
    return bool(named & kinds) or (operation == "read" and bool(profile.needed))


def _operation(profile: ToolProfile, named: set[str]) -> str | None:
    has_index = profile.argument(_INDEXES, ("integer", "number")) is not None
    if named & _CLEARS or (named & _TAKES and "all" in named):
        return "clear"
    if named & _WHOLE and _list(profile) is not None and profile.argument(_TEXTS, ("string",)) is None:
        return "replace"
    if has_index:
        by_words = (("untick", {"undone", "uncheck", "reopen", "uncomplete"}), ("tick", _TICKS), ("remove", _TAKES))
        return next((name for name, words in (*by_words, ("change", _CHANGES)) if named & words), None)
    if named & {"search", "find"}:
        return "search"
    if named & _ADDS:
        return "add"
    return "read" if named & _READS else None


def _list(profile: ToolProfile) -> str | None:
    name = profile.argument(_LISTS, ("array",))
    if name is None:
        return None
    rows = items(profile.arguments[name])
    return name if main_type(rows) in {"string", ""} or properties(rows) else None


def _first(one: MatchedTool) -> int:
    """Return the first position: 0 for an index unless the description counts from 1, else 1."""
    name = one.arguments.get("index", "")
    schema = one.profile.arguments.get(name, {})
    description = str(schema.get("description", "")).lower()
    if schema.get("minimum") == 1 or "1-based" in description or ("start" in description and "1" in description):
        return 1
    return 0 if snake(name).endswith(("index", "idx")) else 1
