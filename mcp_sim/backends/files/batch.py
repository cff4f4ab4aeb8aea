"""Run a list of operations in one call."""

from __future__ import annotations

from mcp_sim.backends.files.backend import Files
from mcp_sim.backends.files.request import Choices, FilesRequest
from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused, choices_text
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_BACKEND = Files()


def run(request: FilesRequest) -> Outcome:
    """Run `operations`, a list of objects with the name of an operation under `operation` and its arguments.

    If one fails, the others still run, unless the flag `stop` is set. With the flag `dry`, nothing is written.
    """
    rows: list[Record] = []
    choices = request.setting.choices or _every_operation()
    for item in as_list(request.get("operations")):
        rows.append(_run_item(request, as_object(item), choices))
        if "error" in rows[-1] and request.flag("stop"):
            break
    if request.flag("dry"):
        request.undo()
    failed = sum("error" in row for row in rows)
    lines = (f"FAILED: {row['error']}" if "error" in row else f"OK: {row['message']}" for row in rows)
    facts: Record = {"results": rows, "count": len(rows), "successful": len(rows) - failed, "failed": failed}
    return Outcome("\n".join(lines) or "Nothing to do", facts, is_json=True)


def _every_operation() -> Choices:
    """Return all operations, whose arguments are called as their roles."""
    listed = ((name, one) for name, one in _BACKEND.known.items() if name != "batch")
    return {name: (one, {role.name: role.name for role in one.roles}) for name, one in listed}


def _run_item(request: FilesRequest, item: Record, choices: Choices) -> Record:
    selector = request.setting.selector
    chosen: Json = item.get(selector)
    if not isinstance(chosen, str) or chosen not in choices:
        return {**item, "success": False, "error": f"Unknown {selector}: {chosen}; choose {choices_text(choices)}"}
    operation, arguments = choices[chosen]
    try:
        done = _BACKEND.function(operation)(request.part(operation, arguments, item))
    except Refused as refused:
        return {**item, "success": False, "error": str(refused)}
    return {**item, "success": True, "message": done.text.partition("\n")[0]}
