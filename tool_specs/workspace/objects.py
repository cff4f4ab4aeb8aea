"""Objects of a simulated workspace as its service returns them, and the pages of lists."""

from markdown import line_of
from properties import PLAIN, property_of
from text import MOST, Wrong, content_of, dashed, invalid, rich

ME = "9c1d7a52-64f0-4b8e-a3c7-0f5e2b916d48"
"""The integration, as a user."""
NAME = "Assistant"


def key_of(value, path="path"):
    """Return an id with its dashes. Raises `Wrong` for any other text."""
    digits = value.replace("-", "").lower() if isinstance(value, str) else ""
    if len(digits) != 32 or not all(digit in "0123456789abcdef" for digit in digits):
        raise invalid(path, "a valid uuid", value)
    return dashed(digits)


def known(table, kind, given, path):
    """Return the row of an id. Raises `Wrong`."""
    key = key_of(given, path)
    row = table.get(key)
    if row is None:
        raise missing(kind, key)
    return row


def missing(kind, key):
    shared = f'Make sure the relevant pages and databases are shared with your integration "{NAME}".'
    return Wrong(f"Could not find {kind} with ID: {key}. {shared}", 404, "object_not_found")


def any_block(world, given, path="path.block_id"):
    """Return a block, a page or a database by its id: pages and databases are blocks, too."""
    key = key_of(given, path)
    row = world.block.get(key) or world.page.get(key) or world.database.get(key)
    if row is None:
        raise missing("block", key)
    return row


def editable(world, row):
    """Return a row. Raises `Wrong` if it, or one that it is in, is in the trash."""
    discarded = trashed(world, row)
    if discarded is row:
        raise Wrong("Can't edit block that is archived. You must unarchive the block before editing.")
    if discarded is not None:
        raise Wrong(
            "Can't edit page on block with an archived ancestor. You must unarchive the ancestor before editing."
        )
    return row


def trashed(world, row):
    """Return what is in the trash: a row, or one that it is in; None if it is not."""
    while row is not None and not row["in_trash"]:
        row = container(world, row)
    return row


def container(world, row):
    """Return what a row is in; None for the workspace."""
    key = row["parent"]
    return world.page.get(key) or world.block.get(key) or world.data_source.get(key) or world.database.get(key)


def children(world, key):
    """Return the blocks, pages and databases in a block or page, in their order."""
    return [row for row in all_children(world, key) if not row["in_trash"]]


def all_children(world, key):
    """Return the children of a block or page, with those in the trash."""
    rows = (*world.block.find(parent=key), *world.page.find(parent=key), *world.database.find(parent=key))
    return sorted(rows, key=lambda row: row["place"])


def listed(kind, rows, start_cursor, page_size, shown):
    """Return a page of rows, as `shown` renders them. A cursor is the id of the next row. Raises `Wrong`."""
    size = MOST if page_size is None else page_size
    if not 1 <= size <= MOST:
        raise invalid("body.page_size", f"≤ `{MOST}`" if size > MOST else "≥ `1`", size)
    start = 0
    if start_cursor is not None:
        ids = [row["id"] for row in rows]
        if start_cursor not in ids:
            raise Wrong(f"The start_cursor provided is invalid: {start_cursor}")
        start = ids.index(start_cursor)
    after = rows[start + size] if start + size < len(rows) else None
    answer = {"object": "list", "results": [shown(row) for row in rows[start : start + size]]}
    return answer | {"next_cursor": after and after["id"], "has_more": after is not None, "type": kind, kind: {}}


# objects --------------------------------------------------------------------------------------------------------------


def user(row):
    shown = {"object": "user", "id": row["id"], "name": row["name"], "avatar_url": None, "type": row["type"]}
    if row["type"] == "person":
        return shown | {"person": {"email": row["email"]}}
    return shown | {"bot": {"owner": {"type": "workspace", "workspace": True}, "workspace_name": row["workspace"]}}


def author(row, name="created_by"):
    """Return the id of the user who made or changed a row: the integration, if a given row names no one."""
    return row.get(name) or ME


def head(world, kind, row):
    """Return what pages, databases, data sources and blocks have in common."""
    people = {name: {"object": "user", "id": author(row, name)} for name in ("created_by", "last_edited_by")}
    times = {name: row[name] for name in ("created_time", "last_edited_time")}
    return {"object": kind, "id": row["id"], **times, **people, "parent": parent(world, row["parent"]),
            "archived": row["in_trash"], "in_trash": row["in_trash"]}  # fmt: skip


def parent(world, key):
    if key == "workspace":
        return {"type": "workspace", "workspace": True}
    source = world.data_source.get(key)
    if source is not None:
        return {"type": "data_source_id", "data_source_id": key, "database_id": source["parent"]}
    kind = "page_id" if world.page.get(key) else "database_id" if world.database.get(key) else "block_id"
    return {"type": kind, kind: key}


def address(title, key):
    words = "-".join("".join(letter if letter.isalnum() else " " for letter in title).split())
    return f"https://www.notion.so/{words}-{key.replace('-', '')}".replace("/-", "/")


def page(world, row, only=None):
    schemas = schemas_of(world, row)
    shown = {name: prop(world, schema, row) for name, schema in schemas.items() if not only or schema["id"] in only}
    outside = {"cover": row["cover"], "icon": row["icon"], "properties": shown}
    return head(world, "page", row) | outside | {"url": address(row["title"], row["id"]), "public_url": None}


TITLE = {"title": {"id": "title", "name": "title", "type": "title", "title": {}}}


def schemas_of(world, row):
    """Return the properties of a page: those of its data source, or only a title."""
    source = world.data_source.get(row["parent"])
    return TITLE if source is None else source["properties"]


def prop(world, schema, row):
    """Return the value of a property of a page."""
    kind, value = schema["type"], row["properties"].get(schema["id"])
    return {"id": schema["id"], "type": kind, kind: shown_value(world, schema, row, value)}


def shown_value(world, schema, row, value):
    kind = schema["type"]
    if kind in ("created_time", "last_edited_time"):
        return row[kind]
    if kind in ("created_by", "last_edited_by"):
        return user(world.user.get(author(row, kind)))
    if kind == "unique_id":
        return {"prefix": schema[kind].get("prefix"), "number": value}
    if kind in ("select", "status", "multi_select"):
        options = {
            option["name"]: {name: option[name] for name in ("id", "name", "color")}
            for option in schema[kind]["options"]
        }
        return [options[key] for key in value or [] if key in options] if kind == "multi_select" else options.get(value)
    if kind == "people":
        return [user(world.user.get(key)) for key in value or []]
    if kind == "relation":
        return [{"id": key} for key in value or []]
    if kind == "checkbox":
        return bool(value)
    return value if kind in PLAIN or kind == "date" else value or []


def property_item(world, row, name, start_cursor, page_size):
    """Return a property of a page, or a page of its parts if there may be many. Raises `Wrong`."""
    schema = property_of(schemas_of(world, row), name)
    if schema is None:
        raise Wrong(f"Could not find property with name or id: {name}", 404, "object_not_found")
    shown = prop(world, schema, row)
    kind = shown["type"]
    if kind not in ("title", "rich_text", "people", "relation"):
        return {"object": "property_item", **shown}
    rows = [{"object": "property_item", **shown, kind: item} for item in shown[kind]]
    numbered = [{"id": str(at), "item": item} for at, item in enumerate(rows)]
    answer = listed("property_item", numbered, start_cursor, page_size, lambda entry: entry["item"])
    return answer | {"property_item": {"id": schema["id"], "next_url": None, "type": kind, kind: {}}}


def database(world, row):
    sources = [{"id": source["id"], "name": source["title"]} for source in world.data_source.find(parent=row["id"])]
    return head(world, "database", row) | outside(row) | {"data_sources": sources}


def data_source(world, row):
    above = parent(world, world.database.get(row["parent"])["parent"])
    return head(world, "data_source", row) | outside(row) | {"properties": row["properties"], "database_parent": above}


def outside(row):
    """Return the title and the like of a database or a data source."""
    texts = {
        name: rich([{"text": {"content": row[name]}}] if row[name] else [], "") for name in ("title", "description")
    }
    images = {"icon": row["icon"], "cover": row["cover"], "is_inline": False}
    return texts | images | {"url": address(row["title"], row["id"]), "public_url": None}


def kind_of(row):
    """Return the type of a block. Pages and databases are blocks, too."""
    return row.get("type") or ("child_page" if "properties" in row else "child_database")


def block(world, row):
    kind = kind_of(row)
    content = block_content(row) if "type" in row else {"title": row["title"]}
    more = {"has_children": bool(children(world, row["id"])), "type": kind, kind: content}
    return head(world, "block", row) | more


def block_content(row):
    """Return the content of a block, with what a given one leaves out. Raises `Wrong`."""
    return content_of(row["type"], {"rich_text": [], **row["content"]}, "block")


def comment(world, row):
    return {
        "object": "comment", "id": row["id"], "parent": parent(world, row["parent"]),
        "discussion_id": row["discussion"], "created_time": row["created_time"],
        "last_edited_time": row["created_time"], "created_by": {"object": "user", "id": author(row)},
        "rich_text": row["rich_text"],
        "display_name": {"type": "user", "resolved_name": world.user.get(author(row))["name"]},
    }  # fmt: skip


def found(world, row):
    return data_source(world, row) if "templates" in row else page(world, row)


def markdown(world, row):
    unknown = []
    lines = lines_of(world, row["id"], unknown)
    return {"object": "page_markdown", "id": row["id"], "markdown": "\n".join(lines), "truncated": False,
            "unknown_block_ids": unknown}  # fmt: skip


def lines_of(world, key, unknown, depth=0):
    """Return the lines of a page in Markdown, and add the ids of what has none to `unknown`."""
    lines, number = [], 0
    for row in children(world, key):
        kind = row.get("type") or ("page" if "properties" in row else "database")
        number = number + 1 if kind == "numbered_list_item" else 0
        line = line_of(kind, block_content(row), number) if "type" in row else None
        if line is None:
            tag = "unknown" if "type" in row else kind
            text = f' alt="{kind}"/>' if "type" in row else f">{row['title']}</{kind}>"
            line = f'<{tag} url="{address(row.get("title", ""), row["id"])}"{text}'
            unknown += [row["id"]] if "type" in row else []
        lines += ["\t" * depth + wrapped for wrapped in line.split("\n")]
        if "type" in row and row["id"] not in unknown:
            lines += lines_of(world, row["id"], unknown, depth + 1)
    return lines
