"""A phone: where elements are, what a tap hits, back stacks, and the lists of views."""

from __future__ import annotations

import zlib
from html import escape
from types import SimpleNamespace
from typing import Any
from xml.dom.minidom import parseString

import pytest
from support.library_stores import new_store

from mcp_sim.libraries.screens import App, Device, Redirect, Site, android, parse, picture
from mcp_sim.libraries.screens.android import View
from mcp_sim.libraries.screens.forms import Form
from mcp_sim.libraries.screens.layout import Layout, Metrics

SIZE = (1080, 2400)


def phone(rows: int = 3) -> tuple[Device, Any]:
    """Return a phone with an app of notes and one of mail, and its world."""
    notes, mail, world = Site("https://notes.example"), Site("https://mail.example"), SimpleNamespace()
    world.notes, world.mails, world.color = [f"Note {number}" for number in range(rows)], [], "red"

    @notes.page("/")
    def home(world: Any) -> str:
        items = "".join(f'<a style="display: block" href="/n/{at}">{escape(n)}</a>' for at, n in enumerate(world.notes))
        return f'<h1>Notes</h1>{items}<a href="/new" id="add" style="position: fixed; right: 16px; bottom: 16px">+</a>'

    @notes.page("/new")
    def new(_world: Any) -> str:
        return '<form action="/new" method="post"><input name="text" id="text" required><button>Save</button></form>'

    @notes.post("/new")
    def save(world: Any, text: str) -> str:
        world.notes.append(text)
        raise Redirect(f"/n/{len(world.notes) - 1}")

    @notes.page("/n/<at>")
    def note(world: Any, at: str) -> str:
        options = "".join(f"<option{' selected' * (c == world.color)}>{c}</option>" for c in ("red", "blue"))
        return (
            f'<p>{escape(world.notes[int(at)])}</p><a href="/">Up</a><a href="https://mail.example/">Mail</a>'
            f'<form action="/c/{at}" method="post"><select name="c" onchange="this.form.submit()">{options}</select>'
            f'</form><form action="/d/{at}" method="post" onsubmit="return confirm(\'Delete it?\')">'
            "<button>Delete</button></form>"
        )

    @notes.post("/c/<at>")
    def paint(world: Any, at: str, c: str) -> str:
        world.color = c
        raise Redirect(f"/n/{at}")

    @notes.post("/d/<at>")
    def delete(world: Any, at: str) -> str:
        world.notes.pop(int(at))
        raise Redirect("/")

    @mail.page("/")
    def inbox(_world: Any) -> str:
        return "<h1>Inbox</h1>"

    store = new_store()
    apps = (App("Notes", "org.notes", notes), App("Mail", "org.mail", mail))
    world.device = lambda: Device(store, world, apps, SIZE)
    return world.device(), world


def views(device: Device) -> dict[str, View]:
    """Return the views that have a text or an id, by these."""
    shown = [view for _, view in android.listed(device.views())]
    return {name: view for view in shown for name in (view.text, view.identifier.rpartition("/")[2]) if name}


def tap(device: Device, name: str) -> None:
    x, y, width, height = views(device)[name].area
    device.tap(x + width // 2, y + height // 2)


def test_a_screen_shows_its_records_as_they_are_now() -> None:
    device, world = phone()
    device.launch("org.notes")
    world.notes.append("From elsewhere")
    assert "From elsewhere" not in views(device)
    assert "From elsewhere" in views(world.device())


def test_what_floats_takes_the_tap_and_what_it_covers_does_not() -> None:
    device, world = phone(rows=40)
    device.launch("org.notes")
    add = views(device)["add"]
    covered = [view for name, view in views(device).items() if name.startswith("Note") and _overlap(view, add)]
    assert covered
    tap(device, "add")
    assert "Save" in views(device)
    assert len(world.notes) == 40


def _overlap(view: View, other: View) -> bool:
    (x, y, width, height), (left, top, wide, high) = view.area, other.area
    return x < left + wide and left < x + width and y < top + high and top < y + height


def test_a_field_is_typed_into_only_while_it_has_the_focus() -> None:
    device, world = phone()
    device.launch("org.notes")
    device.type("lost")
    tap(device, "add")
    device.type("lost, too")
    tap(device, "text")
    device.type("Buy ")
    device.type("soap")
    device.press("BACKSPACE")
    device.press("ENTER")
    assert world.notes[3:] == ["Buy soa"]
    assert "Buy soa" in views(device)


def test_back_closes_the_keyboard_then_the_screen_then_the_app() -> None:
    device, _ = phone()
    device.launch("org.notes")
    tap(device, "add")
    height = views(device)["text"].area[3]
    tap(device, "text")
    assert device.window.layout.area[3] < 1500, "the keyboard takes room"
    device.press("BACK")
    assert device.window.layout.area[3] > 2200
    assert views(device)["text"].area[3] == height
    device.press("BACK")
    assert "Note 1" in views(device)
    device.press("BACK")
    assert {"Notes", "Mail"} <= views(device).keys()


def test_a_form_that_was_sent_is_no_screen_to_go_back_to() -> None:
    device, _ = phone()
    device.launch("org.notes")
    tap(device, "add")
    tap(device, "text")
    device.type("Buy soap")
    tap(device, "Save")
    assert "Up" in views(device)
    device.press("BACK")
    assert "Buy soap" in views(device), "the list, with the new note"
    tap(device, "Buy soap")
    tap(device, "Up")
    device.press("BACK")
    assert "Mail" in views(device), "the way up is no new screen"


def test_each_app_keeps_its_screens_and_a_link_leads_to_another_app() -> None:
    device, world = phone()
    device.launch("org.notes")
    tap(device, "Note 1")
    tap(device, "Mail")
    assert (device.package, "Inbox" in views(device)) == ("org.mail", True)
    device.press("BACK")
    assert device.package == "org.notes"
    device.press("HOME")
    tap(device, "Mail")
    assert device.package == "org.mail"
    device = world.device()
    device.launch("org.notes")
    assert "Up" in views(device)
    device.terminate("org.notes")
    assert "Up" not in views(device)
    assert not device.launch("org.none")


def test_dialogs_and_lists_are_topmost() -> None:
    device, world = phone()
    device.launch("org.notes")
    tap(device, "Note 1")
    tap(device, "red")
    assert [view.text for view in views(device).values() if "selected" in view.flags] == ["red"]
    tap(device, "blue")
    assert world.color == "blue"
    tap(device, "Delete")
    assert views(device).keys() == {"Delete it?", "Cancel", "OK", "message", "button1", "button2"}
    device.tap(5, 2000)
    assert len(world.notes) == 3
    tap(device, "Delete")
    tap(device, "OK")
    assert world.notes == ["Note 0", "Note 2"]


FIELDS = (
    '<form><select multiple name="m"><option value="1">One</option><option selected>Two</option></select>'
    '<input type="range" name="r" min="0" max="10" value="5"><details><summary>More</summary>Text</details></form>'
)


def test_lists_sliders_and_details_are_used_by_taps() -> None:
    site = Site("https://a.example")

    @site.page("/")
    def fields(_world: Any) -> str:
        return FIELDS

    device = Device(new_store(), SimpleNamespace(), (App("A", "a.b", site),), SIZE)
    device.launch("a.b")
    tap(device, "Two")
    tap(device, "One")
    tap(device, "More")
    assert {"One, Two", "Text"} <= views(device).keys()
    x, y, width, _ = views(device)["5"].area
    device.tap(x + width - 1, y)
    assert "10" in views(device)


def test_a_finger_moves_the_page_up_to_its_end() -> None:
    device, _ = phone(rows=40)
    device.launch("org.notes")
    first = views(device)["Note 0"].area
    device.swipe(1800, 1500)
    assert views(device)["Note 3"].area[1] == first[1] + 3 * first[3] - 300
    for _ in range(9):
        device.swipe(1800, 600)
    assert views(device)["Note 39"].area[3] == first[3]
    assert "Note 0" not in views(device)
    tap(device, "Note 39")
    device.press("BACK")
    assert "Note 0" not in views(device), "back leads to the place that was left"


HOSTILE = '"><node text="x" /> \x07\ud800 \u202eevil & <b> ]]>'


def test_hostile_texts_stay_texts() -> None:
    device, world = phone()
    world.notes[1] = HOSTILE
    device.launch("org.notes")
    dump = parseString(android.uiautomator(device.views(), device.package))
    texts = [node.getAttribute("text") for node in dump.getElementsByTagName("node")]
    assert any("\u202eevil & <b> ]]>" in text for text in texts)
    assert len(android.elements(device.views()).splitlines()) == 6, "a line for each view"


@pytest.mark.parametrize("html", ["<div>" * 190, "<p>x</p>" * 10_000, "x" * 1_000_000, '<table><tr><td colspan="999">'])
def test_odd_pages_have_a_layout(html: str) -> None:
    form = Form(parse(f"<body>{html}</body>"), {})
    layout = Layout(form, (0, 0, *SIZE), Metrics(), 10**9)
    areas = [area for _, area in layout.boxes()]
    assert all(x >= 0 and y >= 0 and x + w <= 1080 and y + h <= 2400 for x, y, w, h in areas)


def test_a_picture_is_a_valid_png_of_the_asked_size() -> None:
    device, _ = phone()
    data, size = picture.png(device.views(), 1024)
    assert size == (461, 1024)
    assert (data[:8], data[12:16]) == (b"\x89PNG\r\n\x1a\n", b"IHDR")
    assert (int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")) == (461, 1024)
    start = data.index(b"IDAT") + 4
    pixels = zlib.decompress(data[start : data.index(b"IEND") - 8])
    assert len(pixels) == 1024 * 462


def test_controls_describe_themselves_by_their_labels() -> None:
    site = Site("https://alarm.example")

    @site.page("/")
    def home(_world: Any) -> str:
        return (
            '<input type="checkbox" role="switch" aria-label="Alarm" checked><button role="switch" aria-checked="true" '
            'aria-label="Snooze"></button><select aria-label="Tone"><option>Bell</option></select>'
        )

    device = Device(new_store(), None, [App("Alarms", "org.alarm", site)], SIZE)
    device.launch("org.alarm")
    lines = [line.partition(" at=")[0] for line in android.elements(device.views()).splitlines()[1:]]
    assert lines == [
        '@e1 Switch label="Alarm"',
        '@e2 Switch label="Snooze"',
        '@e3 Spinner label="Tone"',
        '@e4 TextView text="Bell"',
    ]
    dump = parseString(android.uiautomator(device.views(), device.package))
    switches = [node for node in dump.getElementsByTagName("node") if node.getAttribute("class").endswith("Switch")]
    assert [node.getAttribute("checked") for node in switches] == ["true", "true"]
