"""Summaries, statistics, counts and sums: computed from the records that a tool is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from mcp_sim.plans.acknowledgements import is_repeated
from mcp_sim.plans.infer.fields import KnownFields
from mcp_sim.plans.infer.filters import find_filters
from mcp_sim.plans.infer.names import last_segment
from mcp_sim.plans.infer.verbs import RETURN_VERBS, classify_verb, is_verb
from mcp_sim.plans.records.doubts import in_doubt, is_any_doubtful
from mcp_sim.plans.records.figures import NUMBERS, Figure, find_figure, number_in, sum_of
from mcp_sim.plans.records.filters import filter_argument, test_maker
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties, required
from mcp_sim.types.json_values import is_number
from mcp_sim.types.lexicon.english import last_word, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.result_schemas import choices_of

Digest: TypeAlias = Callable[[Turn], Record]

_TEXTS = terms("figures.text")
DIGESTS: Final = terms("nouns.digests")
_GROUPS, _AMOUNTS = terms("fields.groups"), terms("fields.amounts")
_TOTALS, _COUNTS = terms("figures.total"), terms("figures.count")
_RANKS, _LIMITS = terms("figures.rank"), terms("arguments.limit")
_COUNTING, _SUMMING = (
    "|".join(phrase.replace("_", " ") for phrase in ordered(f"figures.{group}")) for group in ("counting", "summing")
)
_PROMISE = re.compile(rf"\b(?:(?:\w+ )?(?P<count>{_COUNTING})|{_SUMMING})\b.*", re.DOTALL)
_SENTENCE_ENDS = re.compile(r"[.;](?:\s|$)|\n(?=\s*\n|\s*[:@]?\w[\w ]*:)")
"""Ends of sentences. A line like `limit: number of orders` describes an argument."""
_WRITES = frozenset({"create", "update", "delete"})
_OWED, _STATES, _SETTLED = terms("figures.owed"), terms("fields.state"), terms("states.settled")
_NEGATIONS = terms("phrases.negations")
_MOST_GROUPS = 12
"""A field with more values than this identifies records, and does not group them."""


def digest_of(tool: Tool, domain: Domain) -> Digest | None:
    """Return a function that sums up records; None if the tool's name promises no digest or there are no records.

    They are those of the entities that its name mentions, else of all that the world knows, and have the values that
    arguments name.
    """
    chosen = _chosen_entities(tool, domain)
    if not chosen:
        return None

    selections = [(entity, find_selection(tool, entity)[0]) for entity in chosen]

    def digest(turn: Turn) -> Record:
        result: Record = {name: value for name, value in turn.call.arguments.items() if is_repeated(name, value)}
        for entity, select in selections:
            rows = select(turn)
            result[f"total_{snake(plural(entity.name))}"] = len(rows)
            result |= _figures(entity, rows, alone=len(chosen) == 1)
        return result

    return digest


def typed_digest(tool: Tool, schema: Record, domain: Domain) -> Digest | None:
    """Return a function that computes what it can of a declared result: numbers, rows by a field, and sums of rows.

    None if no property has a known meaning, or if the tool's name promises no digest and no rows have one.
    """
    parts, known = properties(schema), _known_entities(tool, domain)
    promised = _chosen_entities(tool, domain)
    chosen = _shown_entities(parts, promised or known)
    others = [entity for entity in known if entity not in chosen]
    asked = {*map(snake, properties(tool.input_schema))}
    numbers = [name for name, schema in parts.items() if main_type(schema) in NUMBERS and snake(name) not in asked]
    computed = {name: find_figure(name, chosen) or find_figure(name, others) for name in numbers}
    computed |= {
        name: _find_groups(name, part, [*chosen, *others]) for name, part in parts.items() if name not in computed
    }
    figures = {name: figure for name, figure in computed.items() if figure is not None}
    listed = {
        name: entity for name, schema in parts.items() if (entity := _rows_of(properties(items(schema)).keys(), chosen))
    }
    grouped = {
        name: _table(properties(items(schema)), [*chosen, *others], domain.entities)
        for name, schema in parts.items()
        if name not in listed
    }
    tables = {name: table for name, table in grouped.items() if table is not None}
    if not tables and not (promised and (figures or listed)):
        return None
    texts = [name for name, schema in parts.items() if _is_free(schema) and snake(name) in _TEXTS]
    whole = {name for name, schema in parts.items() if main_type(schema) == "integer"}
    selections = {entity.name: find_selection(tool, entity)[0] for entity in (*chosen, *others)}

    def digest(turn: Turn) -> Record:
        rows = {name: select(turn) for name, select in selections.items()}
        result: Record = {name: compute(rows[entity.name]) for name, (entity, compute) in figures.items()}
        for name, entity in listed.items():
            shown = properties(items(parts[name]))
            result[name] = [{field: row[field] for field in shown if field in row} for row in rows[entity.name]]
        for name, table in tables.items():
            result[name] = table.rows(turn, rows[table.entity.name], tool)
            result |= _sums_of(as_list(result[name]), parts, result)
        result = {name: _whole(value) if name in whole else value for name, value in result.items()}
        sentence = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in result.items() if is_number(value))
        return result | dict.fromkeys(texts, f"{sentence}.")

    return digest


def guesses_of_digest(tool: Tool, domain: Domain) -> Callable[[Turn], Sequence[str]]:
    """Return what finds the reasons to doubt a digest: it counts records that nothing specifies, or in doubt."""
    names = [entity.name for entity in _chosen_entities(tool, domain)]
    free = [name for name in names if name in domain.unspecified]

    def reasons(turn: Turn) -> Sequence[str]:
        unspecified = [f"nothing specifies the records of {name}" for name in free if turn.view.initial_records(name)]
        return [*unspecified, *(in_doubt(name) for name in names if is_any_doubtful(turn, name))]

    return reasons


def _chosen_entities(tool: Tool, domain: Domain) -> list[Entity]:
    """Return the entities that a digest is about: those of its name, else of its description, else all known ones."""
    known = _known_entities(tool, domain) if not DIGESTS.isdisjoint(words(tool.name)) else []
    texts = ({*words(text.lower())} for text in (tool.name, tool.description))
    named = ({*map(singular, text)} | text for text in texts)
    several = ([entity for entity in known if last_word(entity.name) in text] for text in named)
    return next((entities for entities in several if entities), known)


def _shown_entities(parts: Mapping[str, Record], entities: Sequence[Entity]) -> list[Entity]:
    """Return the entities, those first whose records the lists of a result show, then those whose fields they have."""
    columns = [{*properties(items(schema))} for schema in parts.values()]

    def distance(entity: Entity) -> int:
        if any(_rows_of(names, [entity]) for names in columns):
            return 0
        return 1 if any(entity.fields.keys() & names - {entity.key} for names in columns) else 2

    return sorted(entities, key=distance)


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows with a value of a field, and figures of the records that have it."""

    entity: Entity
    group: str
    columns: Mapping[str, Figure]
    shown: Sequence[str]
    """Columns that the record has to which the field refers."""

    def rows(self, turn: Turn, records: Sequence[Record], tool: Tool) -> list[Json]:
        """Return a row for each value, ranked and cut if the tool asks for the top."""
        held = sorted({value for row in records if isinstance(value := row.get(self.group), str)})
        link = self.entity.fields[self.group].link
        table = list[Record]()
        for value in held:
            other = turn.view.get(link, value) if link is not None else None
            mine = [row for row in records if row.get(self.group) == value]
            figures = {name: compute(mine) for name, compute in self.columns.items()}
            table.append({self.group: value, **{name: (other or {}).get(name) for name in self.shown}, **figures})
        if not _RANKS.isdisjoint(words(f"{tool.name} {tool.description}".lower())):
            table.sort(key=lambda row: number_in(row, next(iter(self.columns))), reverse=True)
        limit = next((value for name, value in turn.call.arguments.items() if snake(name) in _LIMITS), None)
        return [*table[: limit if isinstance(limit, int) else None]]


def _table(parts: Mapping[str, Record], entities: Sequence[Entity], others: Mapping[str, Entity]) -> _Table | None:
    """Return how rows are grouped by a field of an entity, if all other columns can be computed or looked up."""
    for entity in entities:
        group = next((name for name in parts if name in entity.fields and name != entity.key), None)
        if group is None or main_type(parts[group]) != "string":
            continue
        computed = {name: find_figure(name, [entity]) for name, schema in parts.items() if main_type(schema) in NUMBERS}
        columns = {name: figure[1] for name, figure in computed.items() if figure is not None}
        link = others.get(entity.fields[group].link or "")
        shown = [name for name in parts if name != group and name not in computed]
        if columns and len(columns) == len(computed) and all(link and name in link.fields for name in shown):
            return _Table(entity, group, columns, shown)
    return None


def _rows_of(names: AbstractSet[str], entities: Sequence[Entity]) -> Entity | None:
    """Return the entity whose records a list shows with their keys."""
    return next((entity for entity in entities if entity.key in names and entity.fields.keys() >= names), None)


def _sums_of(rows: Sequence[Json], parts: Mapping[str, Record], known: Record) -> Record:
    """Return the totals beside rows: `total_cost` of their `monthly_cost`."""
    columns = {last_word(name): name for row in rows[:1] for name in as_object(row)}
    sums = [name for name in parts if name not in known and not _TOTALS.isdisjoint(words(snake(name)))]
    totals = {name: columns[last_word(name)] for name in sums if last_word(name) in columns}
    return {name: sum_of([as_object(row) for row in rows], column) for name, column in totals.items()}


def _is_free(schema: Record) -> bool:
    return main_type(schema) == "string" and not choices_of(schema) and "format" not in schema


def _whole(value: Json) -> Json:
    return round(value) if isinstance(value, float) else value


def _known_entities(tool: Tool, domain: Domain) -> list[Entity]:
    """Return the entities of a server whose records tools create or the state gives."""
    mine = [plan for id_, plan in domain.plans.items() if domain.tools[id_].server == tool.server]
    created = {plan.entity for plan in mine if plan.verb == "create"}
    listed = dict.fromkeys(plan.entity for plan in mine if plan.entity in created | domain.given)
    entities = [domain.entities[name] for name in listed if name is not None]
    return [entity for entity in entities if not entity.singleton and entity.inside is None]


def find_selection(tool: Tool, entity: Entity) -> tuple[Callable[[Turn], list[Record]], Collection[str]]:
    """Compile the selection of the records that arguments ask for, as they would filter a list; and which those are."""
    asked = {name: schema for name, schema in properties(tool.input_schema).items() if snake(name) not in _LIMITS}
    rules = find_filters(asked, KnownFields(entity.name, entity.key, entity.fields, frozenset()), partial=())
    tests = [(filter_argument(tool, name, entity, found.rule), test_maker(found.rule)) for name, found in rules.items()]

    def select(turn: Turn) -> list[Record]:
        given = [(fetch(turn.call.arguments), make) for fetch, make in tests]
        passed = [make(value) for value, make in given if value is not ABSENT and value is not None]
        return [row for _, row in turn.view.rows(entity.name) if all(test(row) for test in passed)]

    return select, rules


def _figures(entity: Entity, rows: Sequence[Record], *, alone: bool) -> Record:
    """Return the numbers by status or category, the sums of amounts, and how many records a flag holds for."""
    figures: Record = {}
    for name, field in entity.fields.items():
        kind = main_type(field.schema)
        if kind == "boolean":
            figures[f"{snake(name)}_{snake(plural(entity.name))}"] = sum(row.get(name) is True for row in rows)
        elif alone and kind in {*NUMBERS, ""} and last_word(name) in _AMOUNTS:
            figures[f"total_{snake(name)}"] = sum_of(rows, name)
        elif alone and last_word(name) in _GROUPS:
            figures |= _grouped(field, rows)
    return figures


def _grouped(field: Field, rows: Sequence[Record]) -> Record:
    counts = _counts(field.name, rows)
    return {f"by_{snake(field.name)}": counts} if len(counts) <= _MOST_GROUPS else {}


def _counts(field: str, rows: Sequence[Record]) -> Record:
    return dict(sorted(Counter(value for row in rows if isinstance(value := row.get(field), str)).items()))


def _find_groups(name: str, schema: Record, entities: Sequence[Entity]) -> tuple[Entity, Figure] | None:
    """Return the entity whose records a map of numbers counts by a field, and how: `by_status`, `orders_by_status`.

    What sums an amount, such as `revenue_by_month`, counts nothing.
    """
    counted, by, group = snake(name).rpartition("by_")
    noun = singular(counted.strip("_"))
    if not by or main_type(as_object(schema.get("additionalProperties"))) not in NUMBERS:
        return None
    for entity in entities:
        field = next((field for field in entity.fields if snake(field) == group), None)
        if field is not None and noun in {"", *_TOTALS, *_COUNTS, entity.name, last_word(entity.name)}:
            return entity, partial(_counts, field)
    return None


# what descriptions promise --------------------------------------------------------------------------------------------


def described_sum(tool: Tool, schema: Record, domain: Domain) -> Digest | None:
    """Return a function that computes the number that a description or a name promises of given records.

    None if it promises none, if no argument selects these records, or if the result has no place for it.
    """
    arguments, parts, name = properties(tool.input_schema), properties(schema), " ".join(words(last_segment(tool.name)))
    promise = _promise(tool.description) or _promise(name)
    places = [name for name, part in parts.items() if main_type(part) in NUMBERS and name not in arguments]
    if promise is None or (schema and (not places or any(properties(items(part)) for part in parts.values()))):
        return None
    text = name if promise.string == name else promise[0]  # what a name sums up may come first: `donation_total`
    said = [singular(word) for word in words(text)]
    known = [domain.entities[name] for name in sorted(domain.given & domain.entities.keys())]
    for entity in sorted(known, key=lambda entity: _first_mention(entity, said)):
        usual = _promised_figure(entity, said, is_count=promise["count"] is not None)
        select, selecting = find_selection(tool, entity)
        if usual is not None and required(expanded(tool.input_schema)) <= {*selecting}:
            figures = _figures_shown(places, entity, usual) if schema else {_result_name(tool): usual}
            echoed = [name for name in selecting if not schema or name in parts]
            whole = {name for name in figures if main_type(parts.get(name, {})) == "integer"}
            common = [name for name in parts if name in entity.fields and name not in {*figures, *arguments}]
            return partial(_described, entity, said, select, figures, echoed, common, whole) if figures else None
    return None


def _described(
    entity: Entity,
    said: Sequence[str],
    select: Callable[[Turn], list[Record]],
    figures: Mapping[str, Figure],
    echoed: Sequence[str],
    common: Sequence[str],
    whole: Collection[str],
    turn: Turn,
) -> Record:
    """Return figures of the selected records beside the arguments that select them, and what these have in common."""
    arguments, rows = turn.call.arguments, _in_states(entity, said, select(turn), turn)
    numbers = {name: compute(rows) for name, compute in figures.items()}
    numbers = {name: _whole(number) if name in whole else number for name, number in numbers.items()}
    held = {name: [row.get(name) for row in rows] for name in common}
    shared = {name: values[0] for name, values in held.items() if values and values.count(values[0]) == len(values)}
    return {**{name: arguments[name] for name in echoed if name in arguments}, **shared, **numbers}


def _promise(description: str) -> re.Match[str] | None:
    """Return the promise of a number from its first word on: of the first sentence, or of one on what is returned.

    None if the first word is a verb of writing.
    """
    if classify_verb(next(iter(words(description)), "")) in _WRITES:
        return None
    first, *others = _SENTENCE_ENDS.split(description.lower().strip())
    returning = [text for text in others if singular(next(iter(words(text)), "")) in RETURN_VERBS]
    return next(filter(None, map(_PROMISE.search, (first, *returning))), None)


def _result_name(tool: Tool) -> str:
    parts = words(last_segment(tool.name))
    return "_".join(parts[1:] if len(parts) > 1 and is_verb(parts[0]) else parts) or "result"


def _first_mention(entity: Entity, said: Sequence[str]) -> int:
    """Return where a text first mentions an entity or one of its numbers."""
    nouns = {last_word(entity.name), *map(_noun_of, _numbers(entity))}
    return next((at for at, word in enumerate(said) if word in nouns), len(said))


def _noun_of(name: str) -> str:
    return singular(last_word(snake(name)))


def _numbers(entity: Entity) -> list[str]:
    """Return the fields that can be summed up."""
    fields = [field for field in entity.fields.values() if field.name != entity.key and field.link is None]
    return [field.name for field in fields if main_type(field.schema) in NUMBERS and last_word(field.name) != "id"]


def _promised_figure(entity: Entity, said: Sequence[str], *, is_count: bool) -> Figure | None:
    """Return what a text promises of the records of an entity: how many there are, or the sum of a number.

    Of several numbers with the same last word, it is the one that the text has most words of.
    """
    numbers, is_named = _numbers(entity), last_word(entity.name) in said
    named = [name for name in numbers if _noun_of(name) in said]
    named.sort(key=lambda name: (said.index(_noun_of(name)), -len({*words(name)} & {*said})))
    place = said.index(_noun_of(named[0])) if named else len(said)
    if is_count and is_named and said.index(last_word(entity.name)) < place:
        return len
    summed = named or (numbers if is_named and not is_count and len(numbers) == 1 else [])
    return partial(sum_of, name=summed[0]) if summed else None


def _figures_shown(places: Sequence[str], entity: Entity, usual: Figure) -> dict[str, Figure]:
    """Return how the numbers of a result are computed: the only one as usual, whatever its name."""
    figures: dict[str, Figure] = {}
    for name in places:
        parts = {*words(snake(name))}
        is_usual = parts & (_TOTALS - _COUNTS | _OWED) and not parts & _COUNTS
        known = None if is_usual else find_figure(name, [entity])
        figures |= {name: usual} if is_usual else {} if known is None else {name: known[1]}
    return figures or (dict.fromkeys(places, usual) if len(places) == 1 else {})


def _in_states(entity: Entity, said: Sequence[str], rows: Sequence[Record], turn: Turn) -> Sequence[Record]:
    """Return the rows in the states that a text mentions: `unpaid`, `not paid`, `finished`."""
    for name, field in entity.fields.items():
        meant = _means(snake(name).removeprefix("is_"), said) if main_type(field.schema) == "boolean" else None
        if meant is not None:
            rows = [row for row in rows if (row.get(name) is True) is meant]
        if snake(name) in _STATES:
            states = {str(row.get(name)) for _, row in turn.view.rows(entity.name)}
            meanings = {state: _means(state, said) for state in states}
            wanted = {state for state, is_wanted in meanings.items() if is_wanted}
            kept = wanted or {state for state, is_wanted in meanings.items() if is_wanted is None}
            rows = [row for row in rows if str(row.get(name)) in kept]
    return rows


def _means(state: str, said: Sequence[str]) -> bool | None:
    """Return whether a text means records in a state. None if it mentions the state not at all, or both sides."""
    parts = [singular(word) for word in words(state)]
    place = next((at for at in range(len(said)) if parts and said[at : at + len(parts)] == parts), None)
    is_denied = f"un{''.join(parts)}" in said or ("_".join(parts) in _SETTLED and not _OWED.isdisjoint(said))
    if place is None:
        return False if is_denied else None
    is_meant, end = _NEGATIONS.isdisjoint(said[max(0, place - 2) : place]), said[place + len(parts) :][:2]
    if end[:1] == ["or"] and not _NEGATIONS.isdisjoint(end):  # `paid or not`
        return None
    return None if is_meant and is_denied else is_meant
