"""What does a tool do that takes several operations on files at once, each of which says what it is?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from mcp_sim.backends.files.asking import Asked
from mcp_sim.backends.files.operation_lists import choices_of, list_of, ways_of
from mcp_sim.backends.matching.purposes import purposes_of
from mcp_sim.backends.matching.ways import Way
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.shapes import as_list, as_object


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
