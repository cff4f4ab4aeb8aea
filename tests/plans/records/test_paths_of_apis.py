"""Calls that imported OpenAPI documents accept, as their servers would answer them."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from support.services import message, value

from mcp_sim import Simulator
from mcp_sim.cli import main

Json = Any
TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
BOAT: Json = {"type": "object", "properties": {"id": NUMBER, "name": TEXT, "length": {"type": "number"}}}
PORT: Json = {"type": "object", "properties": {"id": TEXT, "title": TEXT}, "required": ["id"]}


def referred(component: str) -> Json:
    return {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{component}"}}}}


def operation(name: str, result: Json = None, body: Json = None, code: str = "200", **others: Json) -> Json:
    sent: Json = {"requestBody": {"required": True, **body}} if body else {}
    answer: Json = {} if result is None else result
    responses: Json = {code: {"description": "x", **answer}}
    return {"operationId": name, **sent, "responses": responses, **others}


def parameters(*names: str, kind: Json = TEXT) -> Json:
    return {"parameters": [{"name": name, "in": "path", "required": True, "schema": kind} for name in names]}


def fleet(**schemas: Json) -> Json:
    paths: Json = {
        "/boats": {
            "post": operation("createBoat", referred("Boat"), referred("Boat")),
            "get": operation("listBoats", {"content": {"application/json": {"schema": {
                "type": "array", "items": {"$ref": "#/components/schemas/Boat"}}}}}),
        },
        "/boats/{boat_id}": {**parameters("boat_id", kind=NUMBER), "get": operation("getBoat", referred("Boat"))},
    }  # fmt: skip
    head = {"openapi": "3.1.0", "info": {"title": "Fleet", "version": "1"}, "paths": paths}
    return {**head, "components": {"schemas": {"Boat": BOAT, "Port": PORT, **schemas}}}


@asynccontextmanager
async def served(tmp_path: Path, document: Json) -> AsyncGenerator[Any]:
    (tmp_path / "openapi.json").write_text(json.dumps(document), encoding="utf-8")
    command = ["import", "openapi", str(tmp_path / "openapi.json"), "-o", str(tmp_path / "fleet")]
    assert await anyio.to_thread.run_sync(main, command) == 0
    async with Simulator.load(tmp_path / "fleet" / "Fleet.yaml") as sim, sim.open() as world:
        yield world


@pytest.mark.parametrize("key", [NUMBER, {"type": "string", "format": "uuid"}])
async def test_a_server_that_issues_the_keys_ignores_one_that_is_taken(tmp_path: Path, key: Json) -> None:
    document = fleet(Boat={**BOAT, "properties": {**BOAT["properties"], "id": key}})
    document["paths"]["/boats/{boat_id}"] |= parameters("boat_id", kind=key)
    async with served(tmp_path, document) as world:
        first = value(await world.call("createBoat", {"name": "Tern"}))
        second = value(await world.call("createBoat", {"id": first["id"], "name": "Gull"}))
        assert (second["name"], second["id"] == first["id"]) == ("Gull", False)
        assert value(await world.call("getBoat", {"boat_id": first["id"]}))["name"] == "Tern"


@pytest.mark.parametrize("argument", ["fleet_boat_name", "fleetBoatName", "boat_name"])
async def test_a_path_may_name_a_record_by_a_field_that_is_not_its_key(tmp_path: Path, argument: str) -> None:
    document = fleet(FleetBoat=BOAT)
    named = {**parameters(argument), "get": operation("getBoat", referred("Boat"))}
    document["paths"] = {"/boats": document["paths"]["/boats"], f"/boats/{{{argument}}}": named}
    document = json.loads(json.dumps(document).replace("schemas/Boat", "schemas/FleetBoat"))
    async with served(tmp_path, document) as world:
        boat = value(await world.call("createBoat", {"name": "Tern"}))
        assert value(await world.call("getBoat", {argument: "Tern"}))["id"] == boat["id"]
        assert "not found" in message(await world.call("getBoat", {argument: "Gull"}))


@pytest.mark.parametrize(
    ("name", "more", "code"),
    [
        ("upsertPort", {}, "200"),
        ("putPort", {"summary": "Create or update a port"}, "200"),
        ("putPort", {"description": "Creates or replaces it."}, "200"),
        ("putPort", {}, "201"),
    ],
)
async def test_a_put_that_creates_too_refuses_no_new_key(tmp_path: Path, name: str, more: Json, code: str) -> None:
    document = fleet()
    put = operation(name, referred("Port"), {"content": {"application/json": {"schema": {"type": "object",
                    "properties": {"title": TEXT}}}}}, code, **more)  # fmt: skip
    document["paths"]["/ports/{port_id}"] = {
        **parameters("port_id"), "put": put, "get": operation("getPort", referred("Port"))
    }  # fmt: skip
    async with served(tmp_path, document) as world:
        for title in ("Old harbour", "New harbour"):
            assert value(await world.call(name, {"port_id": "p1", "title": title}))["title"] == title
        assert value(await world.call("getPort", {"port_id": "p1"})) == {"id": "p1", "title": "New harbour"}


async def test_a_member_of_a_record_is_removed_without_the_record_that_the_answer_shows(tmp_path: Path) -> None:
    document = fleet()
    document["paths"]["/boats/{boat_id}/sailors/{sailor_id}"] = {
        **parameters("boat_id", kind=NUMBER), "delete": operation("dismissSailor", referred("Boat"))
    }  # fmt: skip
    document["paths"]["/boats/{boat_id}/sailors/{sailor_id}"]["parameters"] += parameters("sailor_id")["parameters"]
    document["paths"]["/boats/{boat_id}/sailors"] = {
        **parameters("boat_id", kind=NUMBER),
        "post": operation("hireSailor", referred("Boat"), referred("Port")),
    }
    async with served(tmp_path, document) as world:
        boat = value(await world.call("createBoat", {"name": "Tern"}))
        assert (await world.call("dismissSailor", {"boat_id": boat["id"], "sailor_id": "s1"})).ok
        assert value(await world.call("getBoat", {"boat_id": boat["id"]}))["name"] == "Tern"


@pytest.mark.parametrize("argument", ["ids", "boat_ids", "uris"])
async def test_members_that_a_list_of_ids_names_are_removed_by_any_id(tmp_path: Path, argument: str) -> None:
    document = fleet()
    ids = {"name": argument, "in": "query", "required": True, "schema": {"type": "array", "items": TEXT}}
    document["paths"]["/me/boats"] = {"delete": operation("remove-boats-user", parameters=[ids])}
    async with served(tmp_path, document) as world:
        boat = value(await world.call("createBoat", {"name": "Tern"}))
        for asked in ([str(boat["id"])], ["unheard-of"]):
            assert (await world.call("remove-boats-user", {argument: asked})).ok
        assert value(await world.call("getBoat", {"boat_id": boat["id"]}))["name"] == "Tern"


async def test_the_record_that_a_whole_result_is_exists_afterwards(tmp_path: Path) -> None:
    document = fleet()
    body = {"content": {"application/json": {"schema": {"type": "object", "properties": {"from": TEXT, "into": TEXT}}}}}
    document["paths"]["/boats/merge"] = {"post": operation("mergeBoats", referred("Boat"), body)}
    async with served(tmp_path, document) as world:
        boat = value(await world.call("mergeBoats", {"from": "a"}))
        assert value(await world.call("getBoat", {"boat_id": boat["id"]}))["id"] == boat["id"]


@pytest.mark.parametrize(("verb", "is_refused"), [("publish", False), ("activate", False), ("cancel", True)])
async def test_only_states_that_servers_let_be_entered_once_are_refused_again(
    tmp_path: Path, verb: str, is_refused: bool
) -> None:
    document = fleet()
    document["components"]["schemas"]["Boat"] = {**BOAT, "properties": {**BOAT["properties"], "status": TEXT}}
    document["paths"][f"/boats/{{boat_id}}/{verb}"] = {
        **parameters("boat_id", kind=NUMBER), "post": operation(f"{verb}Boat", referred("Boat"))
    }  # fmt: skip
    async with served(tmp_path, document) as world:
        boat = value(await world.call("createBoat", {"name": "Tern"}))
        assert (await world.call(f"{verb}Boat", {"boat_id": boat["id"]})).ok
        assert (await world.call(f"{verb}Boat", {"boat_id": boat["id"]})).ok is not is_refused


def of_tenants(noun: str, **extra: Json) -> Json:
    """Return a document whose paths begin with a tenant, and which has tenants inside tenants."""
    fields: Json = {"id": TEXT, "name": TEXT}
    schemas: Json = {
        noun.title(): {"type": "object", "properties": fields, "required": ["id"]},
        f"Sub{noun.title()}": {"type": "object", "properties": {**fields, f"parent_{noun}_id": TEXT}},
    }
    tenant, below = f"/{noun}s/{{{noun}_id}}", f"/{noun}s/{{{noun}_id}}/sub-{noun}s"
    of_one, of_both = parameters(f"{noun}_id"), parameters(f"{noun}_id", f"sub_{noun}_id")
    whole, sub = referred(noun.title()), referred(f"Sub{noun.title()}")
    body: Json = {"content": {"application/json": {"schema": {"type": "object", "properties": {"name": TEXT}}}}}
    paths: Json = {
        tenant: {**of_one, "get": operation("getTenant", whole), "patch": operation("updateTenant", whole, body)},
        below: {**of_one, "post": operation("createSub", sub, body, "201")},
        f"{below}/{{sub_{noun}_id}}": {
            **of_both,
            "get": operation("getSub", sub),
            "patch": operation("updateSub", sub, body),
            "delete": operation("deleteSub", code="204"),
        },
        **extra,
    }
    head = {"openapi": "3.1.0", "info": {"title": "Fleet", "version": "1"}, "paths": paths}
    return {**head, "components": {"schemas": schemas}}


@pytest.mark.parametrize("noun", ["account", "tenant", "company"])
async def test_callers_bring_the_id_of_their_tenant(noun: str, tmp_path: Path) -> None:
    async with served(tmp_path, of_tenants(noun)) as world:
        read = await world.call("getTenant", {f"{noun}_id": "t-77"})
        assert read.ok, read
        created = await world.call("createSub", {f"{noun}_id": "t-77", "name": "North"})
        sub = {f"{noun}_id": "t-77", f"sub_{noun}_id": value(created)["id"]}
        assert value(created)[f"parent_{noun}_id"] == "t-77"
        assert value(await world.call("updateSub", {**sub, "name": "South"}))["name"] == "South"
        assert (await world.call("deleteSub", sub)).ok
        assert not (await world.call("getSub", sub)).ok


async def test_what_a_tool_shows_to_callers_without_its_id_is_not_theirs_to_name(tmp_path: Path) -> None:
    listed: Json = {"content": {"application/json": {"schema": {"type": "array", "items": {
        "type": "object", "properties": {"account_id": TEXT, "role": TEXT}}}}}}  # fmt: skip
    document = of_tenants("account", **{"/memberships": {"get": operation("listMemberships", listed)}})
    async with served(tmp_path, document) as world:
        assert not (await world.call("getTenant", {"account_id": "t-77"})).ok
