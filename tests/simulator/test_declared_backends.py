"""Backends and operations that a spec declares for tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.backend_answers import STRING, tool
from support.matched_tools import simulator
from support.vendors import PROGRAM_SPECS

from mcp_sim.spec import overrides
from mcp_sim.types.errors import DocumentError

Json = Any
KEEP = [tool("keep_in_mind", {"text": STRING}), tool("show_my_mind")]


def problems(folder: Path, tools: list[Json], sim: Json) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        simulator(folder, tools, spec={"sim": sim})
    return [f"{problem.path}: {problem.message}" for problem in caught.value.problems]


def test_a_tool_whose_operation_is_unknown_is_an_error_at_its_entry(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, KEEP, {"keep_in_mind": {"backend": "document"}})
    assert found.startswith(
        "sim.keep_in_mind.backend: could not find which operation of document this tool is; set `operation:`; "
        "choose from 'add', 'change', 'copy'"
    )


@pytest.mark.parametrize(
    ("backend", "programs"),
    [("graph", "`program: memory`"), ("key_value", "`program: redis` or `program: redis_strings`")],
)
def test_a_former_backend_is_an_error_with_the_programs_that_replace_it(
    tmp_path: Path, backend: str, programs: str
) -> None:
    (found,) = problems(tmp_path, KEEP, {"keep_in_mind": {"backend": backend}})
    instead = f"it was replaced by the catalogue: {programs} in the tool spec"
    assert found == f"sim.keep_in_mind.backend: unknown backend; {instead}"


def test_every_program_that_replaces_a_backend_ships() -> None:
    path = Path(overrides.__file__).with_name("replaced_backends.json")
    named = {name for programs in json.loads(path.read_text(encoding="utf-8")).values() for name in programs}
    assert named <= set(PROGRAM_SPECS)


def test_a_misspelt_operation_is_an_error_with_the_nearest_one(tmp_path: Path) -> None:
    sim = {"keep_in_mind": {"backend": "document", "operation": "ad"}, "show_my_mind": {"backend": "document"}}
    found = problems(tmp_path, KEEP, sim)
    assert found[0] == "sim.keep_in_mind.operation: unknown operation 'ad' of document; did you mean 'add'?"
    assert found[1].startswith("sim.show_my_mind.backend: could not find")


async def test_a_declared_operation_gets_the_arguments_of_its_own_roles(tmp_path: Path) -> None:
    pair = {"search": STRING, "replacement": STRING}
    tools = [tool("get_words", pair), tool("add_paragraph", {"text": STRING})]
    sim = {"get_words": {"backend": "document", "operation": "replace"}}
    async with simulator(tmp_path, tools, spec={"sim": sim}) as simulated:
        plan = simulated.scenario.domain.plans["get_words"]
        assert (plan.operation, plan.arguments) == ("replace", {"query": "search", "replacement": "replacement"})
