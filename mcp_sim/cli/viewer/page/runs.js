// The runs of a command: how many passed, what the faults cost, and each run with the reason of its outcome.

const hasOverview = (viewer) => Boolean(viewer.report) && viewer.report.runs.length > 1;

function runsView(world, at, app) {
  const { report } = world.viewer;
  const tables = report.tables.map(({ title, rows }) => section(title, reportTable(rows, title)));
  return h(
    "div",
    { class: "view overview" },
    h("div", { class: "head" }, h("h2", {}, world.scenario.name), h("p", { class: "dim" }, report.agent)),
    h("p", { class: `callout ${OUTCOME_KINDS[report.outcome] ?? "plain"}` }, report.conclusion),
    world.scenario.task ? section("Task", h("p", { class: "prose" }, world.scenario.task)) : null,
    h("div", { class: "tables" }, tables),
    section("Runs", world.viewer.note ? h("p", { class: "note" }, world.viewer.note) : null, runTable(world.viewer, report.runs, app)),
    report.sentences.length ? section("Statistics", report.sentences.map((sentence) => h("p", { class: "prose" }, sentence))) : null,
  );
}

function reportTable([head, ...rows], label) {
  const cells = (row, tag) => h("tr", {}, row.map((text, column) => h(column ? tag : "th", { scope: column ? null : "row" }, text)));
  return h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": label }, h("table", { class: "numbers" }, h("thead", {}, cells(head, "th")), h("tbody", {}, rows.map((row) => cells(row, "td")))));
}

// A row for each run, those that did not pass first. A run beyond the size of the page has no steps to open.
function runTable(viewer, runs, app) {
  const places = new Map(viewer.worlds.map((world, index) => [world.name, index]));
  const head = h("tr", {}, ["run", "outcome", "calls", "faults", "because"].map((name) => h("th", { scope: "col" }, name)));
  const row = (run) => {
    const place = places.get(run.name);
    const name = place === undefined ? run.name : h("button", { type: "button", class: "link", onclick: () => app.openRun(place) }, run.name);
    return h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, pill(run.outcome)), h("td", {}, run.calls), h("td", {}, run.faults.join(", ") || "–"), h("td", {}, run.reasons.map((reason) => h("p", {}, reason))));
  };
  return h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "Runs" }, h("table", { class: "runs" }, h("thead", {}, head), h("tbody", {}, runs.map(row))));
}
