"""Misspelt slots, causes and keywords of schemas are warnings."""

from __future__ import annotations

import pytest
from support.pets import PETS, ProblemsIn

CLOSED = "entities: {pet: {fields: {name: {type: string}, born: {type: integer}}}}\n"


@pytest.mark.parametrize(
    ("declared", "problem"),
    [
        ("errors: {not_found: 'no {pet_ib}'}",
         "errors.not_found: unknown slot {pet_ib}; did you mean 'pet_id'?"),
        ("errors: {default: {json: {e: ['{mesage}']}}}",
         "errors.default: unknown slot {mesage}; did you mean 'message'?"),
        ("errors: {notfound: gone}",
         "errors.notfound: no failure has the cause 'notfound'; did you mean 'not_found'?"),
        ("sim: {get_pet: {errors: {conflict: 'no {pet}'}}}",
         "sim.get_pet.errors.conflict: unknown slot {pet}; did you mean 'pet_id'?"),
        ("sim: {get_pet: {checks: {pet_id: {schema: {minimun: 1}}}}}",
         "sim.get_pet.checks.pet_id.schema.minimun: unknown keyword; did you mean 'minimum'?"),
        ("sim: {list_pets: {result: '{cuont} pets'}}",
         "sim.list_pets.result: unknown slot {cuont}; did you mean 'count'?"),
        ("sim: {list_pets: {result: [{when: {cuont: 0}, text: none}, some]}}",
         "sim.list_pets.result[0].when.cuont: unknown slot {cuont}; did you mean 'count'?"),
        ("sim: {list_pets: {result: {text: ['All:', {rows: '- {nmae}'}]}}}",
         "sim.list_pets.result.text[1].rows: unknown slot {nmae}; did you mean 'name'?"),
        ("sim: {get_pet: {result: {json: {a: {'{rows}': '{rows.bron}'}}}}}",
         "unknown slot {bron}; did you mean 'born'?"),
    ],
)  # fmt: skip
def test_a_misspelling_in_a_template_or_a_check_is_a_warning(
    problems_in: ProblemsIn, declared: str, problem: str
) -> None:
    [found] = [one for one in problems_in(PETS + CLOSED + declared + "\n") if "a guess" not in one]
    assert found.partition(" warning: ")[2].endswith(problem)


@pytest.mark.parametrize(
    "declared",
    [
        "errors: {not_found: '{tool}: {label} {value} {limit} {pet_id}', overheated: 'too {hot}', default: '{status}'}",
        "sim: {get_pet: {errors: {rate_limited: '{retry_after} {kind}'}}}",
        "sim: {get_pet: {result: '{name} {born} {pet_id} {before.name} {arguments.pet_id} {colour} {now}'}}",
        "sim: {get_pet: {checks: {pet_id: {schema: {minLength: 1, x-why: short, properties: {minimun: {}}}}}}}",
    ],
)
def test_what_may_have_a_value_is_no_warning(problems_in: ProblemsIn, declared: str) -> None:
    assert [one for one in problems_in(PETS + CLOSED + declared + "\n") if "a guess" not in one] == []
