"""`mcp-sim expand`: write concrete tasks from a template, each tried by scripted agents."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import anyio

from mcp_sim.cli.agent_options import seeds_in
from mcp_sim.cli.files import replace_file
from mcp_sim.cli.parsing import script_option, share
from mcp_sim.cli.terminal import note
from mcp_sim.runs.expanding import Concrete, Template, document_text, is_test
from mcp_sim.types.json_values import encode
from mcp_sim.types.readable import printable


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("template", type=Path, metavar="TEMPLATE", help="a scenario in a file, with `pick:`")
    parser.add_argument("--seeds", default="0..99", metavar="0..99", help="seeds, as 0..99 (the default) or 1,2,7")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="write the tasks there")
    script_option(parser)
    parser.add_argument(
        "--test", type=share, default=0.1, metavar="0..1", help="the share of tasks that are for tests (default 0.1)"
    )


def run(args: argparse.Namespace) -> int:
    """Exit with 0, or 1 if no task was kept."""
    template = Template(args.template, args.script or args.template.with_name("script.yaml"))
    seeds = seeds_in(args.seeds)
    for split in ("train", "test"):
        (args.output / split).mkdir(parents=True, exist_ok=True)
    return anyio.run(_expand, template, seeds, args)


async def _expand(template: Template, seeds: Sequence[int], args: argparse.Namespace) -> int:
    lines, reasons, examples = list[str](), Counter[str](), dict[str, str]()
    for seed in seeds:
        task = await template.concrete(seed, args.output)
        if task.difficulty is None:
            reasons[task.reason] += 1
            examples.setdefault(task.reason, f" (seed {seed}: {task.because})" if task.because else "")
        else:
            lines.append(encode(_written(template, task, args.output, args.test)).decode() + "\n")
    replace_file(args.output / "tasks.jsonl", "".join(lines))
    left_out = "".join(f"; {count} left out: {reason}{examples[reason]}" for reason, count in reasons.items())
    note(printable(f"{len(lines)} tasks in {args.output}{left_out}"))
    return 0 if lines else 1


def _written(template: Template, task: Concrete, folder: Path, share: float) -> dict[str, object]:
    """Write the scenario and the script of a task; return its line."""
    name = str(task.scenario["name"])
    split = "test" if is_test(name, share) else "train"
    place = folder / split
    scenario, script = place / f"{name}.yaml", place / f"{name}.script.yaml"
    scenario.write_text(document_text(template.moved(task.scenario, place)), encoding="utf-8")
    script.write_text(document_text(task.script), encoding="utf-8")
    return {
        "key": name,
        "split": split,
        "scenario": f"{split}/{scenario.name}",
        "script": f"{split}/{script.name}",
        "seed": task.seed,
        "task": task.script["task"],
        "difficulty": task.difficulty,
    }
