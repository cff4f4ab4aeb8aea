"""Operations of documents: the words and arguments by which tools mean them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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
_BY_ID = role("document", "presentation_id document_id doc_id notebook_id id", TEXT)
_FILES = ("filename file_name document document_id doc_id filepath file_path presentation_id presentation "
          "notebook notebook_id notebook_path doc_path nb_filepath notebook_filepath path")  # fmt: skip
_TARGETS = ("target_filename target_path destination_filename destination_path destination dest dest_path new_filename "
            "new_name new_path new_title output_path output_file output_filename output")  # fmt: skip
_SOURCES = ("file_paths filepaths filenames file_names documents document_ids presentations presentation_ids notebooks "
            "paths source_files source_paths source_filenames input_files")  # fmt: skip
_OLD = "find_text text_to_find query old_text old_str old_string search_text search find pattern text"
_TEXTS = "text title content task source body heading value new_text new_content"
_PART_ROLES = roles(
    _INDEX, Role("kind"), Role("holder"), Role("fields"),
    role("document", f"{_FILES} source_filename source_path source", TEXT),
    role("text", _TEXTS),
    role("near", "target_text anchor_text near_text after_text reference_text", TEXT),
    role("side", "position where placement", TEXT),
    role("query", _OLD, TEXT),
    role("replacement", "replace_text replacement new_text replace_with replace new_str new_string", TEXT),
    role("source", "from_index source_index old_index from_position from", NUMBER),
    role("target", "to_index target_index new_index to_position to", NUMBER),
    role("indexes", "indices", LIST, similar=True),
    role("order", "new_order ordering", LIST),
    role("items", types=OBJECTS, positional=True),
)  # fmt: skip
_BESIDE = {**_PART_ROLES, "text": role("text", _TEXTS, TEXT, similar=True)}
"""The text of a part that is inserted near another text."""
_ROLES = {
    **_PART_ROLES,
    "path": role("path", "file_path filepath filename file_name", TEXT),
    "sources": role("sources", _SOURCES, LIST),
    "target": role("target", _TARGETS, TEXT),
}
_SAVED = {**_ROLES, "document": _BY_ID}
_CREATED = {**_ROLES, "document": role("document", f"{_FILES} name id title", TEXT)}


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


def place_of(names: Iterable[str]) -> str | None:
    """Return which of these names of fields is that of an index."""
    return next((name for name in names if compact(name) in _INDEX.names), None)


def text_name_of(names: Iterable[str]) -> str | None:
    """Return which of these names of fields is that of a text."""
    return next((name for name in names if compact(name) in _PART_ROLES["text"].names), None)


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
    described = (re.findall(r"\w+", str(one.get("description", ""))) for one in _objects(profile))
    declared = ([*properties(items(one))] for one in _objects(profile))
    return any(place_of(names) is not None for names in (*declared, *described))


def _has_no_objects(profile: ToolProfile) -> bool:
    return not _objects(profile)


_OF_PART, _OF_WHOLE = named(_PARTS.replace(" ", "|")), unnamed(_PARTS)
_OF_MANY = _worded("paragraphs headings slides cells items steps bullets checklist blocks")
_UNINDEXED = lacks(_INDEX)
_SOME, _OF_DOCUMENT = both(_OF_PART, _UNINDEXED), both(named(DOCUMENTS), _UNINDEXED)
_SAVES = both(_OF_WHOLE, takes(_BY_ID))


def _about(profile: ToolProfile) -> bool:
    """Whether a tool works on properties of a whole document."""
    return profile.has("property", "metadata", "kernel") and _OF_WHOLE(profile) and not _needs_index(profile)


def _part(
    name: str, verb: Verb, line: str, *means: Test, known: Mapping[str, Role] = _PART_ROLES, is_open: bool = False
) -> Operation:
    """Return an operation on parts. If it is open, other arguments become fields of the part."""
    rest = "document? fields?" if is_open else "document?"
    line = line if "kind" in line else f"{line} kind?"
    return Operation(name, f"parts:{name}", verb, pick(f"{line} {rest}", known), both(*means), is_open=is_open)


def _whole(
    name: str, verb: Verb, line: str, *means: Test, known: Mapping[str, Role] = _ROLES, is_open: bool = False
) -> Operation:
    """Return an operation on whole documents."""
    return Operation(name, f"documents:{name}", verb, pick(line, known), both(*means), is_open=is_open)


OPERATIONS = (
    _part("move", "update", "source target", named("reorder|move")),
    _part("untick", "update", "index", named("undone")),
    _part("tick", "update", "index", named("done|complete|completed")),
    _whole("replace", "update", "query replacement document?", named("replace search|find|text"), _UNINDEXED),
    _whole("find", "get", "query kind? document?", named("find|search"), _UNINDEXED,
           either(_OF_MANY, named(DOCUMENTS))),
    _part("replace_within", "update", "index query replacement", named("replace")),
    _part("reorder", "update", "order", named("reorder|rearrange")),
    _part("remove_many", "update", "indexes", named(_TAKES), _SOME),
    _part("add_many", "update", "items", named(_MAKES), _SOME, _lists_places),
    _part("change_many", "update", "items", named(_EDITS), _SOME, _lists_places),
    _part("put_in", "update", "holder? index kind? text?", named("add|insert|populate|fill|put"), _OF_PART,
          _fills_holder, is_open=True),
    _part("add_near", "update", "near text? kind? side?", named(_MAKES), _OF_PART, lacks(_PART_ROLES["text"]),
          known=_BESIDE, is_open=True),
    _part("add", "update", "kind? text? index? holder?", named(_MAKES), _OF_PART, _has_no_objects, is_open=True),
    _part("remove", "update", "index", named(_TAKES), _OF_PART),
    _part("read_part", "get", "index", named(_READS), _OF_PART),
    _part("change", "update", "index text?", named(_EDITS), _OF_PART, is_open=True),
    _whole("update", "update", "document fields?", named(_EDITS), _about, is_open=True),
    _whole("info", "get", "document", named(_READS), _about),
    _whole("validate", "get", "document", named(f"validate|verify {DOCUMENTS}"), _OF_WHOLE),
    _whole("count", "get", "kind? document?", named("count"), _SOME),
    _whole("save", "update", "path document?", named(f"save {DOCUMENTS}"), _SAVES, known=_SAVED),
    _whole("load", "update", "path document?", named(f"open|load {DOCUMENTS}"), _SAVES, known=_SAVED),
    _whole("merge", "update", "sources target", named(f"merge {DOCUMENTS}")),
    _whole("create", "create", "document? fields?", named(f"create {DOCUMENTS}"), _OF_WHOLE,
           known=_CREATED, is_open=True),
    _whole("copy", "create", "target? document?", named(f"copy|duplicate {DOCUMENTS}")),
    _whole("delete", "delete", "document?", named(_TAKES), _OF_DOCUMENT, _OF_WHOLE),
    _whole("list_documents", "list", "", named("list"), _worded("documents docs presentations notebooks")),
    _whole("outline", "get", "kind? document?", named(f"{_READS}|list"), _OF_MANY, _UNINDEXED),
    _whole("text", "get", "document?", named(f"{_READS} text|content"), _OF_DOCUMENT),
    _whole("outline", "get", "kind? document?", named(f"{_READS} outline|structure"), _OF_DOCUMENT),
    _whole("info", "get", "document?", named(f"{_READS} info|property|metadata"), _OF_DOCUMENT),
    _whole("read", "get", "document?", named(f"{_READS} {DOCUMENTS}", "full entire"), _UNINDEXED),
)  # fmt: skip
"""In the order in which a tool's words are compared with them."""
