"""Every registered kind keeps to the conventions: one name for kind, file and class; a manual; described options."""

from __future__ import annotations

import importlib
import inspect
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from mcp_sim.cli.list import example
from mcp_sim.types.errors import UnknownKind
from mcp_sim.types.kinds import (
    Expectation,
    Kind,
    Perturbation,
    Stage,
    Trigger,
    WorldModel,
    families,
)
from mcp_sim.types.kinds.registries import Registry

EVERY: list[tuple[Registry[Any], str]] = [
    (registry, name) for registry in families.values() for name in registry.names()
]
IDS = [f"{registry.family}-{name}" for registry, name in EVERY]
OVERRIDDEN: dict[type[Any], tuple[str, ...]] = {
    Perturbation: ("apply", "compile", "catalogue"),
    Trigger: ("compile",),
    Expectation: ("verdict",),
    WorldModel: ("bind",),
}


@pytest.mark.parametrize("registry", families.values(), ids=[*families])
def test_kind_file_and_class_share_a_name(registry: Registry[Any]) -> None:
    for name in registry.names():
        kind = registry[name]
        file = Path(inspect.getfile(kind))
        if name in registry.elsewhere:
            assert kind.__module__ == registry.elsewhere[name]
        else:
            assert kind.__module__.startswith(f"{registry.package}.{name}")
            assert name == (file.parent.name if file.stem == "backend" else file.stem)
        assert kind.__name__ == "".join(word.capitalize() for word in name.split("_"))
        assert registry.name_of(kind) == name


@pytest.mark.parametrize(("registry", "name"), EVERY, ids=IDS)
def test_a_kind_is_documented_and_implements_what_its_base_class_leaves_open(
    registry: Registry[Any], name: str
) -> None:
    kind = registry[name]
    assert kind.__doc__
    assert kind.__doc__ != registry.base.__doc__
    assert (importlib.import_module(kind.__module__).__doc__ or "").strip().endswith(".")
    assert all(len(line) <= 120 for line in kind.__doc__.splitlines())
    assert issubclass(kind, registry.base)
    if registry.base in OVERRIDDEN:
        methods = OVERRIDDEN[registry.base]
        assert any(getattr(kind, method) is not getattr(registry.base, method) for method in methods)
    if issubclass(kind, Perturbation):
        assert isinstance(kind.stage, Stage)
        assert kind.visibility in ("explicit", "implicit")
    if issubclass(kind, Trigger):
        assert kind.role.name in ("FILTER", "COUNTER", "CHANCE")


DOCUMENTED = [(registry, name) for registry, name in EVERY if issubclass(registry.base, Kind)]
DOCUMENTED_IDS = [f"{registry.family}-{name}" for registry, name in DOCUMENTED]


@pytest.mark.parametrize(("registry", "name"), DOCUMENTED, ids=DOCUMENTED_IDS)
def test_a_kind_refuses_unknown_options_describes_each_and_accepts_its_example(
    registry: Registry[Any], name: str
) -> None:
    from mcp_sim.spec import yaml12

    kind = registry[name]
    assert kind.model_config.get("frozen")
    assert kind.model_config.get("extra") == "forbid"
    assert [field for field, info in kind.model_fields.items() if not info.description] == []
    Draft202012Validator.check_schema(kind.model_json_schema())
    written = yaml12.load(example(name, kind).encode(), "example").value
    assert list(written) == [name]
    kind.model_validate(written[name])


def test_a_kind_cannot_have_the_name_of_a_common_key() -> None:
    with pytest.raises(ValueError, match="common key"):
        families["perturbations"].register("when")


def test_entry_points_are_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    groups = list[str]()

    def entry_points(group: str) -> EntryPoints:
        groups.append(group)
        return EntryPoints([EntryPoint("also", "mcp_sim.faults.triggers.nth:Nth", group)])

    monkeypatch.setattr("mcp_sim.types.kinds.registries.entry_points", entry_points)
    registry = Registry("triggers", Trigger, "mcp_sim.faults.triggers")
    for name in ("evry", "evre"):
        with pytest.raises(UnknownKind, match=r"unknown trigger 'evr.'; did you mean 'every'"):
            registry[name]
    assert {"also", "every"} <= set(registry.names())
    assert groups == ["mcp_sim.triggers"]


def test_kinds_of_one_family_do_not_import_each_other() -> None:
    for registry, name in EVERY:
        source = Path(inspect.getfile(registry[name])).read_text(encoding="utf-8")
        siblings = [f"{registry.package}.{other}" for other in registry.names() if other != name]
        assert not [sibling for sibling in siblings if f"import {sibling}" in source or f"from {sibling} " in source]
