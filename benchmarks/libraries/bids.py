"""Compare the lines that `browsergym.flattened` prints with those of BrowserGym itself, on Chromium.

    python benchmarks/libraries bids [--chromium PATH] [--verbose]

It needs the packages `browsergym-core` and `playwright`. Each page that the steps of a site of `browser.py` lead to,
and each of the varied pages, is shown in Chromium under its own address. BrowserGym marks it, reads its accessibility
tree and flattens it, with what reacts to a click; the text boxes of newer versions of Chromium are left out. Printed is
the share of equal lines; the exit code is 1 if one differs.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from importlib import import_module
from pathlib import Path
from typing import Any

from browser import PAGES, SITES, parts_of, resolved, site_of, step_of
from playwright.sync_api import sync_playwright

from mcp_sim import Simulator
from mcp_sim.libraries.screens import browsergym, parse
from mcp_sim.libraries.screens.forms import Form, squeezed

OBSERVATION: Any = import_module("browsergym.core.observation")
PRINTER: Any = import_module("browsergym.utils.obs")
LEFT_OUT = ["LineBreak", "InlineTextBox"]


async def pages_of(name: str) -> dict[str, str]:
    """Return the pages of a site that its steps lead to: HTML -> address."""
    spec, origin, steps = site_of(name)
    pages, snapshot = dict[str, str](), list[str]()
    async with Simulator.load(spec, trust=True).open() as world:
        for line in steps:
            tool, arguments = step_of(line, origin, Path.cwd())
            await world.call(tool, resolved(arguments, snapshot))
            body: Any = (await world.call("browser_snapshot", {})).body
            snapshot = parts_of(False, "", str(body.value)).snapshot
            tabs = [tab for _, tab in world.view.rows("tab") if tab["current"]]
            html = {page["id"]: page["html"] for _, page in world.view.rows("screen_page")}
            pages |= {html[tab["page"]]: tab["url"].partition("#")[0] for tab in tabs if tab["page"] in html}
    return pages


def all_pages() -> Iterator[tuple[str, str]]:
    """Yield addresses and HTML."""
    for number, html in enumerate(PAGES):
        yield f"https://varied.example/{number}", html
    for name in ("web_shop", *sorted(path.stem for path in SITES.glob("*.py"))):
        for html, url in asyncio.run(pages_of(name)).items():
            yield url, html


def real(page: Any) -> str:
    """Return what BrowserGym prints of a page of Chromium."""
    OBSERVATION._pre_extract(page, tags_to_mark="standard_html", lenient=True)  # noqa: SLF001 (its environment calls it; nothing public does)
    extra = OBSERVATION.extract_dom_extra_properties(OBSERVATION.extract_dom_snapshot(page), 1.0)
    tree = OBSERVATION.extract_merged_axtree(page)
    return PRINTER.flatten_axtree_to_str(tree, extra_properties=extra, with_clickable=True, ignored_roles=LEFT_OUT)


def ours(url: str, html: str) -> str:
    root = parse(html)
    title = root.first("title")
    return browsergym.flattened(
        Form(root, {}), squeezed(title.text) if title is not None else "", url, with_clickable=True
    )


def compare(chromium: str, *, verbose: bool) -> bool:
    equal = total = 0
    pages = [*all_pages()]
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]).new_page()
        html = ""
        page.route("**/*", lambda route: route.fulfill(body=html, content_type="text/html; charset=utf-8"))
        for url, html in pages:
            page.goto(url)
            here, there = ours(url, html).split("\n"), real(page).split("\n")
            matches = SequenceMatcher(None, here, there, autojunk=False).get_matching_blocks()
            equal, total = equal + sum(match.size for match in matches), total + max(len(here), len(there))
            if verbose:
                sys.stdout.writelines(f"{line}\n" for line in unified_diff(here, there, url, lineterm="", n=0))
    print(f"{equal} of {total} lines of {len(pages)} pages are equal")
    return equal == total


def main(parser: ArgumentParser, arguments: Sequence[str]) -> int:
    parser.add_argument("--chromium", default=shutil.which("chromium") or "chromium")
    parser.add_argument("--verbose", action="store_true", help="print what differs")
    options = parser.parse_args(arguments)
    return 0 if compare(options.chromium, verbose=options.verbose) else 1
