"""`mcp-sim trust`: remember documents that may run code, send keys, and name files anywhere."""

from __future__ import annotations

import argparse
from pathlib import Path

from mcp_sim.cli.files import replace_file
from mcp_sim.simulator.compile import files_to_trust
from mcp_sim.spec.sources import display
from mcp_sim.spec.trust import real_path, remembered, store_file, store_text
from mcp_sim.types.errors import UsageError


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        type=Path,
        metavar="PATH",
        help="a scenario or tool spec, or a folder of them; without one, the trusted files are listed",
    )
    parser.add_argument("--forget", action="store_true", help="trust these files, or all below these folders, no more")


def run(args: argparse.Namespace) -> int:
    """Exit with 0, 1 if a document has errors, 2 if there is nothing to trust."""
    if args.forget:
        if not args.paths:
            raise UsageError("--forget needs the files or folders to forget")
        folders = [real_path(path) for path in args.paths]
        known = remembered()
        kept = {
            file: digest for file, digest in known.items() if not any(Path(file).is_relative_to(at) for at in folders)
        }
        replace_file(store_file(), store_text(kept))
        print(f"Files that are no longer trusted: {len(known) - len(kept)}")
        return 0
    known = {file: digest for file, digest in remembered().items() if Path(file).exists()}
    if not args.paths:
        print("\n".join(known) or "No files are trusted.")
        return 0
    for path in args.paths:
        files_and_problems = list(files_to_trust(path))
        if not files_and_problems:
            raise UsageError(f"{path}: contains no scenario and no tool spec")
        for files, actions in files_and_problems:
            for action in actions:
                print(f"{action.file}:{action.line}: {action.path}: {action.message}")
            known |= {str(file.resolve()): digest for file, digest in files.items() if file.is_file()}
            names = ", ".join(dict.fromkeys(map(display, files)))
            print(f"Trusted until they change: {names}" if names else f"{path} ships with mcp-sim, and is trusted")
    replace_file(store_file(), store_text(known))
    return 0
