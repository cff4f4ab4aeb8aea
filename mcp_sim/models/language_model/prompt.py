"""Texts of the model prompt: a system prompt, which all worlds of a scenario share, and the turns.

Every text depends on its arguments alone, and JSON has a fixed order, so that engines can cache prefixes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.models.language_model.tighten import Bounds
from mcp_sim.types import Json, Observation, Record, RpcError, Tool, ToolResult, Turn, canonical
from mcp_sim.types.domain import Domain, Example

TEMPLATE_MARK = re.compile(r"<(?=\||/?think>)")  # the beginning of what chat templates would take for their own markup

STOP = ("\n### Turn ", "\n**Action:**\n```")
"""Where a model goes on with the next turn. Reasoning, which engines stop at them too, has hardly any of them."""

SMALL_SCHEMA = 100  # size of a schema that may be repeated, in characters

Message = dict[str, str]


def system(domain: Domain, instructions: Mapping[str, str], bounds: Bounds | None = None) -> str:
    """Return the system prompt: role, tools, world, instructions (glob of tools -> text), demonstrations.

    `bounds` are those of the grammar that structured answers are decoded under.
    """
    role = files("mcp_sim.models.language_model").joinpath("prompts", "system.md").read_text(encoding="utf-8")
    sections = [role.strip(), "# Tools\n\n" + "\n".join(_definitions(domain.tools.values()))]
    if bounds is not None and any(tool.output_schema is not None for tool in domain.tools.values()):
        sections.append(
            f"In the observation of a tool with an `outputSchema`, properties come in its order. Unless it sets other "
            f"limits, a text has at most {bounds.text:,} characters, and a list at most {bounds.items:,} items."
        )
    if domain.description:
        sections.append(f"# World\n\n{domain.description.strip()}")
    if instructions:
        named = {"every tool" if glob == "*" else f"`{glob}`": text for glob, text in instructions.items()}
        lines = "\n".join(f"- {tools}: {' '.join(text.split())}" for tools, text in named.items())
        sections.append(f"# Instructions\n\n{lines}")
    if domain.examples:
        sections.append("# Demonstrations\n\n" + "\n\n".join(_demonstration(example) for example in domain.examples))
    return encodable("\n\n".join(sections))


def whole_turn(turn: Turn, facts: Record) -> str:
    """Return a turn that asks for the whole observation."""
    return encodable(f"{_action(turn)}\n\n{_world(facts)}\n\n**Answer:** the whole observation")


def instructed_turn(turn: Turn, facts: Record, instruction: str, truth: str) -> str:
    """Return a turn that asks for the true observation, altered by an instruction."""
    return encodable(
        f"{_action(turn)}\n\n{_world(facts)}\n\n**Instruction:** {instruction}\n\nThe true observation:\n{truth}\n\n"
        "**Answer:** the whole observation, as the instruction wants it even where that is not true"
    )


def judged_turn(turn: Turn, instruction: str, changes: list[Record]) -> str:
    """Return a turn that asks which changes of an observation an instruction asks for."""
    return encodable(
        f"{_action(turn)}\n\n**Instruction:** {instruction}\n\n**Changes:**\n{_fenced(changes)}\n\n"
        "**Answer:** the numbers of the changes that the instruction asks for"
    )


def changes_turn(turn: Turn) -> str:
    """Return a turn that asks what the call of the turn before has changed."""
    return encodable(f"{_action(turn)}\n\n**Answer:** what this call has changed")


def imagined_turn(turn: Turn, about: str) -> str:
    """Return the question for one value that a call of a program needs."""
    question = f"The tool needs one more value: {about or 'any'}. Reply with that value alone, as JSON."
    return encodable(f"{_action(turn)}\n\n{question}")


def observation_turn(observed: Json) -> str:
    """Return the reply to a turn that the transcript keeps: the true observation."""
    return encodable(_observation(observed))


def state_turn(turn: Turn, disclosure: Disclosure, max_size: int) -> tuple[str, str]:
    """Return a turn that replaces old ones, in at most `max_size` characters.

    It states the number of records, and the present state of those that were written last.
    """
    counts = {name: turn.view.count(name) for name in disclosure.domain.entities if disclosure.is_counted(name)}
    summary = encodable(f"### State\n**World:**\n{_fenced({'count': counts})}")
    lines = list[str]()
    left = max_size - len(summary)
    for record in _touched(turn, disclosure):
        line = _json(record)
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    shown = "\n".join(reversed(lines))
    return encodable(f"{summary}\n\n**Records:**\n{shown}" if shown else summary), "**Environment Observation:**\nnoted"


def _touched(turn: Turn, disclosure: Disclosure) -> Iterator[Record]:
    """Yield the records that calls and other actors wrote, in their present state (null: deleted), newest first."""
    seen = set[tuple[str, Any]]()
    for past in reversed(turn.history):
        for change in reversed(past.changes):
            at = (change.entity, change.key)
            if at not in seen:
                seen.add(at)
                yield {
                    "entity": change.entity,
                    "key": change.key,
                    "record": disclosure.record(at[0], turn.view.get(*at)),
                }


def _definitions(tools: Iterable[Tool]) -> Iterator[str]:
    """Yield the definitions of tools. A large schema that an earlier tool has too is named, not repeated."""
    first = dict[str, str]()
    for tool in tools:
        shown: Record = {"name": tool.id, "description": tool.description, "inputSchema": tool.input_schema}
        if tool.output_schema is not None:
            text = canonical(tool.output_schema)
            same = first.setdefault(text, tool.id)
            is_repeated = same != tool.id and len(text) > SMALL_SCHEMA
            shown["outputSchema"] = f"as of {same}" if is_repeated else tool.output_schema
        yield "- " + _json(shown)


def _demonstration(example: Example) -> str:
    call = {"name": example.tool, "arguments": example.arguments}
    return f"**Action:**\n{_fenced(call)}\n\n{_observation(example.result)}"


def _action(turn: Turn) -> str:
    return f"### Turn {turn.index}\n**Action:**\n{_fenced({'name': turn.call.tool, 'arguments': turn.call.arguments})}"


def _world(facts: Record) -> str:
    return f"**World:**\n{_fenced(facts)}"


def _observation(value: Json) -> str:
    return f"**Environment Observation:**\n{TEMPLATE_MARK.sub('< ', value) if isinstance(value, str) else _json(value)}"


def observation_value(observation: Observation) -> Json:
    """Return an observation in the form that prompts use."""
    match observation.body:
        case ToolResult() as body if body.blocks is not None or body.form == "blocks":
            return {"content": body.content, **({"isError": True} if body.is_error else {})}
        case ToolResult(value, form, is_error, text):
            if is_error:
                return {"isError": True, "text": value if isinstance(value, str) else canonical(value)}
            return text if text is not None and form == "json" else value
        case RpcError(code, message, _):
            return {"error": {"code": code, "message": message}}
        case _:
            return {"isError": True, "text": "no answer"}


def _fenced(value: Json) -> str:
    return f"```json\n{_json(value)}\n```"


def _json(value: Any) -> str:
    """Return compact JSON in the order of the value, without escaping non-ASCII characters.

    What chat templates would take for their own markup is escaped.
    """
    return TEMPLATE_MARK.sub(r"\\u003c", json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def encodable(text: str) -> str:
    """Return the text with lone surrogates replaced, since they cannot be encoded."""
    return text.encode("utf-8", "replace").decode("utf-8")
