"""A cache of model replies: files named by the digest of the request."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields, replace
from functools import partial
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Self

from mcp_sim.models.language_model.endpoint import Ask, EndpointSettings, Request
from mcp_sim.models.language_model.reply import Reply
from mcp_sim.types import Record, as_object, canonical, frozen
from mcp_sim.types.errors import Unanswered, UsageError

SHOWN = 120  # how much text is shown where two requests differ, in characters


@frozen
class Cache:
    """Replies stored in a folder, by model, conversation, schema, seed and options.

    The address of the endpoint and the key do not matter. Many processes may share a folder.
    """

    folder: Path
    line: EndpointSettings
    ask: Ask | None
    """Answers requests that are not stored; None in replay mode."""

    @classmethod
    def open(cls, folder: Path, line: EndpointSettings, ask: Ask | None) -> Self:
        """Open the cache in a folder, which is created if needed. Raises `UsageError` if it cannot be used."""
        if ask is None and not folder.is_dir():
            raise UsageError(f"cache: there is no folder {folder} to replay from; record one first, without `replay`")
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cache: cannot make the folder {folder}: {error.strerror}") from None
        return cls(folder, line, ask)

    async def complete(self, request: Request) -> Reply:
        """Return the stored reply, else a new one, which is stored. Raises `Unanswered` in replay mode."""
        line = self.line
        question = {
            "model": line.model,
            "messages": list(request.messages),
            "schema": request.schema,
            "seed": request.seed,
            "max_tokens": line.max_tokens,
            "temperature": line.temperature,
            "body": line.body,
        }
        digest = sha256(canonical(question).encode("utf-8", "surrogatepass")).hexdigest()
        place = self.folder / digest[:2] / f"{digest[2:]}.json"
        kept = _read(place)
        if kept is not None:
            return replace(Reply(**kept["reply"]), cached=True)
        if self.ask is None:
            raise Unanswered(str(self.folder), f"no reply is stored for this request{self._nearest(question)}")
        reply = await self.ask(request)
        # A temporary file is renamed, so that no process reads half of it.
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = place.with_name(f"{place.name}.{os.getpid()}")
        aside.write_text(json.dumps({"question": question, "reply": asdict(reply)}), encoding="ascii")
        aside.replace(place)
        return reply

    def _nearest(self, question: Record) -> str:
        """Describe the stored request that is most similar to this one, and the first difference."""
        stored = map(_read, sorted(self.folder.glob("*/*.json")))
        questions = [body["question"] for body in stored if body is not None]
        if not questions:
            return "; the folder is empty"
        return f"; the nearest one {_difference(question, max(questions, key=partial(_common, question)))}"


_PARTS = {field.name for field in fields(Reply)}


def _read(path: Path) -> Record | None:
    """Return a stored entry. None if it is missing, or if the file is not one of a cache."""
    try:
        body = as_object(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError):
        return None
    question, reply = as_object(body.get("question")), as_object(body.get("reply"))
    return body if "messages" in question and reply.keys() == _PARTS else None


def _common(text: Record, other: Record) -> int:
    """Score the similarity of two requests: equal messages at the beginning, then equal parameters."""
    same = _same_messages(text, other)
    return 10 * same + sum(text[name] == other.get(name) for name in text if name != "messages")


def _same_messages(text: Record, other: Record) -> int:
    """Return how many messages at the beginning are equal."""
    pairs = zip(text["messages"], other["messages"], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _difference(wanted: Record, kept: Record) -> str:
    """Describe how the stored request differs."""
    for name in ("model", "seed", "schema", "max_tokens", "temperature", "body"):
        if wanted["messages"] == kept["messages"] and wanted[name] != kept.get(name):
            return f"has another {name}: {str(kept.get(name))[:SHOWN]} instead of {str(wanted[name])[:SHOWN]}"
    at = _same_messages(wanted, kept)
    if at >= len(kept["messages"]):
        return f"ends after message {at}, and this conversation goes on"
    if at >= len(wanted["messages"]):
        return f"has more messages than the {at} of this conversation"
    mine, its = wanted["messages"][at]["content"], kept["messages"][at]["content"]
    where = next((n for n, (a, b) in enumerate(zip(mine, its, strict=False)) if a != b), min(len(mine), len(its)))
    begin = max(0, where - SHOWN // 4)
    return (
        f"differs first in message {at + 1} at character {where + 1}: "
        f"{its[begin : where + SHOWN]!r} is stored, {mine[begin : where + SHOWN]!r} is requested"
    )
