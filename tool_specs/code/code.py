"""A simulated repository of code with a shell, an editor and tests."""

import re
import shlex

from editor import create, insert, str_replace, view
from package import PACKAGE

from mcp_sim.libraries.files import FileError
from mcp_sim.libraries.shell import ShellError
from mcp_sim.programs import Refused, Result, fail, initial, tool


@initial
def begin(given, world):
    """Create the given files, repositories and tests, else those of a small package."""
    world.shell.load(given or PACKAGE)
    repositories = world.git.repositories
    if repositories:
        world.shell.run(f"cd {repositories[0].root}")


@tool(verb="update", entity="file")
def bash(world, command=None, restart=False):
    if restart:
        world.shell.restart()
        return "tool has been restarted."
    if not command:
        raise Refused("no command provided.")
    try:
        output = world.shell.run(command)
    except ShellError as error:
        return fail(str(error))
    text = (output.stdout + output.stderr).rstrip("\n")
    shown = f"{text}\n[exit code {output.exit_code}]" if output.exit_code else text
    return Result(text=shown, seconds=output.seconds)


@tool(verb="update", entity="file", key="path")
def str_replace_based_edit_tool(
    world,
    command,
    path,
    file_text=None,
    old_str=None,
    new_str=None,
    insert_line=None,
    insert_text=None,
    view_range=None,
):
    try:
        if command == "view":
            return view(world, path, view_range)
        if command == "create":
            return create(world, path, file_text)
        if command == "insert":
            return insert(world, path, insert_line, insert_text if insert_text is not None else new_str)
        return str_replace(world, path, old_str, new_str)
    except FileError as error:
        raise Refused(str(error)) from None


@tool(reads=True)
def run_tests(world, path=None):
    roots = [row["root"] for row in world.test_case]
    if not roots:
        raise Refused("There are no tests.")
    target = shlex.quote((path or "").lstrip("-")) if path else ""
    output = world.shell.run(f"pytest {target}".rstrip(), roots[0])
    counts = {
        name: int(count) for count, name in re.findall(r"(\d+) (passed|failed)", output.stdout.rpartition("\n=")[2])
    }
    text = output.stdout + output.stderr
    body = {"passed": counts.get("passed", 0), "failed": counts.get("failed", 0)}
    return Result(text=text, structured={**body, "output": text, "exit_code": output.exit_code})
