"""Count questions used as docstrings and words of the old house dialect.

    python .ci/prose.py                             a table: hits per top-level folder and word
    python .ci/prose.py --list mcp_sim/faults       every hit of these files as `file:line: word: text`
    python .ci/prose.py --all                       also the docstrings of classes and functions
    python .ci/prose.py --at-most-questions 0 --at-most-dialect 10    exit with 1 if there are more

Checked are the docstrings, comments, strings and identifiers of Python files, the text of Markdown files, the comments
of YAML files, and file names. A word counts once per line.

Data is not prose. These are exempt:

- regular expressions: string literals with an `r` prefix;
- strings without a space: keys, kinds, words to look for;
- strings in tests (`PROSE_ONLY`): inputs, or copies of a text whose source is checked;
- strings in the files of `DATA`: word lists for generated records, and phrases that are served to agents;
- word lists that tool names are compared with: the arguments of `vocabulary(...)`;
- strings of a statement whose first line, or the comment line right above it, has the comment `# prose: data`;
- the slots of a template: `{name}`;
- in prose, what backquotes or double quotes enclose, unless it is a name of the code.

Run it from the root of a checkout.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePath

ROOT = Path.cwd()
CHECKED = (
    *("mcp_sim", "tests", "benchmarks", "docs", "examples", ".ci", "presets", "scenarios", "tool_specs"),
    *("README.md", "ARCHITECTURE.md", "CHANGELOG.md"),
)
PROSE_ONLY = ("tests/**",)
DATA = ("phrases.py", "themes.py")
EXEMPT = (".ci/prose.py",)
"""This file lists the words that it looks for."""

MARK = "# prose: data"
QUESTION = "question"


@dataclass(frozen=True, slots=True)
class Word:
    """A word to avoid: where it counts, and what to write instead.

    `prose` is searched in docstrings, comments, messages and Markdown. `name` is searched in identifiers and file
    names, as written and in snake case (`LateWrite` is `late_write`). `module` is compared with imported modules,
    file names and backquoted names.
    """

    word: str
    instead: str
    prose: str | None = None
    name: str | None = None
    module: str | None = None


WORDS = (
    # Phrases of the old prose.
    Word("tell", "show, return, render, report, list", r"tells?|told|tellings?", r"tells?|told|tellings?", "telling"),
    Word("stand", "is, appears", r"(?:stands?|stood|standing)(?! for\b)(?<!long-standing)(?!-)", r"stands?|standing"),
    Word("speak of", "mention, reference, use", r"(?:speaks?|spoken?|spoke|speaking) of"),
    Word("what is said", "declared, specified, described", r"what (?:is|was|are|were|has been) said"),
    Word("nobody", "no one, no client, never", r"nobody(?:'s)?", "nobody"),
    Word("whoever", "the caller, the client, the reader", r"whoever", "whoever"),
    Word("befall", "happen to, affect", r"befalls?|befell|befallen|befalling"),
    Word("made up", "generated", r"(?:made|makes?|making)[ -]up", "(?:made|makes?|making)_up"),
    Word("in the place of", "instead of, for", r"in the place of"),
    Word("so ... that", "once, after", r"so (?:old|long|far|late|early|many|much|few|big|large|often) that"),
    Word("of which", "whose, that; or a second sentence", r"of which"),
    Word("as though", "as if, like", r"as though"),
    Word("without a word", "without closing, silently", r"without a word"),
    Word("where none is", "default, if there is none", r"where none is"),
    Word("asks for something impossible", "invalid usage", r"asks? for something impossible"),
    # Names of the old layout. Ordinary English words count as modules only.
    Word("abilities", "compute", None, "abilities", "abilities"),
    Word("behaviours", "backends", None, "behaviours?", "behaviours?"),
    Word("bequests", "inherited defaults", r"bequests?|bequeath\w*", "bequests?", "bequests?"),
    Word(
        "claiming",
        "matching (tool to operation), rendering (result to observation)",
        None,
        "(?:un)?claim(?:s|ed|ing)?",
        "claiming",
    ),
    Word("corpora", "pages", r"corpora", "corpora", "corpora"),
    Word("deciding", "triggers", None, None, "deciding"),
    Word("rules", "triggers", None, None, "rules"),
    Word("fictional", "model-generated", r"fictional", "fictional", "fictional"),
    Word("intersections", "schema merge", None, None, "intersections"),
    Word("jottings", "notes", r"jottings?", "jottings?", "jottings?"),
    Word("keeping", "persistence", None, None, "keeping"),
    Word("late writes", "deferred commits", r"late[ -]writes?", "late_writes?", "late_writes"),
    Word("logins", "auth", None, None, "logins"),
    Word("looks", "tool features", None, "Looks?|looks(?!_)", "looks"),
    Word("readings", "tool features", None, "readings", "readings"),
    Word("mailboxes", "messages", None, "mailboxes", "mailboxes"),
    Word("misreading", "CEL diagnostics", r"misreadings?", "misreadings?", "misreading"),
    Word("outlines", "documents", None, "outlines?", "outlines?"),
    Word("points", "time bounds", None, None, "points"),
    Word("stretches", "time bounds, ranges", r"stretch(?:es)?", "stretch(?:es)?", "stretches"),
    Word("reasons", "explain", None, None, "reasons"),
    Word("retracing", "explain", r"retrac(?:es?|ed|ing)", "retrac(?:es?|ed|ing)", "retracing"),
    Word("thoughts", "thinking log", None, None, "thoughts"),
    Word("tongues", "lexicon, languages", r"tongues?", "tongues?", "tongues"),
    Word("words", "lexicon", None, None, "words"),
    Word("wording", "error templates", None, "wording", "wording"),
    Word("wrapping", "argument unwrapping", None, None, "wrapping"),
)
_PROSE = [
    (word, re.compile(rf"\b(?:{word.prose})(?!\w)".replace(" ", r"\s+"), re.IGNORECASE)) for word in WORDS if word.prose
]
_NAME = [(word, re.compile(rf"(?<![a-z])(?:{word.name})(?![a-z])")) for word in WORDS if word.name]
_MODULE = [(word, re.compile(word.module)) for word in WORDS if word.module]

_CODE = re.compile(r"``[^`]*``|`[^`]*`|\"[^\"\n]*\"|“[^”\n]*”")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w./]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_COMMENT = re.compile(r"(?:^|\s)#(?!:)\s(.*)")
_SENTENCE = re.compile(r"(.*?[.?!])(?:\s|$)", re.DOTALL)
_SLOT = re.compile(r"\{[^{}]*\}")
_STRING = re.compile(r"(?i)([a-z]*)('''|\"\"\"|'|\")")


@dataclass(frozen=True, slots=True)
class Hit:
    path: str
    line: int
    word: str
    text: str

    @property
    def folder(self) -> str:
        """The part of the project that the table has a row for: `mcp_sim/faults`, `docs`, `README.md`."""
        parts = PurePath(self.path).parts
        return "/".join(parts[: 2 if parts[0] == "mcp_sim" and len(parts) > 2 else 1])


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of prose, and the line on which it starts."""

    line: int
    text: str


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    hits = [hit for path in files(options.paths) for hit in check(path, every=options.all)]
    if options.list:
        print(*(f"{hit.path}:{hit.line}: {hit.word}: {hit.text}" for hit in hits), sep="\n")
    questions = sum(hit.word == QUESTION for hit in hits)
    dialect = len(hits) - questions
    if not options.list:
        print("\n".join(table(hits)))
    print(f"{questions} docstrings are questions; {dialect} lines have words of the house dialect")
    too_many = [
        f"{count} {what}, at most {limit} are allowed: see --list"
        for count, what, limit in (
            (questions, "questions", options.at_most_questions),
            (dialect, "dialect words", options.at_most_dialect),
        )
        if limit is not None and count > limit
    ]
    print(*too_many, sep="\n", end="\n" if too_many else "", file=sys.stderr)
    return 1 if too_many else 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, help="files and folders to limit the check to")
    parser.add_argument("--all", action="store_true", help="also check the docstrings of classes and functions")
    parser.add_argument("--list", action="store_true", help="print every hit as file:line: word: text")
    parser.add_argument("--at-most-questions", type=int, metavar="N", help="exit with 1 if there are more")
    parser.add_argument("--at-most-dialect", type=int, metavar="N", help="exit with 1 if there are more")
    return parser.parse_args(arguments)


def files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the Python, Markdown and YAML files of the project, or those at `paths`."""
    for start in [path.resolve() for path in paths] or [ROOT / name for name in CHECKED]:
        if not start.exists():
            raise SystemExit(f"no such file or folder: {start}")
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            if path.suffix in {".py", ".md", ".yaml"} and not _matches(path, EXEMPT):
                yield path


def check(path: Path, *, every: bool) -> Iterator[Hit]:
    """Yield the hits of one file, in the order of lines."""
    shown = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.as_posix()
    source = path.read_text(encoding="utf-8")
    named = path.parent.name if path.name == "__init__.py" else path.stem
    words = [*_module_words(named), *_name_words(named)] if path.suffix == ".py" else []
    found = [(1, word, path.name) for word in words]
    if path.suffix == ".py":
        found += [*_questions(source, every=every), *_python(path, source)]
    elif path.suffix == ".md":
        found += _in_prose(_markdown(source))
    else:
        found += _in_prose(_yaml(source))
    lines = source.splitlines() or [""]
    for line, word in dict.fromkeys(sorted((line, word) for line, word, _ in found)):
        yield Hit(shown, line, word, lines[min(line, len(lines)) - 1].strip())


def _questions(source: str, *, every: bool) -> Iterator[tuple[int, str, str]]:
    tree = ast.parse(source)
    nodes = ast.walk(tree) if every else [tree]
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            sentence = _first_sentence(ast.get_docstring(node) or "")
            if sentence.endswith("?"):
                yield node.body[0].lineno, QUESTION, sentence


def _first_sentence(text: str) -> str:
    # Code may end with a full stop or a question mark.
    plain = _CODE.sub(lambda code: "x" * len(code[0]), text)
    match = _SENTENCE.match(plain)
    return plain[: match.end(1)] if match else plain


def _python(path: Path, source: str) -> Iterator[tuple[int, str, str]]:
    tree = ast.parse(source)
    docstrings = {
        (node.lineno, node.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    }
    data = _data_lines(tree, source)
    has_messages = not _matches(path, PROSE_ONLY + DATA)
    tokens = [*tokenize.generate_tokens(io.StringIO(source).readline)]
    yield from _in_prose(_comments(tokens))
    yield from _in_prose(_strings(tokens, docstrings, data, has_messages=has_messages))
    for token in tokens:
        if token.type == tokenize.NAME:
            yield from ((token.start[0], word, token.string) for word in _name_words(token.string))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom | ast.Import):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
            parts = [part for module in modules if module.startswith("mcp_sim") for part in module.split(".")]
            yield from ((node.lineno, word, part) for part in parts for word in _module_words(part))


def _data_lines(tree: ast.Module, source: str) -> set[int]:
    """Return the lines of word lists, and of statements that are marked as data."""
    lines = source.splitlines()
    marked = {number for number, line in enumerate(lines, 1) if MARK in line}
    # A comment line marks the statement below it.
    marked |= {number + 1 for number in marked if lines[number - 1].lstrip().startswith("#")}
    return {
        line
        for node in ast.walk(tree)
        if (isinstance(node, ast.stmt) and node.lineno in marked) or _is_vocabulary(node)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _is_vocabulary(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vocabulary"


def _comments(tokens: list[tokenize.TokenInfo]) -> Iterator[Text]:
    """Yield comments; those on consecutive lines as one text, so that a phrase may wrap."""
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    numbered = enumerate(comments)
    for _, group in groupby(numbered, key=lambda pair: pair[1].start[0] - pair[0]):
        block = [token for _, token in group]
        yield Text(block[0].start[0], "\n".join(token.string.lstrip("#") for token in block))


def _strings(
    tokens: list[tokenize.TokenInfo], docstrings: set[tuple[int, int]], data: set[int], *, has_messages: bool
) -> Iterator[Text]:
    """Yield docstrings and messages."""
    prefix = ""
    for token in tokens:
        kind = tokenize.tok_name[token.type]
        if kind in {"STRING", "FSTRING_START"}:
            opening = _STRING.match(token.string)
            prefix = opening[1].lower() if opening else ""
        is_docstring = token.start in docstrings
        is_message = has_messages and " " in token.string and "r" not in prefix and token.start[0] not in data
        if kind in {"STRING", "FSTRING_MIDDLE"} and (is_docstring or is_message):
            text = token.string[len(prefix) :].strip("\"'") if kind == "STRING" else token.string
            yield Text(token.start[0], text if is_docstring else _SLOT.sub("\0", text))


def _markdown(source: str) -> Iterator[Text]:
    """Yield paragraphs, without fenced code except for its comments."""
    fenced, paragraph, start = False, list[str](), 1
    for number, line in enumerate([*source.splitlines(), ""], 1):
        is_fence = line.lstrip().startswith("```")
        if fenced or is_fence or not line.strip():
            if paragraph:
                yield Text(start, "\n".join(paragraph))
            paragraph, start = [], number + 1
            comment = _COMMENT.search(line) if fenced else None
            if comment is not None:
                yield Text(number, comment[1])
        else:
            paragraph.append(line)
        fenced ^= is_fence


def _yaml(source: str) -> Iterator[Text]:
    comments = ((number, _COMMENT.search(line)) for number, line in enumerate(source.splitlines(), 1))
    yield from (Text(number, comment[1]) for number, comment in comments if comment is not None)


def _in_prose(texts: Iterable[Text]) -> Iterator[tuple[int, str, str]]:
    for text in texts:
        for code in _CODE.finditer(text.text):
            inner = code[0].strip('`"“”')
            if code[0][0] == "`" and _IDENTIFIER.fullmatch(inner):
                line = text.line + text.text.count("\n", 0, code.start())
                yield from ((line, word, inner) for word in _name_words(inner))
                yield from ((line, word, inner) for part in re.split(r"[./]", inner) for word in _module_words(part))
        # Blanks keep the offsets, and so the line numbers.
        plain = _CODE.sub(lambda code: re.sub(r"\S", "\0", code[0]), text.text)
        for word, pattern in _PROSE:
            for match in pattern.finditer(plain):
                yield text.line + plain.count("\n", 0, match.start()), word.word, match[0]


def _name_words(name: str) -> list[str]:
    snake = _HUMP.sub("_", name).lower()
    return [word.word for word, pattern in _NAME if pattern.search(snake) or pattern.search(name)]


def _module_words(name: str) -> list[str]:
    return [word.word for word, pattern in _MODULE if pattern.fullmatch(name)]


def _matches(path: Path, patterns: Iterable[str]) -> bool:
    shown = PurePath(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else PurePath(path)
    return any(
        shown.match(pattern) or (pattern.endswith("/**") and shown.as_posix().startswith(pattern[:-2]))
        for pattern in patterns
    )


def table(hits: list[Hit]) -> Iterator[str]:
    """Yield the lines of the report: hits per folder, then per word with what to write instead."""
    folders, words = Counter(hit.folder for hit in hits), Counter(hit.word for hit in hits)
    questions = Counter(hit.folder for hit in hits if hit.word == QUESTION)
    yield f"{'folder':<32}{'questions':>10}{'dialect':>9}  words"
    for folder in sorted(folders):
        mine = Counter(hit.word for hit in hits if hit.folder == folder and hit.word != QUESTION)
        most = ", ".join(f"{word} {count}" for word, count in mine.most_common(6))
        yield f"{folder:<32}{questions[folder]:>10}{folders[folder] - questions[folder]:>9}  {most}"
    yield ""
    instead = {word.word: word.instead for word in WORDS} | {QUESTION: "a noun phrase or an imperative sentence"}
    yield f"{'word':<32}{'lines':>10}  write instead"
    for word, count in words.most_common():
        yield f"{word:<32}{count:>10}  {instead[word]}"


if __name__ == "__main__":
    sys.exit(main())
