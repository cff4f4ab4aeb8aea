"""Which faults does a scenario take over from presets? Those of `extends`, in order; the scenario's own come last.

An entry with the id of an earlier one takes its place. What an entry of a preset cannot do with the tools that are
served is told as a warning, and the entry is left out: a preset is written for any tools.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_sim.spec.entries import read_perturbations
from mcp_sim.spec.parts.scenario import PresetDocument
from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import Reading, is_file_name, is_readable, shipped
from mcp_sim.spec.trigger_conflicts import conflicts, kept_out
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Problem, did_you_mean
from mcp_sim.types.scenario import PerturbationEntry


@dataclass(frozen=True, slots=True)
class Preset:
    """The entries of one preset that can be used, and what is to be said of them and of the others, by id."""

    entries: tuple[PerturbationEntry, ...]
    doubts: tuple[tuple[str, Problem], ...]


def is_preset(place: Place) -> bool:
    """Is a document a preset, rather than a scenario?"""
    return "preset" in place.mapping and "tools" not in place.mapping


def read_preset(place: Place, domain: Domain | None, *, allow_adversarial: bool = True) -> Preset:
    """A preset, held against the tools (None: they are not known). What is wrong with it itself is noted."""
    place.read_what_can_be(PresetDocument, {"mcp_sim": 1, "preset": "-", "perturbations": []})
    at = place.at("perturbations")
    entries = read_perturbations(at, None, allow_adversarial=allow_adversarial)
    for item in at.items:
        if item.is_mapping and item.mapping.get("id") is None:
            item.error("needs an id here, by which a scenario may replace it")
    if domain is None:
        return Preset(entries, ())
    doubts = tuple(_doubts(at, domain))
    unfit = {name for name, _ in doubts}
    return Preset(tuple(entry for entry in entries if entry.id not in unfit), doubts)


def _doubts(at: Place, domain: Domain) -> Iterable[tuple[str, Problem]]:
    """What the entries cannot do with these tools, by id of the entry."""
    known, found = list[Problem](), list[Problem]()
    read_perturbations(replace(at, problems=known), None)
    read_perturbations(replace(at, problems=found), domain)
    for problem in found:
        if problem not in known and problem.severity == "error":
            item = next(item for item in at.items if _is_within(problem.path, item))
            said = f"{problem.message}; the entry is left out here"
            yield str(item.mapping.get("id")), replace(problem, message=said, severity="warning")


def _is_within(path: str, item: Place) -> bool:
    start = item.dotted
    return path == start or path.startswith((f"{start}.", f"{start}["))


def merged(
    place: Place, names: Sequence[str], document: Path, reading: Reading, domain: Domain | None, *, adversarial: bool
) -> tuple[PerturbationEntry, ...]:
    """The perturbations of a scenario: those of its presets, then its own (`place` is the whole scenario's)."""
    at = place.at("extends")
    presets = list[Preset]()
    for index, name in enumerate(names):
        said = at.at(index) if at.is_list else at
        preset = _preset(said, name, document, reading, domain, adversarial=adversarial)
        if preset is not None and not preset.entries and preset.doubts:
            said.error(f"none of the faults of {name!r} can strike these tools: {preset.doubts[0][1]}")
        elif preset is not None:
            presets.append(preset)
    own = read_perturbations(place.at("perturbations"), domain, allow_adversarial=adversarial)
    given = {str(item.mapping.get("id")) for item in place.at("perturbations").items}
    for preset in presets:
        reading.problems.extend(problem for name, problem in preset.doubts if name not in given)
    parts = (*(preset.entries for preset in presets), own)
    entries = tuple({entry.id: entry for part in parts for entry in part}.values())
    if presets and domain is not None and not reading.has_failed:
        _judge_together(at, [part for part in parts if part], entries, domain)
    return entries


def _judge_together(
    at: Place, parts: Sequence[Sequence[PerturbationEntry]], entries: Sequence[PerturbationEntry], domain: Domain
) -> None:
    """Note what entries do to each other that stand in different documents; of those in one it is noted there."""
    told = {text for part in parts for _, text in conflicts(part, domain)}
    for place, text in conflicts(entries, domain):
        if text not in told:
            at.error(f"{entries[place].id}: {text}")
    alone = {entry.id: name for part in parts for entry, name in zip(part, kept_out(part, domain), strict=True)}
    for entry, name in zip(entries, kept_out(entries, domain), strict=True):
        if name is not None and alone.get(entry.id) is None:
            at.warning(f"{entry.id} never comes to anything: {name} answers every call of these tools before it")


def _preset(
    said: Place, name: str, document: Path, reading: Reading, domain: Domain | None, *, adversarial: bool
) -> Preset | None:
    file = _file(name, document)
    if isinstance(file, str):
        said.error(file)
        return None
    root = reading.open(file)
    if root is None:
        return None
    if not is_preset(root):
        root.error("is no preset: it has no `preset:` that says what it is for")
        return None
    return read_preset(root, domain, allow_adversarial=adversarial)


def _file(name: str, document: Path) -> Path | str:
    """The file that a name in `extends` means, or why there is none."""
    if is_file_name(name):
        path = document.parent / name
        return path if is_readable(path) else f"there is no file {name!r} beside {document.name}"
    known = shipped("presets")
    return known.get(name) or f"no preset {name!r} ships{did_you_mean(name, known)}"
