"""How are the records of a world made: table by table, by a model in batches, and by chance where it says nothing?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp_sim.errors import Rejected, TooLong
from mcp_sim.fictional import prompt
from mcp_sim.fictional.flaws import Taken, doubles, row_problems
from mcp_sim.fictional.openings import Opening, candidates, item_schema, opening
from mcp_sim.fictional.unfinished import Batch, Unfinished
from mcp_sim.language_model.answer import Reply, observed, parsed
from mcp_sim.language_model.endpoint import Ask, Request
from mcp_sim.language_model.tighten import tighten
from mcp_sim.records.generation import Draft
from mcp_sim.records.times import sense, written
from mcp_sim.records.values import chance_of
from mcp_sim.schemas import as_list, as_object
from mcp_sim.types import Key, Record
from mcp_sim.validation import Validator

BATCH = 8
"""So many records are asked for at once."""
MOST_ATTEMPTS = 3
"""So often a batch is asked for; what is wrong then is made up without a model."""

Told: TypeAlias = Callable[[int, str], None]
"""Hears how many records there are so far, and of which entity the last ones are."""


@dataclass(slots=True)
class Tally:
    """What came of a run: records by who made them, requests, rows that could not be used, and why not."""

    invented: int = 0
    filled: int = 0
    asked: int = 0
    refused: int = 0
    problems: Counter[str] = field(default_factory=Counter[str])

    def add(self, batch: Batch) -> None:
        said = sum(row is not None for row in batch.rows)
        self.invented += said
        self.filled += len(batch.rows) - said
        self.asked += batch.asked
        self.refused += batch.refused
        self.problems.update([batch.problem] if batch.problem else [])


def drafted(draft: Draft, told: Told) -> None:
    """Make every table without a model."""
    done = 0
    for name in draft.order:
        done += _write(draft, name, draft.given(name), len(draft.given(name)))
        told(done, name)


def _write(draft: Draft, name: str, rows: Mapping[Key, Record], given: int) -> int:
    """Write a table, and take out what is there already in other words; how many records it was to have."""
    wanted = len(draft.keys[name])
    draft.write(name, rows)
    for key in doubles(draft.domain.entities[name], draft.tables[name], given):
        draft.drop(name, key)
    return wanted


@dataclass(slots=True)
class Inventor:
    """Has a model invent what is open in the tables of a draft."""

    draft: Draft
    ask: Ask
    unfinished: Unfinished
    told: Told
    tally: Tally = field(default_factory=Tally)
    _done: int = 0

    async def invent(self) -> Tally:
        """Make every table. Raises Unanswered where the model does not answer; what is done is kept."""
        said, domain = prompt.system(self.draft.domain), self.draft.domain
        for name in self.draft.order:
            rows = self.draft.given(name)
            given = len(rows)
            asked = opening(domain, domain.entities[name], self.draft.keys)
            if asked.fields:
                await self._table(asked, rows, said)
            self._done += _write(self.draft, name, rows, given)
            self.told(self._done, name)
        return self.tally

    async def _table(self, asked: Opening, rows: dict[Key, Record], said: str) -> None:
        """Put what the model says of a table behind the rows that are given."""
        name, keys = asked.entity.name, self.draft.keys[asked.entity.name]
        taken = Taken(asked.entity)
        for row in rows.values():
            taken.add(row)
        for first in range(len(rows), len(keys), BATCH):
            self.told(self._done + first, name)
            batch = await self._batch(asked, first, taken, said)
            for key, row in zip(keys[first:], batch.rows, strict=False):
                if row is not None:
                    rows[key] = row
                    taken.add(row)
            self.tally.add(batch)

    async def _batch(self, asked: Opening, first: int, taken: Taken, said: str) -> Batch:
        """A batch that was done before, or a new one."""
        name = asked.entity.name
        kept = self.unfinished.kept.get((name, first))
        if kept is not None:
            return kept
        keys = self.draft.keys[name][first : first + BATCH]
        batch = await _Asking(self, asked, first, keys, taken).answered(said)
        self.unfinished.keep(batch)
        return batch


class _Asking:
    """One batch: what is asked of the model, and asked again."""

    def __init__(self, inventor: Inventor, asked: Opening, first: int, keys: Sequence[Key], taken: Taken) -> None:
        self.draft, self.ask = inventor.draft, inventor.ask
        self.asked, self.first, self.keys, self.taken = asked, first, keys, taken
        born = self.draft.births[asked.entity.name][first]
        self.among = {
            name: candidates(self.draft, link, born, asked.entity.name, first) for name, link in asked.links.items()
        }
        self.item = item_schema(asked, self.among)
        self.judge = Validator(self.item)

    async def answered(self, said: str) -> Batch:
        """What came of it."""
        rows: dict[int, Record] = {}
        asked, refused, first = 0, 0, ""
        conversation = prompt.conversation(said, self._question())
        while len(rows) < len(self.keys) and asked < MOST_ATTEMPTS:
            wanted = [place for place in range(len(self.keys)) if place not in rows]
            try:
                reply = await self.ask(Request(conversation, self._schema(len(wanted)), self._seed(asked)))
            except TooLong:
                if asked:
                    break  # the question fits, and the answers turned down do not
                raise
            asked += 1
            problems = self._take(reply, wanted, rows)
            left = [self._settled(place) for place in wanted if place not in rows]
            refused += len(left)
            first = first or next(iter(problems), "")
            conversation = [*conversation, *prompt.again(reply.content, left, problems)]
        made = tuple(rows.get(place) for place in range(len(self.keys)))
        return Batch(self.asked.entity.name, self.first, made, asked, refused, first)

    def _take(self, reply: Reply, wanted: Sequence[int], rows: dict[int, Record]) -> list[str]:
        """Keep the rows of an answer that can be used; what is wrong with the others."""
        try:
            said = as_list(as_object(parsed(observed(reply), reply.content)).get("records"))
        except Rejected as error:
            return list(error.problems)
        taken, found = Taken(self.asked.entity), list[str]()
        for row in rows.values():
            taken.add(row)
        for place, row in zip(wanted, said, strict=False):
            wrong = row_problems(row, self.judge, self.asked.fields, self.taken) or taken.problems(as_object(row))
            if wrong:
                found += [f"{self._named(place)}: {problem}" for problem in wrong]
                continue
            rows[place] = as_object(row)
            taken.add(rows[place])
        missing = [self._named(place) for place in wanted[len(said) :]]
        return [*found, *(f"{name}: is missing" for name in missing)]

    def _question(self) -> str:
        name = self.asked.entity.name
        links = {
            field: [self._label(link, key) for key in self.among[field]] for field, link in self.asked.links.items()
        }
        table = prompt.Table(name, len(self.draft.keys[name]), self.asked.fields)
        settled = [self._settled(place) for place in range(len(self.keys))]
        return prompt.question(table, self.first, settled, links, self.taken.latest(prompt.MOST_TAKEN))

    def _label(self, link: str, key: Key) -> Record:
        tables = self.draft.tables
        return prompt.labelled(key, tables[link].get(key, {}), self.draft.domain.entities[link], tables)

    def _settled(self, place: int) -> Record:
        """What is fixed of a record: its key, and when it was made."""
        entity = self.asked.entity
        born = self.draft.births[entity.name][self.first + place]
        created = (field for field in entity.fields.values() if sense(field.name, field.schema) == "created")
        told = {field.name: written(born, field.name, field.schema) for field in created}
        return told if entity.singleton else {entity.key: self.keys[place], **told}

    def _named(self, place: int) -> str:
        return f"record {self.keys[place]}"

    def _schema(self, count: int) -> Record:
        """What binds the engine: so many records."""
        rows = {"type": "array", "items": self.item, "minItems": count, "maxItems": count}
        return tighten({"type": "object", "properties": {"records": rows}, "required": ["records"]})

    def _seed(self, attempt: int) -> int:
        return chance_of(self.draft.seed, self.asked.entity.name, self.first, attempt, "invention").below(2**31)
