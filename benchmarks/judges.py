"""Compare the verdicts of mcp-sim with those of two other judges, on runs of a careful and of a careless agent.

    python benchmarks/judges.py FOLDER [--runs 5] [--scenarios repositories,payments] [--first-seed 1]

FOLDER gets an environment for each judge, into which pip installs it if it is missing, and all that the runs leave. The
careful agent (`verify_then_retry`) looks what a failed call has left before it repeats it; the careless one
(`naive_retry`) does not. Both carry out the task of a shipped flaky scenario:

- `ratemyagent` is a proxy between the agent and `mcp-sim serve`. It makes a clean run first (in the calm scenario),
  then one in which it adds faults of its own: lost answers, timeouts, errors. Its verdict is PASS or FAIL by the
  records that a command counts. It gives none where no call was left without an answer; such seeds are passed over,
  and named. It drops the structured content of answers, so the scenarios here have no tools with an outputSchema.
- `agent-reliability-ci` starts agent and server, and compares the two agents: PASS, BLOCK or INCONCLUSIVE. Each of
  its trials passes if its oracle accepts the state at the end. It cannot decide with less than 8 trials of each agent.

mcp-sim judges the trace of the same runs by the scenario's own expectations. The records that the others count are read
from the changes in the trace, not by mcp-sim. Exit status: 0 if all verdicts agree, 1 if some differ, 2 if a judge
cannot be used.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

# The judges import this module in their own environments, which lack mcp-sim: only the agent imports it, when it runs.

AGENTS = {"careful": "verify_then_retry", "careless": "naive_retry"}
PACKAGES = {"ratemyagent": "ratemyagent==1.9.0", "agent-reliability-ci": "agent-reliability-ci==0.8.0"}
LEAST_TRIALS = 8
"""Trials of each agent: with fewer, agent-reliability-ci is INCONCLUSIVE even if one always fails."""
PATIENCE = 10.0
"""Seconds that the agent waits for an answer, since the judges leave some calls without one."""
TRIES = 12
"""How often the agents make a call at most: the faults of the judges add to those of the scenario."""
MOST_SEEDS = 40
"""Seeds tried for the verdicts of ratemyagent on one agent."""
POLICY = {"name": "effects", "thresholds": {"duplicate_mutation_max": 0}, "pass_score": 75}
"""What ratemyagent judges by. Its default policy also allows at most two calls for each of the clean run, so that an
agent fails that looks before it repeats a call."""


@dataclass(frozen=True)
class Goal:
    """What the state must have at the end: exactly one record of an entity with some values, which then has others."""

    entity: str
    identified_by: Mapping[str, Any]
    in_the_end: Mapping[str, Any]


GOALS = {
    "payments": Goal("refund", {"payment_intent": "pi_3Q8aWkLkdIwHu7ix0b5nTz2e"}, {"amount": 1900}),
    "repositories": Goal("issue", {"title": "Wrong draught in the limits of the quay"}, {"state": "closed"}),
}


@dataclass(frozen=True)
class Comparison:
    """The verdicts of another judge and of mcp-sim on one run."""

    judge: str
    run: str
    theirs: str
    ours: str
    because: str

    @property
    def agrees(self) -> bool:
        return self.theirs.lower().startswith(self.ours[:4])


def main() -> int:
    """Compare the judges, and print every run. Return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=5, help="runs of each agent for ratemyagent (default 5)")
    parser.add_argument("--scenarios", default="repositories", help=f"of {', '.join(GOALS)} (default repositories)")
    parser.add_argument("--first-seed", type=int, default=1)
    args = parser.parse_args()
    folder = args.folder.resolve()
    installed = {judge: _installed(folder, judge) for judge in PACKAGES}
    missing = [judge for judge, path in installed.items() if path is None]
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)
        return 2
    comparisons = list[Comparison]()
    for name in args.scenarios.split(","):
        for label in AGENTS:
            for comparison in _rated(folder, name, label, args.runs, args.first_seed):
                _print(comparison)
                comparisons.append(comparison)
        for comparison in _compared(folder, name, max(args.runs, LEAST_TRIALS), args.first_seed):
            _print(comparison)
            comparisons.append(comparison)
    print()
    for judge in PACKAGES:
        of_judge = [comparison for comparison in comparisons if comparison.judge == judge]
        print(f"{judge}: {sum(comparison.agrees for comparison in of_judge)} of {len(of_judge)} verdicts agree")
    return 0 if all(comparison.agrees for comparison in comparisons) else 1


def _print(comparison: Comparison) -> None:
    sign = "=" if comparison.agrees else "DIFFERS"
    print(
        f"{comparison.judge:20}  {comparison.run:34}  {comparison.theirs:20}  mcp-sim {comparison.ours:12}"
        f"  {sign:7}  {comparison.because}",
        flush=True,
    )


def _installed(folder: Path, judge: str) -> Path | None:
    """Return the environment of a judge, made if it is missing; None if pip cannot install it."""
    environment = folder / f"env-{judge}"
    script = environment / "bin" / ("arci" if judge == "agent-reliability-ci" else judge)
    if not script.exists():
        subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
        subprocess.run([environment / "bin" / "pip", "install", "--quiet", PACKAGES[judge]], check=False)
    return environment if script.exists() else None


# ratemyagent ----------------------------------------------------------------------------------------------------------


def _rated(folder: Path, name: str, label: str, runs: int, first_seed: int) -> Iterator[Comparison]:
    """Yield the verdicts of ratemyagent on the first seeds with which it gives one."""
    given = 0
    for seed in range(first_seed, first_seed + MOST_SEEDS):
        if given == runs:
            return
        report, place = _scan(folder, name, label, seed)
        verdict = _verdict_of(report)
        if verdict is None:
            print(f"ratemyagent gives no verdict on the {label} agent with seed {seed}", file=sys.stderr)
            continue
        given += 1
        answer = next(place.glob("work/mcp-chaos-*.answer"), None)
        ours, because = _graded(place / "faults.jsonl", name, answer)
        yield Comparison("ratemyagent", f"{name} {label} seed {seed}", verdict, ours, because)


def _verdict_of(report: Mapping[str, Any]) -> str | None:
    passed = report.get("passed")
    return None if passed is None else "PASS" if passed else "FAIL"


def _scan(folder: Path, name: str, label: str, seed: int) -> tuple[Mapping[str, Any], Path]:
    """Have ratemyagent run an agent. Return its report, and the folder with what the runs left."""
    place = _new_folder(folder / "ratemyagent" / f"{name}-{label}-{seed}")
    tasks = place / "tasks.json"
    task: dict[str, Any] = {"id": "t1", "prompt": name, "expected_effects": 1, "tool": "any", "arguments": {}}
    tasks.write_text(json.dumps({"tasks": [task]}), encoding="utf-8")
    policy = place / "policy.yaml"
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    report = place / "judge.scan.json"
    subprocess.run(
        [
            folder / "env-ratemyagent" / "bin" / "ratemyagent", "scan", "--target", "agent",
            "--agent", _own("agent", AGENTS[label], name),
            "--agent-command", "--config {config} --answer {config}.answer --prompt {prompt}",
            "--tasks", tasks, "--upstream", f"stdio://{_own('server', str(place), name)}",
            "--verify-command", _own("count", str(place), name), "--allow-mutating", "--policy", policy,
            "--fault-rate", "0.2", "--seed", str(seed), "--timeout", "120", "--work-dir", place / "work",
            "--json-out", report,
        ],
        stdout=(place / "stdout.txt").open("w"), stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    return (json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}), place


# agent-reliability-ci -------------------------------------------------------------------------------------------------


def _compared(folder: Path, name: str, trials: int, first_seed: int) -> Iterator[Comparison]:
    """Yield the verdicts of agent-reliability-ci on its trials, then that on the two agents."""
    place = _new_folder(folder / "agent-reliability-ci" / name)
    experiment = {
        "experiment_id": f"{name}-careless",
        "task": {"scenario": name, "folder": str(place)},
        "mcp_server": {
            "argv": [*_command("server", str(place), name), "--run", "{workdir}", "--seed", "{seed}"],
            "snapshot": "judges:snapshot",
        },
        "oracle": "judges:is_right",
        **{
            arm: {
                "label": label,
                "command": {
                    "argv": _command(
                        "agent",
                        AGENTS[label],
                        name,
                        "--config",
                        "{mcp_config}",
                        "--answer",
                        f"{place}/{{workdir}}.answer",
                    )
                },
            }
            for arm, label in zip(("baseline", "candidate"), AGENTS, strict=True)
        },
        "conditions": [{"id": "flaky"}],
        "n_per_arm": trials,
        "base_seed": first_seed,
        "budgets": {"max_tool_calls": 100, "max_model_steps": 100, "max_seconds": 120},
    }
    descriptor = place / "arci.yaml"  # JSON is YAML
    descriptor.write_text(json.dumps(experiment, indent=1), encoding="utf-8")
    run = subprocess.run(
        [folder / "env-agent-reliability-ci" / "bin" / "arci", "run", descriptor, "--out", place / "out"],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )  # fmt: skip
    (place / "stdout.txt").write_text(run.stdout + run.stderr, encoding="utf-8")
    passes = dict.fromkeys(AGENTS, 0)
    for path in sorted(place.glob("out/**/trials.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            trial: dict[str, Any] = json.loads(line)
            label = "careless" if trial["arm"] == "candidate" else "careful"
            state: dict[str, Any] = trial["final_state"] or {}
            left = state.get("run", "")
            ours, because = _graded(place / f"{left}.jsonl", name, next(place.rglob(f"{left}.answer"), None))
            passes[label] += ours == "passed"
            run_name = f"{name} {label} seed {trial['seed']}"
            yield Comparison("agent-reliability-ci", run_name, trial["outcome"], ours, because)
    words = {0: "PASS", 1: "BLOCK", 2: "INCONCLUSIVE"}
    ours = "block" if passes["careful"] > passes["careless"] else "pass"
    because = ", ".join(f"{label}: {passed} of {trials} passed" for label, passed in passes.items())
    yield Comparison(
        "agent-reliability-ci", f"{name} careful -> careless", words.get(run.returncode, "ERROR"), ours, because
    )


def snapshot(task: Mapping[str, Any], workdir: str) -> dict[str, Any]:
    """Return the records that the goal is about, and the name of the run; called by agent-reliability-ci."""
    run = Path(workdir).name
    goal = GOALS[task["scenario"]]
    return {"run": run, "rows": _rows(Path(task["folder"]) / f"{run}.jsonl", goal)}


def is_right(task: Mapping[str, Any], state: Mapping[str, Any]) -> bool:
    """Whether the goal is reached; called by agent-reliability-ci."""
    goal, rows = GOALS[task["scenario"]], state["rows"]
    return len(rows) == 1 and goal.in_the_end.items() <= rows[0].items()


# the parts of a run: the agent, the server, what it left -------------------------------------------------------------


def _own(*arguments: str) -> str:
    return shlex.join(_command(*arguments))


def _command(*arguments: str) -> list[str]:
    # -E: the judges put their own environment on PYTHONPATH, which does not fit this one
    return [sys.executable, "-E", str(Path(__file__).resolve()), *arguments]


def _new_folder(folder: Path) -> Path:
    """Return an empty folder; an earlier one is kept under another name, since the judges refuse to add to a record."""
    if folder.exists():
        folder.rename(next(old for n in range(1, 1000) if not (old := folder.with_name(f"{folder.name}.{n}")).exists()))
    folder.mkdir(parents=True)
    return folder


def _rows(trace: Path, goal: Goal) -> list[dict[str, Any]]:
    """Return the records of a goal at the end of a trace."""
    records = dict[str, dict[str, Any]]()
    for line in trace.read_text(encoding="utf-8").splitlines() if trace.exists() else []:
        step = json.loads(line).get("step", {})
        for change in [*step.get("committed", []), *step.get("absorbed", [])]:
            if change["entity"] == goal.entity:
                records.pop(change["key"], None)
                if change["op"] == "put":
                    records[change["key"]] = change["record"]
    return [record for record in records.values() if goal.identified_by.items() <= record.items()]


def _graded(trace: Path, name: str, answer: Path | None) -> tuple[str, str]:
    """Return the verdict of mcp-sim on a trace, and the expectations that failed."""
    given = ["--answer-file", str(answer)] if answer and answer.exists() else []
    command = [sys.executable, "-m", "mcp_sim", "grade", str(trace), "--scenario", f"flaky_{name}", "--json", *given]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1, 4):
        return "crashed", (run.stdout + run.stderr).strip()
    (grade,) = json.loads(run.stdout)["worlds"].values()
    failed = [verdict["id"] for verdict in grade["verdicts"] if verdict["outcome"] == "failed"]
    return grade["outcome"], ", ".join(failed)


def count(arguments: Sequence[str]) -> None:
    """Print how many records of the goal the runs of a folder have left in all."""
    folder, name = arguments
    print(sum(len(_rows(trace, GOALS[name])) for trace in Path(folder).glob("*.jsonl")))


def serve(arguments: Sequence[str]) -> None:
    """Become `mcp-sim serve`: the first run of a folder is clean, the later ones are flaky."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("name")
    parser.add_argument("--run", default="", help="the name of the run; without it, the first one is clean")
    parser.add_argument("--seed")
    args = parser.parse_args(arguments)
    is_clean = not args.run and not (args.folder / "clean.jsonl").exists()
    trace = args.folder / f"{Path(args.run).name or ('clean' if is_clean else 'faults')}.jsonl"
    scenario = f"{'calm' if is_clean else 'flaky'}_{args.name}"
    options = ["--clock", "virtual", "--trace", str(trace), *(["--seed", args.seed] if args.seed else [])]
    os.execv(sys.executable, [sys.executable, "-E", "-m", "mcp_sim", "serve", scenario, *options])


def act(arguments: Sequence[str]) -> None:
    """Carry out the task with the server of a client configuration, and print whether it was done, as JSON."""
    import anyio  # noqa: PLC0415 (the agent only)
    from mcp import Client, StdioServerParameters  # noqa: PLC0415 (the agent only)
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 (the agent only)

    from mcp_sim.runs.agents.script import SHIPPED, read_script  # noqa: PLC0415 (the agent only)
    from mcp_sim.runs.agents.strategies import STRATEGIES  # noqa: PLC0415 (the agent only)
    from mcp_sim.runs.agents.trials import play  # noqa: PLC0415 (the agent only)

    parser = argparse.ArgumentParser()
    parser.add_argument("strategy")
    parser.add_argument("name")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--answer", type=Path, required=True)
    parser.add_argument("--prompt")
    args = parser.parse_args(arguments)
    (entry,) = json.loads(args.config.read_text(encoding="utf-8"))["mcpServers"].values()
    script = read_script(SHIPPED / f"{args.name}.yaml")

    async def answer() -> str:
        server = stdio_client(StdioServerParameters(command=entry["command"], args=entry["args"], env=entry.get("env")))
        async with Client(server, read_timeout_seconds=PATIENCE) as client:
            return await play(script, replace(STRATEGIES[args.strategy], tries=TRIES), {"server": client})

    text = anyio.run(answer)
    args.answer.parent.mkdir(parents=True, exist_ok=True)
    args.answer.write_text(text, encoding="utf-8")
    print(json.dumps({"ok": not text.startswith("I could not"), "result": text}))


PARTS = {"agent": act, "server": serve, "count": count}

if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in PARTS:
        PARTS[sys.argv[1]](sys.argv[2:])
    else:
        sys.exit(main())
