"""How a vendor words a failure."""

from __future__ import annotations

from support.pets import PETS, Write

from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import RpcError, ToolResult
from mcp_sim.types.error_templates import Template, VendorErrors


def test_a_template_is_filled_from_the_failure_and_the_call() -> None:
    render_failure = VendorErrors({"not_found": Template("text", "{entity} {key}: {message} ({kind}) {tags}")})
    observation = render_failure("not_found", "gone", {"entity": "deal", "key": 7, "tags": ["a"]})
    assert observation.body == ToolResult('deal 7: gone (not_found) ["a"]', form="text", is_error=True)


def test_a_slot_is_a_plain_name_and_its_value_is_not_filled_again() -> None:
    render_failure = VendorErrors({"invalid": Template("text", "{a.b} {a[0]} {} {0} {{a}} {a}")})
    observation = render_failure("invalid", "", {"a": "{message}"})
    assert observation.body == ToolResult("{a.b} {a[0]} {} {0} {{message}} {message}", form="text", is_error=True)


def test_a_json_template_keeps_the_type_of_a_value() -> None:
    template = {"error": {"status": "{status}", "detail": ["no {key}"]}}
    for form in ("json", "structured"):
        body = VendorErrors({"x": Template(form, template)})("x", "", {"status": 404, "key": 1}).body
        assert body == ToolResult({"error": {"status": 404, "detail": ["no 1"]}}, form=form, is_error=True)


def test_a_template_of_which_a_slot_cannot_be_filled_gives_way() -> None:
    render_failure = VendorErrors(
        {"x": Template("text", "wait {seconds}"), "default": Template("text", "E: {message}")}
    )
    assert render_failure("x", "late", {}).body == ToolResult("E: late", form="text", is_error=True)
    assert render_failure("x", "late", {"seconds": 3}).body == ToolResult("wait 3", form="text", is_error=True)


def test_a_failure_without_a_template_is_worded_by_default_or_plainly() -> None:
    assert VendorErrors({})("timeout", "late", {}).body == ToolResult("late", form="text", is_error=True)
    assert VendorErrors({"default": Template("text", "E: {message}")})("timeout", "late", {}).body == ToolResult(
        "E: late", form="text", is_error=True
    )


def test_errors_of_a_spec_word_the_failures_of_its_tools(write: Write) -> None:
    errors = (
        "errors:\n  not_found: No pet {pet_id}\n  invalid: {rpc: {code: -32602, message: '{message}', data: ['{n}']}}\n"
    )
    tool = load(write(PETS + errors)).domain.tools["get_pet"]
    assert tool.failure("not_found", "x", pet_id="p1").body == ToolResult("No pet p1", form="text", is_error=True)
    assert tool.failure("invalid", "bad", n=1).body == RpcError(-32602, "bad", [1])


async def test_the_tool_is_a_slot_of_every_failure_of_a_spec_and_of_a_tool(write: Write) -> None:
    named = "Error executing tool {tool}: No pet {value}"
    for errors in (f"errors: {{not_found: '{named}'}}\n", f"sim: {{get_pet: {{errors: {{not_found: '{named}'}}}}}}\n"):
        async with Simulator.load(write(PETS + errors + "entities: {pet: {open: false}}\n")).open() as world:
            found = await world.call("get_pet", {"pet_id": "p9"})
        assert found.body == ToolResult("Error executing tool get_pet: No pet p9", form="text", is_error=True)


async def test_arguments_come_before_other_slots_in_errors_of_a_tool(write: Write) -> None:
    spec = PETS.replace("pet_id: {type: string}", "pet_id: {type: string}, tool: {type: string}, kind: {type: string}")
    closed = "entities: {pet: {open: false}}\n"
    for errors, expected in (
        ("sim: {get_pet: {errors: {not_found: 'no {kind} {tool} {pet_id}'}}}\n", "no big brush p9"),
        ("errors: {not_found: 'no {kind} {tool} {pet_id}'}\n", "no not_found get_pet p9"),
    ):
        async with Simulator.load(write(spec + errors + closed)).open() as world:
            found = await world.call("get_pet", {"pet_id": "p9", "tool": "brush", "kind": "big"})
        assert found.body == ToolResult(expected, form="text", is_error=True)
