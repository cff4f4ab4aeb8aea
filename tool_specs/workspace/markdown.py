"""Markdown of a simulated workspace: blocks as lines, lines as blocks, and edits of a text."""

import re
from itertools import takewhile

from text import TEXTS, Wrong, array, dashed, invalid, mapping, rich, string

MARKS = {"# ": "heading_1", "## ": "heading_2", "### ": "heading_3", "- ": "bulleted_list_item", "> ": "quote"}
"""The signs with which the lines of blocks begin in Markdown."""
INLINE = re.compile(
    r"\*\*(?P<bold>.+?)\*\*|`(?P<code>.+?)`"
    r"|\[(?P<text>(?:[^][\n]++|\[[^][\n]*+\])++)\]\((?P<link>(?:[^()\n]++|\([^()\n]*+\))++)\)"
)
"""Brackets in the text of a link, and parentheses in its address, nest once: a long text is read once."""
KEPT = re.compile(r'<(?:page|database|unknown) url="[^"]*?([0-9a-f]{32})"')


def written(text):
    """Return the rich text of a line of Markdown."""
    pieces, end = [], 0
    for match in INLINE.finditer(text):
        pieces += [(text[end : match.start()], {}, None)]
        marks = {name: True for name in ("bold", "code") if match[name]}
        pieces += [(match["bold"] or match["code"] or match["text"], marks, match["link"])]
        end = match.end()
    pieces += [(text[end:], {}, None)]
    given = [
        {"text": {"content": content, "link": link and {"url": link}}, "annotations": marks}
        for content, marks, link in pieces
        if content
    ]
    return rich(given, "")


def marked(pieces):
    """Return a rich text as Markdown."""
    shown = ""
    for piece in pieces:
        text, marks = piece["plain_text"], piece["annotations"]
        text = f"`{text}`" if marks["code"] else f"**{text}**" if marks["bold"] else text
        shown += f"[{text}]({piece['href']})" if piece["href"] else text
    return shown


def line_of(kind, content, number):
    """Return the Markdown of a block; None for a block without any."""
    if kind == "divider":
        return "---"
    if kind not in TEXTS or kind in ("toggle", "callout"):
        return None
    text = marked(content["rich_text"])
    if kind == "code":
        return f"```{content['language']}\n{text}\n```"
    signs = {kind: sign for sign, kind in MARKS.items()} | {"numbered_list_item": f"{number}. "}
    signs["to_do"] = "- [x] " if content.get("checked") else "- [ ] "
    return signs.get(kind, "") + text


def parsed(markdown):
    """Return the blocks of a Markdown text, as `blocks` does, and the ids of pages and blocks that a line names.

    Lines that are indented by a tab are children of the line before.
    """
    top = []
    levels, lines = [top], iter(markdown.split("\n"))
    for line in lines:
        bare = line.lstrip("\t")
        if not bare.strip():
            continue
        depth = min(len(line) - len(bare), len(levels) - 1)
        block = code(bare, lines, "\t" * depth) if bare.startswith("```") else line_block(bare.strip())
        del levels[1 + depth :]
        levels[-1].append(block)
        levels.append(block[2] if isinstance(block, tuple) else levels[-1])
    return top


def code(first, lines, indent):
    """Return a block of code, whose lines are taken up to its end."""
    body = [line.removeprefix(indent) for line in takewhile(lambda line: line.strip() != "```", lines)]
    text = rich([{"text": {"content": "\n".join(body)}}], "body.code.rich_text")
    return "code", {**TEXTS["code"], "rich_text": text, "language": first[3:].strip() or "plain text"}, []


def named(content):
    """Yield the ids of the pages and blocks that parsed lines name."""
    for block in content:
        if isinstance(block, tuple):
            yield from named(block[2])
        else:
            yield block


def line_block(line):
    kept = KEPT.match(line)
    if kept:
        return dashed(kept[1])
    if line == "---":
        return "divider", {}, []
    task = re.match(r"- \[([ xX])\] (.*)", line)
    if task:
        return "to_do", {**TEXTS["to_do"], "rich_text": written(task[2]), "checked": task[1] != " "}, []
    number = re.match(r"\d+\. (.*)", line)
    sign = next((sign for sign in MARKS if line.startswith(sign)), "")
    kind = "numbered_list_item" if number else MARKS.get(sign, "paragraph")
    return kind, {**TEXTS[kind], "rich_text": written(number[1] if number else line[len(sign) :])}, []


def edited(text, kind, given):
    """Return a page's Markdown after an edit, and whether pages that it contains may be deleted. Raises `Wrong`."""
    path = f"body.{kind}"
    mapping(given, path)
    if kind == "replace_content":
        return text_at(given, "new_str", path), given.get("allow_deleting_content", False)
    if kind == "update_content":
        for update in array(given.get("content_updates") or [], f"{path}.content_updates"):
            old, new = text_at(update, "old_str", path), text_at(update, "new_str", path)
            if not old:
                raise invalid(f"{path}.content_updates.old_str.length", "≥ `1`", 0)
            if old not in text:
                raise Wrong(f"{path}: the text {old!r} is not in the page.")
            text = text.replace(old, new, -1 if update.get("replace_all_matches") else 1)
        return text, given.get("allow_deleting_content", False)
    start, end = selected(text, given.get("content_range" if kind == "replace_content_range" else "after"), given, path)
    new = text_at(given, "content", path)
    if kind == "replace_content_range":
        return text[:start] + new + text[end:], given.get("allow_deleting_content", False)
    return f"{text[:end]}\n{new}\n{text[end:]}", False


def text_at(given, name, path):
    return string(mapping(given, path).get(name), f"{path}.{name}")


def selected(text, words, given, path):
    """Return where a selection such as `The first...the last` begins and ends; without one, where to insert."""
    if words is None:
        position = mapping(given.get("position") or {}, f"{path}.position")
        at = 0 if position.get("type") == "start" else len(text)
        return at, at
    first, _, last = string(words, path).partition("...")
    start = text.find(first)
    end = text.find(last, start + len(first)) if last else start
    if min(start, end) < 0:
        raise Wrong(f"{path}: the selection {words!r} is not in the page.")
    return start, end + len(last or first)
