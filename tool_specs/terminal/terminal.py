"""A simulated Linux machine with a shell."""

from machine import MACHINE

from mcp_sim.libraries.shell import ShellError
from mcp_sim.programs import Result, fail, initial, tool


@initial
def begin(given, world):
    """Create the given files, services, partitions and packages, else the machine of a depot."""
    world.shell.load(given or MACHINE)


@tool(verb="update", entity="file")
def run_command(world, command, workdir=None, stdin=None):
    try:
        output = world.shell.run(command, workdir, stdin)
    except ShellError as error:
        return fail(str(error))
    body = {"stdout": output.stdout, "stderr": output.stderr, "exit_code": output.exit_code}
    return Result(text=output.stdout + output.stderr, structured=body, seconds=output.seconds)
