"""Backends that a spec declares for tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.declared import STRING, tool
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


@pytest.mark.parametrize(
    ("backend", "programs"),
    [
        ("document", "`program: word` or `program: powerpoint`"),
        ("graph", "`program: memory`"),
        ("key_value", "`program: redis` or `program: redis_strings`"),
    ],
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
