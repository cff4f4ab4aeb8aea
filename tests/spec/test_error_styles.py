"""Failures and rate limits in the styles of seven vendors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from support.places import ROOT

import mcp_sim
from mcp_sim import Simulator
from mcp_sim.simulator.compile import check, load
from mcp_sim.spec.parts.tool_spec import Style
from mcp_sim.spec.tool_specs import load_error_style
from mcp_sim.types import ToolResult
from mcp_sim.types.error_templates import FAILURES

STYLES = get_args(Style)
TOOLS = (ROOT / "tool_specs" / "crm" / "crm.tools.json").read_text(encoding="utf-8")
WORDED = {*FAILURES.values(), "key_reused", "quota_exhausted", "internal", "default"}

Seen = list[Any]

EXPECTED: dict[str, Seen] = {
    "github": ["Not Found", 'message":"Validation Failed', '"retry-after":', '"message":"No server is'],
    "stripe": ["No such contact: 'con_99999'", '"invalid_request_error"', '"code":"rate_limit"', '"api_error"'],
    "google": ['"NOT_FOUND"', '"INVALID_ARGUMENT"', '"retryDelay":"', '"code":503'],
    "aws": ["ResourceNotFoundException", "ValidationException", "ThrottlingException", "ServiceUnavailableException"],
    "salesforce": ['"NOT_FOUND"', "FIELD_INTEGRITY_EXCEPTION", "REQUEST_LIMIT_EXCEEDED", "SERVER_UNAVAILABLE"],
    "slack": ['"contact_not_found"', '"invalid_arguments"', '"ratelimited"', '"service_unavailable"'],
    "mcp": ["Error: contact not found", "MCP error -32602", "retry after ", "status code 503"],
}
"""What an agent reads of a record that is missing, of wrong arguments, of a rate limit, and of a 503."""


def spec(folder: Path, ending: str) -> Path:
    (folder / "crm.tools.json").write_text(TOOLS, encoding="utf-8")
    path = folder / "crm.yaml"
    path.write_text(f"mcp_sim: 1\nname: crm\ntools: crm.tools.json\n{ending}", encoding="utf-8")
    return path


def seen(observation: Any) -> str:
    assert isinstance(observation.body, ToolResult)
    assert observation.body.is_error
    return observation.body.content[0]["text"]


def test_there_is_a_file_for_every_style_and_a_style_for_every_file() -> None:
    folder = Path(mcp_sim.__file__).parent / "spec" / "error_styles"
    assert sorted(STYLES) == sorted(path.stem for path in folder.glob("*.yaml"))
    assert sorted(STYLES) == sorted(EXPECTED)


@pytest.mark.parametrize("style", STYLES)
def test_a_style_words_every_failure(style: str) -> None:
    assert load_error_style(style).keys() == WORDED


@pytest.mark.parametrize("style", STYLES)
async def test_what_an_agent_reads_has_the_shape_of_the_vendor(style: str, tmp_path: Path) -> None:
    spec(tmp_path, f"error_style: {style}\n")
    scenario = tmp_path / "x.yaml"
    scenario.write_text(
        "mcp_sim: 1\ntools: crm.yaml\nperturbations:\n"
        "  - rate_limit: {limit: 1, window: 1h}\n    tools: list_deals\n"
        "  - error: {status: 503}\n    tools: list_companies\n",
        encoding="utf-8",
    )
    async with Simulator.load(scenario).open() as world:
        await world.call("list_deals", {})
        texts = [
            seen(await world.call(tool, arguments))
            for tool, arguments in (
                ("get_contact", {"contact_id": "con_99999"}),
                ("get_contact", {"contact_id": 5}),
                ("list_deals", {}),
                ("list_companies", {}),
            )
        ]
    for text, expected in zip(texts, EXPECTED[style], strict=True):
        assert expected in text
        assert style == "mcp" or isinstance(json.loads(text), dict | list)


@pytest.mark.parametrize("style", STYLES)
def test_a_failure_without_all_that_its_template_needs_keeps_the_shape(style: str, tmp_path: Path) -> None:
    tool = load(spec(tmp_path, f"error_style: {style}\n")).domain.tools["list_deals"]
    text = seen(tool.failure("rate_limited", "429 Too Many Requests"))
    assert text.startswith("Error: ") if style == "mcp" else isinstance(json.loads(text), dict | list)


def test_own_entries_override_those_of_the_style(tmp_path: Path) -> None:
    path = spec(tmp_path, "error_style: stripe\nerrors: {not_found: 'gone: {key}'}\n")
    tool = load(path).domain.tools["get_contact"]
    assert seen(tool.failure("not_found", "", entity="contact", key="c1")) == "gone: c1"
    assert json.loads(seen(tool.failure("invalid", "bad")))["error"]["message"] == "bad"


def test_an_unknown_style_is_reported_with_those_there_are(tmp_path: Path) -> None:
    (problem,) = check([spec(tmp_path, "error_style: githb\n")])
    assert "error_style: " in str(problem)
    assert "github" in str(problem)
