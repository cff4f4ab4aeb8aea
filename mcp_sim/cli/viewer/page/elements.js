// Elements of the page. All text becomes text nodes, so that no value of a trace is ever read as HTML.

function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-")) element.setAttribute(name, String(value));
    else if (value !== false) element.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  const shown = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
  element.append(...shown.map((child) => (child instanceof Node ? child : visible(String(child)))));
  return element;
}

// Text in which signs that are invisible, or that reorder others, are escaped.
const visible = (text) => text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);

const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const byId = (id) => document.getElementById(id);

const chip = (kind, text, title) => h("span", { class: `chip ${kind}`, title }, text);

const button = (text, onclick, attributes) => h("button", { type: "button", class: "link", onclick, ...attributes }, text);

function announce(text) {
  byId("status").textContent = text;
}

const plural = (count, noun, many = `${noun}s`) => `${count.toLocaleString("en")} ${count === 1 ? noun : many}`;

const spaced = (word) => word.replaceAll("_", " ");

const cut = (text, most) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

const clock = (at) => (at ?? "").split("T")[1]?.replace(/Z$/, "").slice(0, 12) ?? "";

function section(title, ...children) {
  return h("section", { class: "part" }, h("h3", {}, title), ...children);
}

function copyable(command) {
  const shown = command.split("\n");
  const text = shown.length <= 7 ? command : [...shown.slice(0, 4), `… ${shown.length - 5} more lines …`, shown.at(-1)].join("\n");
  const copy = h("button", { type: "button", class: "copy", onclick: () => copied(copy, command) }, "Copy");
  return h("div", { class: "command" }, h("pre", { tabindex: "0" }, text), copy);
}

async function copied(control, text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text);
  }
  control.textContent = "Copied";
  announce("Copied");
  setTimeout(() => (control.textContent = "Copy"), 1500);
}

// Pages of files may not use the clipboard in every browser.
function copyBySelection(text) {
  const area = h("textarea", { class: "hidden", readonly: true });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

// A list that shows more of its items on request.
function growing(items, render, most = 100) {
  const holder = h("div", {});
  const grow = () => {
    const from = holder.querySelectorAll(":scope > .item").length;
    holder.querySelector(":scope > .more")?.remove();
    for (const item of items.slice(from, from + most)) holder.append(h("div", { class: "item" }, render(item)));
    const left = items.length - from - most;
    if (left > 0) holder.append(h("button", { type: "button", class: "more", onclick: grow }, `Show ${Math.min(left, most)} of ${plural(left, "more", "more")}`));
  };
  grow();
  return holder;
}

// Text for a shell, as one word.
function quoted(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (/[\x00-\x1f\x7f-\x9f]/.test(text)) {
    const escape = (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return `$'${text.replace(/[\\']/g, "\\$&").replace(/[\x00-\x1f\x7f-\x9f]/g, escape)}'`;
  }
  return `'${text.replaceAll("'", "'\\''")}'`;
}
