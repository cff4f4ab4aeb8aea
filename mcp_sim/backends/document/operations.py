"""Operations of documents: the words and arguments by which tools mean them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mcp_sim.backends.matching.matched_tools import both, either, lacks, named, possible_roles, takes, unnamed
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.operation import LIST, NUMBER, OBJECTS, TEXT, Operation, Role, Test, compact, pick, role, roles
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.english import singular, vocabulary, words
from mcp_sim.types.plans import Verb

DOCUMENTS = "document|doc|presentation|notebook|file|deck"
_PARTS = ("paragraph heading slide cell item block section line table picture image break page_break list bullet "
          "footnote endnote step textbox shape chart row")  # fmt: skip
PARTS = vocabulary(_PARTS)
HOLDERS = vocabulary("slide page section")
"""Parts that contain others, which are put there by the index of the part."""
_MAKES, _TAKES, _READS = "add|append|insert|new", "delete|remove", "get|read|view|show|extract"
_EDITS = "edit|update|set|modify|change|replace|format|customize"
_COUNTED = f"slide page section {_PARTS} task element entry question"
_PLACES = (f"{part}_{word}" for part in _COUNTED.split() for word in ("index", "idx", "number", "position"))
_INDEX = role("index", " ".join((*_PLACES, "index idx position number")), NUMBER)
_FILES = ("filename document document_id doc_id filepath presentation_id presentation notebook notebook_id "
          "notebook_path doc_path nb_filepath notebook_filepath path")  # fmt: skip
_TEXTS = "text title content task source body heading value new_text new_content"
_ROLES = roles(
    _INDEX, Role("kind"), Role("holder"), Role("fields"),
    role("document", f"{_FILES} source_filename source_path source", TEXT),
    role("text", _TEXTS),
    role("near", "target_text anchor_text near_text after_text reference_text", TEXT),
    role("side", "position where placement", TEXT),
    role("query", "find_text text_to_find query old_text old_str old_string search_text search find pattern "
                  "text", TEXT),
    role("replacement", "replace_text replacement new_text replace_with replace new_str new_string", TEXT),
    role("source", "from_index source_index old_index from_position from", NUMBER),
    role("indexes", "indices", LIST, similar=True),
    role("order", "new_order ordering", LIST),
    role("items", types=OBJECTS, positional=True),
    role("path", "file_path filename", TEXT),
    role("sources", "file_paths filenames documents document_ids presentations presentation_ids notebooks paths "
                    "source_files source_paths source_filenames input_files", LIST),
    role("target", "target_filename target_path destination_filename destination_path destination dest dest_path "
                   "new_filename new_name new_path new_title output_path output_file output_filename output", TEXT),
) | {
    "target_index": role("target", "to_index target_index new_index to_position to", NUMBER),
    "line": role("text", _TEXTS, TEXT, similar=True),
    "opened": role("document", "presentation_id document_id doc_id notebook_id id", TEXT),
    "created": role("document", f"{_FILES} name id title", TEXT),
}  # fmt: skip
"""Roles, and other argument names for some of them in some operations."""


def part_kind(profile: ToolProfile) -> str:
    """Return the kind of part in a tool's name."""
    return next((word for word in map(singular, reversed(profile.words)) if word in PARTS), "")


def counted_kind(profile: ToolProfile) -> str | None:
    """Return the kind of part that the index counts: from the argument's name, else from the tool's."""
    name = possible_roles((_INDEX,), profile).get("index")
    if name is None:
        return None
    kind = "_".join(words(name)[:-1])
    return kind if kind in PARTS | HOLDERS else part_kind(profile)


def field_of(role: str, names: Iterable[str]) -> str:
    """Return which of these names of fields is that of an index or a text; empty if there is none."""
    return next((name for name in names if compact(name) in _ROLES[role].names), "")


def _worded(listed: str) -> Test:
    """Return a test whether a tool's name has one of these words, which may be plurals."""
    known = vocabulary(listed)
    return lambda profile: not known.isdisjoint(profile.words)


def _needs_index(profile: ToolProfile) -> bool:
    return possible_roles((_INDEX,), profile).get("index") in profile.needed


def _fills_holder(profile: ToolProfile) -> bool:
    """Whether a tool puts a part into another one, such as a table onto a slide."""
    holder = counted_kind(profile)
    return _needs_index(profile) and holder in HOLDERS and holder != part_kind(profile)


def _objects(profile: ToolProfile) -> list[Record]:
    """Return the schemas of required lists of objects."""
    listed = (profile.arguments.get(name, {}) for name in profile.needed)
    return [one for one in listed if main_type(items(one)) == "object"]


def _lists_places(profile: ToolProfile) -> bool:
    """Whether a tool needs a list of parts, each with its index."""
    declared = ([*properties(items(one))] for one in _objects(profile))
    described = (re.findall(r"\w+", str(one.get("description", ""))) for one in _objects(profile))
    return any(field_of("index", names) for names in (*declared, *described))


def _about(profile: ToolProfile) -> bool:
    """Whether a tool works on properties of a whole document."""
    return profile.has("property", "metadata", "kernel") and _OF_WHOLE(profile) and not _needs_index(profile)


_OF_PART, _OF_WHOLE, _UNINDEXED = named(_PARTS.replace(" ", "|")), unnamed(_PARTS), lacks(_INDEX)
_OF_MANY = _worded("paragraphs headings slides cells items steps bullets checklist blocks")
_SOME, _OF_DOCUMENT = both(_OF_PART, _UNINDEXED), both(named(DOCUMENTS), _UNINDEXED)
_SAVES = both(_OF_WHOLE, takes(_ROLES["opened"]))


def _operation(name: str, verb: Verb, line: str, words: str, *means: Test) -> Operation:
    """Return an operation with the name of its function. If it takes `fields`, other arguments become fields."""
    return Operation(
        name, f"documents:{name}", verb, pick(line, _ROLES), both(named(words), *means), is_open="fields?" in line
    )


OPERATIONS = (
    _operation("move", "update", "source target_index kind? document?", "reorder|move"),
    _operation("untick", "update", "index kind? document?", "undone"),
    _operation("tick", "update", "index kind? document?", "done|complete|completed"),
    _operation("replace", "update", "query replacement document?", "replace search|find|text", _UNINDEXED),
    _operation("find", "get", "query kind? document?", "find|search", _UNINDEXED,
               either(_OF_MANY, named(DOCUMENTS))),
    _operation("replace_within", "update", "index query replacement kind? document?", "replace"),
    _operation("reorder", "update", "order kind? document?", "reorder|rearrange"),
    _operation("remove_many", "update", "indexes kind? document?", _TAKES, _SOME),
    _operation("add_many", "update", "items kind? document?", _MAKES, _SOME, _lists_places),
    _operation("change_many", "update", "items kind? document?", _EDITS, _SOME, _lists_places),
    _operation("put_in", "update", "holder? index kind? text? document? fields?", "add|insert|populate|fill|put",
               _OF_PART, _fills_holder),
    _operation("add_near", "update", "near line? kind? side? document? fields?", _MAKES, _OF_PART,
               lacks(_ROLES["text"])),
    _operation("add", "update", "kind? text? index? holder? document? fields?", _MAKES, _OF_PART,
               lambda profile: not _objects(profile)),
    _operation("remove", "update", "index kind? document?", _TAKES, _OF_PART),
    _operation("read_part", "get", "index kind? document?", _READS, _OF_PART),
    _operation("change", "update", "index text? kind? document? fields?", _EDITS, _OF_PART),
    _operation("update", "update", "document fields?", _EDITS, _about),
    _operation("info", "get", "document", _READS, _about),
    _operation("validate", "get", "document", f"validate|verify {DOCUMENTS}", _OF_WHOLE),
    _operation("count", "get", "kind? document?", "count", _SOME),
    _operation("save", "update", "path opened?", f"save {DOCUMENTS}", _SAVES),
    _operation("load", "update", "path opened?", f"open|load {DOCUMENTS}", _SAVES),
    _operation("merge", "update", "sources target", f"merge {DOCUMENTS}"),
    _operation("create", "create", "created? fields?", f"create {DOCUMENTS}", _OF_WHOLE),
    _operation("copy", "create", "target? document?", f"copy|duplicate {DOCUMENTS}"),
    _operation("delete", "delete", "document?", _TAKES, _OF_DOCUMENT, _OF_WHOLE),
    _operation("list_documents", "list", "", "list", _worded("documents docs presentations notebooks")),
    _operation("outline", "get", "kind? document?", f"{_READS}|list", _OF_MANY, _UNINDEXED),
    _operation("text", "get", "document?", f"{_READS} text|content", _OF_DOCUMENT),
    _operation("outline", "get", "kind? document?", f"{_READS} outline|structure", _OF_DOCUMENT),
    _operation("info", "get", "document?", f"{_READS} info|property|metadata", _OF_DOCUMENT),
    _operation("read", "get", "document?", "", named(f"{_READS} {DOCUMENTS}", "full entire"), _UNINDEXED),
)  # fmt: skip
"""In the order in which a tool's words are compared with them."""
