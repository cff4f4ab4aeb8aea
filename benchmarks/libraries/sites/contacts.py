"""A contacts administration: search and filter, long forms, bulk actions, notes."""

from html import escape

from mcp_sim.libraries.screens import NotFound, Redirect, Site

site = Site("https://people.example")
tables = {
    "contact": {
        "ids": "1",
        "fields": {
            "name": "", "mail": "", "phone": "", "kind": "", "group": "", "tags": [], "born": "", "site": "", "notes": "",
            "stars": 0, "mails": False, "file": "",
        },
    },
}  # fmt: skip
GROUPS = {"Work": ["Sales", "Engineering"], "Private": ["Family", "Friends"]}
TAGS = ("vip", "press", "former")


def fill(world, _given):
    for name, group, tags, stars in (
        ("Ada Vos", "Sales", ["vip"], 3), ("Ben <b>Ode</b>", "Family", [], 0), ("Cleo & Sons", "Friends", ["press"], 5),
    ):  # fmt: skip
        world.contact.add(name=name, group=group, tags=tags, stars=stars, kind="person", mail="x@mail.example")


def page(title, body, note=""):
    alert = f'<div role="status" aria-live="polite">{escape(note)}</div>' if note else ""
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(title)}</title></head><body>"
        '<a href="#content">Skip to content</a><header><nav aria-label="Main"><ol><li><a href="/" aria-current="page">'
        'People</a></li><li><a href="/new">New</a></li><li><a href="/help">Help</a></li></ol></nav></header>'
        f'<main id="content"><h1>{escape(title)}</h1>{alert}{body}</main><footer><small>© 2029</small></footer></body></html>'
    )


@site.page("/")
def people(world, q="", group="", note=""):
    rows = [row for row in world.contact if q.lower() in row["name"].lower() and group in ("", row["group"])]
    choices = "".join(
        f'<optgroup label="{label}">'
        + "".join(f"<option{' selected' if name == group else ''}>{name}</option>" for name in names)
        + "</optgroup>"
        for label, names in GROUPS.items()
    )
    body = "".join(
        f'<tr><td><input type="checkbox" name="id" value="{row["id"]}" form="bulk" aria-label="Select {escape(row["name"])}">'
        f'</td><th scope="row"><a href="/people/{row["id"]}">{escape(row["name"])}</a></th><td>{row["group"]}</td>'
        f"<td>{', '.join(row['tags']) or '–'}</td></tr>"
        for row in rows
    )
    return page(
        "People",
        '<form role="search"><label for="q">Find</label> <input id="q" name="q" type="search" placeholder="Name" '
        f'value="{escape(q)}"> <label>Group <select name="group" onchange="this.form.submit()"><option value="">All</option>'
        f"{choices}</select></label> <button>Find</button></form>"
        f"<table><caption>{len(rows)} people</caption><thead><tr><th></th><th>Name</th><th>Group</th><th>Tags</th></tr></thead>"
        f"<tbody>{body}</tbody></table>"
        '<form id="bulk" method="post" action="/delete" onsubmit="return confirm(\'Delete them?\')"><button>Delete</button>'
        '<button formaction="/tag" name="tag" value="vip" formnovalidate>Mark as VIP</button></form>',
        note,
    )


@site.post("/delete")
def delete(world, id=()):
    for key in id:
        world.contact.delete(key)
    raise Redirect(f"/?note={len(id)} deleted")


@site.post("/tag")
def mark(world, id=(), tag=""):
    for key in id:
        row = world.contact.get(key)
        row["tags"] = sorted({*row["tags"], tag})
    raise Redirect("/?note=Tagged")


def form(row, errors, action):
    def invalid(name):
        return f' aria-invalid="true" aria-describedby="{name}-error"' if name in errors else ""

    def error(name):
        return f'<span id="{name}-error" role="alert">{errors[name]}</span>' if name in errors else ""

    groups = "".join(
        f'<optgroup label="{label}">'
        + "".join(f"<option{' selected' if name == row['group'] else ''}>{name}</option>" for name in names)
        + "</optgroup>"
        for label, names in GROUPS.items()
    )
    kinds = "".join(
        f'<label><input type="radio" name="kind" value="{kind}"{" checked" if kind == row["kind"] else ""}> '
        f"{kind.capitalize()}</label> "
        for kind in ("person", "company")
    )
    tags = "".join(f"<option{' selected' if tag in row['tags'] else ''}>{tag}</option>" for tag in TAGS)
    return (
        f'<form action="{action}" method="post"><fieldset><legend>Person</legend><p><label for="name">Name *</label> '
        f'<input id="name" name="name" value="{escape(row["name"])}" required{invalid("name")}>{error("name")}</p>'
        f"<div>{kinds}</div>"
        f'<p><label>Born <input type="date" name="born" value="{row["born"]}" max="2029-01-01"></label></p></fieldset>'
        f'<fieldset><legend>Reach</legend><p><label>E-mail <input type="email" name="mail" value="{escape(row["mail"])}">'
        f'</label></p><p><label>Phone <input type="tel" name="phone" pattern="[0-9 +]+" title="Digits" '
        f'value="{escape(row["phone"])}"></label></p><p><label>Site <input type="url" name="site" value="{row["site"]}">'
        "</label></p></fieldset>"
        f'<p><label>Group <select name="group">{groups}</select></label></p>'
        f'<p><label for="tags">Tags</label><select id="tags" name="tags" multiple size="3">{tags}</select></p>'
        f'<p><label>Stars <input type="range" name="stars" min="0" max="5" value="{row["stars"]}"></label></p>'
        f'<p><label><input type="checkbox" name="mails" value="yes"{" checked" if row["mails"] else ""}> Send news</label></p>'
        f'<p><label>Notes<br><textarea name="notes" rows="3">\n{escape(row["notes"])}</textarea></label></p>'
        '<p><label>Card <input type="file" name="file"></label></p>'
        '<p><input readonly value="fixed" aria-label="Source"> <input disabled aria-label="Locked"></p>'
        '<button type="submit">Save</button> <button type="reset">Reset</button> <a href="/" role="button">Cancel</a></form>'
    )


EMPTY = {
    "name": "", "mail": "", "phone": "", "kind": "person", "group": "Sales", "tags": [], "born": "", "site": "",
    "notes": "", "stars": 0, "mails": False,
}  # fmt: skip


@site.page("/new")
def new(_world):
    return page("New person", form(EMPTY, {}, "/people"))


def values(name, mail, phone, kind, group, tags, born, site, notes, stars, mails, file):
    return {
        "name": name.strip(), "mail": mail, "phone": phone, "kind": kind, "group": group, "tags": [*tags], "born": born,
        "site": site, "notes": notes.replace("\r\n", "\n"), "stars": int(stars), "mails": mails == "yes", "file": file,
    }  # fmt: skip


@site.post("/people")
def create(
    world,
    name="",
    mail="",
    phone="",
    kind="",
    group="",
    tags=(),
    born="",
    site="",
    notes="",
    stars="0",
    mails="",
    file="",
):
    row = values(name, mail, phone, kind, group, tags, born, site, notes, stars, mails, file)
    if not row["name"]:
        return page("New person", form(row, {"name": "Enter a name."}, "/people"))
    made = world.contact.add(row)
    raise Redirect(f"/people/{made['id']}")


def person_of(world, id):
    row = world.contact.get(id)
    if row is None:
        raise NotFound(f"Nobody has the number {id}.")
    return row


@site.page("/people/<id>")
def person(world, id):
    row = person_of(world, id)
    facts = "".join(
        f"<dt>{label}</dt><dd>{escape(str(value)) if value else '<em>unknown</em>'}</dd>"
        for label, value in (
            ("E-mail", row["mail"]),
            ("Phone", row["phone"]),
            ("Born", row["born"]),
            ("Group", row["group"]),
            ("Tags", ", ".join(row["tags"])),
            ("Card", row["file"]),
            ("News", "yes" if row["mails"] else "no"),
        )  # fmt: skip
    )
    return page(
        row["name"],
        f'<p><span aria-hidden="true">★</span> <meter min="0" max="5" value="{row["stars"]}" aria-label="Stars">{row["stars"]}'
        f"</meter></p><dl>{facts}</dl><details><summary>Notes</summary><pre>{escape(row['notes'])}</pre></details>"
        f'<ul><li><a href="/people/{id}/edit">Edit</a></li><li>More<ul><li><a href="mailto:{row["mail"]}">Write</a></li>'
        f'<li><a href="/">Back</a></li></ul></li></ul>'
        f'<form method="post" action="/delete" onsubmit="return confirm(\'Delete {escape(row["name"], quote=False)}?\')">'
        f'<input type="hidden" name="id" value="{id}"><button>Delete</button></form>',
    )


@site.page("/people/<id>/edit")
def edit(world, id):
    row = person_of(world, id)
    return page(f"Edit {row['name']}", form(row, {}, f"/people/{id}"))


@site.post("/people/<id>")
def update(
    world, id, name="", mail="", phone="", kind="", group="", tags=(), born="", site="", notes="", stars="0", mails="",
    file="",
):  # fmt: skip
    row = person_of(world, id)
    for key, value in values(name, mail, phone, kind, group, tags, born, site, notes, stars, mails, file).items():
        row[key] = value
    raise Redirect(f"/people/{id}")


@site.page("/help")
def help_page(_world):
    return page(
        "Help",
        "<section aria-labelledby=faq><h2 id=faq>Questions</h2><details open><summary>How do I <em>find</em> someone?</summary>"
        "<p>Use the <kbd>Find</kbd> field.</p></details><details><summary>May I <a href='/new'>add</a> someone?</summary>"
        "<p>Yes.</p></details></section><section><h2>Terms</h2><p>First line<br>second line</p><ol start=3><li>Three</li>"
        "<li>Four <ol><li>Deep</li></ol></li></ol></section><img src=/logo.png alt='Logo of people'>",
    )
