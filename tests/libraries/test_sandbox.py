"""Confined processes: hostile code reaches nothing, and the process that started it goes on."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.libraries import simulator

from mcp_sim.libraries.sandbox import Limits, Stopped, Unconfined, process, run_confined
from mcp_sim.libraries.sandbox.confinement import UNCONFINED

Json = Any
needs_kernel = pytest.mark.skipif(sys.platform != "linux", reason="files and system calls are denied on Linux only")
HIDES = sys.platform == "linux" and subprocess.run(["unshare", "-Urm", "true"], check=False).returncode == 0


def run(body: str, *readable: Path, limits: Limits | None = None, seconds: float = 20) -> Json:
    """Return what lines of Python return in a confined process."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    module = f"import ctypes, os, signal, socket, subprocess, sys, threading\ndef hostile():\n{lines}\n"
    code = f"(found := {{}}, exec({module!r}, found), found['hostile']())[-1]"
    return run_confined("builtins:eval", code, seconds=seconds, limits=limits, readable=readable)


def stopped(body: str, **options: Json) -> str:
    """Return why these lines were stopped."""
    with pytest.raises(Stopped) as error:
        run(body, **options)
    return str(error.value)


DENIED = {
    "read a file": "open('/etc/passwd').read()",
    "read the environment of another process": "open(f'/proc/{os.getppid()}/environ').read()",
    "read the memory of another process": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "read its own memory map": "open('/proc/self/maps').read()",
    "list a folder": "os.listdir('/tmp')",
    "write a file": "open('/tmp/written-by-hostile-code', 'w').write('x')",
    "write beside Python": "open(os.__file__ + 'x', 'w').write('x')",
    "change the mode of a file": "os.chmod(os.__file__, 0o777)",
    "remove a file": "os.remove(os.__file__)",
    "make a link": "os.symlink('/etc/passwd', '/tmp/linked-by-hostile-code')",
    "open a socket": "socket.socket(socket.AF_INET, socket.SOCK_STREAM)",
    "open a local socket": "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "send to a local socket": "socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', '/dev/log')",
    "start a process": "subprocess.run(['/bin/true'])",
    "become another program": "os.execv('/bin/true', ['true'])",
    "fork": "os.fork()",
    "signal its parent": "os.kill(os.getppid(), 0)",
    "let another process be signalled": "__import__('fcntl').fcntl(0, 8, os.getppid())",
    "lift a limit": "check(libc.setrlimit(0, b'\\xff' * 16))",
    "mount": "check(libc.mount(b'none', b'/tmp', b'tmpfs', 0, None))",
    "trace its parent": "check(libc.ptrace(16, os.getppid(), None, None))",
    "read its parent by a system call": "check(libc.process_vm_readv(os.getppid(), 0, 0, 0, 0, 0))",
    "use a ring of system calls": "check(libc.syscall(425, 8, 0))",
    "share memory": "check(libc.shmget(0, 4096, 0o1600))",
    "keep memory in a file": "os.memfd_create('x')",
}
CHECK = """\
libc = ctypes.CDLL(None, use_errno=True)
def check(code):
    if code < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
"""


@needs_kernel
@pytest.mark.parametrize("act", DENIED)
def test_hostile_code_cannot(act: str) -> None:
    body = f"{CHECK}try:\n    {DENIED[act]}\nexcept OSError as error:\n    return error.errno\nreturn 'done'"
    assert run(body) in {1, 2, 13, 30}, "EPERM, ENOENT, EACCES or EROFS"


@needs_kernel
@pytest.mark.skipif(not HIDES, reason="this system lets users have no namespaces")
def test_files_outside_cannot_even_be_seen(tmp_path: Path) -> None:
    given, other = tmp_path / "given.txt", tmp_path / "other.txt"
    given.write_text("yes")
    other.write_text("no")
    link = tmp_path / "link.txt"
    link.symlink_to(given)
    ways = ["os.stat({0!r})", "os.lstat({0!r})", "os.readlink({0!r})", "os.access({0!r}, 0) or open('/none')"]
    ways += ["os.open({0!r}, os.O_PATH)", "os.statvfs({0!r})", "os.chdir({0!r})"]
    body = "found = []\nfor way in {!r}:\n    try:\n        eval(way)\n        found.append(way)\n"
    body += "    except OSError as error:\n        found.append(error.errno)\nreturn found"
    for hidden in (other, tmp_path / "link.txt", "/etc/passwd", "/proc/self/status"):
        assert {*run(body.format([way.format(str(hidden)) for way in ways]), given)} <= {1, 2, 22}, hidden
    assert run(f"return os.stat({str(given)!r}).st_size", given) == 3


@needs_kernel
def test_no_thread_is_left_running() -> None:
    body = "threading.Thread(target=threading.Event().wait).start()\nreturn os.getpid()"
    with pytest.raises(ProcessLookupError):
        os.kill(run(body), 0)


def test_a_shell_starts_nothing(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    assert run(f"return os.system('touch {mark}')") != 0
    assert not mark.exists()


def test_the_environment_has_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "hush")
    names = run("return [*os.environ]")
    assert "SECRET_KEY" not in names
    assert "HOME" not in names


def test_it_reads_what_it_was_given_and_nothing_beside(tmp_path: Path) -> None:
    given, other = tmp_path / "given.txt", tmp_path / "other.txt"
    given.write_text("yes")
    other.write_text("no")
    body = "try:\n    return open({!r}).read()\nexcept OSError:\n    return None"
    assert run(body.format(str(given)), given) == "yes"
    if sys.platform == "linux":
        assert run(body.format(str(other)), given) is None
        body = f"try:\n    open({str(given)!r}, 'w')\nexcept OSError as error:\n    return error.errno"
        assert run(body, given) in {13, 30}


@pytest.mark.parametrize("body", ["while True: pass", "import time; time.sleep(100)", "threading.Event().wait()"])
def test_what_does_not_end_is_stopped(body: str) -> None:
    assert stopped(body, seconds=2) == "did not end within 2 seconds"


def test_processor_time_is_limited() -> None:
    assert "processor time" in stopped("while True: pass", limits=Limits(cpu=1), seconds=20)


@needs_kernel
def test_memory_is_limited() -> None:
    assert stopped("return len(b'x' * (600 << 20))", limits=Limits(memory=500 << 20)) == "failed: MemoryError: "
    many = "found = []\nwhile True:\n    found.append([0] * 1_000_000)"
    assert stopped(many, limits=Limits(memory=500 << 20)) == "failed: MemoryError: "


@needs_kernel
def test_open_files_are_limited() -> None:
    assert "Too many open files" in stopped("found = [os.pipe() for _ in range(100)]", limits=Limits(files=20))


@needs_kernel
def test_what_does_no_harm_is_allowed() -> None:
    body = """\
import asyncio, datetime, decimal, hashlib, random, re, sqlite3, uuid, zoneinfo
started = threading.Thread(target=os.getpid)
started.start()
started.join()
asyncio.run(asyncio.sleep(0))
sqlite3.connect(':memory:').execute('create table t (a)')
zoneinfo.ZoneInfo('Europe/Berlin')
return hashlib.sha256(b'x').hexdigest()[:4]"""
    assert run(body) == "2d71"


@needs_kernel
def test_a_simulator_runs_in_it(tmp_path: Path) -> None:
    simulator(tmp_path)
    body = f"""\
import asyncio
from mcp_sim import Simulator
async def lent():
    async with Simulator.load({str(tmp_path / "scenario.yaml")!r}, trust=True).open() as world:
        await world.call("borrow_book", {{"isbn": "1", "member": "Ada"}})
        return world.view.get("loan", "L-0001")
return asyncio.run(lent())"""
    assert run(body, tmp_path)["member"] == "Ada"


def test_what_it_prints_is_dropped() -> None:
    assert run("print('x' * 10_000_000)\nsys.stderr.write('y' * 10_000_000)\nos.write(1, b'z')\nreturn 7") == 7


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("os._exit(3)", "ended with exit code 3"),
        ("sys.exit(4)", "ended with exit code 4"),
        ("os.abort()", "ended with exit code -6"),
        ("ctypes.string_at(0)", "ended with exit code -11"),
        ("def f(): f()\nf()", "failed: RecursionError: maximum recursion depth exceeded"),
        ("return {1, 2}", "failed: TypeError: Object of type set is not JSON serializable"),
        ("return 'x' * (100 << 20)", "answered more than 64 MiB"),
        ("raise ValueError('odd')", "failed: ValueError: odd"),
        ("[os.close(n) for n in range(3, 40)]", "ended with exit code 1"),
        ("forge(b'\\x02\\0\\0\\0{]')", "its answer is not JSON"),
        ("forge(b'\\x02\\0\\0\\0[]')", "answered something unknown"),
    ],
)
def test_every_end_has_a_reason(body: str, why: str) -> None:
    forge = """\
def forge(message):
    for n in range(3, 9):
        try:
            os.write(n, message)
        except OSError:
            pass
"""
    assert stopped(forge + body).startswith(why)


def test_half_a_character_does_not_leave_the_process() -> None:
    assert run("return ['\\ud83d']") == ["\N{REPLACEMENT CHARACTER}"]


def test_hashes_are_the_same_in_each_process() -> None:
    assert run("return [*{'a', 'b', 'c', 'd', 'e'}, hash('x')]") == run(
        "return [*{'a', 'b', 'c', 'd', 'e'}, hash('x')]"
    )


def test_windows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(Unconfined, match="Windows"):
        run("return 1")


@pytest.mark.parametrize(("missing", "what"), [("_CREATE", "Landlock"), ("_ENTER", "Landlock"), ("seccomp", "seccomp")])
def test_nothing_runs_where_the_kernel_confines_in_part_only(
    missing: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, value = ("deny_system_calls", "lambda **_: False") if missing == "seccomp" else (missing, "9999")
    patch = f"confinement.{name} = {value}"
    start = f"from mcp_sim.libraries.sandbox import confinement; {patch}; {process.START}"
    monkeypatch.setattr(process, "START", start)
    with pytest.raises(Unconfined, match=f"lacks .*{what}.*set {UNCONFINED}=1"):
        run("return 1")
    monkeypatch.setenv(UNCONFINED, "1")
    assert run("return 1") == 1


@needs_kernel
def test_it_ends_with_the_process_that_started_it() -> None:
    code = (
        "import time\nfrom pathlib import Path\nfrom mcp_sim.libraries.sandbox import Process\n"
        "p = Process()\n"
        'p.send(b\'["builtins:eval", "[0 for _ in iter(int, 1)]"]\', 1)\n'
        "print(*map(Path.read_text, Path('/proc/self/task').glob('*/children')), flush=True)\ntime.sleep(100)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        child = os.pidfd_open(pid)
        parent.kill()
    with os.fdopen(child, "rb"):
        assert select.select([child], [], [], 20)[0], "the child has ended"
