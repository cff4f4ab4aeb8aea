"""`mcp-sim import openapi`: operations become tools, component schemas entities."""

from __future__ import annotations

import re
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import anyio
import pytest
from support.petstore import PETSTORE, petstore
from support.specs_made import has_no_errors, names, value
from support.work import MOST_GROWTH, counted

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.simulator.compile import load
from mcp_sim.spec.foreign.openapi import operations
from mcp_sim.spec.foreign.resources import resources


def test_operations_become_tools_with_schemas_and_component_schemas_entities(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "openapi", petstore(here)]) == 0
    tools = {tool["name"]: tool for tool in value(here / "Pet_Store.tools.json")["tools"]}
    assert list(tools) == [
        *("listPets", "createPet", "showPet", "changePet", "patch_pets_by_petId", "removePet", "put_photos_by_photo_id")
    ]
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


@pytest.mark.parametrize("component", ["GetVisitResponseSuccess", "visit_create_schema", "SimplifiedVisitObject"])
def test_only_what_a_path_names_is_an_entity(here: Path, component: str) -> None:
    record: Any = {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}}
    shown: Any = {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{component}"}}}}
    seen: Any = {"operationId": "getVisit", "responses": {"200": {"description": "x", **shown}}}
    key: Any = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    schemas: Any = {component: record, "Visit": record}
    paths: Any = {"/pet-visits/{id}": {"parameters": [key], "get": seen}}
    head: Any = {"openapi": "3.1.0", "info": {"title": "Vet", "version": "1"}}
    document: Any = {**head, "paths": paths, "components": {"schemas": schemas}}
    assert main(["import", "openapi", petstore(here, document)]) == 0
    assert [*value(here / "Vet.yaml")["entities"]] == ["visit"]


@pytest.mark.parametrize("kind", ["string", "integer"])
def test_a_name_in_a_path_is_not_the_id_that_the_body_has_or_that_is_a_number(here: Path, kind: str) -> None:
    fields: Any = {"id": {"type": "string"}, "petId": {"type": kind}, "note": {"type": "string"}}
    body: Any = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Visit"}}}}
    key: Any = {"name": "pet_name", "in": "path", "required": True, "schema": {"type": "string"}}
    made: Any = {"operationId": "addVisit", "requestBody": body, "responses": {"201": {"description": "x", **body}}}
    seen: Any = {"operationId": "listVisits", "responses": {"200": {"description": "x"}}}
    schemas = {"Pet": RECORD, "Visit": {"type": "object", "properties": fields}}
    document = {**shop([], []), "components": {"schemas": schemas}}
    document["paths"] = {"/pets/{pet_name}/visits": {"parameters": [key], "post": made, "get": seen}}
    assert main(["import", "openapi", petstore(here, document)]) == 0
    sim = value(here / "Shop.yaml")["sim"]
    assert "sets" not in sim["addVisit"]
    assert ("filters" in sim["listVisits"]) is (kind == "string")


def test_headers_are_arguments_if_they_are_required_or_prevent_a_repetition(here: Path) -> None:
    names = ("X-Request-Id", "On-Behalf-Of", "Idempotency-Key", "Authorization", "tenant")
    headers = [{"name": name, "in": "header", "required": name in {"tenant", "Authorization"}} for name in names]
    document = shop(["/orders/{id}"], ["Order"])
    document["paths"]["/orders/{id}"]["parameters"] += headers
    assert main(["import", "openapi", petstore(here, document)]) == 0
    (tool,) = value(here / "Shop.tools.json")["tools"]
    assert [*tool["inputSchema"]["properties"]] == ["id", "Idempotency-Key", "tenant"]


@pytest.mark.parametrize("ending", ["logs", "stdout", "readme"])
@pytest.mark.parametrize("kind", ["string", "integer"])
def test_a_plain_value_below_a_record_is_no_record(here: Path, ending: str, kind: str) -> None:
    document = shop([f"/orders/{{id}}/{ending}"], ["Order"])
    plain: Any = {"description": "x", "content": {"application/json": {"schema": {"type": kind}}}}
    document["paths"][f"/orders/{{id}}/{ending}"]["get"] = {"operationId": "read", "responses": {"200": plain}}
    assert main(["import", "openapi", petstore(here, document)]) == 0
    assert value(here / "Shop.yaml")["sim"] == {"read": {"verb": "none"}}


RECORD: Any = {"type": "object", "properties": {"id": {"type": "string"}, "note": {"type": "string"}}}


def shop(paths: list[str], components: list[str]) -> Any:
    """Return a document that gets a record at each path."""
    key: Any = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    getting: Any = {"parameters": [key], "get": {"responses": {"200": {"description": "x"}}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1"},
        "paths": dict.fromkeys(paths, getting),
        "components": {"schemas": dict.fromkeys(components, RECORD)},
    }


@pytest.mark.parametrize(
    ("path", "component"),
    [
        ("/sales-orders/{id}", "SalesOrder"),
        ("/salesorders/{id}", "SalesOrder"),
        ("/lineitems/{id}", "LineItem"),
        ("/line-items/{id}", "Lineitem"),
        ("/sports_events/{id}", "SportsEvents"),
        ("/api/sales/orders/{id}", "SalesOrder"),
        ("/sales/{sale}/line-items/{id}", "lineitem"),
    ],
)
def test_a_path_names_an_entity_in_any_number_and_spelling(here: Path, path: str, component: str) -> None:
    assert main(["import", "openapi", petstore(here, shop([path], [component, "Other"]))]) == 0
    spec = value(here / "Shop.yaml")
    (entity,) = spec["entities"]
    assert [*spec["sim"].values()] == [{"verb": "get", "entity": entity, "key": "id"}]


def test_the_longest_entity_at_the_end_of_a_path_is_meant(here: Path) -> None:
    document = shop(["/orders/{id}", "/sales/orders/{id}", "/sales/{order}/status/{id}"], ["Order", "SalesOrder"])
    assert main(["import", "openapi", petstore(here, document)]) == 0
    spec = value(here / "Shop.yaml")
    assert {name: entry["entity"] for name, entry in spec["sim"].items()} == {
        "get_orders_by_id": "order", "get_sales_orders_by_id": "sales_order"
    }  # fmt: skip


def service(paths: dict[str, dict[str, Any]], schemas: dict[str, Any]) -> Any:
    """Return a document with the schemas that operations show, by path and method."""
    document = {**shop([], []), "components": {"schemas": schemas}}
    for path, shown in paths.items():
        keys = [{"name": name, "in": "path", "schema": {"type": "string"}} for name in re.findall(r"{(\w+)}", path)]
        document["paths"][path] = {
            method: {
                "parameters": keys,
                "responses": {"200": {"description": "x", "content": {"application/json": {"schema": schema}}}},
            }
            for method, schema in shown.items()
        }
    return document


def sim_of(here: Path, paths: dict[str, dict[str, Any]], schemas: dict[str, Any]) -> dict[str, Any]:
    assert main(["import", "openapi", petstore(here, service(paths, schemas))]) == 0
    return {name: entry.get("entity") for name, entry in value(here / "Shop.yaml").get("sim", {}).items()}


def entries_of(here: Path, paths: dict[str, dict[str, Any]], schemas: dict[str, Any]) -> dict[str, Any]:
    sim_of(here, paths, schemas)
    return value(here / "Shop.yaml")["sim"]


def answers(here: Path, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    async def answered() -> list[Any]:
        async with Simulator.load(here / "Shop.yaml").open() as world:
            return [(await world.call(tool, arguments)).body for tool, arguments in calls]

    return anyio.run(answered)


def wrapped(**fields: Any) -> Any:
    return {"type": "object", "properties": fields}


ALBUM: Any = {"$ref": "#/components/schemas/MediaObject"}
ALBUMS: Any = {"type": "array", "items": ALBUM}


@pytest.mark.parametrize(
    ("shown", "listed"),
    [
        (ALBUM, ALBUMS),
        (wrapped(data=ALBUM), wrapped(data=ALBUMS, paging=wrapped(next={"type": "string"}))),
        (wrapped(id={"type": "string"}, album=ALBUM), wrapped(albums=ALBUMS, errors=ALBUMS)),
        (RECORD, {"type": "array", "items": RECORD}),
    ],
)
def test_a_record_is_what_its_path_shows_whatever_the_schema_is_called(here: Path, shown: Any, listed: Any) -> None:
    item: Any = {"get": shown, "put": shown, "delete": {}}
    paths: Any = {"/v1/albums": {"get": listed, "post": shown}, "/v1/albums/{id}": item, "/v1/new": {"get": listed}}
    sim = sim_of(here, paths, {"MediaObject": RECORD})
    names = ("get_albums", "post_albums", "get_albums_by_id", "put_albums_by_id", "delete_albums_by_id")
    assert sim == dict.fromkeys(names, "album")
    assert [*value(here / "Shop.yaml")["entities"]] == ["album"]


def test_a_list_that_may_be_null_shows_records(here: Path) -> None:
    listed: Any = {"type": ["array", "null"], "items": RECORD}
    sim = sim_of(here, {"/albums": {"get": listed}, "/albums/{id}": {"get": {}, "delete": {}}}, {})
    assert {*sim.values()} == {"album"}


@pytest.mark.parametrize(
    ("parameter", "fields", "key"),
    [
        ("code", "id code", "code"),
        ("external_album_id", "id external_id", "external_id"),
        ("album", "name note", "name"),
        ("albumId", "code id", "id"),
        ("album_id", "album_id id", "id"),
    ],
)
def test_a_record_has_the_key_that_its_path_names(here: Path, parameter: str, fields: str, key: str) -> None:
    album = wrapped(**{name: {"type": "string"} for name in fields.split()})
    sim_of(here, {f"/albums/{{{parameter}}}": {"get": album}}, {})
    assert value(here / "Shop.yaml")["entities"]["album"]["key"] == key


def test_a_path_with_another_key_of_a_record_finds_it_too(here: Path) -> None:
    wallet = wrapped(code={"type": "string"}, serial={"type": "string"})
    item = {"get": ALBUM, "put": ALBUM}
    paths: Any = {"/customers/{c}/wallets": {"get": ALBUMS}, "/customers/{c}/wallets/{code}": item}
    paths |= {"/wallets": {"get": ALBUMS}, "/wallets/{serial}": item}
    sim_of(here, paths, {"Wallet": wallet, "MediaObject": wallet})
    [listed] = answers(here, ("get_wallets", {}))
    row = listed.value["wallets"][0]
    for tool, key in (("get_wallets_by_serial", "serial"), ("get_customers_wallets_by_code", "code")):
        [shown] = answers(here, (tool, {"c": "7", key: row[key]}))
        assert shown.value == row


def test_a_path_that_ends_with_the_id_of_another_record_lists_its_own(here: Path) -> None:
    crate, note = ({"$ref": f"#/components/schemas/{name}"} for name in ("Crate", "Note"))
    paths: Any = {
        "/crates/{crateId}": {"get": crate},
        "/notes/{crateId}": {"get": {"type": "array", "items": note}},
        "/notes/{crateId}/n/{noteId}": {"get": note},
    }
    fields = wrapped(id={"type": "string"}, crate_id={"type": "string"})
    entries = entries_of(here, paths, {"Crate": RECORD, "Note": fields})
    assert entries["get_notes_by_crateId"] == {"verb": "list", "entity": "note"}


def test_ids_in_the_body_of_an_update_are_new_links(here: Path) -> None:
    fields = {name: {"type": "string"} for name in ("id", "rateId", "note")}
    document = service({"/lines/{id}": {"put": ALBUM}, "/rates/{id}": {"get": wrapped(id={"type": "string"})}}, {})
    document["components"]["schemas"] = {"MediaObject": wrapped(**fields)}
    sent = {"schema": {**wrapped(rateId={"type": "string"}, note={"type": "string"}), "required": ["rateId"]}}
    document["paths"]["/lines/{id}"]["put"]["requestBody"] = {"required": True, "content": {"application/json": sent}}
    assert main(["import", "openapi", petstore(here, document)]) == 0
    assert value(here / "Shop.yaml")["sim"]["put_lines_by_id"]["sets"] == {"rateId": "rateId", "note": "note"}


def test_the_record_in_a_result_with_other_objects_is_declared(here: Path) -> None:
    shown = wrapped(problem=wrapped(title={}), sheetLine=wrapped(id={"type": "string"}, note={}))
    paths = {"/sheets/{sheetId}/lines": {"post": shown}, "/sheets/{sheetId}/lines/{id}": {"get": shown}}
    sim_of(here, paths, {})
    sim = value(here / "Shop.yaml")["sim"]
    assert sim == {
        "post_sheets_lines": {"verb": "create", "entity": "line", "envelope": {"record": "sheetLine"}},
        "get_sheets_lines_by_id": {"verb": "get", "entity": "line", "key": "id", "envelope": {"record": "sheetLine"}},
    }


def test_equal_names_in_different_paths_are_different_entities(here: Path) -> None:
    paths: Any = {
        "/hosts/{id}": {"get": wrapped(id={"type": "string"}, ip={"type": "string"}, port={"type": "integer"})},
        "/settings/hosts/{id}": {"get": wrapped(id={"type": "string"}, theme={"type": "string"}, page={}, size={})},
    }
    assert sim_of(here, paths, {}) == {"get_hosts_by_id": "host", "get_settings_hosts_by_id": "setting_host"}


def test_what_is_removed_from_a_record_still_exists_and_a_singleton_is_no_list(here: Path) -> None:
    paths: Any = {
        "/labels/{id}": {"get": ALBUM, "delete": {}},
        "/labels/{id}/like": {"post": {}, "delete": {}},
        "/albums/{albumId}/labels/{id}": {"delete": {}},
        "/config": {"get": wrapped(id={"type": "string"}, theme={})},
        "/config/{id}": {"get": wrapped(id={"type": "string"}, theme={})},
    }
    sim = entries_of(here, paths, {"MediaObject": RECORD})
    assert sim == {
        "get_labels_by_id": {"verb": "get", "entity": "label", "key": "id"},
        "delete_labels_by_id": {"verb": "delete", "entity": "label", "key": "id"},
        "delete_labels_like": {"verb": "none"},
        "delete_albums_labels_by_id": {"verb": "none"},
        "get_config": {"verb": "get", "entity": "config"},
        "get_config_by_id": {"verb": "get", "entity": "config", "key": "id"},
    }
    shown, again = answers(here, ("get_config", {}), ("get_config_by_id", {"id": "config_00001"}))
    assert again.value == shown.value


LABELS: Any = {"type": "object", "properties": {"labels": {"type": "array"}, "photos": {"type": "array"}}}


@pytest.mark.parametrize(
    ("body", "shown", "creates"),
    [
        ({"$ref": "#/components/schemas/LabelRequest"}, {}, True),
        (wrapped(label=LABELS), {}, True),
        (LABELS, wrapped(data=ALBUM), True),
        ({"$ref": "#/components/schemas/Selection"}, {}, False),
        (LABELS, wrapped(status={"type": "string"}), False),
    ],
)
def test_a_post_creates_what_its_body_or_its_result_is(here: Path, body: Any, shown: Any, creates: bool) -> None:
    schemas = {"MediaObject": RECORD, "LabelRequest": LABELS, "Selection": LABELS}
    document = service({"/labels": {"post": shown}, "/labels/{id}": {"get": ALBUM}}, schemas)
    document["paths"]["/labels"]["post"]["requestBody"] = {"content": {"application/json": {"schema": body}}}
    assert main(["import", "openapi", petstore(here, document)]) == 0
    assert ("post_labels" in value(here / "Shop.yaml")["sim"]) == creates


@pytest.mark.parametrize("name", ["dateTime", "datetime", "date_time"])
def test_other_names_of_date_times_are_read(here: Path, name: str) -> None:
    shown = wrapped(id={"type": "string"}, at={"type": "string", "format": name})
    sim_of(here, {"/labels/{id}": {"get": shown}}, {})
    (tool,) = value(here / "Shop.tools.json")["tools"]
    assert tool["outputSchema"]["properties"]["at"]["format"] == "date-time"


def test_what_fastapi_appends_to_the_name_of_a_function_is_left_out(here: Path) -> None:
    document = shop(["/api/{kind}/items/{id}"], [])
    document["paths"]["/api/{kind}/items/{id}"]["get"]["operationId"] = "read_item_api__kind__items__id__get"
    assert main(["import", "openapi", petstore(here, document)]) == 0
    assert names(here / "Shop.tools.json") == ["read_item"]


def test_the_work_to_find_the_entities_that_paths_name_is_linear() -> None:
    def calls(size: int) -> int:
        names = [f"{first}{second}" for first in "BCDFGHKLMN" for second in ascii_lowercase][:size]
        document = shop([f"/{name.lower()}/{{id}}" for name in names], names)
        listed = [*operations(document, [])]
        with counted() as work:
            assert resources(document, listed).shown == {name.lower() for name in names}
        return work.calls

    calls(200)
    assert calls(200) < MOST_GROWTH * calls(100)


def test_of_a_second_version_too(here: Path) -> None:
    document = {**PETSTORE, "openapi": "3.1.0", "paths": {"/pets": PETSTORE["paths"]["/pets"]}}
    assert main(["import", "openapi", "--name", "pets", petstore(here, document)]) == 0
    assert names(here / "pets.tools.json") == ["listPets", "createPet"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"swagger": "2.0"}, "describes no operations"),
        ({"a": 1}, "is not an OpenAPI document"),
        ({"openapi": "3.1.0", "info": {"title": "x", "version": "1"}, "paths": {}}, "describes no operations"),
        ([], "is not an OpenAPI document"),
    ],
)
def test_what_is_no_openapi_document_is_refused(
    document: Any, expected: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", "openapi", petstore(here, document)]) == 2
    assert expected in capsys.readouterr().err


def imported(here: Path, text: str) -> dict[str, dict[str, Any]]:
    """Return the tools of a document by name; the import passes `check`."""
    (here / "openapi.yaml").write_text(text, encoding="utf-8")
    assert main(["import", "openapi", "--name", "api", "openapi.yaml"]) == 0
    assert has_no_errors(here / "api.yaml")
    return {tool["name"]: tool for tool in value(here / "api.tools.json")["tools"]}


def test_references_are_json_pointers_into_this_and_other_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "parts").mkdir()
    (here / "parts" / "boat.yaml").write_text(
        "Boat: {properties: {sail: {$ref: '#/Sail'}, berth: {$ref: '../openapi.yaml#/components/schemas/Berth'}}}\n"
        "Sail: {type: string, enum: [jib]}\n"
    )
    tools = imported(
        here,
        """\
openapi: 3.0.3
paths:
  /boats/{id}:
    get:
      operationId: getBoat
      parameters: [{name: id, in: path, required: true, schema: {$ref: "#/components/schemas/Berth/properties/id"}}]
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "parts/boat.yaml#/Boat"}}}}}
  /boats:
    post:
      operationId: addBoat
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Berth/allOf/0"}}}}
      responses:
        "201": {$ref: "#/paths/~1boats~1%7Bid%7D/get/responses/200"}
components:
  schemas:
    Berth:
      allOf: [{type: object, properties: {label: {type: string}}}]
      properties: {id: {type: string, pattern: "^b"}}
""",
    )
    assert capsys.readouterr().err == ""
    assert tools["getBoat"]["inputSchema"]["$defs"] == {"Berth_properties_id": {"type": "string", "pattern": "^b"}}
    assert list(tools["addBoat"]["inputSchema"]["properties"]) == ["label"]
    for tool in tools.values():
        assert {"type": "string", "enum": ["jib"]} in tool["outputSchema"]["$defs"].values()


def test_files_outside_the_folder_are_not_read(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "inner").mkdir()
    (here / "secret.yaml").write_text("type: string\n")
    document = {"openapi": "3.1.0", "paths": {"/a": {"get": {"operationId": "getA", "parameters": [
        {"name": "b", "in": "query", "schema": {"$ref": "../secret.yaml"}}]}}}}  # fmt: skip
    assert main(["import", "openapi", petstore(here / "inner", document)]) == 0
    assert "getA, its arguments: ../secret.yaml is not found; any value is accepted" in capsys.readouterr().err


def test_swagger_2_is_converted(here: Path) -> None:
    tools = imported(
        here,
        """\
swagger: "2.0"
paths:
  /jobs:
    parameters: [{$ref: "#/parameters/Team"}]
    post:
      operationId: addJob
      parameters: [{name: job, in: body, required: true, schema: {$ref: "#/definitions/Job"}}]
      responses: {201: {description: ok, schema: {$ref: "#/definitions/Job"}}}
    put:
      operationId: uploadJob
      parameters: [{name: file, in: formData, type: file, required: true}, {name: note, in: formData, type: string}]
      responses: {204: {description: ok}}
parameters: {Team: {name: team, in: query, type: array, items: {type: string}, required: true}}
definitions: {Job: {type: object, required: [title], properties: {id: {type: integer}, title: {type: string}}}}
""",
    )
    assert tools["addJob"]["inputSchema"]["required"] == ["team", "title"]
    assert tools["addJob"]["inputSchema"]["properties"]["team"] == {"type": "array", "items": {"type": "string"}}
    assert set(tools["addJob"]["outputSchema"]["$defs"]["Job"]["properties"]) == {"id", "title"}
    assert tools["uploadJob"]["inputSchema"]["required"] == ["team", "file"]


@pytest.mark.parametrize("referred", [False, True])
def test_what_only_the_server_sets_is_no_argument_and_what_only_the_client_sends_no_result(
    here: Path, referred: bool
) -> None:
    own: Any = {"type": "string", "readOnly": True}
    fields: Any = {
        "id": {"$ref": "#/components/schemas/Id"} if referred else own,
        "secret": {"type": "string", "writeOnly": True},
        "owner": {"type": "object", "properties": {"id": own, "name": {"type": "string"}}, "required": ["id", "name"]},
    }
    robot: Any = {"type": "object", "properties": fields, "required": ["id", "secret", "owner"]}
    content: Any = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Robot"}}}}
    made: Any = {
        "operationId": "addRobot",
        "requestBody": {"required": True, **content},
        "responses": {"201": {"description": "x", **content}},
    }
    document: Any = {
        "openapi": "3.1.0",
        "info": {"title": "Plant", "version": "1"},
        "paths": {"/robots": {"post": made}},
        "components": {"schemas": {"Robot": robot, "Id": own}},
    }
    assert main(["import", "openapi", petstore(here, document)]) == 0
    (add,) = value(here / "Plant.tools.json")["tools"]
    assert add["inputSchema"]["required"] == ["secret", "owner"]
    assert [*add["inputSchema"]["properties"]] == ["secret", "owner"]
    assert add["inputSchema"]["properties"]["owner"]["required"] == ["name"]
    shown = add["outputSchema"]["$defs"]["Robot"]
    assert ([*shown["properties"]], shown["required"]) == (["id", "owner"], ["id", "owner"])
