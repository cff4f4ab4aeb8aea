"""The apps of the simulated desktop: files, a text editor, mail and settings."""

import re
from html import escape
from urllib.parse import quote, urlencode

from mcp_sim.libraries.files import FileError, parent
from mcp_sim.libraries.screens import App, NotFound, Redirect, Site
from mcp_sim.programs.helpers import byte_size

files = Site("https://files.example")
editor = Site("https://editor.example")
mail = Site("https://mail.example")
settings = Site("https://settings.example")
APPS = (
    App("Files", "org.gnome.Nautilus", files), App("Text Editor", "org.gnome.TextEditor", editor),
    App("Mail", "org.gnome.Geary", mail), App("Settings", "gnome-control-center", settings),
)  # fmt: skip
HOME = "/home/user"
LONGEST = 100_000
"""Characters of a text that is saved or sent."""
MOST_ROWS = 50
"""Rows of a folder or of mails that are shown at once: each step shows all of them anew."""
TOGGLES = {"dark": "Dark style", "notifications": "Notifications", "wifi": "Wi-Fi"}
POWER_MODES = ("Balanced", "Power saver")


# parts of pages


def item(label, attributes, keys=""):
    """Return an item of a menu that leads to an address (`href`) or sends a form (`formaction`)."""
    shortcut = f' aria-keyshortcuts="{keys}"' if keys else ""
    tag = "a" if attributes.startswith("href") else "button"
    return f'<{tag} role="menuitem" style="display: block" {attributes}{shortcut}>{label}</{tag}>'


def menus(**items):
    """Return a bar of menus, and the form that their items send."""
    shown = "".join(
        f'<details role="menu" aria-label="{name}" style="display: inline-block"><summary>{name}</summary>'
        f'<div style="position: fixed; left: {at * 60}px; top: 30px">{"".join(rows)}</div></details>'
        for at, (name, rows) in enumerate(items.items())
    )
    return f'<form id="menus" method="post"></form><div role="menubar">{shown}</div>'


def dialog(title, body):
    style = "position: fixed; left: 180px; right: 180px; top: 120px"
    return f'<div role="dialog" aria-label="{title}" style="{style}"><p>{title}</p>{body}</div>'


def cancel(address):
    return f'<a role="button" href="{address}" aria-keyshortcuts="Escape">Cancel</a>'


def folder_address(folder, selected="", **more):
    values = {"folder": folder, **({"selected": selected} if selected else {}), **more}
    return escape(f"/?{urlencode(values)}")


def listing(world, folder, address, selected="", opens=None, menu=None):
    """Return the part of a folder with the selected row as a table. `address(folder, selected)` shows it."""
    rows, entries = [], world.files.list(folder)
    start = next((at for at, entry in enumerate(entries) if entry.path == selected), 0) // MOST_ROWS * MOST_ROWS
    for entry in entries[start : start + MOST_ROWS]:
        path = entry.path
        goal = address(path, "") if not entry.is_file else opens(path) if opens else ""
        double = f' data-open="{goal}"' if goal else ""
        right = f' data-menu="{menu(path)}"' if menu else ""
        chosen = ' aria-selected="true"' if path == selected else ""
        name = f'<a style="display: block" href="{address(folder, path)}">{escape(entry.name)}</a>'
        size = byte_size(entry.size) if entry.is_file else "Folder"
        rows.append(f"<tr{double}{right}><td{chosen}>{name}</td><td>{size}</td></tr>")
    others = {f"Previous {MOST_ROWS}": start - MOST_ROWS, f"Next {MOST_ROWS}": start + MOST_ROWS}
    links = turning(others, len(entries), lambda at: address(folder, entries[at].path))
    return f"{links}<table><tr><th>Name</th><th>Size</th></tr>{''.join(rows)}</table>"


def turning(others, count, address):
    """Return the links to other parts of a long list: name -> number of the first row."""
    links = "".join(
        f'<a role="button" href="{address(at)}">{name}</a> ' for name, at in others.items() if 0 <= at < count
    )
    return links and f"<p>{links}</p>"


# files


def entry_of(world, path):
    entry = world.files.find(path)
    if entry is None:
        raise NotFound(f"{path} does not exist.")
    return entry


def editor_address(path):
    return escape(f"{editor.origin}/?path={quote(path)}")


@files.page("/")
def folder_page(world, folder=HOME, selected="", rename="", menu="", error=""):
    if entry_of(world, folder).is_file:
        raise NotFound(f"{folder} is not a folder.")
    here, over, rows = folder_address(folder, selected), "", ()
    if selected:
        delete = f'form="menus" formaction="/delete?path={quote(selected)}"'
        rows = (
            item("Rename...", f'href="{folder_address(folder, selected, rename=1)}"', "F2"),
            item("Delete", delete, "Delete"),
        )
    if rename and selected:
        name = escape(entry_of(world, selected).name)
        field = f'<label>Name <input name="name" value="{name}" required autofocus></label>'
        body = f"{field}<p>{escape(error)}</p><p>{cancel(here)} <button>Rename</button></p>"
        over = dialog("Rename", f'<form action="/rename?path={quote(selected)}" method="post">{body}</form>')
    elif menu and rows:
        shown = "".join((*rows, item("Close Menu", f'href="{here}"', "Escape")))
        over = f'<div role="menu" style="position: fixed; left: 300px; top: 100px">{shown}</div>'
    table = listing(
        world, folder, folder_address, selected, editor_address, lambda path: folder_address(folder, path, menu=1)
    )
    above = (
        f'<a role="button" href="{folder_address(parent(folder))}" aria-keyshortcuts="Alt+ArrowUp">Parent folder</a>'
    )
    title = "Home" if folder == HOME else folder.rpartition("/")[2] or "Computer"
    bar = menus(Edit=() if over else rows)
    return f"<title>{escape(title)}</title><body>{bar}<p>{above} {escape(folder)}</p>{table}{over}</body>"


@files.post("/rename")
def rename_file(world, path, name=""):
    folder = parent(entry_of(world, path).path)
    goal = f"{folder.rstrip('/')}/{name.strip().replace('/', '-')[:255]}"
    try:
        world.files.move(path, goal)
    except FileError as error:  # the dialog stays open, and shows it
        query = urlencode({"folder": folder, "selected": path, "rename": 1, "error": error.what})
        raise Redirect(f"/?{query}") from None
    raise Redirect(f"/?{urlencode({'folder': folder, 'selected': goal})}")


@files.post("/delete")
def delete_file(world, path):
    folder = parent(entry_of(world, path).path)
    if path != "/":
        world.files.remove(path, recursive=True)
    raise Redirect(f"/?{urlencode({'folder': folder})}")


# text editor


@editor.page("/")
def document(world, path="", text="", error=""):
    entry = world.files.find(path) if path and not error else None
    if entry is not None and entry.is_file:
        text = entry.text
    rows = (item("New", 'href="/"', "Control+N"), item("Save", 'form="document" formaction="/save"', "Control+S"))
    problem = f'<p role="status">{escape(error)}</p>' if error else ""
    locked = " readonly" if len(text) > LONGEST else ""
    return (
        f"<title>{escape(path.rpartition('/')[2] or 'Untitled')} - Text Editor</title><body>{menus(File=rows)}"
        f'<form id="document" method="post" action="/save"><label>File <input name="path" value="{escape(path)}" '
        f'placeholder="{HOME}/" required></label>{problem}<textarea name="text" rows="24" style="display: block" '
        f"autofocus{locked}>\n{escape(text)}</textarea></form></body>"
    )


@editor.post("/save")
def save(world, path="", text=""):
    path = path if path.startswith("/") else f"{HOME}/{path}"
    try:
        if len(text) > LONGEST:
            raise Redirect(f"/?path={quote(path)}")
        world.files.write(path, text.replace("\r\n", "\n"))
    except FileError as error:  # what was typed stays
        return document(world, path, text, error.what)
    raise Redirect(f"/?path={quote(path)}")


# mail


def attachments(names):
    return "".join(f"<li>{escape(name)}</li>" for name in names)


@mail.page("/")
def mails(world, folder="Inbox", start=""):
    bar = menus(Message=[item("New Message", 'href="/write"', "Control+N")])
    tabs = "".join(
        f'<a role="tab" href="/?folder={name}"{" aria-selected=true" * (name == folder)}>{name}</a> '
        for name in ("Inbox", "Sent")
    )
    newest = [*reversed(world.mail.find(folder=folder))]
    at = int(start) if re.fullmatch("[0-9]{1,9}", start) else 0
    rows = "".join(
        f'<tr><td><a style="display: block" href="/mails/{row["id"]}">{escape(subject_of(row))}</a></td>'
        f"<td>{escape(row['sender'] if folder == 'Inbox' else row['to'])}</td></tr>"
        for row in newest[at : at + MOST_ROWS]
    )
    others = {f"Newer {MOST_ROWS}": at - MOST_ROWS, f"Older {MOST_ROWS}": at + MOST_ROWS}
    links = turning(others, len(newest), lambda other: f"/?folder={quote(folder)}&amp;start={other}")
    new = '<p><a role="button" href="/write">New Message</a></p>'
    table = f"<table><tr><th>Subject</th><th>{'From' if folder == 'Inbox' else 'To'}</th></tr>{rows}</table>"
    return (
        f'<title>{escape(folder)} - Mail</title><body>{bar}<div role="tablist">{tabs}</div>{new}{links}{table}</body>'
    )


def subject_of(row):
    return row["subject"] or "(no subject)"


@mail.page("/mails/<id>")
def message(world, id):
    row = world.mail.get(id)
    if row is None:
        raise NotFound("The message does not exist.")
    rows = [item("Close", f'href="/?folder={row["folder"]}"', "Escape")]
    if row["folder"] == "Sent":
        rows.append(item("Send Again", f'form="menus" formaction="/again/{id}"', "Control+Enter"))
    lines = "".join(f"<p>{escape(line)}</p>" for line in row["body"].split("\n"))
    to = "Sent to" if row["folder"] == "Sent" else "To"
    return (
        f"<title>{escape(subject_of(row))} - Mail</title><body>{menus(Message=rows)}"
        f"<p>From {escape(row['sender'])}</p><p>{to} {escape(row['to'])}</p>"
        f"{lines}<ul>{attachments(row['attachments'])}</ul></body>"
    )


@mail.page("/write")
def write(world, folder="", selected=""):
    draft = world.draft
    rows = (
        item(
            "Save Draft", 'form="draft" formaction="/keep" formnovalidate', "Control+S"
        ),  # also the key Enter in a field
        item("Send", 'form="draft" formaction="/send"', "Control+Enter"),
        item("Attach File...", 'form="draft" formaction="/attach" formnovalidate', "Control+Shift+A"),
        item("Discard", 'form="draft" formaction="/discard" formnovalidate'),
    )
    fields = "".join(
        f'<p><label>{label} <input name="{name}" value="{escape(draft[name])}"{more}></label></p>'
        for name, label, more in (("to", "To", ' type="email" required autofocus'), ("subject", "Subject", ""))
    )
    over = ""
    if folder:
        table = listing(
            world, folder, lambda path, row: folder_address(path, row).replace("/?", "/write?", 1), selected
        )
        button = f'<button name="path" value="{escape(selected)}"{"" if selected else " disabled"}>Open</button>'
        form = f'<form action="/attached" method="post">{cancel("/write")} {button}</form>'
        over = dialog("Attach File", f"<p>{escape(folder)}</p>{table}{form}")
    return (
        f"<title>New Message - Mail</title><body>{menus(Message=() if folder else rows)}"
        f'<form id="draft" method="post" action="/send">{fields}<textarea name="body" rows="12" '
        f'style="display: block">\n{escape(draft["body"])}</textarea>'
        f'<ul>{attachments(draft["attachments"])}</ul><button formaction="/send">Send</button> '
        f'<button formaction="/attach" formnovalidate>Attach File</button></form>{over}</body>'
    )


def keep(world, to, subject, body):
    draft = world.draft
    draft["to"], draft["subject"], draft["body"] = to.strip()[:320], subject[:998], body.replace("\r\n", "\n")[:LONGEST]


def clear(world):
    keep(world, "", "", "")
    world.draft["attachments"] = []


@mail.post("/keep")
def save_draft(world, to="", subject="", body=""):
    keep(world, to, subject, body)
    raise Redirect("/write")


@mail.post("/attach")
def attach(world, to="", subject="", body=""):
    keep(world, to, subject, body)
    raise Redirect(f"/write?folder={HOME}")


@mail.post("/attached")
def attached(world, path=""):
    entry = entry_of(world, path)
    if entry.is_file and len(world.draft["attachments"]) < 100:
        world.draft["attachments"] = [*world.draft["attachments"], entry.name]
    raise Redirect("/write" if entry.is_file else f"/write?folder={quote(path)}")


@mail.post("/discard")
def discard(world):
    clear(world)
    raise Redirect("/")


@mail.post("/send")
def send(world, to="", subject="", body=""):
    keep(world, to, subject, body)
    draft = world.draft
    if not draft["to"]:
        raise Redirect("/write")
    values = {name: draft[name] for name in ("to", "subject", "body", "attachments")}
    sent = world.mail.add(folder="Sent", sender=world.setting["address"], at=world.now.isoformat(), **values)
    clear(world)
    raise Redirect(f"/mails/{sent['id']}")


@mail.post("/again/<id>")
def send_again(world, id):
    row = world.mail.get(id)
    if row is None or row["folder"] != "Sent":
        raise NotFound("The message does not exist.")
    values = {name: row[name] for name in ("folder", "sender", "to", "subject", "body", "attachments")}
    raise Redirect(f"/mails/{world.mail.add(at=world.now.isoformat(), **values)['id']}")


# settings


@settings.page("/")
def preferences(world):
    boxes = "".join(
        f'<form action="/set/{name}" method="post"><label style="display: block">{label} <input type="checkbox" '
        f'role="switch" name="on" onchange="this.form.submit()"{" checked" * world.setting[name]}></label></form>'
        for name, label in TOGGLES.items()
    )
    options = "".join(
        f"<option{' selected' * (mode == world.setting['power'])}>{mode}</option>" for mode in POWER_MODES
    )
    return (
        f'<title>Settings</title><body>{boxes}<form action="/power" method="post"><label>Power mode '
        f'<select name="mode" onchange="this.form.submit()">{options}</select></label></form></body>'
    )


@settings.post("/set/<name>")
def set_toggle(world, name, on=""):
    if name in TOGGLES:
        world.setting[name] = bool(on)
    raise Redirect("/")


@settings.post("/power")
def set_power(world, mode=""):
    if mode in POWER_MODES:
        world.setting["power"] = mode
    raise Redirect("/")
