"""Which arguments list ranges of lines, in which files?"""

from __future__ import annotations

from mcp_sim.backends.matching.purposes import Purpose
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.words import snake

_FILES = ("files", "paths", "file_paths")
RANGES = ("patches", "ranges", "line_ranges", "edits", "changes")
STARTS = ("start", "start_line", "line_start", "from_line")
ENDS = ("end", "end_line", "line_end", "to_line")


def ranged(purpose: Purpose) -> dict[str, str]:
    """Which argument lists files with ranges of lines in each, or ranges in the one file that another names."""
    name = purpose.argument(_FILES, ("array",))
    if name is not None and any(_is_ranges(part) for part in properties(items(purpose.arguments[name])).values()):
        return {"files": name}
    name = purpose.argument(RANGES, ("array",))
    path = purpose.argument_like(("file_path", "path", "file"), ("string",))
    if name is None or path is None or not _is_ranges(purpose.arguments[name]):
        return {}
    guard = next((one for one in purpose.arguments if snake(one).endswith("hash")), None)
    return {"ranges": name, "path": path, **({"hash": guard} if guard is not None else {})}


def _is_ranges(part: Record) -> bool:
    parts = properties(items(part)) if main_type(part) == "array" else {}
    return any(snake(name) in STARTS for name in parts)
