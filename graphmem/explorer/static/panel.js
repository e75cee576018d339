// What is known about one symbol or file, beside the picture.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { certainty, chip, day, details, failure, into, knownList, link, listing, nameOf, refOf, site, symbolLink, to, where } from "./parts.js";
import { showSymbol } from "./workspace.js";
import { words } from "./words.js";

const RELATIONS = ["callers", "callees", "tests", "members", "bases", "subclasses", "overrides", "overriddenBy", "references"];
const OPEN = new Set(["callers", "callees", "tests"]);

/** Fill the panel with what `ref` means. */
export async function showPanel(place, ref, { signal, close, named = () => {}, between = null }) {
  const w = words.panel;
  fill(place, h("p.loading", null, words.loading));
  let answer;
  try {
    answer = await ask("Symbol", { ref, first: 100 }, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    fill(place, closer(close), failure(error, (one) => to("code", { at: one })));
    return;
  }
  const symbol = answer.symbol;
  named(symbol);
  showSymbol(symbol);
  const exact = refOf(symbol);
  const together = h("div");
  const history = h("div");
  fill(
    place,
    closer(close),
    h("h2.ref", null, nameOf(symbol)),
    h("p.meta", null, chip(symbol.kind.toLowerCase()), symbol.isTest ? chip("test", "test") : null, symbol.entryPoint ? chip(symbol.entryPoint, "entry") : null, symbol.modifiers.map((one) => chip(one)), symbol.complexity ? chip(w.complexity(symbol.complexity)) : null),
    symbol.path ? h("p.where", null, link(to("graph", { focus: symbol.path }), symbol.path), ", ", w.lines(symbol.startLine, symbol.endLine)) : null,
    symbol.signature ? h("pre.signature", null, symbol.signature) : null,
    symbol.doc ? h("p.doc", null, symbol.doc) : null,
    h("nav.actions", { "aria-label": w.label },
      link(to("impact", { of: exact }), w.impact, { class: "button primary" }),
      symbol.path ? link(to("graph", { focus: exact, paint: "impact", of: exact }), w.on_map, { class: "button" }) : null,
      link(to("graph", { around: exact }), w.around, { class: "button" }),
      link(to("path", { from: exact }), w.path_from, { class: "button" }),
      symbol.path ? link(to("coaccess", { files: symbol.path }), w.coaccess, { class: "button" }) : null,
      link(to("teach", { symbol: exact }), w.teach, { class: "button" })),
    between,
    RELATIONS.map((name) => relation(w[name], symbol, name)),
    details(w.memories, symbol.known.memories.length + symbol.known.more, true, knownList(symbol.known, w.no_memories, symbol.path ? [symbol.path] : [])),
    together,
    history,
  );
  into(together, coaccessed(symbol.path, signal), (found) => found);
  into(history, changes(symbol.path, signal), (found) => found);
}

function closer(close) {
  return close ? h("button.close", { type: "button", onclick: close, "aria-label": words.panel.close }, "×") : null;
}

function relation(title, symbol, name) {
  const connection = symbol[name];
  const edges = [...connection.edges].sort((a, b) => a.node.isTest - b.node.isTest); // code before tests
  if (!edges.length) return null;
  // The lines of an edge are in the file of the one that depends.
  const out = ["callees", "bases", "overrides"].includes(name);
  const sites = (node, lines) => [lines.slice(0, 6).map((line) => [" ", site(out ? symbol.path : node.path, line)]), lines.length > 6 ? "…" : ""];
  const entries = edges.map(({ node, confidence, kind, rule, lines }) => [
    symbolLink(node),
    " ",
    certainty(confidence, rule),
    node.isTest && name !== "tests" ? chip("test", "test") : null,
    kind === "CALLS" || kind === "DEFINES" ? null : chip(words.map.kind[kind] ?? kind),
    h("br"),
    where(node),
    lines.length && (out ? symbol.path : node.path) ? h("span.where", null, " ·", sites(node, lines)) : null,
  ]);
  const count = connection.pageInfo.hasNextPage ? `${edges.length}+` : edges.length;
  return h("details", { open: OPEN.has(name) }, h("summary", null, title, h("span.count", null, String(count))), listing(entries, 6));
}

async function coaccessed(path, signal) {
  if (!path) return null;
  const { hits } = (await ask("CoAccess", { files: [path], limit: 8 }, signal)).coAccess;
  if (!hits.length) return null;
  return details(words.panel.coaccessed, hits.length, false, listing(hits.map((one) => [link(to("graph", { focus: one.path }), one.path), h("span.where", null, ` ${words.coaccess.together(one.support)}`)]), 8));
}

async function changes(path, signal) {
  if (!path) return null;
  const [one] = (await ask("FileHistory", { paths: [path] }, signal)).fileHistory;
  if (!one?.changes) return null;
  const w = words.panel;
  return details(w.history, one.changes, false, h("dl.facts", null, [[w.commits, words.number(one.commits)], [w.churn, words.number(Math.round(10 * one.churn) / 10)], [w.first, day(one.firstAt)], [w.last, day(one.lastAt)], [w.authors, words.number(one.authors.length)]].map(([name, value]) => [h("dt", null, name), h("dd", null, value)])));
}


