"""Samples: calls of a server with its real answers, one of each tool, from recordings, documentation or the server."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias, cast

from mcp_sim.recordings.capture.redaction import Redactor
from mcp_sim.recordings.compiling.evidence import layout_of
from mcp_sim.recordings.compiling.subject import Subject, write_server
from mcp_sim.recordings.compiling.trial_arguments import ArgumentSets, KnownArguments
from mcp_sim.recordings.observed import Observed, observe
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.sessions import Answer, RecordedCall, Session
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object, properties

Call: TypeAlias = Callable[[str, Record], Awaitable[Answer]]  # makes a call on the live server

_TRIES = 3
"""How often a tool of a live server is called until it succeeds. Each call is one of the user's server."""
_ORDER = ("create", "list", "search", "get")
"""The verbs of tools in the order of their calls: what answers with the ids that others need comes first."""
_HEADING = re.compile(r"^#+ .*$", re.MULTILINE)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(?P<text>.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_ID_IN_TEXT = re.compile(r"(?:(?<!\w)#|\bid\W{1,3})([\w.-]*\w)", re.IGNORECASE)
"""An id in prose: `#12`, `ID: abc`."""
_LONGEST_FORM = 80  # a message is one line


def with_samples(subject: Subject, calls: Iterable[RecordedCall], state: Record) -> Subject:
    """Return a subject with a success of each tool, and the first failure of the server."""
    known, chosen, failure = {str(tool["name"]) for tool in subject.tools}, dict[str, RecordedCall](), None
    for call in calls:
        if call.tool in known and not observe(call.answer).failed:
            first = chosen.setdefault(call.tool, call)
            if _is_empty(first) and not _is_empty(call):
                chosen[call.tool] = call
        elif call.tool in known and failure is None:
            failure = call
    kept = [*chosen.values(), *([] if failure is None else [failure])]
    return replace(subject, samples=sorted(kept, key=lambda call: call.seq), sample_state=state)


def _is_empty(call: RecordedCall) -> bool:
    """Whether an answer shows no record, such as an empty list."""
    value = observe(call.answer).value
    return value in ({}, [], "") or (isinstance(value, dict) and not any(cast("Record", value).values()))


def sessions_in_order(sessions: Sequence[Session]) -> list[RecordedCall]:
    """Return the calls of sessions, numbered throughout."""
    calls = (call for session in sessions for call in session.calls)
    return [replace(call, seq=number) for number, call in enumerate(calls, 1)]


# documentation --------------------------------------------------------------------------------------------------------


def documented_calls(text: str, tools: Sequence[Record]) -> list[RecordedCall]:
    """Return the examples in documentation: JSON, or Markdown in which a block follows the name of its tool.

    JSON is a list of `{"tool", "arguments", "result"}`, or a mapping from tools to `{"arguments", "result"}`. In
    Markdown, a section is about the tool in its heading; a block with arguments is followed by one with the result.
    """
    schemas = {str(tool["name"]): as_object(tool.get("inputSchema")) for tool in tools}
    value = _json(text)
    examples = _listed(value) if isinstance(value, list | dict) else _in_sections(text, schemas)
    return [
        RecordedCall(tool, arguments, _answer(result), number, {})
        for number, (tool, arguments, result) in enumerate(examples, 1)
        if tool in schemas
    ]


def _listed(value: Json) -> Iterator[tuple[str, Record, Json]]:
    rows = [{"tool": name, **as_object(row)} for name, row in as_object(value).items()] or value
    for row in map(as_object, cast("list[Json]", rows) if isinstance(rows, list) else []):
        result: Json = row.get("result", row.get("response", row.get("output")))
        if result is not None:
            yield str(row.get("tool", row.get("name", ""))), as_object(row.get("arguments")), result


def _in_sections(text: str, schemas: Mapping[str, Record]) -> Iterator[tuple[str, Record, Json]]:
    """Yield the examples of Markdown."""
    fenced = [match.span() for match in _FENCED.finditer(text)]
    headings = [match.start() for match in _HEADING.finditer(text)]
    starts = [start for start in headings if not any(begin < start < end for begin, end in fenced)]
    for begin, end in pairwise([0, *starts, len(text)]):
        section = text[begin:end]
        heading = section.partition("\n")[0]
        named = [name for name in schemas if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", heading)]
        if named:
            yield from _in_blocks(max(named, key=len), section, schemas)


def _in_blocks(tool: str, section: str, schemas: Mapping[str, Record]) -> Iterator[tuple[str, Record, Json]]:
    arguments: Record = {}
    for match in _FENCED.finditer(section):
        block = match["text"].rstrip("\n")
        value = _json(block)
        asked = as_object(as_object(value).get("arguments")) or as_object(value)
        if asked and asked.keys() <= properties(schemas[tool]).keys():
            arguments = asked
        else:
            yield tool, arguments, block
            arguments = {}


def _answer(result: Json) -> Answer:
    """Return an answer: a CallToolResult as it is, a text as a text, another value as JSON."""
    parsed = _json(result) if isinstance(result, str) else result
    if isinstance(as_object(parsed).get("content"), list):
        return {"result": as_object(parsed)}
    text = result if isinstance(result, str) else json.dumps(result, indent=2, ensure_ascii=False)
    return {"result": {"content": [{"type": "text", "text": text}]}}


def _json(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


# the live server ------------------------------------------------------------------------------------------------------


async def live_calls(subject: Subject, call: Call, allowed: Sequence[str]) -> list[RecordedCall]:
    """Call the tools of a live server that certainly read, and those that match a glob in `allowed`.

    Arguments come from schemas, and from the answers to the calls before. Secrets are redacted.
    """
    with TemporaryDirectory(prefix="mcp-sim-") as name:
        folder = Path(name)
        write_server(replace(subject, world={}), folder)
        domain = load(folder / "scenario.json").domain
        none = {entity: {"count": 0} for entity, kind in domain.entities.items() if not kind.singleton}
        write_server(replace(subject, world={"records": none}), folder)
        async with Simulator(load(folder / "scenario.json")) as simulator:
            view = simulator.world("default").view
            calls, redactor = list[RecordedCall](), Redactor()
            tools = [
                tool.id
                for tool in domain.tools.values()
                if domain.only_reads(tool) or any(fnmatchcase(tool.name, glob) for glob in allowed)
            ]
            ranks = {verb: rank for rank, verb in enumerate(_ORDER)}
            for tool in sorted(tools, key=lambda tool: ranks.get(domain.plans[tool].verb, len(ranks))):
                known = _known_from([observe(call.answer) for call in calls])
                sets = ArgumentSets(domain, known, view).sets(domain.plans[tool], domain.plans[tool].verb)
                for arguments in islice(sets, _TRIES):
                    answer = redactor.redact(await call(domain.tools[tool].name, arguments), "live")
                    calls.append(RecordedCall(tool, arguments, cast("Answer", answer), len(calls) + 1, {}))
                    if not observe(calls[-1].answer).failed:
                        break
            return calls


def _known_from(answers: Sequence[Observed]) -> KnownArguments:
    """Return what the answers so far show that arguments may mean: values of data, and ids in texts."""
    known = KnownArguments.of([answer.value for answer in answers], {})
    in_texts = [name for answer in answers if not answer.failed for name in _ID_IN_TEXT.findall(answer.text)]
    return replace(known, ids=[*dict.fromkeys([*reversed(in_texts), *known.ids])])


# forms ----------------------------------------------------------------------------------------------------------------


def differing_forms(sample: Answer, answer: Answer) -> tuple[str, str] | None:
    """Return the forms of two successful answers, if an agent sees that they differ."""
    wanted, served = _form(sample), _form(answer)
    return None if wanted == served else (wanted[:_LONGEST_FORM], served[:_LONGEST_FORM])


def _form(answer: Answer) -> str:
    """Return how an answer is written: its kinds of blocks, the layout of its text, and whether it is structured."""
    result: Record = answer.get("result") or {}
    blocks: Sequence[Record] = result.get("content") or []
    kinds = [*dict.fromkeys(str(block.get("type")) for block in blocks)]
    value = _json(str(blocks[0].get("text", ""))) if kinds[:1] == ["text"] else None
    is_data = isinstance(value, list | dict)
    layout = (layout_of(str(blocks[0]["text"]), value) or "JSON of another layout") if is_data else "text"
    forms = [layout if kind == "text" else kind for kind in kinds] or ["no content"]
    return " and ".join([*forms, *(["structured content"] if "structuredContent" in result else [])])
