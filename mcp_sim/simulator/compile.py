"""Compile documents into a `Scenario`: read, resolve, infer, link and check.

Problems are noted at their place in the documents. No code that a document names is run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from mcp_sim.grading.grade import loopholes, unspecified_records
from mcp_sim.simulator.compile_domain import (
    CompiledDomain,
    check_links,
    check_records,
    compile_domain,
    with_given_times,
)
from mcp_sim.spec.entries import named_world_model, read_expectations, read_stubs, read_world_models
from mcp_sim.spec.foreign.files import import_hint
from mcp_sim.spec.messages import shown
from mcp_sim.spec.parts.scenario import EVERY, ScenarioDocument, WorldPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.presets import is_preset, merge_presets, read_preset
from mcp_sim.spec.repair import repair_tools
from mcp_sim.spec.sources import Sources, display, documents_in, is_folder, is_shipped, locate
from mcp_sim.spec.tool_specs import Spec, is_spec, read_spec, spec_file
from mcp_sim.spec.trust import Trust
from mcp_sim.types import Json
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import DocumentError, Problem, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Imported, Perturbation, world_models
from mcp_sim.types.scenario import (
    GivenRecords,
    PerturbationEntry,
    Presented,
    Scenario,
    ServerSpec,
    Stub,
    WorldModelEntry,
    route,
)
from mcp_sim.types.surface import Choices

MOST_UNUSED = 10
"""How many unused parts of a given state are reported one by one. Further ones are reported as a number, so that other
warnings are not lost between them."""
_SERVER_NAME_SIGNS = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


def load(
    reference: str | Path,
    *,
    world_model: str | None = None,
    trust: bool | Iterable[Path] = False,
    state: Json = None,
    now: datetime | None = None,
    program: Path | None = None,
    present: Present = lambda _: None,
) -> Scenario:
    """Load the scenario of a file or a shipped name. A tool spec or a tools/list result gets one without faults.

    `world_model` (`builtin`, `openai:MODEL@URL`), `state` (the whole state at the start) and `now` (the time at the
    start) replace the scenario's own. `program`: a Python file that the user trusts, for a server without one.
    `trust`: trust these files and folders, or with True this document, with what it names (see `mcp_sim.spec.trust`).
    `present` is called with the servers by name before their tools are planned, unless there are errors by then, or a
    world model decides what the servers offer. Raises `UsageError` if there is nothing to read, and `DocumentError`
    with all problems if the documents cannot be used.
    """
    override = None if world_model is None else _trusted(named_world_model(world_model))
    sources = Sources(Trust(trust), asks=True)
    scenario = _read(locate(reference), sources, override, _Start(state, now, program, present))
    if scenario is None or sources.has_failed:
        raise DocumentError(sources.sorted())
    warnings = tuple(sources.sorted())
    untrusted = tuple(dict.fromkeys(sources.untrusted))
    return replace(
        scenario,
        sha256=sources.sha256,
        files=tuple(sources.files),
        warnings=warnings,
        untrusted=untrusted,
        relying=tuple(map(display, sources.relying)),
    )


def files_to_trust(reference: str | Path) -> Iterator[tuple[dict[Path, str], list[Problem]]]:
    """Yield, for each document, its files except those that ship, and what it does only with the user's trust.

    Each file has the SHA-256 of what was read.

    Raises `UsageError` if there is nothing to read, and `DocumentError` if a document cannot be used.
    """
    for path in documents_in(Path(reference)) if is_folder(Path(reference)) else [locate(reference)]:
        sources = Sources(Trust(trusted=True), is_asked_for=True)
        if (_read(path, sources) is None and not sources.actions) or sources.has_failed:
            raise DocumentError(sources.sorted())
        yield {file: digest for file, digest in sources.digests.items() if not is_shipped(file)}, sources.actions


def check(references: Iterable[str | Path]) -> list[Problem]:
    """Return all errors and warnings of documents: files, shipped names, or folders of documents."""
    return [problem for reference in references for _, problems, _ in checked(reference) for problem in problems]


Present: TypeAlias = Callable[[Mapping[str, Presented]], object]
Checked: TypeAlias = tuple[str, list[Problem], Scenario | None]
"""A document, its problems, and the scenario that it is if it has no error."""


def checked(reference: str | Path, trust: bool | Iterable[Path] = False) -> Iterator[Checked]:
    """Yield each document of a path, folder or shipped name, with its problems, and the scenario if it has no error."""
    folder = Path(reference)
    try:
        paths = documents_in(folder) if is_folder(folder) else [locate(reference)]
    except UsageError as error:
        yield str(reference), [Problem(str(reference), 0, "", str(error).removeprefix(f"{reference}: "))], None
        return
    if not paths:
        yield str(reference), [Problem(str(reference), 0, "", "contains no scenario and no tool spec")], None
    for path in paths:
        sources = Sources(Trust(trust))
        scenario = _read(path, sources)
        if scenario is not None and not sources.has_failed:
            relying = tuple(map(display, sources.relying))
            scenario = replace(scenario, untrusted=tuple(sources.untrusted), relying=relying)
            sources.problems.extend(_guess_warnings(scenario))
            _warn_of_instructions(sources)
            doubts = (*loopholes(scenario), *unspecified_records(scenario))
            sources.problems += [Problem(scenario.path, 0, "expect", text, "warning") for text in doubts]
        yield display(path), sources.sorted(), None if sources.has_failed else scenario


def _warn_of_instructions(sources: Sources) -> None:
    """Note where the descriptions of tools instruct the agent, as those of a hostile server do."""
    from mcp_sim.spec.lint import instructions_in_tools  # noqa: PLC0415 (only `check` looks for them)

    for tools in sources.tool_lists:
        for (number, *path), sentence in instructions_in_tools([tool.value for tool in tools]):
            tools[int(number)].at(*path).warning(sentence)


def _guess_warnings(scenario: Scenario) -> Iterator[Problem]:
    """Yield a warning for each tool whose plan is a guess, with the line that would confirm it."""
    from mcp_sim.simulator.inferred_tools import corrections  # noqa: PLC0415 (only `check` and `plan` suggest them)

    lines = corrections(scenario.domain)
    for plan in scenario.guesses:
        problem = f"what {plan.tool} does is a guess (`mcp-sim plan` shows why)"
        message = f"{problem}; confirm or correct it under sim: with `{lines[plan.tool]}`"
        yield Problem(scenario.path, 0, "", message, "warning")


@frozen
class _Start:
    """What replaces parts of a scenario: the whole state at its start, its time, its program. None: its own.

    `present` gets the servers as soon as they are read.
    """

    state: Json = None
    now: datetime | None = None
    program: Path | None = None
    present: Present = lambda _: None

    def of(self, world: WorldPart) -> WorldPart:
        """Return the world with this start."""
        given = {"state": self.state, "now": self.now}
        return world.model_copy(update={name: value for name, value in given.items() if value is not None})


def _read(
    path: Path, sources: Sources, override: WorldModelEntry | None = None, start: _Start | None = None
) -> Scenario | None:
    """Read the scenario in a file as far as possible. Problems are noted in `sources`."""
    place = sources.open(path)
    if place is None:
        return None
    if problem := import_hint(place.value):
        place.error(problem)
        return None
    if is_spec(place.value):
        return _scenario_without_faults(place, path, sources, override, start or _Start())
    if is_preset(place):
        read_preset(place, None)
        return None
    if not place.is_mapping:
        what = "is empty" if place.value is None else f"must be a mapping, not {shown(place.value)}"
        place.error(f"{what}; a scenario or tool spec begins with `mcp_sim: 1`")
        return None
    if "pick" in place.mapping:
        place.at("pick").error("makes this a template; write its tasks with `mcp-sim expand`")
        return None
    return _scenario(place, path, sources, override, start or _Start())


# a tool spec alone ----------------------------------------------------------------------------------------------------


def _scenario_without_faults(
    place: Place, path: Path, sources: Sources, override: WorldModelEntry | None, start: _Start
) -> Scenario | None:
    """Return a scenario without faults over the tools of one spec."""
    specs = {"": read_spec(place, path, sources, program=start.program)}
    if sources.has_failed:
        return None
    world = start.of(WorldPart())
    models = (override or named_world_model("builtin"),)
    start.present(_presented(specs, world, models, is_final=True))
    compiled = compile_domain(specs, world)
    records = {**_left_to_models(compiled.domain, models), **compiled.records}
    domain, name = with_given_times(compiled.domain, records), specs[""].server.name
    return Scenario(
        name,
        domain,
        {name: _offering(specs[""].server, models)},
        models,
        path=display(path),
        records=records,
        now=world.now,
        stubs=_stubs(specs, domain),
        examples=domain.examples,
        interactions=specs[""].interactions,
    )


# a scenario -----------------------------------------------------------------------------------------------------------


def _scenario(
    place: Place, path: Path, sources: Sources, override: WorldModelEntry | None, start: _Start
) -> Scenario | None:
    document = place.read_leniently(ScenarioDocument, {"mcp_sim": 1, "tools": {"-": "-"}})
    listed = _Listing(place.at("world_model"), path, sources, override)
    specs = _specs(place.at("tools"), document, path, sources, listed, start.program)
    state = _state(place.at("world", "state"), document.world, path, sources) if start.state is None else None
    world_entry = document.world.model_copy(update={"state": None if state is None else state.value})
    world = start.of(world_entry)
    if specs is not None and override is None and listed.place.value in (None, "builtin") and not sources.has_failed:
        is_final = not document.perturbations and not document.extends and document.advertise_output_schema != "never"
        start.present(_presented(specs, world, (), is_final=is_final))
    compiled = None if specs is None else compile_domain(specs, world)
    domain = compiled.domain if compiled is not None else None
    models = (override,) if override else _world_models(place, domain, path, sources)
    domain = None if domain is None else replace(domain, elsewhere=_elsewhere(domain, models))
    faults = merge_presets(place, document.extends, path, sources, domain, adversarial=document.allow_adversarial)
    by_id = _faults_by_id(place.at("perturbations"), faults)
    expected = read_expectations(place.at("expect"), domain, by_id, path, sources)
    stubs = read_stubs(place.at("stubs"), document.stubs, domain)
    if compiled is None or domain is None or specs is None:
        return None
    records = _records(place.at("world", "records"), document.world, path, sources, domain)
    if override is None:
        _note_disclosure(place.at("world_model"), models, path, sources)
    _warn_of_unused(state, compiled, models)
    records = {**_left_to_models(domain, models), **compiled.records, **records}
    domain = with_given_times(domain, records)
    stubs = (*stubs, *_stubs(specs, domain))
    return Scenario(
        name=document.name or path.stem,
        domain=domain,
        servers=_servers(specs, document.world, models),
        world_models=models,
        path=display(path),
        task=document.task,
        seed=document.seed,
        records=records,
        now=world.now,
        clock=document.world.clock,
        perturbations=faults,
        expectations=expected,
        stubs=stubs,
        examples=domain.examples,
        intensity=document.intensity,
        advertise_output_schema=document.advertise_output_schema,
        auth=None if document.auth is None else document.auth.oauth,
        interactions={name: interaction for spec in specs.values() for name, interaction in spec.interactions.items()},
    )


def _presented(
    specs: Mapping[str, Spec], world: WorldPart, models: Sequence[WorldModelEntry], *, is_final: bool
) -> dict[str, Presented]:
    """Return what clients see of the servers, before anything is inferred."""
    servers = _servers(specs, world, models)
    return {
        name: Presented(server, [*spec.tools.values()], spec.interactions, is_final)
        for (name, server), spec in zip(servers.items(), specs.values(), strict=True)
    }


def _left_to_models(domain: Domain, models: Sequence[WorldModelEntry]) -> dict[str, GivenRecords]:
    """Return no records for each entity that nothing specifies and whose tools models answer that make records."""
    makes = {tool.id: _makes_records(route(models, tool, domain)) for tool in domain.tools.values()}
    kept = {plan.entity for tool, is_made in makes.items() if not is_made for plan in domain.plans[tool].variants}
    is_left = any(makes.values())
    return {name: GivenRecords(0) for name in domain.unspecified - kept} if is_left else {}


def _makes_records(answering: Sequence[WorldModelEntry]) -> bool:
    """Whether the world models of a tool make the records that nothing specifies."""
    return bool(answering) and all(entry.world_model.makes_records for entry in answering)


def _elsewhere(domain: Domain, models: Sequence[WorldModelEntry]) -> frozenset[str]:
    """Return the tools that some world model answers from elsewhere."""
    routes = ((tool.id, route(models, tool, domain)) for tool in domain.tools.values())
    return frozenset(tool for tool, answering in routes if any(entry.world_model.is_elsewhere for entry in answering))


def _stubs(specs: Mapping[str, Spec], domain: Domain) -> tuple[Stub, ...]:
    read = [read_stubs(spec.root.at("stubs"), spec.stubs, domain) for spec in specs.values() if spec.root is not None]
    return tuple(stub for stubs in read for stub in stubs)


def _world_models(place: Place, domain: Domain | None, path: Path, sources: Sources) -> tuple[WorldModelEntry, ...]:
    """Read the world models of a scenario. Those of a trusted document may send the keys that it names."""
    at = place.at("world_model")
    if at.value is None:
        return (WorldModelEntry(world_models["builtin"](), "builtin"),)
    entries = read_world_models(at, domain, path)
    actions = [action for entry in entries for action in entry.world_model.needs_trust(os.environ)]
    for action in dict.fromkeys(actions):
        sources.require_trust(at, path, action)
    return tuple(_trusted(entry) for entry in entries) if sources.is_trusted(path) else entries


def _note_disclosure(place: Place, models: Sequence[WorldModelEntry], path: Path, sources: Sources) -> None:
    """Note the hosts to which an untrusted document has the state of worlds sent, and that it adds other files."""
    if sources.is_trusted(path):
        return
    for host in dict.fromkeys(host for entry in models for host in entry.world_model.sends_to(os.environ)):
        place.warning(f"sends calls and the state of the world to {host}")
        if sources.beyond:
            files = ", ".join(map(display, sources.beyond[:MOST_UNUSED]))
            sources.require_trust(place, path, f"sends what is in {files}, outside its folder, to {host}")


def _trusted(entry: WorldModelEntry) -> WorldModelEntry:
    """Return a world model that a trusted document or the command line names."""
    return replace(entry, world_model=entry.world_model.trusted())


def _faults_by_id(place: Place, faults: Sequence[PerturbationEntry]) -> dict[str, Perturbation | None]:
    """Return the perturbations by id; None for an entry whose kind has errors, which are reported by themselves."""
    given = (item.mapping.get("id") for item in place.items)
    return {
        **{name: None for name in given if isinstance(name, str)},
        **{fault.id: fault.perturbation for fault in faults},
    }


LIVE = "live"
"""The value of `tools` for the list of the server that the world model asks."""


@frozen
class _Listing:
    """Finds the tools of the server that the world model of a document asks."""

    place: Place
    path: Path
    sources: Sources
    override: WorldModelEntry | None

    def spec(self, at: Place, server: str, prefix: str) -> Spec | None:
        """Return the spec of the live server; None if it is not asked or does not answer."""
        if not self.sources.asks:
            at.warning("the tools are those of the live server, which is not asked: what names them is not checked")
            return None
        if self.override is None and not self.sources.is_trusted(self.path):
            return None  # the world model says so
        model = (self.override,) if self.override else read_world_models(self.place, None, self.path)
        imported = next((value for entry in model if (value := entry.world_model.listed()) is not None), None)
        if isinstance(imported, Imported):
            repaired = repair_tools(imported.tools)
            for doubt in (*imported.doubts, *repaired.doubts):
                at.warning(doubt)
            root = self.sources.given(
                {"mcp_sim": 1, "name": imported.name, **imported.spec, "tools": [*repaired.tools]}, LIVE
            )
            spec = read_spec(root, self.path, self.sources, server or None, prefix)
            return replace(spec, server=replace(spec.server, capabilities=imported.capabilities))
        at.error(
            f"{imported.name}: {imported.reason}"
            if imported
            else "needs a world model that asks a server: upstream, shadow"
        )
        return None


def _specs(
    place: Place,
    document: ScenarioDocument,
    path: Path,
    sources: Sources,
    listed: _Listing,
    program: Path | None = None,
) -> dict[str, Spec] | None:
    """Read the specs of all servers, by server name ('' if the scenario gives none). None if one cannot be read.

    `program`: that of the only server.
    """
    if not (isinstance(place.value, str) or place.is_mapping):
        return None
    specs: dict[str, Spec] = {}
    before = sources.errors
    for server, value in document.tools.items():
        at = place.at(server) if place.is_mapping else place
        if place.is_mapping and not (server and set(server) <= _SERVER_NAME_SIGNS):
            at.error("a server name may contain only letters, digits, `.`, `_` and `-`")
        prefix = f"{server}/" if len(document.tools) > 1 else ""
        given = program if len(document.tools) == 1 else None
        read = (
            listed.spec(at, server, prefix)
            if value == LIVE
            else _spec(at, value, path, sources, server, prefix, program=given)
        )
        if read is not None:
            specs[server] = read
    return specs if sources.errors == before and len(specs) == len(document.tools) else None


def _spec(
    at: Place, value: str, path: Path, sources: Sources, server: str, prefix: str, *, program: Path | None
) -> Spec | None:
    file = spec_file(value, path, sources)
    if isinstance(file, str):
        at.error(file)
        return None
    root = sources.open(file)
    if root is None:
        return None
    if problem := import_hint(root.value):
        root.error(problem)
        return None
    if not is_spec(root.value):
        root.error(
            "is not a tool spec" if isinstance(root.value, dict) else f"is not a tool spec, but {shown(root.value)}"
        )
        return None
    return read_spec(root, file, sources, server or None, prefix, program)


def _servers(specs: Mapping[str, Spec], world: WorldPart, models: Sequence[WorldModelEntry]) -> dict[str, ServerSpec]:
    offerings = {server or spec.server.name: _offering(spec.server, models) for server, spec in specs.items()}
    return {name: _namespaced(name, spec) for name, spec in offerings.items()} if world.namespaces else offerings


def _offering(spec: ServerSpec, models: Sequence[WorldModelEntry]) -> ServerSpec:
    """Return the server with what world models offer besides its tool spec."""
    return replace(spec, capabilities=spec.capabilities.union(*(entry.world_model.offers() for entry in models)))


def _namespaced(server: str, spec: ServerSpec) -> ServerSpec:
    """Return the server with its entities under names that start with the server's name."""
    resources = tuple(
        replace(
            resource,
            entity=resource.entity and f"{server}.{resource.entity}",
            choices=_namespaced_choices(server, resource.choices),
        )
        for resource in spec.resources
    )
    prompts = tuple(replace(prompt, choices=_namespaced_choices(server, prompt.choices)) for prompt in spec.prompts)
    return replace(spec, resources=resources, prompts=prompts)


def _namespaced_choices(server: str, choices: Mapping[str, Choices]) -> dict[str, Choices]:
    return {
        name: replace(choice, entity=choice.entity and f"{server}.{choice.entity}") for name, choice in choices.items()
    }


def _state(place: Place, world: WorldPart, path: Path, sources: Sources) -> Place | None:
    """Return the place of the state that the scenario gives, inline or in a file; None if it gives none."""
    if not isinstance(world.state, str):
        return None if world.state is None else place
    file = sources.named_file(world.state, path)
    if isinstance(file, str):
        place.error(file)
        return None
    root = sources.open(file)
    if root is not None and not root.is_mapping:
        root.error(f"must be a mapping, not {shown(root.value)}")
        return None
    return root


def _warn_of_unused(state: Place | None, compiled: CompiledDomain, world_models: Iterable[WorldModelEntry]) -> None:
    """Warn about parts of the given state that no tool uses, if all tools are answered by their plans.

    A language model sees the whole state.
    """
    if state is None or any(entry.kind != "builtin" for entry in world_models):
        return
    for path in compiled.unused[:MOST_UNUSED]:
        line = compiled.suggest(path)
        state.at(*path).warning(f"no tool shows this part{f'; `{line}` under sim: would' if line else ''}")
    if len(compiled.unused) > MOST_UNUSED:
        state.warning(f"no tool uses {len(compiled.unused) - MOST_UNUSED} more parts")


def _records(place: Place, world: WorldPart, path: Path, sources: Sources, domain: Domain) -> dict[str, GivenRecords]:
    """Return the records that the scenario gives, inline and in files."""
    written = {
        name: GivenRecords(record.count or len(record.rows), tuple(record.rows))
        for name, record in world.records.items()
    }
    check_records(place, {name: records for name, records in written.items() if name != EVERY}, domain)
    if EVERY in world.records and world.records[EVERY].file is None:
        place.at(EVERY).error("means every entity, and needs a file")
    given = _given_records(place, world, path, sources, domain)
    if not sources.has_failed:
        check_links(place, given, domain)
    return given


def _given_records(
    place: Place, world: WorldPart, path: Path, sources: Sources, domain: Domain
) -> dict[str, GivenRecords]:
    if not any(record.file for record in world.records.values()):
        return {
            name: GivenRecords(len(record.rows) if record.count is None else record.count, tuple(record.rows))
            for name, record in world.records.items()
        }
    from mcp_sim.generate.data_files.given_records import given_records  # noqa: PLC0415 (data files are rare)

    return given_records(place, world.records, path, sources, domain)
