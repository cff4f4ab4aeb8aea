"""Backend for tools that work on files and directories."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from mcp_sim.plans.files.operations import (
    EXACT,
    NAMES,
    OPERATION_WORDS,
    OPERATIONS,
    SPACES,
    SURE,
    batch_choices,
    match_file_tool,
)
from mcp_sim.plans.files.paths import DIRECTORY, FILE, ROOT, directories_above, entities, normalize, parent
from mcp_sim.plans.given import Given
from mcp_sim.plans.matching.matched_tools import MatchedTool
from mcp_sim.plans.matching.tool_profiles import ToolProfile, profiles_of_tool
from mcp_sim.plans.operation import Names, read_names
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.plans.request import Binding
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.kinds import Tables, backends
from mcp_sim.types.lexicon.english import singular, snake, vocabulary, words
from mcp_sim.types.plans import Plan

_WORDS = read_names(__name__)
_KNOWN = _WORDS.terms("known")
"""The words of fields that tools for files return."""
_BY_PATH = vocabulary("read read_many write append edit delete move replace_lines delete_lines grep")
"""Operations on a file if an argument is called a path, whatever the name of the tool."""
_BARE_NAMES = vocabulary("file_name filename")
"""Arguments that name a file in its folder, as opposed to a path."""


@backends.register("files")
class Files(OperationsBackend):
    """Files and directories by path: entities `file` (path, folder, content), `directory`, and the singleton `shell`.

    Evidence: words like `read` beside `file` or `directory` in a name, or the name of a shell command; a path among the
    arguments; several such tools together; no required argument that means something else. Notes and pages that are
    read and written by path, or by name in a project or vault, are files, too.
    """

    order = 40
    operations = OPERATIONS
    lengthy = frozenset({"run", "grep", "find", "diff", "edit", "tree"})
    entities = tuple(entities())
    request = "request:FilesRequest"
    names: ClassVar[Names] = NAMES

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operation of a tool. A folder locates only a file that has a bare name in a space."""
        for tool in match_file_tool(profile):
            is_bare = snake(tool.arguments.get("path", "")) in _BARE_NAMES
            kept = tool if "space" in tool.arguments and is_bare else _without(tool, "folder")
            if "folder" in kept.arguments or tool.arguments.get("folder") not in profile.needed:
                yield kept

    def accepts(self, tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept tools for files, and for notes by path or in a space, if several kinds of them work on paths."""
        nouns = _nouns_by_path(tools, "read") & _nouns_by_path(tools, "write")
        marked = [replace(tool, confidence=SURE) if _mentions(tool, nouns) else tool for tool in tools]
        kept = _with_spaces(listed, [tool for tool in marked if "space" in tool.arguments or _is_of_files(tool)])
        if not _is_enough(kept):
            kept = [tool for tool in kept if tool.name == "run"]
        return [] if sum(map(_returns_records, kept)) > len(kept) / 4 else kept

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the files of a state, and where they are."""
        from mcp_sim.plans.files.given import given_records

        return given_records(state, matched, is_whole=is_whole)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Complete the tree of each server: the parent directories of all paths."""
        completed = dict(tables)
        for prefix in {(plan.entity or FILE).removesuffix(FILE) for plan in plans}:
            completed |= _complete_tree(tables, prefix)
        return completed

    def prepare(self, binding: Binding, domain: Domain) -> Any:
        """Return whether a repository locates the files, and what the items of a batch may select."""
        from mcp_sim.plans.files.request import Setting

        has_repository = any(plan.backend == "git" for plan in domain.plans.values())
        profile = profiles_of_tool(binding.tool)[0] if binding.tool and binding.operation.name == "batch" else None
        return Setting(has_repository, batch_choices(profile) if profile else {})


_READS = frozenset({"read", "read_many", "read_ranges", "list", "tree"})
_COMMON = frozenset({"exists", "stat", "diff", "pwd"})
"""Operations that tools for other things have, too."""


def _is_of_files(tool: MatchedTool) -> bool:
    return tool.confidence == SURE or (tool.name in _BY_PATH and not EXACT.isdisjoint(tool.arguments.values()))


def _is_enough(tools: Sequence[MatchedTool]) -> bool:
    """Return whether tools that mention files have several operations, not all of them common, and take paths."""
    sure = [tool for tool in tools if tool.confidence == SURE]
    kinds = {tool.name for tool in sure}
    takes_paths = any({"path", "paths", "files", "source"} & tool.arguments.keys() for tool in sure)
    return takes_paths and len(kinds) >= (2 if kinds & _READS else 3) and not kinds <= _COMMON


def _mentions(tool: MatchedTool, nouns: Collection[str]) -> bool:
    """Return whether a tool's name contains a noun; of a search such as `search_wiki`, also its description."""
    more = map(singular, tool.profile.description_words) if tool.name in {"find", "grep"} else ()
    return not tool.profile.nouns.union(more).isdisjoint(nouns)


def _nouns_by_path(tools: Sequence[MatchedTool], operation: str) -> set[str]:
    """Return the nouns of the tools that do this with texts by path, without the words for the operation."""
    nouns: set[str] = set()
    for tool in tools:
        content = tool.profile.arguments.get(tool.arguments.get("content", ""), {"type": "string"})
        if tool.name == operation and _by_path(tool) and main_type(content) == "string":
            nouns |= tool.profile.nouns
    return nouns - OPERATION_WORDS


def _by_path(tool: MatchedTool) -> bool:
    place = snake(tool.arguments.get("path", ""))
    return place in EXACT or place.endswith("_path")


def _returns_records(matched_tool: MatchedTool) -> bool:
    """Return whether the result must contain at least two fields that no file has: an owner, tags, a title."""
    tool = matched_tool.profile.tool
    schema = expanded(tool.output_schema) if tool.output_schema is not None and matched_tool.name != "run" else {}
    parts = (*properties(schema).values(), *(items(subschema) for subschema in properties(schema).values()), schema)
    return any(len([name for name in required(subschema) if not _KNOWN & set(words(name))]) > 1 for subschema in parts)


def _with_spaces(listed: Sequence[ToolProfile], tools: Sequence[MatchedTool]) -> list[MatchedTool]:
    """Return the tools with those that list spaces, if these locate files; otherwise those that need no space."""
    spaced = [tool for tool in tools if "space" in tool.arguments]
    if not {"read", "write"} <= {tool.name for tool in spaced if _by_path(tool)}:
        return [*_without_spaces(tools)]
    listing = [profile for profile in listed if _lists(profile, _space_nouns(spaced))]
    sure = [replace(tool, confidence=SURE) if "space" in tool.arguments else tool for tool in tools]
    return [*(tool for tool in sure if tool.profile not in listing), *map(_listing_of_spaces, listing)]


def _space_nouns(spaced: Sequence[MatchedTool]) -> frozenset[str]:
    return SPACES & {snake(name).removesuffix("_name") for tool in spaced for name in tool.profile.arguments}


def _listing_of_spaces(profile: ToolProfile) -> MatchedTool:
    operation = next(known for known in OPERATIONS if known.name == "list")
    return MatchedTool(profile, operation, {}, confidence=SURE, reasons=("the spaces of the files",))


def _without_spaces(tools: Sequence[MatchedTool]) -> Iterator[MatchedTool]:
    for tool in tools:
        plain = _without(tool, "space", "folder")
        if tool.arguments.get("space") not in tool.profile.needed and _is_of_files(plain):
            yield plain


def _lists(profile: ToolProfile, nouns: Collection[str]) -> bool:
    """Return whether a tool lists spaces, as `list_projects` does."""
    is_plural = any(singular(word) in nouns and word not in nouns for word in profile.words[-1:])
    return is_plural and profile.has("list", "get", "show") and not profile.arguments


def _without(tool: MatchedTool, *roles: str) -> MatchedTool:
    return replace(tool, arguments={role: name for role, name in tool.arguments.items() if role not in roles})


def _complete_tree(tables: Tables, prefix: str) -> dict[str, Mapping[Key, Record]]:
    """Return the tables with normalized paths, the folder of each path, and all parent directories."""
    files = {path: row for path, row in _by_key(tables.get(prefix + FILE, {})) if path != ROOT}
    given, directories = dict(_by_key(tables.get(prefix + DIRECTORY, {}))), dict[str, Record]()
    for path, row in (*given.items(), *files.items()):
        for place in (*directories_above(path), *([path] if path in given else [])):
            if place not in directories and place not in files and place != ROOT:
                times = {name: row[name] for name in ("created_at", "modified_at") if name in row}
                directories[place] = given.get(place) or {**times, "path": place, "folder": parent(place)}
    return {prefix + FILE: {**files}, prefix + DIRECTORY: {**directories}}


def _by_key(table: Mapping[Key, Record]) -> Iterator[tuple[str, Record]]:
    for key, row in table.items():
        path = normalize(str(key))
        yield path, {**row, "path": path, "folder": parent(path)}
