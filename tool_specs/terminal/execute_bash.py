"""A simulated Linux machine with one shell session."""

from machine import MACHINE

from mcp_sim.libraries.shell import ShellError
from mcp_sim.programs import Refused, Result, fail, initial, tool


@initial
def begin(given, world):
    """Create the given files, services, partitions and packages, else the machine of a depot."""
    world.shell.load(given or MACHINE)


@tool(verb="update", entity="file")
def execute_bash(world, command, is_input="false"):
    if is_input == "true" and command not in ("C-c", "\x03"):
        raise Refused("ERROR: No previous running command to interact with.")
    try:
        output = world.shell.run(command)
    except ShellError as error:
        return fail(str(error))
    text = (output.stdout + output.stderr).rstrip("\n")
    lines = [
        *([text] if text else []),
        f"[Current working directory: {world.shell.directory()}]",
        f"[Command finished with exit code {output.exit_code}]",
    ]
    return Result(text="\n".join(lines), seconds=output.seconds)
