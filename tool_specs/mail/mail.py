"""A simulated mailbox: messages in threads, drafts, labels, filters, and searches in the words of Gmail."""

import re
from datetime import timedelta
from email.utils import format_datetime, parseaddr

from messages import MESSAGES, OWNER
from searches import matches, parse

from mcp_sim.programs import initial, tool

# fmt: off
tables = {
    "message": {
        "ids": "18e5c2b7f1a90d34", "links": {"thread": "message"},
        "fields": {
            "id": "", "thread": "", "sender": "", "to": [], "cc": [], "bcc": [], "subject": "", "body": "", "html": "",
            "at": "", "labels": [], "attachments": [], "size": 0,
        },
    },
    "draft": {
        "links": {"message": "message"},
        "fields": {"id": {"type": "string", "pattern": "^r[0-9]{18}$"}, "message": ""},
    },
    "label": {
        "ids": "Label_1",
        "fields": {
            "id": "", "name": "", "type": "user", "messageListVisibility": "show", "labelListVisibility": "labelShow",
        },
    },
    "filter": {
        "fields": {"id": {"type": "string", "pattern": "^ANe1Bm[a-zA-Z0-9]{20}$"}, "criteria": {}, "action": {}},
    },
}
SYSTEM = (
    "INBOX", "SENT", "DRAFT", "TRASH", "SPAM", "UNREAD", "STARRED", "IMPORTANT", "CATEGORY_PERSONAL", "CATEGORY_SOCIAL",
    "CATEGORY_PROMOTIONS", "CATEGORY_UPDATES", "CATEGORY_FORUMS",
)
# fmt: on

ADDRESS = re.compile(r"[^\s@<>,]+@[^\s@<>,]+\.[^\s@<>,]+")
UNKNOWN = "Requested entity was not found."


def wrong(message):
    """Return the answer to a call that fails: the server says so in an ordinary result."""
    return f"Error: {message}"


@initial
def begin(given, world):
    """Fill the mailbox with the messages of the last weeks; `weeks` of the state says of how many."""
    weeks = (given or {}).get("weeks", 4)
    for name in SYSTEM:
        world.label.add(id=name, name=name, type="system")
    for name in ("Invoices", "Travel", "Workshop"):
        world.label.add(name=name)
    ids = {label["name"]: label["id"] for label in world.label}
    first = {}
    for at, (days, sender, to, subject, body, labels, files) in enumerate(MESSAGES):
        if days > 7 * weeks:
            continue
        key = f"18e{0xB0000000 - int(days * 86400):08x}{at:05x}"
        topic = re.sub(r"^(Re|Fwd): ", "", subject)
        row = world.message.add(
            id=key, thread=first.setdefault(topic, key), sender=sender, to=[to], subject=subject, body=body,
            at=(world.now - timedelta(days=days)).isoformat(timespec="seconds"),
            labels=[ids[label] for label in labels],
            attachments=[attachment(key, number, file) for number, file in enumerate(files)],
        )  # fmt: skip
        row["size"] = size_of(row)
    sender = next(message[1] for message in MESSAGES if "Invoices" in message[5])
    world.filter.add(criteria={"from": parseaddr(sender)[1]}, action={"addLabelIds": [ids["Invoices"]]})


def attachment(key, number, file):
    name, kind, size = file
    return {"id": f"ANGjdJ{key}{number}", "filename": name, "mimeType": kind, "size": size}


def size_of(row):
    parts = (row["subject"], row["body"], row["html"])
    return 600 + sum(len(text.encode()) for text in parts) + sum(file["size"] for file in row["attachments"])


def newest_first(rows):
    return sorted(rows, key=lambda row: (row["at"], row["id"]), reverse=True)


# messages -------------------------------------------------------------------------------------------------------------


def written(world, labels, to, subject, body, html, cc, bcc, thread, attachments):
    """Add a message of the owner."""
    row = world.message.add(
        sender=OWNER, to=[*to], cc=[*(cc or [])], bcc=[*(bcc or [])], subject=subject, body=body, html=html or "",
        at=world.now.isoformat(timespec="seconds"),
            labels=labels,
    )  # fmt: skip
    row["thread"] = thread or row["id"]
    names = [path.replace("\\", "/").rpartition("/")[2] for path in attachments or []]
    row["attachments"] = [
        attachment(row["id"], number, (name, "application/octet-stream", 1024)) for number, name in enumerate(names)
    ]
    row["size"] = size_of(row)
    return row


def why_not_sent(world, to, cc, bcc, thread):
    for address in (*to, *(cc or []), *(bcc or [])):
        if not ADDRESS.fullmatch(parseaddr(address)[1]):
            return f"Recipient email address is invalid: {address}"
    if thread and not world.message.find(thread=thread):
        return UNKNOWN
    return "" if to else "Recipient address required"


@tool(verb="create", entity="message")
def send_email(
    world,
    to,
    subject,
    body,
    htmlBody=None,
    mimeType="text/plain",
    cc=None,
    bcc=None,
    threadId=None,
    attachments=None,
):
    why = why_not_sent(world, to, cc, bcc, threadId)
    if why:
        return wrong(why)
    html = htmlBody or (body if mimeType == "text/html" else None)
    row = written(world, ["SENT"], to, subject, body, html, cc, bcc, threadId, attachments)
    if parseaddr(OWNER)[1] in [parseaddr(address)[1] for address in (*to, *row["cc"], *row["bcc"])]:
        row["labels"] = ["SENT", "INBOX", "UNREAD"]
        for rule in world.filter:
            apply(world, rule, row)
    return f"Email sent successfully with ID: {row['id']}"


@tool(verb="create", entity="draft")
def draft_email(
    world,
    to,
    subject,
    body,
    htmlBody=None,
    cc=None,
    bcc=None,
    threadId=None,
    attachments=None,
):
    why = why_not_sent(world, to, cc, bcc, threadId)
    if why:
        return wrong(why)
    row = written(world, ["DRAFT"], to, subject, body, htmlBody, cc, bcc, threadId, attachments)
    draft = world.draft.add(message=row["id"])
    return f"Email draft created successfully with ID: {draft['id']}"


def date_of(row, world):
    return format_datetime(type(world.now).fromisoformat(row["at"]))


@tool
def read_email(world, messageId):
    row = world.message.get(messageId)
    if row is None:
        return wrong(UNKNOWN)
    note = ""
    if row["html"] and not row["body"]:
        note = "[Note: This email is HTML-formatted. Plain text version not available.]\n\n"
    files = row["attachments"]
    shown = [f"- {file['filename']} ({file['mimeType']}, {kilobytes(file)} KB, ID: {file['id']})" for file in files]
    listed = f"\n\nAttachments ({len(files)}):\n" + "\n".join(shown) if files else ""
    head = f"Thread ID: {row['thread']}\nSubject: {row['subject']}\nFrom: {row['sender']}\nTo: {', '.join(row['to'])}"
    return f"{head}\nDate: {date_of(row, world)}\n\n{note}{row['body'] or row['html']}{listed}"


def kilobytes(file):
    return int(file["size"] / 1024 + 0.5)


@tool
def search_emails(world, query, maxResults=10):
    tree = parse(query)
    names = {label["id"]: label["name"] for label in world.label}
    rows = newest_first(row for row in world.message if matches(tree, row, names, world.now))
    parts = (
        f"ID: {row['id']}\nSubject: {row['subject']}\nFrom: {row['sender']}\nDate: {date_of(row, world)}\n"
        for row in rows[: int(maxResults or 10)]
    )
    return "\n".join(parts)


def unknown_label(world, *lists):
    """Return the first label that does not exist; None if all do."""
    return next((label for some in lists for label in some or () if label not in world.label), None)


def relabel(row, added, removed):
    kept = [label for label in row["labels"] if label not in (removed or ())]
    row["labels"] = [*dict.fromkeys([*kept, *(added or ())])]


@tool(verb="update", entity="message", key="messageId")
def modify_email(world, messageId, labelIds=None, addLabelIds=None, removeLabelIds=None):
    row, added = world.message.get(messageId), addLabelIds or labelIds
    label = unknown_label(world, added, removeLabelIds)
    if row is None or label is not None:
        return wrong(UNKNOWN if row is None else f"Invalid label: {label}")
    relabel(row, added, removeLabelIds)
    return f"Email {messageId} labels updated successfully"


def remove(world, row):
    for draft in world.draft.find(message=row["id"]):
        world.draft.delete(draft)
    world.message.delete(row)


@tool
def delete_email(world, messageId):
    row = world.message.get(messageId)
    if row is None:
        return wrong(UNKNOWN)
    remove(world, row)
    return f"Email {messageId} deleted successfully"


def batch_report(lines, what, failed):
    if failed:
        lines += [f"Failed to {what}: {len(failed)} messages", "", "Failed message IDs:"]
        return "\n".join([*lines, *(f"- {key[:16]}... ({why})" for key, why in failed)])
    return "\n".join([*lines, ""])


@tool(verb="update", entity="message", key="messageIds")
def batch_modify_emails(world, messageIds, addLabelIds=None, removeLabelIds=None):
    label, failed = unknown_label(world, addLabelIds, removeLabelIds), []
    for key in world.each(messageIds):
        row = world.message.get(key)
        if row is None or label is not None:
            failed.append((key, UNKNOWN if row is None else f"Invalid label: {label}"))
        else:
            relabel(row, addLabelIds, removeLabelIds)
    done = f"Successfully processed: {len(messageIds) - len(failed)} messages"
    return batch_report(["Batch label modification complete.", done], "process", failed)


@tool(verb="delete", entity="message", key="messageIds")
def batch_delete_emails(world, messageIds):
    failed = []
    for key in world.each(messageIds):
        row = world.message.get(key)
        if row is None:
            failed.append((key, UNKNOWN))
        else:
            remove(world, row)
    done = f"Successfully deleted: {len(messageIds) - len(failed)} messages"
    return batch_report(["Batch delete operation complete.", done], "delete", failed)


@tool(reads=True)
def download_attachment(world, messageId, attachmentId, filename=None, savePath=None):
    row = world.message.get(messageId)
    file = next((kept for kept in row["attachments"] if kept["id"] == attachmentId), None) if row else None
    if file is None:
        return f"Failed to download attachment: {UNKNOWN if row is None else 'Invalid attachment token'}"
    name = filename or file["filename"]
    path = f"{(savePath or '.').rstrip('/')}/{name}"
    return f"Attachment downloaded successfully:\nFile: {name}\nSize: {file['size']} bytes\nSaved to: {path}"


# labels ---------------------------------------------------------------------------------------------------------------


def label_text(label):
    return f"ID: {label['id']}\nName: {label['name']}\nType: {label['type']}"


def named(world, name):
    """Return the label with a name, in any letter case, or None."""
    return next((label for label in world.label if label["name"].lower() == name.lower()), None)


@tool
def list_email_labels(world):
    groups = {kind: [label for label in world.label if label["type"] == kind] for kind in ("system", "user")}
    system, user = (
        "\n".join(f"ID: {label['id']}\nName: {label['name']}\n" for label in group) for group in groups.values()
    )
    counts = f"{len(groups['system'])} system, {len(groups['user'])} user"
    return f"Found {len(world.label)} labels ({counts}):\n\nSystem Labels:\n{system}\nUser Labels:\n{user}"


@tool
def create_label(world, name, messageListVisibility="show", labelListVisibility="labelShow"):
    if named(world, name) is not None:
        return wrong(f'Label "{name}" already exists. Please use a different name.')
    label = world.label.add(
        name=name, messageListVisibility=messageListVisibility, labelListVisibility=labelListVisibility
    )
    return f"Label created successfully:\n{label_text(label)}"


@tool
def update_label(world, id, name=None, messageListVisibility=None, labelListVisibility=None):
    label = world.label.get(id)
    if label is None:
        return wrong(f'Label with ID "{id}" not found.')
    if label["type"] == "system" and name:
        return wrong("Failed to update label: Invalid update request")
    other = named(world, name) if name else None
    if other is not None and other is not label:
        return wrong("Failed to update label: Label name exists or conflicts")
    given = {"name": name, "messageListVisibility": messageListVisibility, "labelListVisibility": labelListVisibility}
    label.update({field: value for field, value in given.items() if value})
    return f"Label updated successfully:\n{label_text(label)}"


@tool
def delete_label(world, id):
    label = world.label.get(id)
    if label is None:
        return wrong(f'Label with ID "{id}" not found.')
    if label["type"] == "system":
        return wrong(f'Failed to delete label: Cannot delete system label with ID "{id}".')
    for row in world.message:
        if id in row["labels"]:
            relabel(row, (), [id])
    world.label.delete(label)
    return f'Label "{label["name"]}" deleted successfully.'


@tool(verb="create", entity="label")
def get_or_create_label(world, name, messageListVisibility="show", labelListVisibility="labelShow"):
    label = named(world, name)
    if label is None:
        label = world.label.add(
            name=name, messageListVisibility=messageListVisibility, labelListVisibility=labelListVisibility
        )
    # the server words both cases alike
    return f"Successfully found existing label:\n{label_text(label)}"


# filters --------------------------------------------------------------------------------------------------------------


def query_of(criteria):
    """Return the search that means the same as the criteria of a filter."""
    parts = [f"{name}:({criteria[name]})" for name in ("from", "to", "subject") if criteria.get(name)]
    parts += [f"({criteria['query']})"] if criteria.get("query") else []
    parts += [f"-({criteria['negatedQuery']})"] if criteria.get("negatedQuery") else []
    parts += ["has:attachment"] if criteria.get("hasAttachment") else []
    if criteria.get("size") and criteria.get("sizeComparison") in ("larger", "smaller"):
        parts.append(f"{criteria['sizeComparison']}:{int(criteria['size'])}")
    return " ".join(parts)


def apply(world, rule, row):
    names = {label["id"]: label["name"] for label in world.label}
    if matches(parse(query_of(rule["criteria"])), row, names, world.now):
        relabel(row, rule["action"].get("addLabelIds"), rule["action"].get("removeLabelIds"))


def parts_text(parts):
    texts = (
        f"{name}: {', '.join(value) if isinstance(value, list) else str(value).lower() if value is True else value}"
        for name, value in parts.items()
        if value not in (None, [])
    )
    return ", ".join(texts)


def filter_text(rule):
    return f"ID: {rule['id']}\nCriteria: {parts_text(rule['criteria'])}\nActions: {parts_text(rule['action'])}"


def added(world, criteria, action):
    """Return a new filter, or why it cannot be added."""
    label = unknown_label(world, action.get("addLabelIds"), action.get("removeLabelIds"))
    if not query_of(criteria) or not any(action.values()):
        return None, "Invalid filter criteria or action: Filter must have criteria and actions"
    if label is not None:
        return None, f"Invalid filter criteria or action: Invalid label: {label}"
    if world.filter.find(criteria=criteria, action=action):
        return None, "Failed to create filter: Filter already exists"
    return world.filter.add(criteria=criteria, action=action), ""


@tool
def create_filter(world, criteria, action):
    rule, why = added(world, criteria, action)
    return wrong(why) if rule is None else f"Filter created successfully:\n{filter_text(rule)}"


@tool
def list_filters(world):
    if not len(world.filter):
        return "No filters found."
    shown = "\n".join(f"{filter_text(rule)}\n" for rule in world.filter)
    return f"Found {len(world.filter)} filters:\n\n{shown}"


@tool
def get_filter(world, filterId):
    rule = world.filter.get(filterId)
    return wrong(f'Filter with ID "{filterId}" not found.') if rule is None else f"Filter details:\n{filter_text(rule)}"


@tool
def delete_filter(world, filterId):
    if not world.filter.delete(filterId):
        return wrong(f'Filter with ID "{filterId}" not found.')
    return f'Filter "{filterId}" deleted successfully.'


NEEDED = {
    "fromSender": "senderEmail",
    "withSubject": "subjectText",
    "largeEmails": "sizeInBytes",
    "containingText": "searchText",
    "mailingList": "listIdentifier",
}


def criteria_of(template, value):
    match template:
        case "fromSender":
            return {"from": value}
        case "withSubject":
            return {"subject": value}
        case "largeEmails":
            return {"size": value, "sizeComparison": "larger"}
        case "containingText":
            return {"query": f'"{value}"'}
        case "mailingList":
            return {"query": f"list:{value} OR subject:[{value}]"}
        case _:
            return {"hasAttachment": True}


@tool
def create_filter_from_template(world, template, parameters):
    needed = NEEDED.get(template)
    if needed and not parameters.get(needed):
        return wrong(f"{needed} is required for {template} template")
    labels, removed = [*parameters.get("labelIds", [])], []
    if template == "containingText" and parameters.get("markImportant"):
        labels.append("IMPORTANT")
    if template == "withSubject" and parameters.get("markAsRead"):
        removed.append("UNREAD")
    if template in ("fromSender", "mailingList") and parameters.get("archive", template == "mailingList"):
        removed.append("INBOX")
    action = {"addLabelIds": labels, **({"removeLabelIds": removed} if removed else {})}
    rule, why = added(world, criteria_of(template, parameters.get(needed or "")), action)
    if rule is None:
        return wrong(why)
    return f"Filter created from template '{template}':\nID: {rule['id']}\nTemplate used: {template}"
