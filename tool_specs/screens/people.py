"""Contacts and messages of a phone."""

from html import escape
from urllib.parse import quote

from app_screens import MOST_ROWS, floating, paged_list, row, screen

from mcp_sim.libraries.screens import NotFound, Redirect, Site

contacts = Site("https://contacts.example")
messages = Site("https://messages.example")
LONGEST = 2000
"""Characters of a name, a number or a message."""


def contact_of(world, id):
    person = world.contact.get(id)
    if person is None:
        raise NotFound("The contact does not exist.")
    return person


@contacts.page("/")
@contacts.page("/from/<start>")
def people(world, q="", start=""):
    people = [person for person in by_name(world) if q.casefold() in person["name"].casefold()]
    search = f'<input type="search" name="q" id="search" placeholder="Search contacts" value="{escape(q)}">'
    query = f"?q={quote(q)}" if q else ""
    rows = paged_list(people, start, lambda person: row(f"/people/{person['id']}", person["name"]), "", query)
    create = floating("/new", "floating_action_button", ' aria-label="Create contact">+')
    return screen("Contacts", f'<form action="/">{search}</form>{rows}{create}')


def by_name(world):
    return sorted(world.contact, key=lambda person: person["name"])


@contacts.page("/people/<id>")
def person(world, id):
    shown = contact_of(world, id)
    path = f"/people/{shown['id']}"
    return screen(
        shown["name"],
        f'<p id="phone">{escape(shown["phone"])}</p><p id="email">{escape(shown["email"])}</p>'
        f'<a href="{messages.origin}/threads/{shown["id"]}" id="text">Text</a><a href="{path}/edit" id="edit">Edit</a>'
        f'<form action="{path}/delete" method="post" onsubmit="return confirm(\'Delete this contact?\')">'
        '<button id="delete">Delete</button></form>',
        up="/",
    )


def editor(title, action, values, up):
    fields = "".join(
        f'<label style="display: block">{label} <input id="{name}" name="{name}" type="{kind}" '
        f'value="{escape(values.get(name, ""))}"{" required" if name == "name" else ""}></label>'
        for name, label, kind in (("name", "Name", "text"), ("phone", "Phone", "tel"), ("email", "Email", "text"))
    )
    return screen(title, f'<form action="{action}" method="post">{fields}<button id="save">Save</button></form>', up=up)


@contacts.page("/new")
def new(_world):
    return editor("Create contact", "/new", {}, "/")


@contacts.post("/new")
def create(world, name="", phone="", email=""):
    if not name.strip():
        raise Redirect("/new")
    added = world.contact.add(name=name.strip()[:LONGEST], phone=phone[:LONGEST], email=email[:LONGEST])
    raise Redirect(f"/people/{added['id']}")


@contacts.page("/people/<id>/edit")
def edit(world, id):
    return editor("Edit contact", f"/people/{id}/edit", contact_of(world, id), f"/people/{id}")


@contacts.post("/people/<id>/edit")
def save(world, id, name="", phone="", email=""):
    changed = contact_of(world, id)
    if name.strip():
        changed["name"], changed["phone"], changed["email"] = name.strip()[:LONGEST], phone[:LONGEST], email[:LONGEST]
    raise Redirect(f"/people/{id}")


@contacts.post("/people/<id>/delete")
def delete(world, id):
    world.contact.delete(contact_of(world, id))
    raise Redirect("/")


@messages.page("/")
@messages.page("/from/<start>")
def threads(world, start=""):
    newest = {message["contact"]: message for message in world.message if world.contact.get(message["contact"])}
    latest = sorted(newest.values(), key=lambda message: message["at"], reverse=True)

    def shown(message):
        text = message["text"] if message["incoming"] else f"You: {message['text']}"
        return row(f"/threads/{message['contact']}", world.contact.get(message["contact"])["name"], text)

    rows = paged_list(latest, start, shown, "")
    return screen("Messages", rows + floating("/new", "start_chat_fab", ">Start chat"))


@messages.page("/new")
@messages.page("/new/from/<start>")
def begin(world, start=""):
    def shown(person):
        return row(f"/threads/{person['id']}", person["name"], person["phone"])

    return screen("New conversation", paged_list(by_name(world), start, shown, "/new"), up="/")


@messages.page("/threads/<id>")
@messages.page("/threads/<id>/from/<start>")
def thread(world, id, start=""):
    other = contact_of(world, id)
    messages = world.message.find(contact=other["id"])
    texts = paged_list(
        messages,
        start or str(max(0, len(messages) - MOST_ROWS)),
        lambda message: f"<li>{escape(message['text'])}</li>",
        f"/threads/{other['id']}",
        earlier="Earlier messages",
        later="Later messages",
    )
    return screen(
        other["name"],
        f'{texts}<form action="/threads/{other["id"]}" method="post" style="position: sticky; bottom: 0">'
        '<input id="compose_message_text" name="text" placeholder="Text message" aria-label="Text message" required>'
        '<button id="send_message_button" aria-label="Send SMS">➤</button></form>',
        up="/",
    )


@messages.post("/threads/<id>")
def send(world, id, text=""):
    other = contact_of(world, id)
    if text.strip():
        world.message.add(contact=other["id"], text=text[:LONGEST], incoming=False, at=world.now.isoformat())
    raise Redirect(f"/threads/{id}")
