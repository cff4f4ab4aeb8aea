"""The data files of the generator match their schema, and what they name exists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import mcp_sim.generate
from mcp_sim.generate.chance import Chance
from mcp_sim.generate.setting import plain_setting
from mcp_sim.generate.shipped_data import load
from mcp_sim.generate.text_fields import writer_of
from mcp_sim.generate.time_fields import Moment

FOLDER = Path(mcp_sim.generate.__file__).parent / "data"
FILES = sorted(path.stem for path in FOLDER.glob("*.json") if path.stem != "schema")


def test_every_file_matches_the_schema() -> None:
    schema: Any = load("schema")
    Draft202012Validator.check_schema(schema)
    validator: Any = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    problems = [f"{error.json_path}: {error.message}" for error in validator.iter_errors({n: load(n) for n in FILES})]
    assert not problems


@pytest.mark.parametrize("name", FILES)
def test_keys_of_a_file_are_unique(name: str) -> None:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs), [key for key, _ in pairs]
        return dict(pairs)

    json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"), object_pairs_hook=unique)


def test_every_writer_exists() -> None:
    texts = load("texts")
    rules = [rule["writer"] for part in ("names", "fields") for rule in texts[part]]
    for writer in {*texts["formats"].values(), *rules, *texts["kinds"]}:
        assert writer_of(writer, "thing", plain_setting())(Chance(b""), {}, Moment.unknown())


def test_every_slot_of_a_phrase_is_known() -> None:
    phrases = load("phrases")
    known = {*phrases["slots"], "matter", "topic", "good", "goods", "kind", "month", "year", "quarter", "date", "n"}
    used = re.findall(
        r"\{(\w+)\}", json.dumps([phrases[part] for part in ("titles", "openings", "more", "talk", "lines")])
    )
    assert {*used} <= known | {"person", "title"}
