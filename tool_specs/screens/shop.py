"""The pages of a shop for bicycle parts: search, sort, details, cart, log in, delivery, orders."""

import json
import re
from html import escape

from mcp_sim.libraries.screens import NotFound, Redirect, Site
from mcp_sim.programs import records

site = Site("https://wheelhouse.example")
tables = {
    "part": {"key": "id", "natural": True, "fields": {"id": "", "name": "", "price": 1.0, "stock": 0, "text": ""}},
    "cart": {"key": "part", "natural": True, "links": {"part": "part"}, "fields": {"part": "", "quantity": 1}},
    "order": {
        "ids": "1001",
        "fields": {
            "email": "", "name": "", "street": "", "country": "", "speed": "", "note": "", "items": [], "total": 0.0,
        },
    },
    "account": {"key": "email", "natural": True, "fields": {"email": "", "password": "", "name": ""}},
    "session": {"singleton": True, "fields": {"email": ""}},
}  # fmt: skip
COUNTRIES = {"be": "Belgium", "nl": "Netherlands", "de": "Germany"}
SORTS = ("name", "price")
BEGINNING = json.loads("""{"parts": [
  {"id": "1", "name": "Brake lever", "price": 12.5, "stock": 14, "text": "Alloy, for two fingers."},
  {"id": "2", "name": "Chain, 9-speed", "price": 19.95, "stock": 3, "text": "116 links."},
  {"id": "3", "name": "Dynamo lamp", "price": 44.0, "stock": 0, "text": "60 lux."},
  {"id": "4", "name": "Bell", "price": 7.0, "stock": 30, "text": "Loud enough for tunnels."},
  {"id": "5", "name": "Saddle", "price": 39.0, "stock": 5, "text": "Wide, with springs."},
  {"id": "6", "name": "Pump", "price": 24.5, "stock": 8, "text": "Up to 8 bar."},
  {"id": "7", "name": "Tyre, 28 inch", "price": 29.0, "stock": 11, "text": "Puncture-proof."}
], "accounts": [{"email": "ada@mail.example", "password": "wheels", "name": "Ada Vos"}]}""")


def fill(world, given):
    """Fill the shop with given `parts`, `accounts` and `orders`; with seven parts if nothing is given."""
    given = BEGINNING if given is None else given
    for row in records(given, "parts"):
        world.part.add(row)
    for row in records(given, "accounts", key="email"):
        world.account.add(row)
    for row in records(given, "orders"):
        world.order.add(row)
    world.session["email"] = ""


def euro(amount):
    return f"€ {amount:.2f}"


def page(world, title, body):
    """Return a page with the header that all pages have."""
    items = sum(row["quantity"] for row in world.cart)
    if world.session["email"]:
        account = (
            '<li><a href="/orders">Orders</a></li>'
            '<li><form action="/logout" method="post"><button>Log out</button></form></li>'
        )
    else:
        account = '<li><a href="/login">Log in</a></li>'
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} - Wheelhouse</title></head>'
        '<body><header><a href="/">Wheelhouse</a><nav aria-label="Main"><ul><li><a href="/parts">Parts</a></li>'
        f'<li><a href="/cart">Cart ({items})</a></li>{account}</ul></nav></header>'
        f"<main><h1>{escape(title)}</h1>{body}</main></body></html>"
    )


def part_of(world, id):
    part = world.part.get(id)
    if part is None:
        raise NotFound(f"There is no part {id}.")
    return part


def options(choices, chosen):
    return "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{label}</option>'
        for value, label in choices.items()
    )


@site.page("/")
def home(_world):
    raise Redirect("/parts")


@site.page("/parts")
def parts(world, q="", sort="name"):
    sort = sort if sort in SORTS else "name"
    rows = sorted((row for row in world.part if q.casefold() in row["name"].casefold()), key=lambda row: row[sort])
    body = "".join(
        f'<tr><td><a href="/parts/{row["id"]}">{escape(row["name"])}</a></td><td>{euro(row["price"])}</td>'
        f"<td>{add_button(row)}</td></tr>"
        for row in rows
    )
    table = (
        "<table><thead><tr><th>Part</th><th>Price</th><th>Order</th></tr></thead>"
        f"<tbody>{body}</tbody></table>" if rows else "<p>Nothing was found.</p>"
    )  # fmt: skip
    return page(
        world, "Parts",
        f'<form role="search" action="/parts"><label>Search <input type="search" name="q" value="{escape(q)}"></label>'
        f'<label>Sort by <select name="sort" onchange="this.form.submit()">'
        f"{options({name: name.capitalize() for name in SORTS}, sort)}</select></label><button>Search</button></form>"
        f"<p>{len(rows)} parts</p>{table}",
    )  # fmt: skip


def add_button(row):
    if not row["stock"]:
        return "Sold out"
    return (
        f'<form action="/cart" method="post"><input type="hidden" name="id" value="{row["id"]}">'
        f'<button aria-label="Add {escape(row["name"])} to cart">Add</button></form>'
    )


@site.page("/parts/<id>")
def part(world, id):
    row = part_of(world, id)
    buy = (
        f'<form action="/cart" method="post"><input type="hidden" name="id" value="{row["id"]}"><label>Quantity '
        f'<input type="number" name="quantity" value="1" min="1" max="{row["stock"]}"></label>'
        "<button>Add to cart</button></form>" if row["stock"] else '<p role="status">Sold out</p>'
    )  # fmt: skip
    return page(
        world, row["name"],
        f"<p>{escape(row['text'])}</p><dl><dt>Price</dt><dd>{euro(row['price'])}</dd><dt>In stock</dt>"
        f"<dd>{row['stock']}</dd></dl>{buy}<details><summary>Shipping</summary><p>Two days.</p></details>"
        '<p><a href="/parts">All parts</a></p>',
    )  # fmt: skip


@site.post("/cart")
def add_to_cart(world, id, quantity="1"):
    row, held = part_of(world, id), world.cart.get(id)
    wanted = (held["quantity"] if held else 0) + whole(quantity)
    put_into_cart(world, row, wanted)
    raise Redirect("/cart")


@site.post("/cart/<id>")
def change_cart(world, id, quantity="0"):
    put_into_cart(world, part_of(world, id), whole(quantity))
    raise Redirect("/cart")


def whole(text):
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else 0


def put_into_cart(world, row, quantity):
    quantity, held = min(quantity, row["stock"]), world.cart.get(row["id"])
    if quantity <= 0:
        if held:
            world.cart.delete(held)
    elif held:
        held["quantity"] = quantity
    else:
        world.cart.add(part=row["id"], quantity=quantity)


@site.page("/cart")
def cart(world):
    if not len(world.cart):
        return page(world, "Your cart", '<p>Your cart is empty.</p><p><a href="/parts">Go shopping</a></p>')
    rows = "".join(cart_row(world.part.get(held["part"]), held["quantity"]) for held in world.cart)
    return page(
        world, "Your cart",
        f"<table><tbody>{rows}</tbody></table><p>Total: <strong>{euro(total(world))}</strong></p>"
        '<a href="/delivery">Check out</a>',
    )  # fmt: skip


def total(world):
    return sum(world.part.get(held["part"])["price"] * held["quantity"] for held in world.cart)


def cart_row(row, quantity):
    name, address = escape(row["name"]), f"/cart/{row['id']}"
    return (
        f'<tr><td><a href="/parts/{row["id"]}">{name}</a></td><td><form action="{address}" method="post">'
        f'<label>Quantity <input type="number" name="quantity" value="{quantity}"></label>'
        "<button>Update</button></form></td>"
        f'<td>{euro(quantity * row["price"])}</td><td><form action="{address}" method="post" '
        f'onsubmit="return confirm(\'Remove this part?\')"><input type="hidden" name="quantity" value="0">'
        f'<button aria-label="Remove {name}">×</button></form></td></tr>'
    )


@site.page("/login")
def login(world, error="", next="/parts"):
    alert = '<p role="alert">Wrong e-mail or password.</p>' if error else ""
    return page(
        world, "Log in",
        f'{alert}<form action="/login" method="post"><p><label for="email">E-mail</label> '
        '<input id="email" name="email" type="email" required></p><p><label for="password">Password</label> '
        '<input id="password" name="password" type="password" required></p>'
        f'<input type="hidden" name="next" value="{escape(next)}"><p><label><input type="checkbox" name="stay"> '
        "Stay logged in</label></p><button>Log in</button></form>",
    )  # fmt: skip


@site.post("/login")
def log_in(world, email="", password="", next="/parts"):
    account = world.account.get(email)
    if account is None or account["password"] != password:
        raise Redirect(f"/login?error=1&next={next}")
    world.session["email"] = email
    raise Redirect(next if next.startswith("/") else "/parts")


@site.post("/logout")
def log_out(world):
    world.session["email"] = ""
    raise Redirect("/parts")


@site.page("/delivery")
def delivery(world, error="", name="", street="", country="nl"):
    if not world.session["email"]:
        raise Redirect("/login?next=/delivery")
    name = name or world.account.get(world.session["email"])["name"]
    invalid, alert = (' aria-invalid="true"', '<span role="alert">Enter a street.</span>') if error else ("", "")
    return page(
        world, "Delivery",
        f'<form action="/orders" method="post" novalidate><p><label for="name">Name</label> '
        f'<input id="name" name="name" value="{escape(name)}"></p><p><label for="street">Street</label> '
        f'<input id="street" name="street" value="{escape(street)}"{invalid}>{alert}</p>'
        f'<p><label for="country">Country</label> <select id="country" name="country">{options(COUNTRIES, country)}'
        "</select></p><fieldset><legend>Delivery</legend>"
        '<label><input type="radio" name="speed" value="standard" checked> Standard</label>'
        '<label><input type="radio" name="speed" value="express"> Express</label></fieldset>'
        '<p><label for="note">Note</label> <textarea id="note" name="note"></textarea></p>'
        "<button>Place order</button></form>",
    )  # fmt: skip


@site.post("/orders")
def place_order(world, name="", street="", country="nl", speed="standard", note=""):
    if not world.session["email"]:
        raise Redirect("/login?next=/delivery")
    if not len(world.cart):
        raise Redirect("/cart")
    if not street.strip():
        raise Redirect(f"/delivery?error=1&name={name}&country={country}")
    items = [{"part": held["part"], "quantity": held["quantity"]} for held in world.cart]
    order = world.order.add(
        email=world.session["email"], name=name, street=street, country=country, speed=speed, note=note, items=items,
        total=round(total(world), 2),
    )  # fmt: skip
    for held in [*world.cart]:
        row = world.part.get(held["part"])
        row["stock"] -= held["quantity"]
        world.cart.delete(held)
    raise Redirect(f"/orders/{order['id']}")


@site.page("/orders")
def orders(world):
    if not world.session["email"]:
        raise Redirect("/login?next=/orders")
    rows = "".join(
        f'<li><a href="/orders/{order["id"]}">Order {order["id"]}</a>, {euro(order["total"])}</li>'
        for order in world.order.find(email=world.session["email"])
    )
    return page(world, "Your orders", f"<ul>{rows}</ul>" if rows else "<p>There are no orders yet.</p>")


@site.page("/orders/<id>")
def order(world, id):
    row = world.order.get(id)
    if row is None or row["email"] != world.session["email"]:
        raise NotFound(f"There is no order {id}.")
    lines = "".join(
        f"<tr><td>{escape(world.part.get(item['part'])['name'])}</td><td>{item['quantity']}</td></tr>"
        for item in row["items"]
    )
    return page(
        world, f"Order {row['id']}",
        f'<p role="status">Thank you, {escape(row["name"])}.</p>'
        "<table><thead><tr><th>Part</th><th>Quantity</th></tr></thead>"
        f"<tbody>{lines}</tbody></table><p>{escape(row['street'])}, {COUNTRIES.get(row['country'], row['country'])}, "
        f"{row['speed']}</p><p>Total: <strong>{euro(row['total'])}</strong></p>",
    )  # fmt: skip
