"""What sessions teach, in pieces that can be left out one by one."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from mcp_sim.recordings.align import is_id
from mcp_sim.recordings.known import data_of
from mcp_sim.recordings.learning.cases import induce_results, is_memorised, unexplained_text
from mcp_sim.recordings.learning.drafts import Draft
from mcp_sim.recordings.learning.entities import induce_entities
from mcp_sim.recordings.learning.failures import induce_failures, shared_failures
from mcp_sim.recordings.learning.samples import Sample, collect
from mcp_sim.recordings.learning.slots import Unexplained
from mcp_sim.recordings.observed import key_of
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Json, Record, as_list, as_object, leaves
from mcp_sim.types.result_templates import ROWS, SLOT, replaced_path

Piece: TypeAlias = "tuple[str, str]"  # a tool, and one of OF_A_TOOL; or '' and one of WHOLE

RESULT, ERRORS, PAGING, ENTITIES = "result", "errors", "paging", "entities"
OF_A_TOOL = (RESULT, ERRORS, PAGING)  # what is learnt of a tool
WHOLE = (ENTITIES, ERRORS)  # what is learnt of a server as a whole


@dataclass(slots=True)
class Lesson:
    """What sessions teach beyond a plain draft. What that declares stays."""

    plain: Draft
    sessions: Sequence[Session]
    entities: Mapping[str, Record]
    page_sizes: Mapping[str, Record]
    """Tool -> its `paging`."""
    unexplained: dict[str, str] = field(default_factory=dict[str, str])
    """Tool -> why its answers have no template."""
    _drafts: dict[bool, Draft] = field(default_factory=dict[bool, Draft])
    """Drafts with templates, with and without entities."""

    async def draft(self, left_out: Container[Piece] = ()) -> Draft:
        has_entities = ("", ENTITIES) not in left_out
        if has_entities not in self._drafts:
            self._drafts[has_entities] = await self._with_templates(self.entities if has_entities else {})
        draft = self._drafts[has_entities]
        sim = dict[str, Record]()
        for tool, learnt in draft.sim.items():
            declared = self.plain.sim.get(tool, {})
            kept = {key: value for key, value in learnt.items() if key in declared or (tool, key) not in left_out}
            sim |= {tool: kept} if kept else {}
        return replace(draft, sim=sim, errors=self.plain.errors if ("", ERRORS) in left_out else draft.errors)

    async def _with_templates(self, entities: Mapping[str, Record]) -> Draft:
        """Return a draft with entities, page sizes, and the templates that sessions show."""
        draft = replace(self.plain, entities={**entities, **self.plain.entities})
        for tool, paging in self.page_sizes.items():
            draft = draft.with_tool(tool, {**paging, **self.plain.sim.get(tool, {})})
        replayed = await collect(draft, self.sessions)
        forms = _Forms(replayed.samples, data_of(self.sessions), _names(draft, self.sessions), self.unexplained)
        return forms.added_to(draft, self.plain)


async def taught(plain: Draft, sessions: Sequence[Session]) -> Lesson:
    replayed = await collect(plain, sessions)
    entities = induce_entities(replayed.samples, sessions, replayed.domains)
    return Lesson(plain, sessions, entities, page_sizes(replayed.samples))


_WORD = re.compile(r"\w[\w./-]*\w")


def _names(draft: Draft, sessions: Sequence[Session]) -> set[str]:
    """Return the words that name records of recorded worlds: one given record has each, and no tool mentions it."""
    names = set[str]()
    for session in sessions:
        counts = Counter(leaf for _, leaf in leaves(session.state) if isinstance(leaf, str))
        names |= {text for text, number in counts.items() if number == 1 and _WORD.fullmatch(text)}
    known = {word.lower() for word in _WORD.findall(json.dumps([*draft.tools], ensure_ascii=False))}
    return {name for name in names if name.lower() not in known}


class _Forms:
    """Induces result and error templates.

    `data`: what must not become part of a result. `names`: what must not be a word of its text.
    """

    def __init__(
        self, samples: Sequence[Sample], data: Container[str], names: Container[str], unexplained: dict[str, str]
    ) -> None:
        self._samples, self._data, self._names, self._unexplained = samples, data, names, unexplained

    def added_to(self, draft: Draft, plain: Draft) -> Draft:
        """Return a draft with templates. What `plain` declares stays."""
        tools = {str(tool["name"]): tool for tool in draft.tools}
        failures = induce_failures(self._samples, tools)
        sim = {tool: {**self._declared(tool, failures), **draft.sim.get(tool, {})} for tool in tools}
        errors = {**shared_failures(self._samples, tools), **plain.errors}
        answers = [sample.answer for sample in self._samples if sample.tool not in tools]
        rest = {**({"unknown_tool": "rpc" if "error" in answers[0] else "is_error"} if answers else {}), **plain.rest}
        return replace(draft, sim={tool: learnt for tool, learnt in sim.items() if learnt}, errors=errors, rest=rest)

    def _declared(self, tool: str, failures: dict[str, Record]) -> Record:
        """Return the result and error templates of a tool, as a spec declares them under `sim:`."""
        errors: Record = {"errors": failures[tool]} if tool in failures else {}
        results = self._results(tool)
        if not results:
            return errors
        return {"result": results[0] if len(results) == 1 and "when" not in results[0] else results, **errors}

    def _results(self, tool: str) -> list[Record]:
        """Return the result templates of a tool; none if they do not explain its answers."""
        succeeded = [sample for sample in self._samples if sample.tool == tool and not sample.recorded.failed]
        served = [sample for sample in succeeded if sample.served]
        try:
            results = [
                {**result, "json": without_data(result["json"], self._data)} if "json" in result else result
                for result in induce_results(served or succeeded)
            ]
        except Unexplained as error:
            self._unexplained[tool] = str(error)
            return []
        texts = [result["text"] for result in results if isinstance(result.get("text"), str)]
        words = {word for text in texts for word in _WORD.findall(SLOT.sub(" ", text))}
        if any(word in self._names for word in words) or any(
            is_memorised(result, served=bool(served)) for result in results
        ):
            self._unexplained[tool] = "its answers repeat recorded data"
            return []
        if (wrong := unexplained_text(results, served or succeeded)) is not None:
            self._unexplained[tool] = f"nothing shows how call {wrong.seq} of session {wrong.session} gets its text"
            return []
        return results


_USUAL_SIZES = (50, 100, 200, 500, 1000)
"""A recorded list that shows more rows than inferred, and perhaps all of them, shows that its page has at least as
many. Servers choose round numbers."""


def page_sizes(samples: Sequence[Sample]) -> dict[str, Record]:
    """Return the `paging` of each list whose size differs from the inferred one, as a spec declares it under `sim:`."""
    sizes = dict[str, Record]()
    for tool in dict.fromkeys(sample.tool for sample in samples):
        calls = [sample for sample in samples if sample.tool == tool and not sample.recorded.failed]
        paging = _page_size(calls) if calls and not calls[0].plan.choices else {}
        sizes |= {tool: {PAGING: paging}} if paging else {}
    return sizes


def _page_size(calls: Sequence[Sample]) -> Record:
    """Return how many rows a list shows if no argument says how many: as many as the fullest pages have.

    Two equally full pages of a longer list show a limit. One could be all that matches.
    """
    paging = calls[0].plan.paging
    unlimited = [call for call in calls if paging.limit not in call.arguments and call.plan.verb in ("list", "search")]
    pages = [(rows, call) for call in unlimited if (rows := _number_of_rows(call)) is not None]
    fullest = max((rows for rows, _ in pages), default=0)
    full = [call for rows, call in pages if rows == fullest]
    total = max((int(call.scope.facts.get("total", 0)) for call in full), default=0)
    size = "size" if paging.is_asked else "most"
    if 0 < fullest < total and len(full) > 1 and getattr(paging, size) != fullest:
        return {size: fullest}
    if paging.is_asked and fullest > paging.size:
        return {"size": next((size for size in _USUAL_SIZES if size >= fullest), fullest)}
    return {}


def _number_of_rows(call: Sample) -> int | None:
    """Return the number of items in the only list of a recorded answer, or None if it does not have exactly one."""
    values: Sequence[Json] = [*as_object(call.value).values()] or [call.value]
    lists = [as_list(value) for value in values if isinstance(value, list)]
    return len(lists[0]) if len(lists) == 1 and call.served else None


_NAME = re.compile(r"[A-Za-z][\w-]*")


def without_data(template: Json, data: Container[str], name: str = "") -> Json:
    """Return a JSON template with slots for constants that are ids or data. Lists with such constants are empty."""
    if isinstance(template, dict):
        fields = cast("Record", template)
        names = {key: name if key == ROWS else replaced_path({key: None}) or key.rstrip("?") for key in fields}
        return {key: without_data(value, data, names[key]) for key, value in fields.items()}
    if isinstance(template, list):
        items = cast("list[Json]", template)
        return [] if any(_is_data(key_of(path) or name, leaf, data) for path, leaf in leaves(items)) else items
    if isinstance(template, str) and (match := SLOT.fullmatch(template)) is not None and match[3] in data:
        return template.replace(f"??{match[3]}", "")
    return _slot(name) if _is_data(name, template, data) else template


def _slot(name: str) -> Json:
    return f"{{{name}}}" if _NAME.fullmatch(name) else None


def _is_data(name: str, value: Json, data: Container[str]) -> bool:
    if isinstance(value, str) and SLOT.search(value):
        return False
    return is_id(name, value) or (isinstance(value, str) and value.strip() in data)
