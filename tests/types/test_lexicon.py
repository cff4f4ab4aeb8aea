"""The lexicon and its schema."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_sim.types.lexicon.english import is_past_event, participle
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
    ("verb", "past"),
    [("break", "broken"), ("light", "lit"), ("overwrite", "overwritten"), ("prepay", "prepaid"), ("rebuild", "rebuilt"),
     ("resend", "resent"), ("unbind", "unbound"), ("release", "released"), ("relay", "relayed"), ("unpin", "unpinned")],
)  # fmt: skip
def test_irregular_participles_also_follow_prefixes(verb: str, past: str) -> None:
    assert participle(verb) == past
    assert is_past_event(f"{past}_at")
