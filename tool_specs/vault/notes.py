"""Markdown notes: the paths, tags and links of a vault. Tags and links in code and comments do not count."""

import hashlib
import posixpath
import re
from urllib.parse import quote, unquote

from mcp_sim.libraries.patterns import search_test
from mcp_sim.programs.helpers import front_matter, with_front_matter, yaml_value

RESERVED = {".obsidian", ".obsidian-mcp", ".git", ".backup", ".trash"}
HIDDEN = re.compile(
    r"(?ms)^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[^\n]*\n?|\Z)|<!--.*?(?:-->|\Z)"
    r"|(?<!`)(`++)[^\n]*?(?<!`)\1(?!`)"
)
"""Blocks of code, comments, and code within a line."""
TAG = re.compile(r"(?m)(^|[^\w/\\])#([\w/-]*(?:[^\W\d]|[_-])[\w/-]*)")
BRACKETS = r"(?:[^][]++|\[[^][]*+\])*+"
WIKI_LINK = re.compile(rf"(!?)\[\[([^][|#]*+)([^][|]*+)(\|{BRACKETS})?\]\]")
LINK = re.compile(
    rf"(!?\[)({BRACKETS})(\]\(<?)((?:[^()>\s#]++|\([^()>\s#]*+\))++)((?:#(?:[^()>\s]++|\([^()>\s]*+\))*+)?>?\))"
)
"""Brackets in the text of a link, and parentheses in its target, nest once: a million brackets are read once."""
TAGS_KEY = re.compile(r"(?m)^tags:[^\n]*(?:\n[ \t]*-[^\n]*|\n[ \t]+[^\n]*)*")


class Problem(Exception):
    """What is wrong with a request: a code, a sentence, and what helps."""

    def __init__(self, code, message, **details):
        self.code, self.message, self.details = code, message, details
        super().__init__(code, message)


def etag(text):
    return hashlib.sha256(text.encode()).hexdigest()


def checked_path(path, *, is_note=True):
    """Return a path within a vault; that of a note ends with `.md`."""
    if "\0" in path or "\\" in path or path.startswith("/") or re.match(r"[A-Za-z]:", path):
        raise Problem("PATH_REJECTED", "Path must be a portable vault-relative path.")
    whole = f"{path}.md" if is_note and not path.lower().endswith(".md") else path
    parts = whole.split("/")
    if {"", ".", ".."} & {*parts}:
        raise Problem("PATH_REJECTED", "Path cannot be empty or contain dot segments.")
    if parts[0].lower() in RESERVED:
        raise Problem("PATH_REJECTED", f"The '{parts[0].lower()}' directory is reserved.")
    return whole


def visible(text, change):
    """Return a text in which `change(part, first_line)` has replaced each part that is neither code nor a comment."""
    done, end, line = [], 0, 1
    for match in [*HIDDEN.finditer(text), None]:
        part = text[end : match.start() if match else len(text)]
        done.append(change(part, line))
        hidden = match[0] if match else ""
        line += part.count("\n") + hidden.count("\n")
        end = match.end() if match else end
        done.append(hidden)
    return "".join(done)


# tags -----------------------------------------------------------------------------------------------------------------


def checked_tag(tag, normalization="preserve"):
    name = tag.removeprefix("#")
    is_valid = re.fullmatch(r"[\w/-]+", name) and re.search(r"[^\W\d]|[_-]", name) and len(name) <= 200
    if not is_valid or name.startswith("/") or name.endswith("/") or "//" in name:
        why = "Tags cannot contain spaces and must contain a non-numeric character."
        raise Problem("INVALID_ARGUMENT", f"Invalid tag '{tag}'. {why}")
    if normalization == "kebab":
        name = re.sub(r"([^\W_A-Z])(?=[A-Z])", r"\1-", name).replace("_", "-")
    return name if normalization == "preserve" else name.lower()


def unique(tags):
    return [*{tag.lower(): tag for tag in reversed(tags)}.values()][::-1]


def header_tags(yaml):
    """Return the tags of a front matter."""
    if not yaml:
        return []
    try:
        value = yaml_value(yaml)
    except ValueError:
        raise Problem("INVALID_FRONTMATTER", "The note has invalid YAML frontmatter.") from None
    tags = value.get("tags") if isinstance(value, dict) else None
    if isinstance(tags, str):
        tags = re.split(r"[\s,]+", tags)
    return [checked_tag(str(tag)) for tag in tags or () if str(tag)]


def with_header_tags(yaml, tags):
    """Return a front matter with other tags, in the place of its old ones or at its end."""
    block = "\n".join(["tags:", *(f"  - {tag}" for tag in tags)]) if tags else ""
    if TAGS_KEY.search(yaml):
        changed = TAGS_KEY.sub(lambda _: block, yaml, count=1)
        return changed if block else re.sub(r"\n{2,}", "\n", changed).strip("\n") or "{}"
    return "\n".join(filter(None, [yaml, block]))


def tags_of(text):
    """Return the tags of a note, each with its line in the text after the front matter; 0 in the front matter."""
    yaml, body = front_matter(text)
    found = [(tag, 0) for tag in header_tags(yaml)]

    def collect(part, line):
        found.extend((match[2], line + part.count("\n", 0, match.start(2))) for match in TAG.finditer(part))
        return part

    visible(body, collect)
    return found


def with_tags(text, tags, location, position):
    """Return a note with more tags, and which were added."""
    yaml, body = front_matter(text)
    added = []
    if location != "content":
        before = header_tags(yaml)
        after = unique([*before, *tags])
        added += after[len(before) :]
        yaml = with_header_tags(yaml, after) if after != before else yaml
    if location != "frontmatter":
        known = {tag.lower() for tag, line in tags_of(body) if line}
        missing = [tag for tag in tags if tag.lower() not in known]
        if missing:
            line = " ".join(f"#{tag}" for tag in missing) + "\n"
            body = line + body if position == "start" else body + "\n" * (body[-1:] not in {"", "\n"}) + line
        added += missing
    return with_front_matter(yaml, body), sorted({*added})


def changed_tags(text, change, location):
    """Return a note whose tags `change` has replaced; None removes a tag."""
    yaml, body = front_matter(text)
    if location != "content":
        before = header_tags(yaml)
        after = unique([new for tag in before if (new := change(tag)) is not None])
        yaml = with_header_tags(yaml, after) if after != before else yaml

    def replaced(match):
        new = change(match[2])
        return match[1] if new is None else f"{match[1]}#{new}"

    if location != "frontmatter":
        body = visible(body, lambda part, _: TAG.sub(replaced, part))
    return with_front_matter(yaml, body)


def matches(tag, tags, patterns, with_children):
    """Return whether a tag is one of several, or matches a pattern, or is below one of the tags."""
    name = tag.lower()
    wanted = [item.lower() for item in tags]
    parts = [re.escape(piece) for pattern in patterns for piece in ("|", *re.split(r"(\*)", pattern.lower()))]
    expression = "".join(parts).replace(r"\|", "|").replace(r"\*", ".*").removeprefix("|")
    is_below = with_children and any(name.startswith(f"{item}/") for item in wanted)
    return name in wanted or is_below or bool(expression and search_test(rf"\A(?:{expression})\z")(name))


# links ----------------------------------------------------------------------------------------------------------------


def stem(path):
    return path[:-3] if path.lower().endswith(".md") else path


class Links:
    """Finds the notes that links lead to. Links name a path, or a file name that only one note has."""

    def __init__(self, paths):
        self._exact = {stem(path).lower(): path for path in paths}
        self._named = {}
        for path in paths:
            self._named.setdefault(posixpath.basename(stem(path)).lower(), []).append(path)
        self.ambiguous = 0

    def leads(self, target, source, wanted):
        """Return whether a link in a note leads to another one. Counts the ambiguous ones."""
        name = stem(target.removeprefix("./")).lower()
        relative = posixpath.normpath(posixpath.join(posixpath.dirname(source), name)).lower()
        exact = self._exact.get(name) or self._exact.get(relative)
        if exact is not None or "/" in target:
            return exact == wanted
        candidates = self._named.get(name, [])
        self.ambiguous += len(candidates) > 1
        return candidates == [wanted]

    def rewritten(self, text, source, old, new):
        """Return a text whose links to one note lead to another; without another they are struck out."""

        def target_of(target):
            ending = ".md" if target.lower().endswith(".md") else ""
            if target.startswith(("./", "../")):
                path = posixpath.relpath(stem(new), posixpath.dirname(source) or ".")
                return (path if path.startswith(".") else f"./{path}") + ending
            return (stem(new) if "/" in target else posixpath.basename(stem(new))) + ending

        def wiki(match):
            embed, target, anchor, alias = match.groups("")
            if not self.leads(target, source, old):
                return match[0]
            return f"{embed}[[{target_of(target)}{anchor}{alias}]]" if new else f"~~{match[0]}~~"

        def plain(match):
            start, label, middle, target, end = match.groups()
            label, path = LINK.sub(plain, label), unquote(target)
            if re.match(r"(?i)[a-z][a-z0-9+.-]*:", path) or not self.leads(path, source, old):
                return f"{start}{label}{middle}{target}{end}"
            if not new:
                return f"~~{match[0]}~~"
            return f"{start}{label}{middle}{quote(target_of(path), safe='/.')}{end}"

        return visible(text, lambda part, _: LINK.sub(plain, WIKI_LINK.sub(wiki, part)))
