"""The usual fields of records and their schema."""

from __future__ import annotations

import json
from importlib.resources import files

from jsonschema_rs import is_valid

from mcp_sim.types.record_kinds.usual_fields import described_fields


def test_the_kinds_of_records_follow_their_schema() -> None:
    folder = files("mcp_sim.types.record_kinds")
    schema, kinds = (json.loads((folder / f"record_kinds{end}.json").read_text()) for end in (".schema", ""))
    assert is_valid(schema, kinds)


def test_what_a_tool_does_not_provide_is_no_field() -> None:
    assert described_fields("This tool provides technical guidance, not legal advice.") == ()
    assert described_fields("Returns the title, author and year.") == ("title", "author", "year")
