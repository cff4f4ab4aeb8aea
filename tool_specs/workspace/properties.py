"""Properties of a simulated workspace: their types, and the values that they take."""

from datetime import UTC, datetime
from hashlib import sha256

from text import Wrong, array, invalid, mapping, rich, string

OPTIONS = ("select", "multi_select", "status")
COMPUTED = ("created_time", "last_edited_time", "created_by", "last_edited_by", "unique_id")
PLAIN = ("number", "checkbox", "url", "email", "phone_number")
TYPES = ("title", "rich_text", "date", "people", "relation", "files", *OPTIONS, *COMPUTED, *PLAIN)
COLORS = ("blue", "green", "orange", "purple", "red", "yellow", "brown", "pink", "gray")
STATES = ("Not started", "In progress", "Done")
GROUPS = (("To-do", "gray"), ("In progress", "blue"), ("Complete", "green"))


# types ----------------------------------------------------------------------------------------------------------------


def property_id(source, name, kind):
    return "title" if kind == "title" else sha256(f"{source}/{name}/{kind}".encode()).hexdigest()[:4]


def schema_of(source, name, given):
    """Return a property of a data source as the service shows it. Raises `Wrong`."""
    path = f"body.properties.{name}"
    mapping(given, path)
    kind = given.get("type") or next((word for word in TYPES if word in given), None)
    if kind not in TYPES:
        lines = (f"{path}.{word} should be defined, instead was `undefined`." for word in TYPES)
        raise Wrong("\n".join(["body failed validation. Fix one:", *lines]))
    config = dict(mapping(given.get(kind) or {}, f"{path}.{kind}"))
    shown = {"id": property_id(source, name, kind), "name": name, "description": None, "type": kind, kind: config}
    if kind == "number":
        config.setdefault("format", "number")
    if kind in OPTIONS:
        given = config.pop("options", None) or ([{"name": name} for name in STATES] if kind == "status" else [])
        config["options"] = []
        for at, choice in enumerate(array(given, f"{path}.{kind}.options")):
            name = mapping(choice, f"{path}.{kind}.options[{at}]").get("name")
            option(shown, string(name, f"{path}.{kind}.options[{at}].name"), choice.get("color"))
    if kind == "status":
        parts = [config["options"][:1], config["options"][1:-1], config["options"][-1:]]
        config["groups"] = [
            {
                "id": property_id(name, group, ""),
                "name": group,
                "color": color,
                "option_ids": [entry["id"] for entry in choices],
            }
            for (group, color), choices in zip(GROUPS, parts, strict=True)
        ]
    return shown


def option(schema, name, color=None):
    """Return an option of a property, which is added if it is new."""
    options = schema[schema["type"]]["options"]
    known = next((choice for choice in options if choice["name"] == name), None)
    if known is None:
        known = {"id": property_id(schema["id"], name, ""), "name": name,
                 "color": color or COLORS[len(options) % len(COLORS)], "description": None}  # fmt: skip
        options.append(known)
    return known


def property_of(schemas, name):
    """Return the property of a name or an id, or None."""
    return schemas.get(str(name)) or next((schema for schema in schemas.values() if schema["id"] == name), None)


# values ---------------------------------------------------------------------------------------------------------------


def values(world, schemas, given):
    """Return the given values by the ids of their properties, as pages keep them. Raises `Wrong`."""
    kept = {}
    for name, value in mapping(given, "body.properties").items():
        schema = property_of(schemas, name)
        if schema is None:
            raise Wrong(f"{name} is not a property that exists.")
        kept[schema["id"]] = value_of(world, schema, value, f"body.properties.{name}")
    return kept


def value_of(world, schema, given, path):
    kind = schema["type"]
    if kind in COMPUTED:
        raise Wrong(f"Cannot update a property of type {kind}.")
    if kind in ("title", "rich_text") and isinstance(given, list):
        return rich(given, path)
    if kind not in mapping(given, path):
        raise Wrong(f"{schema['name']} is expected to be {kind}.")
    return READERS[kind](world, schema, given[kind], f"{path}.{kind}")


def chosen(_world, schema, given, path):
    """Return the name of an option. New ones are added to a select, and refused by a status."""
    if given is None:
        return None
    options = schema[schema["type"]]["options"]
    name = mapping(given, path).get("name") or next(
        (choice["name"] for choice in options if choice["id"] == given.get("id")), None
    )
    string(name, f"{path}.name")
    if schema["type"] == "status" and name not in [choice["name"] for choice in options]:
        raise Wrong(f'Invalid status option. Status option "{name}" does not exist".')
    if "," in name:
        raise Wrong(f"Invalid select option, commas not allowed: {name}")
    return name


def several(world, schema, given, path):
    return [chosen(world, schema, choice, f"{path}[{at}]") for at, choice in enumerate(array(given, path))]


def dated(_world, _schema, given, path):
    if given is None:
        return None
    ends = {name: mapping(given, path).get(name) for name in ("start", "end", "time_zone")}
    moment(ends["start"], f"{path}.start")
    if ends["end"] is not None:
        moment(ends["end"], f"{path}.end")
    return ends


def moment(value, path):
    """Return the moment of a date or a time in ISO 8601. Raises `Wrong`."""
    try:
        time = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise invalid(path, "a valid ISO 8601 date string", value) from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def references(table, name):
    def read(world, _schema, given, path):
        keys = [mapping(reference, f"{path}[{at}]").get("id") for at, reference in enumerate(array(given, path))]
        for key in keys:
            if table(world).get(string(key, f"{path}.id")) is None:
                raise Wrong(f"Could not find {name} with ID: {key}.", 404, "object_not_found")
        return keys

    return read


def scalar(kinds, wanted):
    def read(_world, _schema, given, path):
        if given is not None and (not isinstance(given, kinds) or isinstance(given, bool) != (kinds is bool)):
            raise invalid(path, wanted, given)
        return given

    return read


READERS = {
    "title": lambda _world, _schema, given, path: rich(given, path),
    "rich_text": lambda _world, _schema, given, path: rich(given, path),
    "select": chosen,
    "status": chosen,
    "multi_select": several,
    "date": dated,
    "people": references(lambda world: world.user, "user"),
    "relation": references(lambda world: world.page, "page"),
    "files": lambda _world, _schema, given, path: array(given, path),
    "number": scalar((int, float), "a number or `null`"),
    "checkbox": scalar(bool, "a boolean"),
    **dict.fromkeys(("url", "email", "phone_number"), scalar(str, "a string or `null`")),
}
