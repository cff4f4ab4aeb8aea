"""By which arguments do tools name a record that has no id: `delete_link(from, to)`, `read_page(title)`?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Mapping, Sequence

from mcp_sim.infer.customary import OPTIONS
from mcp_sim.infer.fields import is_counted
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.words import snake

_ONE = frozenset({"get", "update", "delete"})
_SCALAR = frozenset({"string", "integer", "number", ""})


def scoped(looks: Sequence[Look], keys: Mapping[str, str]) -> set[str]:
    """The entities whose names are told apart by something else as well: a path in a repository, a cell of a sheet.

    Callers choose the name when they create a record, and every tool must be told of both.
    """
    found: set[str] = set()
    for name, key in keys.items():
        mine = [look for look in looks if look.entity == name and look.single is None]
        ones = [look for look in mine if look.verb in _ONE]
        made = [look for look in mine if look.verb == "create"]
        if len(ones) < 2 or not made or any(look.said_key or look.unfolded.each for look in mine):
            continue
        shared = frozenset[str].intersection(*(_needed(look) for look in (*ones, *made)))
        if len(shared) > 1 and any(snake(one) == snake(key) for one in shared) and not is_counted(key):
            found.add(name)
    return found


def names_of_records(
    looks: Sequence[Look], keys: Mapping[str, str], within: Container[str]
) -> dict[str, frozenset[str]]:
    """For each tool about one record that takes no key of it: the arguments that tell which one it is.

    They are what all such tools of an entity must be told; of a delete that stands alone, all that it must be told.
    `within`: entities whose names are told apart by something else as well.
    """
    keyless: dict[str, list[Look]] = defaultdict(list)
    for look in looks:
        if (
            look.verb in _ONE
            and look.single is None
            and look.element is None
            and (look.entity in within or not _is_keyed(look, keys))
        ):
            keyless[look.entity].append(look)
    found: dict[str, frozenset[str]] = {}
    for mine in keyless.values():
        shared = frozenset[str].intersection(*(_needed(look) for look in mine))
        sure = len(mine) > 1 or mine[0].verb == "delete"
        writes = any(look.verb in {"update", "delete"} for look in mine)
        found |= {look.tool.id: shared for look in mine} if shared and sure and writes else {}
    return found


def _is_keyed(look: Look, keys: Mapping[str, str]) -> bool:
    if look.said_key is not None or look.unfolded.each is not None:
        return True
    key = keys.get(look.entity, "id")
    name, score = key_argument(look.verb, look.entity, key, look.input)
    return name is not None and (score > 1 or f"_{snake(key)}".endswith(f"_{snake(name)}"))


def _needed(look: Look) -> frozenset[str]:
    parts = properties(look.input)
    return frozenset(name for name in required(look.input) if _names(name, parts.get(name, {})))


def _names(name: str, schema: Record) -> bool:
    return main_type(schema) in _SCALAR and snake(name) not in OPTIONS
