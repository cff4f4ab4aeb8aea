"""What does a tool answer that runs a command line?"""

from __future__ import annotations

from mcp_sim.backends.files.asking import Asked
from mcp_sim.backends.files.command_lines import Pipe, in_words, pipes
from mcp_sim.backends.files.commands import COMMANDS
from mcp_sim.backends.files.shell import Shell
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome
from mcp_sim.types import Record
from mcp_sim.types.lexicon.words import vocabulary, words

_STARTS = vocabulary("start launch spawn")


def run(asked: Asked) -> Outcome:
    """What the commands tell.

    One that fails is an error, unless the result has a place for the code it ends with, or it is only started.
    """
    here = asked.tree.directory(asked.text("cwd", asked.tree.working)).path
    ran = Shell(asked.tree, here, COMMANDS).run(_pipes(asked), asked.text("stdin"))
    text = ran.told + (f"\n{ran.wrong}" if ran.told and ran.wrong else ran.wrong)
    changes = tuple(asked.tree.changes)
    is_started = bool(_STARTS.intersection(words(asked.tool.name)))
    if ran.code and asked.tool.output_schema is None and not changes and not is_started:
        raise Refused("invalid", text or f"Command failed with exit code {ran.code}", code=ran.code)
    facts: Record = {"stdout": ran.told, "stderr": ran.wrong, "exit_code": ran.code, "success": ran.code == 0}
    return Outcome(text, {**facts, "output": text}, changes=changes)


def _pipes(asked: Asked) -> list[Pipe]:
    command = asked.get("command")
    if isinstance(command, list) or asked.texts("args"):
        found = in_words([*asked.texts("command"), *asked.texts("args")])
    else:
        found = pipes(asked.text("command"))
    if not found:
        raise Refused("invalid", "The command is empty")
    return found
