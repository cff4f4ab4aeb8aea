"""What is installed: small on import, complete on disk."""

from __future__ import annotations

import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from support.places import ROOT
from support.warm import COLD

CORE = ROOT / "packaging" / "core"
HEAVY = ("mcp", "pydantic", "openai", "jsonschema", "jsonschema_rs", "cel", "yaml", "rpds")


def loaded_by(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}; import sys; print(' '.join(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    done = subprocess.run([COLD, "-c", code], cwd=ROOT, capture_output=True, check=True, text=True)
    return set(done.stdout.split())


def test_importing_the_package_imports_nothing_heavy() -> None:
    assert loaded_by("import mcp_sim").isdisjoint(HEAVY)


def test_the_simulator_starts_without_the_protocol_and_without_an_endpoint() -> None:
    assert loaded_by("import mcp_sim; mcp_sim.Simulator.load('flaky_crm')").isdisjoint({"mcp", "mcp_types", "openai"})


IMPORTS_OF_COMMANDS = """
import mcp  # imports fcntl on this platform
import mcp_sim.cli
import pkgutil, sys
from importlib import import_module

sys.modules.update(dict.fromkeys(("fcntl", "grp", "pwd", "resource", "termios")))
print(*(import_module(module.name).__name__ for module in pkgutil.walk_packages(mcp_sim.cli.__path__, "mcp_sim.cli.")))
"""


def test_every_command_imports_without_the_modules_that_windows_lacks() -> None:
    done = subprocess.run([COLD, "-c", IMPORTS_OF_COMMANDS], cwd=ROOT, capture_output=True, check=False, text=True)
    assert not done.stderr
    assert {"mcp_sim.cli.files", "mcp_sim.cli.serve_http"} <= {*done.stdout.split()}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return built(ROOT, tmp_path_factory.mktemp("wheel"))


def built(project: Path, folder: Path) -> zipfile.ZipFile:
    """Build the wheel of a project into a folder."""
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run([COLD, "-c", code, str(folder)], cwd=project, capture_output=True, check=True, text=True)
    return zipfile.ZipFile(folder / done.stdout.split()[-1])


def test_the_wheel_holds_every_file_that_is_no_code(wheel: zipfile.ZipFile) -> None:
    inside = {path.relative_to(ROOT).as_posix() for path in (ROOT / "mcp_sim").rglob("*") if is_data(path)}
    shipped = {
        f"mcp_sim/_shipped/{path.relative_to(ROOT).as_posix()}"
        for folder in ("tool_specs", "scenarios", "presets")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert shipped
    assert inside | shipped <= set(wheel.namelist())


def is_data(path: Path) -> bool:
    return path.is_file() and path.suffix not in {".py", ".pyc"}


def test_the_wheel_states_its_commands_and_its_licence(wheel: zipfile.ZipFile) -> None:
    texts = {Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"mcp-sim = {project['scripts']['mcp-sim']}" in texts["entry_points.txt"]
    assert "Apache License" in texts["LICENSE"]


def test_the_core_needs_a_part_of_what_the_whole_needs_and_holds_the_same_files(
    wheel: zipfile.ZipFile, tmp_path: Path
) -> None:
    whole, core = (
        tomllib.loads(path.read_text(encoding="utf-8"))["project"]["dependencies"]
        for path in (ROOT / "pyproject.toml", CORE / "pyproject.toml")
    )
    assert set(core) < set(whole)
    assert files_of(built(CORE, tmp_path)) == files_of(wheel)


def files_of(wheel: zipfile.ZipFile) -> set[str]:
    return {name for name in wheel.namelist() if ".dist-info/" not in name}
