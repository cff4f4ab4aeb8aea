"""What does a command line say: commands with their words, piped, redirected, one after another?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from mcp_sim.backends.refusal import Refused

_LONGEST = 20_000
_ERRORS = re.compile(r"(?<=\s)(?:2>\s*(?:&1|/dev/null)|&>\s*/dev/null)")
_SUBSTITUTES = re.compile(r"\$\(|`|<<")


@dataclass(frozen=True, slots=True)
class Command:
    """The words of one command; the file that it writes into, or at whose end it writes; the file that it reads."""

    words: tuple[str, ...] = ()
    into: str | None = None
    appends: bool = False
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands each of which reads what the one before it tells. `when`: `&&` after a success, `||` after a failure."""

    when: str
    commands: tuple[Command, ...]


def pipes(line: str) -> list[Pipe]:
    """What a line asks for, in order. Raises Refused where it is more than that: a substitution, a loop."""
    if len(line) > _LONGEST or _SUBSTITUTES.search(line):
        raise Refused("invalid", "Substitutions, here-documents and very long lines are not understood")
    lexer = shlex.shlex(_ERRORS.sub(" ", line).replace("\n", ";"), posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        raise Refused("invalid", f"Syntax error in the command: {error}") from None
    return list(_pipes(words))


def in_words(words: Sequence[str]) -> list[Pipe]:
    """The same where the words are given one by one."""
    return list(_pipes(words))


def _pipes(words: Sequence[str]) -> Iterator[Pipe]:
    when, commands, current = "", list[Command](), Command()
    rest = iter(words)
    for word in rest:
        if word in {";", "&&", "||", "&"}:
            if current.words or commands:
                yield Pipe(when, (*commands, current))
            when, commands, current = word, [], Command()
        elif word == "|":
            commands, current = [*commands, current], Command()
        elif word in {">", ">>"}:
            current = replace(current, into=_file(rest, word), appends=word == ">>")
        elif word == "<":
            current = replace(current, source=_file(rest, word))
        elif set(word) <= set("|&;<>"):
            raise Refused("invalid", f"Syntax error near {word!r}")
        else:
            current = replace(current, words=(*current.words, word))
    if current.words or commands:
        yield Pipe(when, (*commands, current))


def _file(rest: Iterator[str], sign: str) -> str:
    found = next(rest, None)
    if found is None:
        raise Refused("invalid", f"Syntax error: a file is missing behind {sign!r}")
    return found
