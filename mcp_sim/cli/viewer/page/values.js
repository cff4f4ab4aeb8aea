// Values as lines of JSON, and two values side by side with their differences.

const CONTEXT = 3;
const FEWEST_FOLDED = 6;
const MOST_LINES = 300;
const MOST_SIGNS = 1500;
const MOST_ALIGNED = 300;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Exact);

function same(a, b) {
  if (a === b) return true;
  if (a instanceof Exact && b instanceof Exact) return a.source === b.source;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, at) => same(item, b[at]));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => Object.hasOwn(b, name) && same(a[name], b[name]));
}

function scalar(value) {
  if (value instanceof Exact) return ["number", value.source];
  if (typeof value === "string") return ["string", JSON.stringify(value)];
  return [value === null ? "null" : typeof value, String(value)];
}

// The lines of a value: depth, a name, the kind of the token, its text.
function linesOf(value, depth = 0, name = null, end = "") {
  const list = Array.isArray(value);
  if (!list && !isObject(value)) {
    const [kind, text] = scalar(value);
    return [{ depth, name, kind, text, end }];
  }
  const parts = list ? value.map((item) => [null, item]) : Object.entries(value);
  const [open, close] = list ? ["[", "]"] : ["{", "}"];
  if (!parts.length) return [{ depth, name, kind: "sign", text: open + close, end }];
  const inner = parts.flatMap(([key, item], at) => linesOf(item, depth + 1, key, at < parts.length - 1 ? "," : ""));
  return [{ depth, name, kind: "sign", text: open, end: "" }, ...inner, { depth, name: null, kind: "sign", text: close, end }];
}

// Two values as rows of lines side by side. A row whose sides differ is marked.
function compared(a, b) {
  const rows = [];
  let differences = 0;
  const both = (ours, theirs) => ours.forEach((line, at) => rows.push({ ours: line, theirs: theirs[at], mark: false }));
  const apart = (ours, theirs) => {
    differences += 1;
    for (let at = 0; at < Math.max(ours.length, theirs.length); at += 1) rows.push({ ours: ours[at], theirs: theirs[at], mark: true });
  };
  const walk = (left, right, depth, name, end) => {
    if (same(left, right)) return both(linesOf(left, depth, name, end), linesOf(right, depth, name, end));
    if (isObject(left) && isObject(right)) return parts(objectPairs(left, right), depth, name, end, "{", "}");
    if (Array.isArray(left) && Array.isArray(right)) return parts(listPairs(left, right), depth, name, end, "[", "]");
    return apart(linesOf(left, depth, name, end), linesOf(right, depth, name, end));
  };
  const parts = (pairs, depth, name, end, open, close) => {
    const sign = (text, key, after) => [{ depth, name: key, kind: "sign", text, end: after }];
    both(sign(open, name, ""), sign(open, name, ""));
    pairs.forEach(([key, left, right], at) => {
      const after = at < pairs.length - 1 ? "," : "";
      if (left && right) walk(left.value, right.value, depth + 1, key, after);
      else if (left) apart(linesOf(left.value, depth + 1, key, after), []);
      else apart([], linesOf(right.value, depth + 1, key, after));
    });
    both(sign(close, null, end), sign(close, null, end));
  };
  walk(a, b, 0, null, "");
  return { rows, differences };
}

function objectPairs(left, right) {
  const boxed = (object, name) => (Object.hasOwn(object, name) ? { value: object[name] } : null);
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].map((name) => [name, boxed(left, name), boxed(right, name)]);
}

// The items of two lists, aligned where they are equal; lists of one length, and what lies between, in their order.
function listPairs(left, right) {
  const box = (value) => ({ value });
  if (left.length === right.length) return left.map((value, at) => [null, box(value), box(right[at])]);
  let start = 0;
  while (start < left.length && start < right.length && same(left[start], right[start])) start += 1;
  let after = 0;
  while (after < Math.min(left.length, right.length) - start && same(left.at(-1 - after), right.at(-1 - after))) after += 1;
  const middle = between(left.slice(start, left.length - after), right.slice(start, right.length - after));
  const equal = (from, to) => left.slice(from, to).map((value) => [null, box(value), box(value)]);
  return [...equal(0, start), ...middle, ...equal(left.length - after, left.length)];
}

function between(left, right) {
  const box = (value) => ({ value });
  if (left.length > MOST_ALIGNED || right.length > MOST_ALIGNED) {
    return [...left.map((value) => [null, box(value), null]), ...right.map((value) => [null, null, box(value)])];
  }
  const longest = left.map(() => new Array(right.length + 1).fill(0));
  longest.push(new Array(right.length + 1).fill(0));
  for (let i = left.length - 1; i >= 0; i -= 1) {
    for (let j = right.length - 1; j >= 0; j -= 1) {
      longest[i][j] = same(left[i], right[j]) ? longest[i + 1][j + 1] + 1 : Math.max(longest[i + 1][j], longest[i][j + 1]);
    }
  }
  const pairs = [];
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    if (i < left.length && j < right.length && same(left[i], right[j])) pairs.push([null, box(left[i++]), box(right[j++])]);
    else if (j >= right.length || (i < left.length && longest[i + 1][j] >= longest[i][j + 1])) pairs.push([null, box(left[i++]), null]);
    else pairs.push([null, null, box(right[j++])]);
  }
  return pairs;
}

// Rows of which long equal stretches are folded.
function folded(rows) {
  const kept = new Set();
  rows.forEach((row, at) => {
    if (row.mark) for (let near = at - CONTEXT; near <= at + CONTEXT; near += 1) kept.add(near);
  });
  const shown = [];
  let equal = [];
  const close = () => {
    shown.push(...(equal.length > FEWEST_FOLDED ? [{ hidden: equal.length }] : equal));
    equal = [];
  };
  rows.forEach((row, at) => {
    if (!kept.has(at)) return equal.push(row);
    close();
    shown.push(row);
  });
  close();
  return shown;
}

function lineElement(line, mark, whole) {
  if (!line) return h("div", { class: "line filler" }, "\u00a0");
  const text = whole || line.text.length <= MOST_SIGNS ? line.text : `${line.text.slice(0, MOST_SIGNS)}… ${plural(line.text.length - MOST_SIGNS, "more sign")}`;
  const parts = [h("span", { class: line.kind }, text), line.end];
  if (line.name !== null) parts.unshift(h("span", { class: "name" }, JSON.stringify(line.name)), ": ");
  const element = h("div", { class: mark ? "line marked" : "line" }, parts);
  element.style.paddingInlineStart = `${line.depth * 1.25 + 2}ch`;
  return element;
}

// A block of lines. Long ones are cut until all is asked for.
function block(lines, label, unfold, element) {
  const pre = element ?? h("div", { class: "code", tabindex: "0", role: "group", "aria-label": label });
  const isLong = lines.length > MOST_LINES || lines.some(({ line }) => line && line.text.length > MOST_SIGNS);
  const fold = (hidden) => h("button", { type: "button", class: "line fold", onclick: unfold }, `⋯ ${plural(hidden, "equal line")}`);
  const render = (whole) => {
    const shown = whole ? lines : lines.slice(0, MOST_LINES);
    const rows = shown.map(({ line, mark, hidden }) => (hidden ? fold(hidden) : lineElement(line, mark, whole)));
    const more = lines.length > MOST_LINES ? `Show all ${lines.length.toLocaleString("en")} lines` : "Show all of the text";
    const all = isLong && !whole ? [h("button", { type: "button", class: "more", onclick: () => render(true) }, more)] : [];
    pre.replaceChildren(...rows, ...all);
  };
  render(false);
  return pre;
}

const textLines = (text) => text.split("\n").map((line) => ({ depth: 0, name: null, kind: "text", text: line, end: "" }));

// A text that is JSON is shown as its value, other texts line by line.
function asLines(value) {
  if (typeof value !== "string") return linesOf(value);
  const inner = jsonIn(value);
  return inner === undefined ? textLines(value) : linesOf(inner);
}

function jsonIn(text) {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text, exact);
  } catch {
    return undefined;
  }
}

// A value as a block; on one line if it is an object or list of at most `narrow` signs.
function valueBlock(value, label, narrow = 0) {
  const text = narrow && typeof value === "object" ? JSON.stringify(value) : null;
  const lines = text && text.length <= narrow ? [{ depth: 0, name: null, kind: "text", text: spacedOut(value), end: "" }] : asLines(value);
  return block(lines.map((line) => ({ line, mark: false })), label);
}

// JSON on one line, with spaces between its parts.
function spacedOut(value) {
  if (Array.isArray(value)) return `[${value.map(spacedOut).join(", ")}]`;
  if (!isObject(value)) return scalar(value)[1];
  return `{${Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${spacedOut(item)}`).join(", ")}}`;
}

// Two values as blocks, marked where they differ.
function comparison(saw, truth, labels) {
  const [left, right] = [unwrapped(saw), unwrapped(truth)];
  const texts = typeof left === "string" && typeof right === "string";
  if (!texts && (typeof left !== "object" || typeof right !== "object" || Array.isArray(left) !== Array.isArray(right))) {
    return { blocks: [valueBlock(saw, labels[0]), valueBlock(truth, labels[1])], differences: 0 };
  }
  const { rows, differences } = texts ? comparedTexts(left, right) : compared(left, right);
  const side = (some, pick) => some.map((row) => (row.hidden ? row : { line: row[pick], mark: row.mark }));
  const sides = ["ours", "theirs"];
  const unfold = () => sides.forEach((pick, at) => block(side(rows, pick), labels[at], null, blocks[at]));
  const blocks = sides.map((pick, at) => block(side(folded(rows), pick), labels[at], unfold));
  return { blocks, differences };
}

const unwrapped = (value) => (typeof value === "string" ? (jsonIn(value) ?? value) : value);

function comparedTexts(left, right) {
  const pairs = listPairs(left.split("\n"), right.split("\n"));
  const line = (boxed) => boxed && textLines(boxed.value)[0];
  const rows = pairs.map(([, a, b]) => ({ ours: line(a), theirs: line(b), mark: !a || !b || a.value !== b.value }));
  return { rows, differences: rows.filter((row) => row.mark).length };
}

// A value in a table cell.
function cell(value) {
  if (value === undefined) return h("span", { class: "dim" }, "–");
  if (Array.isArray(value) || isObject(value)) return h("span", { class: "value" }, cut(JSON.stringify(value), 300));
  const [kind, text] = scalar(value);
  return h("span", { class: `value ${kind}` }, cut(typeof value === "string" ? value : text, 300));
}
