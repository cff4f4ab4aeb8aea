"""Add a perturbation to a scenario that is already compiled."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.spec import yaml12
from mcp_sim.spec.entries import read_perturbations
from mcp_sim.spec.places import Place
from mcp_sim.types import Record
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.json_values import encode
from mcp_sim.types.scenario import Scenario

PLACE = "the injected perturbation"


def with_perturbation(scenario: Scenario, entry: Record) -> Scenario:
    """Return the scenario with one more perturbation, written as in a document. Raises `DocumentError`."""
    document = yaml12.load(encode([entry]), PLACE)
    problems = list[Problem]()
    made = read_perturbations(Place(document, problems, document.value), scenario.domain)
    taken = {one.id for one in scenario.perturbations}
    problems += [Problem(PLACE, 0, "id", f"{one.id!r} is already in the scenario") for one in made if one.id in taken]
    errors = [problem for problem in problems if problem.severity == "error"]
    if errors:
        raise DocumentError(errors)
    return replace(scenario, perturbations=(*scenario.perturbations, *made))
