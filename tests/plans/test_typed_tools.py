"""Tools with outputSchemas: valid calls are answered, and the schema of a result shapes the result only."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, refused, simulator, tool

from mcp_sim.simulator.check_calls import failing_tools
from mcp_sim.types.json_schema.validation import RESULT_FORMATS, Validator

Json = Any
TIME: Json = {"type": "string", "format": "date-time"}


def thing(*needed: str, **fields: Json) -> Json:
    return {"type": "object", "properties": fields, "required": [*needed]}


def rows(**fields: Json) -> Json:
    return {"type": "array", "items": thing(*fields, **fields)}


@pytest.mark.parametrize(("owner", "noun"), [("team", "member"), ("shop", "order"), ("relief", "crew")])
async def test_a_compound_noun_whose_key_is_that_of_its_last_word_is_that_entity(
    tmp_path: Path, owner: str, noun: str
) -> None:
    shown = thing(f"{noun}_id", name=TEXT, **{f"{noun}_id": TEXT})
    tools = [
        tool(f"create_{owner}_{noun}", needed="name", name=TEXT, output=shown),
        tool(f"get_{noun}", needed="id", id=TEXT, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, f"create_{owner}_{noun}", name="Ada")
        assert created["name"] == "Ada"
        assert await answered(world, f"get_{noun}", id=created[f"{noun}_id"]) == created


@pytest.mark.parametrize("ending", ["no", "number", "code", "uid"])
@pytest.mark.parametrize(("owner", "noun", "several"), [("fleet", "bus", "fleet_buses"), ("city", "permit", "permits")])
async def test_a_compound_noun_with_the_number_of_its_last_word_is_that_entity(
    tmp_path: Path, owner: str, noun: str, several: str, ending: str
) -> None:
    key = f"{noun}_{ending}"
    shown = thing(key, "name", name=TEXT, **{key: TEXT})
    tools = [
        tool(f"create_{owner}_{noun}", name=TEXT, output=shown),
        tool(f"get_{noun}", needed=key, **{key: TEXT}, output=shown),
        tool(f"list_{several}", output=thing("items", items=rows(name=TEXT, **{key: TEXT}))),
    ]
    async with simulator(tmp_path, tools).open() as world:
        made = await answered(world, f"create_{owner}_{noun}", name="Ada")
        assert await answered(world, f"get_{noun}", **{key: made[key]}) == made
        listed = (await answered(world, f"list_{several}"))["items"]
        assert len({row[key] for row in listed}) == len(listed)


@pytest.mark.parametrize("noun", ["rule", "crate"])
async def test_a_record_may_be_sent_back_as_it_was_shown(tmp_path: Path, noun: str) -> None:
    fields = {"id": TEXT, "name": TEXT, "created_at": TIME, "updated_at": TIME}
    tools = [
        tool(f"list_{noun}s", output=thing(f"{noun}s", **{f"{noun}s": rows(**fields)})),
        tool(f"update_{noun}", needed="id", **fields, output=thing("id", **fields)),
    ]
    async with simulator(tmp_path, tools).open() as world:
        row = (await answered(world, f"list_{noun}s"))[f"{noun}s"][0]
        put = await answered(world, f"update_{noun}", **{**row, "name": "New"})
        assert (put["name"], put["created_at"]) == ("New", row["created_at"])
        early = await answered(world, f"update_{noun}", id=row["id"], name="Old", created_at="2031-01-01T00:00:00Z")
        assert early["name"] == "Old"


async def test_a_record_that_a_call_brings_along_is_not_updated_before_its_creation(tmp_path: Path) -> None:
    fields = {"id": TEXT, "name": TEXT, "created_at": TIME, "updated_at": TIME}
    customer = thing("id", "created_at", id=TEXT, name=TEXT, created_at=TIME)
    tools = [
        tool("list_customers", output=thing("customers", customers=rows(**fields))),
        tool("get_customer", needed="id", id=TEXT, output=thing("id", **fields)),
        tool(
            "create_invoice", customer=thing(name=TEXT), output=thing("id", "customer", id=TEXT, customer=customer)
        ),
    ]  # fmt: skip
    async with simulator(tmp_path, tools).open() as world:
        shown = (await answered(world, "create_invoice", customer={"name": "Ada"}))["customer"]
        brought = await answered(world, "get_customer", id=shown["id"])
        assert brought["name"] == "Ada"
        assert brought["updated_at"] >= brought["created_at"] == shown["created_at"]


async def test_a_record_does_not_repeat_the_link_of_its_owner_to_a_deleted_record(tmp_path: Path) -> None:
    account, site = {"id": TEXT, "name": TEXT}, {"id": TEXT, "account_id": TEXT}
    job = {"id": TEXT, "site_id": TEXT, "account_id": TEXT}
    tools = [
        tool("list_accounts", output=thing("accounts", accounts=rows(**account))),
        tool("delete_account", needed="account_id", account_id=TEXT),
        tool("list_sites", output=thing("sites", sites=rows(**site))),
        tool("delete_site", needed="site_id", site_id=TEXT),
        tool("create_job", needed="site_id", site_id=TEXT, output=thing("id", "site_id", "account_id", **job)),
    ]
    entities = {
        "account": {"fields": account},
        "site": {"fields": site, "required": ["id", "account_id"]},
        "job": {"fields": job},
    }
    async with simulator(tmp_path, tools, spec={"entities": entities}).open() as world:
        kept = (await answered(world, "list_sites"))["sites"][0]
        assert (await answered(world, "create_job", site_id=kept["id"]))["account_id"] == kept["account_id"]
        await answered(world, "delete_account", account_id=kept["account_id"])
        assert (await answered(world, "create_job", site_id=kept["id"]))["account_id"] != kept["account_id"]


WRAPPERS = ("data", "result", "meta", "payload", "body", "envelope", "reply", "shelf", "output", "found", "x", "info")
BESIDE: Json = {
    "error": {"type": "boolean"},
    "code": {"type": "integer"},
    "msg": TEXT,
    "request_id": TEXT,
    "took_ms": {"type": "number"},
}


@pytest.mark.parametrize(("wrapper", "beside"), [*zip(WRAPPERS, [*BESIDE] * 3, strict=False)])
async def test_rows_and_records_are_where_the_schema_has_them(tmp_path: Path, wrapper: str, beside: str) -> None:
    shelf = thing("key", key=TEXT, name=TEXT)
    listed = thing(
        beside, wrapper, **{beside: BESIDE[beside], wrapper: thing("shelves", shelves=rows(key=TEXT, name=TEXT))}
    )
    whole = thing(beside, wrapper, **{beside: BESIDE[beside], wrapper: shelf})
    tools = [
        tool("list_shelves", output=listed),
        tool("get_shelf", needed="key", key=TEXT, output=whole),
        tool("create_shelf", needed="name", name=TEXT, output=whole),
    ]
    async with simulator(tmp_path, tools, world={"records": {"shelf": 3}}).open() as world:
        first = (await answered(world, "list_shelves"))[wrapper]["shelves"][0]
        assert (await answered(world, "get_shelf", key=first["key"]))[wrapper] == first
        created = (await answered(world, "create_shelf", name="Top"))[wrapper]
        assert created["name"] == "Top"
        assert (await answered(world, "list_shelves"))[wrapper]["shelves"][-1] == created


@pytest.mark.parametrize(("noun", "several"), [("shelf", "shelves"), ("work_order", "work_orders"), ("box", "boxes")])
@pytest.mark.parametrize("wrapper", ["meta", "reply", "zap"])
async def test_a_record_under_its_name_in_a_wrapper_is_the_record(
    tmp_path: Path, noun: str, several: str, wrapper: str
) -> None:
    fields = {"id": TEXT, "name": TEXT, "color": TEXT}
    beside: Json = {"error": {"type": ["string", "null"]}, "ok": {"type": "boolean"}}
    listed = thing(several, **{several: rows(**fields)})
    single = thing(noun, **{noun: thing(*fields, **fields)})
    tools = [
        tool(f"list_{several}", output=thing("ok", wrapper, **beside, **{wrapper: listed})),
        tool(f"get_{noun}", needed="id", id=TEXT, output=thing("ok", wrapper, **beside, **{wrapper: single})),
    ]
    async with simulator(tmp_path, tools, world={"records": {noun: 3}}).open() as world:
        shown = (await answered(world, f"list_{several}"))[wrapper][several]
        assert len(shown) == 3
        for row in shown:
            assert (await answered(world, f"get_{noun}", id=row["id"]))[wrapper] == {noun: row}


@pytest.mark.parametrize(("place", "other"), [("created", "errors"), ("saved", "failed"), ("rows", "skipped")])
async def test_the_result_of_a_batch_is_no_part_of_the_records(tmp_path: Path, place: str, other: str) -> None:
    items: Json = {"type": "array", "items": thing("name", name=TEXT, price={"type": "number"})}
    texts: Json = {"type": "array", "items": TEXT}
    output = thing(place, other, **{place: rows(sku=TEXT, name=TEXT), other: texts})
    tools = [tool("create_products", products=items, output=output), tool("list_products")]
    state = {"products": [{"sku": "p1", "name": "A", "price": 10}]}
    async with simulator(tmp_path, tools, state).open() as world:
        made = await answered(world, "create_products", products=[{"name": "B", "price": 2}, {"name": "C", "price": 3}])
        assert made == {place: [{"sku": "p2", "name": "B"}, {"sku": "p3", "name": "C"}], other: []}
        assert (await answered(world, "list_products"))[1] == {"sku": "p2", "name": "B", "price": 2}


@pytest.mark.parametrize("name", ["not_found", "missing", "unprocessed", "failed_ids"])
async def test_a_list_of_what_was_not_found_has_the_keys(tmp_path: Path, name: str) -> None:
    texts: Json = {"type": "array", "items": TEXT}
    output = thing("deleted_count", name, deleted_count={"type": "integer"}, **{name: texts})
    tools = [tool("delete_products", skus=texts, output=output), tool("list_products")]
    async with simulator(tmp_path, tools, {"products": [{"sku": "p1", "name": "A"}]}).open() as world:
        gone = await answered(world, "delete_products", skus=["p1", "zz"])
        assert gone == {"deleted_count": 1, name: ["zz"]}


FAILURES: Json = {
    "error": TEXT,
    "errors": {"type": "array", "items": TEXT},
    "warnings": {"type": "array", "items": thing("row", row={"type": "integer"}, text=TEXT)},
    "error_code": TEXT,
    "failed_count": {"type": "integer", "minimum": 0},
    "skipped": {"type": "integer"},
    "last_error": {"type": ["string", "null"]},
    "exception": thing("code", "message", code={"type": "integer"}, message=TEXT),
}


@pytest.mark.parametrize("name", ["run_backup", "import_rows", "sync_mailbox", "send_fax", "calibrate"])
async def test_no_success_contains_an_invented_failure(tmp_path: Path, name: str) -> None:
    states = {"status": {"type": "string", "enum": ["failed", "rejected", "ok"]}, "note": TEXT}
    tools = [tool(name, target=TEXT, output=thing(*FAILURES, *states, **FAILURES, **states))]
    async with simulator(tmp_path, tools).open() as world:
        for target in "abcd":
            value = await answered(world, name, target=target)
            exception = {"code": 0, "message": ""}
            empty: Json = {"error": "", "errors": [], "warnings": [], "error_code": "", "failed_count": 0, "skipped": 0}
            assert value | empty | {"last_error": None, "exception": exception, "status": "ok"} == value
            assert value["note"]


async def test_what_a_tool_for_failures_is_asked_for_stays(tmp_path: Path) -> None:
    lines: Json = {"type": "array", "items": TEXT, "minItems": 1}
    tools = [
        tool("scan_errors", path=TEXT, output=thing("errors", errors={"type": "array", "items": TEXT})),
        tool("measure_line", path=TEXT, output=thing("error_rate", error_rate={"type": "number", "minimum": 0.1})),
        tool("probe", path=TEXT, output=thing("errors", errors=lines)),
    ]
    async with simulator(tmp_path, tools).open() as world:
        assert any([(await answered(world, "scan_errors", path=path))["errors"] for path in "abcdef"])
        assert (await answered(world, "measure_line", path="a"))["error_rate"] >= 0.1
        assert (await answered(world, "probe", path="a"))["errors"]


@pytest.mark.parametrize(("name", "count"), [("import_rows", "imported"), ("migrate_rows", "rows_migrated")])
async def test_all_items_of_a_success_are_counted(tmp_path: Path, name: str, count: str) -> None:
    number: Json = {"type": "integer"}
    given: Json = {"type": "array", "items": thing("a", a=TEXT)}
    tools = [tool(name, items=given, output=thing(count, "errors", **{count: number}, errors=rows(line=number)))]
    async with simulator(tmp_path, tools).open() as world:
        assert await answered(world, name, items=[{"a": "1"}, {"a": "2"}, {"a": "3"}]) == {count: 3, "errors": []}


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("create_booking", {"confirmed"}),
        ("place_order", {"processing"}),
        ("submit_expense", {"pending"}),
        ("open_ticket", {"open"}),
    ],
)
async def test_a_new_record_is_in_a_state_that_records_begin_with(tmp_path: Path, name: str, states: set[str]) -> None:
    shown = thing("id", "who", "status", id=TEXT, who=TEXT, status=TEXT)
    async with simulator(tmp_path, [tool(name, who=TEXT, output=shown)]).open() as world:
        assert {(await answered(world, name, who=f"p{number}"))["status"] for number in range(12)} <= states


GIVEN: Json = [
    ("urgent", {"id": {"type": "integer"}, "name": TEXT}, "name"),
    ("ada@vos.example", {"id": TEXT, "email": {"type": "string", "format": "email"}, "name": TEXT}, "email"),
    ("usr_00042", {"id": TEXT, "name": TEXT}, "id"),
    (7, {"id": {"type": "integer"}, "title": TEXT}, "id"),
    ("https://vos.example/a", {"url": {"type": "string", "format": "uri"}, "size": {"type": "integer"}}, "url"),
]


@pytest.mark.parametrize(("value", "fields", "field"), GIVEN)
async def test_a_plain_value_becomes_the_object_that_results_show(
    tmp_path: Path, value: Json, fields: Json, field: str
) -> None:
    plain = {"type": "integer" if isinstance(value, int) else "string"}
    shown = thing("id", "marks", "main", id=TEXT, marks=rows(**fields), main=thing(*fields, **fields))
    tools = [
        tool("create_parcel", needed="marks", marks={"type": "array", "items": plain}, main=plain, output=shown),
        tool("get_parcel", needed="id", id=TEXT, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, "create_parcel", marks=[value], main=value)
        assert (created["marks"][0][field], created["main"][field]) == (value, value)
        assert Validator(shown, RESULT_FORMATS).is_valid(created)
        assert await answered(world, "get_parcel", id=created["id"]) == created


async def test_the_server_adds_the_parts_that_it_makes_and_keeps_them(tmp_path: Path) -> None:
    line = thing("product", "quantity", product=TEXT, quantity={"type": "integer"})
    shown = thing(
        "id",
        "lines",
        id=TEXT,
        lines=rows(id=TEXT, product=TEXT, quantity={"type": "integer"}, price={"type": "number"}),
    )
    tools = [
        tool("create_bill", needed="lines", lines={"type": "array", "items": line}, output=shown),
        tool("get_bill", needed="id", id=TEXT, output=shown),
    ]
    given = [{"product": "bell", "quantity": 2}, {"product": "horn", "quantity": 1}]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, "create_bill", lines=given)
        assert [{name: line[name] for name in ("product", "quantity")} for line in created["lines"]] == given
        assert created["lines"][0]["id"] != created["lines"][1]["id"]
        assert await answered(world, "get_bill", id=created["id"]) == created


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "enum": ["low", "high"]}, "urgent"),
        ({"type": "string", "maxLength": 5}, "longer than that"),
        ({"type": "integer"}, "many"),
        ({"type": "array", "items": {"type": "string", "enum": ["a"]}}, ["b"]),
        ({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}, "nowhere"),
        ({"type": "string", "format": "email"}, "nobody"),
    ],
)
async def test_what_no_result_could_show_is_no_reason_to_refuse(tmp_path: Path, schema: Json, value: Json) -> None:
    given = {"type": "array"} if isinstance(value, list) else TEXT
    shown = thing("id", "name", "mark", id=TEXT, name=TEXT, mark=schema)
    tools = [
        tool("create_lamp", needed="name", name=TEXT, mark=given, output=shown),
        tool("update_lamp", needed="id", id=TEXT, mark=given, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, "create_lamp", name="Hall", mark=value)
        assert created["name"] == "Hall"
        for answer in (created, await answered(world, "update_lamp", id=created["id"], mark=value)):
            assert Validator(shown, RESULT_FORMATS).is_valid(answer)


@pytest.mark.parametrize("mentioning", ["get", "link", "none"])
@pytest.mark.parametrize("noun", ["ticket", "lamp"])
async def test_a_wrapper_named_like_the_entity_is_the_record(tmp_path: Path, noun: str, mentioning: str) -> None:
    reference = thing("id", "kind", id=TEXT, kind={"type": "string", "enum": [f"{noun}_reference"]})
    record = thing("id", "title", id=TEXT, title=TEXT)
    nested = thing("id", "title", id=TEXT, title=TEXT, **({noun: reference} if mentioning == "get" else {}))
    tools = [
        tool(f"create_{noun}", needed=noun, **{noun: thing("title", title=TEXT)}, output=thing(noun, **{noun: record})),
        tool(f"get_{noun}", needed="id", id=TEXT, output=thing(noun, **{noun: nested})),
    ]
    if mentioning == "link":
        tools.append(
            tool(f"snooze_{noun}", needed="id", id=TEXT, **{noun: reference}, output=thing(**{noun: reference}))
        )
    async with simulator(tmp_path, tools).open() as world:
        created = (await answered(world, f"create_{noun}", **{noun: {"title": "Broken"}}))[noun]
        assert created["title"] == "Broken"
        assert (await answered(world, f"get_{noun}", id=created["id"]))[noun]["title"] == "Broken"


FORMATS = ("date-time", "date", "time", "duration", "email", "uri", "uuid", "ipv4", "ipv6", "hostname")
NAMES = ("image_48", "value", "last_seen", "contact", "logo_title")


@pytest.mark.parametrize("form", FORMATS)
async def test_formats_hold_in_completed_objects_maps_and_echoes(tmp_path: Path, form: str) -> None:
    formatted: Json = {"type": "string", "format": form}
    inner = thing("label", *NAMES, label=TEXT, **dict.fromkeys(NAMES, formatted))
    by_name = {"type": "object", "additionalProperties": formatted, "minProperties": 1}
    either = {"oneOf": [inner, thing("only", only=formatted)]}
    shown = thing(
        "id", "mark", "nested", "more", "either", id=TEXT, mark=formatted, nested=inner, more=by_name, either=either
    )
    tools = [
        tool("create_survey", needed="nested", nested=thing("label", label=TEXT), mark=TEXT, output=shown),
        tool(
            "list_surveys",
            output=thing("surveys", "mark", surveys={"type": "array", "items": shown}, mark=formatted),
            mark=TEXT,
        ),
    ]
    async with simulator(tmp_path, tools, world={"records": {"survey": 3}}).open() as world:
        created = await answered(world, "create_survey", nested={"label": "a"}, mark="nothing like it")
        assert created["nested"]["label"] == "a"
        assert Validator(shown, RESULT_FORMATS).problems(created) == ()
        listed = await answered(world, "list_surveys", mark="nothing like it")
        assert Validator(tools[1]["outputSchema"], RESULT_FORMATS).problems(listed) == ()


async def test_a_guess_that_calls_contradict_is_dropped_and_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tools = [
        tool("list_drums", output=thing("drums", drums=rows(id=TEXT, owner=TEXT))),
        tool("get_owner", needed="id", id=TEXT),
        tool(
            "create_drum",
            needed="owner_id",
            owner_id=TEXT,
            output=thing("owner_id", "drum", owner_id=TEXT, drum=thing("id", id=TEXT)),
        ),
    ]
    with caplog.at_level(logging.WARNING):
        async with simulator(tmp_path, tools).open() as world:
            for owner in ("a", "b"):
                created = await answered(world, "create_drum", owner_id=owner)
                assert created["owner_id"] == owner
    dropped = [record.getMessage() for record in caplog.records if "is dropped" in record.getMessage()]
    assert len({text.split(":")[2] for text in dropped}) == len(dropped)


async def test_a_parent_that_only_a_name_suggests_is_no_reason_to_refuse(tmp_path: Path) -> None:
    tools = [
        tool("create_kennel", needed="name", name=TEXT),
        tool(
            "create_dog", needed="kennel_id", kennel_id=TEXT, output=thing("id", "kennel_id", id=TEXT, kennel_id=TEXT)
        ),
    ]
    async with simulator(tmp_path, tools).open() as world:
        assert (await answered(world, "create_dog", kennel_id="k-9"))["kennel_id"] == "k-9"


@pytest.mark.parametrize("arguments", [{"cursor": "nonsense"}, {"sort_by": "colour"}, {"created_at": "some day"}])
async def test_what_only_the_name_of_an_argument_suggests_does_not_refuse_a_list(
    tmp_path: Path, arguments: Json
) -> None:
    kite = thing("id", "created_at", id=TEXT, created_at=TIME)
    listing = tool(
        "list_kites", needed="", cursor=TEXT, sort_by=TEXT, created_at=TEXT,
        output=thing("kites", kites={"type": "array", "items": kite}),
    )  # fmt: skip
    async with simulator(tmp_path, [listing]).open() as world:
        assert "kites" in await answered(world, "list_kites", **arguments)


async def test_check_reports_what_valid_calls_contradict_and_calls_that_crash(tmp_path: Path) -> None:
    never = {"allOf": [{"type": "string", "pattern": "^(?=a)b"}]}
    tools = [
        tool("list_sails", output=thing("sails", sails=rows(id=TEXT))),
        tool("get_word", output=thing("word", word=never)),
    ]
    sentences = await failing_tools(simulator(tmp_path, tools).scenario)
    assert [sentence.partition(":")[0] for sentence in sentences] == ["get_word"]


def within(path: str, schema: Json) -> Json:
    for name in reversed(path.split(".")):
        schema = thing(name, **{name: schema})
    return schema


RECORD = thing("id", "name", id=TEXT, name=TEXT)
SHAPES: Json = {
    "data": thing("data", data=thing("type", "id", "attributes", type=TEXT, id=TEXT, attributes=thing(color=TEXT))),
    "data.createKite.kite": within("data.createKite.kite", RECORD),
    "a.b": within("a.b", RECORD),
    "": thing("id", "_links", id=TEXT, name=TEXT, _links=thing("self", self={"type": "string", "format": "uri"})),
    "result": thing("ok", "result", ok={"type": "boolean"}, result=RECORD, error={"type": ["string", "null"]}),
    "kite": thing("status", "kite", status=TEXT, kite=RECORD),
    "kite.": within("kite", thing("kiteId", kiteId=TEXT, name=TEXT)),
    "data.": within("data", thing("gid", "name", "resource_type", gid=TEXT, name=TEXT, resource_type=TEXT)),
}


@pytest.mark.parametrize("is_wrapped", [False, True])
@pytest.mark.parametrize("place", [*SHAPES])
async def test_a_created_record_is_got_and_updated_whatever_its_shape(
    tmp_path: Path, place: str, *, is_wrapped: bool
) -> None:
    fields = {"kite": thing(name=TEXT)} if is_wrapped else {"name": TEXT}
    tools = [
        tool("create_kite", needed="", **fields, output=SHAPES[place]),
        tool("get_kite", needed="id", id=TEXT, output=SHAPES[place]),
        tool("update_kite", needed="id", id=TEXT, **fields, output=SHAPES[place]),
    ]

    def given(name: str) -> Json:
        return {"kite": {"name": name}} if is_wrapped else {"name": name}

    async with simulator(tmp_path, tools).open() as world:
        created = await answered(world, "create_kite", **given("Ada"))
        record = created
        for name in filter(None, place.split(".")):
            record = record[name]
        key = next(record[name] for name in ("id", "kiteId", "gid") if name in record)
        assert record.get("name", "Ada") == "Ada"
        assert await answered(world, "get_kite", id=key) == created
        changed = await answered(world, "update_kite", id=key, **given("Bo"))
        assert await answered(world, "get_kite", id=key) == changed


@pytest.mark.parametrize("word", ["oneOf", "anyOf"])
@pytest.mark.parametrize("wrapper", ["", "pet", "data"])
async def test_a_call_decides_which_kind_of_record_is_made(tmp_path: Path, word: str, wrapper: str) -> None:
    def kind(name: str, extra: Json) -> Json:
        return {**thing("id", "kind", "extra", id=TEXT, name=TEXT, kind={"const": name}, extra=extra),
                "additionalProperties": False}  # fmt: skip

    record: Json = {"type": "object", word: [kind("cat", {"type": "integer"}), kind("dog", {"type": "boolean"})]}
    shown = thing(wrapper, **{wrapper: record}) if wrapper else record
    tools = [
        tool("create_pet", needed="name", name=TEXT, kind={"enum": ["cat", "dog"]}, output=shown),
        tool("get_pet", needed="id", id=TEXT, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        for name in ("cat", "dog"):
            result = await answered(world, "create_pet", name="Rex", kind=name)
            assert not Validator(shown).problems(result)
            pet = result[wrapper] if wrapper else result
            assert (pet["kind"], pet["name"], type(pet["extra"])) == (name, "Rex", {"cat": int, "dog": bool}[name])
            assert await answered(world, "get_pet", id=pet["id"]) == result


NAMED_TWICE: Json = {
    "objects": ({"groups": rows(id=TEXT, role=TEXT)}, {"groups": [{"id": "g-9", "role": role} for role in "ab"]}),
    "keys": ({"group_ids": {"type": "array", "items": TEXT}}, {"group_ids": ["g-9", "g-9"]}),
    "roles": ({"group_id": TEXT, "backup_group_id": TEXT}, {"group_id": "g-9", "backup_group_id": "g-9"}),
    "mixed": ({"group_id": TEXT, "groups": {"type": "array", "items": TEXT}}, {"group_id": "g-9", "groups": ["g-9"]}),
}


@pytest.mark.parametrize("form", [*NAMED_TWICE])
async def test_a_call_may_name_a_record_twice(tmp_path: Path, form: str) -> None:
    fields, sent = NAMED_TWICE[form]
    shown, group = thing("id", id=TEXT, name=TEXT, **fields), thing("id", "label", id=TEXT, label=TEXT)
    tools = [
        tool("create_tenant", name=TEXT, **fields, output=shown),
        tool("get_tenant", id=TEXT, output=shown),
        tool("list_groups", output=thing("groups", groups=rows(id=TEXT, label=TEXT))),
        tool("get_group", group_id=TEXT, output=group),
    ]
    async with simulator(tmp_path, tools).open() as world:
        assert sent.items() <= (await answered(world, "create_tenant", name="Ada", **sent)).items()


DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
FORMS = {
    r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$": "%Y-%m-%d %H:%M:%S",
    rf"^{DAY}[T,t]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]+)?([Z,z]|[+-][0-9]{{2}}:[0-9]{{2}})$": (
        "%Y-%m-%dT%H:%M:%SZ"
    ),
    r"^\d{8}T\d{6}Z$": "%Y%m%dT%H%M%SZ",
    r"^\d{2}\.\d{2}\.\d{4}$": "%d.%m.%Y",
    r"^\d{4}/\d{2}/\d{2}$": "%Y/%m/%d",
}


@pytest.mark.parametrize("pattern", FORMS)
@pytest.mark.parametrize("more", [{}, {"format": "vendor_time_v3"}])
async def test_times_have_the_form_of_their_pattern(pattern: str, more: Json, tmp_path: Path) -> None:
    """Random digits are no times, and a creation in the future is a crash (R9)."""
    time: Json = {"type": "string", "pattern": pattern, **more}
    shown = thing("id", "created_at", "updated_at", id=TEXT, label=TEXT, created_at=time, updated_at=time)
    tools = [
        tool("create_parcel", label=TEXT, output=shown),
        tool("list_parcels", output=thing("parcels", parcels={"type": "array", "items": shown})),
    ]

    def read(parcel: Json, name: str) -> datetime:
        return datetime.strptime(parcel[name], FORMS[pattern]).replace(tzinfo=UTC)

    async with simulator(tmp_path, tools).open() as world:
        new = await answered(world, "create_parcel", label="Graz")
        assert read(new, "created_at").year == 2030
        for parcel in (await answered(world, "list_parcels"))["parcels"]:
            created, updated = read(parcel, "created_at"), read(parcel, "updated_at")
            assert datetime(2020, 1, 1, tzinfo=UTC) < created <= updated < datetime(2030, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize("wrapper", ["", "parcel", "data"])
@pytest.mark.parametrize("verb", ["find", "search_for", "lookup"])
async def test_a_search_for_one_record_invents_none(tmp_path: Path, verb: str, wrapper: str) -> None:
    record = thing("parcel_id", "reference", parcel_id=TEXT, reference=TEXT)
    shown = thing(wrapper, **{wrapper: record}) if wrapper else record
    tools = [
        tool("create_parcel", needed="reference", reference=TEXT, output=record),
        tool(f"{verb}_parcel", needed="reference", reference=TEXT, output=shown),
    ]
    async with simulator(tmp_path, tools).open() as world:
        before = world.view.count("parcel")
        answer = await world.call(f"{verb}_parcel", {"reference": "R-1"})
        assert not answer.ok
        assert "R-1 not found" in str(answer.body)
        assert world.view.count("parcel") == before
        created = await answered(world, "create_parcel", reference="R-1")
        found = await answered(world, f"{verb}_parcel", reference="R-1")
        assert (found[wrapper] if wrapper else found) == created


PARCEL = thing("parcel_id", parcel_id=TEXT, reference=TEXT)


@pytest.mark.parametrize("record", [PARCEL | {"type": ["object", "null"]}, {"anyOf": [PARCEL, {"type": "null"}]}])
async def test_a_search_whose_record_may_be_null_finds_nothing(tmp_path: Path, record: Json) -> None:
    tools = [
        tool("create_parcel", needed="reference", reference=TEXT),
        tool("find_parcel", needed="reference", reference=TEXT, output=thing("parcel", parcel=record)),
    ]
    async with simulator(tmp_path, tools).open() as world:
        assert await answered(world, "find_parcel", reference="R-1") == {"parcel": None}


async def test_a_search_for_one_record_of_the_outside_world_finds_it(tmp_path: Path) -> None:
    record = thing("city_id", "name", city_id=TEXT, name=TEXT)
    async with simulator(tmp_path, [tool("find_city", needed="name", name=TEXT, output=record)]).open() as world:
        assert (await answered(world, "find_city", name="Oslo"))["name"] == "Oslo"


@pytest.mark.parametrize(
    ("key", "asked"),
    [("doc_id", "document_id"), ("ref_id", "document"), ("uuid", "id"), ("documentUid", "document_id"), ("gid", "id")],
)
async def test_the_id_that_a_create_returns_names_the_record_whatever_it_is_called(
    tmp_path: Path, key: str, asked: str
) -> None:
    named = [tool(f"{verb}_document", needed=asked, **{asked: TEXT}) for verb in ("read", "lock", "delete")]
    tools = [tool("new_document", title=TEXT, output=thing(key, "title", **{key: TEXT, "title": TEXT})), *named]
    async with simulator(tmp_path, tools).open() as world:
        made = await answered(world, "new_document", title="Plan")
        assert (await answered(world, "read_document", **{asked: made[key]}))["title"] == "Plan"
        await answered(world, "lock_document", **{asked: made[key]})
        await answered(world, "delete_document", **{asked: made[key]})
        assert made[key] in await refused(world, "read_document", **{asked: made[key]})


async def test_a_second_id_of_a_record_names_it_and_that_of_another_record_does_not(tmp_path: Path) -> None:
    ids = dict.fromkeys(("id", "uuid", "job_uid", "owner_id"), TEXT)
    tools = [tool("add_job", title=TEXT, output=thing(*ids, **ids)), tool("get_job", job_id=TEXT)]
    async with simulator(tmp_path, tools).open() as world:
        made = await answered(world, "add_job", title="Sweep")
        for name in ("id", "uuid", "job_uid"):
            assert (await answered(world, "get_job", job_id=made[name]))["id"] == made["id"]
        assert made["owner_id"] in await refused(world, "get_job", job_id=made["owner_id"])


@pytest.mark.parametrize(("given", "shown"), [("sev1", "SEV1"), ("in progress", "in_progress"), ("On-Hold", "on_hold")])
async def test_a_word_in_another_case_is_the_choice_that_results_show(tmp_path: Path, given: str, shown: str) -> None:
    states: Json = {"type": "string", "enum": ["other", "SEV1", "in_progress", "on_hold"]}
    record = thing("id", "state", id=TEXT, title=TEXT, state=states)
    tools = [
        tool("create_case", title=TEXT, state=TEXT, output=record),
        tool("update_case", id=TEXT, state=TEXT, output=record),
        tool("get_case", id=TEXT, output=record),
    ]
    async with simulator(tmp_path, tools).open() as world:
        made = await answered(world, "create_case", title="a", state=given)
        assert made["state"] == shown
        await answered(world, "update_case", id=made["id"], state="other")
        assert (await answered(world, "update_case", id=made["id"], state=given))["state"] == shown
        assert (await answered(world, "get_case", id=made["id"]))["state"] == shown
