"""Recorded sessions as a language model reads them: the most informative calls first, within a number of characters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

from mcp_sim.recordings.observed import observe
from mcp_sim.spec.sessions import Answer, RecordedCall, Session
from mcp_sim.types import Json, Record, canonical, frozen
from mcp_sim.types.json_schema.validation import Validator

MOST_SESSIONS = 12  # with more, each would be cut to fit the prompt, and show less of what follows from what
_FEWEST_ITEMS = 2  # from how many text blocks on they may be the items of a list
LONGEST_RESULT = 4_000  # the longest result that is shown whole, in characters
_OFTEN = 3  # from how many alike calls on a result is shortened more
_MOST_EXACT = 2  # how many blocks show how a server divides an answer
_LONGEST_REPEATED = 600  # the first ones have shown the form; later ones need to show only what changed


@frozen
class _Shown:
    """A call as text, and how little it adds to those before it."""

    session: int
    seq: int
    text: str
    rank: int


def sessions_text(sessions: Sequence[Session], most: int) -> str:
    """Return sessions as text of at most about `most` characters. Calls that add least are left out first."""
    chosen = representative_sessions(sessions)
    calls = [*_ranked(chosen)]
    kept, used = set[tuple[int, int]](), 0
    for call in sorted(calls, key=lambda call: call.rank):
        if used + len(call.text) <= most:
            kept.add((call.session, call.seq))
            used += len(call.text)
    return "\n\n".join(_session_text(at, session, calls, kept) for at, session in enumerate(chosen))


def answer_text(answer: Answer, most: int = LONGEST_RESULT) -> str:
    """Return what a server answered, as a model reads it: what kind of answer it is, and its exact text."""
    if "error" in answer:
        return f"=> JSON-RPC error {answer['error'].get('code')}: {answer['error'].get('message')}"
    result: Record = answer["result"]
    sign = "=> isError" if result.get("isError") else "=>"
    structured: Json = result.get("structuredContent")
    blocks: Sequence[Record] = result.get("content") or []
    # The only field, if it is what the only block shows.
    fields = [*cast("Record", structured).items()] if isinstance(structured, dict) else []
    shown = [str(block.get("text", "")) for block in blocks]
    field = fields[0][0] if len(fields) == 1 and shown == [fields[0][1]] else None
    if field is not None:
        return f"{sign} text, also structured under `{field}`:\n{shortened(str(blocks[0]['text']), most)}"
    parts = [f"structured {shortened(canonical_in_order(structured), most)}"] if structured is not None else []
    parts += (
        [_items_text(blocks)]
        if _are_items(blocks, structured)
        else [_block_text(block, structured, most) for block in blocks]
    )
    return "\n".join([f"{sign} {piece}" for piece in parts]) or f"{sign} no content"


def canonical_in_order(value: Json) -> str:
    """Return JSON without spaces at its ends, its fields in their order."""
    return json.dumps(value, ensure_ascii=False)


def shortened(text: str, most: int) -> str:
    """Return a text, or its beginning and how much is left out."""
    return text if len(text) <= most else f"{text[:most]} [... {len(text) - most} more characters]"


def _are_items(blocks: Sequence[Record], structured: Json) -> bool:
    """Whether text blocks show the items of a structured list one by one."""
    listed: Json = cast("Record", structured).get("result") if isinstance(structured, dict) else structured
    if not isinstance(listed, list) or len(blocks) < _FEWEST_ITEMS:
        return False
    items = cast("list[Json]", listed)
    texts = [_parsed(str(block.get("text", ""))) for block in blocks if block.get("type") == "text"]
    return len(texts) == len(blocks) and texts == items


def _items_text(blocks: Sequence[Record]) -> str:
    texts = [str(block.get("text", "")) for block in blocks]
    layout = next((layout_of(text, value) for text in texts if not isinstance(value := _parsed(text), str)), "its text")
    return f"{len(blocks)} text blocks: one for each item of the list above, as {layout or 'JSON'}"


def _parsed(text: str) -> Json:
    """Return the object or list that a text is; a text as it is."""
    try:
        return json.loads(text) if text[:1] in ("{", "[") else text
    except ValueError:
        return text


def _block_text(block: Record, structured: Json, most: int) -> str:
    if block.get("type") != "text":
        return f"block {shortened(canonical_in_order(block), most)}"
    text = str(block.get("text", ""))
    value = _parsed(text)
    layout = None if isinstance(value, str) else layout_of(text, value)
    if layout is None:
        return f"text:\n{shortened(text, most)}"
    if structured is not None and value == structured:
        return f"text: the same, as {layout}"
    return f"text, {layout}: {shortened(canonical_in_order(value), most)}"


_LAYOUTS: Mapping[str, Record] = {
    "JSON indented by 2": {"indent": 2},
    "JSON indented by 4": {"indent": 4},
    "JSON without spaces": {"separators": (",", ":")},
    "JSON in one line with spaces": {},
}
"""The ways in which programs write JSON, and the options of `json.dumps` for them."""


def layout_of(text: str, value: Json) -> str | None:
    """Return how a text writes a JSON value; None if otherwise than the usual ways."""
    for name, options in _LAYOUTS.items():
        if json.dumps(value, ensure_ascii=False, **options) == text:
            return name
        if json.dumps(value, **options) == text:
            return f"{name} and `\\u` escapes"
    return None


def exact_text(answer: Answer, most: int) -> str:
    """Return what a server answered as it is on the wire, shortened."""
    if "error" in answer:
        return answer_text(answer, most)
    result: Record = answer["result"]
    blocks: Sequence[Record] = result.get("content") or []
    lines = ["=> isError"] if result.get("isError") else ["=>"]
    for block in blocks[:_MOST_EXACT]:
        is_text = block.get("type") == "text"
        shown = f"text block:\n{block.get('text', '')}" if is_text else f"block {canonical_in_order(block)}"
        lines.append(shortened(shown, most))
    lines += [f"({len(blocks) - _MOST_EXACT} more blocks)"] if len(blocks) > _MOST_EXACT else []
    structured: Json = result.get("structuredContent")
    lines += [] if structured is None else [f"structured content: {shortened(canonical_in_order(structured), most)}"]
    return "\n".join(lines)


def typical_calls(calls: Sequence[RecordedCall]) -> Iterator[RecordedCall]:
    """Yield a success and a failure, if there are any, each as long as is usual among those of the server."""
    for is_failure in (False, True):
        alike = [call for call in calls if observe(call.answer).failed == is_failure]
        alike.sort(key=lambda call: len(json.dumps(call.answer)))
        yield from alike[len(alike) // 2 : len(alike) // 2 + 1]


def representative_sessions(sessions: Sequence[Session]) -> list[Session]:
    """Return a few sessions that show the most between them."""
    return most_varied(sessions, MOST_SESSIONS, _kind)[:MOST_SESSIONS]


def most_varied(sessions: Sequence[Session], count: int, kind: Callable[[RecordedCall], str]) -> list[Session]:
    """Return sessions, the first `count` in an order in which each adds the most kinds of calls to those before."""
    left, first, seen = [*sessions], list[Session](), set[str]()
    while left and len(first) < count:
        best = max(left, key=lambda session: len({kind(call) for call in session.calls} - seen))
        left.remove(best)
        first.append(best)
        seen |= {kind(call) for call in best.calls}
    return [*first, *left]


def _kind(call: RecordedCall) -> str:
    """Return what a call shows of a tool: whether it fails, and which arguments it has."""
    return f"{call.tool} {observe(call.answer).failed} {sorted(call.arguments)}"


def _ranked(sessions: Sequence[Session]) -> Iterator[_Shown]:
    kinds, tools = Counter[str](), Counter[str]()
    for at, session in enumerate(sessions):
        for call in session.calls:
            kind, outcome = _kind(call), f"{call.tool} {observe(call.answer).failed}"
            rank = min(kinds[kind] * 2, tools[outcome] * 2 + 1) if tools[outcome] else 0
            longest = _LONGEST_REPEATED if kinds[kind] >= _OFTEN else LONGEST_RESULT
            kinds[kind] += 1
            tools[outcome] += 1
            heading = f"{call.seq}. {call.tool} {canonical_in_order(call.arguments)}"
            yield _Shown(at, call.seq, f"{heading}\n{answer_text(call.answer, longest)}", rank)


def _session_text(at: int, session: Session, calls: Sequence[_Shown], kept: set[tuple[int, int]]) -> str:
    lines, left_out = [f"### Session {session.name}"], 0
    for call in calls:
        if call.session != at:
            continue
        if (at, call.seq) not in kept:
            left_out += 1
            continue
        if left_out:
            lines.append(f"({left_out} calls are left out here)")
            left_out = 0
        lines.append(call.text)
    if left_out:
        lines.append(f"({left_out} calls are left out here)")
    return "\n".join(lines)


def distinct_states(sessions: Sequence[Session]) -> dict[str, Record]:
    """Return the states that sessions begin with, each once, by the first session that does."""
    first: dict[str, Session] = {}
    for session in representative_sessions(sessions):
        first.setdefault(canonical(session.state), session)
    return {session.name: session.state for session in first.values()}


def violated_schemas(sessions: Sequence[Session]) -> Iterator[str]:
    """Yield the tools whose recorded results are not valid under their own outputSchema."""
    schemas = {tool["name"]: tool.get("outputSchema") for session in sessions for tool in session.tools}
    valid = {name: Validator(cast("Record", schema)) for name, schema in schemas.items() if isinstance(schema, dict)}
    for session in sessions:
        for call in session.calls:
            result: Record = call.answer.get("result") or {}
            if call.tool in valid and result and not result.get("isError"):
                structured: Json = result.get("structuredContent")
                if structured is None or valid[call.tool].problems(structured):
                    yield call.tool
