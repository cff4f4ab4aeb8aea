"""A simulated team chat: channels, messages, threads, reactions, people.

Messages are named by their channel and their timestamp, as in Slack. An answer that is refused is an ordinary result
with `ok: false`, as its server returns it.
"""

import re
from base64 import b32encode
from datetime import timedelta
from hashlib import sha256

from talk import BOT, CHANNELS, PEOPLE, TALKS, TEAM

from mcp_sim.programs import Refused, initial, tool

tables = {
    "user": {
        "natural": True,
        "fields": {"id": "", "name": "", "real_name": "", "title": "", "tz": "Europe/Amsterdam", "is_bot": False,
                   "is_admin": False, "deleted": False, "status_text": "", "status_emoji": "", "updated": 0},
    },
    "channel": {
        "natural": True, "links": {"creator": "user"},
        "fields": {"id": "", "name": "", "topic": "", "purpose": "", "created": 0, "creator": "", "is_archived": False,
                   "is_private": False, "is_general": False, "is_member": True, "num_members": 0},
    },
    "message": {
        "key": "key", "natural": True, "links": {"channel": "channel", "user": "user", "thread": "message"},
        "fields": {"key": "", "channel": "", "ts": "", "user": "", "text": "", "thread": None},
        "hidden": ["key", "thread"],
    },
    "reaction": {
        "key": "key", "natural": True, "links": {"message": "message", "users": "user"},
        "fields": {"key": "", "message": "", "name": "", "users": {"type": "array", "default": []}},
    },
}  # fmt: skip

TIMESTAMP = re.compile(r"\d{9,11}\.\d{6}")
MOST = 200
"""The most channels and people of a page."""


def no(error):
    return {"ok": False, "error": error}


def id_of(kind, name):
    """Return the id of a channel or a person: the same in all worlds."""
    return kind + "0" + b32encode(sha256(name.encode()).digest()).decode()[:9]


def me(world):
    return world.user.find(is_bot=True)[0]


def open_channel(world, channel_id):
    """Return a channel that the app may read, or None and what is wrong."""
    row = world.channel.get(channel_id)
    if row is None or (row["is_private"] and not row["is_member"]):
        return None, no("channel_not_found")
    return row, None if row["is_member"] else no("not_in_channel")


def key_of(channel_id, ts):
    """Return the key of a message. The timestamp may lack its point."""
    digits = str(ts)
    return f"{channel_id}:{digits if '.' in digits else f'{digits[:-6]}.{digits[-6:]}'}"


def add(world, channel, user, text, at, thread=None):
    ts = f"{int(at.timestamp())}.{len(world.message) + 1000:06d}"
    return world.message.add(key=key_of(channel, ts), channel=channel, ts=ts, user=user, text=text, thread=thread)


def sent(world, row):
    """Return the answer to a new message."""
    shown = view(world, row) | {"bot_id": id_of("B", BOT["name"]), "app_id": id_of("A", BOT["name"])}
    return {"ok": True, "channel": row["channel"], "ts": row["ts"], "message": shown}


def view(world, row):
    shown = {"user": row["user"], "type": "message", "ts": row["ts"], "text": row["text"], "team": TEAM}
    replies = ordered(world.message.find(thread=row["key"]))
    if row["thread"]:
        parent = world.message.get(row["thread"])
        shown |= {"thread_ts": parent["ts"], "parent_user_id": parent["user"]}
    elif replies:
        users = [*dict.fromkeys(reply["user"] for reply in replies)]
        shown |= {
            "thread_ts": row["ts"], "reply_count": len(replies), "reply_users_count": len(users),
            "latest_reply": replies[-1]["ts"], "reply_users": users, "is_locked": False, "subscribed": False,
        }  # fmt: skip
    reactions = world.reaction.find(message=row["key"])
    if reactions:
        shown["reactions"] = [
            {"name": reaction["name"], "users": [*reaction["users"]], "count": len(reaction["users"])}
            for reaction in reactions
        ]
    return shown


def ordered(rows):
    return sorted(rows, key=lambda row: row["ts"])


def page_of(table, rows, limit, cursor, name, shown):
    """Return the answer with a page of rows, as `shown` renders them, under a name."""
    try:
        page = table.page(rows, limit=max(1, min(int(limit), MOST)), cursor=cursor or None)
    except Refused:
        return no("invalid_cursor")
    return {
        "ok": True,
        name: [shown(row) for row in page.rows],
        "response_metadata": {"next_cursor": page.cursor or ""},
    }


def channel_view(row):
    marks = ("is_archived", "is_general", "is_private", "is_member")
    notes = {name: {"value": row[name], "creator": row["creator"], "last_set": row["created"]}
             for name in ("topic", "purpose")}  # fmt: skip
    return {
        "id": row["id"], "name": row["name"], "is_channel": True, "is_group": False, "is_im": False, "is_mpim": False,
        "created": row["created"], "creator": row["creator"], "name_normalized": row["name"], "is_shared": False,
        "is_org_shared": False, "is_ext_shared": False, "context_team_id": TEAM, "previous_names": [],
        "num_members": row["num_members"], **{name: row[name] for name in marks}, **notes,
    }  # fmt: skip


def profile(row):
    own = {"api_app_id": id_of("A", row["name"])} if row["is_bot"] else {"email": f"{row['name']}@tidewater.example"}
    return own | {
        "title": row["title"], "phone": "", "skype": "", "real_name": row["real_name"],
        "real_name_normalized": row["real_name"], "display_name": row["name"], "display_name_normalized": row["name"],
        "status_text": row["status_text"], "status_emoji": row["status_emoji"], "status_expiration": 0,
        "avatar_hash": sha256(row["id"].encode()).hexdigest()[:12], "team": TEAM, "fields": None,
    }  # fmt: skip


def user_view(row):
    return {
        "id": row["id"], "team_id": TEAM, "name": row["name"], "deleted": row["deleted"],
        "real_name": row["real_name"], "tz": row["tz"], "is_admin": row["is_admin"], "is_owner": row["is_admin"],
        "is_restricted": False, "is_bot": row["is_bot"], "is_app_user": False, "updated": row["updated"],
        "profile": profile(row),
    }  # fmt: skip


@tool(verb="list", entity="channel", rows="channels")
def slack_list_channels(world, limit=100, cursor=None):
    rows = [row for row in world.channel if not (row["is_archived"] or row["is_private"])]
    return page_of(world.channel, rows, limit, cursor, "channels", channel_view)


@tool(verb="create", entity="message")
def slack_post_message(world, channel_id, text):
    channel, problem = open_channel(world, channel_id)
    if problem or channel["is_archived"]:
        return problem or no("is_archived")
    if not text.strip():
        return no("no_text")
    return sent(world, add(world, channel_id, me(world)["id"], text, world.now))


@tool(verb="create", entity="message")
def slack_reply_to_thread(world, channel_id, thread_ts, text):
    channel, problem = open_channel(world, channel_id)
    if problem or channel["is_archived"]:
        return problem or no("is_archived")
    if not text.strip():
        return no("no_text")
    if not TIMESTAMP.fullmatch(key_of("", thread_ts)[1:]):
        return no("invalid_thread_ts")
    parent = world.message.get(key_of(channel_id, thread_ts))
    if parent is None:
        return no("thread_not_found")
    return sent(world, add(world, channel_id, me(world)["id"], text, world.now, parent["thread"] or parent["key"]))


@tool(verb="create", entity="reaction")
def slack_add_reaction(world, channel_id, timestamp, reaction):
    _, problem = open_channel(world, channel_id)
    if problem:
        return problem
    message, name = world.message.get(key_of(channel_id, timestamp)), reaction.strip(":")
    if message is None:
        return no("message_not_found")
    if not re.fullmatch(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?", name):
        return no("invalid_name")
    row, user = world.reaction.get(f"{message['key']}:{name}"), me(world)["id"]
    if row is None:
        world.reaction.add(key=f"{message['key']}:{name}", message=message["key"], name=name, users=[user])
    elif user in row["users"]:
        return no("already_reacted")
    else:
        row["users"] = [*row["users"], user]
    return {"ok": True}


@tool(verb="list", entity="message", rows="messages")
def slack_get_channel_history(world, channel_id, limit=10):
    _, problem = open_channel(world, channel_id)
    if problem:
        return problem
    rows = ordered(world.message.find(channel=channel_id, thread=None))[::-1]
    most = max(1, min(int(limit), 999))
    more = {"response_metadata": {"next_cursor": f"bmV4dF90czox{len(rows) - most}"}} if len(rows) > most else {}
    return {
        "ok": True, "messages": [view(world, row) for row in rows[:most]], "has_more": len(rows) > most, "pin_count": 0,
        "channel_actions_ts": None, "channel_actions_count": 0, **more,
    }  # fmt: skip


@tool(verb="list", entity="message", rows="messages")
def slack_get_thread_replies(world, channel_id, thread_ts):
    _, problem = open_channel(world, channel_id)
    if problem:
        return problem
    row = world.message.get(key_of(channel_id, thread_ts))
    if row is None:
        return no("thread_not_found")
    parent = world.message.get(row["thread"]) if row["thread"] else row
    rows = [parent, *ordered(world.message.find(thread=parent["key"]))]
    return {"ok": True, "messages": [view(world, reply) for reply in rows], "has_more": False}


@tool(verb="list", entity="user", rows="members")
def slack_get_users(world, cursor=None, limit=100):
    answer = page_of(world.user, [*world.user], limit, cursor, "members", user_view)
    return answer | ({"cache_ts": int(world.now.timestamp())} if answer["ok"] else {})


@tool(verb="get", entity="user", key="user_id")
def slack_get_user_profile(world, user_id):
    row = world.user.get(user_id)
    return no("user_not_found") if row is None else {"ok": True, "profile": profile(row)}


@initial
def begin(given, world):
    """Fill the world; `world.state` of a scenario may say for how many `days` people have written (default 10)."""
    start = int(world.now.timestamp()) - 400 * 86_400
    for number, (name, real_name, title) in enumerate([*PEOPLE, (BOT["name"], BOT["real_name"], "")]):
        is_bot = name == BOT["name"]
        world.user.add(
            id=id_of("U", name), name=name, real_name=real_name, title=title, is_bot=is_bot, is_admin=number == 0,
            updated=start + number * 86_400,
        )  # fmt: skip
    people = [row["id"] for row in world.user if not row["is_bot"]]
    for number, (name, topic, purpose, marks) in enumerate(CHANNELS):
        world.channel.add(
            marks, id=id_of("C", name), name=name, topic=topic, purpose=purpose, creator=people[number % 3],
            created=start + number * 86_400, is_general=name == "general",
            num_members=len(people) + 1 if name == "general" else 4 + number % 5,
        )  # fmt: skip
    talk(world, int((given or {}).get("days", 10)), people)


def talk(world, days, people):
    """Let people write: on each day some of the talks, in working hours."""
    chance = world.random
    for day in range(days, 0, -1):
        date = (world.now - timedelta(days=day)).replace(hour=8, minute=0, second=0)
        if date.weekday() < 5:
            for channel, lines in chance.sample(TALKS, 5):
                first = date + timedelta(minutes=chance.randrange(540), seconds=chance.randrange(60))
                write(world, id_of("C", channel), lines, first, chance.sample(people, 3))


def write(world, channel, lines, at, people):
    parent = None
    for number, line in enumerate(lines):
        other, text = people[(number + 1) % 3], line
        text = text.replace("@", f"<@{other}>").replace("#", str(world.random.randrange(3100, 3990)))
        row = add(world, channel, people[number % 3], text, at, parent and parent["key"])
        parent = parent or row
        at += timedelta(minutes=world.random.randrange(1, 25), seconds=world.random.randrange(60))
    if world.random.random() < 0.5:
        name = world.random.choice(["+1", "eyes", "tada", "heart", "white_check_mark"])
        world.reaction.add(key=f"{parent['key']}:{name}", message=parent["key"], name=name, users=people[1:])
