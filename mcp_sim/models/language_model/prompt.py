"""What is a model told? A system prompt that is the same for all worlds of a scenario, then turn by turn.

Every text depends on its arguments alone and JSON has a fixed order, so that an engine finds its prefix cached.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from mcp_sim.models.language_model.sight import Sight
from mcp_sim.models.language_model.transcript import Said
from mcp_sim.types import Attempt, Json, Observation, Record, RpcError, Tool, ToolResult, Turn
from mcp_sim.types.domain import Domain, Example

LONGEST_RETRY = 4_000
"""How much of a rejected answer is shown again, in characters."""

_MARK = re.compile(r"<(?=\||/?think>)")
"""How what chat templates take for their own marks begins."""

Message = dict[str, str]


def system(domain: Domain, instructions: Mapping[str, str]) -> str:
    """Role, rules, tool definitions, world, instructions (globs of tools -> what to do), demonstrations."""
    role = files("mcp_sim.models.language_model").joinpath("prompts", "system.md").read_text(encoding="utf-8")
    tools = "\n".join(_definition(tool) for tool in domain.tools.values())
    sections = [role.strip(), f"# Tools\n\n{tools}"]
    if domain.description:
        sections.append(f"# World\n\n{domain.description.strip()}")
    if instructions:
        told = "\n".join(f"- {_who(glob)}: {' '.join(text.split())}" for glob, text in instructions.items())
        sections.append(f"# Instructions\n\n{told}")
    if domain.examples:
        sections.append("# Demonstrations\n\n" + "\n\n".join(_demonstration(example) for example in domain.examples))
    return _encodable("\n\n".join(sections))


def _who(glob: str) -> str:
    """The tools that an instruction is for."""
    return "every tool" if glob == "*" else f"`{glob}`"


def whole_turn(turn: Turn, told: Record) -> str:
    """A turn that asks for the whole observation."""
    return _encodable(f"{_action(turn)}\n\n{_world(told)}\n\n**Answer:** the whole observation")


def instructed_turn(turn: Turn, told: Record, instruction: str) -> str:
    """A turn that asks for an observation that is not the true one, but what an instruction makes of it."""
    return _encodable(
        f"{_action(turn)}\n\n{_world(told)}\n\n**Instruction:** {instruction}\n\n"
        "**Answer:** the whole observation, as the instruction wants it even where that is not true"
    )


def open_turn(turn: Turn, told: Record, settled: Sequence[Record], schemas: Record) -> str:
    """A turn that asks for the fields that the world leaves open."""
    known = {**told, "settled": list(settled)} if settled else told
    return _encodable(f"{_action(turn)}\n\n{_world(known)}\n\n**Answer:** the open fields\n{_fenced(schemas)}")


def observation_turn(observed: Json) -> str:
    """The answer to a turn as the transcript keeps it: what is true, whoever said it."""
    return _encodable(_observation(observed))


def state_turn(turn: Turn, sight: Sight, most: int) -> tuple[str, str]:
    """What takes the place of old turns, in at most `most` characters: how many records there are, and what is true now
    of those that were written of late."""
    counts = {name: turn.view.count(name) for name in sight.domain.entities if sight.is_counted(name)}
    told = _encodable(f"### State\n**World:**\n{_fenced({'count': counts})}")
    lines = list[str]()
    left = most - len(told)
    for record in _touched(turn, sight):
        line = _json(record)
        left -= len(line) + 1
        if left < 0:
            break
        lines.append(line)
    shown = "\n".join(reversed(lines))
    return _encodable(f"{told}\n\n**Records:**\n{shown}" if shown else told), "**Environment Observation:**\nnoted"


def _touched(turn: Turn, sight: Sight) -> Iterator[Record]:
    """The records that earlier calls and others wrote, as they are now (null: gone), the newest first."""
    seen = set[tuple[str, Any]]()
    for past in reversed(turn.history):
        for change in reversed(past.changes):
            at = (change.entity, change.key)
            if at not in seen:
                seen.add(at)
                yield {"entity": change.entity, "key": change.key, "record": sight.record(at[0], turn.view.get(*at))}


def messages(system_text: str, said: Said | None, user: str, rejected: Sequence[Attempt]) -> list[Message]:
    """The conversation up to the question, with this turn's failed attempts."""
    return [
        {"role": "system", "content": system_text},
        *(message for turn in (said.turns() if said else ()) for message in _exchange(turn.user, turn.assistant)),
        {"role": "user", "content": user},
        *(message for attempt in rejected for message in _again(attempt)),
    ]


def _exchange(user: str, assistant: str) -> tuple[Message, Message]:
    return {"role": "user", "content": user}, {"role": "assistant", "content": assistant}


def _again(attempt: Attempt) -> Iterator[Message]:
    """What the model said, and what is wrong with it."""
    said = _MARK.sub("< ", attempt.raw.rpartition("</think>")[2].strip())
    yield {"role": "assistant", "content": _encodable(said[:LONGEST_RETRY]) or "(nothing)"}
    problems = "\n".join(f"- {problem}" for problem in attempt.problems)
    text = (
        f"**Problems:**\n{problems}\n\nThat answer cannot be used. Answer the same turn again, without these problems."
    )
    yield {"role": "user", "content": _encodable(text)}


def _definition(tool: Tool) -> str:
    shown = {"name": tool.id, "description": tool.description, "inputSchema": tool.input_schema}
    if tool.output_schema is not None:
        shown["outputSchema"] = tool.output_schema
    return "- " + _json(shown)


def _demonstration(example: Example) -> str:
    call = {"name": example.tool, "arguments": example.arguments}
    return f"**Action:**\n{_fenced(call)}\n\n{_observation(example.result)}"


def _action(turn: Turn) -> str:
    return f"### Turn {turn.index}\n**Action:**\n{_fenced({'name': turn.call.tool, 'arguments': turn.call.arguments})}"


def _world(told: Record) -> str:
    return f"**World:**\n{_fenced(told)}"


def _observation(value: Json) -> str:
    return f"**Environment Observation:**\n{_MARK.sub('< ', value) if isinstance(value, str) else _json(value)}"


def shown(observation: Observation) -> Json:
    """An observation as it stands in a prompt."""
    match observation.body:
        case ToolResult(value, _, is_error, _):
            return {"isError": True, "text": value} if is_error else value
        case RpcError(_, message, _):
            return {"isError": True, "text": message}
        case _:
            return {"isError": True, "text": "no answer"}


def _fenced(value: Json) -> str:
    return f"```json\n{_json(value)}\n```"


def _json(value: Any) -> str:
    """Compact JSON in the order of the value, readable where it is not ASCII.

    What chat templates would take for their own marks is escaped.
    """
    return _MARK.sub(r"\\u003c", json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _encodable(text: str) -> str:
    """The text without lone surrogates, which no request can carry."""
    return text.encode("utf-8", "replace").decode("utf-8")
