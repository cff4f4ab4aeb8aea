"""Backend for tools that keep one list of notes or tasks, addressed by position or read as a whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_sim.backends.given import Given, Sought, take_given
from mcp_sim.backends.matching.matched_tools import MatchedTool, both, either, lacks, named
from mcp_sim.backends.matching.positions import first_position
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.notes.entries import KEY, TEXTS, entry
from mcp_sim.backends.operation import TEXT, Names, Operation, pick, read_names, role
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.request import Binding
from mcp_sim.types import Json
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.kinds import backends
from mcp_sim.types.lexicon.english import plural, singular, snake

_WORDS = read_names(__name__)
_NOUNS = _WORDS.terms("noun")
_GROUPS = _WORDS.terms("group")
"""Last words of arguments that choose one of several lists."""

_ROLES = {**_WORDS.roles, "text": role("text", " ".join((*TEXTS, "new_text")), TEXT)}
_UNINDEXED = lacks(_ROLES["index"])
_NOTE = Entity(
    "note", KEY, 1,
    {
        KEY: Field(KEY, {"type": "integer"}, required=True),
        "text": Field("text", {"type": ["string", "null"]}),
        "done": Field("done", {"type": ["boolean", "null"]}),
    },
)  # fmt: skip


@backends.register("notes")
class Notes(OperationsBackend):
    """A scratchpad, a journal, a to-do list: entries without ids, in the order in which they were written.

    Entries are addressed by position, or the whole list is replaced. A list is empty at first, unless a state has
    entries. Servers with a tool that takes the id of a note have records instead.
    """

    order = 80
    confidence = 0.8
    operations = (
        Operation("clear", "entries:clear", "delete",
                  means=either(named("clear|reset|wipe|empty"), named("remove|delete|drop all"))),
        Operation("replace", "entries:replace_all", "update", pick("items", _ROLES),
                  means=both(named("update|edit|change|replace|write|store|save|set"), lacks(_ROLES["text"]))),
        Operation("untick", "entries:untick", "update", pick("index", _ROLES),
                  means=named("undone|uncheck|reopen|uncomplete")),
        Operation("tick", "entries:tick", "update", pick("index", _ROLES),
                  means=named("complete|done|finish|check|tick|mark|toggle")),
        Operation("remove", "entries:remove", "delete", pick("index", _ROLES), means=named("remove|delete|drop")),
        Operation("change", "entries:change", "update", pick("index text", _ROLES),
                  means=named("update|edit|change|replace")),
        Operation("search", "entries:search", "search", pick("query", _ROLES),
                  means=both(named("search|find"), _UNINDEXED)),
        Operation("add", "entries:add", "create", pick("text", _ROLES),
                  means=both(named("add|append|write|store|save|create|remember|record|log|jot"), _UNINDEXED)),
        Operation("read", "entries:read", "list",
                  means=both(named("read|list|get|show|view|recall|fetch|display"), _UNINDEXED)),
    )  # fmt: skip
    entities = (_NOTE,)

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operations of a tool on the one list of its noun."""
        noun = next((noun for word in reversed(profile.words) if (noun := singular(word)) in _NOUNS), None)
        if noun is None or any(snake(name).rsplit("_", 1)[-1] in _GROUPS for name in profile.arguments):
            return
        reasons = (f"a list of {plural(noun)}, without ids",)
        for tool in super().match_tool(profile):
            rows = items(profile.arguments[tool.arguments["items"]]) if tool.name == "replace" else {}
            if main_type(rows) in {"string", ""} or properties(rows):
                yield replace(tool, entity=noun, reasons=reasons)

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept lists that are written and read whole or by position, and whose noun no other tool has."""
        nouns = dict.fromkeys(tool.entity for tool in tools)
        lists = ([tool for tool in tools if tool.entity == noun] for noun in nouns)
        return [tool for of_noun in lists if _is_list(of_noun, listed) for tool in _with_first_position(of_noun)]

    def entities_for(self, matched: Sequence[MatchedTool]) -> Sequence[Entity]:
        """Return one entity per list."""
        return [replace(_NOTE, name=noun) for noun in dict.fromkeys(tool.entity or _NOTE.name for tool in matched)]

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        sought = [Sought(entity.name, KEY, frozenset({entity.name}), plain="text", read=entry) for entity in entities]
        given = take_given(state, sought, is_whole=is_whole and len(entities) == 1)
        rows = {name: [{**row, KEY: at} for at, row in enumerate(record, 1)] for name, record in given.records.items()}
        return Given(rows, given.rest)

    def result_names(self, binding: Binding) -> Names:
        noun = binding.entity.rpartition(".")[2]
        listed = (plural(noun), "items", "results", "entries", "list", "data", noun)
        return {"entries": listed, "text": ("content", noun, "task", "title", "note"), "place": ("index", KEY, "id")}


def _is_list(matched: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> bool:
    """Return whether tools of one noun work on one list, and no other tool of the server has the noun."""
    noun, done = matched[0].entity, {tool.name for tool in matched}
    appends = any("append" in tool.profile.words for tool in matched)
    is_whole = appends or not done.isdisjoint({"clear", "remove", "tick", "replace"})
    every = [profile for profile in listed if noun in profile.nouns]
    return bool(done & {"add", "replace"}) and is_whole and len(matched) == len(every) and (len(matched) > 1 or appends)


def _with_first_position(matched: Sequence[MatchedTool]) -> Iterator[MatchedTool]:
    """Yield the tools of a list, which all count positions from the same number."""
    places = [(tool.profile.tool, tool.arguments["index"]) for tool in matched if "index" in tool.arguments]
    first = min((first_position(tool, name) for tool, name in places), default=1)
    return (replace(tool, fixed={"first": first}) for tool in matched)
