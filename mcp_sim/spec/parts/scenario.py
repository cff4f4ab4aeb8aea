"""The keys of scenarios and presets. Entries of registered kinds are plain mappings here; `entries` reads them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, cast

from pydantic import BeforeValidator, Field, model_validator

from mcp_sim.spec.messages import shown
from mcp_sim.spec.parts.surface import StubPart
from mcp_sim.spec.parts.tool_spec import Root
from mcp_sim.types import Json
from mcp_sim.types.clock import DEFAULT_NOW
from mcp_sim.types.oauth import OAuth
from mcp_sim.types.options import Count, CountFromZero, Moment, Part
from mcp_sim.types.scenario import ClockSettings, Fires


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_globs(value: Any) -> Any:
    if not isinstance(value, str | list):
        raise ValueError("expected a glob or a list of globs")
    return _listed(cast("Any", value))


Globs = Annotated[
    list[str],
    Field(min_length=1),
    BeforeValidator(_as_globs, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]),
]
Presets = Annotated[list[str], BeforeValidator(_listed, json_schema_input_type=str | list[str])]


EVERY = "*"
"""The key for a file with records of any entities."""


class RecordsPart(Part):
    """The records of one entity at the world's start. Those of the file come first, then the rows."""

    file: str | None = Field(
        default=None,
        description="Data file, relative to the document: JSON, YAML, CSV, SQLite, or a folder of these.",
        examples=["contacts.csv"],
    )

    count: CountFromZero | None = Field(
        default=None, le=10_000_000, description="Number of records, rows included. Default: the number of rows."
    )
    rows: list[dict[str, Json]] = Field(
        default_factory=list[dict[str, Any]], description="Given records; missing fields are generated."
    )

    @model_validator(mode="after")
    def _count_includes_rows(self) -> Self:
        if self.count is not None and self.count < len(self.rows):
            raise ValueError(f"count includes the rows: it is {self.count}, but there are {len(self.rows)} rows")
        return self


def _as_records(value: Any) -> Any:
    if isinstance(value, dict):
        return cast("Any", value)
    if isinstance(value, int) and not isinstance(value, bool):
        return {"count": value}
    if isinstance(value, str):
        return {"file": value}
    raise ValueError(f"expected a count, a file, or {{count, rows, file}}, got {shown(value)}")


def _as_all_records(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError(f"expected a mapping from entities to records, or a file, got {shown(value)}")
    return {EVERY: value} if isinstance(value, str) else cast("Any", value)


Records = Annotated[RecordsPart, BeforeValidator(_as_records, json_schema_input_type=CountFromZero | str | RecordsPart)]
AllRecords = Annotated[
    dict[str, Records], BeforeValidator(_as_all_records, json_schema_input_type=str | dict[str, Records])
]


def _as_state(value: Any) -> Any:
    if not isinstance(value, str | dict):
        raise ValueError(f"expected a mapping or a file, got {shown(value)}")
    return cast("Any", value)


State = Annotated[Json, BeforeValidator(_as_state, json_schema_input_type=str | dict[str, Json])]


class WorldPart(Part):
    """The state of the world at the start."""

    description: str = Field(default="", description="Description of the world, for the generator and for models.")
    now: Moment = Field(default=DEFAULT_NOW, description="Time in the world at the start.")
    records: AllRecords = Field(
        default_factory=dict[str, RecordsPart],
        description="Entity -> number of records, a file, or {count, rows, file}; '*' -> a file with tables of any "
        "entities. A file alone means {'*': FILE}.",
    )
    state: State | None = Field(
        default=None,
        description="The whole state at the start, in any form, or a JSON or YAML file with it. Values with keys "
        "become records, a tree of files becomes files, the rest becomes settings. Entities that are not mentioned "
        "are empty unless `records` gives their number.",
    )
    clock: ClockSettings = Field(default=ClockSettings(), description="How time passes.")
    open: bool = Field(
        default=False,
        description="true: the world model may add a record the first time it is requested; it then exists as "
        "answered. Default: unknown ids are not found.",
    )
    namespaces: bool = Field(
        default=False,
        description="true separates the entities of several servers, as server.entity. Default: they are shared by "
        "name.",
    )


def _as_fires(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, dict) else {"max": value}


class PerturbationKeys(Part):
    """The keys beside the kind in an entry of `perturbations`."""

    id: str | None = Field(default=None, min_length=1, description="Name in the ledger and in `recovered:`.")
    tools: Globs | None = Field(default=None, description="Globs of tools. Default: every tool.")
    when: Json = Field(default=None, description="Triggers; all must hold. Default: every call.")
    fires: Annotated[Fires, BeforeValidator(_as_fires, json_schema_input_type=Count | Fires)] = Field(
        default=Fires(), description="Limit on how often: N, or {max, per, cooldown}."
    )
    visible: Literal["explicit", "implicit"] | None = Field(
        default=None, description="Whether the agent can see that something is wrong. Default: depends on the kind."
    )
    group: str | None = Field(default=None, description="At most one perturbation of a group is applied per call.")
    enabled: bool = Field(default=True, description="false disables it.")


class ExpectationKeys(Part):
    """The keys beside the kind in an entry of `expect`."""

    id: str | None = Field(default=None, min_length=1, description="Name in verdicts.")
    weight: float = Field(default=1.0, ge=0, description="Weight relative to the other expectations.")
    gate: bool = Field(default=False, description="true: if it fails, no other expectation counts.")
    optional: bool = Field(default=False, description="true: it is reported but not graded.")
    message: str = Field(default="", max_length=500, description="What it means if it fails, for readers of reports.")


class WorldModelKeys(Part):
    """The keys beside the kind in an entry of a `world_model` list."""

    tools: Globs | None = Field(default=None, description="Globs of tools that it answers. Default: every tool.")
    reads: bool | None = Field(default=None, description="Whether it answers tools that certainly change nothing.")
    writes: bool | None = Field(default=None, description="Whether it answers the other tools.")
    unmatched: Literal["next", "crash"] = Field(
        default="crash",
        description="What happens to a call that it has no answer to: the next entry answers, or the call is a crash.",
    )

    @property
    def answered(self) -> frozenset[str]:
        """What it answers: `reads`, `writes` or both. One alone that is true leaves out the other."""
        given = {"reads": self.reads, "writes": self.writes}
        default = True not in given.values()
        return frozenset(name for name, value in given.items() if (default if value is None else value))


def _as_servers(value: Any) -> Any:
    if isinstance(value, list):
        raise ValueError("expected the file or name of a tool spec, got a list; put the list into a tool spec")
    if not isinstance(value, str | dict):
        raise ValueError(f"expected the file or name of a tool spec, or a mapping of these, got {shown(value)}")
    return {"": value} if isinstance(value, str) else cast("Any", value)


Servers = Annotated[
    dict[str, str],
    Field(min_length=1),
    BeforeValidator(_as_servers, json_schema_input_type=str | Annotated[dict[str, str], Field(min_length=1)]),
]


class ScenarioDocument(Root):
    """A scenario: tools, world, faults, and what is expected of the agent."""

    mcp_sim: Literal[1] = Field(description="Version of the format.")
    name: str | None = Field(default=None, min_length=1, description="Name. Default: the file's name.")
    extends: Presets = Field(
        default_factory=list[str],
        description="Presets whose faults come first: shipped names, or files relative to this one.",
    )
    task: str = Field(default="", description="Task of the agent, for `mcp-sim run`. The server never shows it.")
    tools: Servers = Field(
        description="Tool spec: a file relative to this one, or a shipped name; live: the list of the server that "
        "`world_model` asks. Or a mapping server -> tool spec."
    )
    seed: int = Field(default=0, description="Seed of everything random.")
    auth: Auth | None = Field(
        default=None, description="oauth: over HTTP, clients log in to an authorization server; {oauth: {...}}: faults."
    )
    world: WorldPart = Field(default=WorldPart(), description="State of the world at the start.")
    world_model: Json = Field(
        default="builtin", description="What answers the calls: a kind, or a list of entries with `tools`."
    )
    stubs: list[StubPart] = Field(default_factory=list[StubPart], description="Canned answers.")
    perturbations: list[Json] = Field(default_factory=list[Any], description="Faults.")
    expect: list[Json] = Field(default_factory=list[Any], description="Expectations, judged at the end of a run.")
    intensity: float = Field(
        default=1.0, ge=0, le=1, description="Scale of fault probability and severity, from 0 to 1."
    )
    allow_adversarial: bool = Field(
        default=False, description="true allows faults that try to turn the agent against its user."
    )
    advertise_output_schema: Literal["auto", "always", "never"] = Field(
        default="auto",
        description="Whether tools are listed with their outputSchema. auto: not if a fault may break their answers.",
    )


class PresetDocument(Root):
    """Faults that scenarios include with `extends`."""

    mcp_sim: Literal[1] = Field(description="Version of the format.")
    preset: str = Field(min_length=1, description="What it does to an agent, and how the agent should respond.")
    perturbations: list[Json] = Field(description="Faults. Each has an id, so that a scenario can replace it.")


class AuthPart(Part):
    """How clients log in."""

    oauth: OAuth = Field(description="OAuth 2.1 with an authorization server of its own.")


def _as_auth(value: Any) -> Any:
    if value == "oauth":
        return {"oauth": {}}
    if not isinstance(value, dict):
        raise ValueError(f"expected oauth, or {{oauth: {{...}}}}, got {shown(value)}")
    return cast("Any", value)


Auth = Annotated[AuthPart, BeforeValidator(_as_auth, json_schema_input_type=Literal["oauth"] | AuthPart)]
