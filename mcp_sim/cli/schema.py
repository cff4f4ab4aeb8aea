"""`mcp-sim schema`: print the JSON Schema of a document, or the OpenAPI document of the control plane."""

from __future__ import annotations

import argparse

from mcp_sim.cli.terminal import print_json
from mcp_sim.spec.editor_schema import preset_schema, scenario_schema, tool_spec_schema
from mcp_sim.types import Record


def control_schema() -> Record:
    """Return the OpenAPI document of the control plane, from which typed clients are generated."""
    from mcp_sim.server.control.operations import document  # noqa: PLC0415 (loads the server)

    return document()


SCHEMAS = {
    "scenario": scenario_schema,
    "tool-spec": tool_spec_schema,
    "preset": preset_schema,
    "control": control_schema,
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("document", nargs="?", choices=list(SCHEMAS), default="scenario", help="default: scenario")


def run(args: argparse.Namespace) -> int:
    """Print the schema. Exit with 0."""
    print_json(SCHEMAS[args.document]())
    return 0
