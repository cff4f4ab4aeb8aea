"""Replace what the interpreter prints in its own words with what bash and GNU commands print."""

from __future__ import annotations

import re

_BASH = "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)"
_UTILITIES = "GNU coreutils) 9.1"
_PACKAGES = {
    "find": "GNU findutils) 4.9.0", "grep": "GNU grep) 3.8", "sed": "GNU sed) 4.9", "xargs": "GNU findutils) 4.9.0"
}  # fmt: skip
"""The packages of programs that do not belong to the core utilities, with their versions."""
_PROGRAM = re.compile(r"([\w-]{1,20}) \(bashkit\) [0-9.]+$", re.MULTILINE)
_OWN_WORDS = tuple(
    (re.compile(pattern, re.MULTILINE), text)
    for pattern, text in (
        # A file may hold such a sentence, too: only a line of the shell or of a script begins with its number.
        (r"^([^\n:]{1,200}: line \d+: [^\n]{1,200}?: command not found)\. [A-Z][^\n]{0,200}", r"\1"),
        (r"Bashkit [0-9.]+ \(virtual \w+ interpreter\)|Virtual shell interpreter \(not GNU bash\)", _BASH),
        (r"^Bashkit builtin commands:", "These shell commands are defined internally:"),
        (r"^((?:GNU Awk|BusyBox|curl) v?[0-9.]+) \(bashkit\)", r"\1"),
        (r"^(?:This is the bashkit sandboxed subset;|The sandbox has a single user;|Inside a bashkit::)[^\n]*\n", ""),
        (r"  In bashkit every applet is\n\tthe sandbox's own builtin of the same name\.", ""),
        (r"(: not a terminal) \(run inside bashkit::[^\n)]*\)", r"\1"),
        (r"((?:supported|implemented)) in bashkit\b", r"\1"),
        (r"^(Process YAML or JSON with) Bashkit's jq-compatible expression engine", r"\1 jq expressions"),
        (r"cannot set hostname in virtual mode", "you must be root to change the host name"),
        (r'^(BASH_VERSINFO=.*)"virtual"', r'\1"x86_64-pc-linux-gnu"'),
    )
)
_SIGNS = ("ashkit", "command not found. ", "virtual", "The sandbox")
"""What occurs in all of these: to search a long text for each takes a third of a second."""
_SYNTAX = re.compile(r"^parse error(?: at line (\d+), column \d+)?: (?:syntax error: |syntax error )?(.*)", re.DOTALL)
KILLED = 137


def in_words_of_bash(text: str) -> str:
    """Return what bash and GNU commands would have printed."""
    text = text.replace("io error: not found", "No such file or directory").replace("io error: ", "")
    if not any(sign in text for sign in _SIGNS):
        return text
    for pattern, words in _OWN_WORDS:
        text = pattern.sub(words, text)
    return _PROGRAM.sub(lambda match: f"{match[1]} ({_PACKAGES.get(match[1], _UTILITIES)}", text)


def in_words_of_a_failure(error: str) -> tuple[str, int]:
    """Return what bash prints, and its exit code, where the interpreter ends a command."""
    syntax = _SYNTAX.match(error)
    if syntax is None:
        return "Killed\n", KILLED
    problem = syntax[2]
    if problem.startswith("near"):
        problem = f"syntax error {problem}"
    elif problem.startswith("unexpected end"):
        problem = f"syntax error: {problem}"
    return f"bash: -c: line {syntax[1] or 1}: {problem}\n", 2
