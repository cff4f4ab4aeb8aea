"""Make a first scenario from tools in any form that an importer reads, and try it.

A careful scripted agent must pass it with several seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import relpath
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp_sim.runs.agents.script import read_script
from mcp_sim.runs.agents.trials import GIVING_UP, passes
from mcp_sim.runs.starter.errand import Errand, Use, errands
from mcp_sim.runs.starter.program import program_text
from mcp_sim.runs.starter.texts import bare_scenario_text, scenario_text, script_text, template
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.foreign.files import distinct, kind_of_file, read_value
from mcp_sim.spec.import_files import build_files
from mcp_sim.spec.sources import is_file_name, is_readable, shipped
from mcp_sim.spec.tool_specs import is_spec
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import DocumentError, UsageError, did_you_mean
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Imported, Unreached, importers

SEEDS = range(5)
"""The seeds that a first scenario is tried with. A golden run that depends on generated values fails with one of
them."""

CAREFUL, CARELESS = "verify_then_retry", "naive_retry"

MOST_TRIED = 12  # the most tasks that are tried

SCENARIO, SCRIPT, TEST_FILE = "scenario.yaml", "script.yaml", "test_agent.py"


_TAKEN = ["scenario", "script", "conftest"]  # file names that no server gets


@frozen
class Starter:
    """The files to write by name, and messages about what is doubtful."""

    files: Mapping[str, str]
    doubts: Sequence[str]
    works: bool
    """Whether the scripted agent passes. If not, no calls were found that make a task."""


async def make_starter(source: _Source, folder: Path, *, programs: bool = False) -> Starter:
    """Return the files of a first scenario in a folder, with `programs` also a first program for each server.

    Raises `DocumentError` if a tool spec has errors, and `UsageError` if a program is asked for a spec that exists.
    """
    with TemporaryDirectory() as name:
        trial = Path(name)
        specs, doubts = source.files(trial)
        _write(specs, trial)
        if programs:
            # A program for each server, and the tool specs that name them. The specs are in the folder `trial`.
            if not source.servers:
                raise UsageError(
                    f"{source.spec} is a tool spec; name its list of tools, or add `program: FILE.py` to it"
                )
            files: dict[str, str] = {}
            for server in source.names():
                spec = f"{server}.yaml"
                text = program_text(server, load(trial / spec, trust=[trial]).domain)
                files |= {f"{server}.py": text, spec: f"{specs[spec].rstrip()}\nprogram: {server}.py\n"}
            specs = {**specs, **files}
            _write(specs, trial)
        errand, domain, passing = await _best(source.references(trial), trial)
    scenario = scenario_text(source.references(folder), errand, domain)
    files = {**specs, SCENARIO: scenario, SCRIPT: script_text(errand), TEST_FILE: template("scripted_test")}
    careless = [name for name in passing if name != CAREFUL]
    advice = f"{', '.join(careless)}: an agent like this passes {SCENARIO} as well; add an expectation that it fails"
    weak = [advice] if careless else []
    return Starter(files, [*doubts, *weak], bool(passing))


def _write(files: Mapping[str, str], folder: Path) -> None:
    for file, text in files.items():
        (folder / file).write_text(text, encoding="utf-8")


async def _best(tools: Mapping[str, str], trial: Path) -> tuple[Errand, Domain, list[str]]:
    """Return the first task that a careless agent fails, else the first that the careful one passes, and who passes.

    Else it is a call of the first tool, which may not work, and which no agent passes.
    """
    bare = trial / SCENARIO
    bare.write_text(bare_scenario_text(tools), encoding="utf-8")
    domain = load(bare, trust=[trial]).domain
    if not domain.tools:
        raise UsageError(f"{', '.join(tools)}: there are no tools")
    bare.write_text(bare_scenario_text(tools, domain), encoding="utf-8")
    scenario = load(bare, trust=[trial])
    working: tuple[Errand, list[str]] | None = None
    tried = 0
    async with Simulator(scenario) as simulator:
        async for errand in errands(simulator):
            is_checked = errand.write is not None and errand.write.check is not None
            if tried == MOST_TRIED or (working is not None and not is_checked):
                break
            tried += 1
            passed = await _passing(errand, tools, scenario.domain, trial)
            if CAREFUL in passed and CARELESS not in passed:
                return errand, scenario.domain, passed
            if CAREFUL in passed and working is None:
                working = errand, passed
    errand, passed = working or (Errand(Use(next(iter(domain.tools)), {})), [])
    return errand, scenario.domain, passed


async def _passing(errand: Errand, tools: Mapping[str, str], domain: Domain, trial: Path) -> list[str]:
    """Return the scripted agents that pass the scenario of a task: the careful one with every seed."""
    (trial / SCENARIO).write_text(scenario_text(tools, errand, domain), encoding="utf-8")
    (trial / SCRIPT).write_text(script_text(errand), encoding="utf-8")
    try:
        scenario = load(trial / SCENARIO, trust=[trial])
    except DocumentError:
        return []
    script = read_script(trial / SCRIPT)
    async with Simulator(scenario) as simulator:
        for seed in SEEDS:
            if not (await passes(CAREFUL, script, simulator, seed))[0]:
                return []
        others = (CARELESS, GIVING_UP)
        return [CAREFUL, *[name for name in others if (await passes(name, script, simulator, SEEDS[0]))[0]]]


@frozen
class _Source:
    """The servers of a scenario: those to write tool specs for, or the spec that exists."""

    servers: Sequence[Imported] = ()
    kind: str = ""
    """The importer."""
    spec: str | Path = ""
    """The spec that exists: a shipped name, or a file."""
    unreached: Sequence[Unreached] = ()

    def names(self) -> list[str]:
        return [server.name for server in self.servers] or [Path(self.spec).stem]

    def references(self, folder: Path) -> Mapping[str, str]:
        """Return what a scenario in a folder names under `tools`, by server."""
        if isinstance(self.spec, Path):
            return {self.spec.stem: Path(relpath(self.spec.absolute(), folder.absolute())).as_posix()}
        return {self.spec: self.spec} if self.spec else {server.name: f"{server.name}.yaml" for server in self.servers}

    def files(self, folder: Path) -> tuple[Mapping[str, str], list[str]]:
        """Return the texts of the tool specs by file name, and messages about what is doubtful."""
        texts: dict[str, str] = {}
        doubts: list[str] = []
        for server in self.servers:
            files = build_files(server, self.kind, folder)
            texts |= {path.name: text for path, text in files.texts.items() if text is not None}
            doubts += files.doubts
        return texts, doubts


async def read_source(reference: str) -> _Source:
    """Return the servers that a reference describes.

    It is the name of a shipped tool spec, a URL, or a file: a list of tools, the configuration of an MCP client, a tool
    spec, or what another importer reads. Raises `UsageError` and `DocumentError`.
    """
    known, path = shipped("tool_specs"), _path(reference)
    if "://" in reference:
        return await _imported("mcp", reference)
    if is_readable(path):
        value = read_value(path)
        if "mcp_sim" not in as_object(value):
            return await _imported(kind_of_file(value) or ("tools" if _lists_tools(value) else "client"), str(path))
        if is_spec(value):
            return _Source(spec=path)
        raise UsageError(f"{reference}: is not a tool spec; expected one, or a list of tools or a client configuration")
    if reference in known:
        return _Source(spec=reference)
    if is_file_name(reference):
        raise UsageError(f"{reference}: file not found")
    raise UsageError(f"{reference}: no such file or shipped tool spec{did_you_mean(reference, known)}")


def _path(reference: str) -> Path:
    return Path(reference).expanduser()


def _lists_tools(value: object) -> bool:
    body = as_object(value)
    return isinstance(value, list) or "tools" in body or "tools" in as_object(body.get("result"))


async def _imported(kind: str, source: str) -> _Source:
    imported = await importers[kind].model_validate({"sources": (source,)}).imported()
    reached = [server for server in imported if isinstance(server, Imported)]
    names = list(distinct([*_TAKEN, *(server.name for server in reached)]))[len(_TAKEN) :]
    servers = [
        Imported(name, server.tools, server.spec, server.doubts) for name, server in zip(names, reached, strict=True)
    ]
    return _Source(servers, kind, unreached=[server for server in imported if isinstance(server, Unreached)])
