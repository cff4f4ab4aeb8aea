"""Match tools to operations on files.

Evidence: words like `read` beside `file` or `directory` in a name, or the name of a shell command; a path among the
arguments; several such tools together; no required argument that means something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.backends.files.arguments import (
    EXACT,
    MUST,
    NAMES,
    assign_arguments,
    assign_roles,
    is_alternative,
    lists_spaces,
    space_nouns,
)
from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.operation_rules import OPERATION_WORDS, VERBS, choose_operation, is_named
from mcp_sim.backends.matching.operations import OperationCall
from mcp_sim.backends.matching.tool_profiles import ToolProfile, split_by_choice
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.english import singular, snake, vocabulary, words
from mcp_sim.types.plans import Plan

_KNOWN = vocabulary(
    "path paths file files filename name type kind size bytes content contents text data lines line total count "
    "success message error result results matches entries items children directory directories folder is modified "
    "created at time mtime ctime accessed permissions mode encoding exists offset limit has more truncated output "
    "diff source destination old new status extension mime hash checksum depth pattern query words characters "
    "usage"
)
"""The words of fields that tools for files return."""

_BY_PATH = vocabulary("read read_many write append edit delete move replace_lines delete_lines front_matter grep")
"""Operations on a file if an argument is called a path, whatever the name of the tool."""

_IDLE = vocabulary(
    "encoding format timeout timeout_ms timeout_seconds reason description explanation message verbose sort_by "
    "sort_order"
)


@dataclass(frozen=True, slots=True)
class MatchedTool:
    """A tool that works on files: its operation, role -> argument, and whether its name mentions files."""

    profile: ToolProfile
    operation: str
    arguments: Mapping[str, str]
    named: bool


def plans_of(listed: Sequence[ToolProfile]) -> list[Plan]:
    """Return the plans of the tools that work on files; none if the evidence is too weak."""
    found = _with_spaces(listed, _keep_file_tools([one for profile in listed for one in matched_operations(profile)]))
    named = [one for one in found if one.named]
    operations = {one.operation for one in named}
    reads = operations & {"read", "read_many", "read_ranges", "list", "tree"}
    paths = sum(1 for one in named if {"path", "paths", "files", "source"} & one.arguments.keys())
    if not paths or len(operations) < (2 if reads else 3) or not operations - {"exists", "stat", "diff", "pwd"}:
        found = [one for one in found if one.operation == "run"]
    if not found or sum(1 for one in found if _returns_records(one)) > len(found) / 4:
        return []
    return list(_plans(found, len(operations)))


def _keep_file_tools(found: Sequence[MatchedTool]) -> list[MatchedTool]:
    """Return the tools for files by their words, and those for notes or pages that are read and written by path."""
    nouns = _nouns_by_path(found, "read") & _nouns_by_path(found, "write")
    marked = [replace(one, named=one.named or bool(nouns & _nouns(one))) for one in found]
    return [one for one in marked if "space" in one.arguments or _is_of_files(one)]


def _nouns(one: MatchedTool) -> frozenset[str]:
    """Return the words of a tool's name; for a search such as `search_wiki`, also those of its description."""
    is_search = one.operation in {"find", "grep"}
    return one.profile.nouns.union(map(singular, one.profile.description_words) if is_search else ())


def _nouns_by_path(found: Sequence[MatchedTool], operation: str) -> frozenset[str]:
    """Return the nouns of the tools that do this by path, without the words for the operation."""
    matching = (one for one in found if one.operation == operation and _by_path(one) and _takes_text(one))
    return frozenset(noun for one in matching for noun in one.profile.nouns) - OPERATION_WORDS


def _by_path(one: MatchedTool) -> bool:
    place = snake(one.arguments.get("path", ""))
    return place in EXACT or place.endswith("_path")


def _takes_text(one: MatchedTool) -> bool:
    content = one.arguments.get("content")
    return content is None or main_type(one.profile.arguments[content]) == "string"


def _with_spaces(listed: Sequence[ToolProfile], found: Sequence[MatchedTool]) -> list[MatchedTool]:
    """Add spaces if files are read and written by name in a project, vault or the like.

    The tools that list spaces are added. Otherwise a required project does not locate a file.
    """
    spaced = [one for one in found if "space" in one.arguments]
    by_name = {one.operation for one in spaced if snake(one.arguments.get("path", "")) in NAMES}
    if not {"read", "write"} <= by_name:
        plain = [one for one in found if one.arguments.get("space") not in one.profile.needed]
        return [one for one in map(_without_space, plain) if _is_of_files(one)]
    nouns = space_nouns(one.profile for one in spaced)
    lists = [MatchedTool(one, "list", {}, named=True) for one in listed if lists_spaces(one, nouns)]
    marked = [replace(one, named=one.named or "space" in one.arguments) for one in found]
    return [*(one for one in marked if one.profile not in [each.profile for each in lists]), *lists]


def _without_space(one: MatchedTool) -> MatchedTool:
    return replace(
        one, arguments={role: name for role, name in one.arguments.items() if role not in {"space", "folder"}}
    )


def _plans(found: Sequence[MatchedTool], kinds: int) -> Iterator[Plan]:
    by_tool: dict[str, list[MatchedTool]] = {}
    for one in found:
        by_tool.setdefault(one.profile.tool.id, []).append(one)
    for tool, matched in by_tool.items():
        first = matched[0]
        reasons = (
            f"'{' '.join(first.profile.words)}' means {first.operation}",
            f"{kinds} kinds of tools work on files",
        )
        confidence = 0.9 if first.named else 0.7
        if first.profile.selector is None:
            verb, operation, arguments = VERBS[first.operation], first.operation, first.arguments
        else:
            verb, operation = (
                "update" if any(VERBS[one.operation] in {"create", "update", "delete"} for one in matched) else "get",
                "",
            )
            arguments = {"operation": first.profile.selector}
        yield Plan(tool, verb, FILE, "files", operation, arguments, confidence=confidence, reasons=reasons)


def _returns_records(one: MatchedTool) -> bool:
    """Return whether the result must contain at least two fields that no file has: an owner, tags, a title."""
    tool = one.profile.tool
    schema = expanded(tool.output_schema) if tool.output_schema is not None and one.operation != "run" else {}
    parts = (*properties(schema).values(), *(items(part) for part in properties(schema).values()), schema)
    return any(len([name for name in required(part) if not _KNOWN & set(words(name))]) > 1 for part in parts)


def matched_operations(profile: ToolProfile) -> Iterator[MatchedTool]:
    """Yield the operation of a tool on files, if it has one."""
    listed = operation_list(profile)
    if listed is not None and profile.needed <= {listed}:
        yield MatchedTool(
            profile, BATCH, {"operations": listed, **assign_roles(profile, ("dry", "stop"))}, is_named(profile)
        )
        return
    operation = choose_operation(profile)
    if operation is None:
        return
    arguments = assign_arguments(profile, operation)
    used = set(arguments.values())
    unassigned = [name for name in profile.needed if name not in used and name not in _IDLE]
    missing = [
        role
        for role in MUST.get(operation, "").split()
        if role not in arguments and not is_alternative(role, arguments)
    ]
    unassigned = [name for name in unassigned if main_type(profile.arguments.get(name, {})) != "boolean"]
    if unassigned or missing:
        return
    yield MatchedTool(profile, operation, arguments, is_named(profile))


def _is_of_files(one: MatchedTool) -> bool:
    return one.named or (one.operation in _BY_PATH and bool({*one.arguments.values()} & EXACT))


BATCH = "batch"
_LISTS = ("operations", "actions", "steps", "tasks", "commands", "items", "changes")
_PLACES = ("source", "src", "target", "from")
"""Names of the path in a list whose other operations have two paths."""


def operation_list(profile: ToolProfile) -> str | None:
    """Return the argument that lists operations on files, if there is one."""
    name = profile.argument(_LISTS, ("array",))
    return name if name is not None and len(item_operations(profile, name)) > 1 else None


def item_operations(profile: ToolProfile, name: str) -> dict[str, OperationCall]:
    """Return what an item may select -> the operation and its arguments."""
    return {choice.choice: way for choice in item_purposes(profile, name) for way in _match_item(choice)}


def item_purposes(profile: ToolProfile, name: str) -> list[ToolProfile]:
    """Return the arguments of an item, once for each operation that it may select."""
    item = items(profile.arguments[name])
    of_items = replace(profile, words=("file",), arguments=properties(item), needed=required(item))
    return [one for one in split_by_choice(of_items) if one.selector is not None]


def _match_item(profile: ToolProfile) -> Iterator[OperationCall]:
    operation = choose_operation(profile)
    if operation is None:
        return
    roles = assign_arguments(profile, operation)
    wanted = MUST.get(operation, "").split()
    place = profile.argument(_PLACES, ("string",)) if "path" in wanted and "path" not in roles else None
    roles |= {"path": place} if place is not None else {}
    if all(role in roles or is_alternative(role, roles) for role in wanted):
        yield operation, roles
