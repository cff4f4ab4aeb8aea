// The faults of a run: where each fired, where it could have fired and did not, and why.

function faultsView(world, at, app) {
  const faults = faultsOf(world);
  const parts = faults.map((fault) => faultPart(world, at, fault, app));
  const empty = h("p", { class: "dim" }, world.scenario.note ? "No fault was decided." : "The scenario has no faults.");
  return h(
    "div",
    { class: "view" },
    h("div", { class: "head" }, h("h2", {}, "Faults"), h("p", { class: "dim" }, "Each call in the reach of a fault, from the first to the last")),
    world.scenario.note ? h("p", { class: "note" }, world.scenario.note) : null,
    world.viewer.live ? h("p", { class: "note" }, "Why the other faults do not fire is shown for traces only, not for a running server.") : null,
    world.opening?.faults === false ? h("p", { class: "note" }, "The faults of this run were silenced.") : null,
    parts.length ? parts : empty,
  );
}

// The findings of each fault, with those that the scenario has first.
function faultsOf(world) {
  const faults = new Map([...world.scenario.faults, ...(world.json.added ?? [])].map((fault) => [fault.id, { ...fault, findings: [] }]));
  world.entries.forEach(({ step }, at) => {
    if (step?.entry !== "call") return;
    for (const finding of world.findings(step)) {
      if (!faults.has(finding.id)) faults.set(finding.id, { id: finding.id, kind: finding.kind, tools: [], enabled: true, timed: false, findings: [] });
      faults.get(finding.id).findings.push({ ...finding, at });
    }
  });
  return [...faults.values()];
}

function faultPart(world, at, fault, app) {
  const groups = new Map();
  for (const finding of fault.findings) {
    const reason = groupOf(finding);
    if (!groups.has(reason)) groups.set(reason, []);
    groups.get(reason).push(finding);
  }
  const fired = fault.findings.filter((finding) => outcomeOf(finding) === "applied").length;
  const summary = !fault.enabled && !fault.findings.length
    ? "is disabled"
    : fault.timed
      ? "acts by itself, not at calls"
      : fault.findings.length
        ? `fired at ${fired} of ${plural(fault.findings.length, "call")} in its reach`
        : "no call was in its reach";
  const list = [...groups.values()].sort((a, b) => outcomeRank(a) - outcomeRank(b)).map((findings) => findingGroup(world, findings, app));
  return h(
    "section",
    { class: app.fault === fault.id ? "part fault chosen" : "part fault", id: `fault-${fault.id}` },
    h("h3", {}, fault.id, " ", chip("plain", spaced(fault.kind)), " ", h("span", { class: "dim" }, fault.tools.length ? `on ${fault.tools.join(", ")}` : "on every tool")),
    h("p", {}, summary[0].toUpperCase() + summary.slice(1), "."),
    fault.findings.length ? strip(world, at, fault.findings, app) : null,
    h("ul", { class: "findings" }, list),
  );
}

const outcomeRank = ([finding]) => [...Object.keys(OUTCOMES), "decided", "not met"].indexOf(outcomeOf(finding));

// Findings with the same outcome, and the same condition that did not hold, belong together.
function groupOf(finding) {
  const failed = finding.why.filter((condition) => !condition.held).map((condition) => condition.condition);
  return JSON.stringify([outcomeOf(finding), failed, finding.note, finding.error]);
}

function findingGroup(world, findings, app) {
  const [finding] = findings;
  const failed = finding.why.filter((why) => !why.held);
  const because = finding.decided
    ? [finding.reason, OUTCOMES[outcomeOf(finding)]?.[2], finding.note].filter(Boolean).join("; ")
    : `${failed.map((why) => why.condition).join(" and ") || "its condition"} did not hold${finding.error ? `: ${finding.error}` : ""}`;
  const links = growing(findings, (finding) => {
    const values = finding.why.map((why) => why.found).filter(Boolean).join(", ");
    return [button(`step ${world.entries[finding.at].step.n}`, () => app.choose(finding.at)), ` ${world.facts[finding.at].tool} `, h("span", { class: "dim" }, values)];
  }, 8);
  return h("li", { class: outcomeOf(finding) === "applied" ? "fired" : "" }, outcomeChip(finding), ` ${plural(findings.length, "call")}: ${because}`, links);
}

// The calls in reach as a line of cells; at many calls, a cell is for several.
function strip(world, at, findings, app) {
  const cells = Math.min(findings.length, 120);
  const per = findings.length / cells;
  const boxes = Array.from({ length: cells }, (_, place) => {
    const some = findings.slice(Math.floor(place * per), Math.max(Math.floor((place + 1) * per), Math.floor(place * per) + 1));
    const fired = some.find((finding) => outcomeOf(finding) === "applied");
    const decided = fired ?? some.find((finding) => finding.decided);
    const chosen = fired ?? decided ?? some[0];
    const here = some.some((finding) => finding.at === at);
    return h("span", { class: ["cell", fired ? "fired" : decided ? "decided" : "", here ? "here" : ""].join(" "), title: `step ${world.entries[chosen.at].step.n}: ${spaced(outcomeOf(chosen))}`, onclick: () => app.choose(chosen.at) });
  });
  return h("div", { class: "strip", "aria-hidden": "true" }, boxes);
}
