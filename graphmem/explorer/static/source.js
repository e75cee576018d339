// A file with colours, numbers, marks in the margin, and every name a link to what it means.

import { ask } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { commitPage, failure, link, refOf, to } from "./parts.js";
import { words } from "./words.js";

const BLOCK = 120; // lines that are coloured at a time, when they come into view
const FIT = 0.98; // share of the lines that the width of the pane shows whole
const MARGIN = 85; // pixels of age, marks and scroll bar
const AUTHORS = 192; // pixels of the names beside the lines
const UNKNOWN_WIDTH = 470;
const AGES = [7, 30, 180, 730]; // days; the warmer the strip, the younger the line

export class SourcePane {
  /** @param {object} told  `opened(path, entries)`, `moved(line)`, `named(path, line)`, `folder(path)`, `close()`, `whoChanged(on)`. */
  constructor(told) {
    this.told = told;
    this.path = "";
    this.asked = 0;
    this.line = 0;
    this.head = h("header.source-head");
    this.lines = h("div.lines", { tabindex: 0, role: "region", "aria-label": words.panes.code.label, onkeydown: (event) => this.key(event), onclick: (event) => this.click(event) });
    this.foot = h("p.source-foot", { role: "status" });
    this.legend = h("p.source-legend", { hidden: true });
    this.element = h("div.source-pane", null, this.head, this.lines, this.foot, this.legend);
    this.lines.classList.toggle("who", told.who);
    this.watch = new IntersectionObserver((seen) => seen.forEach((one) => one.isIntersecting && this.colour(this.blocks.indexOf(one.target))), { root: this.lines, rootMargin: "600px" });
  }

  /** Nothing was chosen yet. */
  nothing() {
    if (!this.path) fill(this.lines, h("p.hint", null, words.source.choose));
  }

  focus() {
    this.lines.focus();
  }

  /** Pixels that nearly all lines of the file fit into, with the margin. */
  wanted() {
    const lengths = (this.texts ?? []).map((one) => one.replaceAll("\t", "    ").length).sort((a, b) => a - b);
    if (!lengths.length) return UNKNOWN_WIDTH;
    const context = document.createElement("canvas").getContext("2d");
    context.font = getComputedStyle(this.lines).font;
    const letter = context.measureText("0".repeat(100)).width / 100;
    const margin = MARGIN + (this.told.who ? AUTHORS : 0);
    return Math.ceil(letter * (lengths[Math.floor(FIT * (lengths.length - 1))] + String(lengths.length).length + 3) + margin);
  }

  /** Show a file, a line of it in the middle; lines to `end` belong to what is looked at. */
  async show(path, line = 0, end = 0) {
    const turn = ++this.asked;
    if (path !== this.path) {
      fill(this.head, this.crumbs(path, 0), this.buttons());
      fill(this.lines, h("p.loading", null, words.loading));
      this.foot.textContent = "";
      try {
        const { fileSource } = await ask("FileSource", { file: path });
        if (turn !== this.asked) return;
        this.take(fileSource);
      } catch (error) {
        if (turn !== this.asked) return;
        this.path = "";
        fill(this.lines, failure(error));
        return;
      }
      this.margin(turn);
    }
    this.range = [line, Math.max(line, end)];
    this.moveTo(Math.max(1, line), true);
    if (!line) this.lines.scrollTop = 0;
    this.remark();
  }

  take(source) {
    this.path = source.path;
    this.marks = new Map();
    this.blame = [];
    this.entries = [];
    this.outlined = ""; // the file whose outline is known
    this.texts = source.text.split("\n");
    if (this.texts.length > 1 && this.texts.at(-1) === "") this.texts.pop();
    this.tokens = tokensByLine(source.text, source.columns, this.texts.length);
    this.names = namesByLine(source.columns);
    this.refs = source.columns.refs;
    this.blocks = [];
    this.watch.disconnect();
    fill(this.lines, source.isStale || source.note ? h("p.hint.source-note", null, source.note || words.source.stale) : null);
    this.lines.style.setProperty("--digits", String(this.texts.length).length);
    for (let at = 0; at < this.texts.length; at += BLOCK) {
      // Text first, so that the browser finds words in all of it; colours when it is looked at.
      const block = h("div.block.plain", null, this.texts.slice(at, at + BLOCK).join("\n"));
      block.style.setProperty("--lines", Math.min(BLOCK, this.texts.length - at));
      this.blocks.push(block);
      this.lines.append(block);
      this.watch.observe(block);
    }
    this.told.sized();
  }

  async margin(turn) {
    const file = this.path;
    const [margin, blame, past] = await Promise.all([ask("Margin", { path: file }), ask("Blame", { file }), ask("FileHistory", { paths: [file] })].map((one) => one.catch(() => null)));
    if (turn !== this.asked && this.path !== file) return;
    this.entries = margin?.outline.entries ?? [];
    const defined = new Map();
    for (const [line, found] of this.names) for (const one of found) if (one.role === "definition") defined.set(this.refs.ref[one.ref], line);
    for (const one of this.entries) this.marks.set(defined.get(refOf(one.symbol)) ?? one.symbol.startLine, one);
    const now = Date.now();
    for (const run of blame?.blame.runs ?? []) {
      const days = (now - Date.parse(run.at)) / 864e5;
      const age = run.commit ? AGES.filter((one) => days < one).length : 4;
      for (let i = 0; i < run.lines; i++) this.blame[run.line + i] = { ...run, age, first: i === 0 };
    }
    const [known] = past?.fileHistory ?? [];
    const w = words.source;
    this.about = known?.commits ? w.history(known.commits, known.authors.length, known.lastAt.slice(0, 10)) : "";
    this.outlined = file;
    this.told.opened(file, this.entries);
    this.explain();
    this.widen();
    for (const i of this.blocks.keys()) if (!this.blocks[i].classList.contains("plain")) this.colour(i, true);
    this.remark();
    this.say();
    this.told.moved(this.line);
  }

  /** Makes the margin as wide as the widest signs of a line, so that the line numbers stay below each other. */
  widen() {
    const widths = this.entries.map((one) => [one.traps ? "!" : "", one.memories > one.traps ? "●" : "", one.tests ? `✓${one.tests}` : "", one.callers + one.users ? `↙${one.callers + one.users}` : ""].filter(Boolean));
    const widest = Math.max(0, ...widths.map((signs) => signs.join("").length * 0.45 + signs.length * 0.25));
    this.lines.style.setProperty("--signs", `${Math.max(3.5, widest)}rem`);
  }

  /** What the signs in the margin mean, of those that this file has. */
  explain() {
    const has = { traps: (one) => one.traps, memories: (one) => one.memories > one.traps, tests: (one) => one.tests, callers: (one) => one.callers + one.users };
    const here = Object.entries(words.source.legend).filter(([kind]) => this.entries.some(has[kind]));
    this.legend.hidden = !here.length;
    fill(this.legend, here.map(([kind, [sign, text]]) => h("span", null, h(`span.mark.${kind}`, { "aria-hidden": "true" }, sign), ` ${text}`)));
  }

  buttons() {
    const w = words.source;
    const who = h("button.plain", { type: "button", "aria-pressed": String(this.told.who), title: w.who_title }, w.who);
    who.addEventListener("click", () => {
      this.told.who = !this.told.who;
      this.lines.classList.toggle("who", this.told.who);
      who.setAttribute("aria-pressed", String(this.told.who));
      this.told.whoChanged(this.told.who);
      this.told.sized();
    });
    return h("span.source-buttons", null, who, h("button.plain.close", { type: "button", "aria-label": w.close, title: w.close, onclick: () => this.told.close() }, "×"));
  }

  /** Folders, the file, and the symbols around a line. */
  crumbs(path, line) {
    const parts = path.split("/");
    const around = this.around(line);
    const folder = (i) => h("button.plain", { type: "button", onclick: () => this.told.folder(parts.slice(0, i + 1).join("/")) }, parts[i]);
    return h("nav.crumbs", { "aria-label": words.source.crumbs }, h("ol", null,
      parts.slice(0, -1).map((_, i) => h("li", null, folder(i))),
      h("li", null, link(to("code", { at: path }), parts.at(-1), { "aria-current": around.length ? null : "true" })),
      around.map(({ symbol }, i) => h("li", null, link(to("code", { at: refOf(symbol) }), symbol.name, { "aria-current": i === around.length - 1 ? "true" : null })))));
  }

  /** Symbols of the outline that a line is in, the outermost first. */
  around(line) {
    return (this.entries ?? []).filter(({ symbol }) => line && symbol.startLine <= line && line <= symbol.endLine).sort((a, b) => b.symbol.endLine - b.symbol.startLine - (a.symbol.endLine - a.symbol.startLine));
  }

  /** Give a block its colours, links and marks; `again` when the marks came later. */
  colour(index, again = false) {
    const block = this.blocks[index];
    if (!block || (!again && !block.classList.contains("plain"))) return;
    block.classList.remove("plain");
    const first = index * BLOCK + 1;
    const held = block.contains(document.activeElement) ? document.activeElement : null; // its element is made again
    const line = held?.closest(".ln")?.dataset.line;
    const links = (row) => [...(row?.querySelectorAll("a") ?? [])].filter((one) => one.className === held.className);
    const at = line ? links(held.closest(".ln")).indexOf(held) : -1;
    fill(block, this.texts.slice(first - 1, first - 1 + BLOCK).map((_, i) => this.row(first + i)));
    if (at >= 0) links(block.querySelector(`.ln[data-line="${line}"]`))[at]?.focus({ preventScroll: true });
    this.remark();
  }

  row(line) {
    const w = words.source;
    const mark = this.marks.get(line);
    const blame = this.blame[line];
    const at = mark ? refOf(mark.symbol) : "";
    const sign = (kind, count, text, address, title = w[kind](count)) => (count ? link(address, text, { class: `mark ${kind}`, title, "aria-label": title, tabindex: -1 }) : null);
    return h(
      "div.ln",
      { "data-line": line },
      h("span.gutter", null,
      h(`span.age${blame ? `.heat-${blame.age}` : ""}`, { title: blame ? w.touched(blame) : null }),
      h("span.by", { "aria-hidden": "true" }, blame?.first ? w.by(blame) : ""),
      h("span.marks", null, mark ? [
        sign("traps", mark.traps, "!", to("code", { at })),
        sign("memories", mark.memories - mark.traps, "●", to("code", { at })),
        sign("tests", mark.tests, `✓${mark.tests}`, to("impact", { of: at })),
        sign("callers", mark.callers + mark.users, `↙${mark.callers + mark.users}`, to("code", { at }), w.callers(mark)),
      ] : null),
      h("a.no", { href: to("code", { at: `${this.path}:${line}` }), tabindex: -1, "aria-label": w.line(line) }, String(line))),
      h("span.text", null, this.pieces(line)),
    );
  }

  /** The text of a line in pieces of one colour, names as links. */
  pieces(line) {
    const text = this.texts[line - 1];
    const names = this.names.get(line) ?? [];
    const made = [];
    let at = 0;
    const plain = (start, end, kind) => start < end && made.push(kind === "plain" ? text.slice(start, end) : h(`span.t-${kind}`, null, text.slice(start, end)));
    for (const [end, kind] of [...(this.tokens[line - 1] ?? []), [text.length, "plain"]]) {
      for (const one of names) {
        if (one.column < at || one.column >= end || one.end > text.length) continue;
        plain(at, one.column, kind);
        const ref = this.refs.ref[one.ref];
        const signature = this.refs.signature[one.ref] || `${this.refs.kind[one.ref].toLowerCase()} ${ref}`;
        made.push(link(to("code", { at: one.role === "definition" ? ref : ref.replace(/:<module>$/, "") }), text.slice(one.column, one.end), { class: `name t-${kind} ${one.role}`, title: `${signature}\n${one.role === "definition" ? words.source.here : ref}`, tabindex: -1 }));
        at = one.end;
      }
      plain(at, end, kind);
      at = Math.max(at, end);
    }
    return made;
  }

  /** Look at a line. */
  moveTo(line, centre = false) {
    this.line = Math.max(1, Math.min(this.texts.length, line));
    const height = this.blocks[0] ? this.blocks[0].offsetHeight / Math.min(BLOCK, this.texts.length) : 18;
    const top = (this.line - 1) * height;
    const { scrollTop, clientHeight } = this.lines;
    if (centre) this.lines.scrollTop = top - clientHeight / 4;
    else if (top < scrollTop + height) this.lines.scrollTop = top - height;
    else if (top > scrollTop + clientHeight - 3 * height) this.lines.scrollTop = top - clientHeight + 3 * height;
    this.colour(Math.floor((this.line - 1) / BLOCK));
    this.remark();
    this.say();
    this.told.moved(this.line);
  }

  remark() {
    const [from, to] = this.range ?? [0, 0];
    for (const one of this.lines.querySelectorAll(".ln.in, .ln.at")) one.classList.remove("in", "at");
    if (!from && !this.pointed) return;
    for (const one of this.lines.querySelectorAll(".ln")) {
      const line = Number(one.dataset.line);
      if (line >= from && line <= to) one.classList.add("in");
      if (line === this.line) one.classList.add("at");
    }
  }

  /** What is known about the line, below the text; the crumbs above it. */
  say() {
    const blame = this.blame[this.line];
    const w = words.source;
    fill(this.foot, w.line(this.line), blame ? [" · ", w.touched(blame), blame.commit ? [" ", link(commitPage(blame.commit), blame.commit.slice(0, 8))] : null] : null, this.about ? h("span.about", null, this.about) : null);
    this.head.querySelector(".crumbs")?.replaceWith(this.crumbs(this.path, this.range?.[0] || this.pointed ? this.line : 0));
  }

  click(event) {
    const row = event.target.closest(".ln");
    if (!row || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const number = event.target.closest("a.no");
    if (event.target.closest("a") && !number) return;
    if (number) event.preventDefault();
    if (!number && String(getSelection())) return; // text is being chosen
    this.pointed = true;
    this.moveTo(Number(row.dataset.line));
    if (number) {
      this.range = [this.line, this.line];
      this.remark();
      this.told.named(this.path, this.line);
      announce(words.source.line(this.line));
    }
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.path) return;
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
    const jump = { n: 1, p: -1 }[event.key];
    if (!step && !jump) return;
    event.preventDefault();
    this.pointed = true;
    if (step) {
      this.lines.focus({ preventScroll: true });
      return this.moveTo(this.line + step);
    }
    this.jump(jump);
  }

  /** The focus on the next name that means something, or on the one before. */
  jump(way) {
    const here = document.activeElement?.closest?.(".ln a.name");
    if (here) {
      const all = [...here.closest(".ln").querySelectorAll("a.name")];
      const next = all[all.indexOf(here) + way];
      if (next) return next.focus({ preventScroll: true });
    }
    let line = here ? this.line + way : this.line;
    while (line >= 1 && line <= this.texts.length && !(this.names.get(line) ?? []).length) line += way;
    if (line < 1 || line > this.texts.length) return;
    this.moveTo(line);
    const found = [...this.lines.querySelectorAll(`.ln[data-line="${line}"] a.name`)];
    (way > 0 ? found[0] : found.at(-1))?.focus({ preventScroll: true });
  }
}

/** Of each line [end column, kind] of its pieces. */
function tokensByLine(text, columns, count) {
  const lines = Array.from({ length: count + 1 }, () => []);
  const { length, kind } = columns.tokens;
  let [line, start, at] = [0, 0, 0]; // start: of the line in the text
  for (let i = 0; i < length.length; i++) {
    const end = at + length[i];
    const name = columns.kinds[kind[i]];
    for (;;) {
      const stop = text.indexOf("\n", at);
      if (stop < 0 || stop >= end) break;
      lines[line]?.push([stop - start, name]);
      line += 1;
      start = at = stop + 1;
    }
    if (end > at) lines[line]?.push([end - start, name]);
    at = end;
  }
  return lines;
}

function namesByLine({ names }) {
  const lines = new Map();
  for (let i = 0; i < names.line.length; i++) {
    if (!lines.has(names.line[i])) lines.set(names.line[i], []);
    lines.get(names.line[i]).push({ column: names.column[i], end: names.end[i], role: names.role[i], ref: names.ref[i] });
  }
  return lines;
}
