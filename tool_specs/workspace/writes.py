"""What the tools of a simulated workspace write: pages, blocks, properties, and whole pages as Markdown.

Each function checks all that it is given before it writes: what is refused changes nothing.
"""

import objects
from markdown import named, parsed
from objects import ME, children, editable, known
from properties import TYPES, option, property_of, schema_of, values
from text import Wrong, blocks, content_of, mapping, plain, rich, string
from wiki import id_of, stamp

SMALLEST = 1e-6
"""The smallest step between the places of two blocks."""


def made(world):
    now = stamp(world.now)
    return {"created_time": now, "created_by": ME, "last_edited_time": now, "last_edited_by": ME}


def touch(world, row):
    row["last_edited_time"], row["last_edited_by"] = stamp(world.now), ME


def page_with(world, row):
    """Return the page that a block is on, or the page or database itself."""
    while "type" in row:
        row = objects.container(world, row)
    return row


# pages ----------------------------------------------------------------------------------------------------------------


def parent_of(world, given, path="body.parent"):
    """Return the id of the page or the data source that a new page is in. Raises `Wrong`."""
    mapping(given, path)
    if "page_id" in given:
        return editable(world, known(world.page, "page", given["page_id"], f"{path}.page_id"))["id"]
    if "data_source_id" in given:
        source = known(world.data_source, "data_source", given["data_source_id"], f"{path}.data_source_id")
        return editable(world, source)["id"]
    if "database_id" not in given:
        lines = (f"{path}.{name} should be defined, instead was `undefined`." for name in ("page_id", "database_id"))
        raise Wrong("\n".join(["body failed validation. Fix one:", *lines]))
    row = known(world.database, "database", given["database_id"], f"{path}.database_id")
    sources = world.data_source.find(parent=row["id"])
    if len(sources) != 1:
        raise Wrong("The database has several data sources. Name one of them as the parent.")
    return editable(world, sources[0])["id"]


def last_place(world, key):
    """Return the place of the last block or page in a page or a data source, or 0."""
    return max((row["place"] for row in children(world, key)), default=0)


def set_properties(schemas, row, kept):
    """Set properties of a page, and add the options that are new."""
    for schema in schemas.values():
        value = kept.get(schema["id"])
        if schema["type"] in ("select", "multi_select") and value is not None:
            for name in value if isinstance(value, list) else [value]:
                option(schema, name)
    row["properties"].update(kept)
    row["title"] = plain(row["properties"].get("title", []))


def numbers(world, schemas, key):
    """Return the numbers of a new row by the ids of the properties that number rows."""
    ids = [schema["id"] for schema in schemas.values() if schema["type"] == "unique_id"]
    rows = world.page.find(parent=key) if ids else ()
    return {
        property_key: 1 + max((row["properties"].get(property_key, 0) for row in rows), default=0)
        for property_key in ids
    }


def add_page(world, parent, properties, content, icon, cover):
    key = parent_of(world, parent)
    source = world.data_source.get(key)
    schemas = source["properties"] if source else objects.TITLE
    kept, content = values(world, schemas, properties), blocks(content)
    first, place = numbers(world, schemas, key), last_place(world, key) + 1
    row = world.page.add(made(world), parent=key, icon=icon, cover=cover, place=place)
    set_properties(schemas, row, first | kept)
    add_blocks(world, row["id"], content, 0, 1)
    return row


def change_page(world, row, properties, trash, images):
    if trash is not False:
        editable(world, row)
    schemas = objects.schemas_of(world, row)
    set_properties(schemas, row, values(world, schemas, properties))
    row.update({name: value for name, value in images.items() if value is not None})
    row["in_trash"] = row["in_trash"] if trash is None else trash
    touch(world, row)


def move(world, row, parent):
    key = parent_of(world, parent)
    above = world.page.get(key) or world.data_source.get(key)
    while above is not None:
        if above["id"] == row["id"]:
            raise Wrong("A page cannot be moved into itself, or into a page that it contains.")
        above = objects.container(world, above)
    row["parent"], row["place"] = key, last_place(world, key) + 1
    touch(world, row)


# blocks ---------------------------------------------------------------------------------------------------------------


def add_blocks(world, key, content, place, step):
    """Add blocks to a block or a page, each a step after the one before; return the new ones."""
    rows = []
    for at, (kind, own, inner) in enumerate(content, 1):
        text = plain(own.get("rich_text", []))
        row = world.block.add(made(world), parent=key, type=kind, content=own, text=text, place=place + at * step)
        add_blocks(world, row["id"], inner, 0, 1)
        rows.append(row)
    return rows


def append(world, above, given, after):
    """Add blocks at the end of a block or a page, or after one of its blocks; return the new ones."""
    content = blocks(given)
    if after is None:
        place, step = last_place(world, above["id"]), 1
    else:
        before = known(world.block, "block", after, "body.after")
        if before["parent"] != above["id"]:
            raise Wrong(f"Block with ID {before['id']} is not a child of the block to append to.")
        place, step = room_after(world, before, len(content))
    rows = add_blocks(world, above["id"], content, place, step)
    touch(world, page_with(world, above))
    return rows


def room_after(world, row, count):
    """Return the place of a block and the step between new ones after it. Number all again if it is too small."""
    rows = objects.all_children(world, row["parent"])
    at = [sibling["id"] for sibling in rows].index(row["id"])
    step = (rows[at + 1]["place"] - row["place"]) / (count + 1) if at + 1 < len(rows) else 1
    if step >= SMALLEST:
        return row["place"], step
    for number, child in enumerate(rows, 1):
        child["place"] = number
    return at + 1, 1 / (count + 1)


def add_comment(world, above, rich_text):
    pieces = rich(rich_text, "body.rich_text")
    now, text = stamp(world.now), plain(pieces)
    row = world.comment.add(parent=above["id"], rich_text=pieces, text=text, created_time=now, created_by=ME)
    row["discussion"] = id_of("discussion", row["id"])
    return row


def change_block(world, row, given, trash):
    if trash is not False:
        editable(world, row)
    kind = objects.kind_of(row)
    if given and "content" not in row:
        raise Wrong(f"Blocks of the type {kind} cannot be updated.")
    if given:
        own = mapping(given.get(kind), f"body.{kind}")
        row["content"] = content_of(kind, row["content"] | own, f"body.{kind}")
        row["text"] = plain(row["content"].get("rich_text", []))
    row["in_trash"] = row["in_trash"] if trash is None else trash
    touch(world, row)


# data sources ---------------------------------------------------------------------------------------------------------


def new_source(world, above, properties, title):
    """Add a data source to a database. Raises `Wrong`."""
    name = plain(rich(title or [], "body.title"))
    given = mapping(properties, "body.properties").items()
    schemas = {heading: schema_of(f"{above['id']}/{name}", heading, schema) for heading, schema in given}
    if [schema["type"] for schema in schemas.values()].count("title") != 1:
        raise Wrong("Title is not provided.")
    return world.data_source.add(made(world), parent=above["id"], title=name, properties=schemas)


def change_source(world, row, title, description, properties):
    """Change the title, the description and the properties of a data source. Raises `Wrong`."""
    given = {name: text for name, text in (("title", title), ("description", description)) if text is not None}
    texts = {name: plain(rich(text, f"body.{name}")) for name, text in given.items()}
    schemas = dict(row["properties"])
    for name, change in mapping(properties, "body.properties").items():
        schemas = changed(row["id"], schemas, name, change)
    if [schema["type"] for schema in schemas.values()].count("title") != 1:
        raise Wrong("A data source has one title property, which can be renamed only.")
    row.update(texts, properties=schemas)
    touch(world, row)


def changed(source, schemas, name, change):
    """Return properties after one of them was added, changed, renamed, or, by None, removed. Raises `Wrong`."""
    old = property_of(schemas, name)
    if old is None:
        if change is None:
            raise Wrong(f"Could not find property with name or id: {name}")
        return schemas | {name: schema_of(source, name, change)}
    if change is None:
        return {key: schema for key, schema in schemas.items() if schema is not old}
    path = f"body.properties.{name}"
    title = string(mapping(change, path).get("name", old["name"]), f"{path}.name")
    if title != old["name"] and title in schemas:
        raise Wrong(f"There is a property with the name {title} already.")
    new = schema_of(source, title, change) if any(word in change for word in TYPES) else {**old, "name": title}
    new["id"] = old["id"] if new["type"] == old["type"] else new["id"]
    return {new["name"] if schema is old else key: new if schema is old else schema for key, schema in schemas.items()}


# Markdown -------------------------------------------------------------------------------------------------------------


def rewrite(world, page, text, may_delete):
    """Replace what is on a page by a Markdown text. Lines that name a page or a block keep it. Raises `Wrong`."""
    content = parsed(text)
    kept = {*named(content)}
    old = {row["id"]: row for row in inside(world, page["id"], kept)}
    gone = [row for key, row in old.items() if key not in kept]
    if any("type" not in row for row in gone) and not may_delete:
        raise Wrong("The new content leaves out pages. To delete them, set allow_deleting_content.")
    for row in gone:
        row["in_trash"] = True
    place_all(world, page["id"], content, old)
    touch(world, page)


def inside(world, key, kept):
    """Yield the blocks and pages on a page, but not what is in those that are kept."""
    for row in children(world, key):
        yield row
        if "type" in row and row["id"] not in kept:
            yield from inside(world, row["id"], kept)


def place_all(world, key, content, old):
    """Add parsed blocks to a page or a block, and put those that a line names where the line is."""
    for at, block in enumerate(content, 1):
        if isinstance(block, tuple):
            (row,) = add_blocks(world, key, [(*block[:2], [])], at - 1, 1)
            place_all(world, row["id"], block[2], old)
        elif block in old:
            old[block].update(parent=key, place=at)
