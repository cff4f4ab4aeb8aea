"""A simulated service for tables: bases, tables with typed fields, records with links, comments."""

import json
from base64 import b64decode
from binascii import Error as NoBase64
from hashlib import sha256

from festival import BASES
from formulas import Wrong, holds, names, parse

from mcp_sim.programs import Refused, helpers, initial, tool
from mcp_sim.programs.helpers import compact, shown

# fmt: off
tables = {
    "base": {"natural": True, "fields": {"id": "", "name": "", "permissionLevel": "create"}},
    "table": {
        "links": {"base": "base"},
        "fields": {
            "id": {"type": "string", "pattern": "^tbl[A-Za-z0-9]{14}$"}, "base": "", "name": "", "description": "",
            "fields": [], "views": [],
        },
    },
    "record": {
        "links": {"table": "table"},
        "fields": {
            "id": {"type": "string", "pattern": "^rec[A-Za-z0-9]{14}$"}, "table": "", "name": "", "createdTime": "",
            "values": {},
        },
    },
    "comment": {
        "links": {"record": "record"},
        "fields": {
            "id": {"type": "string", "pattern": "^com[A-Za-z0-9]{14}$"}, "record": "", "text": "", "createdTime": "",
            "lastUpdatedTime": None, "author": {}, "parentCommentId": None,
        },
    },
}
# fmt: on

ME = {"id": "usrV3nW9qLx0Kd2Hs", "email": "assistant@lanternfest.example", "name": "Assistant"}
TEXTS = ("singleLineText", "multilineText", "richText", "email", "url", "phoneNumber")
NUMBERS = ("number", "currency", "percent", "rating", "duration")
COMPUTED = ("autoNumber", "createdTime", "lastModifiedTime", "formula", "count", "rollup", "button", "createdBy")
MOST_UPDATED = 10
LARGEST = 5 << 20
"""The largest attachment, in bytes."""


def id_of(kind, *path):
    """Return the id of something that each world begins with."""
    return kind + sha256("/".join(path).encode()).hexdigest()[:14]


def stamp(time):
    return helpers.stamp(time.replace(microsecond=0), "milliseconds")


# how the service refuses ----------------------------------------------------------------------------------------------


def refused(status, kind, message=None):
    error = kind if message is None else {"type": kind, "message": message}
    body = compact({"error": error})
    return Refused(f"Airtable API Error: {status}. Response: {body}")


def forbidden():
    return refused("Forbidden", "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND", "No such model, or no permission to use it.")


def unprocessable(kind, message):
    return refused("Unprocessable Entity", kind, message)


def known_base(world, base_id):
    base = world.base.get(base_id)
    if base is None:
        raise forbidden()
    return base


def known_table(world, base_id, table_id):
    """Return a table by its id or name."""
    known_base(world, base_id)
    for table in world.table.find(base=base_id):
        if table_id in (table["id"], table["name"]):
            return table
    raise forbidden()


def known_record(world, table, record_id):
    record = world.record.get(record_id)
    if record is None or record["table"] != table["id"]:
        raise refused("Not Found", "NOT_FOUND")
    return record


def known_field(table, name):
    for field in table["fields"]:
        if name in (field["id"], field["name"]):
            return field
    raise unprocessable("UNKNOWN_FIELD_NAME", f'Unknown field name: "{name}"')


# values ---------------------------------------------------------------------------------------------------------------


def accepted(world, field, value):
    """Return a value as a field keeps it; None if it is empty. Raises `Refused`."""
    kind = field["type"]
    if kind in COMPUTED:
        raise unprocessable("INVALID_VALUE_FOR_COLUMN", f'Field "{field["name"]}" is computed and takes no value')
    if value is None or value in ("", []):
        return None
    if kind == "checkbox":
        return True if value in (True, "true", 1, "checked") else None
    if kind in NUMBERS:
        return numeric(field, value)
    if kind in ("multipleSelects", "multipleRecordLinks", "multipleAttachments"):
        return several(world, field, value)
    if kind == "singleSelect":
        return chosen(field, str(value))
    if kind in ("date", "dateTime"):
        return date_of(field, str(value))
    return value if isinstance(value, str) else json.dumps(value)


def wrong(field):
    return unprocessable("INVALID_VALUE_FOR_COLUMN", f'Field "{field["name"]}" cannot accept the provided value')


def numeric(field, value):
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise wrong(field) from None
    return int(number) if number.is_integer() else number


def date_of(field, value):
    day = value[:10].split("-")
    if len(day) != 3 or not all(digits.isdecimal() for digits in day) or not 1 <= int(day[1]) <= 12:
        raise wrong(field)
    return value[:10] if field["type"] == "date" else value


def chosen(field, name):
    """Return an option of a select field, which is added if it is new."""
    choices = field.setdefault("options", {}).setdefault("choices", [])
    if name not in [choice["name"] for choice in choices]:
        choices.append({"id": id_of("sel", field["id"], name), "name": name, "color": "grayLight2"})
    return name


def several(world, field, value):
    items = value if isinstance(value, list) else [value]
    if field["type"] == "multipleSelects":
        return [chosen(field, str(item)) for item in items]
    if field["type"] == "multipleRecordLinks":
        return [linked(world, field, item) for item in items]
    return [attachment(world, item) for item in items]


def linked(world, field, given):
    """Return the id of a record that a link names by its id or its name."""
    target, name = field["options"]["linkedTableId"], given.get("id") if isinstance(given, dict) else given
    record = world.record.get(name)
    records = [record] if record is not None else world.record.find(table=target, name=name)
    if not records or records[0]["table"] != target:
        raise unprocessable("ROW_DOES_NOT_EXIST", f"Record ID {name} does not exist in this table")
    return records[0]["id"]


def attachment(world, value):
    given = value if isinstance(value, dict) else {"url": str(value)}
    if "id" in given:
        return given
    name = given.get("filename") or given.get("url", "").rpartition("/")[2] or "attachment"
    number = f"att{world.random.getrandbits(56):014x}"
    return {"id": number, "url": given.get("url", f"https://files.lanternfest.example/{number}"), "filename": name}


def write(world, table, record, fields):
    """Set fields of a record, and the fields of linked records that point back."""
    for name, given in fields.items():
        field = known_field(table, name)
        value = accepted(world, field, given)
        if field["type"] == "multipleRecordLinks":
            point_back(world, record, field, value or [])
        if value is None:
            record["values"].pop(field["id"], None)
        else:
            record["values"][field["id"]] = value
    record["name"] = str(record["values"].get(table["fields"][0]["id"], ""))


def point_back(world, record, field, new):
    inverse = field["options"].get("inverseLinkFieldId")
    old = record["values"].get(field["id"], [])
    for key in {*old, *new} if inverse else ():
        other = world.record.get(key)
        if other is not None:
            links = [link for link in other["values"].get(inverse, []) if link != record["id"]]
            other["values"][inverse] = [*links, record["id"]] if key in new else links


def fields_of(table, record, names=None):
    """Return the fields of a record by name, those that are not empty, in the order of the table."""
    values = {}
    for field in table["fields"]:
        value = record["createdTime"] if field["type"] == "createdTime" else record["values"].get(field["id"])
        if value not in (None, []) and (not names or field["id"] in names or field["name"] in names):
            values[field["name"]] = value
    return values


def view_of(table, record, names=None):
    return {"id": record["id"], "fields": fields_of(table, record, names)}


# bases and tables -----------------------------------------------------------------------------------------------------


@initial
def begin(given, world):
    bases = [name for name in BASES if name in (given or {}).get("bases", BASES)]
    for name in bases:
        base = world.base.add(id=id_of("app", name), name=name)
        for title, table in BASES[name].items():
            fields = [field_from(name, title, *field) for field in table["fields"]]
            views = [{"id": id_of("viw", name, title), "name": "All", "type": "grid"}]
            world.table.add(id=id_of("tbl", name, title), base=base["id"], name=title,
                            description=table["description"], fields=fields, views=views)  # fmt: skip
        for title, table in BASES[name].items():
            fill(world, name, title, table, (given or {}).get("records", 1000))


def field_from(base, table, name, kind, more=None):
    field = {"id": id_of("fld", base, table, name), "name": name, "type": kind}
    if kind in ("singleSelect", "multipleSelects"):
        field["options"] = {"choices": []}
        for choice in more:
            chosen(field, choice)
    if kind == "multipleRecordLinks":
        target, inverse = more
        field["options"] = {"linkedTableId": id_of("tbl", base, target), "isReversed": False,
                            "prefersSingleRecordLink": False,
                            "inverseLinkFieldId": id_of("fld", base, target, inverse)}  # fmt: skip
    if kind in ("number", "currency"):
        field["options"] = {"precision": 2 if kind == "currency" else 0} | ({"symbol": "€"} if more == "€" else {})
    return field


def fill(world, base, title, table, most):
    columns = [field for field in table["fields"] if field[1] not in COMPUTED]
    own = world.table.get(id_of("tbl", base, title))
    for at, row in enumerate(table["rows"][:most]):
        created = stamp(world.now.replace(microsecond=0) - table["age"] + at * table["every"])
        record = world.record.add(id=id_of("rec", base, title, str(row[0])), table=own["id"], createdTime=created)
        given = dict(zip((field[0] for field in columns), row, strict=False))
        days = {field[0] for field in columns if field[1] in ("date", "dateTime")}
        for name in days & given.keys():  # days from the start of the world on
            given[name] = stamp(world.now + given[name]) if given[name] is not None else None
        write(world, own, record, {name: value for name, value in given.items() if value is not None})


def table_view(table, level):
    view = {"id": table["id"], "name": table["name"]}
    if level == "tableIdentifiersOnly":
        return view
    if level == "identifiersOnly":
        parts = {"fields": table["fields"], "views": table["views"]}
        return view | {
            name: [{"id": entry["id"], "name": entry["name"]} for entry in objects] for name, objects in parts.items()
        }
    described = {"description": table["description"]} if table["description"] else {}
    return view | described | {"fields": table["fields"], "views": table["views"]}


@tool
def list_bases(world):
    return shown({"bases": [world.base.public(base) for base in world.base]})


@tool
def list_tables(world, baseId, detailLevel="full"):
    known_base(world, baseId)
    return shown({"tables": [table_view(table, detailLevel) for table in world.table.find(base=baseId)]})


def table_by_id(world, base_id, table_id):
    known_base(world, base_id)
    table = world.table.get(table_id)
    if table is None or table["base"] != base_id:
        raise Refused(f"Table {table_id} not found in base {base_id}")
    return table


@tool
def describe_table(world, baseId, tableId, detailLevel="full"):
    return shown({"table": table_view(table_by_id(world, baseId, tableId), detailLevel)})


def new_field(table_id, given):
    name, kind = given.get("name"), given.get("type")
    if not name or not kind:
        raise unprocessable("INVALID_REQUEST_UNKNOWN", "A field needs a name and a type")
    if kind in ("multipleRecordLinks", "formula", "rollup", "count") and not given.get("options"):
        raise unprocessable("INVALID_FIELD_TYPE_OPTIONS_FOR_CREATE", f"Options are missing for the type {kind}")
    field = {"id": id_of("fld", table_id, name), **given}
    for choice in (field.get("options") or {}).get("choices", []):
        choice.setdefault("id", id_of("sel", field["id"], choice.get("name", "")))
    return field


@tool
def create_table(world, baseId, name, fields, description=""):
    known_base(world, baseId)
    if world.table.find(base=baseId, name=name):
        raise unprocessable("DUPLICATE_TABLE_NAME", f"There is a table with the name {name}")
    if not fields:
        raise unprocessable("INVALID_REQUEST_MISSING_FIELDS", "A table needs at least one field")
    table = world.table.add(base=baseId, name=name, description=description)
    table["fields"] = [new_field(table["id"], field) for field in fields]
    table["views"] = [{"id": id_of("viw", table["id"]), "name": "Grid view", "type": "grid"}]
    return shown({"table": table_view(table, "full") | {"primaryFieldId": table["fields"][0]["id"]}})


@tool
def update_table(world, baseId, tableId, name=None, description=None):
    table = known_table(world, baseId, tableId)
    if name is not None and any(other is not table for other in world.table.find(base=baseId, name=name)):
        raise unprocessable("DUPLICATE_TABLE_NAME", f"There is a table with the name {name}")
    table.update({key: value for key, value in {"name": name, "description": description}.items() if value is not None})
    return shown({"table": table_view(table, "full") | {"primaryFieldId": table["fields"][0]["id"]}})


@tool(verb="update", entity="table")
def create_field(world, baseId, tableId, nested):
    table = known_table(world, baseId, tableId)
    field = new_field(table["id"], nested["field"])
    if field["name"] in [other["name"] for other in table["fields"]]:
        raise unprocessable("DUPLICATE_OR_EMPTY_FIELD_NAME", f"There is a field with the name {field['name']}")
    table["fields"].append(field)
    return shown({"field": field})


@tool(verb="update", entity="table")
def update_field(world, baseId, tableId, fieldId, name=None, description=None):
    field = known_field(known_table(world, baseId, tableId), fieldId)
    field.update({key: value for key, value in {"name": name, "description": description}.items() if value is not None})
    return shown({"field": field})


# records --------------------------------------------------------------------------------------------------------------


def selected(world, table, formula=None, view=None, most=None):
    """Return the records for which a formula is true. Raises `Refused` for a formula or view that is unknown."""
    if view is not None and view not in [name for known in table["views"] for name in (known["id"], known["name"])]:
        raise unprocessable("VIEW_NAME_NOT_FOUND", f"View {view} not found")
    rows = world.record.find(table=table["id"])
    if formula:
        try:
            tree = checked(table, parse(formula))
            rows = [row for row in rows if holds(tree, by_name_and_id(table, row), world.now)]
        except Wrong as error:
            why = f"The formula for filtering records is invalid: {error}"
            raise unprocessable("INVALID_FILTER_BY_FORMULA", why) from None
    return rows if most is None else rows[: int(most)]


def checked(table, tree):
    """Return a formula whose fields the table has. Raises `Wrong`."""
    unknown = names(tree) - {name for field in table["fields"] for name in (field["id"], field["name"])}
    if unknown:
        raise Wrong(f"unknown field names: {', '.join(sorted(unknown))}")
    return tree


def by_name_and_id(table, row):
    fields = fields_of(table, row)
    return fields | {field["id"]: fields.get(field["name"]) for field in table["fields"]}


@tool(rows="records")
def list_records(
    world, baseId, tableId, view=None, maxRecords=None, filterByFormula=None, sort=None, fields=None
):  # fmt: skip
    table = known_table(world, baseId, tableId)
    rows = selected(world, table, filterByFormula, view)
    for rule in [*(sort or [])][::-1]:
        field = known_field(table, rule["field"])
        filled = [row for row in rows if field["id"] in row["values"]]
        empty = [row for row in rows if field["id"] not in row["values"]]
        is_number = field["type"] in NUMBERS
        filled.sort(
            key=lambda row, field=field, is_number=is_number: (
                row["values"][field["id"]] if is_number else str(row["values"][field["id"]]).lower()
            ),
            reverse=rule.get("direction") == "desc",
        )
        rows = [*filled, *empty] if rule.get("direction") == "desc" else [*empty, *filled]
    for name in fields or ():
        known_field(table, name)
    rows = rows if maxRecords is None else rows[: int(maxRecords)]
    return shown({"records": [view_of(table, row, fields) for row in rows]})


@tool(rows="records")
def search_records(world, baseId, tableId, searchTerm, fieldIds=None, maxRecords=None, view=None):
    table = table_by_id(world, baseId, tableId)
    searchable = [field["id"] for field in table["fields"] if field["type"] in TEXTS]
    if not searchable:
        raise Refused("No text fields available to search")
    unknown = [field for field in fieldIds or () if field not in searchable]
    if unknown:
        raise Refused(f"Invalid fields requested: {', '.join(unknown)}")
    rows = [
        row
        for row in selected(world, table, view=view)
        if any(searchTerm in str(row["values"].get(field, "")) for field in fieldIds or searchable)
    ]
    rows = rows if maxRecords is None else rows[: int(maxRecords)]
    return shown({"records": [view_of(table, row) for row in rows]})


@tool
def get_record(world, baseId, tableId, recordId):
    table = known_table(world, baseId, tableId)
    return shown(view_of(table, known_record(world, table, recordId)))


@tool(verb="create", entity="record")
def create_record(world, baseId, tableId, fields):
    table = known_table(world, baseId, tableId)
    record = world.record.add(table=table["id"], createdTime=stamp(world.now))
    write(world, table, record, fields)
    return shown(view_of(table, record))


@tool(verb="update", entity="record", key="records.id")
def update_records(world, baseId, tableId, records):
    table = known_table(world, baseId, tableId)
    if len(records) > MOST_UPDATED:
        raise unprocessable("INVALID_RECORDS", f"At most {MOST_UPDATED} records can be updated at once")
    updated = []
    for given in world.each(records):
        record = world.record.get(given["id"])
        if record is None or record["table"] != table["id"]:
            raise unprocessable("ROW_DOES_NOT_EXIST", f"Record ID {given['id']} does not exist in this table")
        write(world, table, record, given["fields"])
        updated.append(record)
    return shown({"records": [view_of(table, record) for record in updated]})


@tool(verb="delete", entity="record")
def delete_records(world, baseId, tableId, recordIds):
    table = known_table(world, baseId, tableId)
    if len(recordIds) > MOST_UPDATED:
        raise unprocessable("INVALID_RECORDS", f"At most {MOST_UPDATED} records can be deleted at once")
    for record_id in world.each(recordIds):
        record = known_record(world, table, record_id)
        for field in table["fields"]:
            if field["type"] == "multipleRecordLinks":
                point_back(world, record, field, [])
        for comment in world.comment.find(record=record_id):
            world.comment.delete(comment)
        world.record.delete(record)
    return shown({"records": [{"id": record_id} for record_id in recordIds]})


@tool(verb="update", entity="record", key="recordId")
def upload_attachment(world, baseId, recordId, attachmentFieldIdOrName, file, filename, contentType):
    known_base(world, baseId)
    record = world.record.get(recordId)
    table = None if record is None else world.table.get(record["table"])
    if table is None or table["base"] != baseId:
        raise refused("Not Found", "NOT_FOUND")
    field = known_field(table, attachmentFieldIdOrName)
    if field["type"] != "multipleAttachments":
        raise wrong(field)
    try:
        size = len(b64decode(file, validate=True))
    except (NoBase64, ValueError):
        raise unprocessable("INVALID_ATTACHMENT", "The file is not valid base64") from None
    if size > LARGEST:
        raise refused("Payload Too Large", "REQUEST_TOO_LARGE", "The file is larger than 5 MB")
    new = attachment(world, {"filename": filename}) | {"size": size, "type": contentType}
    record["values"][field["id"]] = [*record["values"].get(field["id"], []), new]
    return shown({"id": recordId, "fields": {field["id"]: record["values"][field["id"]]}})


# comments -------------------------------------------------------------------------------------------------------------


def comment_view(comment):
    parent = {"parentCommentId": comment["parentCommentId"]} if comment["parentCommentId"] else {}
    kept = ("id", "createdTime", "lastUpdatedTime", "text", "author")
    return {name: comment[name] for name in kept} | parent


@tool(verb="create", entity="comment")
def create_comment(world, baseId, tableId, recordId, text, parentCommentId=None):
    record = known_record(world, known_table(world, baseId, tableId), recordId)
    if not text.strip():
        raise unprocessable("INVALID_REQUEST_UNKNOWN", "The text of a comment must not be empty")
    parent = world.comment.get(parentCommentId) if parentCommentId else None
    if parentCommentId and (parent is None or parent["record"] != recordId):
        raise refused("Not Found", "NOT_FOUND")
    comment = world.comment.add(
        record=record["id"], text=text, createdTime=stamp(world.now), author=ME, parentCommentId=parentCommentId
    )
    return shown({"comment": comment_view(comment)})


@tool(rows="comments")
def list_comments(world, baseId, tableId, recordId, pageSize=100, offset=None):
    known_record(world, known_table(world, baseId, tableId), recordId)
    rows = world.comment.find(record=recordId)
    page = world.comment.page(rows[::-1], limit=min(int(pageSize), 100), cursor=offset)
    return shown({"comments": [comment_view(row) for row in page.rows], "offset": page.cursor})
