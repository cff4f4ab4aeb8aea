// The records after a step, by entity, with those that were written since the world began.

const MOST_COLUMNS = 6;
const MOST_ROWS = 40;

function stateView(world, at, app) {
  const entities = world.records.entities(at);
  const step = world.entries[at]?.step;
  const options = app.stateOptions;
  const find = h("input", { type: "search", placeholder: "Find records", "aria-label": "Find records", value: options.find });
  const only = h("input", { type: "checkbox", id: "only-changed", checked: options.onlyWritten });
  const body = h("div", { class: "view" });
  const render = () => body.replaceChildren(...entities.map((kind) => entityPart(world, at, kind, options)).filter(Boolean));
  find.addEventListener("input", () => {
    options.find = find.value;
    render();
  });
  only.addEventListener("change", () => {
    options.onlyWritten = only.checked;
    render();
  });
  render();
  if (!body.children.length) body.append(h("p", { class: "dim" }, entities.length ? "No record was written up to here." : "There are no records."));
  return h(
    "div",
    { class: "view" },
    h("div", { class: "head" }, h("h2", {}, `State after ${step ? `step ${step.n}` : "the crash"}`), h("p", { class: "dim" }, clock(step?.at), " · move the slider to see it at another step")),
    h("div", { class: "tools" }, find, h("label", { for: "only-changed" }, only, " Only what was written")),
    world.scenario.note ? h("p", { class: "note" }, world.scenario.note) : null,
    body,
  );
}

function entityPart(world, at, kind, options) {
  const words = options.find.toLowerCase();
  const holds = (row) => !words || `${row.key} ${JSON.stringify(row.record ?? row.was)}`.toLowerCase().includes(words);
  const written = kind.written.filter(holds).sort((a, b) => Number(b.here) - Number(a.here));
  const touched = new Set(kind.written.map((row) => row.key));
  const rest = options.onlyWritten ? [] : [...(kind.base?.records ?? [])].filter(([key]) => !touched.has(key)).map(([key, record]) => ({ key, record, was: record, mark: "" }));
  const rows = [...written, ...rest.filter(holds)];
  if (!rows.length && (options.onlyWritten || words)) return null;
  const columns = columnsOf(rows);
  const counts = countBy(kind.written, (row) => row.mark);
  const marks = Object.entries(counts).map(([mark, count]) => chip(CHANGE_KINDS[mark] ?? "plain", `${count} ${mark}`));
  const total = kind.isKnown ? plural(kind.count, "record") : `${plural(kind.count, "record")} seen`;
  const missing = kind.base ? kind.base.count - kind.base.records.size : 0;
  const head = h("tr", {}, ["", ...columns].map((name) => h("th", { scope: "col" }, name || "key")));
  const table = h("table", { class: "records" }, h("thead", {}, head));
  const grow = (from) => {
    const body = h("tbody", {}, rows.slice(from, from + MOST_ROWS).map((row) => recordRows(world, at, kind, row, columns, options)));
    table.append(body);
    const left = rows.length - from - MOST_ROWS;
    if (left <= 0) return;
    const more = h("button", { type: "button", class: "more", onclick: () => (more.remove(), grow(from + MOST_ROWS)) }, `Show ${Math.min(left, MOST_ROWS)} of ${left.toLocaleString("en")} more`);
    body.append(h("tr", {}, h("td", { colspan: columns.length + 1 }, more)));
  };
  grow(0);
  return h(
    "section",
    { class: "part" },
    h("h3", {}, kind.entity, " ", h("span", { class: "dim" }, total), " ", marks),
    h("div", { class: "wide", tabindex: "0", role: "group", "aria-label": `Records of ${kind.entity}` }, table),
    missing > 0 && !options.onlyWritten ? h("p", { class: "dim" }, `${plural(missing, "more record")} that no step wrote ${missing === 1 ? "is" : "are"} not in this file.`) : null,
  );
}

function countBy(items, pick) {
  const counts = {};
  for (const item of items) counts[pick(item)] = (counts[pick(item)] ?? 0) + 1;
  return counts;
}

// The fields that are shown as columns: the first ones of the records that have short values.
function columnsOf(rows) {
  const names = new Map();
  for (const row of rows.slice(0, 20)) {
    for (const [name, value] of Object.entries(isObject(row.record ?? row.was) ? (row.record ?? row.was) : {})) {
      const isShort = !(typeof value === "object" && value !== null && !(value instanceof Exact)) && String(value).length <= 80 && value !== row.key;
      names.set(name, (names.get(name) ?? 0) + (isShort ? 1 : 0));
    }
  }
  return [...names].filter(([, count]) => count > 0).slice(0, MOST_COLUMNS).map(([name]) => name);
}

function recordRows(world, at, kind, row, columns, options) {
  const shown = row.record ?? row.was;
  const isOpen = options.record?.[0] === kind.entity && options.record?.[1] === row.key;
  const details = h("tr", { class: "details", hidden: !isOpen }, h("td", { colspan: columns.length + 1 }));
  const toggle = h("button", { type: "button", class: "link", "aria-expanded": isOpen }, String(row.key));
  const open = () => details.firstChild.replaceChildren(recordDetails(world, at, kind, row));
  if (isOpen) open();
  toggle.addEventListener("click", () => {
    details.hidden = !details.hidden;
    toggle.setAttribute("aria-expanded", String(!details.hidden));
    options.record = details.hidden ? null : [kind.entity, row.key];
    if (!details.hidden) open();
  });
  const cells = columns.map((name) => {
    const [was, is] = [isObject(row.was) ? row.was[name] : undefined, isObject(shown) ? shown[name] : undefined];
    const differs = row.mark === "changed" && !same(was, is);
    return h("td", { class: differs ? "changed" : "", title: differs ? `was ${JSON.stringify(was)}` : null }, cell(is));
  });
  const mark = row.mark ? chip(CHANGE_KINDS[row.mark] ?? "plain", row.mark) : null;
  return [h("tr", { class: ["record", row.mark, row.here ? "here" : ""].join(" ") }, h("th", { scope: "row" }, toggle, " ", mark), cells), details];
}

function recordDetails(world, at, kind, row) {
  const history = world.records.history(kind.entity, row.key, at);
  const links = history.map((write) => {
    const step = world.entries[write.at].step;
    const word = write.record ? (write.absorbed ? "mentioned" : "written") : "deleted";
    return h("li", { class: write.at > at ? "later" : "" }, button(`step ${step.n}`, () => world.viewer.app.choose(write.at)), ` ${word}${step.tool ? ` by ${step.tool}` : ` by ${step.actor}`}`);
  });
  const change = row.mark === "changed" ? [h("h4", {}, "Since the world began"), fieldTable(row.was, row.record)] : [];
  return h("div", { class: "opened" }, change, h("h4", {}, "Record"), valueBlock(row.record ?? row.was, "Record"), links.length ? [h("h4", {}, "Written at"), h("ul", { class: "history" }, links)] : null);
}
