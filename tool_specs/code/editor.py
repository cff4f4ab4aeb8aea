"""An editor of files by exact texts, in the words of the text editor that agents know."""

from mcp_sim.libraries.files import FileError
from mcp_sim.programs import Refused

CONTEXT = 4
"""Lines that are shown around an edit."""


def view(world, path, view_range=None):
    """Return a file with line numbers, or what is in a directory, two levels deep."""
    entry = opened(world, path)
    if not entry.is_file:
        places = [inner.path for inner in world.files.walk(entry.path, 2) if "/." not in inner.path]
        heading = f"Here's the files and directories up to 2 levels deep in {path}, excluding hidden items:"
        return "\n".join([heading, path, *places]) + "\n"
    lines = entry.text.split("\n")
    first, last = 1, len(lines)
    if view_range:
        first, last = view_range[0], view_range[-1] if view_range[-1] != -1 else len(lines)
        if len(view_range) != 2 or not 1 <= first <= len(lines) or not first <= last <= len(lines):
            bounds = f"It should be within the range of lines of the file: [1, {len(lines)}]"
            raise Refused(f"Invalid `view_range`: {view_range}. {bounds}")
    return numbered("\n".join(lines[first - 1 : last]), path, first)


def numbered(text, name, first=1):
    lines = "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), first))
    return f"Here's the result of running `cat -n` on {name}:\n{lines}\n"


def create(world, path, file_text):
    if file_text is None:
        raise Refused("Parameter `file_text` is required for command: create")
    absolute(path)
    try:
        world.files.write(world.files.real(path), file_text, parents=True)
    except FileError as error:
        raise Refused(f"Ran into {error} while trying to write to {path}") from None
    return f"File created successfully at: {path}"


def str_replace(world, path, old_str, new_str):
    if not old_str:
        raise Refused("Parameter `old_str` is required for command: str_replace")
    text = opened(world, path, needs_file=True).text
    count = text.count(old_str)
    if not count:
        raise Refused(f"No replacement was performed, old_str `{old_str}` did not appear verbatim in {path}.")
    if count > 1:
        lines = [number for number, line in enumerate(text.split("\n"), 1) if old_str.split("\n")[0] in line]
        raise Refused(
            f"No replacement was performed. Multiple occurrences of old_str `{old_str}` in lines {lines}. "
            "Please ensure it is unique"
        )
    before = text.split(old_str)[0].count("\n")
    return edited(world, path, text.replace(old_str, new_str or ""), before, (new_str or "").count("\n"))


def insert(world, path, line, text):
    if line is None or text is None:
        raise Refused("Parameters `insert_line` and `insert_text` are required for command: insert")
    lines = opened(world, path, needs_file=True).text.split("\n")
    if not 0 <= line <= len(lines):
        bounds = f"It should be within the range of lines of the file: [0, {len(lines)}]"
        raise Refused(f"Invalid `insert_line` parameter: {line}. {bounds}")
    new = text.removesuffix("\n").split("\n")
    return edited(world, path, "\n".join([*lines[:line], *new, *lines[line:]]), line, len(new) - 1)


def edited(world, path, text, at, more):
    """Write an edited file, and return the lines around the edit."""
    world.files.write(world.files.real(path), text)
    first = max(0, at - CONTEXT)
    snippet = "\n".join(text.split("\n")[first : at + more + CONTEXT + 1])
    return (
        f"The file {path} has been edited. {numbered(snippet, f'a snippet of {path}', first + 1)}"
        "Review the changes and make sure they are as expected. Edit the file again if necessary."
    )


def opened(world, path, *, needs_file=False):
    absolute(path)
    try:
        entry = world.files.entry(world.files.real(path))
    except FileError:
        raise Refused(f"The path {path} does not exist. Please provide a valid path.") from None
    if needs_file and not entry.is_file:
        raise Refused(f"The path {path} is a directory and only the `view` command can be used on directories")
    if entry.kept.get("encoding"):
        raise Refused(f"The file {path} is not a text in UTF-8.")
    return entry


def absolute(path):
    if not path.startswith("/"):
        raise Refused(f"The path {path} is not an absolute path, it should start with `/`. Maybe you meant /{path}?")
