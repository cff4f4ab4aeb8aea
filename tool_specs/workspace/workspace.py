"""A simulated workspace: pages of blocks, databases with typed properties, comments, people.

The tools are called as those of Notion's public server. A refusal is an ordinary result, as that server returns it.
"""

import objects
import writes
from filters import condition, ordered
from markdown import edited
from objects import ME, NAME, any_block, editable, known, listed
from text import Wrong, answering, invalid, mapping
from wiki import COMPANY, fill

from mcp_sim.programs import Rpc, initial, invalid_arguments, tool, unknown_tool

# fmt: off
tables = {
    "user": {"natural": True, "fields": {"id": "", "name": "", "type": "person", "email": "", "workspace": ""}},
    "page": {
        "links": {"created_by": "user", "last_edited_by": "user"},
        "fields": {
            "id": {"type": "string", "format": "uuid"},
            "parent": "workspace", "title": "", "properties": {}, "icon": None, "cover": None, "place": 0,
            "in_trash": False, "created_time": "", "created_by": "", "last_edited_time": "", "last_edited_by": "",
        },
    },
    "database": {
        "links": {"created_by": "user", "last_edited_by": "user"},
        "fields": {
            "id": {"type": "string", "format": "uuid"},
            "parent": "workspace", "title": "", "description": "", "icon": None, "cover": None, "place": 0,
            "in_trash": False, "created_time": "", "created_by": "", "last_edited_time": "", "last_edited_by": "",
        },
    },
    "data_source": {
        "links": {"parent": "database", "created_by": "user", "last_edited_by": "user"},
        "fields": {
            "id": {"type": "string", "format": "uuid"},
            "parent": "", "title": "", "description": "", "icon": None, "cover": None, "properties": {},
            "templates": [], "in_trash": False, "created_time": "", "created_by": "", "last_edited_time": "",
            "last_edited_by": "",
        },
    },
    "block": {
        "links": {"created_by": "user", "last_edited_by": "user"},
        "fields": {
            "id": {"type": "string", "format": "uuid"},
            "parent": "", "type": "paragraph", "content": {}, "text": "", "place": 0, "in_trash": False,
            "created_time": "", "created_by": "", "last_edited_time": "", "last_edited_by": "",
        },
    },
    "comment": {
        "links": {"created_by": "user"},
        "fields": {
            "id": {"type": "string", "format": "uuid"},
            "parent": "", "discussion": "", "rich_text": [], "text": "", "created_time": "", "created_by": "",
        },
    },
}
# fmt: on


@initial
def begin(given, world):
    """Fill the workspace; `rows` of the state says with how many rows of each database at most."""
    world.user.add(id=ME, name=NAME, type="bot", workspace=COMPANY)
    rows = (given or {}).get("rows", 100)
    if not str(rows).isdecimal():
        raise ValueError(f"world.state.rows: expected a number of rows, got {rows!r}")
    fill(world, int(rows))


@invalid_arguments
def refuse(_world, _tool, _arguments, problems):
    return Wrong(f"body failed validation: {'; '.join(problems)}").body


@unknown_tool
def unknown(_world, tool, _arguments):
    raise Rpc(-32603, f"Method {tool} not found")


# people and search ----------------------------------------------------------------------------------------------------


@tool("API-get-user")
@answering
def get_user(world, user_id):
    return objects.user(known(world.user, "user", user_id, "path.user_id"))


@tool("API-get-users", rows="results")
@answering
def get_users(world, start_cursor=None, page_size=None):
    return listed("user", [*world.user], start_cursor, page_size, objects.user)


@tool("API-get-self")
@answering
def get_self(world):
    return objects.user(world.user[ME])


@tool("API-post-search", reads=True, verb="search", entity="page", rows="results")
@answering
def search(world, query="", sort=None, filter=None, start_cursor=None, page_size=None):
    kind = mapping(filter or {"value": None}, "body.filter").get("value")
    if kind not in (None, "page", "data_source"):
        raise invalid("body.filter.value", '`"page"` or `"data_source"`', kind)
    rows = [row for row in world.page.search(query, "title") if kind != "data_source"]
    rows += [row for row in world.data_source.search(query, "title") if kind != "page"]
    rows = [row for row in rows if not objects.trashed(world, row)]
    last_first = mapping(sort or {}, "body.sort").get("direction") != "ascending"
    rows.sort(key=lambda row: row["last_edited_time"], reverse=last_first)
    return listed("page_or_data_source", rows, start_cursor, page_size, lambda row: objects.found(world, row))


# pages ----------------------------------------------------------------------------------------------------------------


def known_page(world, page_id):
    return known(world.page, "page", page_id, "path.page_id")


@tool("API-post-page", verb="create", entity="page")
@answering
def post_page(world, parent, properties, children=None, icon=None, cover=None):
    return objects.page(world, writes.add_page(world, parent, properties, children or [], icon, cover))


@tool("API-retrieve-a-page")
@answering
def retrieve_a_page(world, page_id, filter_properties=None):
    only = [filter_properties] if isinstance(filter_properties, str) else filter_properties
    return objects.page(world, known_page(world, page_id), only)


@tool("API-patch-page", verb="update", entity="page", key="page_id")
@answering
def patch_page(world, page_id, properties=None, in_trash=None, archived=None, icon=None, cover=None):
    row = known_page(world, page_id)
    trash = archived if in_trash is None else in_trash
    writes.change_page(world, row, properties or {}, trash, {"icon": icon, "cover": cover})
    return objects.page(world, row)


@tool("API-move-page", verb="update", entity="page", key="page_id")
@answering
def move_page(world, page_id, parent):
    row = editable(world, known_page(world, page_id))
    writes.move(world, row, parent)
    return objects.page(world, row)


@tool("API-retrieve-a-page-property")
@answering
def retrieve_a_page_property(world, page_id, property_id, page_size=None, start_cursor=None):
    return objects.property_item(world, known_page(world, page_id), property_id, start_cursor, page_size)


@tool("API-retrieve-page-markdown")
@answering
def retrieve_page_markdown(world, page_id):
    return objects.markdown(world, known_page(world, page_id))


@tool("API-update-page-markdown", verb="update", entity="page", key="page_id")
@answering
def update_page_markdown(world, page_id, type, **edits):
    row = editable(world, known_page(world, page_id))
    text, may_delete = edited(objects.markdown(world, row)["markdown"], type, edits.get(type))
    writes.rewrite(world, row, text, may_delete)
    return objects.markdown(world, row)


# blocks and comments --------------------------------------------------------------------------------------------------


@tool("API-get-block-children", entity="block", rows="results")
@answering
def get_block_children(world, block_id, start_cursor=None, page_size=None):
    rows = objects.children(world, any_block(world, block_id)["id"])
    return listed("block", rows, start_cursor, page_size, lambda row: objects.block(world, row))


@tool("API-patch-block-children", verb="create", entity="block")
@answering
def patch_block_children(world, block_id, children, after=None):
    rows = writes.append(world, editable(world, any_block(world, block_id)), children, after)
    return listed("block", rows, None, None, lambda row: objects.block(world, row))


@tool("API-retrieve-a-block", verb="get", entity="block", key="block_id")
@answering
def retrieve_a_block(world, block_id):
    return objects.block(world, any_block(world, block_id))


@tool("API-update-a-block", verb="update", entity="block", key="block_id")
@answering
def update_a_block(world, block_id, type=None, archived=None, **content):
    row = any_block(world, block_id)
    writes.change_block(world, row, type if isinstance(type, dict) else content, archived)
    return objects.block(world, row)


@tool("API-delete-a-block", verb="delete", entity="block", key="block_id")
@answering
def delete_a_block(world, block_id):
    row = any_block(world, block_id)
    writes.change_block(world, row, {}, trash=True)
    return objects.block(world, row)


@tool("API-retrieve-a-comment", rows="results")
@answering
def retrieve_a_comment(world, block_id, start_cursor=None, page_size=None):
    rows = world.comment.find(parent=any_block(world, block_id)["id"])
    return listed("comment", rows, start_cursor, page_size, lambda row: objects.comment(world, row))


@tool("API-create-a-comment")
@answering
def create_a_comment(world, parent, rich_text):
    name = "block_id" if "block_id" in mapping(parent, "body.parent") else "page_id"
    above = editable(world, any_block(world, parent.get(name), f"body.parent.{name}"))
    return objects.comment(world, writes.add_comment(world, above, rich_text))


# databases ------------------------------------------------------------------------------------------------------------


def known_source(world, data_source_id):
    return known(world.data_source, "data_source", data_source_id, "path.data_source_id")


@tool("API-retrieve-a-database")
@answering
def retrieve_a_database(world, database_id):
    return objects.database(world, known(world.database, "database", database_id, "path.database_id"))


@tool("API-retrieve-a-data-source")
@answering
def retrieve_a_data_source(world, data_source_id):
    return objects.data_source(world, known_source(world, data_source_id))


@tool("API-query-data-source", reads=True, verb="list", entity="page", rows="results")
@answering
def query_data_source(
    world,
    data_source_id,
    filter=None,
    sorts=None,
    start_cursor=None,
    page_size=None,
    filter_properties=None,
    archived=False,
    in_trash=False,
):
    source = known_source(world, data_source_id)
    rows = world.page.find(parent=source["id"], in_trash=in_trash or archived)
    if filter:
        holds = condition(source["properties"], filter, world.now)
        rows = [row for row in rows if holds(row)]
    rows = ordered(source["properties"], rows, sorts or [])

    def shown(row):
        return objects.page(world, row, filter_properties)

    return listed("page_or_data_source", rows, start_cursor, page_size, shown)


@tool("API-create-a-data-source", verb="create", entity="data_source")
@answering
def create_a_data_source(world, parent, properties, title=None):
    key = mapping(parent, "body.parent").get("database_id")
    above = editable(world, known(world.database, "database", key, "body.parent.database_id"))
    return objects.data_source(world, writes.new_source(world, above, properties, title))


@tool("API-update-a-data-source", verb="update", entity="data_source", key="data_source_id")
@answering
def update_a_data_source(world, data_source_id, title=None, description=None, properties=None):
    source = editable(world, known_source(world, data_source_id))
    writes.change_source(world, source, title, description, properties or {})
    return objects.data_source(world, source)


@tool("API-list-data-source-templates")
@answering
def list_data_source_templates(world, data_source_id, start_cursor=None, page_size=None):
    rows = known_source(world, data_source_id)["templates"]
    answer = listed("template", rows, start_cursor, page_size, dict)
    return {"templates": answer["results"], "next_cursor": answer["next_cursor"], "has_more": answer["has_more"]}
