"""Print the accessible objects of GTK windows as JSON, under the Python of the system: a part of `desktop.py`.

The argument is a JSON object: title of a window, or a part of it -> the command that opens it. The commands run in the
current folder. Each object has its role, name, text, states and children.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import gi

gi.require_version("Atspi", "2.0")
from gi.repository import Atspi  # noqa: E402 (its version is chosen first)


def children(node: Any) -> list[Any]:
    return [child for at in range(node.get_child_count()) if (child := node.get_child_at_index(at)) is not None]


def described(node: Any) -> dict[str, Any]:
    states = [state.value_nick.replace("-", "_") for state in node.get_state_set().get_states()]
    has_text = "Text" in node.get_interfaces()
    return {
        "role": node.get_role_name().replace(" ", "-"),
        "name": node.get_name() or "",
        "text": Atspi.Text.get_text(node, 0, Atspi.Text.get_character_count(node)) if has_text else "",
        "states": states,
        "children": [*map(described, children(node))],
    }


def main() -> None:
    commands = json.loads(sys.argv[1])
    programs = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands.values()]
    windows: dict[str, Any] = {}
    try:
        for _ in range(160):
            time.sleep(0.5)
            frames = [frame for app in children(Atspi.get_desktop(0)) for frame in children(app)]
            windows = {title: frame for frame in frames for title in commands if title in frame.get_name()}
            if len(windows) == len(commands):
                break
        time.sleep(2)  # until the last of them has its place
        print(json.dumps({title: described(frame) for title, frame in windows.items()}))
    finally:
        for program in programs:
            program.kill()


if __name__ == "__main__":
    main()
