"""Compare the simulated browser with Chromium behind the vendor's Playwright MCP server, step by step.

    python benchmarks/libraries browser CLI [SITE...] [--chromium PATH] [--verbose]

CLI is the file `cli.js` of the npm package `@playwright/mcp`. The pages of a site are served over HTTP from a world of
their own, and the same steps are made in both browsers. Compared are after each step: whether it failed, the address,
the title, an open dialog, and each line of the snapshot, with references; at the end of a site all its records. Then
the snapshots of ten pages of varied HTML are compared, without numbers of pages in references. Printed are the shares
of equal steps and lines, and the milliseconds of a step. The exit code is 1 if a step or record differs, more than
1 % of the lines of varied pages, or the numbers of references in more than a tenth of the steps.

The sites are `web_shop` of the catalogue and the files of `sites`, which have their steps beside them.
"""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
from argparse import ArgumentParser
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher, unified_diff
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp_sim import Simulator
from mcp_sim.libraries.screens import playwright
from mcp_sim.libraries.screens.accessibility import Tree
from mcp_sim.libraries.screens.dom import parse
from mcp_sim.libraries.screens.forms import Form
from mcp_sim.world.world import World

SHOP = Path(__file__).parents[2] / "tool_specs" / "screens"
SITES = Path(__file__).with_name("sites")
PAGES = (SITES / "varied.html").read_text(encoding="utf-8").splitlines()
REQUEST = """

@tool()
def request(world, method, path, query, form):
    answer = shop.site.answer(world, method, path, query, form)
    return {"status": answer.status, "location": answer.location, "html": answer.html}
"""
LOADED = "() => document.readyState === 'complete' && [...document.images].every(image => image.complete)"
Step = tuple[str, dict[str, Any]]
KINDS = {"slider": "slider", "checkbox": "checkbox", "radio": "radio", "combobox": "combobox"}
"""Role of a field -> its kind in a form that is filled; others are textboxes."""
PATIENCE = 10.0
"""Seconds for a page to become as expected: Chromium answers a step before the navigation that it caused has ended."""
SETTLE = 50
"""Milliseconds that the vendor's server waits after an action. Its default, 500, was most of the time of this check."""


# steps ----------------------------------------------------------------------------------------------------------------


def field_of(named: str, value: str) -> dict[str, Any]:
    kind = KINDS.get(named.partition(" ")[0], "textbox")
    return {"name": named, "type": kind, "target": named, "value": value}


def step_of(line: str, origin: str, folder: Path) -> Step:
    """Return the call that a line of steps means, such as `type textbox "Name" = Ada`."""
    verb, _, rest = line.partition(" ")
    target, _, value = (part.replace("\\n", "\n") for part in rest.partition(" = "))
    values = value.split(", ")
    match verb:
        case "go":
            return "browser_navigate", {"url": rest if "://" in rest else origin + rest}
        case "click" | "hover" | "double":
            options = {"doubleClick": True} if verb == "double" else {}
            return f"browser_{'hover' if verb == 'hover' else 'click'}", {"target": rest, **options}
        case "type" | "submit":
            return "browser_type", {"target": target, "text": value, **({"submit": True} if verb == "submit" else {})}
        case "select":
            return "browser_select_option", {"target": target, "values": values}
        case "fill":
            fields = [part.partition(" = ") for part in rest.split(" | ")]
            return "browser_fill_form", {"fields": [field_of(name, text) for name, _, text in fields]}
        case "press":
            return "browser_press_key", {"key": rest}
        case "accept" | "cancel":
            return "browser_handle_dialog", {"accept": verb == "accept"}
        case "upload":
            return "browser_file_upload", {"paths": [str(folder / name) for name in rest.split(", ")]}
        case "tabs" | "closetab":
            return "browser_tabs", {"action": "select" if verb == "tabs" else "close", "index": int(rest)}
        case _:
            return others(rest)[verb]


def others(rest: str) -> dict[str, Step]:
    return {
        "back": ("browser_navigate_back", {}),
        "nofiles": ("browser_file_upload", {}),
        "look": ("browser_snapshot", {}),
        "tab": ("browser_tabs", {"action": "new", "url": rest}),
        "list": ("browser_tabs", {"action": "list"}),
        "wait": ("browser_wait_for", {"text": rest}),
    }


# sites ----------------------------------------------------------------------------------------------------------------


@dataclass
class Counts:
    """What was compared so far."""

    steps: int = 0
    differing: int = 0
    renumbered: int = 0
    """Steps with other references: an image came after the snapshot of a page that Chromium had just begun."""
    lines: int = 0
    equal_lines: int = 0
    spent: list[float] = field(default_factory=list[float])
    real_spent: list[float] = field(default_factory=list[float])


def site_of(name: str) -> tuple[Path, str, list[str]]:
    """Return a spec with the tools of `web_shop` over a site, the site's origin, and its steps as lines."""
    folder = Path(tempfile.mkdtemp())
    for file in ("web_shop.py", "web_shop.yaml", "web_shop.tools.json", "shop.py"):
        shutil.copy(SHOP / file, folder / file)
    listed = json.loads((folder / "web_shop.tools.json").read_text(encoding="utf-8"))
    listed["tools"].append({"name": "request", "description": "Request a page.", "inputSchema": {"type": "object"}})
    (folder / "web_shop.tools.json").write_text(json.dumps(listed), encoding="utf-8")
    program = (folder / "web_shop.py").read_text(encoding="utf-8") + REQUEST
    if name == "web_shop":
        pages = (folder / "shop.py").read_text(encoding="utf-8")
        steps = (SITES / "web_shop.steps").read_text(encoding="utf-8")
    else:
        pages = (SITES / f"{name}.py").read_text(encoding="utf-8")
        steps = (SITES / f"{name}.steps").read_text(encoding="utf-8")
        shutil.copy(SITES / f"{name}.py", folder / f"{name}.py")
        program = re.sub(r"\bshop\b", name, program)
    (folder / "web_shop.py").write_text(program, encoding="utf-8")
    origin = re.search(r'Site\("(.*?)"\)', pages)
    assert origin is not None, f"{name} declares no site"
    return folder / "web_shop.yaml", origin[1], steps.strip().splitlines()


@contextmanager
def served(world: World) -> Generator[str]:
    """Serve the pages of a world over HTTP. Yields the origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply([])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            sent = parse_qsl(body, keep_blank_values=True)
            self.reply([(name, value.replace("\r\n", "\n")) for name, value in sent])  # as sites of a program get it

        def reply(self, form: list[tuple[str, str]]) -> None:
            parts = urlsplit(self.path)
            asked = {"method": self.command, "path": parts.path, "query": parts.query, "form": form}
            answer: Any = world.call_sync("request", asked).body
            value: dict[str, Any] = answer.value
            if parts.path.startswith("/static/"):
                value = {"status": 200, "location": "", "html": PAGES[int(parts.path.rpartition("/")[2])]}
            self.send_response(value["status"])
            if value["location"]:
                self.send_header("location", value["location"])
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(value["html"].encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (named by the library)
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


# comparison -----------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """What a step showed, and the page after it."""

    failed: bool
    page: list[str]
    snapshot: list[str]


def resolved(arguments: Any, snapshot: list[str]) -> Any:
    """Return arguments with the references of the elements that they name by role and name."""
    if isinstance(arguments, dict):
        parts = cast("dict[str, Any]", arguments)
        return {
            name: reference(value, snapshot) if name == "target" else resolved(value, snapshot)
            for name, value in parts.items()
        }
    if isinstance(arguments, list):
        return [resolved(item, snapshot) for item in cast("list[Any]", arguments)]
    return arguments


def reference(named: str, snapshot: list[str]) -> str:
    lines = (line.strip().removeprefix("- ").strip("'") for line in snapshot)
    match = next((re.search(r"\[ref=(\w+)\]", line) for line in lines if line.startswith(named)), None)
    return match[1] if match else named


def parts_of(failed: bool, text: str, snapshot: str) -> Seen:
    """Return what is compared of a step: the lines about the page, and the snapshot."""
    shown = r"- HTTP status: [245]|- \[\"confirm|- \[File chooser"  # 303: Chromium was on its way to the next page
    about = [line for line in text.splitlines() if re.match(shown, line)]
    # Chromium may answer the step before the next page is there.
    about += [line for line in snapshot.splitlines() if line.startswith(("- Page URL", "- Page Title"))]
    tree = re.search(r"```yaml\n(.*?)\n?```", snapshot, re.DOTALL)
    lines = tree[1].split("\n") if tree else [line for line in snapshot.splitlines() if line.startswith("- [")]
    return Seen(failed, about, lines)


def unnumbered(seen: Seen) -> Seen:
    """Return what a step showed without references."""
    return replace(seen, snapshot=[re.sub(r" \[ref=\w+\]", "", line) for line in seen.snapshot])


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


async def compare(client: ClientSession, name: str, folder: Path, counts: Counts, *, verbose: bool) -> None:
    """Make all steps of a site in both browsers."""
    spec, origin, steps = site_of(name)
    simulator = Simulator.load(spec, trust=True)
    differing = 0
    async with simulator.open() as pages, simulator.open() as world:
        with served(pages) as there:
            await client.call_tool("browser_navigate", {"url": "about:blank"})
            snapshot, real = list[str](), list[str]()
            for number, line in enumerate(steps, 1):
                tool, arguments = step_of(line, origin, folder)
                ours = await make_here(world, tool, resolved(arguments, snapshot), counts)
                asked = resolved(arguments, real)
                theirs = await make_there(client, tool, asked, (origin, there), ours, counts)
                counts.lines += max(len(ours.snapshot), len(theirs.snapshot))
                counts.equal_lines += sum(a == b for a, b in zip(ours.snapshot, theirs.snapshot, strict=False))
                if ours != theirs and unnumbered(ours) == unnumbered(theirs):
                    counts.renumbered += 1
                elif ours != theirs:
                    differing += 1
                    print(f"{name} {number} {line}: differs")
                    if verbose:
                        print_difference(ours, theirs)
                snapshot, real = ours.snapshot, theirs.snapshot
        if records_of(world) != records_of(pages):
            differing += 1
            print(f"{name}: the records differ")
    counts.steps += len(steps)
    counts.differing += differing
    print(f"{name}: {len(steps) - differing} of {len(steps)} steps are equal")


def records_of(world: World) -> dict[str, list[Any]]:
    """Return the records of a site, without those of the browser."""
    entities = [name for name, entity in world.scenario.domain.entities.items() if entity.display is None]
    return {name: [record for _, record in world.view.rows(name)] for name in entities}


async def make_here(world: World, tool: str, asked: dict[str, Any], counts: Counts) -> Seen:
    start = time.perf_counter()
    body: Any = (await world.call(tool, asked)).body
    counts.spent.append(time.perf_counter() - start)
    shown: Any = (await world.call("browser_snapshot", {})).body
    return parts_of(bool(body.is_error), str(body.value), str(shown.value))


async def make_there(
    client: ClientSession, tool: str, asked: dict[str, Any], origins: tuple[str, str], expected: Seen, counts: Counts
) -> Seen:
    """Make a step in Chromium, and return what it shows: as expected, or what it shows at last."""
    origin, there = origins
    start = time.perf_counter()
    result = await client.call_tool(tool, json.loads(json.dumps(asked).replace(origin, there)))
    counts.real_spent.append(time.perf_counter() - start)
    text = text_of(result).replace(there, origin)
    until = time.monotonic() + PATIENCE
    while True:
        snapshot = (await snapshot_of(client, until)).replace(there, origin)
        seen = parts_of(bool(result.is_error), text, snapshot)
        if unnumbered(seen) == unnumbered(expected) or time.monotonic() > until:
            return seen
        await asyncio.sleep(0.1)


async def snapshot_of(client: ClientSession, until: float) -> str:
    """Return a snapshot of Chromium's page with its images: elements without a box get no reference, others later ones.

    The time `until` ends the waiting.
    """
    while True:
        text = text_of(await client.call_tool("browser_evaluate", {"function": LOADED}))
        if "### Result\nfalse" not in text or time.monotonic() > until:  # an error where a dialog is open
            return text_of(await client.call_tool("browser_snapshot", {}))
        await asyncio.sleep(0.05)


async def compare_pages(client: ClientSession, *, verbose: bool) -> tuple[int, int]:
    """Return how many lines of the snapshots of varied pages are equal, and how many there are."""
    equal = total = 0
    async with Simulator.load(site_of("web_shop")[0], trust=True).open() as world:
        with served(world) as origin:
            for number, html in enumerate(PAGES):
                await client.call_tool("browser_navigate", {"url": f"{origin}/static/{number}"})
                real = parts_of(False, "", await snapshot_of(client, time.monotonic() + PATIENCE)).snapshot
                theirs = [re.sub(r"ref=f\d+e", "ref=e", line) for line in real]
                ours = playwright.snapshot(Tree(Form(parse(html), {}), None, "", {}, 0).build()).split("\n")
                matches = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
                equal, total = equal + sum(match.size for match in matches), total + max(len(ours), len(theirs))
                if verbose:
                    sys.stdout.writelines(f"{line}\n" for line in unified_diff(ours, theirs, lineterm="", n=0))
    return equal, total


def print_difference(ours: Seen, theirs: Seen) -> None:
    if (ours.failed, ours.page) != (theirs.failed, theirs.page):
        print("  ours  ", ours.failed, ours.page, "\n  theirs", theirs.failed, theirs.page)
    for line in unified_diff(ours.snapshot, theirs.snapshot, "ours", "theirs", lineterm="", n=0):
        print(f"  {line}")


async def compare_all(cli: Path, sites: list[str], chromium: str, *, verbose: bool) -> bool:
    """Compare sites and pages. Returns whether all are equal."""
    folder, counts = Path(tempfile.mkdtemp()), Counts()
    for name in ("card.txt", "one.txt", "two.txt"):
        (folder / name).write_text(name, encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--isolated", "--executable-path", chromium]
    options += ["--snapshot-mode", "none", "--timeout-settle", str(SETTLE)]
    parameters = StdioServerParameters(command="node", args=[str(cli), *options], cwd=folder)
    for name in sites:  # each in a browser of its own, in which references begin anew
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            await compare(client, name, folder, counts, verbose=verbose)
    async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        equal, total = await compare_pages(client, verbose=verbose)
    print(f"{equal} of {total} lines of varied pages are equal")
    steps = f"{counts.steps - counts.differing} of {counts.steps} steps"
    print(f"{steps} and {counts.equal_lines} of {counts.lines} lines are equal")
    ours, theirs = (statistics.median(times) * 1000 for times in (counts.spent, counts.real_spent))
    print(f"{ours:.2f} ms a step, Chromium {theirs:.0f}; {counts.renumbered} steps have other references")
    return counts.differing == 0 and counts.renumbered <= 0.1 * counts.steps and equal >= 0.99 * total


def main(parser: ArgumentParser, arguments: Sequence[str]) -> int:
    names = ["web_shop", *sorted(path.stem for path in SITES.glob("*.py"))]
    parser.add_argument("cli", type=Path)
    parser.add_argument("sites", nargs="*", default=names)
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    parser.add_argument("--verbose", action="store_true", help="print what differs")
    options = parser.parse_args(arguments)
    is_equal = asyncio.run(compare_all(options.cli, options.sites, options.chromium, verbose=options.verbose))
    return 0 if is_equal else 1
