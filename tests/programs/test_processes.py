"""Tools for processes and shells on one machine: sessions keep their state, and end."""

from __future__ import annotations

from support.services import message, value

from mcp_sim import Simulator


async def test_a_shell_keeps_its_state_until_it_ends() -> None:
    async with Simulator.load("processes").open(seed=1) as world:
        started = value(await world.call("start_process", {"command": "bash", "timeout_ms": 1000}))
        assert "Process started with PID 1201" in started
        for text in ("cd /srv/depot; n=4", "echo $n > four.txt; pwd"):
            answer = value(await world.call("interact_with_process", {"pid": 1201, "input": text}))
        assert "📤 Output:\n/srv/depot\n" in answer
        assert value(await world.call("list_sessions", {})).startswith("PID: 1201, Blocked: true")
        assert "$ " not in value(await world.call("read_file", {"path": "/srv/depot/four.txt"}))
        tail = value(await world.call("read_process_output", {"pid": 1201, "offset": -2}))
        assert "/srv/depot\nroot@vm:~# " in tail
        value(await world.call("interact_with_process", {"pid": 1201, "input": "exit"}))
        assert "may have exited" in message(await world.call("interact_with_process", {"pid": 1201, "input": "pwd"}))
        assert value(await world.call("list_sessions", {})) == "No active sessions"


async def test_a_command_runs_once_with_a_session_of_its_own() -> None:
    async with Simulator.load("processes").open(seed=1) as world:
        first = {"command": "cd /tmp; seq 3", "timeout_ms": 1000}
        answer = value(await world.call("start_process", first))
        assert answer.endswith("Initial output:\n1\n2\n3\n\n✅ Process 1201 has finished execution")
        assert "/root" in value(await world.call("start_process", {"command": "pwd", "timeout_ms": 1000}))
        assert "exit code 0" in value(await world.call("read_process_output", {"pid": 1201, "offset": 1}))


async def test_edits_of_texts_are_counted() -> None:
    async with Simulator.load("processes").open(seed=1) as world:
        path = "/srv/depot/depot.conf"
        edit = {"file_path": path, "old_string": "=", "new_string": " = "}
        assert "Expected 1 occurrences but found 3" in message(await world.call("edit_block", edit))
        assert "applied 3 edits" in value(await world.call("edit_block", {**edit, "expected_replacements": 3}))
        more = {"path": path, "content": "retries = 3\n", "mode": "append"}
        assert value(await world.call("write_file", more)) == f"Successfully appended to {path} (1 lines)"
        run = {"command": f"stat -c %a {path}; tail -1 {path}", "timeout_ms": 1000}
        assert "640\nretries = 3\n" in value(await world.call("start_process", run))


async def test_a_shell_says_where_it_is_and_how_a_command_ended() -> None:
    async with Simulator.load("execute_bash").open(seed=1) as world:
        answer = value(await world.call("execute_bash", {"command": "cd /srv; ls nosuch"}))
        assert answer == (
            "ls: cannot access 'nosuch': No such file or directory\n"
            "[Current working directory: /srv]\n[Command finished with exit code 2]"
        )
        assert "No previous running" in message(await world.call("execute_bash", {"command": "y", "is_input": "true"}))


async def test_files_are_read_and_written_through_links() -> None:
    async with Simulator.load("processes").open(seed=1) as world:
        path = "/srv/depot/current.log"
        assert "INFO start pid=412" in value(await world.call("read_file", {"path": path}))
        await world.call("write_file", {"path": path, "content": "last\n", "mode": "append"})
        run = {"command": f"readlink {path}; tail -n 2 /var/log/depot/app.log", "timeout_ms": 1000}
        assert "app.log\n2029-03-01 08:59:10 INFO 214 rounds planned\nlast\n" in value(
            await world.call("start_process", run)
        )
        await world.call("start_process", {"command": "ln -s /lp2 /lp; ln -s /lp /lp2", "timeout_ms": 1000})
        assert "ENOENT" in message(await world.call("write_file", {"path": "/lp", "content": "x"}))
