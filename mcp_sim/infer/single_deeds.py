"""What does a tool do to what there is one of, and what else does it say? And the deeds that say all by their verbs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mcp_sim.infer.flags import TOGGLES, flag_set
from mcp_sim.infer.meant import field_meant, joined, matched
from mcp_sim.infer.names import Reading
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import plural, vocabulary
from mcp_sim.types.plans import How, Verb

_EMPTIES = vocabulary("clear empty reset flush")


@dataclass(frozen=True, slots=True)
class Single:
    """What a tool does to the one record of an entity."""

    verb: Verb
    entity: str
    sets: Mapping[str, str] = field(default_factory=dict[str, str])
    how: Mapping[str, How] = field(default_factory=dict[str, "How"])
    fixed: Mapping[str, Json] = field(default_factory=dict[str, Json])
    shows: Mapping[str, str] = field(default_factory=dict[str, str])
    choice: str | None = None
    """An argument that says which of the values of the field in `chosen` is meant."""
    chosen: Mapping[str, Mapping[str, Json]] = field(default_factory=dict[str, "Mapping[str, Json]"])
    only: tuple[str, ...] = ()
    """The fields that are told alone."""
    reason: str = ""


def done(reading: Reading, arguments: Record, shows: Mapping[str, str], entity: Entity) -> Single | None:
    """`arm_alarm(mode)`, `disarm_alarm()`: a verb that nothing else is known of sets the flag that it is about."""
    if reading.verb != "unknown" or len(reading.noun) < 2 or "".join(reading.noun[1:]) != joined(entity.name):
        return None
    fixed = flag_set(reading.noun[0], entity)
    sets = {name: found for name, part in arguments.items() if (found := matched(name, part, entity)) is not None}
    if not fixed or fixed.keys() & {*sets.values()}:
        return None
    return Single("update", entity.name, sets, {}, fixed, shows, reason=f"sets {', '.join(fixed)} of {entity.name}")


def toggled(reading: Reading, needed: Sequence[str], shows: Mapping[str, str], entity: Entity) -> Single | None:
    """`toggle_shuffle()`: the flag that its noun or its result names becomes the opposite."""
    if reading.word not in TOGGLES or needed:
        return None
    meant = field_meant(reading, shows, entity) or next(iter(dict.fromkeys(shows.values())), "")
    if meant not in entity.fields or main_type(entity.fields[meant].schema) != "boolean":
        return None
    told, alone = f"toggles {meant}", () if shows else (meant,)
    return Single("update", entity.name, {}, {meant: "toggle"}, {meant: True}, shows, only=alone, reason=told)


def emptied(reading: Reading, needed: Sequence[str], shows: Mapping[str, str], entity: Entity) -> Single | None:
    """`clear_queue()`: the list of which its noun speaks holds nothing any more."""
    noun = reading.noun if reading.word in _EMPTIES else reading.noun[1:] if {*reading.noun[:1]} & _EMPTIES else ()
    meant = {"".join(noun), joined(plural("_".join(noun)))} if noun and not needed else set[str]()
    lists = (name for name, one in entity.fields.items() if main_type(one.schema) == "array")
    name = next((name for name in lists if joined(name) in meant), None)
    if name is None:
        return None
    return Single("update", entity.name, fixed={name: []}, shows=shows, reason=f"empties {name} of {entity.name}")
