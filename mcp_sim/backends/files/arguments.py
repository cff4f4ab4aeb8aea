"""Assign the arguments of a tool to the roles of an operation on files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.english import singular, snake, vocabulary

_PATHS = (
    "path", "file_path", "filepath", "filename", "file_name", "file", "pathname", "relative_path", "full_path",
    "directory", "dir", "dir_name", "directory_name", "dir_path", "directory_path", "folder", "folder_path",
    "folder_name", "subdirectory", "target_file", "target_path", "absolute_path", "root", "base_path", "start_path",
)  # fmt: skip
_SOURCES = ("source", "src", "old_path", "from", "from_path", "source_path", "old_name", *_PATHS)
_DESTINATIONS = ("destination", "dest", "dst", "new_path", "new_name", "to", "to_path", "target", "destination_path")
_CONTENTS = ("content", "contents", "text", "data", "file_content", "file_text", "body", "new_content")
EXACT = vocabulary("path paths file_path filepath filename file_name absolute_path relative_path file_paths")
_ARGUMENTS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "paths": (("paths", "files", "file_paths", "filenames", "file_names"), "array"),
    "path": (_PATHS, "string"),
    "content": (_CONTENTS, ""),
    "edits": (("edits", "changes", "replacements", "operations"), "array"),
    "old": (("old_text", "old_string", "old_str", "old", "search", "find", "search_text", "old_content"), "string"),
    "new": (("new_text", "new_string", "new_str", "new", "replace", "replacement", "replace_text"), "string"),
    "everywhere": (("replace_all", "all_occurrences", "global"), "boolean"),
    "line": (("line", "line_number", "insert_line", "at_line", "after_line", "position"), ""),
    "start": (("start_line", "offset", "start", "from_line", "line_start", "begin", "first_line"), ""),
    "end": (("end_line", "end", "to_line", "line_end", "stop", "last_line"), ""),
    "limit": (("limit", "length", "num_lines", "line_count", "max_lines"), ""),
    "head": (("head",), ""),
    "tail": (("tail",), ""),
    "lines": (("lines", "n", "num_lines", "count", "line_count"), ""),
    "pattern": (("pattern", "query", "regex", "search_pattern", "search_term", "text", "name", "glob", "term",
                 "file_pattern", "content_pattern", "keyword"), "string"),
    "among": (("include", "include_pattern", "file_pattern", "name_pattern", "glob", "filter", "pattern"), "string"),
    "in_contents": (("content_search", "search_content", "in_content", "include_content"), "boolean"),
    "kind": (("search_type", "search_in", "search_by", "search_mode", "search_scope"), "string"),
    "exclude": (("exclude_patterns", "exclude", "ignore", "ignore_patterns"), ""),
    "recursive": (("recursive", "recurse", "force"), "boolean"),
    "depth": (("max_depth", "depth"), ""),
    "sort": (("sort_by", "sort", "order_by"), "string"),
    "hidden": (("a", "all", "show_hidden", "include_hidden", "hidden"), "boolean"),
    "human": (("human_readable", "human"), "boolean"),
    "mode": (("mode", "unit"), "string"),
    "case": (("case_sensitive", "match_case"), "boolean"),
    "ignore_case": (("ignore_case", "case_insensitive"), "boolean"),
    "overwrite": (("overwrite", "force", "replace_existing"), "boolean"),
    "append": (("append",), "boolean"),
    "times": (("expected_replacements", "expected_occurrences", "expected_count"), ""),
    "command": (("command", "cmd", "command_line", "commands"), ""),
    "tags": (("tags", "tag", "labels"), ""),
    "old_tag": (("old_tag", "from_tag", "tag", "old_name", "old"), "string"),
    "new_tag": (("new_tag", "to_tag", "new_name", "new"), "string"),
    "location": (("location", "where"), "string"),
    "args": (("args", "arguments"), "array"),
    "cwd": (("cwd", "workdir", "working_dir", "working_directory", "work_dir", "directory", "dir", "path"), "string"),
    "stdin": (("stdin", "input"), "string"),
    "dry": (("dry_run", "preview"), "boolean"),
    "stop": (("stop_on_error", "fail_fast", "abort_on_error"), "boolean"),
    "parents": (("parents", "create_parents", "create_dirs", "recursive", "make_parents"), "boolean"),
}  # fmt: skip
"""Role -> the names of arguments that have it, and their type."""

_NEEDS: Mapping[str, str] = {
    "append": "path content", "delete_lines": "path start end", "replace_lines": "path start end content",
    "cd": "path", "delete": "path", "du": "path human", "exists": "path",
    "edit": "path edits old new everywhere dry times",
    "find": "path pattern exclude depth in_contents kind case ignore_case", "head": "path lines",
    "grep": "path pattern case ignore_case exclude among kind", "insert": "path line content",
    "list": "path hidden recursive depth sort among exclude",
    "mkdir": "path parents", "read": "path start end limit head tail", "read_many": "paths", "rmdir": "path recursive",
    "sort": "path", "stat": "path", "tail": "path lines", "touch": "path", "tree": "path depth exclude",
    "wc": "path mode", "front_matter": "path", "allowed": "", "pwd": "",
    "write": "path content overwrite append parents",
    "run": "command args cwd stdin",
    "prepend": "path content", "overwrite": "path content",
    "add_tags": "paths path tags location", "remove_tags": "paths path tags", "rename_tag": "old_tag new_tag",
}  # fmt: skip
MUST: Mapping[str, str] = {
    "append": "path content", "delete_lines": "path start", "replace_lines": "path start content",
    "cd": "path", "delete": "path", "edit": "path", "front_matter": "path", "grep": "pattern", "head": "path",
    "insert": "path line content", "mkdir": "path", "read": "path", "read_many": "paths", "rmdir": "path",
    "sort": "path", "stat": "path", "exists": "path", "tail": "path", "touch": "path", "wc": "path",
    "run": "command", "write": "content", "move": "source destination", "copy": "source destination",
    "diff": "path other", "prepend": "path content", "overwrite": "path content",
    "add_tags": "path tags", "remove_tags": "path tags", "rename_tag": "old_tag new_tag",
}  # fmt: skip


def is_alternative(role: str, arguments: Mapping[str, str]) -> bool:
    """Return whether another argument makes this role unnecessary."""
    return role == "path" and "paths" in arguments


def assign_arguments(profile: ToolProfile, operation: str) -> dict[str, str]:
    """Return role -> argument of an operation, including the space and folder of the files."""
    found = _own_arguments(profile, operation)
    return (
        {**found, **space_arguments(profile, found)} if _NEEDS.get(operation, "path") and operation != "run" else found
    )


def _own_arguments(profile: ToolProfile, operation: str) -> dict[str, str]:
    if operation in {"move", "copy"}:
        destination = profile.argument_like(_DESTINATIONS, ("string",))
        named = (_other(profile, name, destination) for name in _SOURCES)
        source = next((name for name in named if name is not None), None)
        found = {"source": source, "destination": destination, **assign_roles(profile, ("overwrite",))}
        return {role: name for role, name in found.items() if name is not None}
    if operation == "diff":
        named = [name for name in profile.arguments if name in profile.needed][:2]
        return dict(zip(("path", "other"), named, strict=False))
    if operation in {"read_ranges", "change_ranges"}:
        return range_arguments(profile)
    found = assign_roles(profile, tuple(_NEEDS[operation].split()))
    name = profile.argument_like(("name",), ("string",)) if operation in {"mkdir", "touch", "write"} else None
    return {"path": name, **found} if name is not None and "path" not in found else found


def _other(profile: ToolProfile, name: str, taken: str | None) -> str | None:
    found = profile.argument_like((name,), ("string",))
    return found if found != taken else None


def assign_roles(profile: ToolProfile, roles: Sequence[str]) -> dict[str, str]:
    """Return role -> argument. An argument gets one role; earlier roles choose first."""
    found: dict[str, str] = {}
    for role in roles:
        names, kind = _ARGUMENTS[role]
        argument = profile.argument_like(names, (kind,) if kind else ())
        if argument is not None and argument not in found.values():
            found[role] = argument
    return found


_SPACES = vocabulary("project vault workspace bucket notebook collection library repository repo space bank drive")
_FOLDERS = vocabulary("folder directory dir subfolder subdirectory folder_path")
NAMES = vocabulary("file_name filename")
"""Arguments that name a file in its folder, as opposed to a path."""


def space_arguments(profile: ToolProfile, found: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments that locate the files: a space (project, vault, bucket), and a folder in it."""
    space = space_argument(profile)
    if space is None or space in found.values():
        return {}
    is_bare = snake(found.get("path", "")) in NAMES
    folder = next((name for name in profile.arguments if snake(name) in _FOLDERS), None) if is_bare else None
    return {"space": space} | ({"folder": folder} if folder is not None and folder not in found.values() else {})


def space_argument(profile: ToolProfile) -> str | None:
    """Return the argument that names the space of a file."""
    texts = (name for name, part in profile.arguments.items() if main_type(part) == "string")
    return next((name for name in texts if _space_in(name)), None)


def space_nouns(listed: Iterable[ToolProfile]) -> frozenset[str]:
    """Return what these tools call the space that files are in."""
    return frozenset(_space_in(name) for profile in listed for name in profile.arguments) - {""}


def lists_spaces(profile: ToolProfile, nouns: frozenset[str]) -> bool:
    """Return whether a tool lists spaces, as `list_projects` does."""
    many = profile.words[-1:] and singular(profile.words[-1]) in nouns and profile.words[-1] not in nouns
    return bool(many) and profile.has("list", "get", "show") and not profile.arguments


def _space_in(argument: str) -> str:
    bare = snake(argument).removesuffix("_name")
    return bare if bare in _SPACES else ""


_FILES = ("files", "paths", "file_paths")
RANGES = ("patches", "ranges", "line_ranges", "edits", "changes")
STARTS = ("start", "start_line", "line_start", "from_line")
ENDS = ("end", "end_line", "line_end", "to_line")


def range_arguments(profile: ToolProfile) -> dict[str, str]:
    """Return the arguments for line ranges: a list of files with ranges, or a path and a list of ranges."""
    name = profile.argument(_FILES, ("array",))
    if name is not None and any(_is_ranges(part) for part in properties(items(profile.arguments[name])).values()):
        return {"files": name}
    name = profile.argument(RANGES, ("array",))
    path = profile.argument_like(("file_path", "path", "file"), ("string",))
    if name is None or path is None or not _is_ranges(profile.arguments[name]):
        return {}
    guard = next((one for one in profile.arguments if snake(one).endswith("hash")), None)
    return {"ranges": name, "path": path, **({"hash": guard} if guard is not None else {})}


def _is_ranges(part: Record) -> bool:
    parts = properties(items(part)) if main_type(part) == "array" else {}
    return any(snake(name) in STARTS for name in parts)
