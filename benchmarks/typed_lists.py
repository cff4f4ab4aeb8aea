"""Call every tool of tool lists five times with valid arguments; count crashes, rejected results and refusals.

    python benchmarks/typed_lists.py [--client FOLDER] [--calls N] [--details] PATH|NAME ...

A path is a tool list or tool spec, an OpenAPI document, which is imported first, or a folder of these. Files may be
compressed with xz. A name is a
shipped tool spec. The calls go through the official TypeScript client, which checks results with ajv. It is installed
with npm into a scratch folder, or kept in the FOLDER of --client.

Arguments are drawn from the inputSchema; those that name records use ids of earlier results where there are any, with
those of the records to which these belong: the project of a task. A create names its own record anew, and each call
has an idempotency key of its own. What a removal
names is forgotten, with what belongs to it. A refusal is an `isError` result of arguments that
ajv accepts. Where no result has shown an id yet, one is drawn at
random, and a server rightly does not know it: `random` counts refusals that name such a value as unknown. All other
refusals count, also those of ids that a result did show. Exits with 1 if a call crashes, a result is rejected, or 2 %
of the calls are refused otherwise.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import re
import subprocess
import sys
import tempfile
import uuid
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from common.measuring import print_table
from jsonschema_rs import Validator, validator_for

from mcp_sim.generate.instances import Instances
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.satisfiability import NoInstance
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_schema.validation import RESULT_FORMATS
from mcp_sim.types.lexicon.english import singular, singular_phrase, snake
from mcp_sim.types.lexicon.terms import terms

Json = Any
SDK = "@modelcontextprotocol/sdk@1"
INVALID = -32602  # the client rejects a result, or the server refuses arguments
HEAD = ("list", "calls", "crashes", "rejected", "refused", "%", "random", "others %")
CLIENT = """\
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv";

const [command, ...args] = process.argv.slice(2);
const client = new Client({ name: "typed-lists", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args, stderr: "ignore" }));
const [{ tools }, ajv] = [await client.listTools(), new AjvJsonSchemaValidator()];
const checks = Object.fromEntries(tools.map((tool) => [tool.name, ajv.getValidator(tool.inputSchema)]));
console.log(JSON.stringify(tools));
for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  const answer = { accepted: checks[call.name](call.arguments).valid };
  try {
    const { isError, content, structuredContent } = await client.callTool(call);
    const text = (content ?? []).map((block) => block.text ?? "").join(" ");
    Object.assign(answer, { refused: isError === true, text, value: structuredContent });
    try { answer.value ??= JSON.parse(text); } catch { /* prose shows no ids */ }
  } catch (error) {
    Object.assign(answer, { code: error.code ?? 0, text: String(error.message) });
  }
  console.log(JSON.stringify(answer));
}
await client.close();
"""
SAMPLES = {
    "date-time": "2026-03-05T09:30:00Z", "date": "2026-03-05", "time": "09:30:00Z", "duration": "PT30M",
    "email": "ada@vos.example", "hostname": "shop.example", "uri": "https://shop.example/a", "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
}  # fmt: skip
WORDS = ("amber", "Birch lane", "copper", "delta", "Elm", "quarterly plan", "north", "oak")
ID = re.compile(r"(?:(.*)_)?(id|gid|sid|key|uid|uuid|slug|name|number)")
CREATES = re.compile(r"(^|.*_)(create|add|register|new)(_|$)")
WRAPPERS = {"data", "items", "results", "result", "records", "response", "entries", "meta"}
ROW_WRAPPERS = {"data"}
LAST_VERBS = re.compile(r"create|add|get|retrieve|list|search|update|patch|delete|remove|send|cancel")
VERSION = re.compile(r"v\d+")
REMOVES = re.compile(r"(^|.*_)(delete|remove|destroy|cancel|archive|revoke)(_|$)")
PATH_KEY = re.compile(r"(?<=s)(_[a-z0-9]+){0,2}_id$")  # `_job_id` of `get_jobs_jobId`, a name that is made of a path
OWN = "own "  # before the name of a record whose id has the vendor's name: the `lago_id` of an invoice
SHARED = 3  # so many kinds of records have an `owner_id`, too, which is no tool's noun
ONCE = terms("arguments.idempotency.sure")  # a client sends another key with every call
NEXT = re.compile(r"_(for|by|of|to|from|in|on|with|and)(_|$).*")
UNKNOWN = re.compile(r"not.found|no such|(does )?not exist|unknown|404", re.IGNORECASE)
OPENAPI = re.compile(r"""^\s*\{?\s*["']?(openapi|swagger)["']?\s*:""", re.MULTILINE)


def leaves(value: Json) -> Iterator[Json]:
    """Yield the plain values within a value."""
    inner = as_list(value) or [*as_object(value).values()]
    for part in inner or ([] if isinstance(value, dict | list) else [value]):
        yield from leaves(part) if isinstance(part, dict | list) else [part]


def noun_of(tool: str) -> str:
    """Return what a tool is about: `task` for `get_tasks_for_project`, `v1_tasks_get` and `get_tasks_task_id`."""
    first, *rest = PATH_KEY.sub("", NEXT.sub("", tool)).split("_")
    if rest and LAST_VERBS.fullmatch(rest[-1]) and not LAST_VERBS.fullmatch(first):
        rest = [word for word in (first, *rest[:-1]) if not VERSION.fullmatch(word)]
    return singular_phrase(tuple(rest))


def is_own(stem: str | None, noun: str) -> bool:
    """Whether an id with this stem names the record that a tool is about: `team_member_id`, `member_id` or `id`."""
    return not stem or f"_{noun}".endswith(f"_{stem}")


@cache
def checker(schema: str) -> Validator:
    """Return what checks values with their formats. The schema is JSON, so that it is compiled once."""
    return validator_for(json.loads(schema), validate_formats=True, formats={**RESULT_FORMATS}, offline=True)


class Arguments:
    """Draws valid arguments; remembers the ids that results showed, by the name of the record.

    `nouns`: what the tools are about.
    """

    def __init__(self, seed: int, nouns: Container[str]) -> None:
        self._random, self._ids = random.Random(seed), defaultdict[tuple[str, str], list[Json]](list)
        self._nouns, self._new = nouns, 0
        self._compiled: dict[str, tuple[Json, Instances]] = {}
        self._taken, self._gone = set[str](), set[str]()
        self._beside = defaultdict[str, dict[str, Json]](dict)
        self._holders = defaultdict[str, set[str]](set)

    def drawn(self, tool: Json) -> Json:
        """Return arguments that are valid under the inputSchema, None if none were found."""
        name, schema = tool["name"], tool["inputSchema"]
        self._taken = set[str]()
        if name not in self._compiled:
            self._compiled[name] = expanded(schema), Instances(schema)
        whole, instances = self._compiled[name]
        value, is_valid = self._value(whole, "", snake(name), 0), checker(json.dumps(schema)).is_valid
        for beside in [self._beside[key] for key in self._taken if key in self._beside]:
            value |= {known: beside[snake(known)] for known in value if snake(known) in beside}
        try:
            value = value if is_valid(value) else instances.nearest(value)
        except NoInstance:
            return None
        return value if is_valid(value) else None

    def forget(self, arguments: Json, noun: str) -> None:
        """Forget what a removal named, and all that belonged to it: later calls are refused for a reason."""
        named = {name: ID.fullmatch(snake(name)) for name in arguments}
        own = {str(arguments[name]) for name, match in named.items() if match and is_own(match[1], noun)}
        gone = own or {*map(str, leaves(arguments))}
        while gone - self._gone:
            self._gone |= gone
            gone = {key for key, beside in self._beside.items() if not gone.isdisjoint(map(str, beside.values()))}
        for known, ids in self._ids.items():
            self._ids[known] = [key for key in ids if str(key) not in self._gone]

    def learn(self, value: Json, name: str, wrappers: Container[str] = WRAPPERS) -> None:
        """Remember the ids in a result. `name`: that of the tool's noun or of the property that holds it.

        `wrappers`: properties that hold the same things as what they are in. The `records` of a zone are no zones.
        """
        for item in as_list(value):
            self.learn(item, name, ROW_WRAPPERS)
        for key, inner in as_object(value).items():
            match = ID.fullmatch(snake(key))
            is_plain = isinstance(inner, str | int) and not isinstance(inner, bool)
            if match and is_plain and str(inner) not in self._gone:
                self._ids[match[1] or name, match[2]].append(inner)
                self._holders[match[1] or ""].add(name)
                if match[1]:
                    self._ids[f"{OWN}{name}", f"{match[1]}_{match[2]}"].append(inner)
            self.learn(inner, name if snake(key) in wrappers else singular(snake(key)), wrappers)

    def belong(self, value: Json, arguments: Json) -> None:
        """Remember which records a shown record belongs to: those that the call named, and those that it links to."""
        plain = {snake(name): key for name, key in arguments.items() if ID.fullmatch(snake(name))}
        records = [value, *as_object(value).values(), *as_list(value)]
        records += [row for rows in as_object(value).values() for row in as_list(rows)]
        for record in map(as_object, records):
            ids = {name: ID.fullmatch(snake(name)) for name in record}
            links = {snake(name): record[name] for name, match in ids.items() if match and match[1]}
            for own in [record[name] for name, match in ids.items() if match and not match[1]]:
                self._beside[str(own)].update({name: key for name, key in {**links, **plain}.items() if key != own})

    def has_shown(self, text: str, arguments: Json) -> bool:
        """Whether a text names an argument that was taken from a result, not one that was drawn at random."""
        return any(value in text for value in self._taken.intersection(map(str, leaves(arguments))))

    def _value(self, whole: Json, name: str, tool: str, depth: int) -> Json:
        schema = self._narrowed(as_object(whole))
        if "const" in schema or schema.get("enum"):
            return schema.get("const", self._random.choice(schema.get("enum") or [None]))
        kinds = schema.get("type", "object" if "properties" in schema else "string")
        kinds = [kind for kind in as_list(kinds) or [kinds] if kind != "null"] or ["null"]
        known = self._known(name, tool)
        match self._random.choice(kinds):
            case "object":
                return self._object(schema, tool, depth)
            case "array":
                size = min(schema.get("maxItems", 9), max(schema.get("minItems", 0), self._random.randint(1, 2)))
                return [self._value(schema.get("items", {}), name, tool, depth + 1) for _ in range(size)]
            case "integer" | "number":
                low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
                high = min(schema.get("maximum", low + 50), low + 50)
                return known if isinstance(known, int) else int(self._random.uniform(low, high))
            case "boolean" | "null" as kind:
                return None if kind == "null" else self._random.random() < 0.5
            case _:
                form = schema.get("format", "")
                if form == "uuid" and not isinstance(known, str):
                    return str(uuid.UUID(int=self._random.getrandbits(128), version=4))  # none is drawn twice
                return (
                    known
                    if isinstance(known, str) and form not in SAMPLES
                    else SAMPLES.get(form, self._random.choice(WORDS))
                )

    def _object(self, schema: Json, tool: str, depth: int) -> Json:
        needed, chance = schema.get("required", ()), 0.4 / (1 + depth)
        return {
            name: self._value(inner, snake(name), tool, depth + 1)
            for name, inner in schema.get("properties", {}).items()
            if name in needed or self._random.random() < chance
        }

    def _narrowed(self, schema: Json) -> Json:
        """Return the schema with one of its alternatives, and all of its parts."""
        for word in ("anyOf", "oneOf", "allOf"):
            ways = [as_object(way) for way in schema.get(word, ()) if as_object(way).get("type") != "null"]
            chosen = ways if word == "allOf" or not ways else [self._random.choice(ways)]
            for way in map(self._narrowed, chosen):
                parts = {**schema.get("properties", {}), **way.get("properties", {})}
                needed = [*schema.get("required", ()), *way.get("required", ())]
                schema = {**schema, **way, **({"properties": parts, "required": needed} if parts else {})}
        return schema

    def _known(self, name: str, tool: str) -> Json:
        """Return an id that an earlier result showed for a record of this name, None if there is none."""
        match = ID.fullmatch(singular(name))
        if match is None:
            return None
        noun = noun_of(tool)
        if name in ONCE:
            self._new += 1
            return f"once-{self._new}"
        if match[1] and match[1] not in self._nouns and len(self._holders[match[1]]) >= SHARED:
            listed = self._ids.get((f"{OWN}{noun}", singular(name)), [])
            self._taken.update(map(str, chosen := [self._random.choice(listed)] if listed else []))
            return chosen[0] if chosen else None
        is_mine = is_own(match[1], noun)
        if is_mine and CREATES.match(tool):
            self._new += 1
            return f"{self._random.choice(WORDS)}-{self._new}".replace(" ", "-")
        subject = noun if is_mine else match[1]
        known = {label: ids for (label, word), ids in self._ids.items() if word == match[2] and ids}
        others = (ids for label, ids in known.items() if label.endswith(f"_{subject}"))
        listed = known.get(subject) or [key for ids in others for key in ids if subject not in self._nouns]
        chosen = self._random.choice(listed) if subject and listed else None
        self._taken.add(str(chosen))
        return chosen


@dataclass
class Tally:
    """What happened to the calls of one list."""

    name: str
    calls: int = 0
    random: int = 0
    crashes: list[str] = field(default_factory=list[str])
    rejected: list[str] = field(default_factory=list[str])
    reasons: Counter[str] = field(default_factory=Counter[str])

    def row(self) -> list[str]:
        refused, percent = self.reasons.total(), 100 / max(1, self.calls)
        counts = (self.calls, len(self.crashes), len(self.rejected), refused)
        shares = f"{refused * percent:.1f}", str(self.random), f"{(refused - self.random) * percent:.1f}"
        return [self.name, *map(str, counts), *shares]

    def add(self, tool: str, arguments: Json, answer: Json, drawn: Arguments) -> None:
        self.calls += answer["accepted"]
        text, code = answer.get("text", ""), answer.get("code")
        where = f"{tool} {json.dumps(arguments)[:300]}: {text[:300]}"
        if not answer["accepted"]:
            return
        if code is not None and code != INVALID:
            self.crashes.append(where)
        elif code is not None and "output schema" in text:
            self.rejected.append(where)
        elif answer.get("refused") or code is not None:
            is_random = UNKNOWN.search(text) is not None and not drawn.has_shown(text, arguments)
            self.random += is_random
            self.reasons[f"{'random: ' if is_random else ''}{tool}: {text[:160]}"] += 1


class ServedList:
    """A served simulator, called through the TypeScript client."""

    def __init__(self, file: str, folder: Path) -> None:
        command = ["node", str(folder / "client.mjs"), sys.executable, "-m", "mcp_sim", "serve", file]
        pipes: Json = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.node = subprocess.Popen(command, text=True, **pipes)
        self.tools: list[Json] = self._line()

    def call(self, tool: Json, arguments: Json) -> Json:
        print(json.dumps({"name": tool["name"], "arguments": arguments}), file=self.node.stdin, flush=True)
        return self._line()

    def _line(self) -> Json:
        return json.loads(self.node.stdout.readline() if self.node.stdout else "")


def called(name: str, server: ServedList, calls: int) -> Tally:
    """Call every tool of a server, those that need the fewest arguments first."""
    tally, arguments = Tally(name), Arguments(len(name), {noun_of(snake(tool["name"])) for tool in server.tools})
    tools = sorted(server.tools, key=lambda tool: len(tool["inputSchema"].get("required", ())))
    for tool in [*tools] * calls:
        drawn = arguments.drawn(tool)
        if drawn is not None:
            answer = server.call(tool, drawn)
            tally.add(tool["name"], drawn, answer, arguments)
            if not answer.get("refused"):
                if REMOVES.match(name := snake(tool["name"])):
                    arguments.forget(drawn, noun_of(name))
                    continue
                arguments.learn(answer.get("value"), noun_of(name))
                arguments.belong(answer.get("value"), drawn)
    return tally


def lists(paths: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield the tool lists and specs; OpenAPI documents are imported into the folder."""
    for path in map(Path, paths):
        for packed in sorted(path.glob("*.[jy]*")) if path.is_dir() else [path]:
            file = folder / packed.stem if packed.suffix == ".xz" else packed
            if file is not packed:
                file.write_bytes(lzma.decompress(packed.read_bytes()))
            if not file.is_file() or OPENAPI.search(file.read_text(encoding="utf-8")) is None:
                yield str(file)
                continue
            command = [sys.executable, "-m", "mcp_sim", "import", "openapi", str(file), "-o", str(folder / file.stem)]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            yield str(next((folder / file.stem).glob("*.yaml")))


def install(folder: Path) -> Path:
    """Install the TypeScript client into a folder, unless it is there."""
    if not (folder / "node_modules" / SDK.rpartition("@")[0]).exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), SDK], check=True)
    (folder / "client.mjs").write_text(CLIENT, encoding="utf-8")
    return folder


def main(options: argparse.Namespace) -> int:
    """Print a row per list. Return the exit status."""
    tallies, whole = list[Tally](), Tally("all")
    with tempfile.TemporaryDirectory() as scratch:
        client = install(options.client or Path(scratch))
        for file in lists(options.paths, Path(scratch)):
            server = ServedList(file, client)
            tallies.append(called(Path(file).stem, server, options.calls))
            server.node.communicate()
    for tally in tallies:
        whole.calls, whole.random = whole.calls + tally.calls, whole.random + tally.random
        whole.crashes += tally.crashes
        whole.rejected += tally.rejected
        whole.reasons += tally.reasons
    print_table("Calls with valid arguments", HEAD, [tally.row() for tally in (*tallies, whole)])
    most = None if options.details else 15
    print(*(f"crash: {text}" for text in whole.crashes[:most]), sep="\n")
    print(*(f"rejected: {text}" for text in whole.rejected[:most]), sep="\n")
    print(*(f"refused {count} times: {reason}" for reason, count in whole.reasons.most_common(most)), sep="\n")
    others = whole.reasons.total() - whole.random
    return 1 if whole.crashes or whole.rejected or others >= 0.02 * whole.calls else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "paths", nargs="+", metavar="PATH|NAME", help="lists, OpenAPI documents, folders, shipped specs"
    )
    parser.add_argument("--client", type=Path, metavar="FOLDER", help="where the TypeScript client is, or is installed")
    parser.add_argument("--calls", type=int, default=5, help="calls per tool (default 5)")
    parser.add_argument("--details", action="store_true", help="print all crashes, rejections and reasons")
    sys.exit(main(parser.parse_args()))
