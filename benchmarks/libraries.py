"""Compare screens with Chromium and the shell with bash, and measure the search: the libraries of programs.

    python benchmarks/libraries.py screens CLI [--chromium PATH] [--verbose]
    python benchmarks/libraries.py shell REFERENCE... [--verbose] [--runs N]
    python benchmarks/libraries.py search [THEME...] [--seeds 5] [--queries 1000]

`screens`: the simulated browser and Chromium behind the vendor's Playwright MCP server, step by step. CLI is the file
`cli.js` of the npm package `@playwright/mcp`. The pages of `web_shop` are served over HTTP from a world of their own,
and the same steps are made in both browsers. Compared are after each step: whether it failed, the address, the title,
an open dialog, and each line of the snapshot, with references. Then the snapshots of ten pages of varied HTML are
compared, without numbers of pages in references. Printed are the shares of equal steps and lines, and the milliseconds
of a step. The exit code is 1 if a step differs.

`shell`: the shell of simulated terminals and a real bash, command by command. A reference is a JSON file that was
recorded from a real bash: `cwd`, `tree` (rows with path, kind, mode, mtime, target, and the content in base64), and
`results` (cmd, stdout, stderr, code). Each command runs in a world of its own, as it did there. Compared are stdout and
the exit code. With `--runs N`, all commands also run N times one after another, with the same seed, and what differs
between runs is counted.

`search`: for each theme and seed of fictional worlds, `hit@10` is the share of the theme's questions about one row for
which a page with the answer is among the first ten; `leaks` counts withheld facts of a page's rows in the address,
title, date or snippet that a search shows, over unrelated queries and over queries about other rows. Times are
milliseconds a search, at about 2,000 and 20,000 pages, and as multiples of a plain scan of all texts for the words in
the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import SequenceMatcher, unified_diff
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.library_stores import new_store

from mcp_sim import Simulator
from mcp_sim.generate.fiction import Fiction, invent, questions, read_theme, shipped_themes
from mcp_sim.libraries.screens import playwright
from mcp_sim.libraries.screens.accessibility import Tree
from mcp_sim.libraries.screens.dom import parse
from mcp_sim.libraries.screens.forms import Form
from mcp_sim.libraries.search import Search, snippet, words_of
from mcp_sim.libraries.search.withheld import shown_values
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World

Json = Any

# screens --------------------------------------------------------------------------------------------------------------

SHOP = Path(__file__).parents[1] / "tool_specs" / "screens"
ORIGIN = "https://wheelhouse.example"
REQUEST = """

@tool()
def request(world, method, path, query, form):
    answer = site.answer(world, method, path, query, form)
    return {"status": answer.status, "location": answer.location, "html": answer.html}
"""
Step = tuple[str, dict[str, Any]]
STEPS: list[Step] = [
    ("browser_navigate", {"url": f"{ORIGIN}/"}),
    ("browser_type", {"target": 'searchbox "Search"', "text": "a"}),
    ("browser_select_option", {"target": 'combobox "Sort by"', "values": ["Price"]}),
    ("browser_navigate_back", {}),
    ("browser_click", {"target": 'link "Chain, 9-speed"'}),
    ("browser_click", {"target": 'generic "Shipping"'}),
    ("browser_click", {"target": 'generic "Shipping"'}),
    ("browser_type", {"target": 'spinbutton "Quantity"', "text": "9"}),
    ("browser_click", {"target": 'button "Add to cart"'}),
    ("browser_type", {"target": 'spinbutton "Quantity"', "text": "2", "submit": True}),
    ("browser_click", {"target": 'link "Parts"'}),
    ("browser_click", {"target": 'button "Add Bell to cart"'}),
    ("browser_type", {"target": 'spinbutton "Quantity"', "text": "5"}),
    ("browser_click", {"target": 'button "Update"'}),
    ("browser_click", {"target": 'button "Remove Bell"'}),
    ("browser_handle_dialog", {"accept": False}),
    ("browser_handle_dialog", {"accept": False}),
    ("browser_click", {"target": 'button "Remove Chain, 9-speed"'}),
    ("browser_handle_dialog", {"accept": True}),
    ("browser_snapshot", {}),
    ("browser_click", {"target": 'link "Check out"'}),
    ("browser_click", {"target": 'button "Log in"'}),
    ("browser_type", {"target": 'textbox "E-mail"', "text": "ada"}),
    ("browser_type", {"target": 'textbox "Password"', "text": "wrong", "submit": True}),
    ("browser_type", {"target": 'textbox "E-mail"', "text": "ada@mail.example"}),
    ("browser_press_key", {"key": "Enter"}),
    ("browser_type", {"target": 'textbox "E-mail"', "text": "ada@mail.example"}),
    ("browser_press_key", {"key": "Tab"}),
    ("browser_press_key", {"key": "w"}),
    ("browser_type", {"target": 'textbox "Password"', "text": "wheels"}),
    ("browser_click", {"target": 'checkbox "Stay logged in"'}),
    ("browser_press_key", {"key": "Tab"}),
    ("browser_press_key", {"key": "Enter"}),
    ("browser_click", {"target": 'button "Place order"'}),
    ("browser_click", {"target": 'radio "Express"'}),
    ("browser_select_option", {"target": 'combobox "Country"', "values": ["de"]}),
    ("browser_type", {"target": 'textbox "Note"', "text": "Ring: twice\n#2"}),
    ("browser_hover", {"target": 'button "Place order"'}),
    ("browser_type", {"target": 'textbox "Street"', "text": "Kade 1"}),
    ("browser_click", {"target": "e9999"}),
    ("browser_navigate_back", {}),
    ("browser_navigate", {"url": f"{ORIGIN}/delivery"}),
    (
        "browser_fill_form",
        {
            "fields": [
                {"name": "Street", "type": "textbox", "target": 'textbox "Street"', "value": "Kade 1"},
                {"name": "Express", "type": "radio", "target": 'radio "Express"', "value": "true"},
                {"name": "Country", "type": "combobox", "target": 'combobox "Country"', "value": "Belgium"},
            ]
        },
    ),
    ("browser_click", {"target": 'button "Place order"'}),
    ("browser_wait_for", {"text": "Thank you"}),
    ("browser_navigate_back", {}),
    ("browser_click", {"target": 'link "Orders"'}),
    ("browser_navigate", {"url": f"{ORIGIN}/nowhere"}),
    ("browser_tabs", {"action": "new", "url": f"{ORIGIN}/parts/3"}),
    ("browser_click", {"target": 'link "All parts"'}),
    ("browser_tabs", {"action": "list"}),
    ("browser_tabs", {"action": "select", "index": 0}),
    ("browser_navigate", {"url": f"{ORIGIN}/parts?q=zzz"}),
    ("browser_click", {"target": 'heading "Parts"'}),
    ("browser_type", {"target": 'heading "Parts"', "text": "x"}),
    ("browser_click", {"target": 'button "Log out"'}),
]

PAGES = [
    '<title>A</title><body><h1>News <small>today</small></h1><article><h2><a href="/x">First: a story</a></h2><p>By <em>Ada</em> on <time>2 May</time>.<br>Two lines &amp; more.</p><p></p><blockquote>Quoted <code>x = 1</code></blockquote><footer>End</footer></article><footer>Site <a href="#top">top</a></footer></body>',
    "<body><ul><li>One<li>Two <ul><li>Deep</li></ul></li></ul><ol><li><b>Bold</b> text</li></ol><dl><dt>Term</dt><dd>Def</dd></dl><hr><pre>a\n  b</pre></body>",
    '<body><table><caption>Sales</caption><tr><th scope="row">Q1</th><td>12</td></tr><tr><th scope="row">Q2</th><td><b>15</b> <span>up</span></td></tr></table><figure><img src="/i.png" alt="Chart"><figcaption>Figure 1</figcaption></figure><img src="/d.png" alt=""><img src="/t.png" title="Tip"></body>',
    '<body><form aria-label="Sign up"><fieldset><legend>Plan</legend><label><input type="radio" name="p" checked> Free</label><label><input type="radio" name="p" disabled> Paid</label></fieldset><label for="e">Mail</label><input id="e" type="email" placeholder="you@x"><input type="text" placeholder="Only placeholder"><input type="password" aria-label="Key" value="s3"><input type="range" aria-label="Volume" value="3"><input type="submit"><input type="reset"><input type="button" value="Do"><textarea aria-label="Bio">Hi\nyou</textarea></form></body>',
    '<body><label>Fruit <select><optgroup label="Red"><option>Apple</option><option selected>Cherry</option></optgroup><option value="b">Banana</option></select></label><label>Many <select multiple><option selected>A</option><option>B</option></select></label><details open><summary>More</summary><p>Inside</p></details><progress value="3" max="10">30%</progress><meter value="0.6" aria-label="Disk">60%</meter></body>',
    '<body><nav><a href="/a">A</a> | <a href="/b">B</a></nav><section aria-label="Hits"><h2>Hits</h2><p>3: <mark>found</mark></p></section><section><h3>Plain</h3></section><aside>Ad</aside><div role="alert">Wrong!</div><div role="dialog" aria-label="Sure"><button>Yes</button><button disabled>No</button></div></body>',
    '<body><div><div><span>a</span><span>b</span></div><div>c <b>d</b></div></div><div hidden>no</div><div style="display: none">no</div><p aria-hidden="true">quiet</p><span>x</span><span>y</span><p>true</p><p>12</p><p>- dash</p><p>a: b</p><p>"q"</p><p># h</p></body>',
    '<body><button><b>Bold</b> go</button><button aria-label="Close">x</button><button aria-pressed="true">On</button><button aria-expanded="true">Menu</button><a href="/e"></a><a>no href</a><a href="/i"><img src="/i.png" alt="Pic"></a><div role="tablist"><div role="tab" aria-selected="true">T1</div><div role="tab">T2</div></div><input type="checkbox" role="switch" aria-label="Wifi" checked></body>',
    '<body><main><h1>Mix</h1><p>Text <a href="/l">link</a> tail</p><p><a href="/m">only link</a></p><div>loose text<div>block</div>more</div><table><thead><tr><th>N</th></tr></thead><tbody><tr><td><ul><li>i</li></ul></td></tr></tbody></table><output>5</output><s>old</s> <del>gone</del> <ins>new</ins> H<sub>2</sub>O x<sup>2</sup></main></body>',
    '<body><header><h1>T</h1></header><main><section><header>in</header></section><p>x &lt;b&gt; &nbsp; y</p><p>emoji 😀 “quotes”</p><p>back\\slash</p><p>{curly} [square]</p><p>line: </p><h2 aria-level="4">L4</h2><p title="tt">with title</p><abbr title="World Wide Web">WWW</abbr><kbd>Ctrl</kbd></main></body>',
]
"""Pages of varied HTML, which nothing changes."""


@dataclass
class Seen:
    """What a step showed, and the page after it."""

    failed: bool
    page: list[str]
    snapshot: list[str]


def program() -> Path:
    """Return a copy of the shop's spec with a tool that answers HTTP requests."""
    folder = Path(tempfile.mkdtemp())
    for name in ("shop.py", "web_shop.py", "web_shop.yaml", "web_shop.tools.json"):
        shutil.copy(SHOP / name, folder / name)
    listed = json.loads((folder / "web_shop.tools.json").read_text(encoding="utf-8"))
    listed["tools"].append({"name": "request", "description": "Request a page.", "inputSchema": {"type": "object"}})
    (folder / "web_shop.tools.json").write_text(json.dumps(listed), encoding="utf-8")
    with (folder / "web_shop.py").open("a", encoding="utf-8") as stream:
        stream.write(REQUEST)
    return folder / "web_shop.yaml"


def served(world: World) -> ThreadingHTTPServer:
    """Serve the pages of a world over HTTP."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply([])

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
            self.reply(parse_qsl(body, keep_blank_values=True))

        def reply(self, form: list[tuple[str, str]]) -> None:
            parts = urlsplit(self.path)
            asked = {"method": self.command, "path": parts.path, "query": parts.query, "form": form}
            answer: Any = world.call_sync("request", asked).body
            value: dict[str, Any] = answer.value
            if parts.path.startswith("/static/"):
                value = {"status": 200, "location": "", "html": PAGES[int(parts.path.rpartition("/")[2])]}
            self.send_response(303 if value["location"] else value["status"])
            if value["location"]:
                self.send_header("location", value["location"])
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(value["html"].encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (named by the library)
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


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


def parts_of(failed: bool, text: str, snapshot: str, origin: str) -> Seen:
    """Return what is compared of a step: the lines about the page, and the snapshot."""
    about = [line for line in text.splitlines() if re.match(r"- Page URL|- HTTP status|- \[\"confirm", line)]
    # The step may be answered before the title is there.
    about += [line for line in snapshot.splitlines() if line.startswith("- Page Title")]
    tree = re.search(r"```yaml\n(.*?)\n?```", snapshot, re.DOTALL)
    lines = tree[1].split("\n") if tree else [line for line in snapshot.splitlines() if line.startswith("- [")]
    plain = [line.replace(origin, ORIGIN) for line in (*about,)]
    return Seen(failed, plain, [line.replace(origin, ORIGIN) for line in lines])


def text_of(result: Any) -> str:
    return "\n".join(block.text for block in result.content)


async def compare_browsers(cli: Path, chromium: str, *, verbose: bool) -> int:
    """Make all steps in both browsers. Return the number of steps that differ."""
    differing = lines = equal_lines = 0
    spent, real_spent = list[float](), list[float]()
    simulator = Simulator.load(program(), trust=True)
    async with simulator.open() as pages, simulator.open() as world:
        server = served(pages)
        origin = f"http://127.0.0.1:{server.server_port}"
        options = ["--headless", "--no-sandbox", "--isolated", "--executable-path", chromium]
        parameters = StdioServerParameters(command="node", args=[str(cli), *options], cwd=tempfile.mkdtemp())
        async with stdio_client(parameters) as (read, write), ClientSession(read, write) as client:
            await client.initialize()
            snapshot: list[str] = []
            for number, (tool, arguments) in enumerate(STEPS, 1):
                asked = resolved(arguments, snapshot)
                start = time.perf_counter()
                answer = await world.call(tool, asked)
                spent.append(time.perf_counter() - start)
                body: Any = answer.body
                shown: Any = (await world.call("browser_snapshot", {})).body
                ours = parts_of(bool(body.is_error), str(body.value), str(shown.value), origin)
                there = json.loads(json.dumps(asked).replace(ORIGIN, origin))
                start = time.perf_counter()
                result = await client.call_tool(tool, there)
                real_spent.append(time.perf_counter() - start)
                real = await client.call_tool("browser_snapshot", {})
                theirs = parts_of(bool(result.is_error), text_of(result), text_of(real), origin)
                same = sum(a == b for a, b in zip(ours.snapshot, theirs.snapshot, strict=False))
                lines += max(len(ours.snapshot), len(theirs.snapshot))
                equal_lines += same
                if ours != theirs:
                    differing += 1
                    print(f"step {number} {tool} {arguments}: differs")
                    if verbose:
                        print_difference(ours, theirs, text_of(result))
                snapshot = ours.snapshot
            alike, all_lines = await compare_pages(client, origin, verbose=verbose)
    print(f"{alike} of {all_lines} lines of varied pages are equal")
    print(f"{len(STEPS) - differing} of {len(STEPS)} steps and {equal_lines} of {lines} lines are equal")
    print(f"{statistics.median(spent) * 1000:.2f} ms a step, Chromium {statistics.median(real_spent) * 1000:.0f}")
    return differing


async def compare_pages(client: ClientSession, origin: str, *, verbose: bool) -> tuple[int, int]:
    """Return how many lines of the snapshots of varied pages are equal, and how many there are."""
    equal = total = 0
    for number, html in enumerate(PAGES):
        await client.call_tool("browser_navigate", {"url": f"{origin}/static/{number}"})
        real = parts_of(False, "", text_of(await client.call_tool("browser_snapshot", {})), origin).snapshot
        theirs = [re.sub(r"ref=f\d+e", "ref=e", line) for line in real]
        ours = playwright.snapshot(Tree(Form(parse(html), {}), None, "", {}, 0).build()).split("\n")
        matches = SequenceMatcher(None, ours, theirs, autojunk=False).get_matching_blocks()
        equal, total = equal + sum(match.size for match in matches), total + max(len(ours), len(theirs))
        if verbose:
            sys.stdout.writelines(f"{line}\n" for line in unified_diff(ours, theirs, lineterm="", n=0))
    return equal, total


def print_difference(ours: Seen, theirs: Seen, text: str) -> None:
    if (ours.failed, ours.page) != (theirs.failed, theirs.page):
        print("  ours  ", ours.failed, ours.page, "\n  theirs", theirs.failed, theirs.page, "\n ", text[:300])
    for mine, other in zip([*ours.snapshot, ""], [*theirs.snapshot, ""], strict=False):
        if mine != other:
            print(f"  ours   {mine}\n  theirs {other}")
            break


# shell ----------------------------------------------------------------------------------------------------------------

KINDS = {"d": "directory", "l": "symlink", "f": "file"}


def given_files(reference: Json) -> Json:
    """Return the files of a reference as rows of a given state."""
    return [
        {
            "path": row["path"],
            "kind": KINDS[row["kind"]],
            "mode": row["mode"],
            "mtime": datetime.fromtimestamp(row["mtime"], UTC).isoformat(),
            **(
                {"base64": row["content"]}
                if row["content"] and not decoded(row["content"])
                else {"text": decoded(row["content"])}
            ),
            "target": row["target"],
        }
        for row in reference["tree"]
    ]


def decoded(content: str | None) -> str:
    try:
        return b64decode(content or "").decode()
    except UnicodeDecodeError:
        return ""


async def compare_commands(reference: Json, path: Path, *, verbose: bool) -> tuple[int, int]:
    """Return how many commands agree exactly, and how many but for the order of lines."""
    exact = unordered = 0
    async with Simulator.load(path).open(seed=1) as start:
        for known in reference["results"]:
            answer = await start.fork().call("run_command", {"command": known["cmd"], "workdir": reference["cwd"]})
            assert isinstance(answer.body, ToolResult)
            served: Mapping[str, Any] = answer.body.value
            has_code = served["exit_code"] == known["code"]
            is_exact = has_code and served["stdout"] == known["stdout"]
            exact += is_exact
            unordered += has_code and sorted(served["stdout"].splitlines()) == sorted(known["stdout"].splitlines())
            if verbose and not is_exact:
                print(f"$ {known['cmd']}")
                print(f"  expected {known['code']} {known['stdout'][:400]!r} {known['stderr'][:200]!r}")
                print(f"  got      {served['exit_code']} {served['stdout'][:400]!r} {served['stderr'][:200]!r}")
    return exact, unordered


async def count_differences(commands: Sequence[str], path: Path, runs: int) -> int:
    """Return how many answers differ from those of the first run. Each run is a world of its own."""
    first: list[str] = []
    count = 0
    for number in range(runs):
        async with Simulator.load(path).open(seed=7) as world:
            answers = [str((await world.call("run_command", {"command": text})).body) for text in commands]
        first = first or answers
        differing = [text for text, before, after in zip(commands, first, answers, strict=True) if before != after]
        count += len(differing)
        for text in differing[:5]:
            print(f"run {number} differs: {text}")
    return count


def terminal_of(reference: Json) -> Json:
    newest = max(row["mtime"] for row in reference["tree"])
    now = datetime.fromtimestamp(newest + 60, UTC).isoformat()
    world = {"now": now, "state": {"files": given_files(reference)}}
    return {"mcp_sim": 1, "name": "terminal-reference", "tools": "terminal", "world": world}


def compare_shells(references: Sequence[Path], runs: int, *, verbose: bool) -> None:
    """Print the shares of commands that agree, by reference."""
    for source in references:
        reference = json.loads(source.read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "scenario.yaml")
            path.write_text(json.dumps(terminal_of(reference)), encoding="utf-8")
            exact, unordered = asyncio.run(compare_commands(reference, path, verbose=verbose))
            if runs:
                commands = [known["cmd"] for known in reference["results"]]
                differing = asyncio.run(count_differences(commands, path, runs))
                print(f"{source.stem}: {runs} runs of {len(commands)} commands, {differing} answers differ")
        count = len(reference["results"])
        shares = f"exact {exact / count:.1%}, but for the order of lines {unordered / count:.1%}"
        print(f"{source.stem}: {count} commands, {shares}")


# search ---------------------------------------------------------------------------------------------------------------

GENERIC = [
    "weather", "recipe", "football", "history", "prices", "council", "church", "market", "letters", "travel",
    "guide", "opinion", "parking", "museum", "winter", "built", "tall", "height", "year", "length", "number",
    "goals", "seats", "price", "minutes", "staff", "width", "finished", "fee", "members", "capacity",
]  # fmt: skip
SIDEWAYS = ("history of", "news about", "travel to", "photos of", "near", "how old is", "figures for")


def loaded_search(world: Fiction) -> Search:
    """Return the search over a world."""
    search = Search(new_store())
    search.load(world.state())
    return search


def secrets_of(world: Fiction) -> dict[str, list[Any]]:
    """Return what must be withheld of each row, by its name."""
    return {
        row["name"]: [row[path.partition(".")[2]] for path in world.theme.withhold if path.startswith(f"{table}.")]
        for table, rows in world.rows.items()
        for row in rows
        if "name" in row
    }


def hits(world: Fiction, search: Search) -> tuple[int, int]:
    """Return how many of the questions about one row find a page with the answer, and how many there are."""
    direct = [question for question in questions(world) if question.pages == 1]
    answered = sum(
        any(shown_values(page["text"], [question.answer]) for page in search.find(question.ask)) for question in direct
    )
    return answered, len(direct)


def leaks(world: Fiction, search: Search, queries: int, seed: int) -> int:
    """Return how many withheld facts unrelated queries, and queries about other rows, show."""
    draw, secrets, count = random.Random(seed), secrets_of(world), 0
    for number in range(queries):
        name = draw.choice([*secrets])
        words = " ".join(draw.sample(GENERIC, draw.randint(1, 4)))
        query = words if number % 2 else f"{draw.choice(SIDEWAYS)} {name}"
        for page in search.find(query):
            shown = "\n".join([page["url"], page["title"], page["date"], snippet(page, query)])
            about = [values for name, values in secrets.items() if name in page["text"]]
            count += sum(len(shown_values(shown, values)) for values in about)
    return count


def times(rows: int) -> tuple[int, float, float]:
    """Return the pages of a world, milliseconds per search, and per plain scan."""
    world = invent(read_theme("coast"), rows=rows, seed=1)
    search = loaded_search(world)
    queries = [question.ask for question in questions(world)][:200]
    search.find("once")
    spent = list[float]()
    for query in queries:
        start = time.perf_counter()
        search.find(query)
        spent.append(time.perf_counter() - start)
    pages = search.find("the is of in a", count=10**9)
    start = time.perf_counter()
    for query in queries[:3]:
        words = words_of(query)
        sorted(pages, key=lambda page: -sum(word in page["text"].casefold() for word in words))
    return len(pages), statistics.median(spent) * 1000, (time.perf_counter() - start) / 3 * 1000


def measure_search(themes: Sequence[str], seeds: int, queries: int) -> None:
    """Print a line per theme and seed, and one per size."""
    for theme in themes:
        for seed in range(seeds):
            world = invent(read_theme(theme), rows=400, seed=seed)
            search = loaded_search(world)
            answered, asked = hits(world, search)
            leaked = leaks(world, search, queries, seed)
            print(f"{theme} seed {seed}: hit@10 {answered / asked:.3f} ({answered} of {asked}), {leaked} leaks")
    for rows in (1400, 13_000):
        count, search_ms, scan_ms = times(rows)
        print(f"{count} pages: {search_ms:.2f} ms a search, {search_ms / scan_ms:.3f} of a plain scan")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    screens = parts.add_parser("screens")
    screens.add_argument("cli", type=Path)
    screens.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    shell = parts.add_parser("shell")
    shell.add_argument("references", nargs="+", type=Path)
    shell.add_argument("--runs", type=int, default=0, help="compare so many runs with one seed")
    for part in (screens, shell):
        part.add_argument("--verbose", action="store_true", help="print what differs")
    searching = parts.add_parser("search")
    searching.add_argument("themes", nargs="*", default=shipped_themes())
    searching.add_argument("--seeds", type=int, default=5)
    searching.add_argument("--queries", type=int, default=1000)
    options = parser.parse_args()
    if options.part == "screens":
        sys.exit(bool(asyncio.run(compare_browsers(options.cli, options.chromium, verbose=options.verbose))))
    elif options.part == "shell":
        compare_shells(options.references, options.runs, verbose=options.verbose)
    else:
        measure_search(options.themes, options.seeds, options.queries)
