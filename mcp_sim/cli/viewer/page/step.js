// One step: what the agent asked and saw, what was true, what was written, and which faults had a part in it.

function stepView(world, at, app) {
  const entry = world.entries[at];
  if (!entry) return h("p", { class: "dim" }, "The trace has no steps.");
  if (entry.crash) return crashView(entry);
  const step = entry.step;
  const parts = [failures(world, app), stepHead(world, at, app)];
  if (step.entry === "call") {
    parts.push(section("Asked", ...askedParts(step)), answers(world, at, app), faultsAt(world, step, app));
  } else if (step.steered) {
    parts.push(section(`What ${step.actor} did`, h("p", {}, steering(step.steered)), valueBlock(step.steered, "What was done")));
  } else if (step.entry === "event") {
    parts.push(section(`Written by ${step.actor}`, writtenParts(world, at, app)));
  } else {
    const { n, entry: kind, at: time, ...opening } = step;
    parts.push(section("Opening", valueBlock(opening, "Opening")));
  }
  parts.push(screenAt(world, step.n), linksFrom(world, step, app), reproduction(world, at));
  if (Object.keys(entry.measured ?? {}).length) parts.push(folding("Measured", valueBlock(entry.measured, "Measured")));
  return h("div", { class: "view" }, parts);
}

// What was on the screen after a step. The frame may run, load and send nothing, and leads nowhere. In the newest screen
// of a running world a person acts: this page listens to what is done in the frame.
function screenAt(world, n) {
  const { pages = [], steps = {} } = world.json.screens ?? {};
  const last = Math.max(...Object.keys(steps).map(Number).filter((step) => step <= n));
  const page = world.viewer.live ? world.viewer.live.screen(world, n) : pages[steps[last]];
  if (!page) return null;
  const live = n === world.entries.at(-1).step?.n && !world.json.ended ? world.viewer.live : null;
  const frame = h("iframe", { class: "screen", sandbox: live ? "allow-same-origin" : "", title: "The screen", srcdoc: page });
  if (live) frame.addEventListener("load", () => live.listen(frame.contentDocument, world));
  return section("On the screen", frame, live?.failure(world));
}

// Why the run failed: its failed expectations, with the steps that decided them.
function failures(world, app) {
  const failed = world.verdicts.filter((verdict) => verdict.outcome === "failed");
  if (!failed.length) return null;
  const shown = failed.slice(0, MOST_FAILURES).map((verdict) =>
    h("li", {}, h("div", {}, button(verdict.id, () => app.show("verdicts")), ` ${verdict.because}`), h("div", { class: "links" }, stepLinks(world, verdict, app, true))),
  );
  const more = failed.length > MOST_FAILURES ? h("li", {}, button(`${failed.length - MOST_FAILURES} more`, () => app.show("verdicts"))) : null;
  return h("section", { class: "failures", "aria-label": "Failed expectations" }, h("h3", {}, pill("failed"), " ", `${failed.length} of ${plural(world.verdicts.length, "expectation")} failed`), h("ul", {}, shown, more));
}

const MOST_FAILURES = 4;

const folding = (title, ...children) => h("details", { class: "part" }, h("summary", {}, title), ...children);

function stepHead(world, at, app) {
  const step = world.entries[at].step;
  const titles = { reset: "World begins", event: step.actor, call: step.tool };
  const where = [`step ${step.n}`, step.at?.replace("T", " ").replace("Z", "")];
  const chips = [];
  if (step.guessed) chips.push(chip("guess", "guessed", "The answer follows from a plan that is a guess"));
  if (step.stub) chips.push(chip("plain", "stub", "A stub of the scenario answered"));
  if (step.source) chips.push(chip("plain", `answered by ${step.source}`));
  if (step.caller) chips.push(chip("plain", `caller ${step.caller}`));
  if (at < world.own) chips.push(chip("plain", `inherited from ${world.parent.name}`));
  const head = h("div", { class: "head" }, h("h2", {}, titles[step.entry]), h("p", { class: "dim" }, where.filter(Boolean).join(" · ")), h("p", { class: "chips" }, chips));
  const applied = (step.perturbations ?? []).filter((perturbation) => perturbation.outcome === "applied");
  return [head, ...applied.map((perturbation) => callout(perturbation, step, app))];
}

function callout(perturbation, step, app) {
  return h(
    "p",
    { class: "callout" },
    button(perturbation.id, () => app.show("faults", { fault: perturbation.id })),
    ` (${spaced(perturbation.kind)}, ${perturbation.why}) was applied. `,
    consequence(step),
  );
}

function consequence(step) {
  if (!step.truth) return "The call never reached the world.";
  const changed = step.truth.changes?.length;
  const written = step.committed.length;
  const late = step.served?.delay_ms ? `, after ${step.served.delay_ms.toLocaleString("en")} ms` : "";
  const saw = step.served && differ(step) ? "The agent saw something else than what was true" : `The agent saw ${meantOtherwise(step) ? "the answer of a call that works" : "what was true"}${late}`;
  const wrote = written ? `${plural(written, "change")} ${written === 1 ? "was" : "were"} written` : changed ? "nothing was written, although the call means to write" : "nothing was written";
  return `${saw}; ${wrote}.`;
}

// Whether the changes of the unmodified call are others than those that were written.
const meantOtherwise = (step) => step.truth?.changes !== undefined && !same(step.truth.changes, step.committed);

function askedParts(step) {
  const parts = [Object.keys(step.arguments).length ? valueBlock(step.arguments, "Arguments", 100) : h("p", { class: "dim" }, "No arguments.")];
  if (step.answers) parts.push(h("h4", {}, "Answers of the client to questions"), valueBlock(step.answers, "Answers"));
  return parts;
}

// What the agent saw, what was true, and what was written, side by side.
function answers(world, at, app) {
  const step = world.entries[at].step;
  const truth = step.truth?.observation;
  const columns = [];
  if (step.served && truth && differ(step)) {
    const sides = comparison(bodyOf(step.served), bodyOf(truth), ["The agent saw", "True"]);
    const count = sides.differences ? chip("fault", plural(sides.differences, "difference")) : null;
    columns.push(column("The agent saw", step.served, sides.blocks[0], count), column("True", truth, sides.blocks[1], null));
  } else {
    const saw = servedOf(step);
    columns.push(column(truth ? (meantOtherwise(step) ? "The agent saw, as if it were true" : "The agent saw what was true") : "The agent saw", saw, saw ? valueBlock(bodyOf(saw), "Answer") : null, null));
    if (!truth) columns.push(h("section", { class: "column" }, h("h3", {}, "True"), h("p", { class: "dim" }, "The world was not asked.")));
  }
  columns.push(h("section", { class: "column" }, h("h3", {}, "Written"), writtenParts(world, at, app)));
  return h("div", { class: `columns of${columns.length}` }, columns);
}

function column(title, observation, content, extra) {
  const chips = [extra];
  if (observation?.is_error) chips.push(chip("bad", "error"));
  if (observation?.is_failure) chips.push(chip("bad", "failure without isError"));
  if (observation?.rpc_error) chips.push(chip("bad", "JSON-RPC error"));
  if (observation?.broken) chips.push(chip("bad", spaced(observation.broken.how)));
  if (observation?.delay_ms) chips.push(chip("plain", `after ${observation.delay_ms.toLocaleString("en")} ms`));
  const rest = [];
  if (observation?.text !== undefined) rest.push(h("h4", {}, "As text"), valueBlock(observation.text, "As text"));
  if (observation?.notifications) rest.push(h("h4", {}, "Notifications"), valueBlock(observation.notifications, "Notifications"));
  return h("section", { class: "column" }, h("h3", {}, title, " ", chips), content, rest);
}

function bodyOf(observation) {
  if (observation.rpc_error) return observation.rpc_error;
  if (observation.broken) return observation.broken;
  return observation.blocks ?? observation.result;
}

function writtenParts(world, at, app) {
  const step = world.entries[at].step;
  const changes = world.records.changes[at];
  const parts = changes.length ? [growing(changes, (change) => changeView(change, at, app), 20)] : [h("p", { class: "dim" }, "Nothing.")];
  if (meantOtherwise(step)) {
    const meant = step.truth.changes.map((change) => ({ ...change, before: world.records.at(change.entity, change.key, at) }));
    const shown = meant.length ? growing(meant, (change) => changeView(change, at, app), 20) : h("p", { class: "dim" }, "Nothing.");
    parts.push(h("h4", {}, "The unmodified call would have written"), h("div", { class: "meant" }, shown));
  }
  return parts;
}

function changeView(change, at, app) {
  const word = changeWord(change);
  const name = button(`${change.entity} ${change.key}`, () => app.show("state", { record: [change.entity, change.key] }));
  return h("div", { class: `change ${word.replace(" ", "-")}` }, h("p", {}, chip(CHANGE_KINDS[word] ?? "plain", word), " ", name), fieldTable(change.before, change.op === "put" ? change.record : null));
}

const CHANGE_KINDS = { created: "good", changed: "write", written: "write", deleted: "bad" };

function changeWord(change) {
  if (change.op === "reserve") return "used up";
  if (change.op === "remove") return "deleted";
  if (change.absorbed && !change.before) return "mentioned";
  return change.before === undefined ? "written" : change.before ? "changed" : "created";
}

// The fields of a record, with those that a write changed.
function fieldTable(before, after) {
  if (!isObject(before ?? {}) || !isObject(after ?? {})) return h("div", { class: "fields" }, cell(before), " → ", cell(after));
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = names.map((name) => [name, before?.[name], after?.[name]]).filter(([, was, is]) => !before || !after || !same(was, is));
  if (!rows.length) return before && after ? h("p", { class: "dim" }, "No field differs.") : null;
  const values = (was, is) => {
    if (!before) return [cell(is)];
    if (!after) return [h("del", {}, cell(was))];
    return [h("del", {}, cell(was)), h("span", { class: "arrow", "aria-label": "becomes" }, " → "), h("ins", {}, cell(is))];
  };
  return h("table", { class: "fields" }, h("tbody", {}, rows.map(([name, was, is]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, values(was, is))))));
}

function faultsAt(world, step, app) {
  const findings = world.findings(step);
  const errors = step.errors ?? [];
  if (!findings.length && !errors.length) return null;
  const rows = findings.map((finding) => h("li", { class: finding.outcome === "applied" ? "fired" : "" }, outcomeChip(finding), " ", button(finding.id, () => app.show("faults", { fault: finding.id })), ` ${spaced(finding.kind)} `, reasonText(finding)));
  const broken = errors.map((error) => h("li", {}, chip("bad", "error"), ` ${error.id} (${spaced(error.kind)}): ${error.why}`));
  return section("Faults that could have fired", h("ul", { class: "findings" }, rows, broken));
}

const OUTCOMES = {
  applied: ["fault", "fired", ""],
  preempted: ["plain", "preempted", "another fault answered first"],
  no_effect: ["plain", "no effect", "there was nothing to change"],
  capped: ["plain", "capped", "it has fired as often as it may"],
};

const outcomeOf = (finding) => (finding.decided ? finding.outcome || "decided" : "not met");

function outcomeChip(finding) {
  const [kind, text] = OUTCOMES[outcomeOf(finding)] ?? ["plain", outcomeOf(finding)];
  return chip(kind, text);
}

// Why a fault fired or did not: the conditions with what they were compared with.
function reasonText(finding) {
  const because = OUTCOMES[outcomeOf(finding)]?.[2];
  const conditions = finding.why.map((condition) =>
    h("span", { class: condition.held ? "condition held" : "condition" }, condition.held ? "✓ " : "✗ ", condition.condition, condition.found ? h("span", { class: "dim" }, ` (${condition.found})`) : null),
  );
  const rest = [because, finding.note, finding.error && `error: ${finding.error}`, finding.why.length ? "" : (finding.reason || "always")];
  return [conditions, h("span", { class: "dim" }, ` ${rest.filter(Boolean).join("; ")}`)];
}

function linksFrom(world, step, app) {
  const verdicts = world.deciding.get(step.n) ?? [];
  const forks = world.forks.filter(([n]) => n === step.n);
  if (!verdicts.length && !forks.length) return null;
  return [
    verdicts.length ? section("Expectations that depend on this step", h("ul", { class: "findings" }, verdicts.map((verdict) => h("li", {}, pill(verdict.outcome), " ", button(verdict.id, () => app.show("verdicts")), ` ${verdict.because}`)))) : null,
    forks.length ? section("Worlds that begin here", h("ul", { class: "findings" }, forks.map(([, index]) => h("li", {}, button(world.viewer.worlds[index].name, () => app.open(index)))))) : null,
  ];
}

function crashView({ crash, measured }) {
  return h(
    "div",
    { class: "view" },
    h("div", { class: "head" }, h("h2", {}, crash.tool), h("p", { class: "dim" }, "mcp-sim crashed; nothing was simulated or written")),
    h("p", { class: "callout bad" }, crash.error),
    section("Asked", valueBlock(crash.arguments, "Arguments")),
    crash.attempts?.length ? section("Answers of the world model that could not be served", valueBlock(crash.attempts, "Attempts")) : null,
    Object.keys(measured ?? {}).length ? folding("Measured", valueBlock(measured, "Measured")) : null,
  );
}

// reproduction

function reproduction(world, at) {
  const step = world.entries[at].step;
  const commands = [];
  const again = replayed(world, at);
  if (again) commands.push(h("p", { class: "dim" }, `Repeat the ${plural(again.calls, "call")} up to here in a new world:`), copyable(again.command));
  if (world.json.repeat) commands.push(h("p", { class: "dim" }, "Repeat the run with its agent:"), copyable(world.json.repeat));
  if (world.trace.file) {
    const only = world.viewer.worlds.filter((other) => other.trace === world.json.trace).length > 1 ? ` --world ${quoted(worldOf(world, at))}` : "";
    commands.push(h("p", { class: "dim" }, "Print this step:"), copyable(`mcp-sim show ${quoted(`${world.trace.file}:${step.n}`)}${only}`));
  }
  return commands.length ? section("Reproduce", commands) : null;
}

const worldOf = (world, at) => (at < world.own ? worldOf(world.parent, at) : world.name);

// The command that makes the calls up to a step again, if such a command exists.
function replayed(world, at) {
  const opening = world.records.life(at).at;
  const start = world.entries[opening]?.step;
  if (!world.scenario.reference || !start || start.faults === false) return null;
  if ((at < world.own ? start.stream : (world.json.stream ?? start.stream)) !== "") return null; // other draws
  const life = world.entries.slice(opening, at + 1);
  if (life.some((entry) => entry.step?.steered)) return null;
  const calls = life.filter((entry) => entry.step?.entry === "call").map(({ step }) => JSON.stringify({ tool: step.tool, arguments: step.arguments }));
  if (!calls.length) return null;
  const intensity = start.intensity === undefined ? "" : ` --intensity ${start.intensity}`;
  const trust = (world.scenario.trust ?? []).map((path) => ` --trust ${quoted(path)}`).join("");
  const command = `mcp-sim play ${quoted(world.scenario.reference)} --seed ${start.seed}${intensity}${trust} <<'CALLS'\n${calls.join("\n")}\nCALLS`;
  return { calls: calls.length, command };
}
