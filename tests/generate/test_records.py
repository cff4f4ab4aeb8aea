"""Generated worlds, values under schemas, and ids."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.strategies import NOW, field_schemas, scenarios

from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.record_counts import counted
from mcp_sim.generate.records import generate
from mcp_sim.generate.texts import matching_text
from mcp_sim.generate.time_fields import Moment, creation_time
from mcp_sim.generate.values import chance_of, value_maker
from mcp_sim.simulator.compile import load
from mcp_sim.types import Change, Record
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.scenario import GivenRecords, Scenario
from mcp_sim.world.state import State

Json = Any
STRING: dict[str, Json] = {"type": "string"}


def is_valid(value: Json, schema: dict[str, Json]) -> bool:
    judge: Any = Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER)
    return judge.is_valid(value)


# generated worlds -----------------------------------------------------------------------------------------------------


def test_a_generated_world_is_linked_in_time_and_like_its_schemas() -> None:
    scenario = load("calm_crm")
    tables = generate(scenario.domain, scenario.records, 7)
    assert {name: len(rows) for name, rows in tables.items()} == {
        "company": 40, "contact": 200, "deal": 80, "activity": 120
    }  # fmt: skip
    for name, rows in tables.items():
        fields = scenario.domain.entities[name].fields.values()
        created = [row["created_at"] for row in rows.values()]
        for key, row in rows.items():
            assert row["id"] == key
            for field in fields:
                assert is_valid(row[field.name], field.schema), (name, field.name, row)
                if field.link is not None and row[field.name] is not None:
                    assert row[field.name] in tables[field.link]
            assert row["created_at"] <= row.get("updated_at", row["created_at"]) <= "2029-03-01T09:00:00Z"
        assert name in {"company", "contact"} or created == sorted(created)


def test_given_rows_get_required_values_and_defaults_only() -> None:
    fields = {
        "id": Field("id", STRING),
        "title": Field("title", STRING, required=True),
        "phone": Field("phone", STRING),
        "email": Field("email", {"type": ["string", "null"]}),
        "done": Field("done", {"type": "boolean", "default": False}),
    }
    domain = Domain({}, {"task": Entity("task", "id", None, fields)}, {}, "", datetime(2030, 1, 1, tzinfo=UTC))
    (row,) = generate(domain, {"task": GivenRecords(1, ({"id": "a"},))}, 7)["task"].values()
    assert row.pop("title")
    assert row == {"id": "a", "email": None, "done": False}


def test_given_rows_come_first_are_kept_and_completed() -> None:
    scenario = load("calm_crm")
    rows = ({"id": "con_00050", "name": "Zoe Quill"}, {"name": "No Id"})
    tables = generate(scenario.domain, {**scenario.records, "contact": GivenRecords(60, rows)}, 7)
    assert list(tables["contact"])[:3] == ["con_00050", "con_00001", "con_00002"]
    assert len(tables["contact"]) == 60
    first, second, *_ = tables["contact"].values()
    assert (first["name"], second["name"]) == ("Zoe Quill", "No Id")
    assert first["email"].startswith("zoe.quill@")


def test_a_record_does_not_depend_on_how_many_others_there_are() -> None:
    scenario = load("calm_crm")
    few = generate(scenario.domain, {**scenario.records, "company": GivenRecords(5)}, 7)["company"]
    many = generate(scenario.domain, {**scenario.records, "company": GivenRecords(500)}, 7)["company"]
    timeless = ("name", "website", "industry", "city", "country", "employee_count")
    assert [[many[key][name] for name in timeless] for key in few] == [
        [row[name] for name in timeless] for row in few.values()
    ]


def test_records_are_counted_without_being_generated() -> None:
    text = {"name": Field("name", STRING)}
    owned = Entity("pet", "id", fields={"owner": Field("owner", STRING, link="owner", required=True)})
    entities = {"owner": Entity("owner", "id", fields=text), "pet": owned, "car": Entity("car", "id", fields=text)}
    entities["shop"] = Entity("shop", "shop", fields=text, singleton=True)
    asked = {
        "owner": GivenRecords(0), "pet": GivenRecords(5, ({"id": "p1"},)), "shop": GivenRecords(1),
        "car": GivenRecords(3, ({"id": "c1"}, {"id": "c2"}), whole=True),
    }  # fmt: skip
    made = generate(Domain({}, entities, {}, "", NOW), asked, 7)
    assert counted(entities, asked) == {name: len(rows) for name, rows in made.items()}
    assert counted(entities, {}) == {
        name: len(rows) for name, rows in generate(Domain({}, entities, {}, "", NOW), {}, 7).items()
    }


def test_another_seed_is_another_world_and_the_same_seed_the_same_in_any_process() -> None:
    scenario = load("calm_crm")
    assert generate(scenario.domain, {}, 1) != generate(scenario.domain, {}, 2)
    script = (
        "import hashlib, json; from mcp_sim.simulator.compile import load; "
        "from mcp_sim.generate.records import generate; "
        "s = load('calm_crm'); print(hashlib.sha256(json.dumps(generate(s.domain, s.records, 7)).encode()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


@given(scenario=scenarios())
def test_every_record_of_a_generated_service_keeps_its_schemas_and_links(scenario: Scenario) -> None:
    tables = generate(scenario.domain, scenario.records, scenario.seed)
    for name, rows in tables.items():
        entity = scenario.domain.entities[name]
        for row in rows.values():
            assert {field.name for field in entity.fields.values() if field.required} <= row.keys()
            for field_name, value in row.items():
                field = entity.fields[field_name]
                assert is_valid(value, field.schema), (field, value)
                assert field.link is None or value is None or value in tables[field.link]


def test_a_record_whose_required_link_has_no_target_is_not_generated() -> None:
    scenario = load("calm_crm")
    tables = generate(scenario.domain, {"contact": GivenRecords(0), "company": GivenRecords(2)}, 7)
    assert {name: len(rows) for name, rows in tables.items()} == {"company": 2, "contact": 0, "deal": 0, "activity": 0}


# values ---------------------------------------------------------------------------------------------------------------


@given(schema=field_schemas(), name=st.sampled_from(["title", "email", "price", "due_date", "x", "status", "country"]),
       salt=st.integers())  # fmt: skip
def test_a_value_is_valid_under_its_schema(schema: dict[str, Json], name: str, salt: int) -> None:
    value = value_maker("thing", name, schema)(chance_of(salt), {}, Moment(NOW, NOW))
    assert is_valid(value, schema), value


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "multipleOf": 7, "minimum": 10, "maximum": 30},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
        {"type": "string", "minLength": 70, "maxLength": 80},
        {"type": "string", "maxLength": 0},
        {"type": "array", "items": {"enum": [1, 2, 3]}, "minItems": 3, "maxItems": 3, "uniqueItems": True},
        {"oneOf": [{"type": "integer", "minimum": 5}, {"type": "boolean"}]},
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        {"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "object", "required": ["children"], "properties": {
            "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}}},
        {"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                   {"properties": {"b": {"const": 4}}, "required": ["b"]}]},
    ],
)  # fmt: skip
def test_a_value_is_valid_under_less_usual_schemas(schema: dict[str, Json]) -> None:
    make = value_maker("thing", "x", expanded(schema))
    for salt in range(30):
        value = make(chance_of(salt), {}, Moment(NOW, NOW))
        assert is_valid(value, schema), value


@pytest.mark.parametrize(
    "pattern",
    [r"^[A-Z]{2}-\d{4}$", r"^(north|south)_[a-z]+$", r"^#W\d{7}$", r"^[^\s@]+@[a-z]+\.(com|org)$",
     r"^\+?[1-9]\d{6,14}$",
     r"^(?:[01]\d|2[0-3]):[0-5]\d$", r"^v\d+(\.\d+){2}$", r"\w+", "", r"^[\w-]{3,8}$", r"^a?b*c$",
     r"^C:\\cache$", r"^\(?<a$", r"^\\k<id>$", "^[\u0020-\uffff]{100}$"],
)  # fmt: skip
def test_a_text_is_made_for_a_pattern(pattern: str) -> None:
    for salt in range(50):
        text = matching_text({"pattern": pattern}, chance_of(salt))
        assert text is not None
        assert re.search(pattern, text)


def test_a_text_for_a_pattern_has_the_format_too() -> None:
    texts = {matching_text({"pattern": "^urn:", "format": "uri"}, chance_of(salt)) for salt in range(50)}
    assert "urn:" not in texts  # the official TypeScript client rejects it
    assert matching_text({"pattern": "^(urn)$", "format": "uri"}, chance_of(1)) == "urn"


def test_a_nested_pattern_is_checked_in_reasonable_time() -> None:
    text = matching_text({"pattern": "^(([a-z])+.)+[A-Z]([a-z])+$", "minLength": 200}, chance_of(1))
    assert text is None or text[-1].islower()


@pytest.mark.parametrize("pattern", [r"^(?=.*\d).+$", r"(a)\1", "(", "[z-a]"])
def test_an_unsupported_pattern_is_refused(pattern: str) -> None:
    text = matching_text({"pattern": pattern}, chance_of(1))
    assert text is None or re.search(pattern, text)


def test_records_are_created_in_order_and_never_after_now() -> None:
    births = [creation_time(index, 3000, chance_of(index), NOW) for index in range(3000)]
    assert births == sorted(births)
    assert births[-1] <= NOW
    assert NOW - births[0] > timedelta(days=600)


# ids ------------------------------------------------------------------------------------------------------------------


def task(like: str | int | None, schema: dict[str, Json] | None = None) -> Entity:
    return Entity("task", "id", like, {"id": Field("id", schema or STRING)})


@pytest.mark.parametrize(
    ("like", "last", "following"),
    [("tsk_0001", "tsk_0041", "tsk_0042"), ("T-1", "T-9", "T-10"), (1, 7, 8), ("#W0001", "#W9999", "#W10000")],
)
def test_the_next_id_follows_the_last(like: str | int, last: str | int, following: str | int) -> None:
    view = State.of({"task": {last: {"id": last}}})
    entity = task(like)
    assert next_key(entity, key_maker(entity), view, Draws(1, "", "", 1)) == following


def test_the_next_id_was_never_used() -> None:
    view = State.of({"task": {"t-3": {"id": "t-3"}, "t-1": {"id": "t-1"}}})
    view = view.apply([Change("put", "task", "t-2", {"id": "t-2"}), Change("remove", "task", "t-2")])
    entity = task("t-1")
    assert next_key(entity, key_maker(entity), view, Draws(1, "", "", 1)) == "t-4"


@pytest.mark.parametrize(
    "like", ["1f0c9c52-7b36-4d0a-9a0e-0123456789ab", "3f2a9c1", "e83c5163316f89bfbde7d9ab23ca2e25604af290"]
)
def test_random_ids_look_like_their_siblings_and_differ(like: str) -> None:
    entity, view = task(like), State.of({"task": {}})
    made = {str(next_key(entity, key_maker(entity), view, Draws(1, "", "", at))) for at in range(20)}
    assert len(made) == 20
    for key in made:
        assert re.sub("[0-9a-f]", "x", key) == re.sub("[0-9a-f]", "x", like)


@pytest.mark.parametrize("like", ["TSK-0006", 41, "3f2a9c1b", "recXz5T7QmB1nKp4W"])
def test_generated_records_have_ids_like_given_rows(like: str | int) -> None:
    domain = Domain({}, {"task": task(like)}, {}, "", datetime(2030, 1, 1, tzinfo=UTC))
    first, *others = generate(domain, {"task": GivenRecords(9, ({"id": like},))}, 7)["task"]
    assert first == like
    form = [re.sub(r"\d", "0", re.sub("[A-Za-z]", "a", str(key))) for key in (first, *others)]
    assert all(len(one) == len(form[0]) for one in form)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array", "minItems": 10**9, "items": {"type": "boolean"}},
        {"type": "string", "minLength": 10**10},
        {"type": "string", "pattern": "^[a-z]{99999999}$"},
        {"type": "string", "pattern": "^((([a-z]{999}){999}){999}){999}$"},
    ],
)
def test_a_schema_with_a_huge_minimum_does_not_exhaust_memory(schema: Record) -> None:
    value = value_maker("thing", "x", schema)(chance_of("salt"), {}, Moment(NOW, NOW))
    assert len(value) <= 100_000
