"""Tools with an argument, or two together, that selects one of several operations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from math import prod

from mcp_sim.backends.compute.operations import FAMILIES
from mcp_sim.backends.compute.phrases import Phrasebook
from mcp_sim.backends.matching.matched_tools import MatchedTool, assign_roles, is_quantity
from mcp_sim.backends.matching.tool_profiles import ToolProfile, argument_types, last_segment, listed_values
from mcp_sim.backends.operation import Operation, Role, required_roles, role
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Binding
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms

CHOSEN = Operation("chosen", "results:chosen", roles=(role("operation"), role("variant", optional=True)))
"""The operation of tools with an argument that selects another one."""

_SELECTORS = terms("arguments.chooser") | {"operator", "function", "type"}
_MAX_CHOICES = 300
"""Arguments with more choices do not select operations. Each choice is compared with the words of all operations."""
_FAMILIES = tuple(Phrasebook(family) for family in FAMILIES)


@frozen
class Selection:
    """The arguments of a tool that select an operation, and the operations that each of their choices may mean."""

    tool: Tool
    selectors: Sequence[str]
    choices: Mapping[str, Sequence[Operation]]
    declared: Mapping[str, Record]
    """The arguments of the tool."""

    @property
    def known(self) -> list[str]:
        """The choices that mean an operation."""
        return [choice for choice, meant in self.choices.items() if meant]

    @property
    def meant(self) -> list[Operation]:
        """The operations of all choices."""
        return [operation for meant in self.choices.values() for operation in meant]

    def called(self, arguments: Record) -> tuple[str, frozenset[str]]:
        """Return the choice of a call, and the arguments that it has."""
        word = _joined([arguments.get(name, self.declared[name].get("default")) for name in self.selectors])
        return word, frozenset(name for name, value in self.declared.items() if name in arguments or "default" in value)

    def choose(self, word: str, given: Collection[str]) -> tuple[Operation, Mapping[str, str]] | None:
        """Return the operation that a choice selects, and its arguments; None if the choice means no operation.

        Without a choice, the arguments decide. Raises `Refused` if they fit none of the operations that are meant.
        """
        meant = self.choices.get(word, ()) if word else self.meant
        if not meant and word in self.choices:
            return None
        if not meant:
            raise Refused("invalid", f"Unknown operation {word!r}. Supported: {', '.join(self.choices)}")
        arguments = {name: value for name, value in self.declared.items() if name in given}
        profile = ToolProfile(self.tool, (), arguments, frozenset())
        for operation in meant:
            roles = assign_roles(operation.roles, profile, self.selectors)
            if roles is not None:
                return operation, roles
        raise Refused("invalid", f"Operation {word!r} needs {' and '.join(required_roles(meant[0]))}")


def match_selection(profile: ToolProfile) -> Iterator[MatchedTool]:
    """Yield a match if at least half of the choices of an argument, or of two together, mean operations."""
    for names in _selectors(profile):
        if prod(len(listed_values(profile.arguments[name])) for name in names) > _MAX_CHOICES:
            continue
        selection = _selection(profile.tool, profile.arguments, names)
        known = selection.known
        if len(known) < 2 or 2 * len(known) < len(selection.choices):
            continue
        if _takes_quantity(profile, names, [role for operation in selection.meant for role in operation.roles]):
            reasons = (f"'{_joined(names)}' chooses among {', '.join(known)}",)
            arguments = {role.name: name for role, name in zip(CHOSEN.roles, names, strict=False)}
            yield MatchedTool(profile, CHOSEN, arguments, confidence=0.85, reasons=reasons)


def selection_of(binding: Binding) -> Selection:
    """Return the operations that a tool chooses from."""
    if binding.tool is None:
        raise ValueError("only a tool has choices")
    names = [binding.arguments[role.name] for role in CHOSEN.roles if role.name in binding.arguments]
    return _selection(binding.tool, properties(expanded(binding.tool.input_schema)), names)


def _selection(tool: Tool, arguments: Mapping[str, Record], names: Sequence[str]) -> Selection:
    """Return the selection of the family that knows most choices."""
    choices = [_joined(values) for values in product(*(listed_values(arguments[name]) for name in names))]
    meant = ({choice: _meant(choice, tool, family) for choice in choices} for family in _FAMILIES)
    return max(
        (Selection(tool, names, selection, arguments) for selection in meant),
        key=lambda selection: len(selection.known),
    )


def _meant(word: str, tool: Tool, family: Phrasebook) -> list[Operation]:
    """Return the operations that a choice names, alone or combined with the tool's name."""
    about = "_".join(words(last_segment(tool.name)))
    named = (family.named(name) for name in (word, f"{about}_{snake(word)}", f"{snake(word)}_{about}"))
    return next((operations for operations in named if operations), list[Operation]())


def _selectors(profile: ToolProfile) -> Iterator[tuple[str, ...]]:
    """Yield the arguments that may select an operation: each alone, then pairs of required ones."""
    named = [name for name in profile.arguments if snake(name) in _SELECTORS]
    yield from ((name,) for name in named)
    yield from permutations([name for name in named if name in profile.needed], 2)


def _takes_quantity(profile: ToolProfile, names: Sequence[str], roles: Sequence[Role]) -> bool:
    """Whether a tool has an argument for one of the roles, and no other required argument that selects something."""
    rest = {name: argument for name, argument in profile.arguments.items() if name not in names}
    if any(snake(name) in _SELECTORS and len(listed_values(rest[name])) > 1 for name in profile.needed & rest.keys()):
        return False
    quantities = [argument_types(schema) for name, schema in rest.items() if is_quantity(name)]
    return any(not role.types or types & role.types for types in quantities for role in roles)


def _joined(choices: Iterable[Json]) -> str:
    """Return several choices as one word."""
    return "_".join(str(choice) for choice in choices if choice not in (None, ""))
