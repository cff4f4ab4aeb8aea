"""Results as the frameworks show them in which servers are written, and failures that functions return."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service

from mcp_sim.types import Observation, ToolResult

Json = Any
TEXT: Json = {"type": "string"}
ROW = {"type": "object", "additionalProperties": True}


def wrapper(schema: Json, *, fastmcp: bool = False) -> Json:
    whole = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    return {**whole, "x-fastmcp-wrap-result": True} if fastmcp else whole


def tool(name: str, output: Json, /, *, optional: tuple[str, ...] = (), **arguments: Json) -> Json:
    """Return a tool as the Python SDK describes a function; FastMCP gives the schema of arguments no title."""
    needed = [argument for argument in arguments if argument not in optional]
    schema = {"type": "object", "properties": arguments, "required": needed}
    title = {} if "x-fastmcp-wrap-result" in (output or ()) else {"title": f"{name}Arguments"}
    shown = {} if output is None else {"outputSchema": output}
    return {"name": name, "description": f"{name}.", "inputSchema": {**schema, **title}, **shown}


async def answers(tmp_path: Path, tools: list[Json], *calls: tuple[str, dict[str, Json]]) -> list[Observation]:
    async with service(tmp_path, f"tools: {json.dumps(tools)}", "state: {}") as sim, sim.open() as world:
        return [await world.call(name, arguments) for name, arguments in calls]


def texts(observation: Observation) -> list[str]:
    assert isinstance(observation.body, ToolResult)
    return [block["text"] for block in observation.body.content]


def structured(observation: Observation) -> Json:
    assert isinstance(observation.body, ToolResult)
    assert not observation.is_error
    return observation.body.value


DELETED = ("delete_session", "delete_session")
ADDED = [("add_lamp", {"colour": colour}) for colour in ("red", "blue")]


@pytest.mark.parametrize("output", [wrapper({"type": "array", "items": ROW}), None])
async def test_the_sdk_shows_each_row_of_a_list_in_a_block(tmp_path: Path, output: Json) -> None:
    tools = [tool("add_lamp", wrapper(ROW), colour=TEXT), tool("list_lamps", output)]
    empty, *_, listed = await answers(tmp_path, tools, ("list_lamps", {}), *ADDED, ("list_lamps", {}))
    if output is None:
        assert json.loads(texts(listed)[0])["count"] == 2  # nothing says that the function returns a list
        return
    assert texts(empty) == []
    rows = structured(listed)["result"]
    assert [row["colour"] for row in rows] == ["red", "blue"]
    assert texts(listed) == [json.dumps(row, indent=2) for row in rows]


async def test_fastmcp_shows_a_list_as_a_whole_without_its_wrapper(tmp_path: Path) -> None:
    output = wrapper({"type": "array", "items": ROW}, fastmcp=True)
    tools = [tool("add_lamp", wrapper(ROW, fastmcp=True), colour=TEXT), tool("list_lamps", output)]
    empty, *_, listed = await answers(tmp_path, tools, ("list_lamps", {}), *ADDED, ("list_lamps", {}))
    assert texts(empty) == []
    [text] = texts(listed)
    assert json.loads(text) == structured(listed)["result"]
    assert ": " not in text


@pytest.mark.parametrize("fastmcp", [False, True])
@pytest.mark.parametrize(
    ("form", "missing"),
    [({"anyOf": [ROW, {"type": "null"}]}, None), ({"anyOf": [ROW, TEXT]}, "text"), ({"anyOf": [TEXT, ROW]}, "text")],
)
async def test_what_may_be_a_text_or_null_is_a_record_and_else_says_what_is_missing(
    tmp_path: Path, form: Json, missing: str | None, fastmcp: bool
) -> None:
    output = wrapper(form, fastmcp=fastmcp)
    tools = [tool("add_lamp", output, colour=TEXT), tool("get_lamp", output, lamp_id={"type": "integer"})]
    made, kept, lost = await answers(
        tmp_path, tools, ADDED[0], ("get_lamp", {"lamp_id": 1}), ("get_lamp", {"lamp_id": 9})
    )
    assert structured(made)["result"]["colour"] == structured(kept)["result"]["colour"] == "red"
    assert json.loads(texts(kept)[0]) == structured(kept)["result"]
    assert structured(lost) == {"result": "Lamp 9 not found" if missing else None}
    assert texts(lost) == (["Lamp 9 not found"] if missing else [])


@pytest.mark.parametrize(
    ("about", "result"),
    [("Returns a message.", "Lamp 9 not found"), ("Returns JSON.", '{\n  "error": "Lamp 9 not found"\n}')],
)
async def test_functions_that_return_texts_return_failures_too(tmp_path: Path, about: str, result: str) -> None:
    output = wrapper(TEXT)
    tools = [tool("add_lamp", output, colour=TEXT), tool("dim_lamp", output, lamp_id={"type": "integer"}, level=TEXT)]
    described = [{**each, "description": f"{each['name']}. {about}"} for each in tools]
    [_, lost] = await answers(tmp_path, described, ADDED[0], ("dim_lamp", {"lamp_id": 9, "level": "low"}))
    assert structured(lost) == {"result": result}


async def test_texts_beside_typed_tools_are_words(tmp_path: Path) -> None:
    tools = [
        tool("add_lamp", wrapper(ROW), colour=TEXT),
        tool("delete_lamp", wrapper(TEXT), lamp_id={"type": "integer"}),
        {**tool("export_lamps", wrapper(TEXT)), "description": "Export all lamps as JSON."},
    ]
    _, exported, gone = await answers(tmp_path, tools, ADDED[0], ("export_lamps", {}), ("delete_lamp", {"lamp_id": 1}))
    assert structured(gone) == {"result": "Lamp 1 deleted successfully"}
    json.loads(structured(exported)["result"])


async def test_data_among_the_arguments_is_no_sign_that_a_text_is_data(tmp_path: Path) -> None:
    about = "Add a lamp. Returns lamp_id.\n\n    spot: a JSON object.\n          Example: {x: 1}.\n\n    Shines."
    tools = [
        {**tool("add_lamp", wrapper(TEXT), spot=TEXT), "description": about},
        tool("get_lamp", wrapper(ROW), lamp_id=TEXT),
    ]
    added, shown = await answers(tmp_path, tools, ("add_lamp", {"spot": "{}"}), ("get_lamp", {"lamp_id": "lamp_00001"}))
    assert structured(added) == {"result": "lamp_00001"}
    assert structured(shown)["result"]["spot"] == "{}"


@pytest.mark.parametrize("form", [ROW, {"anyOf": [ROW, TEXT]}, {"type": "array", "items": ROW}])
async def test_wrapped_mappings_show_when_a_record_was_made(tmp_path: Path, form: Json) -> None:
    tools = [tool("add_lamp", wrapper(ROW), colour=TEXT), tool("find_lamps", wrapper(form), colour=TEXT)]
    [made] = await answers(tmp_path, tools, ADDED[0])
    assert "created_at" in structured(made)["result"]


@pytest.mark.parametrize("noun", ["node", "session", "basket"])
async def test_an_optional_id_of_its_own_replaces_the_id_of_a_new_record(tmp_path: Path, noun: str) -> None:
    key = f"{noun}_id"
    tools = [
        tool(f"create_{noun}", None, optional=(key,), title=TEXT, **{key: TEXT}),
        tool(f"get_{noun}", None, **{key: TEXT}),
        tool(f"{noun}_evaluate", None, **{key: TEXT}, rule=TEXT),
    ]
    chosen = {"title": "First", key: "mine"}
    calls = (
        (f"create_{noun}", chosen),
        (f"create_{noun}", {"title": "Second"}),
        (f"get_{noun}", {key: "mine"}),
        (f"{noun}_evaluate", {key: "mine", "rule": "a"}),
        (f"create_{noun}", chosen),
    )
    made, other, kept, evaluated, again = await answers(tmp_path, tools, *calls)
    assert json.loads(texts(made)[0])["id"] == "mine"
    assert json.loads(texts(other)[0])["id"] not in {"mine", "", None}
    assert json.loads(texts(kept)[0])["title"] == "First"
    assert evaluated.ok
    assert "already exists" in again.text


@pytest.mark.parametrize("about", ["Optional. ID of the comment to reply to", "The comment that this one answers"])
async def test_an_optional_id_of_another_record_is_not_the_id_of_a_new_one(tmp_path: Path, about: str) -> None:
    tools = [
        tool("post_comment", None, optional=("comment_id",), text=TEXT, comment_id={**TEXT, "description": about}),
        tool("get_comment", None, comment_id=TEXT),
    ]
    [first] = await answers(tmp_path, tools, ("post_comment", {"text": "First"}))
    key = json.loads(texts(first)[0])["id"]
    calls = [("post_comment", {"text": "First"}), ("post_comment", {"text": "Second", "comment_id": key})]
    _, reply = await answers(tmp_path, tools, *calls)
    assert reply.ok
    assert json.loads(texts(reply)[0])["id"] != key


async def test_a_second_tool_that_takes_an_optional_id_makes_records_too(tmp_path: Path) -> None:
    generated = {**TEXT, "description": "Optional ID. If not provided, one will be generated"}
    tools = [
        tool("create_page", None, optional=("page_id",), title=TEXT, page_id=generated),
        tool("create_page_by_path", None, optional=("page_id",), title=TEXT, parent_path=TEXT, page_id=generated),
        tool("get_page", None, page_id=TEXT),
        *(tool(f"{verb}_page_by_path", None, page_path=TEXT) for verb in ("get", "delete", "update")),
    ]
    calls = (
        ("create_page_by_path", {"title": "First", "parent_path": "a/b"}),
        ("create_page_by_path", {"title": "Second", "parent_path": "a/c", "page_id": "mine"}),
    )
    first, second = await answers(tmp_path, tools, *calls)
    assert json.loads(texts(first)[0])["title"] == "First"
    assert json.loads(texts(second)[0])["title"] == "Second"


@pytest.mark.parametrize(("name", "argument"), [("calculate_expression", "expr"), ("compute_formula", "formula")])
async def test_what_is_calculated_is_the_result_and_no_second_expression(
    tmp_path: Path, name: str, argument: str
) -> None:
    tools = [tool(name, ROW, **{argument: TEXT}), tool("list_constants", wrapper({"type": "array", "items": TEXT}))]
    [answer] = await answers(tmp_path, tools, (name, {argument: "2 + 3 * 4"}))
    assert structured(answer) == {argument: "2 + 3 * 4", "result": 14}


@pytest.mark.parametrize("about", ["Optional session identifier", "Unique id", "Optional key for the session", ""])
async def test_an_optional_id_of_its_own_is_the_id_of_a_new_record(tmp_path: Path, about: str) -> None:
    tools = [
        tool("create_session", None, optional=("session_id",), topic=TEXT, session_id={**TEXT, "description": about}),
        tool("list_session_notes", None, session_id=TEXT),
        tool("delete_session", None, session_id=TEXT),
    ]
    opened = ("create_session", {"topic": "Tides", "session_id": "evening"})
    later = [(name, {"session_id": "evening"}) for name in ("list_session_notes", "delete_session", "delete_session")]
    _, listed, gone, missing = await answers(tmp_path, tools, opened, *later)
    assert listed.ok
    assert json.loads(texts(gone)[0])["session_id"] == "evening"
    assert not missing.ok
