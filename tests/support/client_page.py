"""Make examples/clients/README.md from the marked lines of the scripts that `.ci/run clients` runs.

python tests/support/client_page.py      writes the page
"""

from __future__ import annotations

import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "tests" / "clients"
PAGE = ROOT / "examples" / "clients" / "README.md"
REGION = re.compile(r"^ *(?:#|//) page: (?!end)([^\n]+)\n(.*?)^ *(?:#|//) page: end$", re.MULTILINE | re.DOTALL)
SUMMARY = re.compile(r'^(?:"""|# |// )[^:\n]+: an error is (.+)\.(?:""")?$', re.MULTILINE)
LANGUAGES = {".py": ("py", "#"), ".mjs": ("js", "//"), ".sh": ("sh", "#")}
URL = "http://127.0.0.1:8000/w/anne/mcp"
WRITTEN_OUT = {  # what the scripts are given, as a reader would write it
    "new URL(url(world))": f'new URL("{URL}")',
    "url(world)": f'"{URL}"',
    '"--world", world': '"--world", "anne"',
    '"--store", store': '"--store", "worlds.db"',
    "crm=$url": f"crm={URL}",
    "--world $world": "--world anne",
    '--tool-name "$tool" --tool-arg "$@"': "--tool-name get_contact --tool-arg contact_id=con_00001",
}
HEAD = """\
# Clients

`.ci/run clients` runs these examples with each client in its own environment. Each lists the tools, makes a call, meets
an error and the lost acknowledgement of `flaky_crm`, and checks that two worlds are separate, over stdio and over HTTP.
`python tests/support/client_page.py` makes this page from the scripts.

Over stdio a process is a world. For clients that start a process for every call, `--world NAME --store FILE`
[saves the world](../../docs/serving.md#a-process-per-call). Over HTTP the URL names the world, with or without
sessions:

```sh
mcp-sim serve flaky_crm --http 127.0.0.1:8000
```

Write the full path of `mcp-sim` if it is not on the client's `PATH`.
[`mcp-sim client-config`](../../docs/cli.md#client-config) prints the configuration of desktop clients and editors.
"""


@dataclass(frozen=True, slots=True)
class Client:
    """A client's script: `errors` is how errors reach the agent, `parts` are (heading, lines)."""

    title: str
    needs: tuple[str, ...]
    language: str
    remark: str
    errors: str
    parts: tuple[tuple[str, str], ...]

    @property
    def install(self) -> str:
        """The command that brings it."""
        quoted = " ".join(f"'{need}'" if "[" in need else need for need in self.needs)
        return f"npm install {quoted}" if self.needs[0].startswith("@") else f"pip install {quoted}"

    @property
    def lines(self) -> str:
        """What a user writes: the imports, then each way to the server."""
        return "\n\n".join(
            text if heading == "imports" else f"{self.remark} {heading}\n{text}" for heading, text in self.parts
        )


def clients() -> Iterator[Client]:
    """Return the clients of clients.toml, in its order."""
    for name, body in tomllib.loads((SCRIPTS / "clients.toml").read_text(encoding="utf-8")).items():
        script = next(path for kind in (".sh", ".mjs", ".py") if (path := SCRIPTS / f"with_{name}{kind}").exists())
        text = script.read_text(encoding="utf-8")
        errors = SUMMARY.search(text)
        assert errors is not None, f"{script}: its first line does not say how an error arrives"
        language, remark = LANGUAGES[script.suffix]
        parts = tuple((match[1], shown(match[2])) for match in REGION.finditer(text))
        yield Client(body["title"], tuple(body["needs"]), language, remark, errors[1], parts)


def shown(region: str, written_out: Mapping[str, str] = WRITTEN_OUT) -> str:
    """Return the lines of a region as a reader would write them. A `with` has an empty body."""
    text = textwrap.dedent(region).strip()
    for given, written in written_out.items():
        text = text.replace(given, written)
    return f"{text}\n    ..." if "async with" in text else text


def page() -> str:
    """Return the whole page."""
    known = list(clients())
    rows = [f"| [{client.title}](#{anchor(client.title)}) | `{client.install}` | {client.errors} |" for client in known]
    table = "\n".join(["| client | tried in this version | an error of a tool is |", "| --- | --- | --- |", *rows])
    sections = [f"## {client.title}\n\n```{client.language}\n{client.lines}\n```\n" for client in known]
    return "\n".join([HEAD, table, "", *sections])


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
