"""docs/perturbations.md shows the manuals of the kinds, and in each example the perturbation is applied."""

from __future__ import annotations

import re
import runpy

import pytest
from support.places import ROOT

from mcp_sim.types.kinds import perturbations

PAGE = (ROOT / "docs" / "perturbations.md").read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    script = runpy.run_path(str(ROOT / "docs" / "perturbations.py"))
    assert script["page"]() == PAGE, "run: python docs/perturbations.py"


@pytest.mark.parametrize("name", perturbations.names())
def test_the_run_that_is_shown_of_a_kind_shows_it_at_work(name: str) -> None:
    section = PAGE.partition(f"### {name}\n")[2].partition("\n### ")[0]
    shown = re.findall(r"```text\n(.*?)```", section, re.DOTALL)[-1]
    assert "FAULT" in shown or "_v2" in shown
