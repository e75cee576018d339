// A neighbourhood in columns that scroll: what something depends on to the left, who depends on it to the right.

import { Refusal, ask } from "./api.js";
import { AroundScene } from "./around.js";
import { fill, h } from "./dom.js";
import { exportMenu } from "./exports.js";
import { KINDS } from "./map.js";
import { breakable, certainty, choice, details, failure, go, link, menu, refOf, site, spelled, symbolField, table, to } from "./parts.js";
import { colours } from "./stage.js";
import { svgText } from "./svg.js";
import { words } from "./words.js";

const LIMIT = 100;
const CONTAINERS = new Set(["class", "interface", "enum", "type"]); // they stand for their members
const MORE = 400;
let switched = null; // the kind that was switched last: its switch has the focus again when the view has come anew

/**
 * Show the neighbourhood of `around` in a place.
 * @param {object} parameters  `around`, `with` (a second symbol to compare), `depth`, `kinds`, `tests` ("1": not folded).
 * @param {object} options  `small`: without switches, beside the rest of a page; `below`: where the tables go.
 */
export async function aroundView(place, parameters, signal, { small = false, below = null, view = "graph" } = {}) {
  const { around, depth = "1", kinds = "", tests = "", most = "" } = parameters;
  const other = parameters.with ?? "";
  fill(place, h("p.loading", null, words.loading));
  const asked = { depth: Number(depth), ...(kinds ? { kinds: kinds.split(",") } : {}), limit: most ? MORE : LIMIT, foldTests: !tests };
  let answer;
  try {
    answer = (await ask("Neighbourhood", { refs: other ? [around, other] : [around], ...asked }, signal)).neighbourhood;
  } catch (error) {
    if (error.name !== "AbortError") fill(place, failure(error, (ref) => to("graph", { around: ref, with: other })));
    return;
  }
  const graph = new Around(answer.columns);
  const again = (changed) => go(to(view, { ...parameters, ...changed }));
  const w = words.around;
  const shown = new Columns(graph, { again, expand: (node) => expand(node) });
  const expand = async (node) => {
    const { neighbourhood } = await ask("Neighbourhood", { refs: [node.id], ...asked, depth: 1 }, signal);
    const added = graph.merge(neighbourhood.columns, node);
    shown.render();
    shown.warn(signal);
    said.textContent = w.added(added, node.name);
  };
  const said = h("p.said", { role: "status" }, Number(depth) > 1 ? w.count_steps(graph.count(-1), graph.split(1), Number(depth), answer.leftOut) : w.count(graph.count(-1), graph.split(1), answer.leftOut), graph.seeds.some((one) => CONTAINERS.has(one.kind.toLowerCase())) ? ` ${w.members}` : "", other ? ` ${w.shared(graph.shared())}` : "");
  const controls = small ? h("div.controls.slim", null, link(to("graph", { around }), w.larger, { class: "button" }), exports_(graph, around)) : switches(graph, parameters, again, signal, answer.leftOut);
  fill(place, controls, shown.element, shown.why, said);
  if (answer.leftOut && !most) said.append(" ", h("button.plain", { type: "button", onclick: () => again({ most: "1" }) }, w.more));
  shown.start(signal);
  if (below) fill(below, tables(graph));
}

function switches(graph, parameters, again, signal) {
  const { around, depth = "1", kinds = "", tests = "" } = parameters;
  const w = words.around;
  const chosen = new Set(kinds ? kinds.split(",") : KINDS);
  const depths = choice([1, 2, 3, 4].map((n) => [String(n), String(n)]), depth, { id: "depth", onchange: (event) => again({ depth: event.target.value }) });
  const toggles = KINDS.map((kind) =>
    h("label.toggle", null,
      h("input", { type: "checkbox", checked: chosen.has(kind), onchange: (event) => ((switched = kind), chosen[event.target.checked ? "add" : "delete"](kind), again({ kinds: KINDS.filter((one) => chosen.has(one)).join(",") })) }),
      h(`i.line.${kind.toLowerCase()}`, { "aria-hidden": "true" }), words.map.kind[kind]));
  const kindsMenu = menu(words.map.kinds, signal, toggles);
  kindsMenu.open = switched !== null;
  const compare = symbolField("compare", { label: w.compare, placeholder: w.compare, value: parameters.with ?? "", chosen: (ref) => again({ with: ref }) });
  const made = h("div.controls", null,
    h("label.field.row", null, h("span", null, w.depth), depths),
    kindsMenu,
    h("label.toggle", null, h("input", { type: "checkbox", checked: Boolean(tests), onchange: (event) => again({ tests: event.target.checked ? "1" : "" }) }), w.each_test),
    compare,
    parameters.with ? h("button", { type: "button", onclick: () => again({ with: "" }) }, w.alone) : null,
    exports_(graph, around));
  queueMicrotask(() => {
    toggles[KINDS.indexOf(switched)]?.querySelector("input").focus();
    switched = null;
  });
  return made;
}

function exports_(graph, around) {
  return exportMenu(`neighbourhood-${around.split(/[/:]/).at(-1)}`, { svg: () => svgText(graph.drawing()), mermaid: () => graph.mermaid() });
}

function tables(graph) {
  const w = words.around;
  const c = words.map.columns;
  const bySide = (side) => (side < 0 ? `${w.left}, ${words.depth(-side)}` : side > 0 ? `${w.right}, ${words.depth(side)}` : w.middle);
  const named = (node) => (node.ref ? link(to("code", { at: node.ref }), node.ref) : w.tests(node.count));
  return details(words.map.as_table, null, false,
    table(w.title, [c.name, c.kind, c.where], graph.nodes.map((node) => [named(node), node.kind, bySide(node.side)])),
    table(words.map.kinds, [c.name, c.relation, c.name, c.confidence, w.because], graph.edges.map((edge) => [named(edge.src), words.map.kind[edge.kind] ?? edge.kind, named(edge.dst), certainty(edge.confidence), reason(graph, edge)])));
}

/** Why an edge is there: its rule in a sentence and the lines that say it. */
function reason(graph, edge) {
  return [graph.rules.get(edge.rule) ?? "", edge.src.path ? edge.lines.map((line) => [" ", site(edge.src.path, line)]) : null];
}

/** The answer of `neighbourhood` as nodes and edges that can grow. */
class Around {
  constructor(columns) {
    this.nodes = [];
    this.edges = [];
    this.byKey = new Map();
    this.rules = new Map();
    this.take(columns, (side) => side);
    this.seeds = this.nodes.filter((one) => one.side === 0);
  }

  take(columns, sideOf) {
    columns.rules.rule.forEach((rule, i) => this.rules.set(rule, columns.rules.sentence[i]));
    const { nodes } = columns;
    const order = nodes.id.map((_, i) => i).sort((a, b) => nodes.side[a] - nodes.side[b] || nodes.y[a] - nodes.y[b] || nodes.x[a] - nodes.x[b]);
    const placed = [];
    let added = 0;
    for (const i of order) {
      const side = sideOf(nodes.side[i]);
      const key = nodes.id[i] || `tests ${side}`;
      let node = this.byKey.get(key);
      if (!node && side !== null) {
        node = { key, side, id: nodes.id[i], ref: nodes.ref[i], name: nodes.name[i], kind: nodes.kind[i], path: nodes.path[i], line: nodes.line[i], test: nodes.test[i], count: nodes.count[i] };
        this.byKey.set(key, node);
        this.nodes.push(node);
        added += 1;
      }
      placed[i] = node ?? null;
    }
    const known = new Set(this.edges.map((one) => `${one.src.key} ${one.dst.key} ${one.kind}`));
    const { edges } = columns;
    edges.src.forEach((a, e) => {
      const [src, dst] = [placed[a], placed[edges.dst[e]]];
      if (!src || !dst || known.has(`${src.key} ${dst.key} ${edges.kind[e]}`)) return;
      this.edges.push({ src, dst, kind: edges.kind[e], confidence: edges.confidence[e], rule: edges.rule[e], lines: edges.lines[e] });
    });
    return added;
  }

  /** Add what stands around a node, one step further out; how many came. */
  merge(columns, node) {
    const way = Math.sign(node.side) || 1;
    node.grown = true;
    return this.take(columns, (side) => (side === 0 ? node.side : Math.sign(side) === way ? node.side + way : null));
  }

  count(way) {
    return this.nodes.filter((one) => Math.sign(one.side) === way).reduce((sum, one) => sum + one.count, 0);
  }

  /** Symbols and tests on one side. */
  split(way) {
    const some = this.nodes.filter((one) => Math.sign(one.side) === way);
    const tests = some.reduce((sum, one) => sum + (one.test ? one.count : 0), 0);
    return [some.reduce((sum, one) => sum + one.count, 0) - tests, tests];
  }

  /** Nodes with an edge to or from each of several seeds. */
  shared() {
    const refs = [...new Set(this.seeds.map((one) => one.ref))]; // overloads are one
    const near = refs.map((ref) => new Set(this.edges.filter((one) => one.src.ref === ref || one.dst.ref === ref).map((one) => (one.src.ref === ref ? one.dst : one.src))));
    const both = this.nodes.filter((one) => one.side && near.length > 1 && near.every((some) => some.has(one)));
    for (const one of both) one.both = true;
    return both.length;
  }

  columns() {
    const sides = [...new Set(this.nodes.map((one) => one.side))].sort((a, b) => a - b);
    return sides.map((side) => ({ side, nodes: this.nodes.filter((one) => one.side === side).sort((a, b) => rank(a) - rank(b)) }));
  }

  /** All of it as a picture that a file can hold. */
  drawing() {
    const place = new Map();
    this.columns().forEach(({ nodes }, column) => nodes.forEach((node, i) => place.set(node, [column * 260, (i - (nodes.length - 1) / 2) * 30])));
    const list = (of) => this.nodes.map(of);
    const scene = new AroundScene({
      nodes: { ref: list((one) => (one.ref ? one.ref : words.around.tests(one.count))), path: list((one) => one.path), test: list((one) => one.test), side: list((one) => one.side), x: list((one) => place.get(one)[0]), y: list((one) => place.get(one)[1]) },
      edges: { src: this.edges.map((one) => this.nodes.indexOf(one.src)), dst: this.edges.map((one) => this.nodes.indexOf(one.dst)), kind: this.edges.map((one) => one.kind), confidence: this.edges.map((one) => one.confidence) },
    });
    const [x0, y0, x1, y1] = scene.bounds();
    return { scene, width: x1 - x0, height: y1 - y0, camera: { x: (x0 + x1) / 2, y: (y0 + y1) / 2, k: 1 } };
  }

  mermaid() {
    const quoted = (text) => `"${text.replaceAll('"', "#quot;").replaceAll("\n", " ")}"`;
    const id = (node) => `n${this.nodes.indexOf(node)}`;
    return ["flowchart RL",
      ...this.nodes.map((one) => `  ${id(one)}[${quoted(one.ref ? label(one) : words.around.tests(one.count))}]`),
      ...this.edges.map((one) => `  ${id(one.src)} ${one.confidence >= 0.8 ? "-->" : "-.->"}|${words.map.kind[one.kind] ?? one.kind}| ${id(one.dst)}`)].join("\n");
  }
}

/** A long column hides its end: the number of tests comes first, what is outside the project last. */
function rank(node) {
  return !node.ref ? 0 : node.path ? 1 : 2;
}

function label(node) {
  if (!node.path) return node.ref;
  const qualname = node.ref.slice(node.path.length + 1);
  const file = node.path.split("/").slice(-2).join("/");
  return qualname === "<module>" ? words.top_level(file) : qualname ? spelled(qualname.split(".").slice(-2).join(".")) : file;
}

/** The columns, the wires between what is in sight of them, and the line below that says why. */
class Columns {
  constructor(graph, told) {
    this.graph = graph;
    this.told = told;
    this.canvas = h("canvas.wires", { "aria-hidden": "true" });
    this.inner = h("div.columns-inner");
    this.element = h("div.columns", { tabindex: 0, role: "region", "aria-label": words.around.label(graph.nodes.length) }, this.inner);
    this.why = h("p.why", { role: "status" }, words.around.point);
    this.lit = null;
    this.traps = new Map(); // ref → how many memories warn about it
    this.asked = new Set(); // files whose traps are known
    this.render();
    const light = (event) => this.light(this.nodeOf(event.target));
    this.inner.addEventListener("pointerover", light);
    this.inner.addEventListener("focusin", light);
    this.inner.addEventListener("keydown", (event) => this.key(event));
    this.inner.addEventListener("scroll", () => this.wire(), true);
  }

  start(signal) {
    const observer = new ResizeObserver(() => this.wire());
    observer.observe(this.element);
    const retheme = () => this.wire();
    addEventListener("retheme", retheme);
    signal.addEventListener("abort", () => (observer.disconnect(), removeEventListener("retheme", retheme)));
    const middle = this.inner.querySelector(".column.focus");
    this.element.scrollLeft = middle.offsetLeft - (this.element.clientWidth - middle.offsetWidth) / 2;
    this.wire();
    this.warn(signal);
  }

  /** What memories warn about, file by file of what is shown. */
  async warn(signal) {
    const files = [...new Set(this.graph.nodes.filter((one) => one.path && !one.test).map((one) => one.path))].filter((path) => !this.asked.has(path));
    const next = async () => {
      for (let path = files.pop(); path && !signal.aborted; path = files.pop()) {
        this.asked.add(path);
        const { outline } = await ask("Margin", { path }, signal);
        for (const one of outline.entries) if (one.traps) this.traps.set(refOf(one.symbol), one.traps);
      }
    };
    try {
      await Promise.all([next(), next(), next()]);
      if (this.traps.size) this.render();
    } catch (error) {
      if (error.name !== "AbortError" && !(error instanceof Refusal)) throw error; // without marks it is still a neighbourhood
    }
  }

  nodeOf(target) {
    const key = target.closest?.("[data-key]")?.dataset.key;
    return key ? this.graph.byKey.get(key) : null;
  }

  render() {
    const w = words.around;
    const scrolled = new Map([...this.inner.querySelectorAll(".column")].map((one) => [one.dataset.side, one.querySelector("ol").scrollTop]));
    fill(this.inner, this.canvas, this.graph.columns().map(({ side, nodes }) => {
      const tests = nodes.reduce((sum, one) => sum + (one.test ? one.count : 0), 0);
      const symbols = nodes.reduce((sum, one) => sum + one.count, 0) - tests;
      const heading = side < 0 ? w.head_left(-side) : side > 0 ? w.head_right(side) : w.head_middle;
      const list = h("ol", null, nodes.map((one) => h("li", null, this.item(one))));
      return h(`section.column.${side < 0 ? "before" : side > 0 ? "after" : "focus"}`, { "data-side": side, "aria-label": heading }, h("h3", null, heading, side ? h("span.count", null, w.head_count(symbols, tests)) : null), list);
    }));
    for (const one of this.inner.querySelectorAll(".column")) one.querySelector("ol").scrollTop = scrolled.get(one.dataset.side) ?? 0;
    this.wire();
  }

  item(node) {
    const w = words.around;
    if (!node.ref) return h("div.node.test.folded", { "data-key": node.key }, h("button.plain", { type: "button", title: w.unfold, onclick: () => this.told.again({ tests: "1" }) }, w.tests(node.count)));
    const tests = node.test ? ".test" : "";
    const grow = async (event) => {
      const button = event.currentTarget;
      button.disabled = true;
      await this.told.expand(node);
      this.inner.querySelector(`[data-key="${CSS.escape(node.key)}"] a`)?.focus();
    };
    return h(
      `div.node${tests}${node.both ? ".both" : ""}${node.path ? "" : ".outside"}`,
      { "data-key": node.key },
      h("span.node-text", null,
        link(to("code", { at: node.ref }), breakable(label(node)), { title: `${node.kind.toLowerCase()} ${node.ref}` }),
        this.traps.has(node.ref) ? h("span.mark.traps", { title: words.source.traps(this.traps.get(node.ref)) }, "!") : null,
        node.path ? h("span.where", null, breakable(`${node.path.split("/").at(-1)}${node.line ? `:${node.line}` : ""}`)) : h("span.where", null, words.impact.external)),
      node.side && node.path && !node.grown ? h("button.grow", { type: "button", "aria-label": node.side < 0 ? w.grow_left(node.name) : w.grow_right(node.name), title: node.side < 0 ? w.grow_left(node.name) : w.grow_right(node.name), onclick: grow }, "+") : null,
    );
  }

  /** The edges of a node stand out, and the line below says why they are there. */
  light(node) {
    if (!node || node === this.lit) return;
    this.lit = node;
    const w = words.around;
    const mine = this.graph.edges.filter((one) => one.src === node || one.dst === node);
    const nearest = mine.filter((one) => Math.abs((one.src === node ? one.dst : one.src).side) < Math.abs(node.side) || node.side === 0);
    const list = nearest.length ? nearest : mine;
    const name = (one) => (one.ref ? label(one) : w.tests(one.count));
    fill(this.why, list.slice(0, 3).map((edge) => h("span.edge-why", null, h("strong", null, name(edge.src)), ` ${edge.src.ref ? words.map.verb[edge.kind] ?? edge.kind : w.use} `, h("strong", null, name(edge.dst)), " ", certainty(edge.confidence), reason(this.graph, edge))), list.length > 3 ? h("span.hint", null, words.andMore(list.length - 3)) : null);
    const near = new Set(mine.flatMap((one) => [one.src.key, one.dst.key]));
    for (const one of this.inner.querySelectorAll(".node")) one.classList.toggle("near", near.has(one.dataset.key));
    this.wire();
  }

  key(event) {
    const way = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowLeft: [-1, 0] }[event.key];
    const here = event.target.closest(".node");
    if (!way || !here || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const columns = [...this.inner.querySelectorAll(".column")];
    const column = here.closest(".column");
    const rows = (one) => [...one.querySelectorAll(".node")];
    const at = rows(column).indexOf(here);
    const next = way[1] ? rows(column)[at + way[1]] : columns[columns.indexOf(column) + way[0]] && rows(columns[columns.indexOf(column) + way[0]]).sort((a, b) => Math.abs(middle(a) - middle(here)) - Math.abs(middle(b) - middle(here)))[0];
    next?.querySelector("a, button").focus();
  }

  wire() {
    cancelAnimationFrame(this.request);
    this.request = requestAnimationFrame(() => this.draw());
  }

  draw() {
    const { canvas, inner } = this;
    const [width, height] = [inner.scrollWidth, inner.clientHeight];
    const ratio = Math.min(2, devicePixelRatio || 1);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const palette = colours();
    const origin = inner.getBoundingClientRect();
    const boxes = new Map();
    for (const column of inner.querySelectorAll(".column")) {
      const window = column.querySelector("ol").getBoundingClientRect();
      for (const one of column.querySelectorAll(".node")) {
        const box = one.getBoundingClientRect();
        const y = (box.top + box.bottom) / 2;
        if (y >= window.top && y <= window.bottom) boxes.set(one.dataset.key, { left: box.left - origin.left, right: box.right - origin.left, y: y - origin.top });
      }
    }
    for (const edge of this.graph.edges) {
      const [a, b] = [boxes.get(edge.src.key), boxes.get(edge.dst.key)];
      if (!a || !b) continue;
      const mine = edge.src === this.lit || edge.dst === this.lit;
      const same = edge.src.side === edge.dst.side;
      const [x1, x2] = same ? [a.right, b.right] : edge.src.side > edge.dst.side ? [a.left, b.right] : [a.right, b.left];
      const bend = same ? 26 : Math.max(20, Math.abs(x2 - x1) * 0.45) * (edge.src.side > edge.dst.side ? -1 : 1);
      context.beginPath();
      context.moveTo(x1, a.y);
      context.bezierCurveTo(x1 + bend, a.y, x2 + (same ? bend : -bend), b.y, x2, b.y);
      context.strokeStyle = palette.kinds[edge.kind] ?? palette.line;
      context.setLineDash(edge.confidence >= 0.8 ? [] : [5, 4]);
      context.globalAlpha = mine ? 0.95 : edge.src.side && edge.dst.side ? 0.18 : 0.5;
      context.lineWidth = mine ? 2 : 1.2;
      context.stroke();
    }
  }
}

function middle(element) {
  const box = element.getBoundingClientRect();
  return (box.top + box.bottom) / 2;
}
