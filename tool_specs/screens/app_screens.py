"""What the screens of a phone's apps have in common."""

import re
from html import escape

MOST_ROWS = 50
"""Rows of a list at once: each step makes the page anew, and a screen shows about ten."""


def screen(title, body, up=""):
    """Return a screen under a bar, with a button that leads up if there is a screen above."""
    back = f'<a href="{up}" aria-label="Navigate up" id="up">←</a>' if up else ""
    heading = f'<h1 id="title" style="display: inline">{escape(title)}</h1>'
    return (
        f'<title>{escape(title)}</title><body><header id="action_bar" style="position: sticky; top: 0">{back}{heading}'
        f'</header><main id="content">{body}</main></body>'
    )


def row(path, title, summary=""):
    """Return a row of a list, which leads to another screen."""
    below = f"<br><small>{escape(summary)}</small>" if summary else ""
    return f'<li><a href="{path}" style="display: block"><span>{escape(title)}</span>{below}</a></li>'


def listed(rows):
    """Return a list of rows."""
    return f'<ul id="list">{"".join(rows)}</ul>'


def paged_list(items, start, shown, path, query="", *, earlier="Previous", later="More"):
    """Return a list of the items from a number on, with rows that lead to those before and after: other screens."""
    at = int(start) if re.fullmatch("[0-9]{1,9}", start) else 0

    def other(number, title):
        return row(escape(f"{path}/from/{number}{query}"), title)

    before = [other(max(0, at - MOST_ROWS), earlier)] if at else []
    after = [other(at + MOST_ROWS, later)] if at + MOST_ROWS < len(items) else []
    return listed([*before, *map(shown, items[at : at + MOST_ROWS]), *after])


def floating(path, name, content):
    """Return a link that floats above the lower right corner."""
    return f'<a href="{path}" id="{name}" style="position: fixed; right: 16px; bottom: 16px"{content}</a>'
