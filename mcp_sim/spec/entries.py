"""Read the entries of a scenario: perturbations, expectations, world models, stubs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

from mcp_sim.spec.messages import shown
from mcp_sim.spec.parts.scenario import ExpectationKeys, PerturbationKeys, WorldModelKeys
from mcp_sim.spec.parts.surface import StubPart
from mcp_sim.spec.places import Place
from mcp_sim.spec.program_files import read_check
from mcp_sim.spec.sources import Sources
from mcp_sim.spec.surface import check_blocks, dump_parts
from mcp_sim.spec.when import check_when, conflicts, read_when, shadowed_by
from mcp_sim.types import Json, Tool
from mcp_sim.types.call_matchers import quota_problems
from mcp_sim.types.conditions import matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UnknownKind, UsageError, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import (
    COMMON_EXPECTATION_KEYS,
    COMMON_PERTURBATION_KEYS,
    COMMON_WORLD_MODEL_KEYS,
    Expectation,
    Kind,
    Perturbation,
    Stage,
    expectations,
    perturbations,
    world_models,
)
from mcp_sim.types.kinds.registries import Registry
from mcp_sim.types.options import Part
from mcp_sim.types.scenario import ExpectationEntry, PerturbationEntry, Stub, When, WorldModelEntry, route
from mcp_sim.types.tools import in_reach

K = TypeVar("K", bound=Kind)
P = TypeVar("P", bound=Part)
_NAME = re.compile(r"(?:[^:]+\.py:)?([\w.-]{1,64})")
"""The subject of an entry: a name, or the function of a Python file."""


@frozen
class _Entry:
    """An entry: its kind, the kind's options (None if they are invalid), and the common keys."""

    id: str
    kind: str
    options: Kind | None
    keys: Part
    place: Place


# perturbations --------------------------------------------------------------------------------------------------------


def read_perturbations(
    place: Place, domain: Domain | None, *, allow_adversarial: bool = True
) -> tuple[PerturbationEntry, ...]:
    """Read the perturbations in a list, and check them against the tools unless `domain` is None (tools unknown)."""
    entries = list(_entries(place, perturbations, COMMON_PERTURBATION_KEYS, PerturbationKeys))
    for entry in entries:
        if isinstance(entry.options, Perturbation) and entry.options.is_hostile() and not allow_adversarial:
            entry.place.at(entry.kind).error("attacks the agent's user; allow it with `allow_adversarial: true`")
    placed = [
        (entry.place, perturbation_entry)
        for entry in entries
        if (perturbation_entry := _perturbation(entry, domain)) is not None
    ]
    if domain is not None and not any(problem.severity == "error" for problem in place.problems):
        outer = shadowed_by([perturbation for _, perturbation in placed], domain)
        for (at, _), name in zip(placed, outer, strict=True):
            if name is not None:
                at.warning(f"never has an effect: {name} answers every call of these tools first")
        for at, problem in conflicts([perturbation for _, perturbation in placed], domain):
            placed[at][0].error(problem)
    return tuple(perturbation for _, perturbation in placed)


def _refuse(place: Place, names: Iterable[str], why: str) -> None:
    """Note an error at each of these keys that an entry has."""
    for name in names:
        if name in place.mapping:
            place.at(name).error(why)


def _perturbation(entry: _Entry, domain: Domain | None) -> PerturbationEntry | None:
    keys, kind = cast("PerturbationKeys", entry.keys), cast("Perturbation | None", entry.options)
    problems_before = len(entry.place.problems)
    when = read_when(entry.place.at("when")) if "when" in entry.place.mapping else When()
    is_complete = len(entry.place.problems) == problems_before
    if domain is not None:
        tools = tools_in_reach(entry.place.at("tools"), keys.tools, domain)
        problems = () if kind is None else (*kind.problems(domain, tools), *_out_of_reach(kind, domain, tools))
        _note(entry.place.at(entry.kind), problems)
        check_when(entry.place.at("when"), when, domain, tools, is_complete=is_complete)
        _note(entry.place.at("fires", "per"), quota_problems(keys.fires.per or "", tools))
    if kind is None:
        return None
    if kind.stage is Stage.CATALOGUE:
        why = "applies to faults of single calls; this fault lasts from when `when` first holds"
        _refuse(entry.place, ("fires", "group"), why)
    if kind.is_timed():
        why = "applies to faults of calls; this fault happens on its own"
        _refuse(entry.place, ("tools", "when", "fires"), why)
    return PerturbationEntry(
        id=entry.id,
        kind=entry.kind,
        perturbation=kind,
        tools=tuple(keys.tools or ()),
        when=when,
        fires=keys.fires,
        visible=keys.visible or kind.visibility,
        group=keys.group,
        enabled=keys.enabled,
    )


def _out_of_reach(kind: Perturbation, domain: Domain, tools: Sequence[Tool]) -> Iterator[str]:
    """Yield a problem if a perturbation acts on records that the world does not have."""
    far = [tool.id for tool in tools if tool.id in domain.elsewhere] if kind.acts_on_records() else []
    if far:
        listed = ", ".join(far[:5]) + (", ..." if len(far) > 5 else "")
        yield (
            f"acts on records of the world, which do not decide what {listed} answer{'s' if len(far) == 1 else ''}; "
            "choose other `tools`, or let `shadow` answer instead of `upstream`"
        )


def tools_in_reach(place: Place, globs: Sequence[str] | None, domain: Domain) -> list[Tool]:
    """Return the tools that the globs match, all without globs. Notes an error for each glob that matches none."""
    every = list(domain.tools.values())
    for index, glob in enumerate(globs or ()):
        if not any(in_reach((glob,), tool) for tool in every):
            at = place.at(index) if place.is_list else place
            at.error(f"no tool matches {glob!r}{did_you_mean(glob, domain.tools)}")
    return [tool for tool in every if in_reach(tuple(globs or ()), tool)]


# expectations ---------------------------------------------------------------------------------------------------------


def read_expectations(
    place: Place, domain: Domain | None, faults: Mapping[str, Perturbation | None], document: Path, sources: Sources
) -> tuple[ExpectationEntry, ...]:
    """Read the expectations in a list; `faults` are the perturbations by id, None for an entry with errors.

    Files of code that they name are relative to the folder of the `document`, and noted in `sources`.
    """
    entries = list(_entries(place, expectations, COMMON_EXPECTATION_KEYS, ExpectationKeys))
    read = [_expectation(entry, domain, faults, document, sources) for entry in entries]
    ids = {entry.id for entry in entries}
    for entry, expectation in zip(entries, read, strict=True):
        if expectation is not None:
            _note(entry.place.at(entry.kind), expectation.expectation.unknown_ids(ids))
    return tuple(entry for entry in read if entry is not None)


def _expectation(
    entry: _Entry, domain: Domain | None, faults: Mapping[str, Perturbation | None], document: Path, sources: Sources
) -> ExpectationEntry | None:
    keys, kind = cast("ExpectationKeys", entry.keys), cast("Expectation | None", entry.options)
    if kind is None:
        return None
    if kind.code is not None:
        code = read_check(entry.place.at(entry.kind), kind.code, document, sources)
        if code is None:
            return None
        kind = kind.with_code(code)
    if domain is not None:
        _note(entry.place.at(entry.kind), kind.problems(domain, faults))
    if keys.gate and keys.optional:
        entry.place.at("gate").error("an expectation is either a gate or optional")
    return ExpectationEntry(
        entry.id, entry.kind, kind, keys.weight, gate=keys.gate, optional=keys.optional, message=keys.message
    )


# world models ---------------------------------------------------------------------------------------------------------


def read_world_models(place: Place, domain: Domain | None, document: Path) -> tuple[WorldModelEntry, ...]:
    """Read the world models: a kind by name, a kind with options, or a list of those with what each answers.

    Paths that they name are relative to the folder of the `document`.
    """
    places = place.items if place.is_list else [place]
    entries = tuple(entry for at in places if (entry := _world_model(at, domain, document)) is not None)
    if domain is not None and len(entries) == len(places):
        _check_routes(place, places, entries, domain)
    return entries


def _check_routes(place: Place, places: Sequence[Place], entries: Sequence[WorldModelEntry], domain: Domain) -> None:
    """Note an error for each tool that no entry answers, and for each entry that cannot answer its tools."""
    routes = {tool.id: route(entries, tool, domain) for tool in domain.tools.values()}
    unmatched = [tool for tool, answering in routes.items() if not answering]
    if unmatched:
        place.error(f"no entry matches {', '.join(unmatched[:5])}; add a last entry without `tools`")
    for at, entry in zip(places, entries, strict=True):
        own_routes = {
            tool: answering
            for tool, answering in routes.items()
            if any(world_model_entry is entry for world_model_entry in answering)
        }
        tools = [domain.tools[tool] for tool in own_routes]
        _note(at.at(entry.kind), entry.world_model.problems(domain, tools))
        for message in entry.world_model.warnings(domain, tools):
            at.at(entry.kind).warning(message)
        if entry.passes_on and any(answering[-1] is entry for answering in own_routes.values()):
            at.at("unmatched").error("no entry follows that answers the same tools; add one")


def named_world_model(text: str, option: str = "--world-model", **options: Json) -> WorldModelEntry:
    """Return the world model that a command line names: `KIND`, or `KIND:` and what its kind writes there.

    Raises `UsageError` if the text is malformed or the options are invalid.
    """
    name, has_more, rest = text.partition(":")
    try:
        family = world_models[name]
    except UnknownKind as error:
        raise UsageError(f"{option} {text}: {error}") from None
    form = f"write it as {name}:{family.written}" if family.written else f"write it as {name}"
    given = family.options_in(rest) if has_more else {}
    if given is None:
        raise UsageError(f"{option} {text}: {form}")
    try:
        kind = family.model_validate({**given, **options} if has_more else {})
    except ValueError as error:
        first = cast("Any", error).errors()[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg'].removeprefix('Value error, ')}"
        raise UsageError(f"{option} {text}: {reason}{'' if has_more else f'; {form}'}") from None
    return WorldModelEntry(kind, name)


def _world_model(place: Place, domain: Domain | None, document: Path) -> WorldModelEntry | None:
    if isinstance(place.value, str):
        if place.value not in world_models.names():
            place.error(_unknown_kind(world_models, place.value))
            return None
        place = Place(place.document, place.problems, {place.value: None}, place.path)
    kind, options = _kind(place, world_models, COMMON_WORLD_MODEL_KEYS)
    keys = _keys(place, COMMON_WORLD_MODEL_KEYS, WorldModelKeys)
    if domain is not None:
        tools_in_reach(place.at("tools"), keys.tools, domain)
    if options is None:
        return None
    model = options.beside(document)
    if not keys.answered:
        place.error("answers neither reads nor writes; leave the entry out")
    only = cast('Literal["reads", "writes"]', next(iter(keys.answered))) if len(keys.answered) == 1 else None
    return WorldModelEntry(model, kind, tuple(keys.tools or ()), only, keys.unmatched == "next")


# stubs ----------------------------------------------------------------------------------------------------------------


def read_stubs(place: Place, stubs: Sequence[StubPart], domain: Domain | None) -> tuple[Stub, ...]:
    """Return the stubs with their matchers compiled."""
    for index, stub in enumerate(stubs if domain is not None else ()):
        tools = tools_in_reach(place.at(index, "tool"), [stub.tool], cast("Domain", domain))
        check_blocks(place.at(index, "blocks"), stub.blocks, [tool.definition for tool in tools])
        for tool in tools if "result" in stub.model_fields_set else ():
            schema = tool.output_schema
            for problem in () if schema is None else Validator(schema).problems(stub.result):
                place.at(index, "result").error(f"violates the outputSchema of {tool.id}: {problem}")
    return tuple(
        Stub(
            stub.tool,
            {name: matcher(value) for name, value in stub.arguments.items()},
            stub.result,
            stub.error,
            dump_parts(stub.blocks),
        )
        for stub in stubs
    )


# entries in general ---------------------------------------------------------------------------------------------------


def _entries(place: Place, registry: Registry[K], common: frozenset[str], model: type[P]) -> Iterator[_Entry]:
    """Yield the entries of a list. Ids are unique; an entry without `id` gets one derived from its content."""
    seen: dict[str, int] = {}
    for at in place.items:
        kind, options = _kind(at, registry, common)
        keys = _keys(at, common, model)
        given = cast("str | None", getattr(keys, "id"))  # noqa: B009 (both models of common keys have one)
        name = given or _default_id(kind, at, registry.family)
        seen[name] = seen.get(name, 0) + 1
        if given is not None and seen[name] > 1:
            at.at("id").error(f"duplicate id {name!r}; an earlier entry has it")
        yield _Entry(name if given or seen[name] == 1 else f"{name}-{seen[name]}", kind, options, keys, at)


def _default_id(kind: str, place: Place, family: str) -> str:
    """Return the id of an entry without `id`: for an expectation its subject if that is a name, else a hash."""
    about = place.mapping.get(kind) if family == expectations.family else None
    if isinstance(about, str) and (name := _NAME.fullmatch(about)):
        return f"{kind}-{name[1]}"
    return f"{kind}-{sha256(canonical(place.value).encode()).hexdigest()[:6]}"


def _keys(place: Place, common: frozenset[str], model: type[P]) -> P:
    """Return the common keys of an entry, without the invalid ones."""
    beside = {name: value for name, value in place.mapping.items() if name in common}
    return Place(place.document, place.problems, beside, place.path).read_leniently(model, {})


def _kind(place: Place, registry: Registry[K], common: frozenset[str]) -> tuple[str, K | None]:
    """Return the kind of an entry ('' if it lacks one) and its options (None if they are invalid)."""
    if not place.is_mapping:
        hint = f"; write `{place.value}: {{}}`" if place.value in registry.names() else ""
        place.error(f"expected a mapping with a kind as key, got {shown(place.value)}{hint}")
        return "", None
    name = _kind_name(place, [key for key in place.mapping if key not in common], registry, common)
    if not name:
        return "", None
    try:
        kind = registry[name]
    except UnknownKind:
        place.at(name).error(_unknown_kind(registry, name))
        return name, None
    return name, place.at(name).read(kind)


def _unknown_kind(registry: Registry[Any], name: str) -> str:
    family = registry.family.replace("_", " ").removesuffix("s")
    return f"unknown {family} {name!r}{did_you_mean(name, registry.names())}"


def _kind_name(place: Place, names: Sequence[str], registry: Registry[K], common: frozenset[str]) -> str:
    """Return which of the keys that are not common is the kind; the others are errors."""
    if not names:
        place.error(f"has no kind{did_you_mean('', registry.names())}")
        return ""
    if len(names) == 1:
        return names[0]
    registered = registry.names()
    known = [name for name in names if name in registered]
    if len(known) > 1:
        place.error(f"has several kinds: {', '.join(known)}; write one entry for each")
        return ""
    kind = (known or names)[0]
    for name in names:
        if name != kind:
            place.at(name).error(f"unknown key{did_you_mean(name, common)}")
    return kind


def _note(place: Place, messages: Sequence[str]) -> None:
    for message in messages:
        place.error(message)
