"""Carry out a script of calls as a model would: one call at a time, with a look before a failed write is repeated.

The scripts are those of `mcp_sim.runs.agents`, as JSON. This file runs where a framework is installed, without mcp-sim.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator
from pathlib import Path
from typing import Any

TRIES = 4
ERROR = "error: "
"""How a framework that knows of errors begins their texts."""

Turns = Generator[tuple[str, dict[str, Any]], str, str]
"""Yields a tool and its arguments, is sent the answer's text, and returns the final answer."""


def turns(scripts: str) -> Turns:
    """Return the turns of the task in MCP_SIM_TASK. `scripts` is a file with a list of scripts."""
    task = os.environ["MCP_SIM_TASK"].split()
    return _carry_out(next(one for one in json.loads(Path(scripts).read_text()) if one["task"].split() == task))


def _carry_out(script: dict[str, Any]) -> Turns:
    kept: dict[str, Any] = {}
    is_prose = any((step["check"] or {}).get("shows") for step in script["steps"])
    for step in script["steps"]:
        for _ in range(TRIES):
            text = yield _call(step, kept)
            value = _read(text)
            if value is not None:
                _keep(step, value, kept)
                break
            if not step["check"] and is_prose and not text.startswith(ERROR):
                break
            if step["check"] and (yield from _is_done(step["check"], kept)):
                break
    return _filled(script["answer"], kept)


def _is_done(check: dict[str, Any], kept: dict[str, Any]) -> Generator[tuple[str, dict[str, Any]], str, bool]:
    """Look for what a write has left, and keep values of it."""
    value = None
    for _ in range(TRIES):
        text = yield _call(check, kept)
        value = _read(text)
        if check["shows"] and all(shown in _texts(value, text) for shown in _filled(check["shows"], kept)):
            return True
        if value is not None:
            break
    part = _at(value, check["rows"])
    wanted = _filled(check["where"], kept)
    for row in part if isinstance(part, list) else [part]:
        if isinstance(row, dict) and wanted.items() <= row.items():
            _keep(check, row, kept)
            return True
    return False


def _call(call: dict[str, Any], kept: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    return call["call"].rpartition("/")[2], _filled(call["arguments"], kept)


def _read(text: str) -> Any:
    """Return the value of an answer, None for an error."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, dict):
        return None if value.get("ok") is False or value.keys() & {"error", "errors", "errorMessages"} else value
    return value if isinstance(value, list) else None


def _texts(value: Any, text: str) -> str:
    """Return the texts in an answer."""
    if isinstance(value, dict | list):
        return "\n".join(_texts(part, "") for part in (value.values() if isinstance(value, dict) else value))
    return value if isinstance(value, str) else text


def _keep(call: dict[str, Any], value: Any, kept: dict[str, Any]) -> None:
    kept.update({name: _at(value, path) for name, path in call["keep"].items()})


def _at(value: Any, path: str) -> Any:
    for part in path.split(".") if path else ():
        if part == "result" and isinstance(value, dict) and part not in value:
            continue  # FastMCP's client takes the value out of the wrapper that servers declare
        value = value[int(part)] if isinstance(value, list) else (value or {}).get(part)
    return value


def _filled(value: Any, kept: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(part, kept) for name, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, kept) for part in value]
    if not isinstance(value, str):
        return value
    alone = re.fullmatch(r"\{(\w+)\}", value)
    if alone:
        return kept[alone[1]]
    return re.sub(r"\{(\w+)\}", lambda found: str(kept.get(found[1], found[0])), value)
