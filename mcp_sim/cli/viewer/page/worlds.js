// Verdicts, and the tree of worlds with their outcomes.

const OUTCOME_KINDS = { passed: "good", failed: "bad", crashed: "bad", vacuous: "plain", inconclusive: "fault", "not exercised": "plain", "not judged": "plain" };

const pill = (outcome) => h("span", { class: `pill ${OUTCOME_KINDS[outcome] ?? "plain"}` }, outcome || "not judged");

function verdictsView(world, at, app) {
  const grade = world.grade;
  const parts = [];
  if (grade) {
    parts.push(h("p", {}, pill(grade.outcome), grade.guessed ? [" ", chip("guess", "rests on a guess")] : "", ` ${grade.because}`, guessedShare(world)), h("p", { class: "dim" }, `Reward ${grade.explanation}`));
    parts.push(h("div", { class: "verdicts" }, world.verdicts.map((verdict) => verdictPart(world, verdict, app))));
  } else {
    parts.push(h("p", { class: "dim" }, world.scenario.note || "The scenario expects nothing."));
  }
  if (world.scenario.task) parts.push(section("Task", h("p", { class: "prose" }, world.scenario.task)));
  if (world.json.answer !== undefined) parts.push(section("Final answer of the agent", valueBlock(world.json.answer, "Final answer")));
  if (world.json.stderr) parts.push(folding("stderr of the agent", valueBlock(world.json.stderr, "stderr of the agent")));
  if (world.json.repeat) parts.push(section("Repeat this run", copyable(world.json.repeat)));
  return h("div", { class: "view" }, h("div", { class: "head" }, h("h2", {}, "Expectations"), h("p", { class: "dim" }, `${world.scenario.name} · world ${world.name}`)), parts);
}

// How many of the answers since the last reset are guessed.
function guessedShare(world) {
  const begin = world.facts.map((facts) => facts.kind).lastIndexOf("reset");
  const calls = world.facts.slice(begin + 1).filter((facts) => facts.kind === "call");
  const guessed = calls.filter((facts) => facts.flags.has("guessed")).length;
  return guessed ? `. ${guessed} of ${calls.length} answers ${guessed === 1 ? "is" : "are"} guessed.` : "";
}

function verdictPart(world, verdict, app) {
  const marks = [chip("plain", verdict.kind)];
  if (verdict.guessed) marks.push(chip("guess", "rests on a guess"));
  if (verdict.gate) marks.push(chip("plain", "gate"));
  if (verdict.optional) marks.push(chip("plain", "optional"));
  if (verdict.weight !== 1) marks.push(chip("plain", `weight ${verdict.weight}`));
  const links = stepLinks(world, verdict, app);
  return h(
    "section",
    { class: `verdict ${OUTCOME_KINDS[verdict.outcome] ?? "plain"}` },
    h("h3", {}, pill(verdict.outcome), " ", verdict.id, " ", marks),
    h("p", {}, verdict.because),
    differencesTable(verdict.differences ?? []),
    links.length ? h("p", { class: "links" }, "Decided by ", links) : null,
  );
}

// The steps that decided a verdict, with their tools unless there is little room.
function stepLinks(world, verdict, app, isShort = false) {
  return verdict.steps.map((n) => {
    const place = world.places.get(n);
    const tool = place === undefined ? "" : world.facts[place].tool || world.entries[place].step.actor || "";
    return button(isShort ? `step ${n}` : `step ${n} ${tool}`, () => place !== undefined && app.choose(place, "step"), { class: "link step" });
  });
}

// Values beside those that were expected.
function differencesTable(differences) {
  if (!differences.length) return null;
  const head = h("tr", {}, ["", "actual", "expected"].map((name) => h("th", { scope: "col" }, name)));
  const rows = differences.map((difference) => h("tr", {}, h("th", { scope: "row" }, difference.subject), h("td", { class: "actual" }, difference.actual), h("td", { class: "expected" }, difference.expected)));
  return h("table", { class: "differences" }, h("thead", {}, head), h("tbody", {}, rows));
}

// The worlds of all traces as a tree: a fork is below the world that it continues.
function worldsView(world, at, app) {
  const viewer = world.viewer;
  const roots = viewer.worlds.map((_, index) => index).filter((index) => isRoot(viewer, index));
  const byScenario = viewer.scenarios.map((scenario, place) => [scenario.name, roots.filter((index) => viewer.traces[viewer.worlds[index].trace].scenario === place)]);
  const groups = byScenario.filter(([, some]) => some.length).map(([name, some]) => h("section", { class: "part" }, h("h3", {}, name), h("ul", { role: "tree", class: "tree", "aria-label": `Worlds of ${name}` }, some.map((index) => branch(viewer, index, world, app)))));
  const counts = countBy(viewer.worlds.map((_, index) => outcomeOfWorld(viewer, index)).filter(Boolean), (outcome) => outcome);
  const summary = Object.entries(counts).map(([outcome, count]) => `${count} ${outcome}`).join(", ");
  return h("div", { class: "view" }, h("div", { class: "head" }, h("h2", {}, plural(viewer.worlds.length, "world")), h("p", { class: "dim" }, summary)), viewer.note ? h("p", { class: "note" }, viewer.note) : null, groups);
}

const isRoot = (viewer, index) => (viewer.worlds[index].fork?.world ?? null) === null;

function outcomeOfWorld(viewer, index) {
  const world = viewer.worlds[index];
  if (world.undone) return "undone";
  if (world.ended) return "ended";
  if (world.summary) return world.summary.crashed ? "crashed" : (world.grade?.outcome ?? "running");
  return world.grade?.outcome ?? (world.entries.some((entry) => entry.crash) ? "crashed" : "");
}

function branch(viewer, index, chosen, app) {
  const json = viewer.worlds[index];
  const own = json.entries.filter((entry) => entry.crash || entry.step.entry === "call");
  const fired = own.flatMap((entry) => entry.step?.perturbations ?? []).filter((perturbation) => perturbation.outcome === "applied").length;
  const forks = viewer.forks.get(index) ?? [];
  const calls = json.summary ? plural(json.summary.calls, "call") : plural(own.length, json.fork ? "own call" : "call");
  const facts = [calls, fired ? `${plural(fired, "fault")} fired` : ""];
  const file = json.fork || viewer.traces.length === 1 || !viewer.traces[json.trace].file ? null : h("span", { class: "dim" }, ` · ${viewer.traces[json.trace].file}`);
  const from = json.fork?.n !== undefined ? [" after ", button(`step ${json.fork.n}`, () => app.open(index, json.fork.n)), ", "] : " ";
  const name = h("button", { type: "button", class: "link name", onclick: () => app.open(index) }, json.name);
  return h(
    "li",
    { role: "treeitem", "aria-selected": index === chosen.index, "aria-expanded": forks.length ? "true" : null },
    h("div", { class: index === chosen.index ? "node chosen" : "node" }, pill(outcomeOfWorld(viewer, index)), " ", name, h("span", { class: "dim" }, from, facts.filter(Boolean).join(", ")), file),
    forks.length ? h("ul", { role: "group" }, forks.map(([, child]) => branch(viewer, child, chosen, app))) : null,
  );
}
