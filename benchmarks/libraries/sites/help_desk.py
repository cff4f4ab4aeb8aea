"""A help desk: tickets with sort, paging and filters, comments, states, attachments."""

from html import escape

from mcp_sim.libraries.screens import NotFound, Redirect, Site

site = Site("https://desk.example")
tables = {
    "ticket": {
        "ids": "T-101",
        "fields": {"title": "", "state": "open", "level": 1, "owner": "", "text": "", "files": [], "watched": False},
    },
    "comment": {"ids": "1", "links": {"ticket": "ticket"}, "fields": {"ticket": "", "author": "", "text": ""}},
}
STATES = ("open", "waiting", "solved")
COLUMNS = {"id": "Number", "title": "Title", "level": "Level"}
OWNERS = ("", "Ida", "Jo")


def fill(world, _given):
    titles = ("Printer jams", "VPN drops at noon", "No sound", "Screen flickers", "Key lost", "Slow login", "Disk full")
    for at, title in enumerate(titles):
        world.ticket.add(title=title, level=1 + at % 3, state=STATES[at % 3], text=f"Since Monday: {title.lower()}.")


def page(world, title, body):
    count = len(world.ticket.find(state="open"))
    return (
        f"<title>{escape(title)} | Desk</title><body><header><h2>Desk</h2><nav><a href='/tickets'>Tickets</a> · "
        f"<a href='/tickets?state=open'>Open <b>{count}</b></a> · <a href='/report'>Report</a></nav></header>"
        f"<main><h1>{escape(title)}</h1>{body}</main>"
        "<aside aria-label='Hints'><p>Press <kbd>?</kbd> for <abbr title='Keyboard shortcuts'>keys</abbr>.</p></aside></body>"
    )


@site.page("/")
def home(_world):
    raise Redirect("/tickets")


@site.page("/tickets")
def tickets(world, sort="id", order="up", state="", page_number="1", level=()):
    rows = [row for row in world.ticket if state in ("", row["state"]) and (not level or str(row["level"]) in level)]
    rows.sort(key=lambda row: row[sort if sort in COLUMNS else "id"], reverse=order == "down")
    at = max(1, int(page_number) if page_number.isdigit() else 1)
    pages = max(1, -(-len(rows) // 3))
    heads = "".join(
        f'<th aria-sort="{"ascending" if order == "up" else "descending"}"><a href="/tickets?sort={name}&order='
        f'{"down" if order == "up" else "up"}">{label} <span aria-hidden="true">{"▲" if order == "up" else "▼"}</span></a></th>'
        if name == sort
        else f'<th><a href="/tickets?sort={name}">{label}</a></th>'
        for name, label in COLUMNS.items()
    )
    body = "".join(
        f'<tr><td>{row["id"]}</td><td><a href="/tickets/{row["id"]}">{escape(row["title"])}</a></td>'
        f"<td>{row['level']}</td><td><mark>{row['state']}</mark></td></tr>"
        for row in rows[3 * at - 3 : 3 * at]
    )
    query = f"sort={sort}&order={order}&state={state}"
    links = " ".join(
        f'<a aria-current="page">{number}</a>' if number == at
        else f'<a href="/tickets?{query}&page_number={number}" aria-label="Page {number}">{number}</a>'
        for number in range(1, pages + 1)
    )  # fmt: skip
    boxes = "".join(
        f'<label><input type="checkbox" name="level" value="{value}"{" checked" if str(value) in level else ""}>{value}</label>'
        for value in (1, 2, 3)
    )
    return page(
        world, "Tickets",
        f'<form aria-label="Filter"><fieldset><legend>Level</legend>{boxes}</fieldset><button>Apply</button></form>'
        f"<table><thead><tr>{heads}<th>State</th></tr></thead><tbody>{body}</tbody>"
        f'<tfoot><tr><td colspan="4">{len(rows)} tickets</td></tr></tfoot></table>'
        f'<nav aria-label="Pages">{links}</nav><p><a href="/new">Report a problem</a></p>',
    )  # fmt: skip


def ticket_of(world, id):
    row = world.ticket.get(id)
    if row is None:
        raise NotFound(f"No ticket {id}")
    return row


@site.page("/tickets/<id>")
def ticket(world, id, error=""):
    row = ticket_of(world, id)
    comments = "".join(
        f"<article><header><strong>{escape(comment['author'])}</strong></header><blockquote>{escape(comment['text'])}"
        "</blockquote></article>"
        for comment in world.comment.find(ticket=id)
    )
    states = "".join(
        f'<option value="{state}"{" selected" if state == row["state"] else ""}'
        f"{' disabled' if state == 'waiting' and not row['owner'] else ''}>{state.capitalize()}</option>"
        for state in STATES
    )
    owners = "".join(
        f'<option value="{name}"{" selected" if name == row["owner"] else ""}>{name or "Nobody"}</option>'
        for name in OWNERS
    )
    files = "".join(f"<li>{escape(name)}</li>" for name in row["files"])
    alert = '<p role="alert"><strong>Error:</strong> a comment needs a text.</p>' if error else ""
    return page(
        world, f"{id}: {row['title']}",
        f'<p>{escape(row["text"])}</p><p>Level <progress max="3" value="{row["level"]}">{row["level"]}</progress> <output>'
        f'{row["level"]}</output></p>{alert}<form method="post" action="/tickets/{id}/state"><label>State '
        f'<select name="state" onchange="this.form.submit()">{states}</select></label></form>'
        f'<form method="post" action="/tickets/{id}/owner"><label>Owner <select name="owner">{owners}</select></label>'
        '<input type="submit" value="Assign"></form>'
        f'<form method="post" action="/tickets/{id}/watch"><button aria-pressed="{str(row["watched"]).lower()}">Watch</button>'
        f"</form><section aria-label='Comments'><h2>Comments</h2>{comments or '<p><i>Nothing yet.</i></p>'}"
        f'<form method="post" action="/tickets/{id}/comments"><p><label>Your name <input name="author" maxlength="20"></label>'
        '</p><p><label>Comment <textarea name="text" placeholder="What happened?"></textarea></label></p>'
        '<button>Add comment</button></form></section>'
        f'<section><h3>Files</h3><ul>{files}</ul><form method="post" action="/tickets/{id}/files">'
        '<label>Attach <input type="file" name="file" multiple required></label><button>Upload</button></form></section>'
        f'<form method="post" action="/tickets/{id}/close" onsubmit="return confirm(\'Close \\\'{id}\\\' for good?\')">'
        "<button>Close ticket</button></form>",
    )  # fmt: skip


@site.post("/tickets/<id>/state")
def set_state(world, id, state=""):
    ticket_of(world, id)["state"] = state if state in STATES else "open"
    raise Redirect(f"/tickets/{id}")


@site.post("/tickets/<id>/owner")
def set_owner(world, id, owner=""):
    ticket_of(world, id)["owner"] = owner
    raise Redirect(f"/tickets/{id}")


@site.post("/tickets/<id>/watch")
def watch(world, id):
    row = ticket_of(world, id)
    row["watched"] = not row["watched"]
    raise Redirect(f"/tickets/{id}")


@site.post("/tickets/<id>/comments")
def comment(world, id, author="", text=""):
    ticket_of(world, id)
    if not text.strip():
        raise Redirect(f"/tickets/{id}?error=1")
    world.comment.add(ticket=id, author=author or "guest", text=text)
    raise Redirect(f"/tickets/{id}")


@site.post("/tickets/<id>/files")
def attach(world, id, file=()):
    row = ticket_of(world, id)
    row["files"] = [*row["files"], *file]
    raise Redirect(f"/tickets/{id}")


@site.post("/tickets/<id>/close")
def close(world, id):
    world.ticket.delete(id)
    raise Redirect("/tickets")


@site.page("/new")
def new(world):
    return page(
        world, "Report a problem",
        '<form method="post" action="/tickets"><p><label for="t">Title</label> <input id="t" name="title" required '
        'minlength="4" maxlength="30"></p><p>Level: <label><input type="radio" name="level" value="1" required> low</label>'
        '<label><input type="radio" name="level" value="2"> usual</label><label><input type="radio" name="level" value="3" '
        'disabled> high</label></p><p><label for="d">Details</label> <textarea id="d" name="text" required></textarea></p>'
        '<p><label>Copies <input type="number" name="copies" min="1" max="5" step="2" value="1"></label></p>'
        '<input type="hidden" name="source" value="web"><button name="do" value="save">Send</button> '
        '<button name="do" value="draft" formnovalidate>Save as draft</button> <button type="button">Help</button></form>',
    )  # fmt: skip


@site.post("/tickets")
def create(world, title="", level="1", text="", do="", copies="1"):
    if do == "draft":
        return page(world, "Draft saved", f"<p>{escape(title or 'Untitled')} is kept as a draft.</p>")
    for _ in range(int(copies)):
        made = world.ticket.add(title=title, level=int(level), text=text)
    raise Redirect(f"/tickets/{made['id']}")


@site.page("/report")
def report(world):
    body = "".join(
        f'<tr><th scope="row">{state}</th>'
        + "".join(
            f"<td>{sum(row['level'] == level for row in world.ticket.find(state=state))}</td>" for level in (1, 2, 3)
        )
        + "</tr>"
        for state in STATES
    )
    return page(
        world, "Report",
        '<figure><table><caption>By state</caption><thead><tr><td></td><th scope="col">1</th><th scope="col">2</th>'
        f'<th scope="col">3</th></tr></thead><tbody>{body}</tbody></table><figcaption>Counted <time datetime="2029-03-01">today'
        "</time></figcaption></figure><p>Ratio 1/2, <var>n</var> = 7, x<sup>2</sup>, H<sub>2</sub>O, <q>fine</q>, "
        "<cite>Desk news</cite>, <samp>OK</samp>, <del>8</del> <ins>7</ins></p>",
    )  # fmt: skip
