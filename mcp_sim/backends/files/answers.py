"""How does a tool answer that works on files and directories?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from mcp_sim.backends.files import changing, editing, looking, ranges, reading, running, tagging, writing
from mcp_sim.backends.files.asking import Asked
from mcp_sim.backends.files.batching import batch_of
from mcp_sim.backends.files.entities import FILE
from mcp_sim.backends.files.operation_lists import BATCH
from mcp_sim.backends.files.recognition import judged
from mcp_sim.backends.files.spaces import located
from mcp_sim.backends.files.tree import Tree
from mcp_sim.backends.matching.purposes import Purpose
from mcp_sim.backends.matching.ways import Way, way_chooser
from mcp_sim.backends.rendering.fitting import Names
from mcp_sim.backends.rendering.outcomes import Outcome, answering
from mcp_sim.infer.docstrings import described
from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_OPERATIONS: Mapping[str, Callable[[Asked], Outcome]] = {
    "allowed": looking.allowed, "append": writing.append, "cd": changing.cd, "copy": changing.copy,
    "delete": changing.delete, "delete_lines": editing.delete_lines, "diff": looking.diff, "du": looking.du,
    "front_matter": reading.front_matter,
    "edit": editing.edit, "exists": looking.exists, "find": looking.find, "grep": looking.grep, "head": reading.head,
    "insert": editing.insert, "list": looking.listing, "mkdir": changing.mkdir, "move": changing.move,
    "pwd": looking.pwd, "read": reading.read, "read_many": reading.read_many, "replace_lines": editing.replace_lines,
    "rmdir": changing.rmdir, "run": running.run, "sort": reading.sort, "stat": looking.stat, "tail": reading.tail,
    "touch": writing.touch, "tree": looking.tree, "wc": looking.wc, "write": writing.write,
    "prepend": writing.prepend, "overwrite": writing.overwrite, "add_tags": tagging.add, "remove_tags": tagging.remove,
    "rename_tag": tagging.rename, "read_ranges": ranges.read, "change_ranges": ranges.change,
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
