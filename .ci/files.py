"""Refuse large files, untracked files, unfinished merges, and unknown names at the root of the repository.

    .ci/files.py

The exit status is 1 if there are any. Without git, for example in an unpacked archive, nothing is checked.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 300_000
"""Twice the largest module or page that anyone should have to read; a scratch file is usually larger."""

DATA_FOLDERS = ("mcp_sim/generate/data/", "tool_specs/")
"""Where larger files may be: data that the package ships, and the tool lists of vendors."""

MARKS = (b"<" * 7 + b" ", b">" * 7 + b" ")

FOLDERS_AT_ROOT = (
    ".ci", ".github", "benchmarks", "docs", "examples", "mcp_sim", "packaging", "presets", "scenarios", "tests",
    "tool_specs",
)  # fmt: skip
FILES_AT_ROOT = (
    ".dockerignore", ".gitignore", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "LICENSE",
    "README.md", "SECURITY.md", "action.yml", "pyproject.toml",
)  # fmt: skip


def main() -> int:
    """Print all problems. Return the exit status."""
    if not (ROOT / ".git").exists():
        print("not a git checkout: files are not checked", file=sys.stderr)
        return 0
    problems = list(find_problems(listed(), listed("--others", "--exclude-standard")))
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def listed(*options: str) -> list[str]:
    """Return what `git ls-files` lists: the tracked files, or those that the options select."""
    command = ["git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", *options]
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in output.split("\0") if name]


def find_problems(tracked: list[str], untracked: list[str]) -> Iterator[str]:
    for name in untracked:
        yield f"{name}: neither tracked nor ignored; add it, or write scratch files to a temporary folder"
    for name in sorted({name.partition("/")[0] for name in tracked} - {*FOLDERS_AT_ROOT, *FILES_AT_ROOT}):
        yield f"{name}: unknown at the root; if it belongs there, add it to the list in .ci/files.py"
    for name in tracked:
        size = (ROOT / name).stat().st_size if (ROOT / name).is_file() else 0
        if size > MOST_BYTES and not name.startswith(DATA_FOLDERS):
            yield f"{name}: {size:,} bytes, more than {MOST_BYTES:,}; data may be in {', '.join(DATA_FOLDERS)}"
        elif size and any(line.startswith(MARKS) for line in (ROOT / name).read_bytes().splitlines()):
            yield f"{name}: a merge is not finished; decide between both sides"


if __name__ == "__main__":
    sys.exit(main())
