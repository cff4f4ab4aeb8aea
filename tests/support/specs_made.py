"""Helpers for tests of importers: read specs, save tool lists, find problems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcp_sim.simulator.compile import check
from mcp_sim.spec import yaml12

GET: dict[str, Any] = {
    "name": "get_pet",
    "inputSchema": {"type": "object", "properties": {"pet_id": {"type": "string"}}},
}
LIST = {
    "name": "list_pets",
    "description": "All pets.",
    "inputSchema": {"type": "object"},
    "x-vendor": [1, {"a": None}],
}
BROKEN: list[Any] = [
    GET,
    {"description": "has no name", "inputSchema": {"type": "object"}},
    {"name": "no_schema"},
    {"name": "untyped", "inputSchema": {"properties": {"a": {"type": "string"}}}},
    {
        "name": "odd_types",
        "inputSchema": {"type": "dict", "properties": {"a": {"type": "wurst"}, "b": {"type": "int"}}},
    },
    {"name": "no_json_schema", "inputSchema": {"type": "object", "properties": {"a": {"minLength": "many"}}}},
    {"name": "get_pet", "description": "again", "inputSchema": {"type": "object"}},
    {"name": "odd_hints", "annotations": {"readOnlyHint": "yes"}, "inputSchema": {"type": "object"}},
    "no tool at all",
]


def value(path: Path) -> Any:
    return yaml12.load(path.read_bytes(), str(path)).value


def names(path: Path) -> list[str]:
    return [tool["name"] for tool in value(path)["tools"]]


def saved(path: Path, tools: list[Any]) -> str:
    path.write_text(json.dumps(tools), encoding="utf-8")
    return str(path)


def has_no_errors(*paths: Path) -> bool:
    return not [problem for problem in check(paths) if problem.severity == "error"]
