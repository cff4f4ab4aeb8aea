"""What the system is: its name, users, memory, disks and packages."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.libraries.files.tree import is_within
from mcp_sim.libraries.shell.commands.invocation import SYSTEM, Body, Failed, Invocation
from mcp_sim.libraries.shell.commands.listing import human
from mcp_sim.types import Record

_MEMORY = (3928, 612, 2804, 1, 756, 3304)  # MiB: total, used, free, shared, cache, available


def uname(run: Invocation) -> None:
    long = "all:a kernel-name:s nodename:n kernel-release:r machine:m operating-system:o"
    chosen = run.options("asnrvmpio", long)[0] or {"s": ""}
    run.out.append(
        " ".join(text for letter, text in SYSTEM["kernel"].items() if letter in chosen or "a" in chosen) + "\n"
    )


def identity(run: Invocation) -> None:
    options, _ = run.options("ugGnr", "user:u group:g groups:G name:n")
    if not options.keys() & {"u", "g", "G"}:
        run.out.append("uid=0(root) gid=0(root) groups=0(root)\n")
    else:
        run.out.append("root\n" if "n" in options else "0\n")


def partitions(run: Invocation) -> list[Record]:
    """Return the partitions with what is used of them: as given, and what files have grown by since then."""
    rows = [*run.store.rows("partition")]
    grown = run.machine.growth([str(row["mount"]) for row in rows])
    used = {str(row["mount"]): max(0, int(row.get("used") or 0) + grown[str(row["mount"])]) for row in rows}
    return [{**row, "used": row["size"] if row.get("is_full") else used[str(row["mount"])]} for row in rows]


def df(run: Invocation) -> None:
    options, paths = run.options("hkTmaiPHt:x:", "human-readable:h print-type:T total")
    rows = partitions(run)
    if paths:
        chosen: dict[str, Record] = {}
        for path in paths:
            node = run.look(path, follow=True)
            if node is None:
                run.fail(f"df: {path}: No such file or directory\n")
                continue
            row = max(
                (row for row in rows if is_within(node.path, [str(row["mount"])])),
                key=lambda row: len(str(row["mount"])),
            )
            chosen[str(row["mount"])] = row
        rows = [*chosen.values()]
        if not rows:
            return
    is_human = "h" in options
    size = "Size" if is_human else "1K-blocks"
    table = [["Filesystem", size, "Used", "Avail" if is_human else "Available", "Use%", "Mounted on"]]
    has_type = "T" in options
    for row in rows:
        total, used = int(row.get("size") or 0), int(row.get("used") or 0)
        free = max(0, total - used)
        share = f"{-(-100 * used // max(1, used + free))}%"
        sizes = [human(number * 1024) if is_human and number else str(number) for number in (total, used, free)]
        table.append([str(row.get("device") or "none"), *sizes, share, str(row["mount"])])
    least = (14, 5, 5, 5, 4)  # as wide as GNU makes the columns of short values
    widths = [max(least[at], *(len(cells[at]) for cells in table)) for at in range(5)]
    for number, (device, *numbers, mount) in enumerate(table):
        padded = " ".join(text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True))
        kind = f" {'ext4' if number else 'Type'}" if has_type else ""
        run.out.append(f"{device.ljust(widths[0])}{kind} {padded} {mount}\n")


def free(run: Invocation) -> None:
    options, _ = run.options("hmgkbt", "human:h mega:m giga:g")
    is_human, scale = "h" in options, 1 if "m" in options else 1024
    numbers = [f"{number}Mi" if is_human else str(number * scale) for number in _MEMORY]
    run.out.append("               total        used        free      shared  buff/cache   available\n")
    run.out.append("Mem:    " + " ".join(number.rjust(11) for number in numbers).rjust(72) + "\n")
    run.out.append("Swap:   " + " ".join("0".rjust(11) for _ in range(3)).rjust(36) + "\n")


def uptime(run: Invocation) -> None:
    run.out.append(f" {run.now:%H:%M:%S} up 4 days,  1:25,  1 user,  load average: 0.08, 0.03, 0.01\n")


def sessions(run: Invocation) -> None:
    """Answer for w and last: root has one session, on the first terminal."""
    if run.name == "last":
        run.out.append(f"\nwtmp begins {run.now:%a %b %e %H:%M:%S %Y}\n")
        return
    uptime(run)
    run.out.append("USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT\n")
    run.out.append(f"root     pts/0    -                {run.now:%H:%M}    0.00s  0.01s  0.00s bash\n")


def dpkg(run: Invocation) -> None:
    words = [argument for argument in run.arguments if not argument.startswith("-")]
    rows = [row for row in run.store.rows("package") if not words or row["name"] in words]
    for name in words:
        if run.store.get("package", name) is None:
            run.fail(f"dpkg-query: no packages found matching {name}\n")
    run.out += [f"ii  {row['name']:<20} {row.get('version') or '':<26} amd64\n" for row in rows]


def apt(run: Invocation) -> None:
    words = [argument for argument in run.arguments if not argument.startswith("-")]
    verb, names = words[0] if words else "help", words[1:]
    if verb == "list":
        run.out += [
            f"{row['name']}/stable,now {row.get('version')} amd64 [installed]\n" for row in run.store.rows("package")
        ]
    elif verb in ("install", "update", "upgrade"):
        for name in [name for name in names if verb == "install"]:
            row = run.store.get("package", name)
            if row is None:
                run.out.append("Reading package lists...\nBuilding dependency tree...\nReading state information...\n")
                raise Failed(f"E: Unable to locate package {name}\n", 100)
            run.out.append(f"{name} is already the newest version ({row.get('version')}).\n")
        if verb == "update":
            host = "deb.debian.org"
            problem = f"http://{host}/debian/dists/bookworm/InRelease  Temporary failure resolving '{host}'"
            raise Failed(f"W: Failed to fetch {problem}\n", 0)
        run.out.append("0 upgraded, 0 newly installed, 0 to remove and 0 not upgraded.\n")
    elif verb in ("remove", "purge"):
        for name in names:
            if run.store.get("package", name) is None:
                raise Failed(f"E: Unable to locate package {name}\n", 100)
            run.store.remove("package", name)
            run.out.append(f"Removing {name} ...\n")
    else:
        raise Failed(f"E: Invalid operation {verb}\n", 100)


BODIES: Mapping[str, Body] = {
    "uname": uname, "id": identity, "df": df, "free": free, "uptime": uptime, "w": sessions, "last": sessions,
    "dpkg": dpkg, "apt": apt, "apt-get": apt,
}  # fmt: skip
