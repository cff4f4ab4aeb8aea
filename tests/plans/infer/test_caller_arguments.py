"""Arguments of all tools of a server that only say who calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.declared import domain, obj
from support.declared import tool as declared_tool
from support.matched_tools import TEXT, answered, simulator, tool

Json = Any


def tools_with(name: str, description: str = "", shown: Json = None) -> list[Json]:
    caller: Json = {name: {**TEXT, "description": description}}
    order = obj(id=TEXT, title=TEXT, **(shown or {}))
    return [
        tool("create_order", title=TEXT, **caller, output=order),
        tool("list_orders", **caller, output=obj(orders={"type": "array", "items": order})),
        tool("get_order", order_id=TEXT, **caller, output=order),
        tool("export_invoices", **caller, output=obj(url=TEXT)),
    ]


CALLERS = [
    ("key", "A valid API key"),
    ("token", "The access token of your account."),
    ("api_key", ""),
    ("Xero-Tenant-Id", "Identifier of the tenant"),
    ("realmId", ""),
]


@pytest.mark.parametrize(("name", "description"), CALLERS)
async def test_credentials_and_tenants_name_and_filter_no_records(name: str, description: str, tmp_path: Path) -> None:
    async with simulator(tmp_path, tools_with(name, description)).open() as world:
        new = await answered(world, "create_order", title="Lamps", **{name: "a"})
        assert (await answered(world, "list_orders", **{name: "b"}))["orders"][-1] == new
        assert await answered(world, "get_order", order_id=new["id"], **{name: "b"}) == new
        await answered(world, "export_invoices", **{name: "c"})


@pytest.mark.parametrize("name", ["workspace_id", "realm_id"])
async def test_what_results_show_still_filters(name: str, tmp_path: Path) -> None:
    async with simulator(tmp_path, tools_with(name, shown={name: TEXT})).open() as world:
        new = await answered(world, "create_order", title="Lamps", **{name: "a"})
        assert new[name] == "a"
        assert new in (await answered(world, "list_orders", **{name: "a"}))["orders"]
        assert new not in (await answered(world, "list_orders", **{name: "b"}))["orders"]


def test_a_key_that_a_tool_revokes_is_its_record() -> None:
    tools = [
        declared_tool(f"{verb}_api_key", {"key": {**TEXT, "description": "The API key"}}, "key")
        for verb in ("get", "rotate", "revoke", "delete")
    ]
    plans = domain(*tools).plans
    assert [plans[name].key for name in ("get_api_key", "delete_api_key")] == ["key", "key"]


@pytest.mark.parametrize("name", ["user_id", "customerId", "session_id", "account_id"])
async def test_whose_records_are_asked_for_still_filters(name: str, tmp_path: Path) -> None:
    """Memories of users and carts of customers name no user tool, and their results need not show whose they are."""
    owner: Json = {name: TEXT}
    tools = [
        tool("add_memory", text=TEXT, **owner),
        tool("list_memories", **owner),
        tool("search_memories", query=TEXT, **owner),
        tool("delete_memory", memory_id=TEXT, **owner),
    ]
    async with simulator(tmp_path, tools).open() as world:
        await answered(world, "add_memory", text="Likes tea", **{name: "a"})
        texts = [row["text"] for row in (await answered(world, "list_memories", **{name: "a"}))["memories"]]
        others = [row["text"] for row in (await answered(world, "list_memories", **{name: "b"}))["memories"]]
        assert "Likes tea" in texts
        assert "Likes tea" not in others
