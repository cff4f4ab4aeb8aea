"""What an agent does in one turn: calls of tools, its final answer, or the message of a chat that has either."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_values import decode_strict, in_list


@dataclass(slots=True)
class ToolCall:
    """A call of a tool. Arguments may be a JSON text, as models write them. `id` is that of the message."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict[str, Any])
    id: str = ""


@dataclass(slots=True)
class Answer:
    """The final answer, which ends the episode."""

    text: str


Action: TypeAlias = "ToolCall | Answer | Sequence[ToolCall] | Mapping[str, Any]"


class Unparseable(ValueError):
    """A message is not one of an assistant. The sentence is what the agent reads."""


@dataclass(slots=True)
class Turn:
    """The parts of an action: calls in their order, or an answer; and the message of a chat that it is."""

    calls: Sequence[ToolCall]
    answer: str | None
    message: Record


def parse(action: Action, first_id: int) -> Turn:
    """Return the parts of an action. Calls without an id get `call_N`, from `first_id` on.

    Raises `Unparseable` if a model wrote it wrongly, `UsageError` for a value of another type or role.
    """
    if isinstance(action, Answer):
        text: Any = action.text
        if not isinstance(text, str):
            raise UsageError(f"an answer is a text, not a value of the type {type(text).__name__}")
        return Turn((), text, {"role": "assistant", "content": text})
    if isinstance(action, Mapping):
        calls, text = _message_parts(action)
    else:
        calls, text = _listed(action), ""
    numbered = [
        call if call.id else ToolCall(call.name, call.arguments, f"call_{number}")
        for number, call in enumerate(calls, first_id)
    ]
    if not numbered:
        return Turn((), text, {"role": "assistant", "content": text})
    return Turn(numbered, None, {"role": "assistant", "content": text, "tool_calls": [*map(_as_openai, numbered)]})


def _listed(action: Any) -> list[ToolCall]:
    calls: Any = [action] if isinstance(action, ToolCall) else action
    if isinstance(calls, Sequence) and all(map(_is_call, cast("Sequence[Any]", calls))):
        return [*cast("Sequence[ToolCall]", calls)]
    raise UsageError(f"an action is a ToolCall, a list of them, an Answer or an assistant message, got {action!r:.200}")


def _is_call(value: Any) -> bool:
    """Whether a value is a call whose parts have their types."""
    if not isinstance(value, ToolCall):
        return False
    name, arguments, call_id = cast("tuple[Any, Any, Any]", (value.name, value.arguments, value.id))
    return isinstance(name, str) and isinstance(arguments, str | Mapping) and isinstance(call_id, str)


def arguments_of(call: ToolCall) -> Record:
    """Return the arguments of a call. Raises `Unparseable`."""
    arguments: Any = call.arguments
    if isinstance(arguments, str):
        try:
            arguments = decode_strict(arguments or "{}")
        except (ValueError, RecursionError) as error:
            raise Unparseable(f"Error: the arguments of {call.name} are not valid JSON: {error}") from None
    if not isinstance(arguments, Mapping):
        raise Unparseable(f"Error: the arguments of {call.name} must be a JSON object")
    return dict(cast("Mapping[str, Any]", arguments))


def _as_openai(call: ToolCall) -> Record:
    try:
        arguments = call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the arguments of {call.name} are not JSON: {error}") from None
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _message_parts(message: Mapping[str, Any]) -> tuple[list[ToolCall], str]:
    """Return the calls and the text of a message as OpenAI or Anthropic write it."""
    role: Any = message.get("role", "assistant")
    if role != "assistant":
        raise UsageError(f"an action is a message of the role 'assistant', got one of {role!r:.200}")
    content: Any = message.get("content")
    if not isinstance(content, str | list | None):
        raise Unparseable("Error: the content of the message is neither a text nor a list of blocks")
    blocks = cast("list[Any]", content) if isinstance(content, list) else []
    written: Any = message.get("tool_calls") or []
    entries = in_list(written)
    if not all(isinstance(entry, Mapping) for entry in [*entries, *blocks]):
        raise Unparseable("Error: the tool calls of the message are not a list of objects")
    used = [block for block in blocks if block.get("type") == "tool_use"]
    calls = [*_openai_calls(entries), *(_call(block, "input", block.get("id")) for block in used)]
    texts: list[Any] = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    if not all(isinstance(text, str) for text in texts):
        raise Unparseable("Error: the text of the message is not a text")
    return calls, content if isinstance(content, str) else "\n".join(texts)


def _openai_calls(written: Iterable[Record]) -> Iterator[ToolCall]:
    for call in written:
        function: Any = call.get("function", call)
        if not isinstance(function, Mapping):
            raise Unparseable("Error: a tool call has no function")
        yield _call(cast("Record", function), "arguments", call.get("id"))


def _call(function: Mapping[str, Any], key: str, call_id: Any) -> ToolCall:
    name, arguments = function.get("name"), function.get(key)
    if not isinstance(name, str) or not name:
        raise Unparseable("Error: a tool call has no name")
    if not isinstance(arguments, str | Mapping | None):
        raise Unparseable(f"Error: the arguments of {name} must be a JSON object")
    return ToolCall(
        name, {} if arguments is None else cast("Any", arguments), call_id if isinstance(call_id, str) else ""
    )
