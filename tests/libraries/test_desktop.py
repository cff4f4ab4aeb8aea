"""A desktop: which window takes a click, menus, keys, dialogs, and the trees that OSWorld prints."""

from __future__ import annotations

import zlib
from html import escape
from types import SimpleNamespace
from typing import Any
from xml.dom.minidom import parseString

from support.library_stores import new_store

from mcp_sim.libraries.screens import App, Desktop, Redirect, Site, atspi, notice_record, picture
from mcp_sim.libraries.screens.front import NOTICE

SIZE = (1280, 800)


def desktop(text: str = "hello") -> tuple[Any, Any]:
    """Return a function that opens a desktop with an app of notes and one of mail, and its world."""
    notes, mail, world = Site("https://notes.example"), Site("https://mail.example"), SimpleNamespace()
    world.notes, world.color = [text], "red"

    @notes.page("/")
    def home(world: Any) -> str:
        rows = "".join(
            f'<tr data-open="https://mail.example/{at}" data-menu="/menu"><td>{escape(note)}</td></tr>'
            for at, note in enumerate(world.notes)
        )
        options = "".join(f"<option{' selected' * (c == world.color)}>{c}</option>" for c in ("red", "blue"))
        return (
            '<title>Notes</title><body><div role="menubar"><details role="menu" aria-label="File">'
            '<summary>File</summary><div style="position: fixed; left: 0; top: 30px">'
            '<button role="menuitem" form="note" formaction="/save" aria-keyshortcuts="Control+S">Save</button></div>'
            '</details></div><form id="note" method="post" action="/save"><input name="text" autofocus value="old">'
            '</form><form method="post" action="/color" '
            f'onsubmit="return confirm(\'Sure?\')"><select name="c">{options}</select><button>Paint</button></form>'
            f"<table>{rows}</table></body>"
        )

    @notes.post("/save")
    def save(world: Any, text: str = "") -> str:
        world.notes.append(text)
        raise Redirect("/")

    @notes.post("/color")
    def paint(world: Any, c: str) -> str:
        world.color = c
        raise Redirect("/")

    @notes.page("/menu")
    def menu(_world: Any) -> str:
        return '<body><div role="menu"><a role="menuitem" href="/">Back</a></div></body>'

    @mail.page("/<at>")
    def message(world: Any, at: str) -> str:
        return f"<title>Mail {at}</title><body><p>{escape(world.notes[int(at)])}</p></body>"

    @mail.page("/")
    def inbox(_world: Any) -> str:
        return "<title>Inbox</title><body><input name='q'></body>"

    world.store = new_store()
    apps = (App("Notes", "org.notes", notes), App("Mail", "org.mail", mail))
    return lambda: Desktop(world.store, world, apps, SIZE), world


def rows(screen: Desktop) -> list[list[str]]:
    return [line.split("\t") for line in atspi.table(screen.tree()).splitlines()[1:]]


def at(screen: Desktop, *names: str) -> tuple[int, int]:
    """Return a place of the last object with these values."""
    row = next(row for row in reversed(rows(screen)) if {*names} <= {*row})
    x, y = row[5].strip("()").split(", ")
    return int(x) + 1, int(y) + 1


def click(screen: Desktop, *names: str) -> None:
    screen.move(*at(screen, *names))
    screen.click()


def test_the_topmost_window_takes_a_click_and_comes_to_the_front() -> None:
    opened, _ = desktop()
    screen = opened()
    click(screen, "Notes")  # in the panel
    screen.launch("Mail")
    assert [frame.title for frame in opened().windows] == ["Notes", "Inbox"]
    notes = screen.windows[0].area
    screen.move(notes[0] + 5, notes[1] + 5)  # what Mail does not cover
    screen.click()
    assert opened().active.title == "Notes"
    screen.close(screen.active)
    assert [frame.title for frame in opened().windows] == ["Inbox"]


def test_menus_open_above_the_page_and_a_click_elsewhere_only_closes_them() -> None:
    opened, world = desktop()
    screen = opened()
    screen.launch("Notes")
    click(screen, "menu", "File")
    at(screen, "menu-item", "Save")  # it is on the screen
    click(screen, "push-button", "Paint")
    assert screen.active.dialog is None
    assert not [row for row in rows(screen) if row[0] == "menu-item"]
    click(screen, "menu", "File")
    click(screen, "menu-item", "Save")
    assert world.notes == ["hello", "old"]


def test_keys_select_copy_paste_and_save() -> None:
    opened, world = desktop()
    screen = opened()
    screen.launch("Notes")
    for key in ("Control+C", "a", "Control+A", "Control+X", "Control+V", "Control+V", "Control+S"):
        screen.press(key)
    assert world.notes[-1] == "aa"
    screen.launch("Mail")
    screen.press("Alt+Tab")
    assert opened().active.title == "Notes"
    screen.press("Alt+F4")
    assert opened().active.title == "Inbox"


def test_a_dialog_takes_all_clicks_until_it_is_answered() -> None:
    opened, world = desktop()
    screen = opened()
    screen.launch("Notes")
    click(screen, "combo-box", "red")
    click(screen, "menu-item", "blue")
    click(screen, "push-button", "Paint")
    click(screen, "menu", "File")
    screen.type("nothing")
    assert (world.color, screen.active.dialog) == ("red", "Sure?")
    click(screen, "push-button", "OK")
    assert world.color == "blue"


def test_a_double_click_opens_a_row_in_the_window_of_its_app_and_a_right_click_its_menu() -> None:
    opened, _ = desktop()
    screen = opened()
    screen.launch("Notes")
    screen.move(*at(screen, "table-cell", "hello"))
    screen.double_click()
    assert [frame.title for frame in opened().windows] == ["Notes", "Mail 0"]
    screen.launch("Notes")
    screen.move(*at(screen, "table-cell", "hello"))
    screen.right_click()
    assert "menu-item" in {row[0] for row in rows(opened())}


def test_a_notice_is_in_front_of_all_windows() -> None:
    opened, world = desktop()
    screen = opened()
    screen.launch("Notes")
    world.store.put(NOTICE, "notice-1", notice_record(1, "battery", "Battery low", "15%", ["OK"]))
    screen = opened()
    screen.press("Control+S")
    click(screen, "menu", "File")
    click(screen, "push-button", "OK")
    assert world.notes == ["hello"]
    assert world.store.get(NOTICE, "notice-1")["answer"] == "OK"
    assert opened().active.title == "Notes"


def test_a_bar_moves_its_window_and_never_off_the_screen() -> None:
    opened, _ = desktop()
    screen = opened()
    frame = screen.launch("Notes")
    assert frame is not None
    x, y = frame.area[:2]
    screen.move(x + 100, y + 5)
    screen.drag(x + 150, y + 25)
    assert opened().active.area[:2] == (x + 50, y + 20)
    screen.drag(0, 0)
    screen.drag(SIZE[0] - 1, SIZE[1] - 1)
    assert 0 <= opened().active.area[0] < SIZE[0]
    data, size = picture.png(opened().tree(), 1280)
    assert (size, data[:4]) == (SIZE, b"\x89PNG")
    assert zlib.decompress(data[41:-16])


def test_texts_of_records_are_escaped_and_closed_menus_are_known() -> None:
    opened, _ = desktop('<b>"x" & \x01\u202e')
    screen = opened()
    screen.launch("Notes")
    document: Any = parseString(atspi.xml(screen.tree()))
    assert "&lt;b&gt;" in document.toxml()
    item = next(node for node in document.getElementsByTagName("menu-item"))
    assert item.getAttribute("name") == "Save"
    assert not item.hasAttribute("st:showing")
    assert not item.hasAttribute("cp:size")
    frame = document.getElementsByTagName("frame")[0]
    assert frame.getAttribute("st:active") == "true"
    assert document.getElementsByTagName("text")[0].getAttribute("st:focused") == "true"
