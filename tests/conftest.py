"""Fixtures that several test files share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mcp_sim import Simulator

SMALL_CRM = """\
mcp_sim: 1
name: small-crm
tools: crm
seed: 7
world:
  now: 2029-03-01T09:00:00Z
  records:
    company: {count: 2, rows: [{id: cmp_001, name: Wielhuis}]}
    contact: {count: 3, rows: [{id: con_00001, name: Ada Vos, email: ada@wielhuis.example, stage: lead}]}
    deal:
      count: 2
      rows:
        - {id: deal_0001, title: Winter tyres, amount: 100, stage: won, contact_id: con_00001, company_id: null}
        - {id: deal_0002, title: Chains, amount: 50, stage: proposal, contact_id: con_00001, company_id: null}
    activity: 0
"""




@pytest.fixture
def crm(tmp_path: Path) -> Callable[[str], Simulator]:
    """A simulator of a small CRM. What is given ends its scenario, as YAML: perturbations, expectations."""

    def simulator(ending: str) -> Simulator:
        path = tmp_path / "scenario.yaml"
        path.write_text(SMALL_CRM + ending, encoding="utf-8")
        return Simulator.load(path)

    return simulator
