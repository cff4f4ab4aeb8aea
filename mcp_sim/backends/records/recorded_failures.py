"""How does a vendor word a failure, judged by recorded ones?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.recorded import Sample, fails, samples
from mcp_sim.types import Json, Tool, plain_failure
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import DEFAULT, Template, VendorWording
from mcp_sim.types.plans import Plan


def failing(tool: Tool, plan: Plan, domain: Domain) -> Tool:
    """The tool with failures worded as recorded ones are, where the spec has no words for them."""
    if not isinstance(tool.wording, VendorWording) and tool.wording is not plain_failure:
        return tool
    own: Mapping[str, Template] = tool.wording.templates if isinstance(tool.wording, VendorWording) else {}
    found: dict[str, Template] = {}
    for sample in samples(domain.examples, tool):
        kind = _kind_of_failure(sample.text)
        if kind is not None and kind not in own and DEFAULT not in own:
            found.setdefault(kind, Template("text", _template(sample, plan)))
    return replace(tool, wording=VendorWording({**found, **own})) if found else tool


def _kind_of_failure(text: str) -> str | None:
    if not fails(text):
        return None
    return (
        "conflict"
        if re.search(r"\balready\b|\bexists\b", text, re.IGNORECASE) and "not" not in text.lower()
        else ("not_found" if re.search(r"not found|not exist|doesn't exist|no such", text, re.IGNORECASE) else None)
    )


def _template(sample: Sample, plan: Plan) -> str:
    """A failure with its value as a slot."""
    value: Json = argument(plan.key or "")(sample.arguments)
    values = (
        [value] if value is not ABSENT else [one for one in sample.arguments.values() if isinstance(one, str | int)]
    )
    text = sample.text.replace("{", "").replace("}", "")
    for one in values[:1]:
        text = re.sub(rf"(?<!\w){re.escape(str(one))}(?!\w)", "{value}", text)
    return text
