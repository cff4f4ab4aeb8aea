"""Invent the records of a world, table by table: by a model in batches, and generated where it has no answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import anyio

from mcp_sim.generate.records import Draft
from mcp_sim.generate.time_fields import format_time, time_meaning
from mcp_sim.generate.values import chance_of
from mcp_sim.models.generated_worlds import prompt
from mcp_sim.models.generated_worlds.checks import TakenValues, find_duplicates, row_problems
from mcp_sim.models.generated_worlds.run_file import Batch, RunFile
from mcp_sim.models.generated_worlds.tables import OpenFields, candidates, find_open_fields, record_schema
from mcp_sim.models.language_model.endpoint import Ask, Request
from mcp_sim.models.language_model.reply import Reply, observation_text, parse_json
from mcp_sim.models.language_model.tighten import tighten
from mcp_sim.types import Key, Record, as_list, as_object
from mcp_sim.types.errors import Rejected, TooLong, Unanswered
from mcp_sim.types.json_schema.validation import Validator

BATCH_SIZE = 8
"""Number of records in one request. One invalid row costs its whole batch another request."""
CONCURRENT_BATCHES = 4  # number of concurrent requests about one table
MAX_ATTEMPTS = 3
"""How often a batch is requested; rows that are still invalid are generated without a model. Each costs a whole
request."""

OnProgress: TypeAlias = Callable[[int, str], None]
"""Called with the number of records so far, and the entity of the last ones."""


@dataclass(slots=True)
class Tally:
    """The result of a run: records by origin, requests, and rejected rows with their first problems."""

    invented: int = 0
    filled: int = 0
    asked: int = 0
    refused: int = 0
    problems: Counter[str] = field(default_factory=Counter[str])

    def add(self, batch: Batch) -> None:
        from_model = sum(row is not None for row in batch.rows)
        self.invented += from_model
        self.filled += len(batch.rows) - from_model
        self.asked += batch.asked
        self.refused += batch.refused
        self.problems.update([batch.problem] if batch.problem else [])


def generate_tables(draft: Draft, on_progress: OnProgress) -> None:
    """Generate every table without a model."""
    done = 0
    for name in draft.order:
        done += _write(draft, name, draft.given(name), len(draft.given(name)))
        on_progress(done, name)


def _write(draft: Draft, name: str, rows: Mapping[Key, Record], given: int) -> int:
    """Write a table without its duplicates. Return how many records it was to have."""
    wanted = len(draft.keys[name])
    draft.write(name, rows)
    for key in find_duplicates(draft.domain.entities[name], draft.tables[name], given):
        draft.drop(name, key)
    return wanted


@dataclass(slots=True)
class Inventor:
    """Asks a model to invent the open fields in the tables of a draft."""

    draft: Draft
    ask: Ask
    run_file: RunFile
    on_progress: OnProgress
    tally: Tally = field(default_factory=Tally)
    _done: int = 0

    async def invent(self) -> Tally:
        """Generate every table. Raises `Unanswered` if the model does not answer; finished batches are kept."""
        system_prompt, domain = prompt.system(self.draft.domain), self.draft.domain
        for name in self.draft.order:
            rows = self.draft.given(name)
            given = len(rows)
            open_fields = find_open_fields(domain, domain.entities[name], self.draft.keys)
            if open_fields.fields:
                table = _Table(name, self.draft.keys[name], open_fields, rows)
                firsts = range(len(table.rows), len(table.keys), BATCH_SIZE)
                for at in range(0, len(firsts), CONCURRENT_BATCHES):
                    some = firsts[at : at + CONCURRENT_BATCHES]
                    new = [first for first in some if (table.name, first) not in self.run_file.kept]
                    requests = {first: _BatchRequest(self, table, first, system_prompt) for first in new}
                    await self._at_once(table, some, requests)
            self._done += _write(self.draft, name, rows, given)
            self.on_progress(self._done, name)
        return self.tally

    async def _at_once(self, table: _Table, firsts: Sequence[int], requests: Mapping[int, _BatchRequest]) -> None:
        """Request batches concurrently, and add them in their order, so that timing has no effect."""
        silence: Unanswered | None = None
        async with anyio.create_task_group() as tasks:
            for request in requests.values():
                tasks.start_soon(request.begin)
            try:
                for first in firsts:
                    if first in requests:
                        self.run_file.keep(await requests[first].answered())
                    batch = self.run_file.kept[table.name, first]
                    table.add(batch)
                    self.tally.add(batch)
                    self.on_progress(self._done + batch.first + len(batch.rows), table.name)
            except Unanswered as error:
                silence = error  # a task group would wrap it
                tasks.cancel_scope.cancel()
        if silence is not None:
            raise silence


class _Table:
    """An unfinished table: its keys, its open fields, the rows so far, and their unique values."""

    def __init__(self, name: str, keys: Sequence[Key], open_fields: OpenFields, rows: dict[Key, Record]) -> None:
        self.name, self.keys, self.open, self.rows = name, keys, open_fields, rows
        self.taken = TakenValues(open_fields.entity)
        for row in rows.values():
            self.taken.add(row)

    def add(self, batch: Batch) -> None:
        for key, row in zip(self.keys[batch.first :], batch.rows, strict=False):
            if row is not None:
                self.rows[key] = row
                self.taken.add(row)


class _BatchRequest:
    """The requests for one batch. They list the unique values that are taken when this object is created."""

    def __init__(self, inventor: Inventor, table: _Table, first: int, system_prompt: str) -> None:
        self.draft, self.ask = inventor.draft, inventor.ask
        self.open, self.first, self.taken = table.open, first, table.taken
        self.keys = table.keys[first : first + BATCH_SIZE]
        born = self.draft.created_at[table.name][first]
        self.among = {
            name: candidates(self.draft, link, born, table.name, first) for name, link in table.open.links.items()
        }
        self.item = record_schema(table.open, self.among)
        self.validator = Validator(self.item)
        self.conversation = prompt.conversation(system_prompt, self._question())
        self._replied = anyio.Event()
        self._begun: Reply | Unanswered | None = None

    async def begin(self) -> None:
        """Request the whole batch; `answered` processes the reply."""
        try:
            self._begun = await self.ask(Request(self.conversation, self._schema(len(self.keys)), self._seed(0)))
        except Unanswered as error:
            self._begun = error
        self._replied.set()

    async def answered(self) -> Batch:
        """Return the batch, after asking again for invalid rows."""
        rows: dict[int, Record] = {}
        asked, refused, first, conversation = 0, 0, "", self.conversation
        while asked < MAX_ATTEMPTS and (wanted := self._missing(rows)):
            try:
                again = Request(conversation, self._schema(len(wanted)), self._seed(asked))
                reply = await (self.ask(again) if asked else self._first())
            except TooLong:
                if asked:
                    break  # the question alone fits, but not with the rejected replies
                raise
            asked += 1
            problems = self._accept_rows(reply, wanted, rows)
            left = [self._fixed_fields(place) for place in self._missing(rows)]
            refused += len(left)
            first = first or next(iter(problems), "")
            conversation = [*conversation, *prompt.again(reply.content, left, problems)]
        answered = tuple(rows.get(place) for place in range(len(self.keys)))
        return Batch(self.open.entity.name, self.first, answered, asked, refused, first)

    def _missing(self, rows: Container[int]) -> list[int]:
        """Return the places that have no valid row yet."""
        return [place for place in range(len(self.keys)) if place not in rows]

    async def _first(self) -> Reply:
        await self._replied.wait()
        if isinstance(self._begun, Unanswered):
            raise self._begun
        return cast("Reply", self._begun)

    def _accept_rows(self, reply: Reply, wanted: Sequence[int], rows: dict[int, Record]) -> list[str]:
        """Add the valid rows of a reply to `rows`. Return the problems of the others."""
        try:
            replied = as_list(as_object(parse_json(observation_text(reply), reply.content)).get("records"))
        except Rejected as error:
            return list(error.problems)
        taken, accept_rows = TakenValues(self.open.entity), list[str]()
        for row in rows.values():
            taken.add(row)
        for place, reply_row in zip(wanted, replied, strict=False):
            # Without what it repeats of the settled fields, and what no field is.
            row = {name: value for name, value in as_object(reply_row).items() if name in self.open.fields} or reply_row
            wrong = row_problems(row, self.validator, self.open.fields, self.taken) or taken.problems(as_object(row))
            if wrong:
                accept_rows += [f"{self._record_label(place)}: {problem}" for problem in wrong]
                continue
            rows[place] = as_object(row)
            taken.add(rows[place])
        missing = [self._record_label(place) for place in wanted[len(replied) :]]
        return [*accept_rows, *(f"{name}: is missing" for name in missing)]

    def _question(self) -> str:
        name, tables, entities = self.open.entity.name, self.draft.tables, self.draft.domain.entities
        links = {
            field: [
                prompt.labelled(key, tables[link].get(key, {}), entities[link], tables) for key in self.among[field]
            ]
            for field, link in self.open.links.items()
        }
        table = prompt.Table(name, len(self.draft.keys[name]), self.open.fields)
        settled = [self._fixed_fields(place) for place in range(len(self.keys))]
        return prompt.question(table, self.first, settled, links, self.taken.latest(prompt.MAX_TAKEN))

    def _fixed_fields(self, place: int) -> Record:
        """Return the fixed fields of a record: its key, and when it was created."""
        entity = self.open.entity
        born = self.draft.created_at[entity.name][self.first + place]
        created = (field for field in entity.fields.values() if time_meaning(field.name, field.schema) == "created")
        fields = {field.name: format_time(born, field.name, field.schema) for field in created}
        return fields if entity.singleton else {entity.key: self.keys[place], **fields}

    def _record_label(self, place: int) -> str:
        return f"record {self.keys[place]}"

    def _schema(self, count: int) -> Record:
        rows = {"type": "array", "items": self.item, "minItems": count, "maxItems": count}
        return tighten({"type": "object", "properties": {"records": rows}, "required": ["records"]})

    def _seed(self, attempt: int) -> int:
        return chance_of(self.draft.seed, self.open.entity.name, self.first, attempt, "invention").below(2**31)
