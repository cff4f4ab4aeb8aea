"""docs/cli.md shows the commands as their help describes them."""

from __future__ import annotations

from support.cli_page import GUIDES, PAGE, page

from mcp_sim.cli import COMMANDS


def test_the_page_is_up_to_date() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run: python tests/support/cli_page.py"


def test_a_guide_is_named_for_known_commands_only() -> None:
    assert set(GUIDES) <= set(COMMANDS)
