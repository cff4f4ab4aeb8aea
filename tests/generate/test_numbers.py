"""Numbers keep the bounds and the steps of their schemas."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import jsonschema
import pytest

from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of, value_maker


@pytest.mark.parametrize("name", ["latitude", "created_at", "port", "page", "rank", "size"])
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "multipleOf": 0.01},
        {"type": "number", "minimum": 0.2, "maximum": 0.9},
        {"type": "integer", "multipleOf": 7},
        {"type": "integer", "multipleOf": 1000},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    ],
)
def test_numbers_keep_their_bounds_and_steps_whatever_their_name(name: str, schema: Any) -> None:
    make = value_maker("it", name, schema)
    for at in range(20):
        moment = datetime(2030, 1, 1, tzinfo=UTC)
        jsonschema.validate(make(chance_of(name, at), {}, Moment(moment, moment)), schema)
