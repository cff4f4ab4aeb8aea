"""Compare the simulated libraries with what they simulate.

    python benchmarks/libraries PART [ARGUMENTS]

    shell    the shell of terminals, beside a real bash
    search   what the search over fictional worlds finds and leaks
    browser  the browser, beside Chromium behind Playwright's MCP server
    bids     what is printed as BrowserGym does, beside BrowserGym on Chromium
    phone    the phone, beside mobile-mcp on its debug bridge
    desktop  the desktop, beside windows of GTK

Each part is a module here, and says more with `--help`.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

PARTS = ("shell", "search", "browser", "bids", "phone", "desktop")


def main(arguments: list[str]) -> int:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="libraries", description=__doc__, formatter_class=layout)
    parser.add_argument("part", choices=PARTS)
    module = import_module(parser.parse_args(arguments[:1]).part)  # a part may need packages that the others do not
    options = argparse.ArgumentParser(
        prog=f"libraries {arguments[0]}", description=module.__doc__, formatter_class=layout
    )
    return module.main(options, arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
