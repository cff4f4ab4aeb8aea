"""Usual fields of common kinds of records, for entities whose fields nothing shows; read from `kinds.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pkgutil import get_data

from mcp_sim.infer.names import last_nouns
from mcp_sim.types import Record
from mcp_sim.types.domain import Field


@cache
def _kinds() -> Mapping[str, Mapping[str, Record]]:
    """Return the schemas of the fields, by the name of the kind."""
    kinds = json.loads(get_data(__package__, "kinds.json") or b"")["kinds"]
    return {name: kind["fields"] for kind in kinds for name in kind["names"]}


def usual_fields(entity: str) -> dict[str, Field]:
    """Return the fields that records of this kind usually have: of `top_track` those of a track. Empty if unknown."""
    ends = ("_".join(end) for end in last_nouns(tuple(entity.split("_"))))
    fields = next((_kinds()[name] for name in ends if name in _kinds()), {})
    return {name: Field(name, schema, required=True) for name, schema in fields.items()}
