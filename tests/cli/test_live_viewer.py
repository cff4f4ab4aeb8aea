"""`mcp-sim view --live`: a running server in the browser, while an agent works; and whom its relay refuses."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import expect
from support.chromium import Tab, open_browser
from support.controlled import Operator, controlled
from support.over_http import PATIENCE, Served
from support.places import ROOT
from support.warm import PYTHON

from mcp_sim.cli import main

FORM = {
    "form.yaml": """
mcp_sim: 1
name: form
tools: form.tools.json
program: form.py
""",
    "form.tools.json": """
{"tools": [
  {"name": "open", "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}}},
  {"name": "fill", "inputSchema": {"type": "object", "properties": {
    "ref": {"type": "string"}, "text": {"type": "string"}}}},
  {"name": "click", "inputSchema": {"type": "object", "properties": {"ref": {"type": "string"}}}},
  {"name": "choose", "inputSchema": {"type": "object", "properties": {
    "ref": {"type": "string"}, "values": {"type": "array", "items": {"type": "string"}}}}}
]}
""",
    "form.py": """
from mcp_sim.libraries.screens import ScreenError, Site
from mcp_sim.programs import Refused, tool

site = Site("https://form.example")


@site.page("/")
def home(_world):
    return (
        "<body><h1>Form</h1><label>Name <input></label><a href='https://other.example/'>Elsewhere</a>"
        "<label>City <select><option value=''>Any</option><option value='s1'>Springfield</option>"
        "<option value='s2'>Springfield</option></select></label></body>"
    )


def act(world, action):
    tab = world.screens.browser(world, site).tab
    try:
        action(tab)
    except ScreenError as error:
        raise Refused(str(error)) from None
    tab.save()
    return tab.title


@tool(verb="update", entity="tab")
def open(world, url):
    return act(world, lambda tab: tab.navigate(url))


@tool(verb="update", entity="tab", gesture="fill")
def fill(world, ref, text):
    return act(world, lambda tab: tab.fill(tab.element(ref), text))


@tool(verb="update", entity="tab", gesture="click")
def click(world, ref):
    return act(world, lambda tab: tab.click(tab.element(ref)))


@tool(verb="update", entity="tab", gesture="choose")
def choose(world, ref, values):
    return act(world, lambda tab: tab.choose(tab.element(ref), values))
""",
}
"""A site whose form leads elsewhere, and has options with equal texts."""
DEAL = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}


@contextmanager
def viewing(operator: Operator, folder: Path) -> Generator[str]:
    """Yield the address of a live page."""
    token = folder / "token"
    token.write_text(operator.token)
    command = [PYTHON, "-m", "mcp_sim", "view", "--live", operator.url, "--control-token-file", str(token)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
            assert process.wait(PATIENCE) == 143


def called(served: Served, world: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Make a call as an agent would, and return its result."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "agent", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    headers = {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": tool,
        "accept": "application/json, text/event-stream",
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:
        return client.post(f"{served.url}/w/{world}/mcp", json=body, headers=headers).json()["result"]


def test_a_running_server_is_shown_and_steered(tmp_path: Path) -> None:
    with (
        controlled("flaky_crm", "--clock", "virtual") as (served, operator),
        viewing(operator, tmp_path) as address,
        open_browser() as browser,
    ):
        tab = Tab(browser, own=address)
        page = tab.page
        page.goto(address)
        expect(page.locator("#panel")).to_contain_text("There is no world yet")
        assert called(served, "anne", "create_deal", DEAL)["isError"]
        rows = page.locator("#rows .what b")
        expect(rows).to_have_text(["World begins", "create_deal"])
        called(served, "anne", "list_deals", {"limit": 1})
        expect(rows).to_have_text(["World begins", "create_deal", "list_deals"])
        assert "key" not in page.url
        page.keyboard.press("2")
        expect(page.locator(".record")).to_have_text(re.compile("deal_0081 created"))
        expect(page.locator("#panel")).to_contain_text("81 records")

        page.keyboard.press("6")
        page.get_by_label("Fault as JSON").fill('{"error": {"status": 503}, "tools": "list_*", "id": "down"}')
        page.get_by_role("button", name="Inject").click()
        expect(page.locator(".callout")).to_have_text("down acts from the next call on.")
        assert called(served, "anne", "list_deals", {"limit": 1})["isError"]
        expect(page.locator("#rows .saw").last).to_have_text("503 Service Unavailable")
        page.get_by_role("switch", name="down enabled").click()
        expect(page.locator(".callout")).to_have_text("down is disabled.")
        assert not called(served, "anne", "list_deals", {"limit": 1}).get("isError")
        page.get_by_label("Fault as JSON").fill('{"lost_akc": {}}')
        page.get_by_role("button", name="Inject").click()
        expect(page.locator(".callout")).to_contain_text("did you mean 'lost_ack'?")

        page.get_by_label("Name of the fork").fill("twin")
        page.get_by_role("button", name="Fork now").click()
        expect(page.locator(".callout")).to_have_text("twin continues anne as it is now.")
        page.get_by_role("button", name="Begin again").click()
        expect(rows.last).to_have_text("World begins")
        assert operator.get("/worlds/anne")["calls"] == 0
        page.keyboard.press("5")
        expect(page.locator("[role=group] .name")).to_have_text("twin")
        page.get_by_role("button", name="twin").click()
        expect(rows.nth(1)).to_have_text("create_deal")
        assert operator.token not in page.content()
        tab.close()
        assert [trouble for trouble in tab.troubles if "400" not in trouble and "422" not in trouble] == []


def test_a_person_sees_the_screen_at_each_step_of_a_running_world_and_acts_on_it(tmp_path: Path) -> None:
    with (
        controlled("web_shop", "--clock", "virtual") as (served, operator),
        viewing(operator, tmp_path) as address,
        open_browser() as browser,
    ):
        tab = Tab(browser, own=address)
        page, shop = tab.page, "https://wheelhouse.example"
        called(served, "anne", "browser_navigate", {"url": f"{shop}/parts/4"})
        page.goto(address)
        screen = page.frame_locator("iframe.screen")
        expect(screen.locator("h1")).to_have_text("Bell")
        page.keyboard.press("6")
        page.get_by_label("Tool").select_option("browser_navigate")
        page.get_by_label("Arguments as JSON").fill(f'{{"url": "{shop}/login"}}')
        page.get_by_role("button", name="Call").click()
        expect(page.get_by_label("Answer")).to_contain_text(f"Page URL: {shop}/login")
        expect(page.locator("#rows .what b")).to_have_text(["World begins", "browser_navigate", "control"])
        page.keyboard.press("1")
        expect(screen.locator("h1")).to_have_text("Log in")
        expect(page.locator("iframe.screen")).to_have_attribute("sandbox", "allow-same-origin")
        screen.get_by_label("E-mail").fill("ada@mail.example")
        screen.get_by_role("link", name="Parts").click()
        expect(screen.locator("h1")).to_have_text("Parts")
        screen.get_by_label("Sort by").select_option("Price")
        expect(screen.get_by_label("Sort by")).to_have_value("price")
        expect(page.locator("#rows .what b")).to_have_text(["World begins", "browser_navigate", *["control"] * 4])
        page.locator("#rows [role=option]").nth(1).click()
        expect(screen.locator("h1")).to_have_text("Bell")
        expect(page.locator("iframe.screen")).to_have_attribute("sandbox", "")
        page.locator("#rows [role=option]").nth(0).click()
        expect(screen.locator("body")).to_have_text("No screen is open.")
        tab.close()
        assert tab.troubles == []


def test_what_a_person_did_on_a_screen_in_vain_is_shown_below_it(tmp_path: Path) -> None:
    for name, text in FORM.items():
        (tmp_path / name).write_text(text)
    with (
        controlled(str(tmp_path / "form.yaml"), "--clock", "virtual", "--trust", str(tmp_path)) as (served, operator),
        viewing(operator, tmp_path) as address,
        open_browser() as browser,
    ):
        tab = Tab(browser, own=address)
        page = tab.page
        called(served, "anne", "open", {"url": "https://form.example/"})
        page.goto(address)
        screen, rows = page.frame_locator("iframe.screen"), page.locator("#rows .what b")
        screen.get_by_label("City").select_option("s2")
        expect(rows).to_have_text(["World begins", "open", "control"])
        expect(screen.get_by_label("City")).to_have_value("s2")
        screen.get_by_label("Name").fill("Ada")
        screen.get_by_role("link", name="Elsewhere").click()
        expect(rows).to_have_text(["World begins", "open", *["control"] * 2])
        expect(screen.get_by_label("Name")).to_have_value("Ada")
        expect(page.locator("iframe.screen + [role=status]")).to_contain_text("net::ERR_NAME_NOT_RESOLVED")
        screen.get_by_label("City").select_option("s1")
        expect(screen.get_by_label("City")).to_have_value("s1")
        expect(page.locator("iframe.screen + [role=status]")).to_have_text("")
        tab.close()
        assert tab.troubles == []


def test_the_relay_refuses_requests_without_its_key_and_from_elsewhere(tmp_path: Path) -> None:
    with controlled("calm_crm") as (_, operator), viewing(operator, tmp_path) as address:
        where, _, key = address.partition("/#key=")
        with httpx2.Client(trust_env=False, timeout=PATIENCE) as client:

            def status(path: str, **headers: str) -> int:
                named = {name.replace("_", "-"): value for name, value in headers.items()}
                return client.get(f"{where}{path}", headers=named).status_code

            assert status("/control/worlds", x_mcp_sim_key=key) == 200
            assert status("/control/worlds") == 403
            assert status("/control/worlds", x_mcp_sim_key=operator.token) == 403
            assert status("/control/worlds", x_mcp_sim_key=key, origin="https://attacker.invalid") == 403
            assert status("/control/worlds", x_mcp_sim_key=key, host="attacker.invalid") == 403
            assert status("/", host="attacker.invalid") == 403
            assert status("/control/../../x", x_mcp_sim_key=key) == 404
            page = client.get(f"{where}/")
            assert operator.token not in page.text
            assert key not in page.text
            assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


def test_a_control_plane_that_cannot_be_used_is_refused(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "token").write_text("wrong-token-of-nobody")
    token = ("--control-token-file", str(tmp_path / "token"))
    assert main(["view", "--live", "http://127.0.0.1:9", *token]) == 2
    assert "cannot be reached" in capfd.readouterr().err
    assert main(["view", "--live", "file:///etc", *token]) == 2
    assert "takes the URL of a control plane" in capfd.readouterr().err
    assert main(["view", "--live", "http://127.0.0.1:9"]) == 2
    assert "--control-token-file FILE" in capfd.readouterr().err
    with controlled("calm_crm") as (_, operator):
        assert main(["view", "--live", operator.url, *token]) == 2
        assert "it answers with status 401" in capfd.readouterr().err
