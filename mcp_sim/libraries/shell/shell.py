"""The shell of a world.

A session is what a shell remembers between commands: its directory, variables, functions, aliases and options. It is
a script that makes them again: a record like any other, so that forks and restarts need no code.
"""

from __future__ import annotations

import re
import shlex
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

from mcp_sim.libraries.files import Files, normalize
from mcp_sim.libraries.shell.commands import COMMANDS, suites
from mcp_sim.libraries.shell.commands.clock import in_world_time
from mcp_sim.libraries.shell.commands.invocation import SYSTEM
from mcp_sim.libraries.shell.given import load_given
from mcp_sim.libraries.shell.machine import SECONDS, Machine
from mcp_sim.libraries.shell.reading import written_paths
from mcp_sim.libraries.store import LibraryError, Store
from mcp_sim.types import Json, Record

_VOLATILE = frozenset(SYSTEM["own_variables"])
"""Variables that the shell sets by itself."""
_REST = "builtin shopt -p; builtin alias; builtin declare -f"
_LARGEST = 1 << 18
"""The longest script of a session: a record that each change of a variable writes again."""


def _capture(machine: Machine, fresh: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what a shell remembers: name -> the line that sets it. `fresh` is what a new shell remembers, left out."""
    state = machine.bash.shell_state()
    lines = {
        name: f"{'export ' if name in state.env else ''}{name}={shlex.quote(value)}"
        for name, value in state.variables.items()
        if name not in _VOLATILE
    }
    kinds: dict[str, Mapping[str, Mapping[Any, str]]] = {"a": state.arrays, "A": state.assoc_arrays}
    for letter, arrays in kinds.items():
        for name, items in arrays.items():
            if name not in _VOLATILE:
                inner = " ".join(f"[{shlex.quote(str(key))}]={shlex.quote(items[key])}" for key in sorted(items))
                lines[name] = f"declare -{letter} {name}=({inner})"
    lines = {name: lines[name] for name in sorted(lines)}
    lines |= dict(_blocks(machine.execute(_REST).stdout))
    if fresh is not None:
        lines = {name: line for name, line in lines.items() if fresh.get(name) != line}
    if sum(map(len, lines.values())) > _LARGEST:
        raise LibraryError("bash: xmalloc: cannot allocate memory: the variables of the session are too long")
    return lines


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the name and text of each option, alias and function that the shell prints."""
    lines = iter(text.splitlines())
    for line in lines:
        words = line.split(None, 2)
        if line.startswith("shopt -"):
            yield f"shopt {words[2]}", line
        elif line.startswith("alias "):
            yield f"alias {words[1].partition('=')[0]}", line
        elif line.endswith(" () "):
            body = [line]
            for inner in lines:
                body.append(inner)
                if inner == "}":
                    break
            yield f"function {words[0]}", "\n".join(body)


SESSION = "shell_session"
_NEXT = "next"
"""The record that lets the next command of any session wait for ever."""
_HOST = "vm"
_LIVE = 16
"""How many running shells the worlds of a scenario keep together; each holds its files once more."""
_LONGEST = 200_000
"""Characters of a command; Linux takes 128 KiB as an argument."""
_NEAR = 100
"""How many files may differ for a running shell to be moved: more take as long as a new one."""
_STDIN = "/dev/stdin.0"
_PROVIDED = frozenset({"/proc", "/dev", "/bin", "/usr/bin"})
_ENDED = ("parse error", "resource limit exceeded")
_PRINTING = frozenset({"echo", "printf"})
"""What the shell itself runs, and reports as its own."""
_INTERRUPTS = frozenset({"\x03", "\\x03", "^C", "C-c", "Ctrl-C", "ctrl+c"})
"""How agents write the key that ends a command."""


class ShellError(LibraryError):
    """A command that could not be started."""


class Blocked(ShellError):
    """A command that does not return, or one in a session with such a command. What it has written stays."""


class _RunAgain(Exception):
    """A command that needs a new interpreter: this one may run no more, or has lost bytes in a pipe."""

    def __init__(self, *, keeps_bytes: bool) -> None:
        super().__init__()
        self.keeps_bytes = keeps_bytes


@dataclass(slots=True)
class Output:
    """What a command printed, its exit code, and how long it took in the time of the world."""

    stdout: str
    stderr: str
    exit_code: int
    seconds: float = 0.0


class Shell:
    """A bash whose files are those of `world.files`.

    Each session remembers its directory, variables and functions. `shell.run("ls -l /srv")` returns an `Output`.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool: _Pool = store.kept.setdefault(("shell", store.prefix), _Pool())

    def load(self, given: Json) -> None:
        """Create the files and records of a given state, and those that every system has."""
        load_given(self._store, given)

    def directory(self, name: str = "") -> str:
        """Return the directory of a session."""
        return str((self._session(name)).get("cwd") or self._home())

    def run(self, command: str, workdir: str | None = None, stdin: str | None = None, *, name: str = "") -> Output:
        """Run a command in a session, in its directory or in `workdir`.

        Raises `ShellError` if that is missing, and `Blocked` if the command does not return.
        """
        if "\0" in command:
            raise ShellError("a command holds no null characters")
        known = self._session(name)
        if known.get("blocked"):
            # Only Ctrl-C ends what blocks a session.
            if command.strip() not in _INTERRUPTS:
                waits = f"{known['blocked']!r} is still running and waits for input"
                raise Blocked(f"timed out: {waits}; press Ctrl-C (\\x03) or start the shell again")
            self._store.put(SESSION, known["id"], {**known, "blocked": ""})
            return Output("^C\n", "", 130)
        if (waiting := self._store.get(SESSION, _NEXT)) and command.strip():
            self._store.remove(SESSION, _NEXT)
            session_id = name or "main"
            self._store.put(
                SESSION, session_id, {"cwd": "", "state": "", **known, "id": session_id, "blocked": command}
            )
            raise Blocked(str(waiting["blocked"]))
        if len(command) > _LONGEST:
            return Output("", "bash: /bin/bash: Argument list too long\n", 126)
        again = None
        while True:
            try:
                return self._run(known, name, command, workdir, stdin, again)
            except _RunAgain as reason:
                # One that lost bytes in a new interpreter still has to run in one that keeps them.
                if again is not None and again.keeps_bytes == reason.keeps_bytes:
                    return Output("", "Killed\n", KILLED)
                again = reason

    def _run(
        self,
        known: Record,
        name: str,
        command: str,
        workdir: str | None,
        stdin: str | None,
        again: _RunAgain | None = None,
    ) -> Output:
        """Run a command in a session. Raises `_RunAgain`, without changes, if the running shell cannot."""
        state, before = str(known.get("state") or ""), str(known.get("cwd") or self._home())
        machine = self._pool.take(self._store, name, state, self._home(), again)
        machine.begin(self._store)
        place = normalize(workdir, before) if workdir else before
        if machine.bash.shell_state().cwd != before:
            machine.execute(f"builtin cd -- {shlex.quote(before)}")
        known_last = machine.bash.shell_state().variables.get("OLDPWD")
        last = "builtin unset OLDPWD" if known_last is None else f"OLDPWD={shlex.quote(known_last)}"
        if workdir and not self._store_has(place):
            self._pool.give(machine, name, state)
            raise ShellError(f"no such directory: {workdir}")
        if workdir:
            machine.execute(f"builtin cd -- {shlex.quote(place)}")
        view = self._store.view
        output = self._execute(machine, command, stdin)
        # Commands that write other records than files cannot be run again: their bytes stay lost.
        if machine.has_lost_bytes and not machine.keeps_bytes and self._store.view is view:
            raise _RunAgain(keeps_bytes=True)
        directory = machine.bash.shell_state().cwd
        if workdir:
            machine.execute(f"builtin cd -- {shlex.quote(before)}; {last}")
        machine.touch({path: seconds for path, seconds in machine.dated.items() if machine.fs.exists(path)})
        after = "\n".join(_capture(machine, machine.fresh).values())
        if machine.is_exhausted:
            raise _RunAgain(keeps_bytes=machine.keeps_bytes)
        machine.collect(written_paths(machine.bash, command, state, place))
        if machine.cut_off():
            output.stderr += _no_space(command)
            output.exit_code = output.exit_code or 1
        cwd = before if workdir else directory
        if (cwd, after) != (before, state):
            self._store.put(SESSION, name or "main", {"id": name or "main", "cwd": cwd, "state": after})
        self._pool.give(machine, name, after)
        return output

    def _store_has(self, directory: str) -> bool:
        entry = Files(self._store).find(directory)
        return directory in _PROVIDED or (entry is not None and (not entry.is_file or bool(entry.kept.get("target"))))

    def restart(self, name: str = "") -> None:
        """Begin a session again, in its directory, without what it remembers."""
        known = self._session(name)
        if known:
            self._store.put(SESSION, name or "main", {**known, "state": "", "blocked": ""})

    def _execute(self, machine: Machine, command: str, stdin: str | None) -> Output:
        """Run a command with the time and the chance of the world."""
        chance = self._store.draws.generator("shell")
        machine.chance = chance
        seconds = int(self._store.now.timestamp())
        machine.execute(f"RANDOM={chance.randrange(1 << 15)} EPOCHSECONDS={seconds}")
        text = in_world_time(command, machine.now)
        if stdin is not None:
            machine.fs.write_file(_STDIN, stdin.encode("utf-8", "surrogatepass"))
            text = f"{{ {text}\n}} < {_STDIN}"
        result = machine.execute_given(text)
        stdout, stderr, code = result.stdout, result.stderr, result.exit_code
        if result.error is not None and result.error.startswith(_ENDED):
            # What bash prints where the interpreter ends a command.
            syntax = _SYNTAX.match(result.error)
            if syntax is None:
                stderr, code = "Killed\n", KILLED
            else:
                problem = syntax[2]
                if problem.startswith("near"):
                    problem = f"syntax error {problem}"
                elif problem.startswith("unexpected end"):
                    problem = f"syntax error: {problem}"
                stderr, code = f"bash: -c: line {syntax[1] or 1}: {problem}\n", 2
        return Output(in_words_of_bash(stdout), in_words_of_bash(stderr), code, machine.slept)

    def _session(self, name: str) -> Record:
        return self._store.get(SESSION, name or "main") or {}

    def _home(self) -> str:
        return "/root" if Files(self._store).exists("/root") else "/"


def _no_space(command: str) -> str:
    """Return what the last part of a command prints where the disk is full."""
    name = next(iter(re.split(r"[;&|\n]+", command.strip())[-1].split()), "bash")
    prefix = "bash: line 1: " if name in _PRINTING else ""
    return f"{prefix}{name}: write error: No space left on device\n"


class _Pool:
    """The running shells of the worlds of a scenario. A world gets one that is where it was left, else a new one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._machines: OrderedDict[int, tuple[tuple[str, str], Machine]] = OrderedDict()
        self._count = 0

    def take(self, store: Store, name: str, state: str, home: str, again: _RunAgain | None) -> Machine:
        """Return a shell with a session, a new one to run a command `again`. It is in use until it is given back."""
        with self._lock:
            fit = [] if again else [at for at, (key, machine) in reversed(self._machines.items())
                   if key == (name, state) and machine.has_origin(store)]  # fmt: skip
            moves = {at: self._machines[at][1].distance(store) for at in fit}
            at = min(moves, key=lambda place: moves[place], default=None)
            if at is not None and moves[at] <= _NEAR:
                return self._machines.pop(at)[1]
        runs_suites = any(row.get("runner") for row in store.rows("test_case"))
        seconds = suites.SECONDS if runs_suites else SECONDS
        keeps_bytes = again is not None and again.keeps_bytes
        machine = Machine(COMMANDS, _HOST, SYSTEM["environment"], seconds, keeps_bytes=keeps_bytes)
        machine.begin(store)
        machine.execute(f"builtin cd -- {shlex.quote(home)}")
        machine.fresh = _capture(machine)
        machine.execute(state)
        return machine

    def give(self, machine: Machine, name: str, state: str) -> None:
        """Keep a shell for the next command of its session; the one that was not used for longest goes."""
        if machine.is_worn:
            return
        with self._lock:
            self._count += 1
            self._machines[self._count] = (name, state), machine
            while len(self._machines) > _LIVE:
                self._machines.popitem(last=False)


# wording --------------------------------------------------------------------------------------------------------------


_BASH = "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)"
_UTILITIES = "GNU coreutils) 9.1"
_PACKAGES = {
    "find": "GNU findutils) 4.9.0", "grep": "GNU grep) 3.8", "sed": "GNU sed) 4.9", "xargs": "GNU findutils) 4.9.0"
}  # fmt: skip
"""The packages of programs that do not belong to the core utilities, with their versions."""
_PROGRAM = re.compile(r"([\w-]{1,20}) \(bashkit\) [0-9.]+$", re.MULTILINE)
_OWN_WORDS = tuple(
    (re.compile(pattern, re.MULTILINE), text)
    for pattern, text in (
        # A file may hold such a sentence, too: only a line of the shell or of a script begins with its number.
        (r"^([^\n:]{1,200}: line \d+: [^\n]{1,200}?: command not found)\. [A-Z][^\n]{0,200}", r"\1"),
        (r"Bashkit [0-9.]+ \(virtual \w+ interpreter\)|Virtual shell interpreter \(not GNU bash\)", _BASH),
        (r"^Bashkit builtin commands:", "These shell commands are defined internally:"),
        (r"^((?:GNU Awk|BusyBox|curl) v?[0-9.]+) \(bashkit\)", r"\1"),
        (r"^(?:This is the bashkit sandboxed subset;|The sandbox has a single user;|Inside a bashkit::)[^\n]*\n", ""),
        (r"  In bashkit every applet is\n\tthe sandbox's own builtin of the same name\.", ""),
        (r"(: not a terminal) \(run inside bashkit::[^\n)]*\)", r"\1"),
        (r"((?:supported|implemented)) in bashkit\b", r"\1"),
        (r"^(Process YAML or JSON with) Bashkit's jq-compatible expression engine", r"\1 jq expressions"),
        (r"cannot set hostname in virtual mode", "you must be root to change the host name"),
        (r'^(BASH_VERSINFO=.*)"virtual"', r'\1"x86_64-pc-linux-gnu"'),
    )
)
_SIGNS = ("ashkit", "command not found. ", "virtual", "The sandbox")
"""What occurs in all of these: to search a long text for each takes a third of a second."""
_SYNTAX = re.compile(r"^parse error(?: at line (\d+), column \d+)?: (?:syntax error: |syntax error )?(.*)", re.DOTALL)
KILLED = 137


def in_words_of_bash(text: str) -> str:
    """Return what bash and GNU commands would have printed."""
    text = text.replace("io error: not found", "No such file or directory").replace("io error: ", "")
    if not any(sign in text for sign in _SIGNS):
        return text
    for pattern, words in _OWN_WORDS:
        text = pattern.sub(words, text)
    return _PROGRAM.sub(lambda match: f"{match[1]} ({_PACKAGES.get(match[1], _UTILITIES)}", text)
