"""Processes, services, ports and the network, which has no other hosts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mcp_sim.libraries.shell.commands.invocation import SYSTEM, Body, Failed, Invocation, is_number
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_object

_URL = re.compile(r"(?:(https?)://)?(?:[^@/]*@)?(\[[^\]]*\]|[^/:?#]+)(?::([0-9]+))?([/?].*)?$")
_LOCAL = frozenset({"127.0.0.1", "localhost", "0.0.0.0", "[::1]", "vm"})  # noqa: S104 (an address that programs ask for)
_TIMES = {"http_code": "", "response_code": "", "time_total": "0.001", "size_download": "", "url_effective": ""}
_CURL_LONG = (
    "silent:s show-error:S fail:f location:L include:i insecure:k head:I output:o request:X header:H data:d max-time:m "
    "connect-timeout= write-out:w user:u data-raw= retry= compressed url= json="
)
_OWN = 398  # the shell itself, before the services


def running(run: Invocation) -> list[Record]:
    """Return the services that run, in the order of their pids."""
    rows = [row for row in run.store.rows("service") if row.get("status") == "running"]
    return sorted(rows, key=lambda row: int(row.get("pid") or 0))


def curl(run: Invocation) -> None:
    options, paths = run.options("sSfLikvIo:X:H:d:m:w:u:A:OGe:x:", _CURL_LONG)
    url = options.get("url", paths[0] if paths else "")
    if not url:
        raise Failed("curl: no URL specified!\ncurl: try 'curl --help' or 'curl --manual' for more information\n", 2)
    is_quiet = "s" in options and "S" not in options
    show = options.get("w", "")
    service, problem, code = _reach(run, url)
    if service is None:
        run.out.append(_written(show, 0, ""))
        run.fail("" if is_quiet else f"curl: ({code}) {problem}\n", code)
        return
    status, text = _response(service, url)
    if "f" in options and status >= 400:
        run.out.append(_written(show, status, ""))
        run.fail("" if is_quiet else f"curl: (22) The requested URL returned error: {status}\n", 22)
        return
    headers = f"HTTP/1.1 {status} {_REASONS.get(status, 'OK')}\r\nContent-Length: {len(text.encode())}\r\n\r\n"
    shown = headers if "I" in options else (headers if "i" in options else "") + text
    target = options.get("o", url.rpartition("/")[2] if "O" in options else "-")
    if target == "-":
        run.out.append(shown)
    elif target != "/dev/null":
        _save(run, target, shown)
    run.out.append(_written(show, status, text))


_REASONS = {200: "OK", 201: "Created", 204: "No Content", 400: "Bad Request", 404: "Not Found",
            500: "Internal Server Error", 503: "Service Unavailable"}  # fmt: skip


def _reach(run: Invocation, url: str) -> tuple[Record | None, str, int]:
    """Return the service at a URL, else the problem in curl's words, and its exit code."""
    match = _URL.match(url)
    if match is None:
        return None, f"URL rejected: Malformed input to a URL function: {url}", 3
    host, port = match[2], int(match[3] or (443 if match[1] == "https" else 80))
    if host not in _LOCAL:
        return None, f"Could not resolve host: {host}", 6
    service = next((row for row in running(run) if row.get("port") == port), None)
    return service, f"Failed to connect to {host} port {port} after 0 ms: Couldn't connect to server", 7


def _response(service: Record, url: str) -> tuple[int, str]:
    """Return the status and the text that a service answers. `responses` are texts, or have a status and a body."""
    match = _URL.match(url)
    path = (match[4] if match else None) or "/"
    responses: Mapping[str, Any] = service.get("responses") or {}
    answer = responses.get(path, responses.get(path.partition("?")[0]))
    if answer is None:
        return 404, "Not Found\n"
    if isinstance(answer, dict):
        parts = as_object(answer)
        return int(parts.get("status", 200)), str(parts.get("body", ""))
    return 200, str(answer)


def _written(pattern: str, status: int, text: str) -> str:
    """Return what `-w` prints."""
    values = {
        **_TIMES,
        "http_code": f"{status:03d}",
        "response_code": f"{status:03d}",
        "size_download": str(len(text.encode())),
    }
    shown = re.sub(r"%\{(\w+)\}", lambda match: values.get(match[1], ""), pattern)
    return shown.replace("\\n", "\n").replace("\\t", "\t")


def _save(run: Invocation, path: str, text: str) -> None:
    run.fs.write_file(run.place(path), text.encode())


def wget(run: Invocation) -> None:
    options, paths = run.options("qO:cNP:t:T:S", "quiet:q output-document:O spider tries:t timeout:T")
    if not paths:
        raise Failed("wget: missing URL\nUsage: wget [OPTION]... [URL]...\n")
    is_quiet = "q" in options
    service, problem, code = _reach(run, paths[0])
    if service is None:
        words = (
            "failed: Connection refused.\n"
            if code == 7
            else f"wget: unable to resolve host address ‘{problem.rpartition(' ')[2]}’\n"
        )
        run.fail("" if is_quiet else words, 4)
        return
    status, text = _response(service, paths[0])
    if status >= 400:
        run.fail("" if is_quiet else f"ERROR {status}: {_REASONS.get(status, 'Error')}.\n", 8)
        return
    target = options.get("O", paths[0].rpartition("/")[2] or "index.html")
    if target == "-":
        run.out.append(text)
    else:
        _save(run, target, text)


@dataclass(slots=True)
class _Process:
    """A process as ps shows it."""

    pid: int
    command: str
    user: str = "root"
    parent: int = 1
    cpu: str = "0.0"
    memory: str = "0.3"
    virtual: int = 98304
    resident: int = 36120
    terminal: str = "?"
    state: str = "Sl"
    seconds: int = 4


def _processes(run: Invocation) -> Iterator[_Process]:
    """Yield the first process, the shell, and the services."""
    yield _Process(1, "/sbin/init", parent=0, virtual=167812, resident=12844, state="Ss", seconds=2)
    yield _Process(_OWN, "bash", memory="0.1", virtual=7196, resident=3912, terminal="pts/0", state="Ss", seconds=0)
    for row in running(run):
        command, user = str(row.get("command")), str(row.get("user", "root"))
        yield _Process(int(row.get("pid") or 0), command, user, cpu="0.1", memory="0.9")


_COLUMNS: Mapping[str, tuple[str, int, Callable[[_Process], str]]] = {
    "pid": ("PID", 7, lambda process: str(process.pid)),
    "ppid": ("PPID", 7, lambda process: str(process.parent)),
    "user": ("USER", -8, lambda process: process.user),
    "uid": ("UID", 5, lambda _: "0"),
    "comm": ("COMMAND", -15, lambda process: process.command.split()[0].rpartition("/")[2]),
    "args": ("COMMAND", -27, lambda process: process.command),
    "%cpu": ("%CPU", 4, lambda process: process.cpu),
    "%mem": ("%MEM", 4, lambda process: process.memory),
    "rss": ("RSS", 5, lambda process: str(process.resident)),
    "vsz": ("VSZ", 6, lambda process: str(process.virtual)),
    "stat": ("STAT", -4, lambda process: process.state),
    "tty": ("TT", -8, lambda process: process.terminal),
    "time": ("TIME", 8, lambda process: f"00:00:{process.seconds:02d}"),
    "ni": ("NI", 3, lambda _: "0"),
}
"""What `ps -o` prints: header, width (negative: to the left) and value."""
_OTHER_NAMES = {
    "cmd": "args", "command": "args", "pcpu": "%cpu", "pmem": "%mem", "ucmd": "comm", "tname": "tty", "s": "stat",
}  # fmt: skip


def ps(run: Invocation) -> None:
    words = " ".join(run.arguments)
    start = f"{run.now:%H:%M}"
    chosen = re.search(r"-?-?(?:\w*o|format)[ =]*([\w%,=]+(?: -o ?[\w%,=]+)*)", words)
    wanted = re.search(r"(?:-p|--pid)[ =]*([0-9,]+)", words)
    named = re.search(r"-C ?(\S+)", words)
    plain = re.sub(r"--\S+|-C ?\S+", "", words)
    shows_all = bool(re.search(r"[aeAx]", plain.split("o")[0])) or wanted is not None
    pids = wanted[1].split(",") if wanted else []
    rows = [row for row in _processes(run) if (shows_all or row.pid == _OWN) and (not pids or str(row.pid) in pids)]
    if named:
        rows = [row for row in _processes(run) if named[1] == _COLUMNS["comm"][2](row)]
    if chosen:
        _print_columns(run, re.split(r",| -o ?", chosen[1]), rows)
    elif "u" in plain:
        run.out.append("USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n")
        run.out += [
            f"{row.user:<8} {row.pid:>7}  {row.cpu}  {row.memory} {row.virtual:>6} {row.resident:>5} {row.terminal:<8} "
            f"{row.state:<4} {start}   0:{row.seconds:02d} {row.command}\n"
            for row in rows
        ]
    elif "f" in plain:
        run.out.append("UID          PID    PPID  C STIME TTY          TIME CMD\n")
        run.out += [
            f"{row.user:<8}{row.pid:>8}{row.parent:>8}  0 {start} {row.terminal:<8} 00:00:{row.seconds:02d} "
            f"{row.command}\n"
            for row in rows
        ]
    else:
        run.out.append("    PID TTY          TIME CMD\n")
        run.out += [
            f"{row.pid:>7} {row.terminal:<8} 00:00:{row.seconds:02d} {row.command.split()[0].rpartition('/')[2]}\n"
            for row in rows
        ]
    run.code = 0 if rows else 1


def _print_columns(run: Invocation, names: Sequence[str], rows: Sequence[_Process]) -> None:
    """Print the columns of `ps -o`, with headers unless all are empty (`pid=`)."""
    columns: list[tuple[str, int, Callable[[_Process], str]]] = []
    for name in names:
        key, has_header, header = name.partition("=")
        column = _COLUMNS.get(_OTHER_NAMES.get(key, key))
        if column is None:
            raise Failed(f'error: unknown user-defined format specifier "{key}"\n\nUsage:\n ps [options]\n')
        columns.append((header if has_header else "CMD" if key == "cmd" else column[0], *column[1:]))
    lines = [[header for header, *_ in columns]] if any(header for header, *_ in columns) else []
    lines += [[value(row) for *_, value in columns] for row in rows]
    for line in lines:
        cells = [text.rjust(width) if width > 0 else text.ljust(-width)
                 for text, (_, width, _) in zip(line, columns, strict=True)]  # fmt: skip
        run.out.append(" ".join(cells).rstrip() + "\n")


def pgrep(run: Invocation) -> None:
    options, patterns = run.options("flaxu:", "full:f list-name:l")
    if not patterns:
        raise Failed("pgrep: no matching criteria specified\nTry `pgrep --help' for more information.\n", 2)
    rows = [row for row in running(run) if patterns[0] in f"{row['name']} {row.get('command')}"]
    run.out += [
        f"{row['pid']} {row.get('command')}\n" if options.keys() & {"a", "l"} else f"{row['pid']}\n" for row in rows
    ]
    run.code = 0 if rows else 1


_SIGNALS = (
    "EXIT", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM",
    "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH",
    "IO", "PWR", "SYS", "", "", "RTMIN", *(f"RTMIN+{more}" for more in range(1, 16)),
    *(f"RTMAX-{less}" for less in range(14, 0, -1)), "RTMAX",
)  # fmt: skip
"""The signals of Linux by number; 32 and 33 have no names."""
_ENDING = frozenset({"INT", "QUIT", "ABRT", "KILL", "TERM", "SEGV"})
"""What ends a service; it takes the others as a request to read its settings again, or not at all."""
_KILL_USAGE = "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]\n"


def _signal(word: str) -> str | None:
    """Return the signal of a number, or of a name in either case with or without `SIG`; None if there is no such."""
    if is_number(word):
        return _SIGNALS[int(word)] if int(word) < len(_SIGNALS) else None
    name = word.upper().removeprefix("SIG")
    return name if name and name in _SIGNALS else None


def _send(run: Invocation, signal: str, row: Record) -> None:
    if signal in _ENDING:
        run.store.put("service", row["name"], {**row, "status": "stopped"})


def _kill_options(arguments: Sequence[str]) -> tuple[str, bool, list[str]]:
    """Return the given signal, whether to list signals, and the other words. Words after a signal are processes."""
    words, given, lists = [*arguments], "", False
    while words and words[0].startswith("-") and not (given and words[0] != "--"):
        option = words.pop(0)
        if option == "--":
            break
        if option in ("-l", "-L"):
            lists = True
        elif option in ("-s", "-n") and not words:
            raise Failed(f"bash: line 1: kill: {option}: option requires an argument\n")
        elif option in ("-s", "-n"):
            given = words.pop(0)
        else:
            given = re.sub(r"^-(?:s(?=[A-Za-z])|n(?=[0-9]))?", "", option)
    return given, lists, words


def kill(run: Invocation) -> None:
    given, lists, words = _kill_options(run.arguments)
    if lists:
        _list_signals(run, words)
        return
    signal = _signal(given or "TERM")
    if signal is None:
        raise Failed(f"bash: line 1: kill: {given}: invalid signal specification\n")
    if not words:
        raise Failed(_KILL_USAGE, 2)
    services = {str(row.get("pid")): row for row in running(run)}
    for pid in words:
        if pid in services:
            _send(run, signal, services[pid])
        elif pid.startswith("%"):
            run.fail(f"bash: line 1: kill: {pid}: no such job\n")
        elif not is_number(pid.removeprefix("-")):
            run.fail(f"bash: line 1: kill: {pid}: arguments must be process or job IDs\n")
        elif int(pid) not in (1, _OWN):  # these take no signal from here
            run.fail(f"bash: line 1: kill: ({pid}) - No such process\n")


def _list_signals(run: Invocation, words: Sequence[str]) -> None:
    """Print all signals, or the names of numbers and exit codes and the numbers of names."""
    if not words:
        rows = [f"{number:2}) SIG{name}" for number, name in enumerate(_SIGNALS) if number and name]
        run.out += [f"{row}\n" if at % 5 == 0 else f"{row}\t" for at, row in enumerate(rows, 1)] + ["\n"]
    for word in words:
        is_code = is_number(word) and int(word) > 128  # of a command that a signal has ended
        signal = _signal(str(int(word) - 128) if is_code else word)
        if signal is None:
            run.fail(f"bash: line 1: kill: {word}: invalid signal specification\n")
        else:
            run.out.append(f"{signal if is_number(word) else _SIGNALS.index(signal)}\n")


_PKILL_LONG = (
    "signal:s full:f exact:x ignore-case newest:n oldest:o echo:e count:c euid:u uid:U parent:P pidfile:F quiet:q wait "
    "verbose:v regexp:r interactive:i user:u"
)


def _is_signal_option(word: str, program: str) -> bool:
    """Return whether a word is one such as `-9` or `-TERM`; pkill reads unknown names as letters of other options."""
    if program == "killall":
        return re.fullmatch(r"-(?:[0-9]+|[A-Z][A-Z0-9]+)", word) is not None
    return word.startswith("-") and _signal(word[1:]) is not None


def pkill(run: Invocation) -> None:
    is_killall = run.name == "killall"
    short = next((word for word in run.arguments if _is_signal_option(word, run.name)), "")
    run.arguments = [word for word in run.arguments if not short or word != short]
    options, patterns = run.options("acefilnoqrvwxyAILF:G:O:P:U:g:s:t:u:", _PKILL_LONG, 1 if is_killall else 2)
    if "F" in options:
        raise Failed(f"{run.name}: pidfile not valid\nTry `{run.name} --help' for more information.\n")
    given = short[1:] or options.get("s", "TERM")
    signal = _signal(given)
    if signal is None and is_killall:
        raise Failed(f"{given}: unknown signal; killall -l lists signals.\n")
    rows = [row for row in running(run) if patterns and patterns[-1] in f"{row['name']} {row.get('command')}"]
    run.code = 0 if rows else 1
    for row in rows:
        if signal is None:
            run.fail(f"pkill: killing pid {row['pid']} failed: Invalid argument\n")
        else:
            _send(run, signal, row)
    if is_killall and patterns and not rows:
        run.errors.append(f"{patterns[-1]}: no process found\n")


def ss(run: Invocation) -> None:
    if run.name == "netstat":
        run.out.append("Active Internet connections (only servers)\n")
        run.out.append(
            "Proto Recv-Q Send-Q Local Address           Foreign Address         State       PID/Program name\n"
        )
    else:
        run.out.append("State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\n")
    for row, port in _listening(run):
        program = str(row.get("command")).split()[0].rpartition("/")[2]
        local = f"0.0.0.0:{port}"
        if run.name == "netstat":
            run.out.append(
                f"tcp        0      0 {local:<23} 0.0.0.0:*               LISTEN      {row['pid']}/{program}\n"
            )
        else:
            run.out.append(
                f'LISTEN 0      128 {local:>18}       0.0.0.0:*     users:(("{program}",pid={row["pid"]},fd=3))\n'
            )


def lsof(run: Invocation) -> None:
    wanted = re.search(r":([0-9]+)", " ".join(run.arguments))
    rows = [(row, port) for row, port in _listening(run) if wanted is None or str(port) == wanted[1]]
    if rows:
        run.out.append("COMMAND  PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n")
    for row, port in rows:
        program = str(row.get("command")).split()[0].rpartition("/")[2][:9]
        run.out.append(
            f"{program:<7} {row['pid']:>4} {row.get('user', 'root'):<5}   3u  IPv4  20113      0t0  "
            f"TCP *:{port} (LISTEN)\n"
        )
    run.code = 0 if rows else 1


def _listening(run: Invocation) -> Iterator[tuple[Record, int]]:
    for row in running(run):
        if row.get("port"):
            yield row, int(row["port"])


def interfaces(run: Invocation) -> None:
    """Answer for ip and ifconfig: there is only the loopback, as the machine reaches no other."""
    words = [word for word in run.arguments if not word.startswith("-")]
    verb = words[0] if words else ""
    if run.name == "ifconfig":
        if verb not in ("", "lo"):
            raise Failed(f"{verb}: error fetching interface information: Device not found\n")
        run.out.append(SYSTEM["interfaces"]["ifconfig"])
    elif verb and ("address".startswith(verb) or "link".startswith(verb)):
        if words[-1] not in ("lo", "show", "list", verb):
            raise Failed(f'Device "{words[-1]}" does not exist.\n')
        lines = SYSTEM["interfaces"]["ip"].splitlines(keepends=True)
        run.out += lines if "address".startswith(verb) else lines[:2]
    elif not verb:
        raise Failed("Usage: ip [ OPTIONS ] OBJECT { COMMAND | help }\n", 255)
    elif verb not in ("r", "route", "neigh", "rule"):
        raise Failed(f'Object "{verb}" is unknown, try "ip help".\n')


def systemctl(run: Invocation) -> None:
    words = [argument for argument in run.arguments if not argument.startswith("-")]
    verb, names = words[0] if words else "list-units", [word.removesuffix(".service") for word in words[1:]]
    if verb in ("list-units", "daemon-reload"):
        run.out += (
            [f"  {row['name']}.service loaded active running {row.get('command')}\n" for row in running(run)]
            if verb == "list-units"
            else []
        )
        return
    for name in names:
        row = run.store.get("service", name)
        if row is None:
            missing = f"Unit {name}.service could not be found.\n"
            raise Failed(
                missing if verb == "status" else f"Failed to {verb} {name}.service: Unit {name}.service not found.\n",
                4 if verb == "status" else 5,
            )
        _control(run, verb, row)


def _control(run: Invocation, verb: str, row: Record) -> None:
    is_running = row.get("status") == "running"
    if verb in ("start", "restart", "reload"):
        pid = int(row.get("pid") or 0) + (1000 if verb == "restart" or not is_running else 0)
        run.store.put("service", row["name"], {**row, "status": "running", "pid": pid})
    elif verb == "stop":
        run.store.put("service", row["name"], {**row, "status": "stopped"})
    elif verb == "is-active":
        run.out.append("active\n" if is_running else "inactive\n")
        run.code = 0 if is_running else 3
    elif verb == "status":
        run.out.append(
            f"● {row['name']}.service - {row['name']}\n"
            f"     Loaded: loaded (/etc/systemd/system/{row['name']}.service; enabled)\n"
        )
        state = (
            "active (running)"
            if is_running
            else "inactive (dead)"
            if row.get("status") == "stopped"
            else "failed (Result: exit-code)"
        )
        run.out.append(
            f"     Active: {state}\n"
            + (f"   Main PID: {row['pid']} ({str(row.get('command')).split()[0]})\n" if is_running else "")
        )
        run.code = 0 if is_running else 3


BODIES: Mapping[str, Body] = {
    "curl": curl, "wget": wget, "ps": ps, "pgrep": pgrep, "kill": kill, "pkill": pkill, "killall": pkill,
    "ss": ss, "netstat": ss, "lsof": lsof, "systemctl": systemctl, "ip": interfaces, "ifconfig": interfaces,
}  # fmt: skip
