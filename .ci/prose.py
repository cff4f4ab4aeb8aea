"""Count variables whose names say nothing, lines of docstrings and comments in the old house dialect, words of docs.

    python .ci/prose.py [PATH ...] [--list] [--names PER_1000_LINES] [--dialect LINES]

The default path is mcp_sim. `--list` prints every hit. Exits with 1 if there are more hits than a limit allows, or if
`docs` is too long.
"""

import argparse
import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

PAGES, WORDS = 14, 35_000  # of docs, more than two hours of reading: a new page or paragraph replaces another
NAMES = {"one", "found", "part", "made"}
DIALECT = re.compile(
    r"(?<!there )\b(is|are|was|were) (none\b|no (?!longer|more|other|such))|\b(there (is|are) none|by what|nobody)\b"
    r"|\bof which\b|\bin (the )?place of\b|(^|[,;:.]|\b(and|if|has|have|with|for)) none([,;:.)]|$)"
)


def bindings(tree: ast.AST) -> Iterator[int]:
    """Yield the line of each variable, parameter and pattern with one of the names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.arg | ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            is_read = isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Store)
            names = {getattr(node, field, None) for field in ("id", "arg", "name")}
            yield from [node.lineno] if names & NAMES and not is_read else []


def dialect(source: str, tree: ast.AST) -> Iterator[int]:
    """Yield the lines of docstrings and comments with one of the constructions; code in backticks is exempt."""
    statements = (node for node in ast.walk(tree) if isinstance(node, ast.Expr))
    texts = {node.lineno for node in statements if isinstance(node.value, ast.Constant)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and token.start[0] in texts):
            lines = enumerate(token.string.splitlines(), token.start[0])
            yield from (number for number, line in lines if DIALECT.search(re.sub("`[^`]*`", "", line).strip('"# ')))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("paths", nargs="*", type=Path, default=[Path("mcp_sim")])
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--names", type=float, default=0.6)
    parser.add_argument("--dialect", type=int, default=0)
    options = parser.parse_args()
    files = [file for path in options.paths for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))]
    sources = {file: file.read_text(encoding="utf-8") for file in files}
    trees = {file: ast.parse(source) for file, source in sources.items()}
    names = [(file, line) for file, tree in trees.items() for line in bindings(tree)]
    prose = [(file, line) for file, tree in trees.items() for line in dialect(sources[file], tree)]
    for file, line in sorted([*names, *prose]) if options.list else ():
        print(f"{file}:{line}: {sources[file].splitlines()[line - 1].strip()}")
    share = 1000 * len(names) / sum(source.count("\n") for source in sources.values())
    print(f"{share:.2f} bindings of {sorted(NAMES)} per 1,000 lines; {len(prose)} lines of dialect (see --list)")
    pages = [*Path("docs").rglob("*.md")]
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    print(f"{len(pages)} pages of docs (at most {PAGES}), {words:,} words (at most {WORDS:,})")
    sys.exit(share > options.names or len(prose) > options.dialect or len(pages) > PAGES or words > WORDS)
