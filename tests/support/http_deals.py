"""Calls of CRM clients over HTTP: creating and counting deals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.over_http import ERAS, Caller

DEAL: dict[str, Any] = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
eras = pytest.mark.parametrize("era", ERAS)


def document(folder: Path, **parts: Any) -> str:
    path = folder / "odd.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "odd", "tools": "crm", "seed": 7, **parts}), encoding="utf-8")
    return str(path)


def created(answer: dict[str, Any]) -> str:
    """Return the id of the deal that a call created."""
    return answer["result"]["structuredContent"]["id"]


async def deals(client: Caller, **given: Any) -> int:
    """Return the number of deals in the world of a client."""
    answer = await client.call("list_deals", {"limit": 1}, **given)
    return answer["result"]["structuredContent"]["total"]
