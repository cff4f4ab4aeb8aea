"""The class of an `environment_factory` of TRL 1.16.0: a method per tool, with types and a docstring in Google's form.

    GRPOTrainer(..., environment_factory=factory("flaky_crm"), reward_funcs=answered_reward)

TRL reads a schema from the signature and the docstring of each method. Types, enums, items and required arguments
remain; what Python's types cannot say is in the description.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, Union, cast

from mcp_sim.training import Answer, Environment
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.json_schema.shapes import as_object

TYPES: Mapping[str, Any] = {
    "string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict, "null": type(None),
}  # fmt: skip

OWN_METHODS = frozenset({"reset", "get_reward"})
"""What TRL calls itself. A reward is read from `answered_reward` only: TRL would add that of `get_reward` to it."""

SAID_BY_TYPES = frozenset({"description", "type", "enum", "title", "default"})
"""Keywords of a schema that need no words beside the signature."""


def factory(scenario: str | Path, **options: Any) -> Callable[[], Any]:
    """Return a picklable factory of environments. `options` are those of `mcp_sim.training.Environment`."""
    return partial(_opened, str(scenario), tuple(sorted(options.items())))


def answered_reward(
    completions: Sequence[Sequence[Record]], environments: Sequence[Any], **_columns: Any
) -> list[float | None]:
    """Return the rewards of episodes, with the final answers, which TRL shows to reward functions only."""
    rewards = list[float | None]()
    for messages, environment in zip(completions, environments, strict=True):
        last = messages[-1] if messages else {}
        episode: Environment = environment.episode
        if not episode.done:
            episode.step(Answer(str(last.get("content") or "") if last.get("role") == "assistant" else ""))
        rewards.append(episode.reward())
    return rewards


_classes: dict[tuple[str, tuple[tuple[str, Any], ...]], type] = {}


def _opened(scenario: str, options: tuple[tuple[str, Any], ...]) -> Any:
    key = scenario, options
    if key not in _classes:
        _classes[key] = environment_class(scenario, **dict(options))
    return _classes[key]()


def environment_class(scenario: str | Path, **options: Any) -> type:
    """Return the class of the environments of a scenario. Raises `UsageError` if TRL cannot describe its tools."""

    def begin(self: Any) -> None:
        self.episode = Environment(scenario, **options)

    def reset(
        self: Any, seed: int | None = None, stream: str = "", intensity: float | None = None, prompt: Any = (), **_: Any
    ) -> str | None:
        task = self.episode.reset(seed=seed, stream=stream, intensity=intensity)
        messages = cast("list[Any]", prompt) if isinstance(prompt, list) else []
        is_asked = any(as_object(message).get("content") == task for message in messages)
        return None if is_asked else task  # TRL appends it to the prompt, which `Task.row` has already

    body: dict[str, Any] = {"__init__": begin, "reset": reset}
    for tool in Environment(scenario, **options).tools():
        method = _method(tool["function"])
        if method.__name__ in OWN_METHODS | {*body}:
            raise UsageError(f"the tool {method.__name__} has the name of another tool, or of a method of TRL")
        body[method.__name__] = method
    return type("McpSimEnvironment", (), body)


def _method(function: Record) -> Callable[..., str]:
    """Return a method with the signature and the docstring of a tool."""
    name, schema = function["name"], as_object(function["parameters"])
    properties, required = as_object(schema.get("properties")), frozenset(schema.get("required", ()))
    odd = [argument for argument in properties if not re.fullmatch(r"[A-Za-z_]\w*", argument)]
    if odd:
        raise UsageError(f"{name}: TRL cannot describe the argument {odd[0]!r}; it is not a Python name")

    def call(self: Any, **arguments: Any) -> str:
        if self.episode.done:
            return "The episode is over."
        return self.episode.call(name, {key: value for key, value in arguments.items() if value is not None})

    hints = {argument: _hint(as_object(properties[argument])) for argument in properties}
    ordered = sorted(properties, key=lambda argument: argument not in required)
    parameters = [_parameter(argument, hints[argument], is_required=argument in required) for argument in ordered]
    receiver = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    method: Any = call
    method.__name__ = method.__qualname__ = re.sub(r"\W", "_", name)
    method.__signature__ = inspect.Signature([receiver, *parameters], return_annotation=str)
    method.__annotations__ = {**hints, "return": str}
    method.__doc__ = _docstring(function, properties)
    return call


def _parameter(name: str, hint: Any, *, is_required: bool) -> inspect.Parameter:
    default = inspect.Parameter.empty if is_required else None
    kind = inspect.Parameter.KEYWORD_ONLY
    try:
        return inspect.Parameter(name, kind, default=default, annotation=hint)
    except ValueError:  # a keyword of Python, such as `from`: TRL passes arguments by keyword
        parameter = inspect.Parameter("argument", kind, default=default, annotation=hint)
        setattr(parameter, "_name", name)  # noqa: B010 (it has no setter)
        return parameter


def _hint(schema: Record) -> Any:
    """Return the Python type that TRL turns back into a schema."""
    values: Sequence[Any] = schema.get("enum") or ()
    if values and all(isinstance(value, str | int | float | bool) for value in values):
        return Literal[tuple(values)]
    variants = [as_object(variant) for key in ("anyOf", "oneOf") for variant in schema.get(key, ())]
    if variants:
        return _union(map(_hint, variants))
    kind: Any = schema.get("type")
    if isinstance(kind, list):
        return _union(_hint({**schema, "type": name}) for name in cast("list[str]", kind))
    items = as_object(schema.get("items"))
    if kind == "array" and items:
        return list[_hint(items)]
    return TYPES.get(kind, Any)


def _union(hints: Iterable[Any]) -> Any:
    kept = [*hints]
    return Any if not kept or Any in kept else Union[tuple(kept)]  # noqa: UP007 (of a list)


def _docstring(function: Record, properties: Record) -> str:
    """Return a docstring in Google's form. Headings within the description would end it."""
    text = re.sub(r"\n\s*(Args|Returns|Raises):", r"\n\1 -", function["description"] or function["name"])
    if not properties:
        return text
    lines = [f"    {name}: {_described(name, as_object(schema))}" for name, schema in properties.items()]
    return "\n".join([text, "", "Args:", *lines])


def _described(name: str, schema: Record) -> str:
    words = " ".join(str(schema.get("description") or name).split())
    beyond = {key: value for key, value in schema.items() if key not in SAID_BY_TYPES}
    if set(beyond) <= {"items"} and "properties" not in as_object(beyond.get("items")):
        return words
    return f"{words} JSON Schema: {json.dumps(beyond)}"
