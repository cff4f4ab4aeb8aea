"""A clinic: doctors in a table, an appointment in three pages with errors beside the fields, a list with pages."""

from html import escape

from mcp_sim.libraries.screens import NotFound, Redirect, Site

site = Site("https://clinic.example")
tables = {
    "doctor": {"key": "id", "natural": True, "fields": {"id": "", "name": "", "field": "", "room": 1, "years": 1}},
    "visit": {
        "ids": "V-1",
        "fields": {
            "doctor": "", "patient": "", "born": "", "day": "", "hour": "", "pain": "", "reasons": [], "colour": "",
            "files": [], "state": "draft", "note": "",
        },
    },
}  # fmt: skip
DOCTORS = (
    ("a1", "Dr. Amal Haddad", "Eyes", 4, 12), ("b2", "Dr. Bea Lund", "Skin", 7, 3), ("c3", "Dr. Cem Öz", "Eyes", 9, 21),
    ("d4", "Dr. Dora & Co.", "Teeth", 2, 8), ("e5", "Dr. Eli “Ed” Roth", "Heart", 11, 15),
)  # fmt: skip
HOURS = ("09:00", "09:30", "10:00", "14:15")


def fill(world, _given):
    for key, name, area, room, years in DOCTORS:
        world.doctor.add(id=key, name=name, field=area, room=room, years=years)


def page(title, body, here=""):
    places = (("/", "Home"), ("/doctors", "Doctors"), ("/visits", "Visits"), ("/help", "Help"))
    items = "".join(
        f"<li><a href='{to}'{' aria-current=page' if to == here else ''}>{name}</a></li>" for to, name in places
    )
    return (
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>{escape(title)} — Clinic</title></head><body>"
        "<a href='#content'>Skip to content</a>"
        f"<header><img src='/logo.png' alt='Clinic logo' width=40 height=40><p>Since 1931</p></header>"
        f"<nav aria-label=Primary><ul>{items}</ul></nav>"
        f"<main id=content tabindex=-1><h1>{escape(title)}</h1>{body}</main>"
        "<footer><p>&copy; 2029 <small>All <em>rights</em> reserved.</small></p>"
        "<address>Quay 9<br>Ghent</address></footer></body></html>"
    )


@site.page("/")
def home(world):
    body = (
        "<section aria-labelledby=news><h2 id=news>News</h2><article><h3>New wing</h3><p>Opens on "
        "<time datetime=2029-04-01>1 April</time>.</p></article><article><h3>Holiday</h3><p>Closed on <b>Monday</b>, "
        "<i>maybe</i> <u>Tuesday</u>.</p></article></section>"
        "<section><h2>At a glance</h2><dl><dt>Doctors</dt>"
        f"<dd>{len([*world.doctor])}</dd><dt>Beds</dt><dd>40</dd><dd>6 <abbr title='intensive care unit'>ICU</abbr></dd></dl>"
        "<label>Beds in use <meter min=0 max=40 value=31>31 of 40</meter></label>"
        "<label for=build>New wing</label> <progress id=build max=100 value=64>64 %</progress></section>"
        "<figure><img src='/ward.jpg' alt='A bright ward'><figcaption>Ward 3, <cite>by Ann</cite></figcaption></figure>"
        "<img src='/line.png' alt=''><img src='/map.png' title='Map of the site'>"
        "<blockquote>They <q>care</q>.</blockquote><pre>Mo  8-18\nTu  8-12</pre><hr>"
        "<p hidden>Not shown</p><p style='display:none'>Nor this</p><p aria-hidden=true>Nor this one</p>"
        "<div role=alert>Masks are required.</div><div role=status></div>"
        "<button type=button aria-pressed=true>Large print</button> "
        "<button type=button aria-expanded=false aria-controls=menu>Menu</button> "
        "<button type=button disabled>Chat</button> <span role=button tabindex=0>Call back</span> "
        "<a>Not a link</a> <a href='https://elsewhere.example/x' title='Our partner'>Partner</a> "
        "<a href='/doctors?field=Eyes'><img src='/eye.svg' alt=Eyes></a> <a href='/doctors'><img src='/d.svg' alt=''></a>"
    )
    return page("Welcome", body, "/")


@site.page("/doctors")
def doctors(world, field="", q="", sort="name"):
    rows = [row for row in world.doctor if field in ("", row["field"]) and q.casefold() in row["name"].casefold()]
    rows.sort(key=lambda row: row[sort if sort in ("name", "years") else "name"])
    areas = sorted({row["field"] for row in world.doctor})
    options = "".join(f"<option{' selected' if area == field else ''}>{area}</option>" for area in areas)
    body = "".join(
        f"<tr><th scope=row><a href='/doctors/{row['id']}'>{escape(row['name'])}</a></th><td>{row['field']}</td>"
        f"<td>{row['room']}</td><td>{row['years']}</td></tr>"
        for row in rows
    )
    none = "<tr><td colspan=4>Nobody fits.</td></tr>"
    form = (
        "<form role=search action='/doctors'><label for=q>Name</label> <input type=search id=q name=q "
        f"value='{escape(q)}' placeholder='Part of a name'> <select name=field aria-label=Field><option value=''>All fields"
        f"</option>{options}</select> <fieldset><legend>Sort by</legend>"
        + "".join(
            f"<label><input type=radio name=sort value={value}{' checked' if value == sort else ''}> {name}</label> "
            for value, name in (("name", "Name"), ("years", "Years"))
        )
        + "</fieldset><button>Search</button> <input type=reset value='Start over'></form>"
    )
    table = (
        f"<table><caption>{len(rows)} doctors</caption><thead><tr><th rowspan=2>Name</th><th rowspan=2>Field</th>"
        "<th colspan=2>Details</th></tr><tr><th>Room</th><th>Years</th></tr></thead>"
        f"<tbody>{body or none}</tbody><tfoot><tr><td colspan=3>Sum</td><td>{sum(row['years'] for row in rows)}</td></tr>"
        "</tfoot></table>"
    )
    return page("Doctors", form + table, "/doctors")


@site.page("/doctors/<id>")
def doctor(world, id):
    row = world.doctor.get(id)
    if row is None:
        raise NotFound(page("No such doctor", "<p>Try the <a href='/doctors'>list</a>.</p>"))
    body = (
        "<nav aria-label=Breadcrumb><ol><li><a href='/'>Home</a></li><li><a href='/doctors'>Doctors</a></li>"
        f"<li aria-current=page>{escape(row['name'])}</li></ol></nav>"
        f"<p>Room <strong>{row['room']}</strong>, <span aria-label='{row['years']} years of work'>{row['years']} y</span></p>"
        "<details><summary>Training</summary><ol><li>Ghent<ul><li>Bachelor</li><li>Master<ol><li>Thesis</li></ol></li></ul>"
        "</li><li>Paris</li></ol></details>"
        "<details open><summary><h2>Languages</h2></summary><ul><li>Dutch</li><li>French</li></ul>"
        "<details><summary>More</summary><p>A little Greek.</p></details></details>"
        f"<a href='/book?doctor={id}' role=button>Book a visit</a>"
    )
    return page(row["name"], body)


def field(name, label, control, errors, hint=""):
    """Return a field with its label, its hint and its error."""
    error = f"<p id={name}-error role=alert>{escape(errors[name])}</p>" if name in errors else ""
    tip = f"<small id={name}-hint>{hint}</small>" if hint else ""
    about = " ".join([f"{name}-hint"] * bool(hint) + [f"{name}-error"] * (name in errors))
    described = f" aria-describedby='{about}'" if about else ""
    invalid = " aria-invalid=true" if name in errors else ""
    return f"<div><label for={name}>{label}</label> {control.replace('@', f'id={name} name={name}{described}{invalid}')}{tip}{error}</div>"


def first_form(world, doctor, values, errors):
    options = "".join(
        f"<optgroup label={area}>"
        + "".join(
            f"<option value={row['id']}{' selected' if row['id'] == doctor else ''}>{escape(row['name'])}</option>"
            for row in world.doctor
            if row["field"] == area
        )
        + "</optgroup>"
        for area in sorted({row["field"] for row in world.doctor})
    )
    summary = (
        "<div role=alert aria-labelledby=problems tabindex=-1><h2 id=problems>There is a problem</h2><ul>"
        + "".join(f"<li><a href='#{name}'>{escape(text)}</a></li>" for name, text in errors.items())
        + "</ul></div>"
        if errors
        else ""
    )
    return page(
        "Book: 1 of 3",
        summary
        + "<form method=post action='/book' novalidate>"
        + field("doctor", "Doctor", f"<select @>{options}</select>", {})
        + field(
            "patient",
            "Patient <span aria-hidden=true>*</span>",
            f"<input @ required value='{escape(values['patient'])}'>",
            errors,
        )
        + field(
            "born",
            "Born",
            f"<input type=date @ max=2029-03-01 value='{escape(values['born'])}'>",
            errors,
            "Year, month, day",
        )
        + field("phone", "Phone", f"<input type=tel @ value='{escape(values['phone'])}'>", errors)
        + "<button>Continue</button> <a href='/'>Cancel</a></form>",
    )


EMPTY = {"patient": "", "born": "", "phone": ""}


@site.page("/book")
def book(world, doctor=""):
    return first_form(world, doctor, EMPTY, {})


@site.post("/book")
def begin(world, doctor="", patient="", born="", phone=""):
    errors = {}
    if not patient.strip():
        errors["patient"] = "Enter the patient's name"
    if not born:
        errors["born"] = "Enter a date of birth"
    if phone and not phone.replace(" ", "").isdigit():
        errors["phone"] = "A phone number has digits only"
    if errors:
        return first_form(world, doctor, {"patient": patient, "born": born, "phone": phone}, errors)
    visit = world.visit.add(doctor=doctor, patient=patient, born=born)
    raise Redirect(f"/visits/{visit['id']}/when")


def visit_of(world, id):
    row = world.visit.get(id)
    if row is None:
        raise NotFound(page("No such visit", "<p>It may have been cancelled.</p>"))
    return row


@site.page("/visits/<id>/when")
def when(world, id):
    row = visit_of(world, id)
    hours = "".join(
        f"<li><input type=radio name=hour id=h{at} value={hour}{' disabled' if at == 1 else ''} required>"
        f"<label for=h{at}>{hour}</label></li>"
        for at, hour in enumerate(HOURS)
    )
    reasons = "".join(
        f"<label><input type=checkbox name=reasons value='{name}'>{name}</label><br>"
        for name in ("Pain", "Check-up", "Second opinion")
    )
    body = (
        f"<p>For {escape(row['patient'])}.</p><form method=post>"
        "<p><label>Day <input type=date name=day required min=2029-03-02 max=2029-12-31></label></p>"
        f"<fieldset><legend>Hour</legend><ul>{hours}</ul></fieldset>"
        f"<fieldset><legend>Reasons</legend>{reasons}</fieldset>"
        "<p><label for=pain>Pain from 0 to 10</label><input type=range id=pain name=pain min=0 max=10 step=1 value=2></p>"
        "<p><label>Arrival <input type=time name=arrival></label> <label>Colour of the tag <input type=color name=colour "
        "value='#336699'></label></p>"
        "<fieldset disabled><legend>Insurance (closed)</legend><label>Number <input name=insurance></label></fieldset>"
        "<button name=step value=next>Continue</button> <button name=step value=back formnovalidate>Back</button></form>"
    )
    return page("Book: 2 of 3", body)


@site.post("/visits/<id>/when")
def set_when(world, id, step="", day="", hour="", reasons=(), pain="", colour=""):
    row = visit_of(world, id)
    if step == "back":
        raise Redirect(f"/book?doctor={row['doctor']}")
    row["day"], row["hour"], row["pain"], row["colour"] = day, hour, pain, colour
    row["reasons"] = [*reasons] if not isinstance(reasons, str) else [reasons]
    raise Redirect(f"/visits/{id}/confirm")


@site.page("/visits/<id>/confirm")
def confirm(world, id):
    row = visit_of(world, id)
    items = "".join(f"<li>{escape(reason)}</li>" for reason in row["reasons"]) or "<li>none</li>"
    body = (
        f"<dl><dt>Day</dt><dd><time>{row['day']}</time> at {row['hour']}</dd><dt>Pain</dt><dd>{row['pain']}</dd>"
        f"<dt>Reasons</dt><dd><ul>{items}</ul></dd></dl>"
        "<form method=post onsubmit=\"return confirm('Book it, really?')\"><label>Note<textarea name=note rows=3 "
        "maxlength=80 placeholder='Anything else'></textarea></label><label>Letters <input type=file name=files multiple>"
        "</label><label><input type=checkbox name=agreed required> I agree to the <a href='/help#terms'>terms</a></label>"
        "<input type=submit value='Book the visit'></form>"
        f"<form method=post action='/visits/{id}/cancel'><button>Cancel the visit</button></form>"
    )
    return page("Book: 3 of 3", body)


@site.post("/visits/<id>/confirm")
def finish(world, id, note="", files=()):
    row = visit_of(world, id)
    row["note"], row["state"] = note, "booked"
    row["files"] = [name for name in ([files] if isinstance(files, str) else files) if name]
    raise Redirect("/visits?done=1")


@site.post("/visits/<id>/cancel")
def cancel(world, id):
    world.visit.delete(visit_of(world, id)["id"])
    raise Redirect("/visits")


@site.page("/visits")
def visits(world, page_number="1", done=""):
    rows = [*world.visit]
    at = int(page_number) if page_number.isdigit() else 1
    shown = rows[2 * at - 2 : 2 * at]
    count = max(1, -(-len(rows) // 2))
    cards = "".join(
        f"<li><article aria-label='Visit {row['id']}'><h2>{row['id']} <span>{row['state']}</span></h2>"
        f"<p>{escape(row['patient'])}{', ' + row['day'] if row['day'] else ''}</p></article></li>"
        for row in shown
    )
    pages = "".join(
        f"<li>{f'<a aria-current=page>{number}</a>' if number == at else f'<a href=/visits?page_number={number}>{number}</a>'}</li>"
        for number in range(1, count + 1)
    )
    notice = "<p role=status>The visit is booked.</p>" if done else ""
    body = notice + (f"<ul>{cards}</ul>" if cards else "<p><em>No visits yet.</em></p>")
    return page("Visits", body + f"<nav aria-label=Pages><ul>{pages}</ul></nav>", "/visits")


@site.page("/help")
def help_page(_world):
    body = (
        "<ul><li><a href='#terms'>Terms</a></li><li><a href='#faq'>Questions</a></li></ul>"
        "<section id=terms><header><h2>Terms</h2></header><p>Come <ins>early</ins> <del>late</del>.</p></section>"
        "<section id=faq aria-label=Questions><h2>Questions</h2><details name=faq><summary>Parking?</summary><p>Yes.</p>"
        "</details><details name=faq><summary>Pets?</summary>No.</details></section>"
        "<div role=tablist aria-label=Topics><button role=tab aria-selected=true>Billing</button><button role=tab "
        "aria-selected=false>Records</button></div><div role=tabpanel aria-label=Billing><p>By post.</p></div>"
        "<div role=group aria-label=Switches><button role=switch aria-checked=true>Mails</button> <span role=checkbox "
        "aria-checked=mixed tabindex=0 aria-label=All></span></div>"
        "<aside><h2>See also</h2><p><kbd>F1</kbd>, <code>help</code>, H<sub>2</sub>O, x<sup>2</sup>, <mark>new</mark></p></aside>"
        "<a href='/visits' target=_blank>Visits in a new tab</a>"
        "<ul role=menu><li role=menuitem tabindex=0>Copy</li><li role=separator></li><li role=menuitem aria-disabled=true>Paste</li>"
        "</ul>"
    )
    return page("Help", body, "/help")
