"""Traces for the viewer: a busy run with forks and a crash, a long one, and one with hostile text in every field."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from mcp_sim import Simulator, World, __version__
from mcp_sim.types.errors import Crash
from mcp_sim.types.json_values import decode, encode
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.trace import FORMAT, answer_line, crash_line, header_line

SCENARIO = """\
mcp_sim: 1
name: busy-crm
task: Win the spring order of Ada Vos, and keep her contact up to date.
tools: crm
seed: 7
world:
  now: 2029-03-01T09:00:00Z
  records: {company: 12, contact: 60, deal: 40, activity: 20}
perturbations:
  - {lost_ack: {}, id: lost-deal, tools: create_deal, when: {nth: 1}}
  - {stale_read: {versions: 1}, id: stale-deal, tools: [get_deal, list_deals], when: {probability: 0.4}}
  - {error: {status: 503}, id: busy, tools: [update_*, log_*], when: {probability: 0.3}, fires: 2}
  - {phantom_success: {}, id: lost-update, tools: update_contact, when: {nth: 2}}
  - {drop_fields: [email], id: no-email, tools: [get_contact, search_contacts], when: {every: 2}}
  - {latency: 3s, id: slow, tools: search_contacts}
  - external_change: {do: edit, entity: deal, values: {stage: lost}, actor: colleague}
    id: meddling
    tools: list_deals
    when: {nth: 2}
  - {disconnect: {at: after}, id: cut-off, tools: log_activity, when: {nth: 1}}
  - {error: {status: 500}, id: switched-off, tools: get_company, enabled: false}
expect:
  - {state: {entity: deal, where: {title: Spring order}, count: 1}, id: one-deal}
  - {recovered: lost-deal}
  - {called: {tool: create_deal, at_most: 2, failed: true}, id: no-hammering}
  - {answered: {contains: deal}, id: says-so, weight: 2}
  - {state: {entity: contact, where: {job_title: Head of purchasing}, count: 1}, id: promoted, gate: true}
"""


def scenario_file(folder: Path) -> Path:
    """Write the scenario of these traces, and return its path."""
    path = folder / "busy.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


async def busy_trace(folder: Path) -> Path:
    """Write a run with many faults, two forks, a final answer and a crash."""
    return await _traced(folder, "busy.jsonl", _busy)


HOSTILE_SHOP = """\
mcp_sim: 1
tools: web_shop
world:
  state:
    accounts: []
    parts:
      - id: "1"
        name: "<img src=https://x.example/i onerror=alert(1)><script>alert(2)</script>\u202e"
        price: 1
        stock: 1
        text: "</p></body><script>alert(3)</script>"
"""


async def screens_trace(folder: Path) -> Path:
    """Write a run in a browser whose pages have hostile texts."""

    async def play(world: World, _sink: Jsonl) -> None:
        for tool, arguments in (
            ("browser_navigate", {"url": "https://wheelhouse.example/login"}),
            ("browser_type", {"target": "#email", "text": "ada@mail.example"}),
            ("browser_type", {"target": "#password", "text": "wheels"}),
            ("browser_navigate", {"url": "https://wheelhouse.example/parts/1"}),
        ):
            await world.call(tool, arguments)

    (folder / "hostile_shop.yaml").write_text(HOSTILE_SHOP, encoding="utf-8")
    return await _traced(folder, "screens.jsonl", play, folder / "hostile_shop.yaml")


async def steered_trace(folder: Path) -> Path:
    """Write a run that somebody steers: a fault is added, a world is forked, and then taken back to before both."""

    async def play(world: World, _sink: Jsonl) -> None:
        await world.call("list_companies", {})
        moment = world.moment()
        await world.inject({"error": {"status": 503}, "id": "down", "tools": "list_*"}, "ann")
        await world.call("list_companies", {})
        await world.fork("twin").call("list_companies", {})
        world.return_to(moment, "ann")
        await world.call("list_companies", {})

    return await _traced(folder, "steered.jsonl", play)


def repeated_trace(trace: Path, folder: Path, steps: int) -> Path:
    """Write a trace of many steps: those of the first world of a trace, again and again, and a fork of them."""
    header, *lines = map(decode, trace.read_bytes().splitlines())
    reset, *rest = [line for line in lines if line["world"] == "main" and "step" in line]
    written = [header, reset]
    calls = 0
    for n in range(2, steps + 1):
        step: dict[str, Any] = dict(rest[n % len(rest)]["step"], n=n)
        if step["entry"] == "call":
            calls += 1
            step["index"] = calls
        text = encode({**rest[0], "step": step})
        written.append(decode(text.replace(b"deal_0042", b"deal_%04d" % (42 + n // 10))))
    written.append({"world": "twin", "fork": {"of": "main", "n": steps - 5, "stream": "twin"}})
    path = folder / "long.jsonl"
    path.write_bytes(b"".join(encode(line) + b"\n" for line in written))
    return path


async def _traced(folder: Path, name: str, play: Callable[[World, Jsonl], Any], reference: Path | None = None) -> Path:
    scenario = Simulator.load(reference or scenario_file(folder)).scenario
    path = folder / name
    sink = Jsonl(path, header_line(scenario.name, scenario.sha256, __version__, scenario.path))
    async with Simulator(scenario, sinks=[sink], ledger_keep=100_000).open("main") as world:
        await play(world, sink)
    sink.close()
    return path


async def _busy(world: World, sink: Jsonl) -> None:
    deal = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search_contacts", {"query": "a", "limit": 5}),
        ("create_deal", deal),
        ("create_deal", deal),
        ("list_deals", {}),
        ("update_deal", {"deal_id": "deal_0042", "stage": "proposal"}),
        ("update_deal", {"deal_id": "deal_0042", "stage": "proposal", "amount": 4400}),
        ("get_deal", {"deal_id": "deal_0042"}),
        ("update_contact", {"contact_id": "con_00001", "job_title": "Head of purchasing"}),
        ("update_contact", {"contact_id": "con_00001", "job_title": "Head of everything"}),
        ("get_contact", {"contact_id": "con_00001"}),
        ("list_deals", {"stage": "proposal"}),
        ("log_activity", {"contact_id": "con_00001", "type": "call", "summary": "Asked about the order"}),
        ("get_contact", {"contact_id": "con_00001"}),
        ("get_deal", {"deal_id": "deal_0042"}),
        ("delete_contact", {"contact_id": "con_00002"}),
        ("get_deal", {"deal_id": "deal_9999"}),
        ("no_such_tool", {}),
    ]
    for tool, arguments in calls[:7]:
        await world.call(tool, arguments)
    careful, hasty = world.fork("careful"), world.fork("hasty", stream="hasty")
    for tool, arguments in calls[7:]:
        await world.call(tool, arguments)
    await careful.call("list_deals", {"stage": "proposal"})
    await careful.call("update_contact", {"contact_id": "con_00001", "job_title": "Head of purchasing"})
    later = careful.fork("careful-later")
    await later.call("get_contact", {"contact_id": "con_00001"})
    await hasty.call("create_deal", deal)
    sink.write(answer_line("main", "The deal deal_0042 is won, and Ada Vos is head of purchasing."))
    crash = Crash("create_deal", "the world model does not answer: connection refused")
    sink.write(crash_line("hasty", crash, deal, {"seconds": 1.2}))


# hostile --------------------------------------------------------------------------------------------------------------

NOW = "2029-05-14T08:00:00Z"
HOSTILE = (
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "\"'><svg onload=alert(3)>",
    "<!--<script>",
    "]]>{{script}}{{data}}",
    "javascript:alert(4)",
    "__proto__",
    "constructor",
    "\u2028\u202e\u0000\u001b[31m",
    "https://attacker.invalid/x.png",
)


def hostile_trace(folder: Path) -> Path:
    """Write a trace whose every text, key and name is hostile."""
    texts = iter(HOSTILE * 200)

    def soiled(value: Any) -> Any:
        if isinstance(value, str):
            return f"{value}{next(texts)}"
        if isinstance(value, list):
            return [soiled(item) for item in cast("list[Any]", value)]
        if isinstance(value, dict):
            return {soiled(key): soiled(item) for key, item in cast("dict[str, Any]", value).items()}
        return value

    def step(n: int, **body: Any) -> dict[str, Any]:
        return {
            "world": "w",
            "step": {"n": n, "at": NOW, **body},
            "measured": soiled({"a": "b"}),
        }

    record = soiled({"id": "T-1", "note": ["x", {"y": "z"}]})
    changes = [{"op": "put", "entity": soiled("ticket"), "key": soiled("T-1"), "record": record} for _ in HOSTILE]
    decided = [
        {"id": soiled("fault"), "kind": soiled("kind"), "outcome": outcome, "why": soiled("why")}
        for outcome in ("applied", "preempted", soiled("odd"))
    ]
    observations: list[Any] = [
        {
            "result": soiled({"a": ["b"]}),
            "form": "structured",
            "text": soiled("t"),
            "notifications": soiled([{"m": "n"}]),
        },
        {"result": soiled("text"), "form": "text", "is_error": True},
        {"rpc_error": {"code": -1, "message": soiled("m"), "data": soiled({"d": "e"})}},
        {"broken": {"how": soiled("how"), "status": 500, "headers": soiled({"h": "i"}), "body": soiled("b")}},
    ]
    lines: list[Any] = [
        {"format": FORMAT, "scenario": soiled("s"), "sha256": soiled("0"), "version": soiled("v"), "path": soiled("p")},
        step(
            1,
            entry="reset",
            seed=1,
            stream=soiled("s"),
            clock={"mode": soiled("virtual"), "now": "2029-05-14T08:00:00Z"},
        ),
    ]
    for n, served in enumerate(observations * 3, 2):
        truth = {"observation": observations[n % 4], "changes": changes[:1]}
        call = {"index": n, "tool": soiled("tool"), "arguments": soiled({"q": "r"}), "caller": soiled("me")}
        more = {
            "answers": soiled({"a": "b"}),
            "source": soiled("x"),
            "errors": [{"id": soiled("i"), "kind": soiled("k"), "why": soiled("w")}],
        }
        wrote = {"committed": changes, "absorbed": changes[:2], "guessed": True, "perturbations": decided}
        lines.append(step(n, entry="call", **call, truth=truth, served=served, **wrote, **more))
    lines.append(step(14, entry="event", actor=soiled("actor"), committed=changes))
    lines.append({"world": soiled("fork"), "fork": {"of": "w", "n": 5, "stream": soiled("s")}})
    crash = {
        "tool": soiled("t"),
        "arguments": soiled({"a": "b"}),
        "error": soiled("e"),
        "attempts": soiled([{"p": "q"}]),
    }
    lines.append({"world": "w", "crash": crash, "measured": {}})
    lines.append({"world": "w", "answer": soiled("answer")})
    path = folder / "hostile<img src=x onerror=alert(5)>.jsonl"
    path.write_bytes(b"".join(encode(line) + b"\n" for line in lines))
    return path
