"""Idempotency keys of tools that programs answer."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from support import libraries
from support.services import message, value

from mcp_sim.types.errors import DocumentError

PROGRAM = """
from mcp_sim.programs import Refused, fail, tool

tables = {"charge": {"ids": "ch_1", "fields": {"amount": 0}}}

@tool(idempotency="token", expires="24h")
def charge(world, amount):
    if amount < 0:
        raise Refused("An amount is positive")
    row = world.charge.add(amount=amount)
    return fail("The printer is out of paper") if amount == 13 else f"Charged {row['id']}"
"""
TOOLS = [libraries.tool("charge", "amount", amount=libraries.NUMBER, token=libraries.TEXT)]


async def test_a_program_names_the_argument_with_the_key(tmp_path: Path) -> None:
    async with libraries.simulator(tmp_path, PROGRAM, TOOLS).open() as world:
        assert value(await world.call("charge", {"amount": 5, "token": "t"})) == "Charged ch_1"
        assert value(await world.call("charge", {"amount": 5, "token": "t"})) == "Charged ch_1"
        assert not (await world.call("charge", {"amount": 6, "token": "t"})).ok
        assert message(await world.call("charge", {"amount": -1, "token": "u"})) == "An amount is positive"
        assert (await world.call("charge", {"amount": 1, "token": "u"})).ok
        failed = await world.call("charge", {"amount": 13, "token": "v"})
        assert await world.call("charge", {"amount": 13, "token": "v"}) == failed
        assert world.view.count("charge") == 3
        await world.advance(timedelta(days=1))
        assert value(await world.call("charge", {"amount": 5, "token": "t"})) == "Charged ch_4"


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ('idempotency="tokn"', "charge: idempotency: charge has no argument 'tokn'; did you mean 'token'?"),
        ('expires="24h"', "charge: expires goes with idempotency, the argument with the key"),
        ('idempotency="token", expires="soon"', "charge: expires: 'soon' is not a duration"),
    ],
)
def test_a_key_that_the_tool_does_not_have_is_a_problem(tmp_path: Path, options: str, problem: str) -> None:
    with pytest.raises(DocumentError) as error:
        libraries.simulator(tmp_path, PROGRAM.replace('idempotency="token", expires="24h"', options), TOOLS)
    assert problem in str(error.value)


async def test_a_function_that_takes_the_key_itself_is_called_each_time(tmp_path: Path) -> None:
    program = PROGRAM.replace('@tool(idempotency="token", expires="24h")', "@tool").replace(
        "amount):", "amount, token=''):"
    )
    tools = [libraries.tool("charge", "amount", amount=libraries.NUMBER, client_token=libraries.TEXT)]
    for body, count in ((program.replace("token=''", "client_token=''"), 2), (program.replace(", token=''", ""), 1)):
        async with libraries.simulator(tmp_path, body, tools).open() as world:
            for _ in range(2):
                await world.call("charge", {"amount": 5, "client_token": "t"})
            assert world.view.count("charge") == count
