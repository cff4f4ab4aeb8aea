"""Tools whose names are verbs alone work on what they are described to work on."""

from __future__ import annotations

from support.declared import INTEGER, STRING, Json, domain, tool


def described(name: str, about: str, arguments: dict[str, Json], *required: str) -> dict[str, Json]:
    return {**tool(name, arguments, *required), "description": about}


STORE = [
    described("save", "Create or update a KB entry. Pass an id to update.", {"id": INTEGER, "title": STRING}),
    described("get", "Fetch a KB entry by id.", {"id": INTEGER}, "id"),
    described("list", "List entries (id, title).", {}),
    described("search", "Full-text search over titles.", {"query": STRING}, "query"),
    described("delete", "Delete an entry by id.", {"id": INTEGER}, "id"),
    described("list_topics", "List all topics.", {}),
]


def test_all_of_them_speak_of_the_thing_that_most_descriptions_name() -> None:
    plans = domain(*STORE).plans
    found = {name: (plan.verb, plan.entity) for name, plan in plans.items() if name != "list_topics"}
    verbs = {"save": "create", "get": "get", "list": "list", "search": "search", "delete": "delete"}
    assert found == {name: (verb, "entry") for name, verb in verbs.items()}
    assert plans["list_topics"].entity == "topic"


def test_what_is_said_to_create_or_update_changes_the_record_that_is_there() -> None:
    save = domain(*STORE).plans["save"]
    assert (save.if_exists, save.sets["id"]) == ("update", "id")


def test_descriptions_that_do_not_agree_tell_nothing() -> None:
    odd = [
        described("save", "Create a memo.", {"text": STRING}),
        described("get", "Fetch a page.", {"id": INTEGER}, "id"),
    ]
    assert {plan.entity for plan in domain(*odd).plans.values()} == {None}


def test_descriptions_of_readers_alone_make_no_records() -> None:
    readers = [described("get", "Fetch an entry.", {"id": INTEGER}, "id"), described("list", "List entries.", {})]
    assert all(plan.backend == "schema_only" for plan in domain(*readers).plans.values())
