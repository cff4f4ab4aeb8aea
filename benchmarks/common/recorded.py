"""Recorded answers: their comparison with served ones, and their alteration where they show a value again.

An object in an answer is identified by its id, or by its key, name or path within its container. Its plain fields are
facts until a write names it. An object whose identity another, different object of the same answer shares is ignored.
Nothing is read from prose. What the answer of a removal shows of an unknown object is a report, and not taken in.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, TypeGuard

from jsonschema import Draft202012Validator

from mcp_sim.spec.sessions import Answer, RecordedCall

Json = Any


def data_of(answer: Answer) -> Json:
    """Return the data of a successful answer, or None.

    It is the JSON of its structuredContent, or of its only text, which may be repeated as structuredContent.
    """
    result = answer.get("result")
    if result is None or result.get("isError"):
        return None
    text, structured = only_text(result), result.get("structuredContent")
    value = None if text is None else parsed(text)
    return value if structured is None or (value is not None and wraps(structured, text)) else structured


def wraps(structured: Json, text: str | None) -> bool:
    """Whether structuredContent is a text as the SDK wraps it."""
    return text is not None and same(structured, {"result": text})


def only_text(result: dict[str, Json]) -> str | None:
    """Return the text of a result with one plain block of text; None for others."""
    blocks: Json = result.get("content") or []
    plain = len(blocks) == 1 and blocks[0].get("type") == "text" and set(blocks[0]) == {"type", "text"}
    return blocks[0]["text"] if plain else None


def parsed(text: str) -> Json:
    """Return the object or list that a text is; None if it is something else."""
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else None
    except ValueError:
        return None


def fits(value: Json, schema: Json) -> bool:
    """Whether a value conforms to a JSON Schema."""
    return Draft202012Validator(schema).is_valid(value)  # pyright: ignore[reportUnknownMemberType] (jsonschema has no types for it)


def conforms(answer: Answer, schema: Json) -> bool:
    """Whether an answer conforms to an outputSchema. Errors always do."""
    if schema is None or "error" in answer or answer["result"].get("isError"):
        return True
    return fits(answer["result"].get("structuredContent"), schema)


def same(value: Json, other: Json) -> bool:
    """Whether two JSON values are equal. A flag never equals a number."""
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(same(value[name], other[name]) for name in value)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType] (any JSON)
    if isinstance(value, list) and isinstance(other, list):
        return len(value) == len(other) and all(map(same, value, other))  # pyright: ignore[reportUnknownArgumentType] (any JSON)
    return isinstance(value, bool) == isinstance(other, bool) and value == other


def differences(recorded: Answer, served: Answer) -> list[str]:
    """Return the parts in which two answers differ; empty if they are the same.

    `layout`: the texts differ, but are the same JSON.
    """
    if "error" in recorded or "error" in served:
        parts = [{"data": None, **answer["error"]} if "error" in answer else None for answer in (recorded, served)]
        return [] if same(*parts) else ["rpc error"]
    ours, other = recorded["result"], served["result"]
    kinds = ["isError"] if bool(ours.get("isError")) != bool(other.get("isError")) else []
    if not same(ours.get("structuredContent"), other.get("structuredContent")):
        kinds.append("structuredContent")
    blocks: Json = ours.get("content") or []
    others: Json = other.get("content") or []
    if len(blocks) != len(others):
        return [*kinds, "blocks"]
    return [*kinds, *dict.fromkeys(chain.from_iterable(map(_block_differences, blocks, others)))]


def _block_differences(block: dict[str, Json], other: dict[str, Json]) -> list[str]:
    if same(block, other):
        return []
    if not same({**block, "text": None}, {**other, "text": None}):
        return ["blocks"]
    value = parsed(block["text"])
    return ["layout"] if value is not None and same(value, parsed(other["text"])) else ["text"]


WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
SEARCHES = frozenset(("search", "find", "query", "grep", "match", "recall", "lookup"))
READS = SEARCHES | frozenset(
    ("get", "list", "read", "show", "describe", "fetch", "calculate", "compute", "display", "estimate", "retrieve")
)
FIRST_READS = frozenset(
    ("browse", "summarize", "ls", "cat", "pwd", "du", "wc", "tail", "diff", "sort", "log", "status", "stats", "view",
     "check", "count", "history", "summary")
)  # fmt: skip
"""Words that are a verb of reading only at the beginning of a name."""

SETS = frozenset(("update", "set", "edit", "modify", "change", "patch"))
REMOVES = frozenset(("delete", "remove", "rm", "rmdir", "drop", "destroy"))
WRITES = (
    REMOVES | SETS | frozenset(("create", "add", "write", "append", "insert", "put", "post", "move", "rename", "save"))
)
IDS = ("id", "_id", "uuid", "ID", "Id")
NAMES = ("key", "slug", "path", "uri", "url", "name", "username", "file", "filename", "isbn", "sku", "symbol")
ENVELOPE = frozenset(("message", "success", "operation", "ok", "timestamp"))
ALIKE = 0.6
"""The share of common fields from which objects with equal ids are of one kind."""

LONG = 6
"""The length from which an id is that of one record of the server."""

Identity = tuple[str, ...]
JsonPath = tuple[str | int, ...]


@dataclass
class Fact:
    """A value of a field, and the call that showed it.

    `searched`: only searches showed it. `provisional`: it was an argument of a write, or a write was the first to show
    it, and its arguments do not have it; servers may show another value next. `unsettled`: a write named the record
    since.
    """

    value: Json
    call: int
    searched: bool = False
    provisional: bool = False
    unsettled: bool = False


@dataclass
class Implied:
    """A record that answers imply."""

    identity: Identity
    facts: dict[str, Fact] = field(default_factory=dict[str, Fact])

    @property
    def key(self) -> str:
        return self.identity[1]

    @property
    def names(self) -> set[str]:
        """What a call may name it by."""
        return {self.key, *(str(self.facts[name].value) for name in NAMES if name in self.facts)}


@dataclass(frozen=True)
class Shown:
    """An identified object in an answer."""

    identity: Identity
    path: JsonPath
    fields: Mapping[str, Json]


@dataclass(frozen=True)
class Repeated:
    """A value that an answer shows again.

    `loose`: there was a write since, or only a write showed it. `named`: a write named the record since.
    """

    identity: Identity
    path: JsonPath
    field: str
    value: Json
    loose: bool
    named: bool
    is_fact: bool
    """Whether this and an earlier answer show it, and not only as answers of searches and writes."""


class ImpliedRecords:
    """The records that the calls of a session imply so far."""

    def __init__(self, tools: Iterable[dict[str, Json]]) -> None:
        self._tools = {tool["name"]: tool for tool in tools}
        self._prefix = common_prefix(list(self._tools))
        self._containers = container_arguments(self._tools.values())
        self._records = dict[Identity, list[Implied]]()
        self._calls = 0
        self._last_write = 0

    def __iter__(self) -> Iterator[Implied]:
        for kinds in self._records.values():
            yield from kinds

    def reads(self, tool: str) -> bool:
        """Whether a tool changes nothing, as far as its annotations and its name show."""
        annotations: Json = self._tools.get(tool, {}).get("annotations") or {}
        hint = annotations.get("readOnlyHint")
        words = words_of(tool.removeprefix(self._prefix))
        first = next(iter(WORDS.findall(tool.removeprefix(self._prefix))), "").lower()
        return hint is True or (hint is None and bool(words & READS or first in FIRST_READS) and not words & WRITES)

    def repeated(self, call: RecordedCall) -> list[Repeated]:
        """Return the values of identified objects in an answer that were shown before, and are the same."""
        repetitions = list[Repeated]()
        holds = self.reads(call.tool) and not words_of(call.tool) & SEARCHES
        for shown in identified(call, self._containers):
            known = self._like(shown)
            for name, value in shown.fields.items() if known else ():
                fact = known.facts.get(name) if known else None
                if fact and same(fact.value, value) and value not in ("", None) and str(value) != shown.identity[1]:
                    written = self._last_write > fact.call
                    is_fact = holds and not fact.searched
                    at = (*shown.path, name)
                    named = written and fact.unsettled
                    repetitions.append(
                        Repeated(shown.identity, at, name, value, written or fact.provisional, named, is_fact)
                    )
        return repetitions

    def others(self, name: str, value: Json) -> list[Json]:
        """Return the other values that a field of this name has in any record, of the same type."""
        facts = [record.facts[name].value for record in self if name in record.facts]
        return [other for other in facts if type(other) is type(value) and other != value]

    def note(self, call: RecordedCall) -> None:
        """Take in a call and its answer. What an answer shows that violates its outputSchema cannot be served."""
        self._calls += 1
        succeeded = "result" in call.answer and not call.answer["result"].get("isError")
        if not self.reads(call.tool):
            self._last_write = self._calls
            if succeeded:
                self._write(call)
        is_valid = conforms(call.answer, self._tools.get(call.tool, {}).get("outputSchema"))
        for shown in identified(call, self._containers) if is_valid else ():
            record = self._like(shown)
            if is_removal(call) and record is None:
                continue
            if record is None:
                record = Implied(shown.identity)
                self._records.setdefault(shown.identity, []).append(record)
            self._take_in(record, shown, call)

    def _take_in(self, record: Implied, shown: Shown, call: RecordedCall) -> None:
        """Take in what an answer shows of a record."""
        searches = bool(words_of(call.tool) & SEARCHES)
        for name, value in shown.fields.items():
            known = record.facts.get(name)
            searched = searches and (known is None or known.searched)
            provisional = not self.reads(call.tool) and not (
                (known and same(known.value, value)) or any(same(value, leaf) for leaf in leaves(call.arguments))
            )
            record.facts[name] = Fact(value, self._calls, searched, provisional)

    def _write(self, call: RecordedCall) -> None:
        """Unsettle the records that a write names, and take in the arguments that set fields of theirs."""
        named, sets = named_by(call), bool(words_of(call.tool) & SETS)
        for record in self:
            if not record.names & named:
                continue
            for name, fact in record.facts.items():
                fact.unsettled = True
                if name in call.arguments and sets and is_plain(call.arguments[name]):
                    record.facts[name] = Fact(call.arguments[name], self._calls, provisional=True)

    def _like(self, shown: Shown) -> Implied | None:
        """Return the record with this identity whose fields are alike."""
        return next(
            (
                known
                for known in self._records.get(shown.identity, ())
                if alike(shown.identity, known.facts, shown.fields)
            ),
            None,
        )


# reading --------------------------------------------------------------------------------------------------------------


def words_of(name: str) -> set[str]:
    return {word.lower() for word in WORDS.findall(name)}


def named_by(call: RecordedCall) -> set[str]:
    """Return what a call may name records by: the values of its arguments, without flags."""
    return {str(value) for value in leaves(call.arguments) if not isinstance(value, bool) and value is not None}


def is_removal(call: RecordedCall) -> bool:
    flags = {name for name, value in call.arguments.items() if value is True}
    return bool((words_of(call.tool) | flags) & REMOVES)


def is_object(value: Json) -> TypeGuard[dict[str, Json]]:
    return isinstance(value, dict)


def is_plain(value: Json) -> bool:
    """Whether a value has no objects in it."""
    return not is_object(value) and not (isinstance(value, list) and any(map(is_object, value)))  # pyright: ignore[reportUnknownArgumentType] (any JSON)


def alike(identity: Identity, fields: Iterable[str], others: Iterable[str]) -> bool:
    """Whether two objects with an identity are of one kind: it is a long id, or they have the same fields."""
    names, other = set(fields), set(others)
    if identity[0] == "id" and len(identity[1]) >= LONG:
        return True
    return len(names & other) >= ALIKE * min(len(names), len(other))


def leaves(value: Json) -> Iterator[Json]:
    if isinstance(value, dict | list):
        for item in value.values() if is_object(value) else value:  # pyright: ignore[reportUnknownVariableType] (any JSON)
            yield from leaves(item)
    else:
        yield value


def common_prefix(names: Sequence[str]) -> str:
    """Return the first word of all names, with its underscore, if they share it."""
    first = {name.partition("_")[0] for name in names}
    return f"{first.pop()}_" if len(first) == 1 and len(names) > 1 else ""


def container_arguments(tools: Iterable[dict[str, Json]]) -> frozenset[str]:
    """Return the names of texts that several tools require: they name what an answer is about, or is within."""
    numbers = Counter[str]()
    for tool in tools:
        schema: Json = tool["inputSchema"]
        parts: Json = schema.get("properties", {})
        numbers.update(name for name in schema.get("required", ()) if "enum" not in parts.get(name, {}))
    return frozenset(name for name, number in numbers.items() if number > 1 and not words_of(name) & SEARCHES)


def identified(call: RecordedCall, containers: frozenset[str]) -> list[Shown]:
    """Return the objects of an answer that are identified."""
    named = sorted(containers & call.arguments.keys())
    context = tuple(str(call.arguments[name]) for name in named if isinstance(call.arguments[name], str))
    objects = list(_objects(data_of(call.answer), (), "", context))
    numbers = Counter(shown.identity for shown in objects)
    return [
        shown
        for shown in objects
        if numbers[shown.identity] == 1
        or all(_agree(shown, other) for other in objects if other.identity == shown.identity)
    ]


def _agree(shown: Shown, other: Shown) -> bool:
    """Whether two objects do not contradict each other, or are of different kinds."""
    if not alike(shown.identity, shown.fields, other.fields):
        return True
    return all(same(value, other.fields[name]) for name, value in shown.fields.items() if name in other.fields)


def _objects(value: Json, path: JsonPath, container: str, context: Identity) -> Iterator[Shown]:
    if isinstance(value, list):
        for at, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] (any JSON)
            yield from _objects(item, (*path, at), container, context)
    if not is_object(value):
        return
    identity = identity_of(value, container, context)
    if identity is not None:
        plain = {
            name: plain_value for name, plain_value in value.items() if is_plain(plain_value) and name not in ENVELOPE
        }
        yield Shown(identity, path, plain)
        context = (identity[1],)
    for name, item in value.items():
        yield from _objects(item, (*path, name), name, context)


def identity_of(value: Mapping[str, Json], container: str, context: Identity) -> Identity | None:
    """Return what identifies an object: an id, or a name within its container; None if nothing does."""
    for name in IDS:
        if is_key(value.get(name)):
            return ("id", str(value[name]))
    named = [name for name in value if name not in ENVELOPE]
    for name in named:
        if name.endswith(("_id", "Id")) and (name == named[0] or _belongs(name, container)) and is_key(value[name]):
            return ("id", str(value[name]))
    for name in NAMES:
        if is_key(value.get(name)) and len(value) > 1:
            return (name, str(value[name]), *(text for text in context if text != value[name]))
    return None


def _belongs(name: str, container: str) -> bool:
    """Whether an id is the one of the objects in this container: `item_id` in `items`."""
    stem = name.removesuffix("_id").removesuffix("Id").lower()
    return bool(stem) and container.lower().startswith(stem)


def is_key(value: Json) -> bool:
    return (isinstance(value, str) and bool(value)) or (isinstance(value, int) and not isinstance(value, bool))


# mutations ------------------------------------------------------------------------------------------------------------


def at_path(value: Json, path: JsonPath) -> Json:
    """Return the part of a value at a path, or None."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def mutated(answer: Answer, path: JsonPath, value: Json) -> Answer | None:
    """Return an answer with another value at a path of its data; None if that would change its layout."""
    changed: Answer = json.loads(json.dumps(answer))
    result, before = changed["result"], data_of(answer)
    data = json.loads(json.dumps(before))
    at_path(data, path[:-1])[path[-1]] = value
    was, structured = only_text(result), result.get("structuredContent")
    text = None if was is None else in_layout_of(was, before, data)
    if text is None:
        return None
    result["content"][0]["text"] = text
    if structured is not None:
        result["structuredContent"] = {"result": text} if wraps(structured, was) else data
    return changed


def in_layout_of(text: str, before: Json, after: Json) -> str | None:
    """Return JSON in the layout that a text has for another value; None if the layout is unknown."""
    for ascii_only in (False, True):
        for indent in (None, 2, 4, 1, 3, "\t"):
            for separators in (None, (",", ":")) if indent is None else (None,):
                if json.dumps(before, indent=indent, separators=separators, ensure_ascii=ascii_only) == text:
                    return json.dumps(after, indent=indent, separators=separators, ensure_ascii=ascii_only)
    return None
