"""The prompt: how programs are written, one server in all that is known of it, and what to answer.

`guide.md` says how programs are written. What is shown of a server outranks what is usual, so that `guesses.md` is left
out where there are recordings or samples of its answers.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from inspect import cleandoc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

from mcp_sim.generate.records import generate
from mcp_sim.models.language_model.prompt import encodable
from mcp_sim.recordings.compiling import evidence
from mcp_sim.recordings.compiling.static_checks import RULES
from mcp_sim.recordings.compiling.subject import Subject, write_server
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sessions import RecordedCall
from mcp_sim.types import Json, Record, as_object
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_values import objects_in
from mcp_sim.types.lexicon.english import plural, snake

LONGEST = 160_000
"""The length of the prompt that is aimed at, in characters. About 40,000 tokens: fits into the context of the models
that are served locally, with room for the reply."""
_SCHEMAS = ("inputSchema", "outputSchema")
_STATE = 9_000  # shows the form of every table; all rows would leave no room for recordings
_STATES = 3  # further ones of the same form show nothing new
_DOCUMENTATION = 40_000  # at most a quarter of the prompt: recordings say more about a server
_TYPICAL = 1_200  # the longest part of a typical answer: enough to see its form
_LEAST = 2_000  # what each optional part gets at least, in characters


def prompt_text(subject: Subject, longest: int = LONGEST) -> str:
    """Return the prompt for a server. State, documentation and recordings are shortened to fit `longest` characters."""
    fixed = [_guide("guide.md"), _usual(subject), "\n\n".join(_server(subject)), _samples(subject), _request(subject)]
    left = longest - sum(map(len, fixed))
    state = _state(subject, max(min(_STATE, left // 3), _LEAST))
    most = max(min(_DOCUMENTATION, left // 2), _LEAST)
    text = subject.documentation.strip()
    documentation = f"## Its documentation\n\n{evidence.shortened(text, most)}" if text else ""
    left -= len(state) + len(documentation)
    sessions = evidence.sessions_text(subject.shown, max(left, _LEAST))
    recordings = f"{_guide('recordings.md')}\n\n{sessions}" if subject.shown else ""
    parts = [*fixed[:3], state, documentation, fixed[3], recordings, fixed[4]]
    return encodable("\n\n".join(piece for piece in parts if piece) + "\n")


def _guide(name: str) -> str:
    text = files("mcp_sim.recordings.compiling").joinpath("prompts", name).read_text(encoding="utf-8")
    return text.strip().replace("{modules}", ", ".join(sorted(RULES.modules)))


def _usual(subject: Subject) -> str:
    """Return how the server answers: a real success and failure, or what is usual if none is at hand."""
    recorded = [call for session in subject.shown for call in session.calls]
    typical = [*evidence.typical_calls(recorded or subject.samples)]
    if not typical:
        return _guide("guesses.md")
    return "\n\n".join(
        ["# How this server answers", "Two of its answers, exactly as they are:" if len(typical) > 1 else "An answer:"]
        + [f"{_call_text(call)}\n{evidence.exact_text(call.answer, _TYPICAL)}" for call in typical]
    )


def _call_text(call: RecordedCall) -> str:
    return f"{call.tool} {evidence.canonical_in_order(call.arguments)}"


def _server(subject: Subject) -> Iterator[str]:
    """Yield what the server says about itself, and its tools."""
    yield f"# The server: {subject.title}"
    for name in ("title", "description", "instructions", "website"):
        if subject.document.get(name):
            yield f"{name.capitalize()}: {subject.document[name]}"
    described = subject.world.get("description")
    if described:
        yield f"Its world: {described}"
    yield f"## Its {len(subject.tools)} tools"
    violated = {*evidence.violated_schemas(subject.shown)}
    names = shared_parts(tool.get(schema) for tool in subject.tools for schema in _SCHEMAS)
    if names:
        parts = (
            f"{name}: {evidence.canonical_in_order(with_references(json.loads(text), names, is_part=True))}"
            for text, name in names.items()
        )
        yield "\n".join(["Several schemas below have these parts:", *parts])
    for tool in subject.tools:
        shortened_tool = tool | {
            schema: with_references(tool[schema], names) for schema in _SCHEMAS if tool.get(schema)
        }
        yield "\n".join(_tool(shortened_tool, is_violated=tool["name"] in violated))


def _tool(tool: Record, *, is_violated: bool) -> Iterator[str]:
    yield f"### {tool['name']}"
    if tool.get("description"):
        yield cleandoc(str(tool["description"]))
    yield f"inputSchema: {evidence.canonical_in_order(tool.get('inputSchema') or {})}"
    for name in ("outputSchema", "annotations"):
        if tool.get(name):
            yield f"{name}: {evidence.canonical_in_order(tool[name])}"
    if is_violated:
        yield (
            "The recorded answers below are not valid under this outputSchema: answer as recorded, in a function with "
            "`@tool(conforms=False)`."
        )


# the state ------------------------------------------------------------------------------------------------------------


def _state(subject: Subject, most: int) -> str:
    parts = ["## The state that it begins with", *_given(subject, most)]
    records = subject.world.get("records")
    if records:
        parts.append(
            "Before `@initial` runs, tables of these names get these records (and generated ones up to the count); "
            f"declare them with these fields:\n{_abridged_text(records, most)}"
        )
    return "\n\n".join(parts)


def _given(subject: Subject, most: int) -> Iterator[str]:
    state: Json = subject.world.get("state")
    states = {name: state for name, state in evidence.distinct_states(subject.shown).items() if state}
    if state:
        yield f"`given` in `@initial` is:\n{_abridged_text(state, most)}"
    elif len(states) > 1:
        yield "`given` in `@initial` is in each session another one, such as:"
        for name, given in [*states.items()][:_STATES]:
            yield f"Session {name}:\n{_abridged_text(given, most // _STATES)}"
    elif states:
        yield f"`given` in `@initial` is, in recorded sessions:\n{_abridged_text(next(iter(states.values())), most)}"
    elif subject.sample_state:
        yield f"`given` in `@initial` was, before the samples below:\n{_abridged_text(subject.sample_state, most)}"
    elif subject.shown:
        yield "The recorded sessions begin without one: empty, or with what the real server always has."
    elif suggested := suggested_state(subject):
        yield (
            "No state is given: the server begins empty, or with what the real server always has. A session may begin "
            "with one all the same. **This example is made up** from the names of tools and arguments, and a real one "
            f"has other names, fields and forms:\n{evidence.canonical_in_order(suggested)}"
        )
    else:
        yield "None: the server begins empty, or with what the real server always has."


def _abridged_text(value: Json, most: int) -> str:
    """Return a value as JSON: whole if it is small, else its shape with a few items of each list and mapping."""
    whole = evidence.canonical_in_order(value)
    if len(whole) <= most:
        return whole
    for items in (8, 5, 3, 2, 1):
        text = evidence.canonical_in_order(_abridged(value, items, 40 + items * 40))
        if len(text) <= most:
            return f"(shortened: of long lists and mappings the first items, and how many there are)\n{text}"
    return evidence.shortened(evidence.canonical_in_order(_abridged(value, 1, 40)), most)


def _abridged(value: Json, items: int, length: int) -> Json:
    match value:
        case dict():
            parts = [*cast("Record", value).items()]
            limit = items if _is_table(cast("Record", value)) else len(parts)
            kept = {name: _abridged(inner, items, length) for name, inner in parts[:limit]}
            return {**kept, **({"...": f"{len(parts)} entries in all"} if len(parts) > limit else {})}
        case list():
            parts = cast("list[Json]", value)
            more = [f"... {len(parts)} items in all"] if len(parts) > items else []
            return [*(_abridged(inner, items, length) for inner in parts[:items]), *more]
        case str():
            return evidence.shortened(value, length)
        case _:
            return value


def _is_table(value: Record) -> bool:
    """Whether the values of a mapping are alike, so that a few of them show the others."""
    forms = [frozenset(cast("Record", row)) for row in value.values() if isinstance(row, dict)]
    return len(value) > 3 and len(forms) == len(value) and len({*forms}) <= len(forms) // 2 + 1


# documentation and recordings -----------------------------------------------------------------------------------------


def _samples(subject: Subject) -> str:
    calls = (f"{_call_text(call)}\n{evidence.answer_text(call.answer)}" for call in subject.samples)
    return "\n\n".join([_guide("samples.md"), *calls]) if subject.samples else ""


def _request(subject: Subject) -> str:
    names = [str(tool["name"]) for tool in subject.tools]
    return _guide("request.md").format(title=subject.title, count=len(names), names=", ".join(names))


_LEAST_SHARED = 200  # the length from which a part is worth a name, in characters of JSON
_OFTEN = 2  # a name saves space from the second use on


def shared_parts(schemas: Iterable[Json]) -> dict[str, str]:
    """Return the objects that occur at least twice in some schemas, as JSON, and names for them: the largest ones.

    Parts of these that occur nowhere else get no name.
    """
    counts = Counter(evidence.canonical_in_order(part) for schema in schemas for part in objects_in(schema))
    often = [text for text, count in counts.items() if count >= _OFTEN and len(text) >= _LEAST_SHARED]
    often.sort(key=len, reverse=True)
    kept: dict[str, int] = {}
    for text in often:
        within = sum(count * other.count(text) for other, count in kept.items())
        if counts[text] - within >= _OFTEN or not within:
            kept[text] = counts[text]
    return {text: f"part-{number}" for number, text in enumerate(kept, 1)}


def with_references(schema: Json, names: Mapping[str, str], *, is_part: bool = False) -> Json:
    """Return a schema with `{"$ref": NAME}` instead of shared parts. `is_part`: it is itself one of them."""
    if isinstance(schema, list):
        return [with_references(subschema, names) for subschema in cast("list[Json]", schema)]
    if not isinstance(schema, dict):
        return schema
    name = None if is_part else names.get(evidence.canonical_in_order(schema))
    if name is not None:
        return {"$ref": name}
    return {key: with_references(subschema, names) for key, subschema in cast("Record", schema).items()}


# a suggested state ----------------------------------------------------------------------------------------------------


_ROWS = 3  # how many records show which fields vary
_ENTITIES = 3  # the form of a state, not its extent
_LONGEST = 120  # the longest text of a field, in characters


def suggested_state(subject: Subject) -> Record:
    """Return records of the entities that most tools work on, by their plural names; empty if nothing is inferred.

    They have the fields that tools name: others would only mislead.
    """
    with TemporaryDirectory(prefix="mcp-sim-") as name:
        folder = Path(name)
        write_server(replace(subject, world={}), folder)
        try:
            # Entities that tools create, those with the most tools first, else those they work on.
            domain = load(folder / "scenario.json").domain
            tools = Counter(plan.entity for plan in domain.plans.values() if plan.entity)
            created = {plan.entity for plan in domain.plans.values() if plan.verb == "create"}
            entities = (domain.entities[name] for name, _ in tools.most_common() if name in domain.entities)
            tables = [entity.name for entity in entities if not (entity.singleton or entity.inside)]
            names = ([name for name in tables if name in created] or tables)[:_ENTITIES]
            counts = {entity: {"count": _ROWS} for entity in names}
            write_server(replace(subject, world={"records": counts}), folder)
            return _records(folder / "scenario.json", names) if names else {}
        except DocumentError:
            return {}


def _records(file: Path, names: list[str]) -> Record:
    scenario = load(file)
    tables = generate(scenario.domain, scenario.records, scenario.seed)
    schemas = (schema for tool in scenario.domain.tools.values() for schema in objects_in(tool.definition))
    known = {snake(name) for schema in schemas for name in as_object(schema.get("properties"))}
    suggested: Record = {}
    for name in names:
        key = scenario.domain.entities[name].key
        rows = [
            {field: _cut(value) for field, value in row.items() if field == key or snake(field) in known}
            for row in [*tables.get(name, {}).values()][:_ROWS]
        ]
        suggested |= {plural(name): rows} if any(len(row) > 1 for row in rows) else {}
    return suggested


def _cut(value: Json) -> Json:
    return f"{value[:_LONGEST]}..." if isinstance(value, str) and len(value) > _LONGEST else value
