// The three panes: files on the left, a view in the middle, source on the right. Widths and what is open are kept.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { note } from "./parts.js";
import { SourcePane } from "./source.js";
import { TreePane } from "./tree.js";
import { words } from "./words.js";

const KEY = "graphmem-pane-widths";
const LEAST = { tree: 160, code: 280 };
const CENTRE = 360; // pixels that the middle keeps
const COMFORT = 560; // least width of the middle, in pixels, until a person sets a width
const STEP = 24; // pixels an arrow key moves an edge
const narrow = matchMedia("(max-width: 1000px)");
const work = document.getElementById("work");
let panes = null; // {tree, code}: {element, edge, button}
let source = null;
let tree = null;
let turn = null; // of the place that is being looked up

/** What is kept from visit to visit. */
const kept = { tree: 0, code: 0, // a width of 0 follows the window and the file
  treeOpen: true, codeOpen: true, who: false };

function remember(changed) {
  Object.assign(kept, changed);
  try {
    localStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing still has panes.
  }
}

function recall() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    for (const key of Object.keys(kept)) if (typeof found[key] === typeof kept[key]) kept[key] = found[key];
  } catch {
    // Something else was stored; the widths are as at first.
  }
}

/** Put the panes around the view; gives the buttons that open and close them. */
export function setUp() {
  recall();
  source = new SourcePane({
    who: kept.who,
    whoChanged: (who) => remember({ who }),
    opened: (path, entries) => tree.opened(path, entries),
    moved: (line) => tree.moved(line),
    sized: () => arrange(),
    named: (path, line) => note(addressWith(path, line)),
    folder: (path) => (open("tree", true), tree.reveal(path, true)),
    close: () => open("code", false),
  });
  tree = new TreePane();
  panes = { tree: pane("tree", tree.element, "left"), code: pane("code", source.element, "right") };
  work.prepend(panes.tree.element, panes.tree.edge);
  work.append(panes.code.edge, panes.code.element);
  panes.code.empty = true;
  new ResizeObserver(() => document.documentElement.style.setProperty("--top", `${document.getElementById("top").offsetHeight}px`)).observe(document.getElementById("top"));
  narrow.addEventListener("change", arrange);
  addEventListener("resize", arrange);
  arrange();
  return { files: panes.tree.button, code: panes.code.button };
}

function pane(name, inside, side) {
  const w = words.panes[name];
  const element = h(name === "tree" ? `aside.pane.${name}` : `section.pane.${name}`, { id: `pane-${name}`, "aria-label": w.label }, inside);
  const edge = h("div.edge", { role: "separator", tabindex: 0, "aria-orientation": "vertical", "aria-controls": `pane-${name}`, "aria-label": w.edge });
  const button = h("button.toggle-pane", { type: "button", "aria-controls": `pane-${name}`, title: w.title, onclick: () => open(name, !isOpen(name)) }, w.name);
  const towards = side === "left" ? 1 : -1;
  edge.addEventListener("pointerdown", (event) => {
    const [from, at] = [width(name), event.clientX];
    edge.setPointerCapture(event.pointerId);
    const move = (moved) => widen(name, from + towards * (moved.clientX - at));
    const end = () => (edge.removeEventListener("pointermove", move), remember({}));
    edge.addEventListener("pointermove", move);
    edge.addEventListener("pointerup", end, { once: true });
    edge.addEventListener("pointercancel", end, { once: true });
    event.preventDefault();
    edge.focus();
  });
  edge.addEventListener("keydown", (event) => {
    const by = { ArrowRight: STEP, ArrowLeft: -STEP }[event.key];
    if (!by) return;
    event.preventDefault();
    widen(name, width(name) + towards * by);
    remember({});
  });
  edge.title = words.panes.edge;
  edge.addEventListener("dblclick", () => (remember({ [name]: 0 }), arrange()));
  return { element, edge, button };
}

/** Most pixels that a pane can have when the middle keeps some. */
function room(name, middle) {
  const other = name === "tree" ? "code" : "tree";
  return Math.max(LEAST[name], innerWidth - middle - (!isOpen(other) ? 0 : name === "code" ? width(other) : kept[other] || LEAST[other]));
}

/** Pixels of a pane: as chosen by hand, else the source as wide as its lines need. */
function width(name) {
  if (kept[name]) return kept[name];
  return name === "tree" ? (innerWidth < 1500 ? 200 : 236) : Math.min(source.wanted(), room(name, COMFORT));
}

function widen(name, wanted) {
  kept[name] = Math.round(Math.max(LEAST[name], Math.min(room(name, CENTRE), wanted)));
  arrange();
}

function isOpen(name) {
  if (name === "code" && (panes.code.empty || panes.code.away)) return false;
  return narrow.matches ? panes[name].shown === true : kept[`${name}Open`];
}

function open(name, wanted) {
  if (narrow.matches) panes[name].shown = wanted;
  else remember({ [`${name}Open`]: wanted });
  if (name === "code") panes.code.away = false;
  if (name === "code" && wanted && panes.code.empty) {
    panes.code.empty = false;
    source.nothing();
  }
  arrange();
}

function arrange() {
  for (const name of ["tree", "code"]) {
    const { element, edge, button } = panes[name];
    const shown = isOpen(name);
    element.hidden = !shown;
    edge.hidden = !shown || narrow.matches;
    button.setAttribute("aria-expanded", String(shown));
    work.style.setProperty(`--${name}-width`, `${width(name)}px`);
    edge.setAttribute("aria-valuenow", width(name));
    edge.setAttribute("aria-valuemin", LEAST[name]);
    edge.setAttribute("aria-valuemax", Math.max(LEAST[name], innerWidth - CENTRE));
  }
  work.classList.toggle("has-tree", isOpen("tree"));
  work.classList.toggle("has-code", isOpen("code"));
}

/** Show a place of a file in the source pane. */
export async function showSource(path, line = 0, { end = 0, wanted = false } = {}) {
  panes.code.empty = false;
  panes.code.away = false;
  if (wanted && !isOpen("code")) open("code", true);
  else if (narrow.matches && panes.code.shown === undefined) open("code", true);
  else arrange();
  await source.show(path, line, end);
  if (source.outlined === path && tree.path !== path) tree.opened(path, source.entries); // it was there already
  if (wanted && narrow.matches) panes.code.element.scrollIntoView({ block: "start" });
}

/** What is shown is about no place in the code: it needs no source beside it, and no file is marked in the tree. */
export function showNoSource() {
  turn?.abort();
  panes.code.away = true;
  tree.closed();
  arrange();
}

/** The source of a symbol that a view has asked for already. */
export function showSymbol(symbol) {
  turn?.abort(); // the address means the same
  const parameters = new URL(location.href).searchParams;
  if (!symbol.path || parameters.has("code")) return;
  const line = Number(/:(\d+)$/.exec(refIn(Object.fromEntries(parameters)) ?? "")?.[1] ?? 0);
  if (line) return showSource(symbol.path, line);
  const whole = symbol.kind === "FILE" || symbol.qualname === "<module>";
  showSource(symbol.path, whole ? 0 : symbol.startLine, { end: whole ? 0 : symbol.endLine });
}

/** What an address is about. */
function refIn(given) {
  return [given.at, given.focus, given.around, given.of, given.from, given.to, given.files?.split(",")[0]].find(Boolean);
}

/** Show the source of what an address is about. */
export async function follow(parameters) {
  turn?.abort();
  turn = new AbortController();
  const { signal } = turn;
  if (parameters.code) {
    const [, path, line] = /^(.*?)(?::(\d+))?$/.exec(parameters.code);
    return showSource(path, Number(line ?? 0));
  }
  const ref = refIn(parameters);
  if (!ref) return showNoSource();
  panes.code.away = false;
  try {
    const { symbol } = await ask("Place", { ref }, signal);
    if (!signal.aborted) showSymbol(symbol);
  } catch {
    if (!signal.aborted) showNoSource(); // it is a module, or the view says what is wrong with the name
  }
}

/** The address of this page with a place in the source pane. */
export function addressWith(path, line) {
  const address = new URL(location.href);
  address.searchParams.set("code", line ? `${path}:${line}` : path);
  return address.pathname + address.search;
}

/** A click on a place in a file shows it beside the view. */
export function siteClicked(anchor) {
  const [, path, line] = /^(.*?)(?::(\d+))?$/.exec(anchor.dataset.site);
  note(addressWith(path, Number(line ?? 0)));
  showSource(path, Number(line ?? 0), { wanted: true });
}

/** Keys that lead to a pane: t to the files, s to the source, c to the view. */
export function focusPane(key) {
  if (key === "t") return open("tree", true), tree.focus();
  if (key === "s") return open("code", true), source.focus();
  document.getElementById("main").focus();
}
