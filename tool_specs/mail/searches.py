"""Searches in a mailbox: `from:ann subject:(offer OR quote) -label:done newer_than:7d`."""

import re
from datetime import datetime, timedelta

TOKEN = re.compile(r'\s*(?:(?P<sign>-?(?:\w+:)?[({\[]|[)}\]])|(?P<term>-?(?:\w+:)?(?:"[^"]*"?|[^\s(){}"]+)))')
SPANS = {"d": 1, "m": 30, "y": 365}
PLACES = {"inbox": "INBOX", "sent": "SENT", "trash": "TRASH", "spam": "SPAM", "drafts": "DRAFT", "draft": "DRAFT"}
MARKS = {"unread": "UNREAD", "starred": "STARRED", "important": "IMPORTANT", **PLACES}
HIDDEN = ("TRASH", "SPAM")


def parse(query):
    """Return a search as nested tuples: ("and" | "or", parts), ("not", part) or (field, text)."""
    tokens = [(match.lastgroup, match[match.lastgroup]) for match in TOKEN.finditer(query.strip())]
    tree, _ = group(tokens, 0, "and", "")
    return tree


def group(tokens, at, kind, field):
    """Return the terms up to the end of a group, and where it ends. OR joins the terms around it."""
    parts, joins = [], False
    while at < len(tokens):
        sign, text = tokens[at]
        if sign == "sign" and text in ")}]":
            return (kind, parts), at + 1
        if text in ("OR", "|"):
            joins, at = bool(parts), at + 1
            continue
        if text == "AND":
            at += 1
            continue
        term, at = single(tokens, at, field)
        if joins:
            term = ("or", [parts.pop(), term])
        parts.append(term)
        joins = False
    return (kind, parts), at


def single(tokens, at, field):
    sign, text = tokens[at]
    is_not = text.startswith("-") and len(text) > 1
    text = text[1:] if is_not else text
    name, colon, rest = text.partition(":")
    if not colon or text.startswith('"'):
        name, rest = field, text
    if sign == "sign":
        term, at = group(tokens, at + 1, "or" if rest == "{" else "and", name.lower())
    else:
        term, at = (name.lower(), rest.strip('"').lower()), at + 1
    return (("not", term) if is_not else term), at


def fields_in(tree):
    kind, rest = tree
    if kind == "not":
        return fields_in(rest)
    if kind in ("and", "or"):
        return [pair for term in rest for pair in fields_in(term)]
    return [tree]


def matches(tree, row, names, now):
    """Return whether a message is found. What is in the trash or is spam must be asked for."""
    asked = [text for field, text in fields_in(tree) if field in ("in", "label", "is")]
    hidden = [label for label in HIDDEN if label in row["labels"] and label.lower() not in asked]
    return (not hidden or "anywhere" in asked) and holds(tree, row, names, now)


def holds(tree, row, names, now):
    kind, rest = tree
    if kind == "and":
        return all(holds(term, row, names, now) for term in rest)
    if kind == "or":
        return any(holds(term, row, names, now) for term in rest)
    if kind == "not":
        return not holds(rest, row, names, now)
    return TESTS.get(kind, anywhere)(rest, row, names, now)


def anywhere(text, row, _names, _now):
    parts = (row["subject"], row["body"], row["html"], row["sender"], *row["to"], *row["cc"])
    return text in " ".join(parts).lower()


def is_marked(text, row, _names, _now):
    if text == "read":
        return "UNREAD" not in row["labels"]
    return MARKS.get(text, text.upper()) in row["labels"]


def is_in(text, row, names, now):
    if text == "anywhere":
        return True
    return is_marked(text, row, names, now) if text in PLACES else is_labelled(text, row, names, now)


def is_labelled(text, row, names, _now):
    wanted = {text, text.replace("-", " "), text.replace("-", "/")}
    return any({label.lower(), names.get(label, "").lower()} & wanted for label in row["labels"])


def has(text, row, _names, _now):
    return bool(row["attachments"]) if text == "attachment" else False


def day(text, now):
    """Return a day as it is in searches (2029/03/01), or seconds since 1970; None if it is neither."""
    parts = re.split(r"[/-]", text)
    try:
        if len(parts) == 3:
            return datetime(*map(int, parts), tzinfo=now.tzinfo)
        return datetime.fromtimestamp(int(text), tz=now.tzinfo)
    except (ValueError, OverflowError):
        return None


def compared(is_after):
    def test(text, row, _names, now):
        limit = day(text, now)
        at = datetime.fromisoformat(row["at"])
        return limit is not None and (at >= limit if is_after else at < limit)

    return test


def aged(is_newer):
    def test(text, row, _names, now):
        match = re.fullmatch(r"(\d+)([dmy])", text)
        if match is None:
            return False
        limit = now - timedelta(days=int(match[1]) * SPANS[match[2]])
        return (datetime.fromisoformat(row["at"]) >= limit) == is_newer

    return test


def sized(is_larger):
    def test(text, row, _names, _now):
        match = re.fullmatch(r"(\d+)([km]?)b?", text)
        limit = int(match[1]) * {"": 1, "k": 1024, "m": 1 << 20}[match[2]] if match else 0
        return match is not None and (row["size"] > limit if is_larger else row["size"] < limit)

    return test


TESTS = {
    "from": lambda text, row, *_: text in row["sender"].lower(),
    "to": lambda text, row, *_: text in " ".join([*row["to"], *row["cc"], *row["bcc"]]).lower(),
    "cc": lambda text, row, *_: text in " ".join(row["cc"]).lower(),
    "subject": lambda text, row, *_: text in row["subject"].lower(),
    "filename": lambda text, row, *_: any(text in attachment["filename"].lower() for attachment in row["attachments"]),
    "list": lambda *_: False,
    "rfc822msgid": lambda text, row, *_: text == row["id"],
    "is": is_marked,
    "in": is_in,
    "label": is_labelled,
    "has": has,
    "after": compared(True),
    "newer": compared(True),
    "before": compared(False),
    "older": compared(False),
    "newer_than": aged(True),
    "older_than": aged(False),
    "larger": sized(True),
    "size": sized(True),
    "smaller": sized(False),
}
