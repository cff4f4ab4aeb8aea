"""Backend for tools whose result depends on the arguments of the call only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mcp_sim.backends.compute.operations import ANSWER, FAMILIES
from mcp_sim.backends.compute.phrases import Phrasebook
from mcp_sim.backends.compute.selection import CHOSEN, match_selection, selection_of
from mcp_sim.backends.matching.matched_tools import MatchedTool
from mcp_sim.backends.matching.tool_profiles import ToolProfile, argument_types, profiles_of_tools
from mcp_sim.backends.operation import NUMBER, Names, Operation, Run
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.request import Binding
from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.kinds import ServerEvidence, backends
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan

_BETWEEN = frozenset({"to", "into", "2"})
_CONVERTS = frozenset({"convert", "conversion", "converter"})


@backends.register("compute")
class Compute(OperationsBackend):
    """Calculations, dates and texts: results that depend on the arguments, the time and the seed only.

    A tool matches by its name (`add`, `standardDeviation`, `gallon_to_liter`), or by an argument that selects the
    operation; its required arguments must be those of the operation. The time is that of the world, in the layout that
    the tool's description or result mentions (`HH:MM AM/PM`). Summaries and keywords are extracted from the text,
    sentiment is judged by single words, and a translation is the text itself, marked with the language; these results
    are marked as guessed. Random values depend on the world's seed and the calls only.
    """

    order = 10
    operations = tuple(operation for family in FAMILIES for operation in family)
    lengthy = frozenset({
        "calculate", "factorial", "fibonacci", "is_prime", "power", "convert_base", "regex_match", "regex_test",
        "regex_replace", "text_difference",
    })  # fmt: skip

    # matching

    def profiles(self, evidence: ServerEvidence) -> Sequence[Sequence[ToolProfile]]:
        """Return whole tools: an argument that selects what a tool does may select together with another one."""
        return [evidence.once(profiles_of_tools)]

    def match_tool(self, profile: ToolProfile) -> Iterator[MatchedTool]:
        """Yield the operation that an argument selects, or that the tool's name means."""
        yield from match_selection(profile)
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
        from mcp_sim.backends.compute.units import is_convertible

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
        from mcp_sim.backends.compute.dates import layout_in

        described = (
            *(str(schema.get("description", "")) for schema in declared.values()),
            tool.profile.tool.description,
        )
        layout = next(filter(None, map(layout_in, described)), None)
        if layout is None and types & NUMBER:
            return replace(tool, operation=self.known["to_timestamp"], fixed={"date": "now"})
        if layout is None and declared:
            named = "_".join((*tool.profile.words, *map(snake, declared)))
            layout = "%Y-%m-%d" if "date" in named and "time" not in named else "iso"
        return tool if layout is None else replace(tool, fixed={"format": layout})

    # answering

    def planned(self, tool: Tool, plan: Plan) -> Operation:
        """Return the operation of a plan, which may be that an argument selects one."""
        return CHOSEN if plan.operation == CHOSEN.name else super().planned(tool, plan)

    def prepare(self, binding: Binding, domain: Domain) -> object:
        """Return the operations that a tool chooses from, or the sentence of an example."""
        from mcp_sim.backends.compute.results import sentence_of_example

        if binding.operation is CHOSEN:
            return selection_of(binding)
        return sentence_of_example(binding, domain, self.function(binding.operation))

    def result_names(self, binding: Binding) -> Names:
        """Return the properties that may hold the results of the operations that a tool chooses from."""
        if binding.operation is not CHOSEN:
            return self.names
        result_names = [item for choice in binding.shared.choices.values() for item in choice]
        return {ANSWER: tuple(dict.fromkeys(name for item in result_names for name in item.names[ANSWER]))}

    def function(self, operation: Operation) -> Run:
        """Return the function that computes the result of a request and makes an outcome of it."""
        from mcp_sim.backends.compute.results import chosen_runner, runner

        if operation is CHOSEN:
            return chosen_runner(self.function)
        return runner(operation, super().function(operation))


_PHRASES = Phrasebook(Compute.operations)
