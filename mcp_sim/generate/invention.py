"""Invent the values that a call needs and nothing determines, with known records in them: the `team` of a project.

An object shows a record if it is named after the entity, or after the role of a person, and has its key. Its
values are those of the record, so that the key that an agent sees is found by the next call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.links import NAMES, repeated_value
from mcp_sim.generate.schema_constraints import alternatives, validity_test
from mcp_sim.generate.setting import Setting, setting_of
from mcp_sim.generate.shipped_data import word_list, word_set
from mcp_sim.generate.time_fields import Moment
from mcp_sim.generate.values import value_maker
from mcp_sim.types import Json, Key, Record, Turn, frozen
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, properties, property_of, required
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import last_word, noun_of_id, singular, snake

Pick: TypeAlias = Callable[[str, str], Record | None]
"""Chooses a record of an entity, for the place of an object; None if there is no record."""

Embed: TypeAlias = Callable[[str, Record, Json, Pick], Json]
"""Returns the value of a field, by its name and schema, with known records in it."""

_ALTERNATIVES = frozenset({"anyOf", "oneOf", "allOf"})

WRAPPER = "data"  # what JSON:API puts related records under: `author: {data: {id: ...}}`

_LONGEST_NAME, _MOST_WORDS = 100, 8
"""The longest names that are looked up. An agent may choose names, and the work grows with the square of the words."""

_KEPT_NAMES = 4_096  # how many names are kept, as many as words of the lexicon: agents may send new ones without end


class Names:
    """Recognises the entities that names of properties stand for."""

    def __init__(self, domain: Domain) -> None:
        entities = domain.entities.items()
        self._entities = {name: kind for name, kind in entities if kind.inside is None and not kind.singleton}
        last_words = Counter(map(last_word, self._entities))
        self._short = {
            word: entity for name, entity in self._entities.items() if last_words[word := last_word(name)] == 1
        }
        self._people = next((name for name in word_list("nouns", "owners") if name in self._entities), None)
        cached = lru_cache(_KEPT_NAMES)
        self.entity_of, self.named_by = cached(self._entity_of), cached(self._named_by)

    def _entity_of(self, name: str) -> Entity | None:
        """Return the entity of the objects that a property holds: `team_member` for `member` if there is no other."""
        parts = snake(name).split("_") if len(name) <= _LONGEST_NAME else []
        if not 0 < len(parts) <= _MOST_WORDS:
            return None
        nouns = ("_".join((*parts[at:-1], singular(parts[-1]))) for at in range(len(parts)))
        is_person = parts[-1] == "by" or singular(parts[-1]) in word_set("nouns", "people")
        noun = next((noun for noun in nouns if noun in self._entities), None)
        short = self._short.get(singular(name)) if noun is None else None
        return short or self._entities.get(noun or (self._people if is_person else None) or "")

    def _named_by(self, name: str) -> Entity | None:
        """Return the entity whose keys a property holds."""
        stem, _, ending = snake(name).rpartition("_") if len(name) <= _LONGEST_NAME else ("", "", "")
        entity = self.entity_of(stem) if stem else None
        is_key = entity is not None and (noun_of_id(snake(name)) or ending == snake(entity.key) != "name")
        return entity if is_key else None


def embedder(domain: Domain) -> Embed:
    """Return what puts the records of a domain into generated values."""
    names = Names(domain)
    entity_of, named_by = names.entity_of, names.named_by

    def embed(name: str, schema: Record, value: Json, pick: Pick, place: str = "") -> Json:
        if isinstance(value, list):
            shown = [embed(name, items(schema), item, pick, f"{place}.{at}") for at, item in enumerate(as_list(value))]
            distinct: list[Json] = [item for at, item in enumerate(shown) if item not in shown[:at]]
            return distinct if len(distinct) >= schema.get("minItems", 0) else shown
        if not isinstance(value, dict):
            entity = named_by(name)
            return value if entity is None else _with_keys({name: value}, {name: entity}, pick, place)[name]
        body, entity, schema = as_object(value), entity_of(name), _chosen(schema, value)
        shows_key = entity is not None and entity.key in {*properties(schema), *body}
        record = pick(entity.name, place) if entity is not None and shows_key else None
        if record is not None:
            # What an object shows of a record. Parts that the record lacks stay where they are required. So do those
            # that the object's schema restricts, such as the type `user_reference` of a user. Objects within a record
            # are left out: they may be records again, without end.
            declared, needed = properties(schema) or body, required(schema)
            shown = {name: record[name] for name in declared if not isinstance(record.get(name), dict | list | None)}
            shown = {name: held for name, held in shown.items() if validity_test(property_of(schema, name))(held)}
            return {
                name: shown.get(name, body.get(name))
                for name in declared
                if name in shown or name in needed & body.keys()
            }
        inner: Record = {
            key: embed(name if key == WRAPPER else key, property_of(schema, key), held, pick, f"{place}.{key}")
            for key, held in body.items()
            if isinstance(held, dict | list)
        }
        return _with_keys(
            {**body, **inner}, {key: entity for key in body if (entity := named_by(key)) is not None}, pick, place
        )

    return embed


def _chosen(schema: Record, value: Json) -> Record:
    """Return the alternative of a schema that a value was generated for: a whole user, or a reference to one."""
    ways = alternatives(schema) if not _ALTERNATIVES.isdisjoint(schema) else []
    return next((way for way in ways if validity_test(way)(value)), schema)


def _with_keys(body: Record, named: Mapping[str, Entity], pick: Pick, place: str) -> Record:
    """Return an object that names records by their keys: a line of an order with its `product_id` and `name`."""
    changed: Record = {}
    for key, entity in named.items():
        record = pick(entity.name, f"{place}.{key}") or {}
        if type(record.get(entity.key)) is type(body[key]):
            names = {name: record.get(name) for name in NAMES if name in body}
            names |= {name: repeated_value("", name, Field(key, {}, link=entity.name), record) for name in body}
            texts = {name: text for name, text in names.items() if isinstance(text, str) and name not in named}
            changed |= {key: record[entity.key], **texts}
    return {**body, **changed}


def with_known_records(embed: Embed, turn: Turn, name: str, schema: Record, value: Json) -> Json:
    """Return a value that is generated in a call, with records that the world has now."""

    def pick(entity: str, place: str) -> Record | None:
        key = turn.view.sample_key(entity, turn.draws.unit(f"embedded/{name}{place}"))
        return turn.view.get(entity, key) if key is not None else None

    shown: Json = embed(name, schema, value, pick)
    return shown if shown != value and validity_test(schema)(shown) else value


# inventing ------------------------------------------------------------------------------------------------------------


def inventor(domain: Domain) -> Invent:
    """Return the built-in `Invent`. The same call in the same world gets the same values.

    Values fit the setting of the domain: its country and theme.
    """
    return _Inventor(setting_of(domain), embedder(domain))


@frozen
class _Inventor:
    setting: Setting
    embed: Embed

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        make = value_maker(entity, field, schema, self.setting)
        chance = Chance(turn.draws.key + f"{entity}.{field}".encode("utf-8", "surrogatepass"))
        value = make(chance, record, Moment(turn.now, turn.now))
        return with_known_records(self.embed, turn, field, schema, value) if isinstance(value, dict | list) else value

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        return next(iter(keys))

    def imagine(self, turn: Turn, schema: Record, about: str) -> Json:
        return self(turn, "", about, schema, {})
