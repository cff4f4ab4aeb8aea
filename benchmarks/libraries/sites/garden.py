"""A community garden: plots on a map, bookings with many kinds of fields, a journal, seeds, members."""

from html import escape

from mcp_sim.libraries.screens import NotFound, Redirect, Site

site = Site("https://garden.example")
tables = {
    "plot": {"key": "name", "natural": True, "fields": {"name": "", "size": 20, "sun": "full", "free": True}},
    "booking": {
        "ids": "B-01",
        "links": {"plot": "plot"},
        "fields": {
            "plot": "", "holder": "", "email": "", "start": "", "at": "", "beds": 1, "water": "", "tools": [], "crops": [],
            "soil": 50, "colour": "", "note": "", "rules": False,
        },
    },
    "entry": {"ids": 1, "fields": {"title": "", "text": "", "day": ""}},
}  # fmt: skip
CROPS = {"Roots": ("Carrot", "Beetroot", "Radish"), "Leaves": ("Chard", "Spinach"), "Fruit": ("Tomato", "Squash")}
PIXEL = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='40' height='40'%3E"
    "%3Crect width='40' height='40' fill='green'/%3E%3C/svg%3E"
)


def fill(world, _given):
    for at, name in enumerate(("Ash", "Birch", "Cedar", "Dogwood")):
        world.plot.add(name=name, size=20 + 7 * at, sun=("full", "half", "shade")[at % 3], free=at != 1)
    world.entry.add(title="First frost", text="The beans are gone.\nThe kale looks well.", day="2029-10-28")


def page(title, body):
    return (
        f"<!doctype html><html lang='en'><head><title>{escape(title)} - Garden</title><meta charset='utf-8'></head><body>"
        "<a href='#content'>Skip to content</a>"
        f"<header><a href='/' aria-label='Garden, home'><img src=\"{PIXEL}\" alt='' width='20' height='20'></a>"
        "<nav aria-label='Main'><ul><li><a href='/plots'>Plots</a></li><li><a href='/journal'>Journal</a></li>"
        "<li><a href='/about'>About <small>(new)</small></a></li></ul></nav>"
        "<search><form action='/find'><input type='search' name='q' aria-label='Search the garden' placeholder='Tomato…'>"
        "<button aria-label='Go'>🔍</button></form></search></header>"
        f"<main id='content'><h1>{escape(title)}</h1>{body}</main>"
        "<footer><p>© 2029 <a href='/about' title='Who we are'>The gardeners</a></p></footer></body></html>"
    )


@site.page("/")
def home(world):
    free = sum(plot["free"] for plot in world.plot)
    return page(
        "Welcome",
        f"<p>There {'is' if free == 1 else 'are'} <strong>{free}</strong> free plots of {len(list(world.plot))}.</p>"
        f"<figure><img src=\"{PIXEL}\" alt='The garden from above' width='40' height='40'>"
        "<figcaption>Seen from the hill</figcaption></figure>"
        f"<p>Used: <meter min='0' max='4' low='1' high='3' value='{4 - free}'>{4 - free} of 4</meter></p>"
        "<ol><li>Read the rules<ul><li>No dogs</li><li>No fires<ol type='a'><li>Not even small ones</li></ol></li></ul></li>"
        "<li>Choose <a href='/plots'>a plot</a></li><li value='7'>Dig</li></ol>"
        "<dl><dt>Open</dt><dd>8 to 20</dd><dt>Key</dt><dd>At the gate</dd><dd>At Ina's</dd></dl>",
    )


@site.page("/plots")
def plots(world, sun=(), size="0"):
    least = int(size) if size.isdigit() else 0
    rows = "".join(
        f"<tr><th scope='row'>{plot['name']}</th><td>{plot['size']} m²</td><td>{plot['sun']}</td><td>"
        + (
            f"<a href='/book/{plot['name']}'>Book</a>"
            if plot["free"]
            else "<span title='Taken until autumn'>taken</span>"
        )
        + "</td></tr>"
        for plot in world.plot
        if plot["size"] >= least and (not sun or plot["sun"] in sun)
    )
    boxes = "".join(
        f"<label><input type='checkbox' name='sun' value='{value}'{' checked' if value in sun else ''}> {value}</label> "
        for value in ("full", "half", "shade")
    )
    return page(
        "Plots",
        f"<form role='group' aria-labelledby='f'><h2 id='f'>Narrow down</h2><div role='group' aria-label='Sun'>{boxes}</div>"
        f"<label for='s'>At least</label> <input id='s' type='range' name='size' min='0' max='50' step='10' value='{least}'> "
        "<button type='submit'>Show</button> <button type='reset'>Reset</button></form>"
        "<table><caption>All <em>plots</em></caption><colgroup><col><col></colgroup><thead><tr><th>Plot</th><th>Size</th>"
        f"<th>Sun</th><th><span aria-hidden='true'>&rarr;</span></th></tr></thead><tbody>{rows}</tbody></table>"
        "<details><summary>What do the sizes mean?</summary><p>A family eats from <b>30 m²</b>.</p>"
        "<details><summary>And beds?</summary>Four to ten per plot.</details></details>",
    )


def plot_of(world, name):
    plot = world.plot.get(name)
    if plot is None:
        raise NotFound(f"No plot {name}")
    return plot


def crop_options():
    return "".join(
        f"<optgroup label='{group}'>{''.join(f'<option>{crop}</option>' for crop in crops)}</optgroup>"
        for group, crops in CROPS.items()
    )


@site.page("/book/<name>")
def book(world, name, error=""):
    plot = plot_of(world, name)
    alert = f"<div role='alert' id='error'>{escape(error)}</div>" if error else ""
    return page(
        f"Book {name}",
        f"{alert}<p>{plot['size']} m², {plot['sun']} sun</p><form method='post' action='/book/{name}'>"
        "<fieldset><legend>You</legend><label>Name<br><input name='holder' required autocomplete='name'></label>"
        "<label>E-mail <input type='email' name='email' placeholder='you@example.org'></label>"
        "<label>Phone <input type='tel' name='phone' pattern='[0-9 ]+' title='Digits'></label></fieldset>"
        "<fieldset><legend>When</legend>"
        "<label for='d'>From <abbr title='first day'>day</abbr></label><input type='date' id='d' name='start' min='2029-03-01' "
        "max='2029-10-31' required aria-describedby='dh'><small id='dh'>March to October</small>"
        "<label>Time <input type='time' name='at' value='09:30'></label></fieldset>"
        "<p><label>Beds <input type='number' name='beds' min='2' max='10' step='2' value='4'></label></p>"
        "<div role='radiogroup' aria-label='Water'><label><input type='radio' name='water' value='can' checked>Can</label>"
        "<label><input type='radio' name='water' value='hose'>Hose</label>"
        "<label><input type='radio' name='water' value='rain' disabled>Rain butt</label></div>"
        "<fieldset><legend>Tools <i>to borrow</i></legend>"
        "<input type='checkbox' id='t1' name='tools' value='spade'><label for='t1'>Spade</label>"
        "<input type='checkbox' id='t2' name='tools' value='fork'><label for='t2'>Fork</label>"
        "<input type='checkbox' name='tools' value='barrow' aria-label='Wheelbarrow'></fieldset>"
        f"<label for='c'>Crops</label><select id='c' name='crops' multiple size='4'>{crop_options()}</select>"
        "<label>Soil <input type='range' name='soil' min='0' max='100' step='25' value='50'></label>"
        "<label>Sign <input type='color' name='colour' value='#00aa00'></label>"
        "<label>Tree <input name='tree' list='trees' readonly value='Oak'></label>"
        "<datalist id='trees'><option value='Oak'><option value='Elm'></datalist>"
        "<p><label>Note <textarea name='note' rows='3' maxlength='40'></textarea></label></p>"
        "<label><input type='checkbox' name='rules' value='yes' required> I have read <a href='/about'>the rules</a></label>"
        "<p><button>Book <b>now</b></button> <a href='/plots'>Back</a> <button disabled>Later</button></p></form>",
    )


@site.post("/book/<name>")
def take(
    world, name, holder="", email="", start="", at="", beds="0", water="", tools=(), crops=(), soil="0", colour="",
    note="", rules="",
):  # fmt: skip
    plot = plot_of(world, name)
    if not plot["free"]:
        raise Redirect(f"/book/{name}?error=Somebody+was+faster")
    plot["free"] = False
    booking = world.booking.add(
        plot=name, holder=holder, email=email, start=start, at=at, beds=int(beds), water=water, tools=[*tools],
        crops=[*crops], soil=int(soil), colour=colour, note=note, rules=rules == "yes",
    )  # fmt: skip
    raise Redirect(f"/bookings/{booking['id']}")


@site.page("/bookings/<id>")
def booking(world, id):
    row = world.booking.get(id)
    if row is None:
        raise NotFound(f"No booking {id}")
    shown = "".join(
        f"<tr><th>{key}</th><td>{escape(', '.join(value) if isinstance(value, list) else str(value))}</td></tr>"
        for key, value in row.items()
    )
    return page(
        f"Booking {id}",
        f"<p role='status'>Thank you, {escape(row['holder'])}!</p><table aria-label='Your booking'>{shown}</table>"
        f"<form method='post' action='/bookings/{id}/cancel' onsubmit=\"return confirm('Give {row['plot']} back?')\">"
        "<input type='submit' value='Give back'></form><hr>"
        f"<p>Next: <a href='/journal'>write <code>journal</code></a> or <a href='/book/Nowhere'>get lost</a>.</p>",
    )


@site.post("/bookings/<id>/cancel")
def cancel(world, id):
    row = world.booking.get(id)
    if row is not None:
        plot_of(world, row["plot"])["free"] = True
        world.booking.delete(id)
    raise Redirect("/plots")


@site.page("/journal")
def journal(world, day=""):
    entries = "".join(
        f"<article aria-labelledby='e{entry['id']}'><h3 id='e{entry['id']}'>{escape(entry['title'])}</h3>"
        f"<time datetime='{entry['day']}'>{entry['day']}</time><pre>{escape(entry['text'])}</pre></article>"
        for entry in world.entry
        if day in ("", entry["day"])
    )
    return page(
        "Journal",
        f"<section aria-labelledby='all'><h2 id='all'>Entries</h2>{entries or '<p>None.</p>'}</section>"
        "<section><h2>Write</h2><form action='/journal' method='post'>"
        "<table><tr><td><label for='title'>Title</label></td><td><input id='title' name='title' required maxlength='20'></td></tr>"
        "<tr><td><label for='text'>Text</label></td><td><textarea id='text' name='text'>Today </textarea></td></tr>"
        "<tr><td>Day</td><td><select name='day' aria-label='Day of the entry'><option value=''>- choose -</option>"
        "<option value='2029-11-01'>1 November</option><option value='2029-11-02' disabled>2 November</option>"
        "<option value='2029-11-03'>3 November</option></select></td></tr></table>"
        "<label>Password <input type='password' name='secret' minlength='3'></label>"
        "<input type='image' src='/missing.png' alt='Save entry'></form></section>",
    )


@site.post("/journal")
def write(world, title="", text="", day=""):
    world.entry.add(title=title, text=text, day=day)
    raise Redirect(f"/journal?day={day}")


@site.page("/find")
def find(world, q=""):
    words = [crop for crops in CROPS.values() for crop in crops if q.lower() in crop.lower()]
    items = "".join(f"<li><mark>{crop}</mark> grows here</li>" for crop in words)
    return page(
        f"Search: {q}",
        f"<p aria-live='polite'>{len(words)} results</p>{f'<menu>{items}</menu>' if items else ''}"
        "<a href='/find?q=' role='button'>Show all</a>",
    )


@site.page("/about")
def about(_world):
    return page(
        "About",
        "<hgroup><h2>Since <time>1987</time></h2><p>A patch of land</p></hgroup><blockquote cite='/'>Dig <q>deep</q>.</blockquote>"
        "<h4>Skipped level</h4><div role='heading' aria-level='5'>Made heading</div>"
        "<address>Garden Lane 1<br>Hill</address><p>Call <a href='tel:123'>123</a>, <u>not</u> <s>124</s>, or "
        "<a>nobody</a>.</p><ul role='list' aria-label='Rules'><li>One</li><li><p>Two</p><p>Two and a half</p></li><li></li></ul>"
        "<div hidden>Secret</div><div style='display:none'>Gone</div><span role='img' aria-label='Sun'>☀</span>"
        "<div aria-label='No role'>Plain</div><section>No name</section><p>&nbsp;</p><p>  spaced   out\n text </p>"
        "<button aria-expanded='false' aria-controls='x' type='button'>Menu</button><output>42</output>"
        "<progress>…</progress><kbd>Ctrl</kbd>+<kbd>Z</kbd><dialog open>Cookies?<button type='button'>Fine</button></dialog>",
    )
