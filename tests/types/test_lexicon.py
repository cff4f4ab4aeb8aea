"""The lexicon and its schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_sim.types.lexicon.past_events import is_past_event
from mcp_sim.types.lexicon.terms import by_word, terms


def read(name: str) -> str:
    return (files("mcp_sim.types.lexicon") / name).read_text(encoding="utf-8")


def test_the_lexicon_follows_its_schema() -> None:
    schema = json.loads(read("lexicon.schema.json"))
    Draft202012Validator.check_schema(schema)
    validator: Any = Draft202012Validator(schema)
    validator.validate(json.loads(read("lexicon.json")))


def test_a_verb_has_one_meaning() -> None:
    certain, likely = by_word("verbs.certain"), by_word("verbs.likely")
    assert not certain.keys() & likely.keys()
    assert sum(len(terms(f"verbs.certain.{meaning}")) for meaning in {*certain.values()}) == len(certain)


@pytest.mark.parametrize(
    "name", ["joined_at", "mergedAt", "sent_on", "date_of_birth", "lastLogin", "created", "date_created"]
)
def test_times_of_what_has_happened_are_known_by_their_names(name: str) -> None:
    assert is_past_event(name)


@pytest.mark.parametrize(
    "name",
    ["scheduled_at", "due_on", "expires_at", "starts_at", "renewed_until", "next_visit_at", "email", "updated_by"],
)
def test_times_that_may_lie_in_the_future_do_not_count(name: str) -> None:
    assert not is_past_event(name)
