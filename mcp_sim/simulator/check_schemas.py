"""Find the tools whose schemas no value fits, or no result that can be generated.

It takes as long as reading the tools. A client that starts a server gets their list before.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from mcp_sim.simulator.by_text import ByText
from mcp_sim.spec.lint import check_values
from mcp_sim.spec.places import Place
from mcp_sim.spec.tool_specs import Spec
from mcp_sim.types import Record
from mcp_sim.types.json_schema.satisfiability import NoInstance, impossible_parts, is_satisfiable


def check_schemas(specs: Iterable[Spec]) -> None:
    """Note parts of schemas that no value fits, and tools that no call can answer.

    It is an error if no result is valid, else a warning.
    """
    for spec in specs:
        for id_, tool in spec.tools.items():
            place = spec.places[id_]
            check_values(place.at("inputSchema"), tool.name, is_result=False)
            if tool.output_schema is not None:
                check_values(place.at("outputSchema"), tool.name, is_result=True)
                _check_result(place.at("outputSchema"), tool.name, tool.output_schema)


def _check_result(place: Place, tool: str, schema: Record) -> None:
    is_possible = is_satisfiable(schema)
    if is_possible is False:
        place.error(f"no value fits in {tool}: {impossible_parts(schema)[()]}")
    elif is_possible is None and (failure := _search_result(ByText(repr(schema), schema))) is not None:
        place.warning(f"no valid result of {tool} is generated, so that its calls crash: {failure}")


@lru_cache(maxsize=256)
def _search_result(schema: ByText[Record]) -> str | None:
    """Return why a search finds no valid result, None if it finds one."""
    from mcp_sim.generate.instances import Instances  # noqa: PLC0415 (most tools are listed sooner without it)

    try:
        Instances(schema.value).nearest()
    except NoInstance as none:
        return str(none)
    return None
