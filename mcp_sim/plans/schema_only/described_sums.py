"""Sums and numbers of given records that a description promises: the total of all unpaid invoices of a customer."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import chain

from mcp_sim.plans.infer.names import last_segment
from mcp_sim.plans.infer.verbs import RETURN_VERBS, classify_verb, is_verb
from mcp_sim.plans.records.figures import NUMBERS, Figure, sum_of
from mcp_sim.plans.schema_only.digests import Digest, find_selection
from mcp_sim.types import Record, Tool, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.english import last_word, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms

_SENTENCE_ENDS = re.compile(r"[.;](?:\s|$)|\n(?=\s*\n|\s*[:@]?\w[\w ]*:)")
"""Ends of sentences. A line like `limit: number of orders` describes an argument."""
_COUNTING, _SUMMING = (
    "|".join(phrase.replace("_", " ") for phrase in ordered(f"figures.{group}")) for group in ("counting", "summing")
)
_PROMISE = re.compile(rf"\b(?:(?:\w+ )?(?P<count>{_COUNTING})|{_SUMMING})\b.*", re.DOTALL)
_COUNTS, _TOTALS, _OWED = terms("figures.count"), terms("figures.total"), terms("figures.owed")
_WRITES = frozenset({"create", "update", "delete"})
_STATES, _SETTLED, _NEGATIONS = terms("fields.state"), terms("states.settled"), terms("phrases.negations")


def described_sum(tool: Tool, schema: Record, domain: Domain) -> Digest | None:
    """Return a function that computes what a tool promises by its description or its name, from selected records.

    They are those of the given entity that it mentions, or that has the number it mentions. None if it promises no
    sum, if an argument selects none of these, or if the result has no place for it.
    """
    arguments, parts, name = properties(tool.input_schema), properties(schema), " ".join(words(last_segment(tool.name)))
    promise = _promise(tool.description) or _promise(name)
    shown = {name: part for name, part in parts.items() if main_type(part) in NUMBERS and name not in arguments}
    has_place = not schema or (shown and not any(properties(items(part)) for part in parts.values()))
    if promise is None or not has_place:
        return None
    text = name if promise.string == name else promise[0]  # what a name sums up may come first: `donation_total`
    said = [singular(word) for word in words(text)]
    for entity in sorted(_given_entities(domain), key=lambda entity: _place(entity, said)):
        is_empty = entity.name not in domain.specified and last_word(entity.name) in said  # no row shows its fields
        usual = _promised_figure(entity, said, is_count=promise["count"] is not None) or (len if is_empty else None)
        figures = {} if usual is None else _figures(shown, entity, usual) if schema else {_asked(tool): usual}
        select, selecting = find_selection(tool, entity)
        selecting = arguments if is_empty else selecting
        if figures and required(expanded(tool.input_schema)) <= {*selecting}:
            echoed = [name for name in selecting if not schema or name in parts]
            common = [name for name in parts if name in entity.fields and name not in {*figures, *arguments}]
            whole = {name for name in figures if main_type(parts.get(name, {})) == "integer"}
            return _Sum(entity, said, select, figures, whole, echoed, common).compute
    return None


@dataclass(frozen=True, slots=True)
class _Sum:
    """Figures of the records that are selected, beside what identifies these."""

    entity: Entity
    said: Sequence[str]
    select: Callable[[Turn], list[Record]]
    figures: Mapping[str, Figure]
    whole: AbstractSet[str]
    """The figures that are shown as integers."""
    echoed: Sequence[str]
    common: Sequence[str]
    """Fields that are shown if all records have the same value: the currency."""

    def compute(self, turn: Turn) -> Record:
        asked, rows = turn.call.arguments, _in_states(self.entity, self.said, self.select(turn), turn)
        numbers = {name: compute(rows) for name, compute in self.figures.items()}
        numbers |= {name: round(numbers[name]) for name in self.whole}
        held = {name: [row.get(name) for row in rows] for name in self.common}
        shared = {name: values[0] for name, values in held.items() if values and values.count(values[0]) == len(values)}
        return {**{name: asked[name] for name in self.echoed if name in asked}, **shared, **numbers}


def _promise(description: str) -> re.Match[str] | None:
    """Return the promise of a sum from its first word on, if the first sentence makes it, or one of what is returned.

    None if the first word is a verb of writing.
    """
    if classify_verb(next(iter(words(description)), "")) in _WRITES:
        return None
    first, *others = _SENTENCE_ENDS.split(description.lower().strip())
    returning = [text for text in others if singular(next(iter(words(text)), "")) in RETURN_VERBS]
    return next(filter(None, map(_PROMISE.search, (first, *returning))), None)


def _asked(tool: Tool) -> str:
    parts = words(last_segment(tool.name))
    return "_".join(parts[1:] if len(parts) > 1 and is_verb(parts[0]) else parts) or "result"


def _given_entities(domain: Domain) -> list[Entity]:
    known = [domain.entities[name] for name in sorted(domain.given & domain.entities.keys())]
    return [entity for entity in known if not entity.singleton and entity.inside is None]


def _place(entity: Entity, said: Sequence[str]) -> tuple[int, bool]:
    """Return where a text first mentions an entity or one of its numbers, and whether it leaves out the entity."""
    noun = last_word(entity.name)
    return min(_index(name, said) for name in (noun, *map(_noun_of, _numbers(entity)))), noun not in said


def _index(word: str, said: Sequence[str]) -> int:
    return said.index(word) if word in said else len(said)


def _noun_of(name: str) -> str:
    return singular(last_word(snake(name)))


def _numbers(entity: Entity) -> list[str]:
    """Return the fields that can be summed up."""
    fields = [field for field in entity.fields.values() if field.name != entity.key and field.link is None]
    return [field.name for field in fields if main_type(field.schema) in NUMBERS and last_word(field.name) != "id"]


def _promised_figure(entity: Entity, said: Sequence[str], *, is_count: bool) -> Figure | None:
    """Return what a text promises of the records of an entity: how many there are, or the sum of a number."""
    noun, number, numbers = last_word(entity.name), _named_number(entity, said), _numbers(entity)
    if is_count and _index(noun, said) < _index(_noun_of(number or ""), said):
        return len
    if number is None and (is_count or noun not in said):
        return None
    summed = number or (numbers[0] if len(numbers) == 1 else None)
    return None if summed is None else lambda rows: sum_of(rows, summed)


def _named_number(entity: Entity, said: Sequence[str]) -> str | None:
    """Return the number that comes first in a text, of several with the same last word the one it has most words of."""
    names = [name for name in _numbers(entity) if _noun_of(name) in said]
    return min(names, key=lambda name: (said.index(_noun_of(name)), -len({*words(name)} & {*said})), default=None)


def _figures(shown: Mapping[str, Record], entity: Entity, usual: Figure) -> dict[str, Figure]:
    """Return how the numbers of a result are computed: the only one as usual, whatever its name."""
    named = {name: _figure_of(name, entity, usual) for name in shown}
    figures = {name: figure for name, figure in named.items() if figure is not None}
    return figures or (dict.fromkeys(shown, usual) if len(shown) == 1 else {})


def _figure_of(name: str, entity: Entity, usual: Figure) -> Figure | None:
    """Return how a number of the result is computed: as the count of records, as the sum of its field, or as usual."""
    parts = words(snake(name))
    if parts[-1:] == (plural(last_word(entity.name)),) or not _COUNTS.isdisjoint(parts):
        return len
    number = _named_number(entity, [singular(word) for word in parts])
    if number is not None:
        return lambda rows: sum_of(rows, number)
    return None if (_TOTALS | _OWED).isdisjoint(parts) else usual


def _in_states(entity: Entity, said: Sequence[str], rows: Sequence[Record], turn: Turn) -> list[Record]:
    """Return the rows in the states that a text mentions: `unpaid`, `not paid`, `finished`."""
    flags = [name for name, field in entity.fields.items() if main_type(field.schema) == "boolean"]
    wanted = {name: _means(snake(name).removeprefix("is_"), said) for name in flags}
    chosen = [
        row for row in rows if all(meant is None or (row.get(name) is True) is meant for name, meant in wanted.items())
    ]
    for name in (name for name in entity.fields if snake(name) in _STATES):
        meanings = {state: _means(state, said) for state in _states(entity, name, turn)}
        mentioned = {state for state, meant in meanings.items() if meant}
        kept = mentioned or {state for state, meant in meanings.items() if meant is None}
        chosen = [row for row in chosen if str(row.get(name)) in kept]
    return chosen


def _states(entity: Entity, name: str, turn: Turn) -> Mapping[str, None]:
    """Return the states of all records: those that arguments select may be in none that a description mentions."""
    initial, now = turn.view.initial_records(entity.name).values(), (row for _, row in turn.view.rows(entity.name))
    return dict.fromkeys(str(row.get(name)) for row in chain(initial, now))


def _means(state: str, said: Sequence[str]) -> bool | None:
    """Return whether a text means records in a state. None if it mentions the state not at all, or both sides."""
    parts = [singular(word) for word in words(state)]
    places = [at for at in range(len(said)) if said[at : at + len(parts)] == parts] if parts else []
    denials = [not _NEGATIONS.isdisjoint(said[max(0, at - 2) : at]) for at in places]
    ends = [said[at + len(parts) : at + len(parts) + 2] for at in places]
    either = any(end[:1] == ["or"] and not _NEGATIONS.isdisjoint(end[1:]) for end in ends)  # `paid or not`
    is_owed = "_".join(parts) in _SETTLED and not _OWED.isdisjoint(said)
    is_denied = any(denials) or f"un{''.join(parts)}" in said or is_owed or either
    is_meant = not all(denials) or either
    return None if is_meant == is_denied else is_meant
