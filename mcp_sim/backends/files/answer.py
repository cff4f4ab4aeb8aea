"""Answer the tools that work on files and directories."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from mcp_sim.backends.files import inspection, line_ranges, moving, reading, shell_commands, tags, writing
from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.matching import BATCH, item_operations, item_purposes, matched_operations, operation_list
from mcp_sim.backends.files.request import Request, resolve_spaces
from mcp_sim.backends.files.tree import Tree
from mcp_sim.backends.matching.operations import OperationCall, operation_chooser
from mcp_sim.backends.matching.tool_profiles import ToolProfile, profiles_of_tool
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.infer.descriptions import describe_arguments
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_OPERATIONS: Mapping[str, Callable[[Request], Outcome]] = {
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
    """Return the function that answers the calls of a tool."""
    entity = plan.entity or FILE
    peers = frozenset(other.operation for other in domain.plans.values() if other.backend == "files")
    known = {**_OPERATIONS, BATCH: batch_operation(tool, _OPERATIONS)}
    choose_operation = operation_chooser(describe_arguments(tool), plan, known, _operations_of)

    def operate(turn: Turn) -> Outcome:
        operation, roles = choose_operation(turn.call.arguments)
        tree = Tree.of(turn, entity)
        given, roles = resolve_spaces(turn.call.arguments, roles, tree)
        return known[operation](Request(tool, given, roles, tree, peers))

    return compile_answer(tool, domain, operate, _NAMES)


def _operations_of(profile: ToolProfile) -> Iterator[OperationCall]:
    yield from ((one.operation, one.arguments) for one in matched_operations(profile))


def batch_operation(tool: Tool, known: Mapping[str, Callable[[Request], Outcome]]) -> Callable[[Request], Outcome]:
    """Return the function of a tool that takes a list of operations."""
    profile = profiles_of_tool(tool)[0]
    name = operation_list(profile)
    operations = item_operations(profile, name) if name is not None else {}
    selector = (
        next((one.selector for one in item_purposes(profile, name) if one.selector), "") if name is not None else ""
    )

    def run(request: Request) -> Outcome:
        before = request.tree.view
        rows: list[Json] = []
        for item in as_list(request.get("operations")):
            rows.append(_run_item(request, as_object(item), selector, operations, known))
            if "error" in rows[-1] and request.flag("stop"):
                break
        if request.flag("dry"):
            request.tree.changes, request.tree.view = [], before
        return _render_batch(request, rows)

    return run


def _run_item(
    request: Request,
    item: Record,
    selector: str,
    operations: Mapping[str, OperationCall],
    known: Mapping[str, Callable[[Request], Outcome]],
) -> Record:
    """Run one operation. If it fails, the others still run."""
    operation, roles = operations.get(str(item.get(selector)), ("", {}))
    if operation not in known:
        choices = ", ".join(operations)
        return {**item, "success": False, "error": f"Unknown {selector}: {item.get(selector)}; choose {choices}"}
    try:
        done = known[operation](replace(request, given=item, roles=roles))
    except Refused as refused:
        return {**item, "success": False, "error": str(refused)}
    return {**item, "success": True, "message": done.text.partition("\n")[0]}


def _render_batch(request: Request, rows: list[Json]) -> Outcome:
    failed = [row for row in rows if "error" in row]
    text = "\n".join(f"{'FAILED' if 'error' in row else 'OK'}: {row.get('error', row.get('message'))}" for row in rows)
    counts: Record = {"count": len(rows), "successful": len(rows) - len(failed), "failed": len(failed)}
    return Outcome(
        text or "Nothing to do", {"results": rows, **counts}, changes=tuple(request.tree.changes), is_json=True
    )
