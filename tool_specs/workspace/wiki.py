"""What the workspace begins with: the wiki of a small coffee roastery, its tasks and its suppliers."""

from datetime import timedelta
from hashlib import sha256

from markdown import parsed
from properties import option, schema_of
from text import dashed, rich

# fmt: off
COMPANY = "Osprey Coffee"
PEOPLE = ["Ines Prado", "Wim Bakker", "Salma Idrissi", "Jonah Reed", "Freya Lund"]
PAGES = [
    # title, in which page, emoji, author, days since the last change, content
    ("Osprey Coffee", None, "☕", "Ines Prado", 12,
     "Welcome to the wiki of **Osprey Coffee**. What is not written down here, ask Ines.\n---\n## Start here"),
    ("Handbook", "Osprey Coffee", "📘", "Ines Prado", 40, "How we work, in four short pages."),
    ("Opening hours", "Handbook", None, "Salma Idrissi", 40,
     "## Shop\n- Tuesday to Friday, 8:00 to 18:00\n- Saturday, 9:00 to 17:00\n## Roastery\n"
     "- Monday to Thursday, 7:00 to 15:00\n> Closed on 27 April and 25 December."),
    ("Expenses", "Handbook", None, "Freya Lund", 96,
     "1. Keep the receipt.\n2. Send a photo to freya@ospreycoffee.example before the 5th.\n"
     "3. Up to €50 needs no approval.\nThe form is [in the drive](https://drive.ospreycoffee.example/expenses)."),
    ("Holidays", "Handbook", None, "Ines Prado", 61,
     "Everyone has 27 days a year. Ask at least **three weeks** ahead.\n- [x] Calendar of 2029 is filled in\n"
     "- [ ] Plan the summer"),
    ("Onboarding", "Handbook", "👋", "Salma Idrissi", 133,
     "### First day\n- [ ] Keys and alarm code\n- [ ] Account for the till\n\t- Ask Jonah for the password\n"
     "- [ ] Taste the five house coffees"),
    ("Roasting", "Osprey Coffee", "🔥", "Wim Bakker", 5,
     "Profiles are for the 15 kg drum. Times are to first crack."),
    ("Profile: Harbour blend", "Roasting", None, "Wim Bakker", 5,
     "## Charge\n14 kg at 196 °C, gas 70 %.\n```plain text\n 0:00  196\n 4:30  150\n 9:10  first crack\n"
     "10:50  drop at 212\n```\nRest for **five** days before sale."),
    ("Profile: Sidamo washed", "Roasting", None, "Wim Bakker", 19,
     "## Charge\n12 kg at 188 °C, gas 60 %.\n- Drop at `206 °C`\n- Cup after two days"),
    ("Machine maintenance", "Roasting", "🔧", "Jonah Reed", 27,
     "1. Empty the chaff collector each day.\n2. Clean the fan each month.\n"
     "3. Descale the espresso machine each quarter."),
    ("Meetings", "Osprey Coffee", "🗓️", "Ines Prado", 3, "One page for each week. The newest is at the end."),
    ("Weekly meeting, 12 February", "Meetings", None, "Freya Lund", 17,
     "## Present\nAll but Jonah.\n## Decisions\n- The price of Harbour blend stays.\n- Wim orders new bags."),
    ("Weekly meeting, 19 February", "Meetings", None, "Freya Lund", 10,
     "## Present\nAll.\n## Decisions\n- The stall at the spring fair is booked.\n- Salma writes the poster."),
    ("Weekly meeting, 26 February", "Meetings", None, "Freya Lund", 3,
     "## Present\nAll but Salma.\n## Decisions\n- The espresso machine is descaled before the fair.\n"
     "- Freya asks two insurers."),
    ("Spring fair", "Osprey Coffee", "🎪", "Salma Idrissi", 8,
     "Stall 14, next to the fountain.\n- [x] Book the stall\n- [ ] Poster\n- [ ] Two batch brewers\n"
     "- [ ] Change: €200 in coins"),
]
TRASHED = ("Summer menu (draft)", "Osprey Coffee", None, "Jonah Reed", 50, "Cold brew, tonic, affogato.")
PRIORITIES = [{"name": "High", "color": "red"}, {"name": "Medium", "color": "yellow"}, {"name": "Low", "color": "gray"}]
KINDS = [{"name": "Coffee"}, {"name": "Packaging"}, {"name": "Machines"}]
DATABASES = {
    "Suppliers": {
        "description": "Who sells us what.", "icon": "🚚", "template": None,
        "properties": {
            "Name": {"title": {}}, "Kind": {"select": {"options": KINDS}}, "Country": {"select": {}},
            "Price per kg": {"number": {"format": "euro"}}, "Certified": {"checkbox": {}}, "E-mail": {"email": {}},
            "Phone": {"phone_number": {}}, "Website": {"url": {}}, "Since": {"date": {}},
        },
        "rows": [
            ("Finca La Loma", "Coffee", "Colombia", 8.9, True, "ventas@laloma.example", "+57 8 555 0140", None, -1200),
            ("Sidamo Union", "Coffee", "Ethiopia", 7.4, True, "export@sidamounion.example", "+251 11 555 0177",
             "https://sidamounion.example", -800),
            ("Fazenda Aurora", "Coffee", "Brazil", 5.2, False, "contato@aurora.example", None, None, -300),
            ("Bagfolk", "Packaging", "Netherlands", None, False, "hello@bagfolk.example", "+31 10 555 0122",
             "https://bagfolk.example", -450),
            ("Grindwerk", "Machines", "Germany", None, False, "service@grindwerk.example", "+49 40 555 0105",
             "https://grindwerk.example", -950),
        ],
    },
    "Tasks": {
        "description": "What is to be done, by whom, and when.", "icon": "✅", "template": "New task",
        "properties": {
            "Name": {"title": {}}, "Status": {"status": {}}, "Assignee": {"people": {}}, "Due": {"date": {}},
            "Priority": {"select": {"options": PRIORITIES}}, "Tags": {"multi_select": {}}, "Hours": {"number": {}},
            "Supplier": {"relation": {}}, "Notes": {"rich_text": {}}, "ID": {"unique_id": {"prefix": "OSP"}},
            "Created": {"created_time": {}},
        },
        "rows": [
            ("Descale the espresso machine", "In progress", ["Jonah Reed"], 6, "High", ["machines"], 2, [],
             "Before the fair."),
            ("Order new bags", "Done", ["Wim Bakker"], -8, "Medium", ["purchasing"], 1, ["Bagfolk"], "2,000 of 250 g."),
            ("Poster for the spring fair", "In progress", ["Salma Idrissi"], 9, "High", ["fair"], 5, [], ""),
            ("Ask two insurers for an offer", "Not started", ["Freya Lund"], 14, "Low", ["office"], 3, [], ""),
            ("Cup the new samples from Huila", "Not started", ["Wim Bakker", "Ines Prado"], 4, "Medium", ["coffee"], 2,
             ["Finca La Loma"], "Six samples."),
            ("Repair the grinder of the shop", "Done", ["Jonah Reed"], -20, "High", ["machines"], 4, ["Grindwerk"],
             "New burrs."),
            ("Plan the summer holidays", "Not started", ["Ines Prado"], 31, "Low", ["office"], None, [], ""),
            ("Rent two batch brewers", "Not started", ["Salma Idrissi"], 11, "High", ["fair", "machines"], 1,
             ["Grindwerk"], ""),
            ("Contract with Sidamo Union", "In progress", ["Ines Prado"], 2, "High", ["coffee", "purchasing"], 6,
             ["Sidamo Union"], "Price is agreed."),
            ("Clean the fan of the roaster", "Done", ["Wim Bakker"], -3, "Medium", ["machines"], 2, [], ""),
            ("Photos for the web shop", "Not started", [], None, "Low", [], 8, [], ""),
        ],
    },
}
COMMENTS = [
    ("Descale the espresso machine", "Salma Idrissi", 2, "The light has been on since Tuesday."),
    ("Descale the espresso machine", "Jonah Reed", 1, "I have the powder, and do it before opening."),
    ("Contract with Sidamo Union", "Freya Lund", 4, "Please check the delivery terms again."),
    ("Profile: Harbour blend", "Ines Prado", 5, "Batch 118 tasted a little flat."),
    ("Spring fair", "Wim Bakker", 7, "Can we have power at the stall?"),
]
# fmt: on


def id_of(*path):
    """Return the id of something that each world begins with."""
    return dashed(sha256("/".join(path).encode()).hexdigest()[:32])


def stamp(time):
    return time.strftime("%Y-%m-%dT%H:%M:00.000Z")


def fill(world, most):
    """Write the wiki, with at most so many rows of each database."""
    for name in PEOPLE:
        email = f"{name.split()[0].lower()}@ospreycoffee.example"
        world.user.add(id=id_of("user", name), name=name, type="person", email=email)
    for at, (title, within, emoji, author, days, text) in enumerate((*PAGES, TRASHED)):
        above = id_of("page", within) if within else "workspace"
        given = {"title": title, "parent": above, "icon": icon(emoji), "place": 100 + at}
        row = world.page.add(given, id=id_of("page", title), **times(world, author, days, 4 * days + 30),
                             properties={"title": rich([{"text": {"content": title}}], "")})  # fmt: skip
        row["in_trash"] = title == TRASHED[0]
        write(world, row, parsed(text), author, 4 * days + 30)
    for at, (name, database) in enumerate(DATABASES.items()):
        fill_database(world, name, database, 200 + at, most)
    for at, (title, author, days, text) in enumerate(COMMENTS):
        if world.page.get(id_of("page", title)) is not None:
            world.comment.add(
                id=id_of("comment", str(at)), parent=id_of("page", title), discussion=id_of("discussion", title),
                created_time=stamp(world.now - timedelta(days=days)), created_by=id_of("user", author),
                rich_text=rich([{"text": {"content": text}}], ""), text=text,
            )  # fmt: skip


def icon(emoji):
    return emoji and {"type": "emoji", "emoji": emoji}


def times(world, author, edited, created):
    who = id_of("user", author)
    return {
        "created_time": stamp(world.now - timedelta(days=created, hours=2)), "created_by": who,
        "last_edited_time": stamp(world.now - timedelta(days=edited, hours=1)), "last_edited_by": who,
    }  # fmt: skip


def write(world, above, blocks, author, days):
    for at, (kind, content, children) in enumerate(blocks):
        row = world.block.add(id=id_of("block", above["id"], str(at)), parent=above["id"], type=kind, content=content,
                              place=at, **times(world, author, days, days))  # fmt: skip
        write(world, row, children, author, days)


def fill_database(world, name, described, place, most):
    about = {
        "description": described["description"],
        "icon": icon(described["icon"]),
        **times(world, PEOPLE[0], 30, 400),
    }
    database = world.database.add(
        about, id=id_of("database", name), title=name, parent=id_of("page", COMPANY), place=place
    )
    key = id_of("source", name)
    schemas = {title: schema_of(key, title, given) for title, given in described["properties"].items()}
    if "Supplier" in schemas:
        target = {"data_source_id": id_of("source", "Suppliers"), "database_id": id_of("database", "Suppliers")}
        schemas["Supplier"]["relation"] = {**target, "type": "single_property", "single_property": {}}
    templates = (
        [{"id": id_of("template", name), "name": described["template"], "is_default": True}]
        if described["template"]
        else []
    )
    source = world.data_source.add(
        about, id=key, title=name, parent=database["id"], properties=schemas, templates=templates
    )
    for at, values in enumerate(described["rows"][:most]):
        author = PEOPLE[at % len(PEOPLE)]
        row = world.page.add(id=id_of("page", values[0]), title=values[0], parent=key, place=at,
                             **times(world, author, at + 1, 40 - 2 * at))  # fmt: skip
        kept = zip(source["properties"].values(), values, strict=False)
        row["properties"] = {schema["id"]: value_from(world, schema, value) for schema, value in kept}
        for schema in source["properties"].values():
            if schema["type"] == "unique_id":
                row["properties"][schema["id"]] = at + 1


def value_from(world, schema, value):
    """Return a value of a row as pages keep it; it is written down here in a shorter form."""
    kind = schema["type"]
    if kind in ("title", "rich_text"):
        return rich([{"text": {"content": value}}] if value else [], "")
    if kind == "date":
        return value and {"start": str((world.now + timedelta(days=value)).date()), "end": None, "time_zone": None}
    if kind in ("people", "relation"):
        table, name = (world.user, "user") if kind == "people" else (world.page, "page")
        return [key for key in (id_of(name, title) for title in value) if table.get(key) is not None]
    for choice in value if kind == "multi_select" else [value] if kind in ("select", "status") else ():
        option(schema, choice)
    return value
