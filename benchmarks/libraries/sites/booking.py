"""A guest house: free rooms, a booking in three steps with validation, changes and cancellation."""

from html import escape

from mcp_sim.libraries.screens import NotFound, Redirect, Site

site = Site("https://inn.example")
tables = {
    "room": {"key": "id", "natural": True, "fields": {"id": "", "name": "", "beds": 1, "price": 1.0, "text": ""}},
    "booking": {
        "ids": "B7001",
        "fields": {
            "room": "", "start": "", "end": "", "guests": 1, "name": "", "mail": "", "arrival": "", "meals": [],
            "wishes": "", "paid": False,
        },
    },
}  # fmt: skip
MEALS = {"breakfast": "Breakfast", "lunch": "Lunch bag", "dinner": "Dinner (3 courses)"}


def fill(world, _given):
    for id, name, beds, price in (
        ("blue", "Blue room", 2, 80.0),
        ("attic", "Attic", 1, 55.5),
        ("suite", "Suite", 4, 140.0),
    ):
        world.room.add(
            id=id, name=name, beds=beds, price=price, text=f"{beds} bed{'s' if beds > 1 else ''}, view: garden."
        )


def page(title, body, step=0):
    names = ("Dates", "Guest", "Confirm")
    crumbs = "".join(
        f"<li{' aria-current=step' if at == step else ''}>{'<strong>' if at == step else ''}{name}{'</strong>' if at == step else ''}</li>"
        for at, name in enumerate(names, 1)
    )
    steps = f'<ol aria-label="Steps">{crumbs}</ol>' if step else ""
    return (
        f"<!DOCTYPE html><html><head><title>{escape(title)}</title><link rel=stylesheet href=/s.css></head><body>"
        f'<div class="bar"><a href="/"><img src="/inn.png" alt="Inn"></a><span>Open all year</span></div>'
        f'<div role="navigation"><a href="/">Rooms</a><a href="/bookings">My bookings</a></div>'
        f"<div role=main><h1>{escape(title)}</h1>{steps}{body}</div></body></html>"
    )


@site.page("/")
def rooms(world, start="", end="", guests="1", error=""):
    number = int(guests) if guests.isdigit() else 1
    items = "".join(
        f'<article aria-labelledby="r-{row["id"]}"><h2 id="r-{row["id"]}">{escape(row["name"])}</h2><p>{escape(row["text"])}</p>'
        f'<p><data value="{row["price"]}">€ {row["price"]:.2f}</data></p>'.replace("<data", "<span").replace(
            "</data>", "</span>"
        )
        + (
            f'<a href="/book/{row["id"]}?start={start}&end={end}&guests={number}">Book {escape(row["name"])}</a></article>'
            if start and end
            else "<p><i>Choose dates first.</i></p></article>"
        )
        for row in world.room
        if row["beds"] >= number
    )
    alert = '<p role="alert">The end must be after the start.</p>' if error else ""
    return page(
        "Rooms",
        f'{alert}<form action="/search"><label>From <input type="date" name="start" value="{start}" min="2029-03-01" required>'
        f'</label> <label>To <input type="date" name="end" value="{end}" required></label> <label>Guests <input type="number" '
        f'name="guests" value="{number}" min="1" max="4"></label> <input type="submit" value="Search"></form>{items}',
    )


@site.page("/search")
def search(_world, start="", end="", guests="1"):
    if end <= start:
        raise Redirect(f"/?error=1&start={start}&end={end}&guests={guests}")
    raise Redirect(f"/?start={start}&end={end}&guests={guests}")


def room_of(world, id):
    row = world.room.get(id)
    if row is None:
        raise NotFound(f"There is no room called {id}.")
    return row


@site.page("/book/<id>")
def book(world, id, start="", end="", guests="1", name="", mail="", arrival="", error=""):
    room = room_of(world, id)
    meals = "".join(
        f'<label><input type="checkbox" name="meals" value="{key}"> {label}</label><br>' for key, label in MEALS.items()
    )
    problem = f'<p id="problem" role="alert">{escape(error)}</p>' if error else ""
    described = ' aria-describedby="problem" aria-invalid="true"' if error else ""
    return page(
        f"Book {room['name']}",
        f'{problem}<form method="POST" action="/book/{id}"><input type="hidden" name="start" value="{start}"><input type="hidden" '
        f'name="end" value="{end}"><input type="hidden" name="guests" value="{guests}"><p><label for="n">Full name</label>'
        f'<input id="n" name="name" autocomplete="off" value="{escape(name)}" required></p><p><label for="m">E-mail</label>'
        f'<input id="m" name="mail" type="email" value="{escape(mail)}" required{described}></p><p><label>Arrival <input type="time" '
        f'name="arrival" min="14:00" max="22:00" value="{arrival}"></label></p><fieldset><legend>Meals</legend>{meals}</fieldset>'
        '<fieldset disabled><legend>Extras</legend><label><input type="checkbox" name="spa"> Spa</label></fieldset>'
        '<p><label>Pay <select name="pay"><option value="">Choose</option><option value="now">now</option><option>later</option>'
        '</select></label></p><details><summary>Wishes</summary><label>Tell us <textarea name="wishes" maxlength="40"></textarea>'
        '</label></details><p><label><input type="checkbox" name="terms" required> I accept the <a href="/terms">terms</a>'
        "</label></p><button>Continue</button></form>",
        2,
    )


@site.post("/book/<id>")
def check(world, id, start="", end="", guests="1", name="", mail="", arrival="", meals=(), pay="", wishes="", terms=""):
    room = room_of(world, id)
    if mail.endswith("@none.example"):
        return book(world, id, start, end, guests, name, mail, arrival, "This address is blocked.")
    hidden = "".join(
        f'<input type="hidden" name="{key}" value="{escape(value)}">'
        for key, value in (
            ("room", id), ("start", start), ("end", end), ("guests", guests), ("name", name), ("mail", mail),
            ("arrival", arrival), ("pay", pay), ("wishes", wishes), *(("meals", meal) for meal in meals),
        )
    )  # fmt: skip
    listed = "".join(f"<li>{MEALS[meal]}</li>" for meal in meals) or "<li>none</li>"
    return page(
        "Confirm",
        f'<table><tbody><tr><th scope="row">Room</th><td colspan="2">{escape(room["name"])}</td></tr><tr><th scope="row" rowspan="2">'
        f"Stay</th><td>from</td><td>{start}</td></tr><tr><td>to</td><td>{end}</td></tr></tbody></table><h2>Meals</h2><ul>{listed}</ul>"
        f'<p>{escape(wishes) or "&mdash;"}</p><form method="post" action="/bookings" onsubmit="return confirm(\'Book it for real?\')">'
        f'{hidden}<input type="image" src="/go.png" alt="Book now"></form><p><a href="/book/{id}">Change</a></p>',
        3,
    )


@site.post("/bookings")
def confirm(world, room, start, end, guests="1", name="", mail="", arrival="", meals=(), pay="", wishes=""):
    made = world.booking.add(
        room=room, start=start, end=end, guests=int(guests), name=name, mail=mail, arrival=arrival, meals=[*meals],
        wishes=wishes, paid=pay == "now",
    )  # fmt: skip
    raise Redirect(f"/bookings/{made['id']}")


@site.page("/bookings")
def bookings(world):
    rows = "".join(
        f'<tr><td><a href="/bookings/{row["id"]}">{row["id"]}</a></td><td>{row["start"]}</td><td>'
        f"{'<b>paid</b>' if row['paid'] else 'open'}</td></tr>"
        for row in world.booking
    )
    return page(
        "My bookings",
        f"<table><thead><tr><th>Number<th>From<th>State</tr></thead><tbody>{rows}</tbody></table>"
        if rows
        else "<p>None yet.",
    )


@site.page("/bookings/<id>")
def booking(world, id):
    row = world.booking.get(id)
    if row is None:
        raise NotFound(f"No booking {id}")
    return page(
        f"Booking {id}",
        f'<div role="status">Thank you, {escape(row["name"])}!</div><dl><div><dt>Room</dt><dd>{row["room"]}</dd></div><div><dt>Meals'
        f"</dt><dd>{escape(', '.join(row['meals'])) or 'none'}</dd></div><div><dt>Arrival</dt><dd>{row['arrival'] or 'open'}</dd></div></dl>"
        f'<form method="post" action="/bookings/{id}/guests"><label>Guests <select name="guests" size="3">'
        + "".join(f"<option{' selected' if n == row['guests'] else ''}>{n}</option>" for n in (1, 2, 3, 4))
        + f'</select></label><button>Change</button></form><form method="post" action="/bookings/{id}/cancel" '
        "onsubmit=\"return confirm('Cancel?\\nThere is no way back.')\"><button>Cancel booking</button></form>",
    )


@site.post("/bookings/<id>/guests")
def change(world, id, guests="1"):
    world.booking.get(id)["guests"] = int(guests)
    raise Redirect(f"/bookings/{id}")


@site.post("/bookings/<id>/cancel")
def cancel(world, id):
    world.booking.delete(id)
    raise Redirect("/bookings")


@site.page("/terms")
def terms(_world):
    return page(
        "Terms",
        "<ol><li>Be kind<ol><li>always</li></ol></li><li>Pay</li></ol><pre>\n  a  b\n c</pre><hr><p>1 &lt; 2 &amp; 3",
    )
