// The first visit: four steps, with offers to import what the project has written down already.

import { ask } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { copy, failure, link, to } from "./parts.js";
import { words } from "./words.js";

const KEY = "graphmem-tour";
const OFFERED = /(^|\/)(CLAUDE|AGENTS|GEMINI|MEMORY|facts)\.md$|(^|\/)\.(cursorrules|windsurfrules|clinerules)$|^\.cursor\/rules\/|^\.github\/copilot-instructions\.md$/i;
const NAMES = ["CLAUDE.md", "AGENTS.md", "GEMINI.md", "MEMORY.md", "facts.md", "cursorrules", "cursor/rules", "copilot-instructions"];

/** Whether this browser has seen the tour, or was told that it need not. */
function seen(now = false) {
  try {
    if (now) localStorage.setItem(KEY, "seen");
    return localStorage.getItem(KEY) === "seen";
  } catch {
    return true; // it would come again at every visit
  }
}

/** Show the tour at the first visit, or whenever it is asked for. */
export function tour(wanted = false) {
  if ((seen() && !wanted) || document.querySelector(".tour")) return;
  const w = words.tour;
  const body = h("div");
  const box = h("section.tour", { "aria-label": w.title, onkeydown: (event) => event.key === "Escape" && end() }, body);
  const end = () => (seen(true), box.remove());
  const step = (at) => {
    box.classList.remove("small");
    const { title, text } = w.steps[at];
    const last = at === w.steps.length - 1;
    fill(
      body,
      h("p.where", { role: "status" }, w.at(at + 1, w.steps.length)),
      h("h2", null, title),
      h("p", null, text),
      [where, find, imports, connect][at](),
      h("div.buttons", null,
        at ? h("button", { type: "button", onclick: () => step(at - 1) }, w.back) : null,
        h("button.primary", { type: "button", onclick: () => (last ? end() : step(at + 1)) }, last ? w.done : w.next),
        last ? null : h("button.plain", { type: "button", onclick: end }, w.skip)),
    );
    if (at) body.querySelector(".primary").focus();
  };
  step(0);
  document.getElementById("top").after(box);
  if (wanted) body.querySelector(".primary").focus();
}

/** On other pages than the first the tour is one row, so that it leaves the room to the page; its next step is whole again. */
export function aside(isHome) {
  document.querySelector(".tour")?.classList.toggle("small", !isHome);
}

function where() {
  return h("p", null, link(to("graph"), words.home.open_map, { class: "button" }), " ", link(to("questions"), words.views.questions, { class: "button" }));
}

function find() {
  return h("p", null, h("button", { type: "button", onclick: () => document.getElementById("find").focus() }, words.tour.try_box), " ", link(to("impact"), words.views.impact, { class: "button" }));
}

/** Files that other tools keep rules and notes in, each to be taken in with one click. */
function imports() {
  const w = words.tour;
  const place = h("div", null, h("p.hint", null, words.loading));
  Promise.all(NAMES.map((query) => ask("Files", { query, first: 20 }))).then(
    (answers) => {
      const found = [...new Set(answers.flatMap(({ files }) => files.edges.map(({ node }) => node.path)))].filter((path) => OFFERED.test(path));
      fill(place, found.length ? h("ul.listing", null, found.slice(0, 8).map(offer)) : h("p.hint", null, w.nothing_to_import), link(to("teach"), words.views.teach, { class: "button" }));
    },
    (error) => fill(place, failure(error)),
  );
  return place;
}

function offer(path) {
  const w = words.tour;
  const said = h("span", { role: "status" });
  const button = h("button", {
    type: "button",
    "aria-label": w.import_of(path),
    onclick: async () => {
      button.disabled = true;
      try {
        const { fileSource } = await ask("FileSource", { file: path });
        const { importMemories } = await ask("ImportMemories", { content: fileSource.text, path });
        const counts = new Map(importMemories.counts.map((one) => [one.name, one.value]));
        const text = w.imported(importMemories.ids.length, [...counts.values()].reduce((sum, one) => sum + one, 0));
        fill(said, text);
        announce(text);
      } catch (error) {
        button.disabled = false;
        fill(said, failure(error));
      }
    },
  }, w.import);
  return h("li", null, h("code", null, path), " ", button, " ", said);
}

function connect() {
  const w = words.tour;
  return h("div", null, h("div.command", null, h("code", { tabindex: 0 }, "graphmem install"), h("button", { type: "button", onclick: (event) => copy("graphmem install", event.currentTarget) }, words.tour.copy)), h("p.hint", null, link(to("health"), w.trust)));
}
