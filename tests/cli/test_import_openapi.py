"""`mcp-sim import openapi`: operations become tools, component schemas entities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.petstore import PETSTORE, petstore
from support.specs_made import has_no_errors, names, value

from mcp_sim.cli import main
from mcp_sim.simulator.compile import load


def test_operations_become_tools_with_schemas_and_component_schemas_entities(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "openapi", petstore(here)]) == 0
    tools = {tool["name"]: tool for tool in value(here / "Pet_Store.tools.json")["tools"]}
    assert list(tools) == ["listPets", "createPet", "showPet", "changePet", "removePet", "put_photos_photo_id"]
    assert tools["listPets"]["inputSchema"]["properties"] == {
        "tag": {"type": "string"}, "limit": {"type": "integer", "exclusiveMinimum": 0}
    }  # fmt: skip
    assert tools["listPets"]["outputSchema"]["required"] == ["pets"]
    assert tools["createPet"]["inputSchema"]["required"] == ["name"]
    assert tools["changePet"]["inputSchema"]["required"] == ["petId"]
    assert tools["createPet"]["inputSchema"]["properties"]["body_tag"]["type"] == ["string", "null"]
    assert tools["removePet"]["annotations"] == {"destructiveHint": True}
    spec = value(here / "Pet_Store.yaml")
    assert spec["entities"]["pet"]["key_like"] == "pet-01"
    assert spec["sim"]["showPet"] == {"verb": "get", "entity": "pet", "key": "petId"}
    assert has_no_errors(here / "Pet_Store.yaml")
    assert not load(here / "Pet_Store.yaml").domain.plans["listPets"].guessed
    captured = capsys.readouterr().err
    assert "PATCH /pets/{petId} is left out" in captured
    assert "a body of image/png is read as one string" in captured
    assert "other.yaml#/X" in captured


def test_what_is_below_another_in_a_path_belongs_to_it(here: Path) -> None:
    key: Any = {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}}
    fields: Any = {"id": {"type": "string"}, "petId": {"type": "integer"}, "note": {"type": "string"}}
    visit: Any = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Visit"}}}}
    schemas: Any = {
        "Pet": {"type": "object", "properties": {"id": {"type": "integer"}}},
        "Visit": {"type": "object", "properties": fields},
    }
    sent: Any = {
        "content": {"application/json": {"schema": {"type": "object", "properties": {"note": fields["note"]}}}}
    }
    made: Any = {"operationId": "addVisit", "requestBody": sent, "responses": {"201": {"description": "x", **visit}}}
    seen: Any = {"operationId": "listVisits", "responses": {"200": {"description": "x"}}}
    paths: Any = {"/pets/{id}/visits": {"parameters": [key], "post": made, "get": seen}}
    head: Any = {"openapi": "3.1.0", "info": {"title": "Vet", "version": "1"}}
    assert (
        main(["import", "openapi", petstore(here, {**head, "paths": paths, "components": {"schemas": schemas}})]) == 0
    )
    sim = value(here / "Vet.yaml")["sim"]
    assert sim["addVisit"] == {"verb": "create", "entity": "visit", "sets": {"id": "petId", "note": "note"}}
    assert sim["listVisits"] == {"verb": "list", "entity": "visit", "filters": {"id": "petId"}}


def test_of_a_second_version_too(here: Path) -> None:
    document = {**PETSTORE, "openapi": "3.1.0", "paths": {"/pets": PETSTORE["paths"]["/pets"]}}
    assert main(["import", "openapi", "--name", "pets", petstore(here, document)]) == 0
    assert names(here / "pets.tools.json") == ["listPets", "createPet"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"swagger": "2.0"}, "is Swagger 2.0; convert it to OpenAPI 3 first"),
        ({"a": 1}, "is not an OpenAPI document of version 3"),
        ({"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}}, "describes no operations"),
        ({"openapi": "3.0.0", "paths": {}}, "is not an OpenAPI document: info: Field required"),
        ([], "is not an OpenAPI document of version 3"),
    ],
)
def test_what_is_no_openapi_document_is_refused(
    document: Any, expected: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "openapi", petstore(here, document)]) == 2
    assert expected in capsys.readouterr().err
