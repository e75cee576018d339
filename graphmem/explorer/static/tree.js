// The files of the project as a tree, folder by folder as they are opened, and the outline of the file in the source pane.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { failure, go, link, refOf, spelled, to } from "./parts.js";
import { words } from "./words.js";

export class TreePane {
  constructor() {
    this.folders = new Map(); // path → {item, group, loaded}
    this.path = ""; // of the file that is shown
    this.entries = [];
    this.list = h("ul.tree-list", { role: "tree", "aria-label": words.panes.tree.label, onkeydown: (event) => this.key(event), onclick: (event) => this.click(event) });
    this.outline = h("div.outline");
    this.element = h("div.tree-pane", null, h("div.tree-scroll", null, this.list), this.outline);
    this.root = this.load("", this.list, 1);
  }

  async load(path, place, level) {
    try {
      const { folder } = await ask("Folder", { path });
      fill(place, folder.entries.map((one) => this.item(one, level)));
      if (!path && !this.list.querySelector("[tabindex='0']")) this.list.querySelector(".tree-item")?.setAttribute("tabindex", "0");
    } catch (error) {
      fill(place, h("li", { role: "none" }, failure(error)));
    }
  }

  item(one, level) {
    const test = one.isTest ? ".test" : "";
    const row = h(
      `div.tree-item${one.isFolder ? ".folder" : ".file"}${test}`,
      { role: "treeitem", tabindex: -1, "aria-level": level, "aria-expanded": one.isFolder ? "false" : null, "aria-selected": one.isFolder ? null : "false", "data-path": one.path, title: words.panes.tree.holds(one) },
      h("span.twist", { "aria-hidden": "true" }, one.isFolder ? "▸" : ""),
      h("span.tree-name", null, one.name),
      one.isFolder ? h("span.count", { "aria-hidden": "true" }, words.number(one.files)) : null,
    );
    row.style.setProperty("--level", level);
    if (!one.isFolder) return h("li", { role: "none" }, row);
    const group = h("ul", { role: "group", hidden: true });
    this.folders.set(one.path, { row, group, level, loaded: null });
    return h("li", { role: "none" }, row, group);
  }

  async toggle(path, wanted = null) {
    const folder = this.folders.get(path);
    if (!folder) return;
    const shown = wanted ?? folder.group.hidden;
    folder.row.setAttribute("aria-expanded", String(shown));
    folder.group.hidden = !shown;
    if (shown) await (folder.loaded ??= this.load(path, folder.group, folder.level + 1));
  }

  /** Open the folders above a path and bring it into view. */
  async reveal(path, focus = false) {
    await this.root;
    for (let guard = 0; guard < 64; guard++) {
      const next = [...this.folders.keys()].find((one) => (path === one || path.startsWith(`${one}/`)) && this.folders.get(one).group.hidden);
      if (!next) break;
      await this.toggle(next, true);
    }
    const row = this.row(path);
    if (!row) return;
    // Only the tree scrolls: the page stays where it is.
    const box = this.list.parentElement;
    const [top, height] = [row.getBoundingClientRect().top - box.getBoundingClientRect().top, box.clientHeight];
    if (top < 0 || top > height - 30) box.scrollTop += top - height / 3;
    this.mark(row);
    if (focus) row.focus({ preventScroll: true });
  }

  row(path) {
    return [...this.list.querySelectorAll(".tree-item")].find((one) => one.dataset.path === path);
  }

  mark(row) {
    for (const one of this.list.querySelectorAll("[tabindex='0']")) one.setAttribute("tabindex", "-1");
    row.setAttribute("tabindex", "0");
  }

  /** No file is shown any more. */
  closed() {
    this.path = "";
    this.entries = [];
    for (const one of this.list.querySelectorAll("[aria-selected='true']")) one.setAttribute("aria-selected", "false");
    fill(this.outline);
  }

  /** A file is shown, with the symbols of its outline. */
  opened(path, entries) {
    this.entries = entries;
    if (path !== this.path) {
      for (const one of this.list.querySelectorAll("[aria-selected='true']")) one.setAttribute("aria-selected", "false");
      this.path = path;
      this.reveal(path).then(() => this.path === path && this.row(path)?.setAttribute("aria-selected", "true"));
    }
    const w = words.panes.tree;
    const depth = (one) => (one.symbol.qualname.match(/\./g) ?? []).length;
    const least = Math.min(...entries.map(depth));
    fill(
      this.outline,
      h("h2", { title: path }, w.outline(path.split("/").at(-1)), h("span.count", null, words.number(entries.length))),
      entries.length
        ? h("ul", null, entries.map((one) => {
            const made = link(to("code", { at: refOf(one.symbol) }), spelled(one.symbol.name), { class: `kind-${one.symbol.kind.toLowerCase()}`, title: `${one.symbol.kind.toLowerCase()} ${one.symbol.qualname}`, "data-line": one.symbol.startLine });
            made.style.setProperty("--level", depth(one) - least);
            return h("li", null, made, one.traps ? h("span.mark.traps", { title: words.source.traps(one.traps) }, "!") : null, one.callers + one.users ? h("span.count", { title: words.source.callers(one) }, words.number(one.callers + one.users)) : null);
          }))
        : h("p.hint", null, w.no_outline),
    );
  }

  /** The line that is looked at: its symbol is marked in the outline. */
  moved(line) {
    const inside = this.entries.filter(({ symbol }) => symbol.startLine <= line && line <= symbol.endLine);
    const best = inside.sort((a, b) => a.symbol.endLine - a.symbol.startLine - (b.symbol.endLine - b.symbol.startLine))[0];
    for (const one of this.outline.querySelectorAll("a[aria-current]")) one.removeAttribute("aria-current");
    if (!best) return;
    const anchor = [...this.outline.querySelectorAll("a")][this.entries.indexOf(best)];
    anchor?.setAttribute("aria-current", "true");
    const box = this.outline;
    const top = anchor ? anchor.getBoundingClientRect().top - box.getBoundingClientRect().top : 0;
    if (anchor && (top < 30 || top > box.clientHeight - 30)) box.scrollTop += top - box.clientHeight / 3;
  }

  click(event) {
    const row = event.target.closest(".tree-item");
    if (!row) return;
    this.mark(row);
    this.take(row);
  }

  take(row) {
    if (row.hasAttribute("aria-expanded")) this.toggle(row.dataset.path);
    else go(to("code", { at: row.dataset.path }));
  }

  key(event) {
    const row = event.target.closest(".tree-item");
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const rows = [...this.list.querySelectorAll(".tree-item")].filter((one) => one.offsetParent !== null);
    const at = rows.indexOf(row);
    const folder = row.hasAttribute("aria-expanded");
    const shown = row.getAttribute("aria-expanded") === "true";
    const step = (next) => next && (this.mark(next), next.focus());
    const keys = {
      ArrowDown: () => step(rows[at + 1]),
      ArrowUp: () => step(rows[at - 1]),
      Home: () => step(rows[0]),
      End: () => step(rows.at(-1)),
      ArrowRight: () => folder && (shown ? step(rows[at + 1]) : this.toggle(row.dataset.path, true)),
      ArrowLeft: () => (folder && shown ? this.toggle(row.dataset.path, false) : step(row.closest("ul").closest("li")?.querySelector(".tree-item"))),
      Enter: () => this.take(row),
      " ": () => this.take(row),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }

  focus() {
    (this.list.querySelector("[tabindex='0']") ?? this.list.querySelector(".tree-item"))?.focus();
  }
}
