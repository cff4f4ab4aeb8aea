"""inspector: the steps, each a command of `with_inspector.sh`."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from steps import Opens, run, url

SCRIPT = Path(__file__).with_suffix(".sh")


def over(route: str) -> Opens:
    """Return a route to the server. A world exists only as the arguments of each command."""

    @asynccontextmanager
    async def opens(world: str) -> AsyncGenerator[list[str]]:
        yield [route, url(world), world]

    return opens


async def names(crm: list[str]) -> list[str]:
    return [tool["name"] for tool in (await printed(crm))["tools"]]


async def call(crm: list[str], tool: str, arguments: dict[str, Any]) -> tuple[bool, str]:
    result = await printed([*crm, tool, *(f"{name}={value}" for name, value in arguments.items())])
    return result["isError"], result["content"][0]["text"]


async def printed(arguments: list[str]) -> Any:
    """Return the result that a command prints."""
    command = await asyncio.create_subprocess_exec("bash", SCRIPT, *arguments, stdout=asyncio.subprocess.PIPE)
    stdout, _ = await command.communicate()
    result = json.loads(stdout)
    assert command.returncode == (5 if result.get("isError") else 0)
    return result


run({"stdio, a process per call": over("stdio"), "HTTP": over("HTTP")}, names, call)
