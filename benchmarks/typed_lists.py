"""Call every tool of tool lists five times with valid arguments; count crashes, rejected results and refusals.

    python benchmarks/typed_lists.py [--client FOLDER | --in-process] [--calls N] [--details] PATH|NAME ...

A path is a tool list or tool spec (JSON or YAML), an OpenAPI document, which is imported first, or a folder of these. A
name is a shipped tool spec. The calls go through the official TypeScript client, which checks results under their
outputSchemas with ajv. It is installed with npm into a scratch folder, or into the FOLDER of --client, and kept there.
--in-process calls a simulator in this process instead, and checks results with ajv's formats in Python.

Arguments are drawn from the inputSchema; those that name records use ids of earlier results where there are any. A
refusal is an `isError` result of arguments that ajv accepts. `unknown` of them name a record that does not exist. Exits
with 1 if a call crashes, a result is rejected, or 2 % of the calls or more are refused for another reason.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from measuring import print_table

from mcp_sim import Simulator
from mcp_sim.generate.instances import Instances
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.satisfiability import NoInstance

SDK = "@modelcontextprotocol/sdk@1"
MOST_REFUSED = 0.02
CLIENT = """\
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "typed-lists", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const tools = [];
for (let cursor; ; ) {
  const page = await client.listTools({ cursor });
  tools.push(...page.tools);
  if (!(cursor = page.nextCursor)) break;
}
const ajv = new AjvJsonSchemaValidator();
const checks = Object.fromEntries(tools.map((tool) => [tool.name, ajv.getValidator(tool.inputSchema)]));
console.log(JSON.stringify(tools));
for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  const answer = { accepted: checks[call.name](call.arguments).valid };
  try {
    const result = await client.callTool(call);
    answer.refused = result.isError === true;
    answer.text = (result.content ?? []).map((block) => block.text ?? "").join(" ");
    answer.value = result.structuredContent;
  } catch (error) {
    answer.code = error.code ?? 0;
    answer.text = String(error.message);
  }
  console.log(JSON.stringify(answer));
}
await client.close();
"""
HEAD = ("list", "calls", "crashes", "rejected", "refused", "%", "unknown", "others %")
INVALID = -32602
"""The code with which the client rejects a result, and a server refuses arguments by the protocol."""
FORMATS = {
    "date-time": r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d(:?\d\d)?)",
    "date": r"\d{4}-\d\d-\d\d",
    "time": r"\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d(:?\d\d)?)",
    "duration": r"P(?!$)(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?|P\d+W",
    "email": r"[\w.!#$%&'*+/=?^`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*",
    "hostname": r"(?!.{254})[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*\.?",
    "ipv4": r"(\d{1,3}\.){3}\d{1,3}",
    "ipv6": r"[0-9A-Fa-f:.]+:[0-9A-Fa-f:.]*",
    "uri": r"[A-Za-z][A-Za-z0-9+.-]*:\S+",
    "uuid": r"(urn:uuid:)?[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
}
"""Format -> what ajv-formats accepts, as far as a pattern goes."""
CHECKED: dict[str, Any] = {
    "validate_formats": True,
    "formats": {name: partial(re.fullmatch, pattern) for name, pattern in FORMATS.items()},
    "offline": True,
}
SAMPLES = {
    "date-time": "2026-03-05T09:30:00Z",
    "date": "2026-03-05",
    "time": "09:30:00Z",
    "duration": "PT30M",
    "email": "ada@vos.example",
    "hostname": "shop.example",
    "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
    "uri": "https://shop.example/a",
    "uuid": "7d1f4a2e-9f0c-4b51-8a3e-0c1b2d3e4f50",
}
WORDS = ("amber", "Birch lane", "copper", "delta", "Elm", "quarterly plan", "north", "oak")
ID = re.compile(r"(.*?)_?(id|gid|key|uid|uuid|slug|name|number)")


def snake(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()).strip("_")


class Arguments:
    """Draws valid arguments; remembers the ids that results showed, by the name of the record."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.ids: dict[tuple[str, str], list[Any]] = defaultdict(list)
        self._compiled: dict[str, tuple[Any, Callable[[Any], bool], Instances]] = {}

    def drawn(self, tool: dict[str, Any]) -> dict[str, Any] | None:
        """Return arguments that are valid under the inputSchema, None if none were found."""
        if tool["name"] not in self._compiled:
            schema = tool["inputSchema"]
            is_valid = jsonschema_rs.validator_for(schema, **CHECKED).is_valid
            self._compiled[tool["name"]] = expanded(schema), is_valid, Instances(schema)
        schema, is_valid, instances = self._compiled[tool["name"]]
        value = self._value(schema, "", snake(tool["name"]), 0)
        if is_valid(value):
            return value
        try:
            repaired: Any = instances.nearest(value)
        except NoInstance:
            return None
        return repaired if is_valid(repaired) else None

    def learn(self, value: Any, name: str) -> None:
        """Remember the ids in a result. `name`: that of the tool or property that holds it."""
        for item in value if isinstance(value, list) else ():
            self.learn(item, name)
        for key, inner in value.items() if isinstance(value, dict) else ():
            match = ID.fullmatch(snake(key))
            if match and isinstance(inner, str | int) and not isinstance(inner, bool):
                self.ids[match[1] or name, match[2]].append(inner)
            self.learn(inner, snake(key))

    def _value(self, schema: Any, name: str, tool: str, depth: int) -> Any:
        schema = self._narrowed(schema) if isinstance(schema, dict) else {}
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return self.random.choice(schema["enum"])
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        kind = (
            self.random.choice([word for word in kinds if word != "null"] or ["null"])
            if isinstance(kinds, list)
            else kinds
        )
        match kind:
            case "object":
                return self._object(schema, tool, depth)
            case "array":
                least, most = schema.get("minItems", 0), schema.get("maxItems", 99)
                count = min(most, max(least, self.random.randint(1, 2)))
                return [self._value(schema.get("items", {}), name, tool, depth + 1) for _ in range(count)]
            case "integer" | "number":
                known = self._known(name, tool)
                low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
                high = schema.get("maximum", schema.get("exclusiveMaximum", low + 100) - 0)
                return known if isinstance(known, int) else int(self.random.uniform(low, max(low, min(high, low + 50))))
            case "boolean":
                return self.random.random() < 0.5
            case "null":
                return None
            case _:
                known = self._known(name, tool)
                if isinstance(known, str) and "format" not in schema:
                    return known
                return SAMPLES.get(schema.get("format", ""), self.random.choice(WORDS))

    def _object(self, schema: dict[str, Any], tool: str, depth: int) -> dict[str, Any]:
        needed = schema.get("required", ())
        chance = 0.4 / (1 + depth)
        return {
            name: self._value(inner, snake(name), tool, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if name in needed or self.random.random() < chance
        }

    def _narrowed(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return the schema with one of its alternatives, and all of its parts."""
        for word in ("anyOf", "oneOf", "allOf"):
            ways = [way for way in schema.get(word, ()) if isinstance(way, dict) and way.get("type") != "null"]
            for way in ways if word == "allOf" else [self.random.choice(ways)] if ways else ():
                way = self._narrowed(way)
                parts = {**schema.get("properties", {}), **way.get("properties", {})}
                needed = [*schema.get("required", ()), *way.get("required", ())]
                schema = {**schema, **way, **({"properties": parts, "required": needed} if parts else {})}
        return schema

    def _known(self, name: str, tool: str) -> Any:
        """Return an id that an earlier result showed for a record of this name, None if there is none."""
        match = ID.fullmatch(name.removesuffix("s"))
        if match is None:
            return None
        named = [
            ids for (label, word), ids in self.ids.items() if word == match[2] and self._is_about(label, match[1], tool)
        ]
        return self.random.choice(self.random.choice(named)) if named else None

    def _is_about(self, label: str, stem: str, tool: str) -> bool:
        words = label.split("_")
        subject = words[-1].removesuffix("s")
        return stem.endswith(subject) if stem else subject in [word.removesuffix("s") for word in tool.split("_")]


@dataclass
class Tally:
    """What happened to the calls of one list."""

    name: str
    calls: int = 0
    refused: int = 0
    unknown: int = 0
    crashes: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)

    def __iadd__(self, other: Tally) -> Tally:
        self.calls, self.refused, self.unknown = (
            self.calls + other.calls,
            self.refused + other.refused,
            self.unknown + other.unknown,
        )
        self.crashes += other.crashes
        self.rejected += other.rejected
        self.reasons += other.reasons
        return self

    def row(self) -> list[str]:
        share = f"{100 * self.refused / max(1, self.calls):.1f}"
        other = f"{100 * (self.refused - self.unknown) / max(1, self.calls):.1f}"
        counts = (self.calls, len(self.crashes), len(self.rejected), self.refused)
        return [self.name, *map(str, counts), share, str(self.unknown), other]

    def add(self, tool: str, arguments: Any, answer: dict[str, Any]) -> None:
        if not answer["accepted"]:
            return
        self.calls += 1
        text = answer.get("text", "")
        where = f"{tool} {json.dumps(arguments)[:300]}: {text[:300]}"
        if "code" in answer and answer["code"] != INVALID:
            self.crashes.append(where)
        elif "code" in answer and "output schema" in text:
            self.rejected.append(where)
        elif answer.get("refused") or "code" in answer:
            self.refused += 1
            is_unknown = re.search(r"not found|no such|does not exist|unknown|404|not exist", text, re.IGNORECASE)
            self.unknown += bool(is_unknown)
            self.reasons[f"{tool}: {text[:160]}"] += 1


class InProcess:
    """A simulator in this process."""

    def __init__(self, file: str) -> None:
        self._simulator = Simulator.load(file)
        self._loop = asyncio.new_event_loop()
        self._loop.run_until_complete(self._simulator.start())
        self._world = self._simulator.world()
        self.tools = [
            tool.definition for name in self._simulator.scenario.servers for tool in self._world.catalogue(name)
        ]
        self._ids = {tool.name: tool.id for tool in self._simulator.scenario.domain.tools.values()}

    def call(self, tool: dict[str, Any], arguments: Any) -> dict[str, Any]:
        try:
            observation = self._loop.run_until_complete(self._world.call(self._ids[tool["name"]], arguments))
        except Exception as error:  # noqa: BLE001 (whatever it is, the client would see a crash)
            return {"accepted": True, "code": -32019, "text": str(error)}
        body: Any = observation.body
        value = getattr(body, "value", None)
        answer = {"accepted": True, "refused": not observation.ok, "value": value, "text": json.dumps(value)}
        schema = tool.get("outputSchema")
        if observation.ok and schema:
            errors = [*jsonschema_rs.validator_for(schema, **CHECKED).iter_errors(value)]
            if errors:
                answer |= {"code": INVALID, "text": f"output schema: {errors[0].instance_path}: {errors[0].message}"}
        return answer

    def close(self) -> None:
        self._loop.run_until_complete(self._simulator.aclose())


class ThroughClient:
    """A served simulator, called through the TypeScript client."""

    def __init__(self, file: str, folder: Path) -> None:
        server = [sys.executable, "-m", "mcp_sim", "serve", file]
        self._node = subprocess.Popen(
            ["node", str(folder / "client.mjs"), *server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.tools: list[dict[str, Any]] = self._line()

    def call(self, tool: dict[str, Any], arguments: Any) -> dict[str, Any]:
        assert self._node.stdin is not None
        self._node.stdin.write(json.dumps({"name": tool["name"], "arguments": arguments}) + "\n")
        self._node.stdin.flush()
        return self._line()

    def _line(self) -> Any:
        assert self._node.stdout is not None
        return json.loads(self._node.stdout.readline())

    def close(self) -> None:
        self._node.communicate()


def called(name: str, server: InProcess | ThroughClient, calls: int) -> Tally:
    """Call every tool of a server; the ones that need the fewest arguments first."""
    tally, arguments = Tally(name), Arguments(len(name))
    tools = sorted(server.tools, key=lambda tool: len(tool["inputSchema"].get("required", ())))
    for tool in [*tools] * calls:
        drawn = arguments.drawn(tool)
        if drawn is None:
            continue
        answer = server.call(tool, drawn)
        tally.add(tool["name"], drawn, answer)
        if answer["accepted"] and not answer.get("refused"):
            arguments.learn(answer.get("value"), snake(tool["name"]))
    return tally


def lists(paths: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield the tool lists and specs; OpenAPI documents are imported into the folder."""
    for path in paths:
        place = Path(path)
        files = (
            sorted(file for file in place.iterdir() if file.suffix in {".json", ".yaml", ".yml"})
            if place.is_dir()
            else [place]
        )
        for file in files:
            text = file.read_text(encoding="utf-8") if file.is_file() else ""
            if re.search(r"""^\s*\{?\s*["']?(openapi|swagger)["']?\s*:""", text, re.MULTILINE) is None:
                yield str(file)
                continue
            target = folder / file.stem
            subprocess.run(
                [sys.executable, "-m", "mcp_sim", "import", "openapi", str(file), "-o", str(target)],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            yield str(
                next(spec for spec in sorted(target.glob("*.yaml")) if "tools" in yaml.safe_load(spec.read_text()))
            )


@contextmanager
def scratch(folder: Path | None) -> Iterator[Path]:
    """Yield a folder for imported lists, with the TypeScript client if there is a folder to install it into."""
    with tempfile.TemporaryDirectory() as temporary:
        place = folder or Path(temporary)
        place.mkdir(parents=True, exist_ok=True)
        if not (place / "node_modules" / "@modelcontextprotocol").exists():
            subprocess.run(["npm", "install", "--silent", "--prefix", str(place), SDK], check=True)
        (place / "client.mjs").write_text(CLIENT, encoding="utf-8")
        yield place


def main(options: argparse.Namespace) -> int:
    """Print a row per list. Return the exit status."""
    with tempfile.TemporaryDirectory() as imported, ExitStack() as stack:
        folder = None if options.in_process else stack.enter_context(scratch(options.client))
        tallies = list[Tally]()
        for file in lists(options.paths, Path(imported)):
            server = InProcess(file) if folder is None else ThroughClient(file, folder)
            tallies.append(called(Path(file).stem, server, options.calls))
            server.close()
    whole = Tally("all")
    for tally in tallies:
        whole += tally
    print_table("Calls with valid arguments", HEAD, [tally.row() for tally in (*tallies, whole)])
    for word, texts in (("crash", whole.crashes), ("rejected", whole.rejected)):
        for text in texts if options.details else texts[:10]:
            print(f"{word}: {text}")
    for reason, count in whole.reasons.most_common(1000 if options.details else 15):
        print(f"refused {count} times: {reason}")
    return 1 if whole.crashes or whole.rejected or whole.refused - whole.unknown >= MOST_REFUSED * whole.calls else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "paths", nargs="+", metavar="PATH|NAME", help="lists, OpenAPI documents, folders, shipped specs"
    )
    parser.add_argument("--client", type=Path, metavar="FOLDER", help="where the TypeScript client is, or is installed")
    parser.add_argument("--in-process", action="store_true", help="call a simulator in this process")
    parser.add_argument("--calls", type=int, default=5, help="calls per tool (default 5)")
    parser.add_argument("--details", action="store_true", help="print all crashes, rejections and reasons")
    sys.exit(main(parser.parse_args()))
