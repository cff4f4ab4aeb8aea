"""docs/perturbations.md shows the manuals of the kinds, and in each example the perturbation is applied."""

from __future__ import annotations

import re

import pytest
from support.perturbations_page import PAGE, page

from mcp_sim.types.kinds import perturbations


def test_the_page_is_up_to_date() -> None:
    assert page() == PAGE.read_text(encoding="utf-8"), "run: python tests/support/perturbations_page.py"


@pytest.mark.parametrize("name", perturbations.names())
def test_the_example_of_a_kind_shows_it_at_work(name: str) -> None:
    section = PAGE.read_text(encoding="utf-8").partition(f"### {name}\n")[2].partition("\n### ")[0]
    example = re.findall(r"```text\n(.*?)```", section, re.DOTALL)[-1]
    assert re.search(r"^(?!tools/list)\w+ -> ", example, re.MULTILINE)  # only a call at which it was applied is shown
