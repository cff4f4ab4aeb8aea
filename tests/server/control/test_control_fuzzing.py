"""Random requests that follow the OpenAPI document of the control plane, or break it: none is answered with a 5xx."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import partial
from typing import Any, cast
from urllib.parse import quote, urlencode

import httpx2
from hypothesis import given, settings
from hypothesis import strategies as st
from openapi_pydantic import OpenAPI
from support.controlled import TOKEN

from mcp_sim import Simulator
from mcp_sim.server.access import Access, digest, names_of
from mcp_sim.server.control.app import ControlServer
from mcp_sim.server.control.controls import Controls, Setting
from mcp_sim.server.control.operations import OPERATIONS, document
from mcp_sim.server.control.tokens import ControlToken
from mcp_sim.server.worlds import Worlds
from mcp_sim.simulator.compile import load
from mcp_sim.types.json_schema.validation import Validator

DOCUMENT: dict[str, Any] = document()
NOTHING: dict[str, Any] = {}
KINDS = ("error", "lost_ack", "latency", "stale_read", "hide_tool", "external_change", "eror", "schema_drift")
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
NAMES = ("a", "b", "deal", "contact", "deal_0001", "lost-deal", "busy-backend", "s", "5m", "..", "")
KNOWN: st.SearchStrategy[Any] = st.sampled_from(NAMES)


@st.composite
def faults(draw: st.DrawFn) -> Any:
    """Return what may be a fault."""
    keys = st.sampled_from(["tools", "when", "fires", "id", "visible"])
    rest = draw(st.dictionaries(keys, JSON | KNOWN, max_size=2))
    return {draw(st.sampled_from(KINDS)): draw(st.just(NOTHING) | JSON), **rest}


def values(schema: Any, name: str = "") -> st.SearchStrategy[Any]:
    """Return mostly valid values of a schema of the document, and some that are not."""
    return st.one_of(valid(schema, name), valid(schema, name), JSON)


def valid(schema: Any, name: str = "") -> st.SearchStrategy[Any]:
    match schema:
        case {"$ref": reference}:
            return valid(DOCUMENT["components"]["schemas"][reference.rpartition("/")[2]])
        case {"const": value}:
            return st.just(value)
        case {"enum": choices}:
            return st.sampled_from(choices)
        case {"anyOf": options} | {"oneOf": options}:
            return st.one_of(*(valid(option, name) for option in options))
        case {"type": "object"}:
            return objects(schema, name)
        case {"type": "array", "items": items}:
            return st.lists(values(items), min_size=1, max_size=3)
        case _:
            return SCALARS.get(schema.get("type", ""), KNOWN | st.text(max_size=20))


SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(-1, 2000) | st.integers(),
    "boolean": st.booleans(),
    "null": st.none(),
}


def objects(schema: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        return faults() if name == "fault" else st.dictionaries(KNOWN | st.text(max_size=8), JSON, max_size=3)
    needed = schema.get("required", [])
    parts = {key: values(part, key) for key, part in schema["properties"].items()}
    required = {key: part for key, part in parts.items() if key in needed}
    return st.fixed_dictionaries(required, optional={key: part for key, part in parts.items() if key not in needed})


@dataclass(frozen=True, slots=True)
class Sent:
    """A request to a route of the document."""

    method: str
    path: str
    url: str
    body: bytes | None
    headers: dict[str, str]


def requests() -> st.SearchStrategy[Sent]:
    routes = [(method, path) for path, found in DOCUMENT["paths"].items() for method in found]
    return st.sampled_from(routes).flatmap(lambda route: request(*route))


@st.composite
def request(draw: st.DrawFn, method: str, path: str) -> Sent:
    operation, url, headers = DOCUMENT["paths"][path][method], path, dict[str, str]()
    query = dict[str, str]()
    for parameter in operation["parameters"]:
        value = draw(KNOWN | st.text(max_size=8) if parameter["in"] == "path" else values(parameter["schema"]))
        if parameter["in"] == "path":
            url = url.replace(f"{{{parameter['name']}}}", quote(str(value), safe=""))
        elif parameter["required"] or draw(st.booleans()):
            query[parameter["name"]] = str(value)
    if draw(st.booleans()):
        headers["last-event-id"] = draw(st.integers(-5, 10).map(str) | st.just("x"))
    body = None
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        body = draw(values(schema).map(partial(json.dumps)).map(str.encode) | st.binary(max_size=10))
    return Sent(method, path, f"{url}?{urlencode(query, errors='surrogatepass')}", body, headers)


async def client(worlds: Worlds, simulator: Simulator) -> AsyncGenerator[httpx2.AsyncClient]:
    """Yield a client of a control plane in this process."""
    token = ControlToken(digest(TOKEN.encode()), "the test")
    controls = Controls(simulator, worlds, Setting(0, "virtual", "http"))
    app = ControlServer(controls, Access(names_of("127.0.0.1", ()), {}), token)
    app.leave()  # streams end once they have sent what there is
    transport = httpx2.ASGITransport(app=cast("Any", app), raise_app_exceptions=True)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as one:
        yield one


SCENARIO = load("flaky_crm")


@given(st.lists(requests(), min_size=1, max_size=8))
@settings(derandomize=True)
async def test_every_request_gets_an_answer_of_the_document_and_none_a_5xx(sent: list[Sent]) -> None:
    async with Simulator(SCENARIO) as simulator:
        worlds = Worlds(partial(simulator.world, clock="virtual"), 5)
        worlds.get("a")
        async for one in client(worlds, simulator):
            for each in sent:
                response = await one.request(each.method, each.url, content=each.body, headers=each.headers)
                assert response.status_code < 500, (each, response.text)
                assert_described(each, response)
        await simulator.world("after").call("list_deals")


def assert_described(sent: Sent, response: httpx2.Response) -> None:
    """The answer is one that the document describes; a path with an empty part is another route, or none."""
    if response.status_code in (404, 405):
        return
    described = DOCUMENT["paths"][sent.path][sent.method]["responses"]
    found = described["4XX"] if response.status_code >= 400 else described[str(response.status_code)]
    kind = response.headers.get("content-type", "").partition(";")[0]
    assert list(found.get("content", {"": None})) == [kind], sent
    if kind == "application/json":
        schema = {**found["content"][kind]["schema"], "components": DOCUMENT["components"]}
        assert list(Validator(schema).problems(response.json())) == [], (sent, response.text)


def test_the_document_is_one_of_openapi() -> None:
    assert len(OpenAPI.model_validate(DOCUMENT).paths or {}) == len({one.path for one in OPERATIONS})


def test_answers_are_documented_with_all_their_fields() -> None:
    operations = [operation for path in DOCUMENT["paths"].values() for operation in path.values()]
    schemas = DOCUMENT["components"]["schemas"]
    names = {
        content["schema"]["$ref"].rpartition("/")[2]
        for operation in operations
        for content in operation["responses"].get("200", {}).get("content", {}).values()
        if "$ref" in content["schema"]
    }
    assert "Grade" in names
    optional = {name: {*schemas[name]["properties"]} - {*schemas[name].get("required", ())} for name in names}
    assert {name: fields for name, fields in optional.items() if fields} == {}
