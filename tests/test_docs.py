"""What README and docs show is true: every block runs, every document that ships has no problem."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.pages import Block, Workplace, blocks, commands, shown
from support.places import ROOT
from support.trace_example import every_kind_of_line, kind_of

from mcp_sim.cli import module_of
from mcp_sim.cli.parsing import CommandParser
from mcp_sim.simulator.compile import checked
from mcp_sim.spec import yaml12
from mcp_sim.types.json_values import decode
from mcp_sim.types.kinds import perturbations

PAGES = [
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")),
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "examples/README.md",
    "examples/ci/README.md",
    "examples/claude_desktop/README.md",
    "examples/clients/README.md",
    "examples/quickstart/README.md",
]
SHIPPED = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("tool_specs", "scenarios", "presets", "examples")
    for path in (ROOT / folder).rglob("*.yaml")
)
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.time_limit(900)  # a page runs up to a hundred commands
@pytest.mark.parametrize("page", PAGES)
def test_every_block_of_a_page_does_what_it_says(page: str, tmp_path: Path) -> None:
    place = Workplace(tmp_path)
    found = blocks(ROOT / page)
    for at, block in enumerate(found):
        run(block, found[at + 1] if at + 1 < len(found) else None, place, page)


def run(block: Block, following: Block | None, place: Workplace, page: str) -> None:
    """Write a file, run a script, or run commands and compare."""
    where = f"{page}:{block.line}"
    if block.file:
        place.write(block)
    if block.language == "yaml":
        check_yaml(block, following, place, where)
    elif block.language == "python" and not block.file:
        printed = place.output(["python", "-c", block.text])
        expected = following.text if following is not None and following.language == "text" else ""
        assert shown(expected, printed), f"{where}: prints\n{printed}"
    elif block.language == "console":
        for command in commands(block):
            printed = place.output(["bash", "-c", command.text])
            assert shown(command.expected, printed), f"{page}:{command.line}: {command.text}\nprints\n{printed}"


def check_yaml(block: Block, following: Block | None, place: Workplace, where: str) -> None:
    """A document has no problem, unless the page shows what `check` says of it; nor has a part, put into a scenario."""
    if not block.file:
        place.write(Block("json", "part.json", in_a_scenario(block.text, where), block.line))
        assert place.output(["mcp-sim", "check", "part.json"]), where
    elif following is None or f"mcp-sim check {block.file}" not in following.text:
        assert place.output(["mcp-sim", "check", block.file]), where


def in_a_scenario(part: str, where: str) -> str:
    """Return a scenario with a part: `when`, or any key of a scenario."""
    value: dict[str, Any] = yaml12.load(part.encode(), where).value
    if "when" in value:
        value = {"perturbations": [{"lost_ack": {}, "id": "any", **value}]}
    return json.dumps({"mcp_sim": 1, "tools": "crm", **value})


@pytest.mark.parametrize("page", PAGES)
def test_a_command_that_is_shown_and_not_run_has_valid_options(page: str) -> None:
    for block in blocks(ROOT / page):
        text = block.text.replace("\\\n", " ") if block.language == "sh" else ""
        for line in re.findall(r"^mcp-sim [^|;&>\n]+", text, re.MULTILINE):
            name, *words = shlex.split(line, comments=True)[1:]
            parser = CommandParser(prog=f"{page}: mcp-sim {name}")
            module_of(name).arguments(parser)
            parser.parse_args(words)  # exits if they are invalid


async def test_the_format_of_traces_shows_one_line_of_every_kind_as_a_run_writes_it() -> None:
    shown_lines = [
        block for block in blocks(ROOT / "docs" / "extending.md") if block.language == "json" and not block.file
    ]
    page = [decode(block.text) for block in shown_lines]
    written = await every_kind_of_line()
    assert {kind_of(line): timeless(line) for line in page} == {kind: timeless(line) for kind, line in written.items()}


def timeless(line: dict[str, Any]) -> dict[str, Any]:
    """Return the line without the parts that differ between runs or versions of the documents."""
    measured = {"measured": sorted(line["measured"])} if "measured" in line else {}
    return {name: value for name, value in line.items() if name != "sha256"} | measured


def test_the_table_of_readme_has_every_fault() -> None:
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Faults")[2].partition("\n## ")[0]
    assert set(re.findall(r"`(\w+)`", table.partition("| ---")[2])) == set(perturbations.names())


@pytest.mark.parametrize("document", SHIPPED)
def test_a_shipped_document_has_no_problem(document: str) -> None:
    problems = [problem for _, problems, _ in checked(ROOT / document, trust=True) for problem in problems]
    assert problems == []


def test_there_are_documents_and_pages_to_look_at() -> None:
    assert {"tool_specs/crm/crm.yaml", "scenarios/flaky_crm.yaml", "scenarios/calm_crm.yaml"} <= set(SHIPPED)
    assert all((ROOT / page).is_file() for page in PAGES)


@pytest.mark.parametrize("page", [*PAGES, "CHANGELOG.md"])
def test_every_link_within_the_repository_leads_to_a_file_and_a_heading(page: str) -> None:
    path = ROOT / page
    assert [link for link in links(path) if not leads_somewhere(*link)] == []


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the links of a page within the repository: the file and the anchor, '' if none."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return [((page.parent / target).resolve() if target else page, anchor) for target, anchor in LINK.findall(text)]


def leads_somewhere(target: Path, anchor: str) -> bool:
    if anchor == "":
        return target.exists()
    headings = HEADING.findall(FENCED.sub("", target.read_text(encoding="utf-8"))) if target.is_file() else ()
    return anchor in {anchor_of(heading) for heading in headings}


def anchor_of(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_the_index_links_to_every_page() -> None:
    pages = {path for path in (ROOT / "docs").glob("*.md") if path.name != "index.md"}
    assert pages <= {target for target, _ in links(ROOT / "docs" / "index.md")}


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("docs/")])
def test_the_text_of_a_page_names_each_file_that_its_blocks_write(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    prose = re.sub(r"^(```\S+) \S+$", r"\1", text, flags=re.MULTILINE)  # GitHub does not show what follows the language
    assert [block.file for block in blocks(ROOT / page) if block.file and block.file not in prose] == []


@pytest.mark.parametrize(
    ("expected", "printed", "verdict"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nb\nc\n", False),
        ("took ... s", "took 1.5 s\n", True),
        ("", "", True),
        ("", "unexpected\n", False),
    ],
)
def test_what_is_shown_is_compared_with_what_is_printed(expected: str, printed: str, verdict: bool) -> None:
    assert shown(expected, printed) is verdict
