"""A simulated Linux machine with processes that keep their state between calls."""

import re

from machine import MACHINE

from mcp_sim.libraries.files import FileError
from mcp_sim.libraries.shell import Blocked, ShellError
from mcp_sim.programs import Refused, Result, initial, tool

tables = {
    "process": {
        "key": "pid",
        "natural": True,
        "fields": {
            "pid": {"type": "integer"},
            "command": "",
            "output": "",
            "shown": 0,
            "running": False,
            "exit_code": {"type": ["integer", "null"], "default": None},
            "started": "",
        },
    }
}
FIRST_PID = 1201
SHELLS = re.compile(r"(/bin/|/usr/bin/)?(ba|z|da)?sh( -[il]+)*")
PROMPT = "root@vm:~# "
RUNNING = "\n⏳ Process is running. Use read_process_output to get more output."


@initial
def begin(given, world):
    """Create the given files, services, partitions and packages, else the machine of a depot."""
    world.shell.load(given or MACHINE)


@tool(verb="create", entity="process")
def start_process(world, command, timeout_ms, shell="bash"):  # noqa: ARG001 (the tool requires it)
    pid = FIRST_PID + 7 * len([*world.process])
    if SHELLS.fullmatch(command.strip()):
        world.process.add(pid=pid, command=command, output=PROMPT, shown=1, running=True, started=stamp(world))
        waiting = f'Process {pid} is waiting for input (detected: "{PROMPT.strip()}")'
        return f"Process started with PID {pid} (shell: {shell})\nInitial output:\n{PROMPT}\n🔄 {waiting}"
    try:
        output = ran(world, pid, command)
    except Blocked:
        world.process.add(pid=pid, command=command, running=True, started=stamp(world))
        return f"Process started with PID {pid} (shell: {shell})\nInitial output:\n{RUNNING}"
    text = output.stdout + output.stderr
    count = len(text.splitlines())
    world.process.add(
        pid=pid, command=command, output=text, shown=count, exit_code=output.exit_code, started=stamp(world)
    )
    done = f"\n✅ Process {pid} has finished execution"
    return Result(
        text=f"Process started with PID {pid} (shell: {shell})\nInitial output:\n{text}{done}", seconds=output.seconds
    )


def stamp(world):
    return world.now.isoformat()


def ran(world, pid, command):
    try:
        return world.shell.run(command, name=str(pid))
    except Blocked:
        raise
    except ShellError as error:
        raise Refused(f"Error: {error}") from None


@tool(verb="update", entity="process", key="pid")
def interact_with_process(world, pid, input):
    process = world.process.get(int(pid))
    if process is None or not process["running"]:
        raise Refused(
            f"Error: Failed to send input to process {pid}. The process may have exited or doesn't accept input."
        )
    if input.strip() in ("exit", "logout"):
        process["running"], process["exit_code"] = False, 0
        return (
            f"✅ Input executed in process {pid}.\n📭 (No output produced)\n\n✅ Process {pid} has finished execution"
        )
    try:
        output = ran(world, pid, input)
    except Blocked:
        timeout = "⏱️ Response may be incomplete (timeout reached)"
        return f"✅ Input executed in process {pid}.\n📭 (No output produced)\n\n\n{timeout}"
    if not SHELLS.fullmatch(process["command"].strip()):  # Ctrl-C has ended a command without a shell
        process["running"], process["exit_code"] = False, output.exit_code
        return f"✅ Input executed in process {pid}:\n\n📤 Output:\n^C\n\n✅ Process {pid} has finished execution"
    text = output.stdout + output.stderr
    process["output"] += f"{input.rstrip()}\n{text}{PROMPT}"
    process["shown"] = len(process["output"].splitlines())
    waiting = f'🔄 Process {pid} is waiting for input (detected: "{PROMPT.strip()}")'
    if not text:
        return Result(
            text=f"✅ Input executed in process {pid}.\n📭 (No output produced)\n\n{waiting}", seconds=output.seconds
        )
    shown = text.rstrip("\n")
    return Result(
        text=f"✅ Input executed in process {pid}:\n\n📤 Output:\n{shown}\n\n{waiting}", seconds=output.seconds
    )


@tool(verb="update", entity="process", key="pid")
def read_process_output(world, pid, offset=0, length=1000):
    process = world.process.get(int(pid))
    if process is None:
        raise Refused(f"No session found for PID {pid}")
    lines = process["output"].splitlines()
    total, offset, length = len(lines), int(offset or 0), int(length or 1000)
    if offset < 0:
        chosen, heading = lines[offset:][:length], f"[Reading last {min(-offset, total)} lines (total: {total} lines)]"
    elif offset:
        chosen = lines[offset : offset + length]
        heading = f"[Reading {len(chosen)} lines from line {offset} (total: {total} lines)]"
    else:
        chosen = lines[process["shown"] :][:length]
        heading = f"[Reading {len(chosen)} new lines (total: {total} lines)]"
        process["shown"] += len(chosen)
    body = "\n".join(chosen) or "(No output in requested range)"
    if (world.shell_session.get(str(pid)) or {}).get("blocked"):
        return f"{heading}\n\n{body}{RUNNING}"
    if process["running"]:
        return f'{heading}\n\n{body}\n🔄 Process {pid} is waiting for input (detected: "{PROMPT.strip()}")'
    return f"{heading}\n\n{body}\n✅ Process completed with exit code {process['exit_code']}"


@tool(verb="update", entity="process", key="pid")
def force_terminate(world, pid):
    process = world.process.get(int(pid))
    if process is None or not process["running"]:
        return f"No active session found for PID {pid}"
    process["running"], process["exit_code"] = False, 137
    world.shell.restart(str(pid))
    return f"Successfully initiated termination of session {pid}"


@tool(reads=True, verb="list", entity="process")
def list_sessions(world):
    rows = [row for row in world.process if row["running"]]
    lines = [f"PID: {row['pid']}, Blocked: true, Runtime: {runtime(world, row)}s" for row in rows]
    return "\n".join(lines) or "No active sessions"


def runtime(world, row):
    return int(world.now.timestamp()) - int(type(world.now).fromisoformat(row["started"]).timestamp())


@tool(verb="get", entity="file", key="path")
def read_file(world, path, offset=0, length=1000):
    lines = opened(world, path).splitlines()
    first = max(0, len(lines) + int(offset)) if offset < 0 else int(offset)
    chosen = lines[first : first + int(length)]
    left = len(lines) - first - len(chosen)
    place = f"line {first}" if first else "start"
    heading = f"[Reading {len(chosen)} lines from {place} (total: {len(lines)} lines, {left} remaining)]"
    return "\n".join([heading, "", *chosen])


def opened(world, path):
    try:
        return world.files.read(world.files.real(path))
    except FileError:
        raise Refused(f"Error: ENOENT: no such file or directory, open '{path}'") from None


@tool(verb="update", entity="file", key="path")
def write_file(world, path, content, mode="rewrite"):
    try:
        place = world.files.real(path)
        before = opened(world, path) if mode == "append" and world.files.exists(place) else ""
        world.files.write(place, before + content)
    except FileError:
        raise Refused(f"Error: ENOENT: no such file or directory, open '{path}'") from None
    count = len(content.splitlines())
    return f"Successfully {'appended to' if mode == 'append' else 'wrote to'} {path} ({count} lines)"


@tool(verb="update", entity="file", key="file_path")
def edit_block(world, file_path, old_string="", new_string="", expected_replacements=1):
    text = opened(world, file_path)
    count = text.count(old_string) if old_string else 0
    if not count:
        raise Refused(f"Search content not found in {file_path}.")
    if count != expected_replacements:
        raise Refused(
            f"Expected {int(expected_replacements)} occurrences but found {count} in {file_path}. Double check and "
            "make sure you understand all occurencies and if you want to replace all occurrences, set "
            f"expected_replacements to {count}. If you want to replace a specific occurrence, "
            "make your search string more unique by adding more lines."
        )
    world.files.write(world.files.real(file_path), text.replace(old_string, new_string))
    return f"Successfully applied {count} edit{'s' if count > 1 else ''} to {file_path}"
