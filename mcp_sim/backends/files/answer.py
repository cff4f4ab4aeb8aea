"""How does a tool answer that works on files and directories?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from mcp_sim.backends.files import inspection, line_ranges, moving, reading, shell_commands, tags, writing
from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.matching import BATCH, choices_of, judged, list_of, ways_of
from mcp_sim.backends.files.request import Asked, located
from mcp_sim.backends.files.tree import Tree
from mcp_sim.backends.matching.operations import Way, way_chooser
from mcp_sim.backends.matching.tool_profiles import Purpose, purposes_of
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, answering
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.infer.docstrings import described
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_OPERATIONS: Mapping[str, Callable[[Asked], Outcome]] = {
    "allowed": inspection.allowed, "append": writing.append, "cd": moving.cd, "copy": moving.copy,
    "delete": moving.delete, "delete_lines": writing.delete_lines, "diff": inspection.diff, "du": inspection.du,
    "front_matter": reading.front_matter, "edit": writing.edit, "exists": inspection.exists, "find": inspection.find,
    "grep": inspection.grep, "head": reading.head, "insert": writing.insert, "list": inspection.listing,
    "mkdir": moving.mkdir, "move": moving.move, "pwd": inspection.pwd, "read": reading.read,
    "read_many": reading.read_many, "replace_lines": writing.replace_lines, "rmdir": moving.rmdir,
    "run": shell_commands.run, "sort": reading.sort, "stat": inspection.stat, "tail": reading.tail,
    "touch": writing.touch, "tree": inspection.tree, "wc": inspection.wc, "write": writing.write,
    "prepend": writing.prepend, "overwrite": writing.overwrite, "add_tags": tags.add, "remove_tags": tags.remove,
    "rename_tag": tags.rename, "read_ranges": line_ranges.read, "change_ranges": line_ranges.change,
}  # fmt: skip

_NAMES: Names = {
    "content": ("file_content", "contents", "text", "data", "body", "sorted_content", "last_lines", "first_lines"),
    "entries": ("items", "files_and_directories", "directory_content", "current_directory_content", "children", "tree"),
    "matches": ("results", "files", "found", "hits"),
    "lines": ("matching_lines", "line_count", "num_lines"),
    "files": ("results", "items", "contents"),
    "path": ("file_path", "filename", "file_name", "current_working_directory", "working_directory", "cwd",
             "current_directory", "file", "directory"),
    "type": ("kind", "entry_type", "file_type"),
    "size": ("bytes", "size_bytes", "bytes_written", "file_size", "total_size", "length"),
    "characters": ("chars", "char_count", "characters_written"),
    "created": ("created_at", "creation_time", "birthtime", "ctime"),
    "modified": ("modified_at", "last_modified", "mtime", "modification_time", "updated_at", "accessed"),
    "is_directory": ("is_dir", "directory"),
    "diff": ("diff_lines", "difference", "differences", "changes"),
    "usage": ("disk_usage", "total", "usage"),
    "directories": ("allowed_directories", "folders", "dirs", "roots"),
    "count": ("total", "total_count", "match_count", "matches_count", "replacements"),
    "words": ("word_count",),
    "output": ("terminal_output", "stdout"),
    "stdout": ("output", "result", "terminal_output"),
    "stderr": ("error", "error_output"),
    "exit_code": ("exitcode", "return_code", "returncode", "status", "code"),
    "line": ("line_number", "lineno"),
    "destination": ("new_path", "to"),
    "source": ("old_path", "from"),
}  # fmt: skip


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """How a tool answers, each call by its working directory."""
    entity = plan.entity or FILE
    peers = frozenset(other.operation for other in domain.plans.values() if other.backend == "files")
    known = {**_OPERATIONS, BATCH: batch_of(tool, _OPERATIONS)}
    way = way_chooser(described(tool), plan, known, _ways)

    def operate(turn: Turn) -> Outcome:
        operation, roles = way(turn.call.arguments)
        tree = Tree.of(turn, entity)
        given, roles = located(turn.call.arguments, roles, tree)
        return known[operation](Asked(tool, given, roles, tree, peers))

    return answering(tool, domain, operate, _NAMES)


def _ways(purpose: Purpose) -> Iterator[Way]:
    yield from ((one.operation, one.arguments) for one in judged(purpose))


def batch_of(tool: Tool, known: Mapping[str, Callable[[Asked], Outcome]]) -> Callable[[Asked], Outcome]:
    """The function of a tool that takes such a list."""
    purpose = purposes_of(tool)[0]
    name = list_of(purpose)
    ways = ways_of(purpose, name) if name is not None else {}
    selector = next((one.selector for one in choices_of(purpose, name) if one.selector), "") if name is not None else ""

    def run(asked: Asked) -> Outcome:
        before = asked.tree.view
        rows: list[Json] = []
        for item in as_list(asked.get("operations")):
            rows.append(_one(asked, as_object(item), selector, ways, known))
            if "error" in rows[-1] and asked.flag("stop"):
                break
        if asked.flag("dry"):
            asked.tree.changes, asked.tree.view = [], before
        return _told(asked, rows)

    return run


def _one(
    asked: Asked, item: Record, selector: str, ways: Mapping[str, Way], known: Mapping[str, Callable[[Asked], Outcome]]
) -> Record:
    """One operation; one that fails does not keep the others from being done."""
    operation, roles = ways.get(str(item.get(selector)), ("", {}))
    if operation not in known:
        choices_told = ", ".join(ways)
        return {**item, "success": False, "error": f"Unknown {selector}: {item.get(selector)}; choose {choices_told}"}
    try:
        done = known[operation](replace(asked, given=item, roles=roles))
    except Refused as refused:
        return {**item, "success": False, "error": str(refused)}
    return {**item, "success": True, "message": done.text.partition("\n")[0]}


def _told(asked: Asked, rows: list[Json]) -> Outcome:
    failed = [row for row in rows if "error" in row]
    text = "\n".join(f"{'FAILED' if 'error' in row else 'OK'}: {row.get('error', row.get('message'))}" for row in rows)
    counts: Record = {"count": len(rows), "successful": len(rows) - len(failed), "failed": len(failed)}
    return Outcome(
        text or "Nothing to do", {"results": rows, **counts}, changes=tuple(asked.tree.changes), is_json=True
    )
