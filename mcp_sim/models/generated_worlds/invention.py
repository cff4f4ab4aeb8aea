"""How are the records of a world made: table by table, by a model in batches, and by chance where it says nothing?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import anyio

from mcp_sim.generate.generation import Draft
from mcp_sim.generate.times import sense, written
from mcp_sim.generate.values import chance_of
from mcp_sim.models.generated_worlds import prompt
from mcp_sim.models.generated_worlds.flaws import Taken, doubles, row_problems
from mcp_sim.models.generated_worlds.openings import Opening, candidates, item_schema, opening
from mcp_sim.models.generated_worlds.unfinished import Batch, Unfinished
from mcp_sim.models.language_model.answer import Reply, observed, parsed
from mcp_sim.models.language_model.endpoint import Ask, Request
from mcp_sim.models.language_model.prompt import Message
from mcp_sim.models.language_model.tighten import tighten
from mcp_sim.types import Key, Record
from mcp_sim.types.errors import Rejected, TooLong, Unanswered
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_schema.validation import Validator

BATCH = 8
"""So many records are one question."""
AT_ONCE = 4
"""So many questions about a table are asked at once."""
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
                await self._table(_Table(name, self.draft.keys[name], asked, rows), said)
            self._done += _write(self.draft, name, rows, given)
            self.told(self._done, name)
        return self.tally

    async def _table(self, table: _Table, said: str) -> None:
        """Put what the model says of a table behind the rows that are given."""
        firsts = range(len(table.rows), len(table.keys), BATCH)
        for at in range(0, len(firsts), AT_ONCE):
            some = firsts[at : at + AT_ONCE]
            new = [first for first in some if (table.name, first) not in self.unfinished.kept]
            await self._at_once(table, some, {first: _Asking(self, table, first, said) for first in new})

    async def _at_once(self, table: _Table, firsts: Sequence[int], asking: Mapping[int, _Asking]) -> None:
        """Ask for batches at once, and settle them in their order, with those done before: times decide nothing."""
        silence: Unanswered | None = None
        async with anyio.create_task_group() as tasks:
            for one in asking.values():
                tasks.start_soon(one.begin)
            try:
                for first in firsts:
                    if first in asking:
                        self.unfinished.keep(await asking[first].answered())
                    self._add(table, self.unfinished.kept[table.name, first])
            except Unanswered as error:
                silence = error  # a group of tasks would wrap it
                tasks.cancel_scope.cancel()
        if silence is not None:
            raise silence

    def _add(self, table: _Table, batch: Batch) -> None:
        table.add(batch)
        self.tally.add(batch)
        self.told(self._done + batch.first + len(batch.rows), table.name)


class _Table:
    """A table under way: its keys, what is open of it, the rows so far, and what is taken by them."""

    def __init__(self, name: str, keys: Sequence[Key], asked: Opening, rows: dict[Key, Record]) -> None:
        self.name, self.keys, self.asked, self.rows, self.taken = name, keys, asked, rows, Taken(asked.entity)
        for row in rows.values():
            self.taken.add(row)

    def add(self, batch: Batch) -> None:
        for key, row in zip(self.keys[batch.first :], batch.rows, strict=False):
            if row is not None:
                self.rows[key] = row
                self.taken.add(row)


class _Asking:
    """One batch: what is asked of the model, and asked again. It is told of the rows that there are when it is made."""

    def __init__(self, inventor: Inventor, table: _Table, first: int, said: str) -> None:
        self.draft, self.ask = inventor.draft, inventor.ask
        self.asked, self.first, self.taken = table.asked, first, table.taken
        self.keys = table.keys[first : first + BATCH]
        born = self.draft.births[table.name][first]
        self.among = {
            name: candidates(self.draft, link, born, table.name, first) for name, link in table.asked.links.items()
        }
        self.item = item_schema(table.asked, self.among)
        self.judge = Validator(self.item)
        self.conversation = prompt.conversation(said, self._question())
        self._there = anyio.Event()
        self._begun: Reply | Unanswered | None = None

    async def begin(self) -> None:
        """Ask for the whole batch; `answered` goes on with what comes."""
        try:
            self._begun = await self.ask(Request(self.conversation, self._schema(len(self.keys)), self._seed(0)))
        except Unanswered as error:
            self._begun = error
        self._there.set()

    async def answered(self) -> Batch:
        """What came of it."""
        rows: dict[int, Record] = {}
        asked, refused, first, conversation = 0, 0, "", self.conversation
        while len(rows) < len(self.keys) and asked < MOST_ATTEMPTS:
            wanted = [place for place in range(len(self.keys)) if place not in rows]
            try:
                reply = await (self._again(conversation, len(wanted), asked) if asked else self._first())
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

    async def _first(self) -> Reply:
        await self._there.wait()
        if isinstance(self._begun, Unanswered):
            raise self._begun
        return cast("Reply", self._begun)

    async def _again(self, conversation: Sequence[Message], count: int, attempt: int) -> Reply:
        return await self.ask(Request(conversation, self._schema(count), self._seed(attempt)))

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
