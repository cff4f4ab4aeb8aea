"""Compare the accessible objects of GTK programs with those of pages that describe the same windows.

    python benchmarks/libraries desktop [--verbose]

It needs `xvfb-run`, `dbus-run-session`, `at-spi2-core`, `mousepad`, `zenity`, and a `/usr/bin/python3` with
`gir1.2-atspi-2.0`. The programs run on a display of their own. Each page has the words of one window, in plain HTML;
the desktop shows it. Compared are role, name and text of each object, and the states of those that are in both. Boxes
around others (`filler`, `panel`, `scroll-pane`, `scroll-bar`) and bars that are off are left out, and so are the spaces
that GTK puts behind the name of an item for its keys. The exit code is 1 if an object is missing on either side.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from support.library_stores import new_store

from mcp_sim.libraries.screens import App, Desktop, Site, atspi

WINDOWS = {
    "notes.txt": ["mousepad", "--disable-server", "notes.txt"],
    "New mail": [
        "zenity", "--forms", "--title=New mail", "--text=Write", "--add-entry=To", "--add-password=Key",
        "--add-combo=Priority", "--combo-values=Low|High",
    ],
    "Files": ["zenity", "--list", "--title=Files", "--text=Pick one", "--column=Name", "--column=Size", "a.txt", "4 B"],
    "Level": ["zenity", "--scale", "--title=Level", "--text=Brightness", "--value=40"],
    "Sure": ["zenity", "--question", "--title=Sure", "--text=Delete it?"],
}  # fmt: skip
"""Title of a window, or a part of it -> the command that opens it."""
BUTTONS = "<button>Cancel</button> <button>OK</button>"
PAGES = {
    "New mail": (
        "<p>Write</p><p>To <input></p><p>Key <input type='password'></p>"
        "<p>Priority <select><option value='' selected hidden></option><option>Low</option><option>High</option>"
        "</select></p>" + BUTTONS
    ),
    "Files": (
        "<p>Pick one</p><table><tr><th>Name</th><th>Size</th></tr><tr><td>a.txt</td><td>4 B</td></tr></table>" + BUTTONS
    ),
    "Level": "<p>Brightness</p><input type='range' value='40'>" + BUTTONS,
    "Sure": "<img alt='Question'><p>Delete it?</p><button>No</button> <button>Yes</button>",
}
OFF = {"tool-bar", "status-bar"}
"""Bars of mousepad that are not shown at first."""
LEFT_OUT = {"filler", "panel", "scroll-pane", "scroll-bar", "page-tab-list", "page-tab", "frame", "dialog", "window"}
NOTES = "Buy soap\n"
ST = "{https://accessibility.ubuntu.example.org/ns/state}"
Object = tuple[str, str, str]


def objects(node: dict[str, Any]) -> Iterator[tuple[Object, frozenset[str]]]:
    is_rule = node["role"] == "separator" and "showing" in node["states"]  # a line between bars, which no page has
    if node["role"] not in LEFT_OUT and not is_rule:
        yield (node["role"], node["name"].strip(), node["text"]), frozenset(node["states"])
    for child in node["children"]:
        if child["role"] not in OFF:
            yield from objects(child)


def menus_page(window: dict[str, Any]) -> str:
    """Return the page of the editor: its own menus, bars, and the text."""

    def shown(node: dict[str, Any]) -> str:
        inner = "".join(map(shown, node["children"]))
        name, off = escape(node["name"].strip()), "" if "enabled" in node["states"] else " disabled"
        match node["role"]:
            case "menu":
                summary = f"<summary>{name}</summary>{inner}"
                return f'<details role="menu" aria-label="{name}" style="display: inline-block">{summary}</details>'
            case "menu-item" | "check-menu-item" | "radio-menu-item":
                return f'<button role="menuitem"{off}>{name}</button>'
            case "separator":
                return "<hr>"
            case "tool-bar":
                return ""
            case "label":
                return f"<p>{name}</p>"
            case "menu-bar":
                return f'<div role="menubar">{inner}</div>'
            case _:
                return inner

    return f'{shown(window)}<textarea style="display: block">\n{escape(NOTES)}</textarea>'


def simulated(title: str, page: str) -> dict[str, Any]:
    """Return the window of a page on the simulated desktop."""
    site = Site("https://app.example")

    @site.page("/")
    def shown(_world: Any) -> str:
        return f"<title>{title}</title><body>{page}</body>"

    screen = Desktop(new_store(), None, [App(title, title, site)], (1280, 800))
    screen.launch(title)
    frame = next(item for item in ET.fromstring(atspi.xml(screen.tree())).iter("frame"))
    frame.remove(frame[0])  # the bar with its title, which window managers draw
    return parsed(frame)


def parsed(element: ET.Element) -> dict[str, Any]:
    states = [name.removeprefix(ST) for name in element.attrib if name.startswith(ST)]
    name, text = element.get("name", ""), element.text or ""
    return {"role": element.tag, "name": name, "text": text, "states": states, "children": [*map(parsed, element)]}


def main(parser: ArgumentParser, arguments: Sequence[str]) -> int:
    parser.add_argument("--verbose", action="store_true", help="print each object that differs")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "notes.txt").write_text(NOTES)
        script = Path(__file__).with_name("gtk_windows.py")
        command = ["xvfb-run", "-a", "dbus-run-session", "--", "/usr/bin/python3", script, json.dumps(WINDOWS)]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    windows: dict[str, dict[str, Any]] = json.loads(run.stdout.splitlines()[-1])
    differing = 0
    for title in WINDOWS:
        real = [*objects(windows[title])]
        fake = [*objects(simulated(title, PAGES.get(title) or menus_page(windows[title])))]
        ours, theirs = Counter(key for key, _ in fake), Counter(key for key, _ in real)
        missing, extra = theirs - ours, ours - theirs
        states, known = dict(fake), [(key, flags) for key, flags in real if key in ours]
        unequal = [(key, flags ^ states[key]) for key, flags in known if flags != states[key]]
        differing += missing.total() + extra.total()
        print(
            f"{title}: {(theirs & ours).total()} of {len(real)} objects, {extra.total()} more; the states of "
            f"{len(known) - len(unequal)} of {len(known)} are equal"
        )
        if options.verbose:
            for word, lines in (("missing", missing), ("more", extra), ("states", unequal)):
                print("".join(f"  {word} {line}\n" for line in lines), end="")
    return 1 if differing else 0
