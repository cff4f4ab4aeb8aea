"""Read presets, and merge their faults into a scenario.

The faults of the presets in `extends` come first, in order; the scenario's own come last. An entry with the id of an
earlier one replaces it. A preset is written for any tools: an entry that does not fit the tools of the scenario is
left out with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from mcp_sim.spec.entries import read_perturbations
from mcp_sim.spec.parts.scenario import PresetDocument
from mcp_sim.spec.places import Place
from mcp_sim.spec.sources import Sources, is_file_name, shipped
from mcp_sim.spec.when import conflicts, shadowed_by
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Problem, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.scenario import PerturbationEntry


@frozen
class Preset:
    """The usable entries of a preset, and why others are left out: pairs of an entry's id and a warning."""

    entries: tuple[PerturbationEntry, ...]
    left_out: tuple[tuple[str, Problem], ...]


def is_preset(place: Place) -> bool:
    """Whether a document is a preset rather than a scenario."""
    return "preset" in place.mapping and "tools" not in place.mapping


def read_preset(place: Place, domain: Domain | None, *, allow_adversarial: bool = True) -> Preset:
    """Read a preset, and check it against the tools unless `domain` is None. Errors of the preset itself are noted."""
    place.read_leniently(PresetDocument, {"mcp_sim": 1, "preset": "-", "perturbations": []})
    at = place.at("perturbations")
    entries = read_perturbations(at, None, allow_adversarial=allow_adversarial)
    for item in at.items:
        if item.is_mapping and item.mapping.get("id") is None:
            item.error("must have an id in a preset, so that a scenario can replace it")
    if domain is None:
        return Preset(entries, ())
    left_out = tuple(_unfit(at, domain))
    unfit = {name for name, _ in left_out}
    return Preset(tuple(entry for entry in entries if entry.id not in unfit), left_out)


def _unfit(at: Place, domain: Domain) -> Iterable[tuple[str, Problem]]:
    """Yield the id of each entry that does not fit these tools, with a warning that says why."""
    known, problems = list[Problem](), list[Problem]()
    read_perturbations(replace(at, problems=known), None)
    read_perturbations(replace(at, problems=problems), domain)
    for problem in problems:
        if problem not in known and problem.severity == "error":
            item = next(item for item in at.items if _is_within(problem.path, item))
            message = f"{problem.message}; this entry is left out"
            yield str(item.mapping.get("id")), replace(problem, message=message, severity="warning")


def _is_within(path: str, item: Place) -> bool:
    start = item.dotted
    return path == start or path.startswith((f"{start}.", f"{start}["))


def merge_presets(
    place: Place, names: Sequence[str], document: Path, sources: Sources, domain: Domain | None, *, adversarial: bool
) -> tuple[PerturbationEntry, ...]:
    """Return the perturbations of a scenario: those of its presets, then its own. `place` is the whole scenario."""
    at = place.at("extends")
    presets = _presets(at, names, document, sources, domain, adversarial=adversarial)
    perturbations = read_perturbations(place.at("perturbations"), domain, allow_adversarial=adversarial)
    given = {str(item.mapping.get("id")) for item in place.at("perturbations").items}
    for preset in presets:
        sources.problems.extend(problem for name, problem in preset.left_out if name not in given)
    parts = (*(preset.entries for preset in presets), perturbations)
    entries = tuple({entry.id: entry for perturbation_entries in parts for entry in perturbation_entries}.values())
    if presets and domain is not None and not sources.has_failed:
        _check_together(
            at, [perturbation_entries for perturbation_entries in parts if perturbation_entries], entries, domain
        )
    return entries


def _presets(
    at: Place, names: Sequence[str], document: Path, sources: Sources, domain: Domain | None, *, adversarial: bool
) -> list[Preset]:
    """Read the presets that a scenario names. Each may be named once, and some of its faults must fit the tools."""
    presets, known = list[Preset](), shipped("presets")
    for index, name in enumerate(names):
        here = at.at(index) if at.is_list else at
        if name in names[:index]:
            here.error(f"{name!r} is listed already")
            continue
        file = sources.named_file(name, document) if is_file_name(name) else known.get(name)
        if not isinstance(file, Path):
            here.error(file or f"unknown preset {name!r}{did_you_mean(name, known)}")
            continue
        root = sources.open(file)
        if root is None:
            continue
        if not is_preset(root):
            root.error("is not a preset: the key `preset:` with its description is missing")
            continue
        preset = read_preset(root, domain, allow_adversarial=adversarial)
        if not preset.entries and preset.left_out:
            here.error(f"none of the faults of {name!r} fits these tools: {preset.left_out[0][1]}")
        else:
            presets.append(preset)
    return presets


def _check_together(
    at: Place, parts: Sequence[Sequence[PerturbationEntry]], entries: Sequence[PerturbationEntry], domain: Domain
) -> None:
    """Note conflicts between entries of different documents. Those within one document are noted there."""
    noted = {text for perturbation_entries in parts for _, text in conflicts(perturbation_entries, domain)}
    for place, text in conflicts(entries, domain):
        if text not in noted:
            at.error(f"{entries[place].id}: {text}")
    alone = {
        entry.id: name
        for perturbation_entries in parts
        for entry, name in zip(perturbation_entries, shadowed_by(perturbation_entries, domain), strict=True)
    }
    for entry, name in zip(entries, shadowed_by(entries, domain), strict=True):
        if name is not None and alone.get(entry.id) is None:
            at.warning(f"{entry.id} never has an effect: {name} answers every call of these tools first")
