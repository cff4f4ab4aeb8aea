"""What can be written in a scenario? Entries of kinds are read by `entries`; here they are mappings."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from mcp_sim.spec.parts.content import Part
from mcp_sim.spec.parts.surface import StubPart
from mcp_sim.spec.parts.tool_spec import Root
from mcp_sim.types import Json
from mcp_sim.types.clock import DEFAULT_NOW, Mode
from mcp_sim.types.options import Count, CountFromZero, Duration, Moment, SpanText


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_globs(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise ValueError("must be a glob, or a list of globs")
    return _listed(cast("Any", value))


def per(value: Any) -> Any:
    """`tool`, `entity` or `arguments.NAME`, what a counter may be split by; raises ValueError on anything else."""
    if value is None or value in ("tool", "entity") or re.fullmatch(r"arguments\..+", str(value)):
        return value
    raise ValueError(f"{value!r} splits nothing; write tool, entity, or arguments.NAME")


Globs = Annotated[
    list[str],
    Field(min_length=1),
    BeforeValidator(_as_globs, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]),
]
Presets = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])]
Per = Annotated[
    str,
    BeforeValidator(per),
    WithJsonSchema({"type": "string", "anyOf": [{"enum": ["tool", "entity"]}, {"pattern": r"^arguments\..+"}]}),
]


EVERY = "*"
"""In the place of an entity: every one that a file has."""


class RecordsPart(Part):
    """The records of one entity at the world's start; those of the file come first, then the rows."""

    file: str | None = Field(
        default=None,
        description="A file of data relative to the document: JSON, YAML, CSV, SQLite, or a folder of such.",
        examples=["contacts.csv"],
    )

    count: CountFromZero | None = Field(
        default=None, le=10_000_000, description="How many, rows included. Default: the rows alone."
    )
    rows: list[dict[str, Json]] = Field(
        default_factory=list[dict[str, Any]], description="Records as given; what a row leaves out is generated."
    )

    @model_validator(mode="after")
    def _count_includes_rows(self) -> Self:
        if self.count is not None and self.count < len(self.rows):
            raise ValueError(f"count is {self.count}, but there are {len(self.rows)} rows, which count includes")
        return self


def _as_records(value: Any) -> Any:
    if isinstance(value, dict):
        return cast("Any", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return {"count": value}
    if isinstance(value, str):
        return {"file": value}
    raise ValueError("must be a whole number, a file, or {count, rows, file}")


def _as_all_records(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError("must be a mapping from entities to records, or a file with all of them")
    return {EVERY: value} if isinstance(value, str) else cast("Any", value)


Records = Annotated[RecordsPart, BeforeValidator(_as_records, json_schema_input_type=CountFromZero | str | RecordsPart)]
AllRecords = Annotated[
    dict[str, Records], BeforeValidator(_as_all_records, json_schema_input_type=str | dict[str, Records])
]


def _as_state(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError("must be a mapping, or the file that holds one")
    return cast("Any", value)


State = Annotated[Json, BeforeValidator(_as_state, json_schema_input_type=str | dict[str, Json])]


class ClockPart(Part):
    """How the world's time passes."""

    mode: Mode | None = Field(default=None, description="virtual never sleeps, real is felt. Default: the command's.")
    per_call: Duration = Field(
        default=timedelta(seconds=1), description="How far the virtual clock moves at each call."
    )
    speed: float = Field(default=1.0, gt=0, description="How many times as fast as real time the real clock runs.")


class WorldPart(Part):
    """What is true at the start."""

    description: str = Field(default="", description="What the world is about: for the generator and for a model.")
    now: Moment = Field(default=DEFAULT_NOW, description="The world's time at its start.")
    records: AllRecords = Field(
        default_factory=dict[str, RecordsPart],
        description="Entity -> how many records, a file, or {count, rows, file}; '*' -> a file with tables of any "
        "entities. A file alone stands for {'*': FILE}.",
    )
    state: State | None = Field(
        default=None,
        description="All that is true at the start, in any form: what has keys becomes records, a tree of files files, "
        "the rest settings. What it does not mention is empty, unless `records` says how many there are. Or the JSON "
        "or YAML file that holds it.",
    )
    clock: ClockPart = Field(default=ClockPart(), description="How time passes.")
    open: bool = Field(
        default=False,
        description="true: the world model may make up a record that nobody mentioned yet; it exists from then on, "
        "exactly so. Default: the world knows all its records, and any other id is not found.",
    )
    namespaces: bool = Field(
        default=False, description="Entities of several servers are kept apart, as server.entity; else shared by name."
    )


def _as_fires(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, dict) else {"max": value}


class FiresPart(Part):
    """How often a perturbation is applied."""

    max: Count | None = Field(default=None, description="At most so often.")
    per: Per | None = Field(default=None, description="Counted per tool, entity or arguments.NAME.")
    cooldown: SpanText | None = Field(default=None, description="How long it rests after each time.")

    @model_validator(mode="after")
    def _counts_something(self) -> Self:
        if self.per is not None and self.max is None:
            raise ValueError("per goes with max: at most how often for each?")
        return self


Fires = Annotated[FiresPart, BeforeValidator(_as_fires, json_schema_input_type=Count | FiresPart)]


class PerturbationKeys(Part):
    """What stands beside the kind in an entry of `perturbations`."""

    id: str | None = Field(default=None, min_length=1, description="How the ledger and `recovered:` name it.")
    tools: Globs | None = Field(default=None, description="Globs of tools. Default: every tool.")
    when: Json = Field(default=None, description="Triggers; all must hold. Default: every call.")
    fires: Fires = Field(default=FiresPart(), description="At most so often: N, or {max, per, cooldown}.")
    visible: Literal["explicit", "implicit"] | None = Field(
        default=None, description="Does the agent get a sign that something is wrong? Default: as the kind says."
    )
    group: str | None = Field(default=None, description="Of one group at most one is applied per call.")
    enabled: bool = Field(default=True, description="false leaves it out.")


class ExpectationKeys(Part):
    """What stands beside the kind in an entry of `expect`."""

    id: str | None = Field(default=None, min_length=1, description="How verdicts name it.")
    weight: float = Field(default=1.0, ge=0, description="Its weight among the others.")
    gate: bool = Field(default=False, description="If it fails, nothing else counts.")
    optional: bool = Field(default=False, description="Reported, not graded.")


class WorldModelKeys(Part):
    """What stands beside the kind in an entry of a `world_model` list."""

    tools: Globs | None = Field(default=None, description="Globs of the tools it answers. Default: every tool.")


def _as_servers(value: Any) -> Any:
    if isinstance(value, list):
        raise ValueError("a list of tools belongs into a tool spec; here goes its file or name")
    if not isinstance(value, str | dict):
        raise ValueError("must be the file or the name of a tool spec, or a mapping server -> tool spec")
    return {"": value} if isinstance(value, str) else cast("Any", value)


Servers = Annotated[
    dict[str, str],
    Field(min_length=1),
    BeforeValidator(_as_servers, json_schema_input_type=str | Annotated[dict[str, str], Field(min_length=1)]),
]


class ScenarioDocument(Root):
    """What happens to an agent: tools, world, faults, and what is expected of it."""

    mcp_sim: Literal[1] = Field(description="The version of the format.")
    name: str | None = Field(default=None, min_length=1, description="What it is called. Default: the file's name.")
    extends: Presets = Field(
        default_factory=list[str],
        description="Presets whose faults come first: shipped names, or files relative to this one.",
    )
    task: str = Field(default="", description="What the agent is asked to do; the server never shows it.")
    tools: Servers = Field(
        description="A tool spec: a file relative to this one, or a shipped name. Or a mapping server -> tool spec."
    )
    seed: int = Field(default=0, description="Everything random follows from it.")
    world: WorldPart = Field(default=WorldPart(), description="What is true at the start.")
    world_model: Json = Field(default="builtin", description="Who answers: a kind, or a list of entries with `tools`.")
    stubs: list[StubPart] = Field(default_factory=list[StubPart], description="Canned answers.")
    perturbations: list[Json] = Field(default_factory=list[Any], description="The faults.")
    expect: list[Json] = Field(default_factory=list[Any], description="What is judged at the end.")
    intensity: float = Field(
        default=1.0, ge=0, le=1, description="Probabilities and severities of the faults are multiplied by it."
    )
    allow_adversarial: bool = Field(
        default=False, description="Are faults allowed that try to turn the agent against its user?"
    )
    advertise_output_schema: Literal["auto", "always", "never"] = Field(
        default="auto", description="auto: tools whose answers a fault may break are listed without outputSchema."
    )


class PresetDocument(Root):
    """Faults that scenarios can take over, by `extends`."""

    mcp_sim: Literal[1] = Field(description="The version of the format.")
    preset: str = Field(min_length=1, description="What it does to an agent, and what the agent should do about it.")
    perturbations: list[Json] = Field(description="The faults; each has an id, by which a scenario may replace it.")
