"""The basis of a plan's fields: where their values come from, and how sure they are."""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.types.plans import DECLARED, Basis, Paging, Plan

LISTED = Plan("list_pets", "list", "pet", query="q", paging=Paging(limit="limit"))


def test_a_basis_is_given_to_the_fields_that_are_set_and_have_none() -> None:
    plan = LISTED.with_effect(0.7, "'list' means list").with_basis(0.9, "the schema has it", source="schema")
    assert plan.basis == {
        "verb": Basis("inferred", 0.7, ("'list' means list",)),
        "entity": Basis("inferred", 0.7, ("'list' means list",)),
        "query": Basis("schema", 0.9, ("the schema has it",)),
        "paging": Basis("schema", 0.9, ("the schema has it",)),
    }


def test_a_plan_is_as_sure_as_the_weakest_field_that_decides_its_effect() -> None:
    plan = replace(LISTED, basis={"verb": Basis("inferred", 0.9, ("a", "b")), "query": Basis("inferred", 0.2, ("c",))})
    plan = plan.with_basis(0.8, "b", "d")
    assert (plan.confidence, plan.reasons, plan.guessed) == (0.8, ("a", "b", "d", "c"), False)
    assert plan.with_effect(0.5).guessed
    assert Plan("x", "unknown").guessed


def test_each_field_may_be_a_guess() -> None:
    plan = replace(LISTED, basis={"query": Basis("inferred", 0.2)}).with_basis(0.8)
    assert [name for name in ("verb", "entity", "query", "holder") if plan.is_guessed(name)] == ["query"]
    assert Plan("x", "unknown").is_guessed("entity")


def test_declared_values_are_certain_and_the_others_keep_their_basis() -> None:
    plan = LISTED.with_basis(0.4, "a guess").with_declared({"verb": "search", "query": None})
    assert (plan.verb, plan.query) == ("search", None)
    assert plan.basis["verb"] == plan.basis["query"] == DECLARED
    assert plan.basis["entity"].source == "inferred"
    assert plan.guessed
    assert not plan.with_declared({"entity": "pet"}).guessed


def test_an_unset_field_has_no_basis() -> None:
    plan = replace(LISTED.with_basis(0.9), query=None).with_basis(0.9)
    assert "query" not in plan.basis
