"""Runs of scripted agents in worlds of their own, in process: who passes a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

import anyio
from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, TextContent

from mcp_sim.runs.agents.script import Script, read_script, script_for
from mcp_sim.runs.agents.strategies import STRATEGIES, Player, Reply, Sleep, Strategy, has_given_up
from mcp_sim.server.impersonation import Context
from mcp_sim.server.testing import connected
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import BrokenDelivery, Json, Record
from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.types.grades import Grade
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

GIVING_UP = "give_up"


async def passes(name: str, script: Script, simulator: Simulator, seed: int) -> tuple[bool, str]:
    """Return whether a scripted agent passes in a new world, and its final answer."""
    grade, answer = await graded(name, script, simulator, seed)
    return grade.outcome == "passed", answer


async def graded(name: str, script: Script, simulator: Simulator, seed: int) -> tuple[Grade, str]:
    """Return the grade of a scripted agent in a new world, and its final answer."""
    world, answer = await played(name, script, simulator, seed)
    return world.grade(answer), answer


async def played(name: str, script: Script, simulator: Simulator, seed: int) -> tuple[World, str]:
    """Return the world in which a scripted agent has carried out a script, probed, and the agent's final answer."""
    world = simulator.world(seed=seed, clock="virtual")

    async def sleep(seconds: float) -> None:
        await world.advance(timedelta(seconds=seconds))

    async with AsyncExitStack() as stack:
        clients = dict[str, Client]()
        for server in simulator.scenario.servers:
            clients[server] = await stack.enter_async_context(connected(world, server, break_off=_close))
        answer = await play(script, STRATEGIES[name], clients, sleep)
    await world.probe()
    return world, answer


async def _close(_ctx: Context, _broken: BrokenDelivery) -> NoReturn:
    """End a call whose answer never arrives: a script has no limit of time after which it goes on."""
    raise MCPError(CONNECTION_CLOSED, "Connection closed")


async def passing_without_the_task(scenario: Scenario) -> list[str]:
    """Return which agents pass a scenario without doing its task, as sentences.

    They are the agent that makes no call and says "Done.", and, if a script of the task exists, the one that carries it
    out and stops at the first failure. Nothing is tried where a language model or a real server would be asked, or
    where code would run that needs the user's trust: a check runs no such code.
    """
    is_local = all(entry.world_model.is_local for entry in scenario.world_models)
    if not scenario.expectations or scenario.untrusted or scenario.relying or not is_local:
        return []
    sentences = list[str]()
    try:
        async with Simulator(scenario) as simulator:
            nothing = Script(task=scenario.task, steps=[])
            if (await passes(GIVING_UP, nothing, simulator, scenario.seed))[0]:
                sentences.append('an agent that does nothing and says "Done." passes; expect what the task changes')
            for script in _scripts(scenario):
                script.refuse_unknown(scenario.domain.tools)
                has_passed, answer = await passes(GIVING_UP, script, simulator, scenario.seed)
                if has_passed and has_given_up(answer):
                    sentences.append("an agent that gives up at the first failure passes; expect what is then missing")
    except UsageError as error:
        sentences.append(str(error))
    except McpSimError:  # the run shows it, and the check goes on
        pass
    return sentences


def _scripts(scenario: Scenario) -> Iterator[Script]:
    """Yield the script of a scenario's task: `script.yaml` beside it, else one that ships; none if there is neither."""
    beside = Path(scenario.path).with_name("script.yaml")
    try:
        script = read_script(beside) if scenario.path and beside.is_file() else script_for(scenario.task)
    except UsageError:
        return
    if script.task.split() == scenario.task.split():
        yield script


async def play(script: Script, strategy: Strategy, clients: Mapping[str, Client], sleep: Sleep = anyio.sleep) -> str:
    """Carry out a script with the clients of its servers, by name. Return the final answer.

    Raises `UsageError` if it calls a tool that there is not.
    """
    tools = {
        f"{server}/{tool.name}" if len(clients) > 1 else tool.name: (client, tool.name)
        for server, client in clients.items()
        for tool in (await client.list_tools()).tools
    }
    script.refuse_unknown(tools)

    async def ask(tool: str, arguments: Record) -> Reply:
        client, name = tools[tool]
        try:
            result = await client.call_tool(name, arguments)
            text = " ".join(block.text for block in result.content if isinstance(block, TextContent))
            value: Json = result.structured_content
            if value is None:
                try:
                    value = json.loads(text)
                except ValueError:
                    value = text
            return Reply(value, bool(result.is_error), text)
        except MCPError as error:
            return Reply(None, True, str(error))

    return await Player(script, strategy, ask, sleep, frozenset(tools)).play()
