"""What did a model answer to the same question before? Files by the digest of the question; nothing else decides."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Self

from mcp_sim.models.language_model.answer import Reply
from mcp_sim.models.language_model.endpoint import Ask, Line, Request
from mcp_sim.types import Json, Record
from mcp_sim.types.errors import Unanswered, UsageError
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_text import canonical

SHOWN = 120
"""How much of a text is shown where two questions differ, in characters."""


@dataclass(frozen=True, slots=True)
class Cache:
    """Answers kept in a folder. A question is all that decides an answer: model, conversation, schema, seed, options.

    Where the endpoint is does not count, nor the key. Many processes may share a folder.
    """

    folder: Path
    line: Line
    ask: Ask | None
    """Who answers what is not kept; None: nobody."""

    @classmethod
    def opened(cls, folder: Path, line: Line, ask: Ask | None) -> Self:
        """The cache in a folder, which is made where there is none. Raises UsageError where it cannot be used."""
        if ask is None and not folder.is_dir():
            raise UsageError(f"cache: there is no folder {folder} to replay from; record one first, without `replay`")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cache: cannot make the folder {folder}: {error.strerror}") from None
        return cls(folder, line, ask)

    async def complete(self, request: Request) -> Reply:
        """The kept answer, else a new one, which is kept. Raises Unanswered where nobody may be asked."""
        question = self._question(request)
        place = self._place(question)
        kept = _kept(place)
        if kept is not None:
            return kept
        if self.ask is None:
            raise Unanswered(str(self.folder), f"no answer is kept for this question{self._nearest(question)}")
        reply = await self.ask(request)
        _keep(place, {"question": question, "reply": asdict(reply)})
        return reply

    def _question(self, request: Request) -> Record:
        line = self.line
        return {
            "model": line.model,
            "messages": list(request.messages),
            "schema": request.schema,
            "seed": request.seed,
            "max_tokens": line.max_tokens,
            "temperature": line.temperature,
            "body": line.body,
        }

    def _place(self, question: Record) -> Path:
        digest = sha256(canonical(question).encode("utf-8", "surrogatepass")).hexdigest()
        return self.folder / digest[:2] / f"{digest[2:]}.json"

    def _nearest(self, question: Record) -> str:
        """Which kept question has most in common with this one, and where the two part."""
        best, shared = None, -1
        for path in sorted(self.folder.glob("*/*.json")):
            body = _read(path)
            if body is not None and (common := _common(question, body["question"])) > shared:
                best, shared = body["question"], common
        if best is None:
            return "; the folder holds none at all"
        return f"; the nearest one {_difference(question, best)}"


_PARTS = {part.name for part in fields(Reply)}


def _kept(place: Path) -> Reply | None:
    body = _read(place)
    if body is None:
        return None
    return replace(Reply(**body["reply"]), cached=True)


def _read(path: Path) -> Record | None:
    """A kept answer; None where there is none, or where the file is not as `_keep` writes it."""
    try:
        body = as_object(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    question, reply = as_object(body.get("question")), as_object(body.get("reply"))
    return body if "messages" in question and reply.keys() == _PARTS else None


def _keep(place: Path, body: Record) -> None:
    """Written aside and moved into place, so that nobody reads half of it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f"{place.name}.{os.getpid()}")
    aside.write_text(json.dumps(body), encoding="ascii")
    aside.replace(place)


def _common(one: Record, other: Record) -> int:
    """How many messages at the beginning are the same; what stands beside them counts a little."""
    same = sum(1 for _ in _same(one["messages"], other["messages"]))
    return 10 * same + sum(one[name] == other.get(name) for name in one if name != "messages")


def _same(mine: Sequence[Json], its: Sequence[Json]) -> Iterator[Json]:
    for left, right in zip(mine, its, strict=False):
        if left != right:
            return
        yield left


def _difference(wanted: Record, kept: Record) -> str:
    """In what the kept question differs, in words."""
    for name in ("model", "seed", "schema", "max_tokens", "temperature", "body"):
        if wanted["messages"] == kept["messages"] and wanted[name] != kept.get(name):
            return f"has another {name}: {str(kept.get(name))[:SHOWN]} instead of {str(wanted[name])[:SHOWN]}"
    at = sum(1 for _ in _same(wanted["messages"], kept["messages"]))
    if at >= len(kept["messages"]):
        return f"ends after message {at}, and this conversation goes on"
    if at >= len(wanted["messages"]):
        return f"has more messages than the {at} of this conversation"
    mine, its = wanted["messages"][at]["content"], kept["messages"][at]["content"]
    where = next((n for n, (a, b) in enumerate(zip(mine, its, strict=False)) if a != b), min(len(mine), len(its)))
    begin = max(0, where - SHOWN // 4)
    return (
        f"differs first in message {at + 1} at character {where + 1}: "
        f"{its[begin : where + SHOWN]!r} is kept, {mine[begin : where + SHOWN]!r} is asked"
    )
