"""Choose what generated records link to, and copy fields from linked records."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any, TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.record_counts import must_link
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.shipped_data import word_list, word_set
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import chance_of
from mcp_sim.types import Json, Key, Record, frozen
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake

_MOST_LINKED = 3  # enough to be a list; more would link everything to everything in a world of 20 records
_TRIES = 6  # bounds the search for a record that is old enough
_REPLIES = 0.4  # threads are short, and most messages begin one
_AT_FIRST = 3  # how many records of an entity can be linked to before they were created


Choose: TypeAlias = Callable[[Chance, Record, int, Moment], Json]
"""Chooses the target of a link. The number is the index of the linking record in the order of creation."""


@frozen
class Targets:
    """The records of one entity as targets of links: keys and creation times in the order of creation."""

    entity: str
    seed: int
    keys: Sequence[Key]
    created_at: list[datetime]
    records: Mapping[Key, Record]
    favour: dict[int, float] = field(default_factory=dict[int, float])

    def one(self, chance: Chance, when: datetime) -> Key | None:
        """Draw a record that existed at this time. A few records are drawn often."""
        there = max(bisect_right(self.created_at, when), min(_AT_FIRST, len(self.keys)))
        if not there:
            return None
        place = 0
        for _ in range(_TRIES):
            place = chance.below(there)
            favour = self.favour.get(place)
            if favour is None:
                drawn = chance_of(self.seed, self.entity, self.keys[place], "favour").unit()
                favour = self.favour[place] = 0.08 + 0.92 * drawn**3
            if chance.unit() < favour:
                break
        return self.keys[place]


def link_chooser(domain: Domain, entity: Entity, field: Field, targets: Mapping[str, Targets]) -> Choose:
    among = targets[field.link or ""]
    if main_type(field.schema) == "array":
        least = int(field.schema.get("minItems", 0))
        return lambda chance, _record, _place, moment: _some(chance, among, moment, least)
    if field.link == entity.name:
        needed = must_link(field)

        def earlier(chance: Chance, _record: Record, place: int, _moment: Moment) -> Json:
            # If the link is required, the first record links to itself.
            if not needed and (not place or chance.unit() >= _REPLIES):
                return None
            return among.keys[chance.below(place)] if place else among.keys[0]

        return earlier
    way = indirect_link(domain, entity, field)
    if way is not None and targets[way[1]].keys:
        mine, target_entity, theirs = way
        through, needed = targets[target_entity], must_link(field)

        def follow(chance: Chance, record: Record, _place: int, moment: Moment) -> Json:
            target = through.records.get(record[mine]) if record.get(mine) is not None else None
            value = target.get(theirs) if target is not None else None
            if value is not None or (target is not None and not needed):
                return value
            return among.one(chance, moment.created)

        return follow
    return lambda chance, _record, _place, moment: among.one(chance, moment.created)


def indirect_link(domain: Domain, entity: Entity, field: Field) -> tuple[str, str, str] | None:
    """Find another link whose target has a link to the same entity: a deal's company is its contact's company.

    Return the name of that link, its entity, and the name of the link there. A link to the entity itself counts: a
    reply is in the channel of the message that it answers. Links to people do not: a reply has another author.
    """
    for other in entity.fields.values():
        if other.name == field.name or other.link in {None, field.link} or main_type(other.schema) == "array":
            continue
        if other.link == entity.name and field.link in word_set("nouns", "owners"):
            continue
        target = domain.entities.get(other.link or "")
        theirs = [other for other in (target.fields.values() if target is not None else ()) if other.link == field.link]
        single = next((link.name for link in theirs if main_type(link.schema) != "array"), None)
        if single is not None:
            return other.name, other.link or "", single
    return None


def _some(chance: Chance, among: Targets, moment: Moment, least: int) -> list[Key]:
    wanted = max(least, chance.below(_MOST_LINKED + 1))
    keys = [key for _ in range(wanted * 2) if (key := among.one(chance, moment.created)) is not None]
    return list(dict.fromkeys(keys))[:wanted]


# copied fields --------------------------------------------------------------------------------------------------------


@frozen
class InheritedField:
    """A field that repeats a field of a linked record: the currency of an order is that of its customer."""

    name: str
    link: str
    target: str
    theirs: str
    allows: Callable[[Json], bool]


def inherited_fields(domain: Domain, entity: Entity) -> tuple[InheritedField, ...]:
    """Return the fields of an entity that repeat fields of linked records."""
    stored = (field for field in entity.fields.values() if field.link is None and field.name != entity.key)
    return tuple(rule for field in stored if (rule := _inherited_field(domain, entity, field)) is not None)


def _inherited_field(domain: Domain, entity: Entity, field: Field) -> InheritedField | None:
    for link in entity.fields.values():
        target = domain.entities.get(link.link or "")
        if target is None or target is entity or main_type(link.schema) == "array":
            continue
        wanted = _repeated(snake(entity.name), snake(field.name), link)
        for theirs in target.fields.values():
            if snake(theirs.name) in wanted and main_type(theirs.schema) == main_type(field.schema):
                return InheritedField(field.name, link.name, target.name, theirs.name, validity_test(field.schema))
    return None


def _repeated(noun: str, name: str, link: Field) -> tuple[str, ...]:
    """Return the names of the fields of a linked record that a field of this name may repeat.

    `customer_` is the prefix of fields that repeat those of the record that `customer_id` links to.
    """
    last = noun.rsplit("_", 1)[-1]
    prefixes = (snake(link.name).removesuffix("_id").removesuffix("_key"), snake(link.link or ""))
    stems = [prefix for prefix in prefixes if prefix]
    if name in stems:
        return NAMES
    if name in _TOPICS and last in word_set("times", "recorded"):
        return (name,)
    rest = next((name.removeprefix(f"{stem}_") for stem in stems if name.startswith(f"{stem}_")), "")
    if rest:
        return NAMES if rest in NAMES else (rest,)
    if name in {"currency", "currency_code"}:
        return ("currency", "currency_code")
    if name in {"amount", "total"} and last in word_set("nouns", "paying"):
        return word_list("amounts", "payable")
    if name in {"unit_price", "price"}:
        return ("price", "unit_price")
    if name.endswith(("_rate", "_price", "_fee", "deposit", "deposit_amount")):
        return (name, name.removesuffix("_amount"))
    if name.startswith(("shipping_", "billing_", "delivery_")):
        return (name.partition("_")[2],)
    return ()


NAMES = ("name", "title", "full_name", "display_name", "topic", "subject")  # fields that name a record

_TOPICS = ("topic", "subject", "title")  # those that what is recorded of an event has in common with it


def inherited_value(record: Record, rule: InheritedField, tables: Mapping[str, Mapping[Any, Record]]) -> Json:
    """Return the value in the linked record, or None, or if it is invalid in this field."""
    key: Json = record.get(rule.link)
    source = tables[rule.target].get(key) if isinstance(key, str | int) else None
    value = source.get(rule.theirs) if source is not None else None
    return value if value is not None and rule.allows(value) else None


def repeated_value(noun: str, name: str, link: Field, source: Record) -> Json:
    """Return the name of a linked record that a field of this name repeats; None if it repeats none."""
    wanted = _repeated(snake(noun), snake(name), link)
    return next(
        (value for usual_name in NAMES if usual_name in wanted and isinstance(value := source.get(usual_name), str)),
        None,
    )
