"""`mcp-sim schema`: print the JSON Schema of a document, for completion and checks in editors."""

from __future__ import annotations

import argparse
import json

from mcp_sim.spec.editor_schema import preset_schema, scenario_schema, tool_spec_schema

SCHEMAS = {"scenario": scenario_schema, "tool-spec": tool_spec_schema, "preset": preset_schema}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", nargs="?", choices=list(SCHEMAS), default="scenario", help="default: scenario")


def run(args: argparse.Namespace) -> int:
    """Print the schema. Exit with 0."""
    print(json.dumps(SCHEMAS[args.document](), indent=2))
    return 0
