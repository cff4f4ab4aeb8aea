"""Attempts to reach the host from a shell, or to keep it busy: none succeeds, and each one ends."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from time import monotonic

import pytest

from mcp_sim import Simulator
from mcp_sim.libraries.shell import machine
from mcp_sim.types import ToolResult

SECRET = "hQ7-secret-of-the-host"
LIMIT = 0.5
"""Seconds that a command may take here: a tenth of the usual, so that endless ones end soon."""
FILES = (
    "cat {secret}",
    "cat < {secret}",
    "ls {folder}",
    "find {folder}",
    "source {secret}",
    ". {secret}",
    "cp {secret} /tmp/x; cat /tmp/x",
    "head -c 99 {secret}",
    "grep -r secret {folder}",
    "ln -s {secret} /tmp/l; cat /tmp/l",
    "ln {secret} /tmp/h; cat /tmp/h",
    "cat ../../../../../../..{secret}",
    "cat /proc/1/root{secret}",
    "cat /proc/self/cwd/../../..{secret}",
    "cat /dev/fd/../../..{secret}",
    "tar cf - {secret} | tr -d '\\0'",
    "echo x > {secret}",
    "echo x >> {secret}",
    "rm -f {secret}",
    "mv {secret} /tmp/m; cat /tmp/m",
    "chmod 777 {secret}",
    "touch {folder}/new",
    "mkdir {folder}/new",
    "dd if={secret} of=/tmp/d; cat /tmp/d",
    "tee {folder}/new <<< x",
    "sed '' {secret}",
    "awk '1' {secret}",
    "awk 'BEGIN {{ while ((getline l < \"{secret}\") > 0) print l }}'",
    "read l < {secret}; echo $l",
    "mapfile l < {secret}; echo ${{l[@]}}",
    "jq -R . {secret}",
    "diff {secret} /dev/null",
    "xargs -a {secret}",
    "file -f {secret}",
    "echo -n '../../../../../..{secret}' > /tmp/n; cat $(cat /tmp/n)",
    "curl -s file://{secret}",
    "wget -qO- file://{secret}",
    "mkdir -p /tmp/a; cd /tmp/a; tar cPf e.tar ../../etc/passwd; tar xPf e.tar; cat {secret}",
)
SOCKETS = (
    "curl -s http://127.0.0.1:{port}/",
    "curl -s telnet://127.0.0.1:{port}",
    "wget -qO- 127.0.0.1:{port}",
    "exec 3<>/dev/tcp/127.0.0.1/{port}; cat <&3",
    "cat < /dev/tcp/127.0.0.1/{port}",
    "nc 127.0.0.1 {port}",
    "echo x > /dev/udp/127.0.0.1/{port}",
    "bash -c 'cat < /dev/tcp/localhost/{port}'",
)
OTHERS = (
    "env",
    "set",
    "export -p",
    "echo $HOST_SECRET",
    "cat /proc/self/environ",
    "cat /proc/1/environ",
    "printenv HOST_SECRET",
    "ps auxe",
    "python3 -c 'import os; print(os.environ)'",
    "perl -e 'print %ENV'",
    "kill -9 {pid}",
    "kill -TERM -1",
    "cat /proc/{pid}/cmdline",
    "ls -l /proc/{pid}/cwd",
    "sudo cat {secret}",
    "exec cat {secret}",
    "exec /bin/bash -c 'cat {secret}'",
)
BUSY = (
    "while :; do :; done",
    ":(){{ :|:& }};:",
    "f() {{ f; }}; f",
    "yes",
    "yes | sort",
    "a=x; while :; do a=$a$a; done",
    "tail -f /dev/zero",
    "cat /dev/zero > /tmp/z; cat /dev/urandom > /tmp/u",
    "seq 1000000000 | wc -l",
    "head -c 10G /dev/zero | wc -c",
    "awk 'BEGIN {{ while (1) x = x \"y\" }}'",
    "sed ':a;s/$/xx/;ba' <<< x",
    "printf '%999999999d' 1 | wc -c",
    "for ((;;)); do sleep 100; done",
    "truncate -s 100G /tmp/t",
    "jq -n '[range(1e12)] | length'",
    "grep -E '(a|a)*(a|a)*$b' <<< aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    "i=0; while echo $i > /tmp/f$((i++)); do :; done | tail -1",
    "gzip -c < /dev/zero | wc -c",
    "{{a,b}}" * 22,
)


async def test_no_attempt_reaches_the_host_and_each_one_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOST_SECRET", SECRET)
    monkeypatch.setattr(machine, "LIMITS", {**machine.LIMITS, "timeout_seconds": LIMIT})
    folder = tmp_path / "host"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET, encoding="utf-8")
    path = tmp_path / "scenario.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "tools": "terminal", "world": {"state": {"files": {"/a": "a\n"}}}}))
    attempts = [*FILES, *SOCKETS, *OTHERS, *BUSY]
    assert len(attempts) >= 60
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        names = {"secret": folder / "secret.txt", "folder": folder, "port": server.getsockname()[1], "pid": 1}
        async with Simulator.load(path).open(seed=1) as world:
            for attempt in attempts:
                began = monotonic()
                body = (await world.fork().call("run_command", {"command": attempt.format(**names)})).body
                assert isinstance(body, ToolResult), attempt
                assert SECRET not in str(body.value), attempt
                assert len(str(body.value)) < 5 << 20, attempt
                assert monotonic() - began < 20 * LIMIT, attempt
        with pytest.raises(BlockingIOError):
            server.accept()
    assert [(entry.name, entry.read_text(encoding="utf-8")) for entry in folder.iterdir()] == [("secret.txt", SECRET)]
