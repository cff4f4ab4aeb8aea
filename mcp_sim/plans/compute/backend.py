"""Backend for tools whose result depends on the arguments of the call only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_sim.plans.compute.operations import OPERATIONS
from mcp_sim.plans.compute.phrases import Phrasebook
from mcp_sim.plans.matching.matched_tools import MatchedTool
from mcp_sim.plans.matching.tool_profiles import ToolProfile, argument_types
from mcp_sim.plans.operation import NUMBER, Operation, Run
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.plans.request import Binding
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.kinds import backends
from mcp_sim.types.lexicon.english import snake

_BETWEEN = frozenset({"to", "into", "2"})
_CONVERTS = frozenset({"convert", "conversion", "converter"})


@backends.register("compute")
class Compute(OperationsBackend):
    """Calculations and times: results that depend on the arguments and the time only.

    A tool matches by its name (`add`, `standardDeviation`, `gallon_to_liter`); its required arguments must be those of
    the operation. The time is that of the world, in the layout that the tool's description or result mentions
    (`HH:MM AM/PM`).
    """

    order = 10
    operations = OPERATIONS
    lengthy = frozenset({"calculate", "factorial", "power"})

    # matching

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operation that the tool's name means."""
        for tool in _PHRASES.match(profile):
            yield self._with_format(tool) if tool.name == "now" and "format" not in tool.arguments else tool
        yield from self._conversions(profile)

    def _conversions(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Match `gallon_to_liter` and `convertMilesToKilometers`: two units of the same quantity, and one number."""
        named = [word for word in profile.words if word not in _CONVERTS]
        numbers = [name for name, schema in profile.arguments.items() if argument_types(schema) & NUMBER]
        place = next((at for at, word in enumerate(named) if word in _BETWEEN and 0 < at < len(named) - 1), None)
        if place is None or len(numbers) != 1 or profile.needed - set(numbers):
            return
        from mcp_sim.plans.compute.units import is_convertible

        source, target = "_".join(named[:place]), "_".join(named[place + 1 :])
        if is_convertible(source, target):
            reasons = (f"'{source}' and '{target}' are units of the same",)
            arguments, fixed = {"value": numbers[0]}, {"source": source, "target": target}
            yield MatchedTool(profile, self.known["convert_unit"], arguments, "", fixed, 0.95, reasons)

    def _with_format(self, tool: MatchedTool) -> MatchedTool:
        """Fix the form of the current time: all fields if the result has room, else a text in the documented layout."""
        declared = properties(tool.profile.output)
        types = {main_type(schema) for schema in declared.values()}
        if len(declared) > 1 or "object" in types:
            return tool
        from mcp_sim.plans.compute.dates import layout_in

        described = (
            *(str(schema.get("description", "")) for schema in declared.values()),
            tool.profile.tool.description,
        )
        layout = next(filter(None, map(layout_in, described)), None)
        if layout is None and types & NUMBER:
            return replace(tool, fixed={"format": "timestamp"})
        if layout is None and declared:
            named = "_".join((*tool.profile.words, *map(snake, declared)))
            layout = "%Y-%m-%d" if "date" in named and "time" not in named else "iso"
        return tool if layout is None else replace(tool, fixed={"format": layout})

    # answering

    def prepare(self, binding: Binding, domain: Domain) -> object:
        """Return the sentence of an example."""
        from mcp_sim.plans.compute.results import sentence_of_example

        return sentence_of_example(binding, domain, self.function(binding.operation))

    def function(self, operation: Operation) -> Run:
        """Return the function that computes the result of a request and makes an outcome of it."""
        from mcp_sim.plans.compute.results import runner

        return runner(operation, super().function(operation))


_PHRASES = Phrasebook(Compute.operations)
