"""Replay sessions in a draft of the spec, and note what a result template could show of each call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from mcp_sim.plans.infer.arguments import noun_of_key
from mcp_sim.plans.rendering.templates import Scope
from mcp_sim.recordings.align import ids_in
from mcp_sim.recordings.known import ReplayIds
from mcp_sim.recordings.learning.drafts import Draft, load_draft
from mcp_sim.recordings.observed import Observed, key_of, normal, observe
from mcp_sim.recordings.responders import answer_of
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.sessions import Answer, RecordedCall, Session
from mcp_sim.types import Json, Record, Tool, frozen
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import DEFAULT, Template, VendorErrors
from mcp_sim.types.errors import BadArguments, Crash
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.json_values import canonical, decode_strict, leaves
from mcp_sim.types.plans import Plan
from mcp_sim.types.result_templates import EVERYTHING, ResultTemplate
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

_DUMP = (ResultTemplate("json", EVERYTHING),)
_DUMPED_FAILURE = VendorErrors({DEFAULT: Template("json", {"kind": "{kind}"})})
_START = datetime.fromisoformat("2030-01-01T09:00:00+00:00")


@frozen
class Sample:
    """A recorded call, and what a template could show of it."""

    session: str
    seq: int
    tool: str
    arguments: Record
    """With the ids of the simulation, as all values here."""
    recorded: Observed
    answer: Answer
    value: Json
    """The data or text of the recorded answer. Several blocks of text are a list."""
    is_blocks: bool
    """Whether the value is a list with an item for each block."""
    scope: Scope
    served: bool
    """Whether the simulation succeeded; otherwise the scope has only the arguments."""
    plan: Plan
    """The plan for this call, that of the choice if there are several."""
    refusal: str = ""
    """The kind of failure with which the simulation refused the call; '' if it did not."""
    known_arguments: Sequence[str] = ()
    """The names of the tool's arguments."""
    issued: str = ""
    """The id that the real server gave to a new record; '' if it is unknown."""

    @property
    def rows(self) -> Sequence[Record]:
        return self.scope.rows


@frozen
class Replayed:
    """The samples of sessions, and the domains of the draft in which they were replayed."""

    samples: Sequence[Sample]
    domains: Sequence[Domain]
    """That of each session: its given state adds to what is inferred."""


async def collect(draft: Draft, sessions: Sequence[Session]) -> Replayed:
    """Return a sample for each call of the sessions."""
    samples = list[Sample]()
    scenarios = [replace(load_draft(draft, session.state), perturbations=()) for session in sessions]
    for session, scenario in zip(sessions, scenarios, strict=True):
        async with Simulator(scenario, ledger_keep=1) as plain, Simulator(_dumping(scenario), ledger_keep=1) as dumping:
            replay = _Replay(session, scenario, plain.world("x"), dumping.world("x"))
            samples += [await replay.sample(call) for call in session.calls]
    return Replayed(samples, [scenario.domain for scenario in scenarios])


def _dumping(scenario: Scenario) -> Scenario:
    """Return a scenario whose tools answer with all that a template could show."""
    tools, plans = dict[str, Tool](), dict[str, Plan]()
    for name, tool in scenario.domain.tools.items():
        kept = {key: value for key, value in tool.definition.items() if key != "outputSchema"}
        tools[name] = replace(tool, definition=kept, render_failure=_DUMPED_FAILURE)
    for name, plan in scenario.domain.plans.items():
        choices = {value: replace(choice, result=_DUMP) for value, choice in plan.choices.items()}
        plans[name] = replace(plan, result=_DUMP, choices=choices)
    return replace(scenario, domain=replace(scenario.domain, tools=tools, plans=plans))


class _Replay:
    """A session in two worlds that do the same: one answers as the draft says, one shows what templates could show."""

    def __init__(self, session: Session, scenario: Scenario, plain: World, dumping: World) -> None:
        self._session, self._scenario, self._plain, self._dumping = session, scenario, plain, dumping
        self._replayed = ReplayIds(session.state)
        self._ids = {tool.name: tool.id for tool in scenario.domain.tools.values()}

    async def sample(self, call: RecordedCall) -> Sample:
        arguments = self._replayed.arguments(call)
        recorded = observe(call.answer)
        self._replayed.known.learn(call.arguments, "argument", call.seq)
        name = self._ids.get(call.tool, call.tool)
        answered, dumped = [await _asked(world, name, arguments, has_effect=not recorded.failed)
                            for world in (self._plain, self._dumping)]  # fmt: skip
        dump = _data_of(dumped, is_error=False)
        shown = dump if "facts" in dump else None
        tool = self._scenario.domain.tools.get(self._ids.get(call.tool, ""))
        plan = self._scenario.domain.plans[self._ids[call.tool]] if call.tool in self._ids else Plan(call.tool, "none")
        chosen = plan.choices.get(str(call.arguments.get(plan.choice or "")), plan)
        is_new = chosen.verb == "create" and not recorded.failed
        issued = self._issued(call, recorded, chosen.entity) if is_new else ""
        if not recorded.is_error and answered is not None:
            self._align(recorded, observe(answered), issued, shown)
        self._replayed.learn(recorded, call.seq)
        entity = self._scenario.domain.entities.get(chosen.entity or "")
        fields = () if entity is None else entity.fields
        scope = replace(_scope_of(shown, arguments, fields), now=call.at or _START)
        value, is_blocks = _value_of(call.answer, recorded, len(scope.rows))
        return Sample(
            self._session.name,
            call.seq,
            call.tool,
            arguments,
            recorded,
            call.answer,
            self._replayed.alignment.translate(value),
            is_blocks,
            scope,
            shown is not None,
            chosen,
            str(_data_of(dumped, is_error=True).get("kind", "")),
            [] if tool is None else [*properties(expanded(tool.input_schema))],
            issued,
        )

    def _issued(self, call: RecordedCall, recorded: Observed, entity: str | None) -> str:
        """Return the id of the record that a call has created; '' if the answer has no new id.

        If possible, it is one that later calls name, by an argument named after the entity.
        """
        given = {normal(leaf) for _, leaf in leaves(call.arguments)}
        later = [(name, key_of(path)) for other in self._session.calls if other.seq > call.seq
                 for path, leaf in leaves(other.arguments) if (name := normal(leaf)) is not None]  # fmt: skip
        new = [name for name in ids_in(recorded.value) if name not in given and self._was_never_shown(name)]
        names = {name for name, _ in later}
        meant = {name for name, argument in later if noun_of_key(argument) == entity}
        shown = canonical(recorded.value)
        order = {name: (name not in names, name not in meant, shown.find(name), name) for name in new}
        return min(new, key=lambda name: order[name], default="")

    def _was_never_shown(self, name: str) -> bool:
        """Whether an id is new, or has only been asked for in vain."""
        known = self._replayed.known
        return name not in self._replayed.shown and (name not in known or known.seen(name).source == "argument")

    def _align(self, recorded: Observed, served: Observed, issued: str, shown: Record | None) -> None:
        alignment, is_known = self._replayed.alignment, self._replayed.is_known
        key = as_object((shown or {}).get("facts")).get("key")
        if issued and issued not in alignment and key is not None and not is_known(str(key)):
            real, other = (replace(recorded, value={"id": value}) for value in (issued, key))
            alignment.add(real, other, is_known)
        if not served.is_error:
            alignment.add(recorded, served, is_known)


async def _asked(world: World, tool: str, arguments: Record, *, has_effect: bool) -> Answer | None:
    """Return the answer to a call, or None. What the real server refused has no effect."""
    before = world.moment()
    try:
        return answer_of(await world.call(tool, arguments))
    except (BadArguments, Crash):
        return None
    finally:
        if not has_effect:
            world.return_to(before)


def _data_of(answer: Answer | None, *, is_error: bool) -> Record:
    """Return the object in the text of a success or a failure; an empty one for anything else."""
    if answer is None or "error" in answer or bool(answer["result"]["isError"]) != is_error:
        return {}
    try:
        return as_object(decode_strict(answer["result"]["content"][0]["text"]))
    except (ValueError, KeyError, IndexError):
        return {}


def _scope_of(shown: Record | None, arguments: Record, fields: Iterable[str]) -> Scope:
    if shown is None:
        return Scope(arguments, _START, _START)
    rows = [as_object(row) for row in as_list(shown["rows"])]
    lacking: Record = {**dict.fromkeys(fields), **as_object(shown["defaults"])}
    return Scope(arguments, _START, _START, as_object(shown["record"]), rows, as_object(shown["facts"]), lacking)


def _value_of(answer: Answer, recorded: Observed, rows: int) -> tuple[Json, bool]:
    """Return the value of an answer, and whether it is a list of the values of several blocks: one for each row."""
    content: Sequence[Mapping[str, Json]] = answer.get("result", {}).get("content") or []
    texts = [str(block.get("text")) for block in content if block.get("type") == "text"]
    if len(texts) < 2 or len(texts) < len(content) or answer["result"].get("structuredContent") is not None:
        return recorded.value, False
    values = [parsed_text(text) for text in texts]
    if len(values) != rows and any(isinstance(value, str) for value in values):
        return recorded.value, False
    return values, True


def parsed_text(text: str) -> Json:
    """Return the data that a text is, else the text."""
    block: Answer = {"result": {"content": [{"type": "text", "text": text}]}}
    return observe(block).value
