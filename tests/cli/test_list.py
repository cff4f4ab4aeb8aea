"""`mcp-sim list`: every kind and everything that ships has a line and a manual."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcp_sim.cli import main
from mcp_sim.simulator.compile import check
from mcp_sim.spec.sources import shipped
from mcp_sim.types.kinds import families

KEYED = """\
mcp_sim: 1
name: keyed
tools: [{name: create_charge, inputSchema: {type: object, properties: {idempotency_key: {type: string}}}}]
"""


def listed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["list", *words]) == 0
    return capsys.readouterr().out


def test_without_a_family_it_lists_every_kind_and_everything_that_ships(capsys: pytest.CaptureFixture[str]) -> None:
    lines = listed(capsys).splitlines()
    named = {line.split()[0] for line in lines if line.startswith("  ")}
    kinds = {name for registry in families.values() for name in registry.names()}
    assert named == kinds | {name for folder in ("scenarios", "tool_specs", "presets") for name in shipped(folder)}
    assert {"calm_crm", "flaky_crm", "crm", "office"} <= named
    titles = [line for line in lines if line and not line.startswith(" ")]
    assert titles == [*(name.replace("_", "-") for name in families), "scenarios", "catalogue", "presets"]
    members = [line.split(maxsplit=1) for line in lines if line.startswith("  ")]
    assert [words for words in members if len(words) != 2 or not words[1].endswith((".", "`", ")"))] == []


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family, registry in families.items() for name in registry.names()]
)
def test_a_kind_is_documented_by_its_docstring_and_its_fields(
    family: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kind = families[family][name]
    manual = listed(capsys, family.replace("_", "-"), name)
    assert manual.startswith(name)
    assert (kind.__doc__ or "").strip().splitlines()[0] in manual
    for option, field in getattr(kind, "model_fields", {}).items():
        assert f"\n  {field.alias or option} " in manual
    assert "PT" not in manual.split("options")[-1]


def test_an_option_shows_its_type_its_default_and_what_it_means(capsys: pytest.CaptureFixture[str]) -> None:
    manual = listed(capsys, "perturbations", "rate_limit")
    assert manual.endswith(
        """
options
  limit     whole number from 1, default 10
            Maximum number of calls per window.
  window    duration, default 1m
            Length of a window.
  counting  fixed | sliding | bucket, default fixed
            How calls are counted.
  burst     whole number from 1
            Capacity of the bucket, which is full at first. Default: limit.
  per       text, default world
            Which calls share a quota: world, tool or arguments.NAME.
  message   text
            What the agent reads; {retry_after} and {limit} are filled. Default: the vendor's wording, or a plain one.

example
  perturbations:
    - rate_limit: {limit: 10, window: 1m}
"""
    )
    assert "whole number from 1 | list of whole number from 1, required" in listed(capsys, "triggers", "nth")
    assert "mapping of name: matcher, required" in listed(capsys, "triggers", "arguments")
    assert "text | json | rpc" in listed(capsys, "perturbations", "error")


@pytest.mark.parametrize("family", ["perturbations", "triggers", "expectations"])
def test_the_example_of_a_manual_is_a_document_without_problems(
    family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in families[family].names():
        shown = listed(capsys, family, name).partition("\nexample\n")[2]
        lines = [line.removeprefix("  ") for line in shown.splitlines()]
        body = "\n".join(lines)
        if family == "expectations":  # some name a perturbation, or another expectation
            body += "\n  - {state: {entity: deal, count: 1}, id: one-deal}"
            faults = "{lost_ack: {}, id: lost-deal, tools: create_deal}, {injection: x, id: planted-order}"
            body += f"\nallow_adversarial: true\nperturbations: [{faults}]"
        elif name == "arguments":
            body += "\n    tools: create_deal"
        (tmp_path / "checks.py").write_text("def order_is_paid(state, steps, answer): ...\n", encoding="utf-8")
        (tmp_path / "keyed.yaml").write_text(KEYED, encoding="utf-8")
        # orders of the shop have a status, as jobs do; no shipped tool takes an idempotency key
        tools = {"async_job": "shop", "key_expired": "keyed.yaml", "contradiction": "search_world"}
        tools |= dict.fromkeys(("disk_full", "flaky", "hang"), "code")  # only a shell has these
        tools |= dict.fromkeys(("interrupt", "layout_change", "stale_refs"), "web_shop")
        path = tmp_path / f"{name}.yaml"
        text = body.replace("get_job", "get_order")
        path.write_text(f"mcp_sim: 1\nname: shown\ntools: {tools.get(name, 'crm')}\n{text}\n", encoding="utf-8")
        assert [str(problem) for problem in check([path]) if problem.severity == "error"] == []


def test_what_ships_is_shown_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    shown = listed(capsys, "scenarios", "flaky_crm")
    path, _, text = shown.partition("\n\n")
    assert Path(path).read_text(encoding="utf-8").strip() == text.strip()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["perturbation"], "unknown family 'perturbation'; did you mean 'perturbations'?"),
        (["lost_ack"], "unknown family 'lost_ack'; did you mean `mcp-sim list perturbations lost_ack`?"),
        (["memory"], "unknown family 'memory'; did you mean `mcp-sim list catalogue memory`?"),
        (["triggers", "nht"], "unknown trigger 'nht'; did you mean 'nth'?"),
        (["catalogue", "crn"], "did you mean 'crm'?"),
    ],
)
def test_what_does_not_exist_is_reported_with_the_nearest_that_does(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


@pytest.mark.parametrize(
    ("spelling", "family"), [("tool_specs", "catalogue"), ("tool-specs", "catalogue"), ("world_models", "world-models")]
)
def test_a_family_is_known_by_its_folder_and_with_underscores(
    spelling: str, family: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert listed(capsys, spelling) == listed(capsys, family)
