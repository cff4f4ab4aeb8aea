"""How long the page of a long run takes for each action, as processor time of the page's process in Chromium.

    python benchmarks/viewer.py [STEPS]

Every action is made several times. The time has the script, the layout and the painting, up to the next frame.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, cast

from playwright.sync_api import Page

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.chromium import open_browser
from support.viewer_traces import busy_trace, repeated_trace

from mcp_sim.cli import main as mcp_sim

TIMES = 7

READY = "new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"


def keyed(keys: str) -> str:
    """Return a script that presses keys, one after the other."""
    pressed = (f"new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}})" for key in keys.split())
    return "".join(f"document.body.dispatchEvent({event});" for event in pressed)


def given(selector: str, value: str) -> str:
    """Return a script that puts a value into a field."""
    return (
        f"{{const e = document.querySelector('{selector}'); e.value = {value}; e.dispatchEvent(new Event('input'));}}"
    )


ANYWHERE = "Math.floor(Math.random() * 10000)"

ACTIONS = {
    "next step": keyed("j"),
    "last and first step": keyed("End Home"),
    "next fault": keyed("n"),
    "scroll": "document.getElementById('list').scrollTop = Math.random() * 400000;",
    "filter by fact": given("#filter", "'fault'"),
    "filter by text": given("#filter", "'deal_0' + Math.floor(Math.random() * 999)"),
    "no filter": given("#filter", "''"),
    "slider at a step": keyed("1") + given("#slider", ANYWHERE),
    "state of what was written": keyed("2") + given("#slider", ANYWHERE),
    "state of all records": "document.getElementById('only-changed').click();",
    "find a record": given("#panel [type=search]", "'deal_1' + Math.floor(Math.random() * 99)"),
    "faults": keyed("3"),
    "verdicts": keyed("4"),
    "worlds": keyed("5"),
    "another world": keyed("]"),
    "light and dark": keyed("t"),
}


def main() -> None:
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with TemporaryDirectory() as name:
        folder = Path(name)
        trace = repeated_trace(asyncio.run(busy_trace(folder)), folder, steps)
        html = folder / "long.html"
        mcp_sim(["view", str(trace), "-o", str(html)])
        print(f"{steps:,} steps: trace {trace.stat().st_size / 1e6:.1f} MB, page {html.stat().st_size / 1e6:.1f} MB")
        with open_browser() as browser:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            spent = clock_of(page)
            page.goto(html.as_uri())
            print(f"{'opening the page':26}  {spent():6.0f} ms")
            for action, script in ACTIONS.items():
                print(f"{action:26}  {times(page, script, spent)}")


def clock_of(page: Page) -> Callable[[], float]:
    """Return a function that returns the milliseconds that the page has computed since the last call."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})  # pyright: ignore[reportUnknownMemberType]
    before = 0.0

    def spent() -> float:
        nonlocal before
        metrics = cast("Any", session.send("Performance.getMetrics"))  # pyright: ignore[reportUnknownMemberType]
        now = {metric["name"]: float(metric["value"]) for metric in metrics["metrics"]}["TaskDuration"] * 1000
        before, since = now, now - before
        return since

    return spent


def times(page: Page, script: str, spent: Callable[[], float]) -> str:
    """Make an action several times, and render its median and its longest time."""
    found = list[float]()
    for _ in range(TIMES):
        spent()
        page.evaluate(f"() => {{ {script} return {READY}; }}")
        found.append(spent())
    return f"{median(found):6.1f} ms, at most {max(found):6.1f}"


if __name__ == "__main__":
    main()
