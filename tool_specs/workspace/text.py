"""Rich text and blocks of a simulated workspace, and the words in which its service refuses."""

import json
from functools import wraps

TEXTS = {
    "paragraph": {"color": "default"},
    "heading_1": {"is_toggleable": False, "color": "default"},
    "heading_2": {"is_toggleable": False, "color": "default"},
    "heading_3": {"is_toggleable": False, "color": "default"},
    "bulleted_list_item": {"color": "default"},
    "numbered_list_item": {"color": "default"},
    "to_do": {"checked": False, "color": "default"},
    "toggle": {"color": "default"},
    "quote": {"color": "default"},
    "callout": {"icon": {"type": "emoji", "emoji": "💡"}, "color": "default"},
    "code": {"caption": [], "language": "plain text"},
}
"""The blocks that have a rich text, and what else they have."""
OTHERS = ("divider", "bookmark", "embed", "image", "equation", "table_of_contents")
ANNOTATIONS = {"bold": False, "italic": False, "strikethrough": False, "underline": False, "code": False,
               "color": "default"}  # fmt: skip
LONGEST = 2000
"""The most characters of one piece of a rich text."""
MOST = 100
"""The most items of a list, in a call and in an answer."""


class Wrong(Exception):
    """What the service refuses. Raised before anything is written."""

    def __init__(self, message, status=400, code="validation_error"):
        self.body = {"status": status, "object": "error", "code": code, "message": message}
        super().__init__(message)


def answering(function):
    """Return what a function raises as `Wrong` as an ordinary result, and read arguments that are JSON in a text."""

    @wraps(function)
    def answer(world, **arguments):
        number = {"request_id": dashed(f"{world.random.getrandbits(128):032x}")}
        try:
            return function(world, **{name: decoded(value) for name, value in arguments.items()}) | number
        except Wrong as error:
            return error.body | number

    return answer


def decoded(value):
    if isinstance(value, list):
        return [decoded(item) for item in value]
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def invalid(path, wanted, value):
    """Return the failure of a value that is not what the service wants at a path."""
    shown = json.dumps(value, ensure_ascii=False, default=str) if value is not None else "undefined"
    return Wrong(f"{path.partition('.')[0]} failed validation: {path} should be {wanted}, instead was `{shown}`.")


def array(value, path):
    if not isinstance(value, list):
        raise invalid(path, "an array", value)
    if len(value) > MOST:
        raise invalid(f"{path}.length", f"≤ `{MOST}`", len(value))
    return value


def mapping(value, path):
    if not isinstance(value, dict):
        raise invalid(path, "an object", value)
    return value


def dashed(digits):
    """Return an id of 32 digits with its dashes."""
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def string(value, path):
    if not isinstance(value, str):
        raise invalid(path, "a string", value)
    return value


# rich text ------------------------------------------------------------------------------------------------------------


def rich(given, path):
    """Return a rich text as the service shows it. Raises `Wrong`."""
    return [piece(mapping(item, f"{path}[{at}]"), f"{path}[{at}]") for at, item in enumerate(array(given, path))]


def piece(given, path):
    annotations = ANNOTATIONS | mapping(given.get("annotations") or {}, f"{path}.annotations")
    if isinstance(given.get("mention"), dict):
        shown = string(given.get("plain_text", "@Someone"), f"{path}.plain_text")
        return {"type": "mention", "mention": given["mention"], "annotations": annotations, "plain_text": shown,
                "href": None}  # fmt: skip
    content = mapping(given.get("text"), f"{path}.text").get("content")
    if len(string(content, f"{path}.text.content")) > LONGEST:
        raise invalid(f"{path}.text.content.length", f"≤ `{LONGEST}`", len(content))
    link = given["text"].get("link")
    return {
        "type": "text", "text": {"content": content, "link": link}, "annotations": annotations,
        "plain_text": content, "href": link.get("url") if isinstance(link, dict) else None,
    }  # fmt: skip


def plain(pieces):
    return "".join(fragment["plain_text"] for fragment in pieces)


# blocks ---------------------------------------------------------------------------------------------------------------


def blocks(given, path="body.children"):
    """Return the type, the content and the children of each given block. Raises `Wrong`."""
    return [block(mapping(item, f"{path}[{at}]"), f"{path}[{at}]") for at, item in enumerate(array(given, path))]


def block(given, path):
    kind = given.get("type") or next((name for name in (*TEXTS, *OTHERS) if name in given), None)
    if kind not in (*TEXTS, *OTHERS):
        lines = (f"{path}.{name} should be defined, instead was `undefined`." for name in (*TEXTS, *OTHERS))
        raise Wrong("\n".join(["body failed validation. Fix one:", *lines]))
    content = mapping(given.get(kind), f"{path}.{kind}")
    children = blocks(content.get("children") or given.get("children") or [], f"{path}.{kind}.children")
    return kind, content_of(kind, content, f"{path}.{kind}"), children


def content_of(kind, given, path):
    own = {name: value for name, value in given.items() if name not in ("children", "rich_text")}
    if kind not in TEXTS:
        return own
    return {"rich_text": rich(given.get("rich_text"), f"{path}.rich_text"), **TEXTS[kind], **own}
