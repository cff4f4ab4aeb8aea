"""A Linux desktop in the tool of computer-use-mcp, with the tree of OSWorld and the windows beside it."""

import base64
import re

from desktop_apps import APPS, HOME

from mcp_sim.libraries.screens import atspi, picture
from mcp_sim.programs import Refused, Result, initial, invalid_arguments, records, tool, unknown_tool
from mcp_sim.programs.helpers import argument_failure, indented, shown, unknown_tool_failure

tables = {
    "mail": {
        "ids": "1",
        "fields": {
            "folder": "", "sender": "", "to": "", "subject": "", "body": "",
            "attachments": {"type": "array", "items": {"type": "string"}, "default": []}, "at": "",
        },
    },
    "draft": {
        "singleton": True,
        "fields": {
            "to": "", "subject": "", "body": "",
            "attachments": {"type": "array", "items": {"type": "string"}, "default": []},
        },
    },
    "setting": {
        "singleton": True,
        "fields": {
            "dark": False, "notifications": True, "wifi": True, "power": "Balanced",
            "address": "user@mail.example",
        },
    },
}  # fmt: skip
WIDTH, HEIGHT = 1280, 800
SCROLL = 300
"""Pixels, if a call does not say how many."""
FILES = {
    f"{HOME}/Documents/minutes.txt": "Present: Ada, Bo.\nThe depot moves in May.\n",
    f"{HOME}/Documents/report.txt": "Sales of February\n\n41 bells, 12 saddles.\n",
    f"{HOME}/Pictures/readme.txt": "Photos of the depot.\n",
}
MAILS = (
    {"id": "1", "folder": "Inbox", "sender": "ada@depot.example", "to": "user@mail.example", "subject": "Report",
     "body": "Please send me the report of February.", "at": "2029-02-28T16:20:00Z"},
)  # fmt: skip
MODIFIERS = {
    "ctrl": "Control", "control": "Control", "shift": "Shift", "alt": "Alt", "super": "Meta", "win": "Meta",
    "meta": "Meta", "cmd": "Meta", "command": "Meta",
}  # fmt: skip
KEYS = {
    "home": "Home", "left": "ArrowLeft", "up": "ArrowUp", "right": "ArrowRight", "down": "ArrowDown", "end": "End",
    "page_up": "PageUp", "pageup": "PageUp", "prior": "PageUp", "page_down": "PageDown", "pagedown": "PageDown",
    "next": "PageDown", "return": "Enter", "enter": "Enter", "tab": "Tab", "space": " ", "backspace": "Backspace",
    "delete": "Delete", "del": "Delete", "escape": "Escape", "esc": "Escape", "insert": "Insert", "ins": "Insert",
    "minus": "-", "equal": "=", "comma": ",", "period": ".", "slash": "/", "semicolon": ";", "quote": "'",
    **{f"f{number}": f"F{number}" for number in range(1, 13)},
}  # fmt: skip


def desktop(world):
    return world.screens.desktop(world, APPS, (WIDTH, HEIGHT))


def keys_of(text):
    """Return keys as xdotool names them (`ctrl+s`) as one text such as `Control+S`. Modifiers come first."""
    pressed, key = [], ""
    for name in (part.strip().lower() for part in text.split("+")):
        modifier = MODIFIERS.get(re.sub(r"^[lr]_|_[lr]$", "", name))
        if modifier:
            pressed.append(modifier)
        elif name in KEYS or (len(name) == 1 and name.isalnum()):
            key = KEYS.get(name, name)
        else:
            raise Refused(f"Invalid key: {name}")
    order = [modifier for modifier in ("Control", "Alt", "Shift", "Meta") if modifier in pressed]
    if order == ["Shift"] and len(key) == 1:
        return key.upper()
    return "+".join([*order, *([key.upper() if order and len(key) == 1 else key] if key else [])])


@tool(verb="update", entity="tab")
def computer(world, action, coordinate=None, text=""):
    screen, place = desktop(world), place_of(coordinate)
    if action in ("key", "type") and not text:
        raise Refused(f"Text required for {action}")
    if action in ("mouse_move", "left_click_drag", "scroll") and place is None:
        raise Refused(f"Coordinate required for {action}")
    if action == "get_cursor_position":
        return shown(dict(zip("xy", screen.cursor, strict=True)))
    if action == "get_screenshot":
        return screenshot(screen)
    if action == "left_click_drag":
        screen.drag(*place)
    elif place is not None:
        screen.move(*place)
    act = {
        "key": lambda: screen.press(keys_of(text)), "type": lambda: screen.type(text), "left_click": screen.click,
        "double_click": screen.double_click, "right_click": screen.right_click,
        "scroll": lambda: screen.scroll(scrolled(text)),
    }.get(action)  # fmt: skip
    if act is not None:
        act()
    return shown({"ok": True})


def place_of(coordinate):
    """Return the place of a coordinate. Raises `Refused` for one that is not on the screen."""
    if coordinate is None:
        return None
    x, y = map(round, coordinate)
    if not (0 <= x < WIDTH and 0 <= y < HEIGHT):
        raise Refused(f"Coordinates ({x}, {y}) are outside display bounds of {WIDTH}x{HEIGHT}")
    return x, y


def scrolled(text):
    """Return how far down a text such as `down:500` scrolls."""
    if not text:
        raise Refused('Text required for scroll (direction like "up", "down:5")')
    direction, _, amount = text.partition(":")
    if amount and not (amount.isdecimal() and int(amount[:6]) > 0):
        raise Refused(f"Invalid scroll amount: {amount}")
    if direction.lower() not in ("up", "down", "left", "right"):
        raise Refused(f'Invalid scroll direction: {direction}. Use "up", "down", "left", or "right"')
    return {"up": -1, "down": 1}.get(direction.lower(), 0) * int(amount[:6] or SCROLL)


def screenshot(screen):
    data, (width, height) = picture.png(screen.tree(), max(WIDTH, HEIGHT))
    image = {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}
    size = f'{{"image_width":{width},"image_height":{height}}}'
    return Result(blocks=[{"type": "text", "text": size}, image])


@tool(verb="get", entity="tab")
def get_accessibility_tree(world, format="table"):
    tree = desktop(world).tree()
    return atspi.xml(tree) if format == "xml" else atspi.table(tree)


@tool(verb="get", entity="tab")
def get_screen_size(_world):
    return shown({"width": WIDTH, "height": HEIGHT})


@tool(verb="list", entity="tab")
def list_windows(world):
    screen = desktop(world)
    return shown({"windows": [window(screen, frame) for frame in screen.windows]})


def window(screen, frame):
    return {
        "app": frame.record["id"], "title": frame.title, "area": list(frame.area), "active": frame is screen.active,
    }  # fmt: skip


@tool(verb="update", entity="tab")
def launch_app(world, name):
    screen = desktop(world)
    frame = screen.launch(name)
    if frame is None:
        raise Refused(f"No app {name!r}. Installed: {', '.join(screen.apps)}")
    return shown(window(screen, frame))


def window_of(screen, app):
    frame = next((frame for frame in screen.windows if frame.record["id"] == app), None)
    if frame is None:
        raise Refused(f"No window of {app!r}. Open: {indented([frame.record['id'] for frame in screen.windows])}")
    return frame


@tool(verb="update", entity="tab")
def focus_window(world, app):
    screen = desktop(world)
    window_of(screen, app)
    return shown(window(screen, screen.launch(app)))


@tool(verb="delete", entity="tab")
def close_window(world, app):
    screen = desktop(world)
    screen.close(window_of(screen, app))
    return shown({"ok": True})


@invalid_arguments
def refuse_arguments(world, tool, arguments, problems):
    """Refuse wrong arguments as the SDK of the server does."""
    raise argument_failure("typescript", world, tool, arguments, problems)


@unknown_tool
def refuse_tool(_world, tool, _arguments):
    """Refuse a tool that the server does not have."""
    raise unknown_tool_failure("typescript", tool)


@initial
def begin(given, world):
    """Fill the desktop with the `files`, `mails` and `settings` of `world.state`, else with those of a small depot."""
    given = given or {}
    if not world.files.load(given, HOME):
        world.files.load({"files": FILES})
    world.files.make(HOME)
    for row in records(given, "mails") or MAILS:
        world.mail.add({"attachments": [], **row})
    for name, value in given.get("settings", {}).items():
        world.setting[name] = value
