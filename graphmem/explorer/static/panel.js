// What is known about one symbol or file, beside the picture.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { certainty, chip, commitLine, day, details, failure, folded, into, kindChip, knownList, link, listing, nameOf, noted, reasonsFor, refOf, riskReasons, site, symbolLink, to, where } from "./parts.js";
import { showSymbol } from "./workspace.js";
import { words } from "./words.js";

const FIRST = ["callers", "references"]; // above the picture: most readers came for them
const RELATIONS = ["callees", "tests", "members", "bases", "subclasses", "overrides", "overriddenBy"];
const PAGE = 100; // edges of one answer
const MOST_COMMITS = 500; // of a file that are listed
const OPEN = new Set(["callers", "callees", "tests"]); // and references, if there are more of them than callers

/** Fill the panel with what `ref` means. */
export async function showPanel(place, ref, { signal, close, named = () => {}, refused = () => {}, between = null }) {
  const w = words.panel;
  fill(place, h("p.loading", null, words.loading));
  let answer;
  try {
    answer = await ask("Symbol", { ref, first: PAGE }, signal);
  } catch (error) {
    if (error.name === "AbortError") return;
    refused();
    fill(place, closer(close), failure(error, (one) => to("code", { at: one })));
    return;
  }
  const symbol = answer.symbol;
  named(symbol);
  showSymbol(symbol);
  const exact = refOf(symbol);
  const whole = symbol.kind === "FILE" || symbol.qualname === "<module>";
  const others = h("div.namesakes");
  const risk = h("div.verdict-line");
  const together = h("div");
  const history = h("div");
  fill(
    place,
    closer(close),
    h("h2.ref", null, nameOf(symbol)),
    h("p.meta", null, kindChip(symbol.kind), symbol.isTest ? chip(words.panel.is_test, "test") : null, symbol.entryPoint ? chip(words.home.entry_of[symbol.entryPoint.toUpperCase()] ?? symbol.entryPoint, "entry") : null, symbol.modifiers.map((one) => chip(words.modifier(one))), symbol.complexity ? chip(w.complexity(symbol.complexity)) : null),
    symbol.path ? h("p.where", null, link(to("graph", { focus: symbol.path }), symbol.path), ", ", w.lines(symbol.startLine, symbol.endLine)) : null,
    risk,
    others,
    symbol.signature ? h("pre.signature", null, symbol.signature) : null,
    symbol.doc ? h("p.doc", null, symbol.doc) : null,
    h("nav.actions", { "aria-label": w.label },
      link(to("impact", { of: exact }), w.impact, { class: "button primary" }),
      symbol.path ? link(to("graph", { focus: exact, paint: "impact", of: exact }), w.on_map, { class: "button" }) : null,
      link(to("graph", { around: exact }), w.around, { class: "button" }),
      link(to("path", { from: exact }), w.path_from, { class: "button" }),
      symbol.path ? link(to("coaccess", { files: symbol.path }), w.coaccess, { class: "button" }) : null,
      link(to("teach", { symbol: exact }), w.teach, { class: "button" })),
    FIRST.map((name) => relation(w[name], symbol, name, signal)),
    between,
    RELATIONS.map((name) => relation(w[name], symbol, name, signal)),
    details(words.known.about[whole ? "file" : "symbol"], symbol.known.memories.length + symbol.known.more, true, knownList(symbol.known, [w.no_memories, " ", reasonsFor(nameOf(symbol))], symbol.path ? [symbol.path] : [], "file")),
    together,
    history,
  );
  if (symbol.path) into(risk, ask("ImpactOverview", { targets: [symbol.id], limit: 1 }, signal), ({ impact }) => verdict(impact.risk));
  if (!whole) namesakes(symbol, signal).then((some) => fill(others, sameName(symbol, some)), (error) => error.name === "AbortError" || fill(others, failure(error)));
  into(together, coaccessed(symbol.path, signal), (found) => found);
  into(history, changes(symbol.path, signal), (found) => found);
}

function closer(close) {
  return close ? h("button.close", { type: "button", onclick: close, "aria-label": words.panel.close }, "×") : null;
}

/** How risky a change is and why, with the numbers of the impact view. */
function verdict(risk) {
  return [h(`strong.risk.${risk.level.toLowerCase()}`, null, words.impact.risk(risk.level, risk.atLeast)), " ", riskReasons(risk)];
}

/** Other definitions with exactly the name of a symbol, overloads beside it left out; those with its whole name come first. */
async function namesakes(symbol, signal) {
  const some = [];
  for (let after = null; ; ) {
    const { symbols } = await ask("Symbols", { query: symbol.name, first: 100, after }, signal);
    const same = symbols.edges.filter(({ node }) => node.name.toLowerCase() === symbol.name.toLowerCase()); // the best of the answer
    some.push(...same.map(({ node }) => node));
    if (same.length < symbols.edges.length || !symbols.pageInfo.hasNextPage) break;
    after = symbols.pageInfo.endCursor;
  }
  const other = (one) => one.name === symbol.name && refOf(one) !== refOf(symbol) && one.qualname !== "<module>";
  const far = (one) => (one.qualname === symbol.qualname ? 0 : 1) + (one.isTest ? 2 : 0);
  return some.filter(other).sort((a, b) => far(a) - far(b));
}

function sameName(symbol, some) {
  if (!some.length) return null;
  return details(words.panel.namesakes(some.length, symbol.name), null, false, listing(some.map((one) => [symbolLink(one), " ", kindChip(one.kind), one.isTest ? chip(words.panel.is_test, "test") : null, " ", where(one)]), 10));
}

function relation(title, symbol, name, signal) {
  const connection = symbol[name];
  if (!connection.edges.length) return null;
  // The lines of an edge are in the file of the one that depends.
  const out = ["callees", "bases", "overrides"].includes(name);
  const sites = (node, lines) => [lines.slice(0, 6).map((line) => [" ", site(out ? symbol.path : node.path, line)]), lines.length > 6 ? "…" : ""];
  const entry = ({ node, confidence, kind, rule, lines }) => [
    symbolLink(node),
    " ",
    certainty(confidence, rule),
    node.isTest && name !== "tests" ? chip(words.panel.is_test, "test") : null,
    kind === "CALLS" || kind === "DEFINES" || (kind === "REFERENCES" && name === "references") ? null : chip(words.map.kind[kind] ?? kind),
    h("br"),
    where(node),
    lines.length && (out ? symbol.path : node.path) ? h("span.where", null, node.qualname === "<module>" ? null : " ·", sites(node, lines)) : null,
  ];
  // Tests that call it stand below as tests, and what calls itself has no further caller: the number is the one of the picture above.
  const itself = (one) => one.node.id === symbol.id;
  const apart = ["callers", "references"].includes(name) && connection.edges.length === connection.totalCount;
  const [tests, own] = apart ? [connection.edges.filter(({ node }) => node.isTest).length, connection.edges.filter(itself).length] : [0, 0];
  const edges = apart ? [...connection.edges].sort((a, b) => Number(a.node.isTest) - Number(b.node.isTest) || Number(itself(a)) - Number(itself(b))) : connection.edges;
  let { endCursor } = connection.pageInfo;
  const more = async () => {
    const next = (await ask("MoreEdges", { ref: symbol.id, after: endCursor, first: PAGE, [name]: true }, signal)).symbol[name];
    ({ endCursor } = next.pageInfo);
    return next.edges.map(entry);
  };
  const head = tests || own ? [title, h("span.count", null, words.number(edges.length - tests - own)), h("span.besides", null, words.panel.besides(tests, own, name))] : title;
  const note = name === "references" && symbol.modifiers.includes("abstract") ? h("p.hint", null, words.panel.through_abstract) : null;
  return details(head, tests || own ? null : connection.totalCount, OPEN.has(name) || (name === "references" && connection.totalCount > symbol.callers.totalCount), note, listing(edges.map(entry), 6, "ul", { total: connection.totalCount, page: PAGE, more }));
}

async function coaccessed(path, signal) {
  if (!path) return null;
  const { hits } = (await ask("CoAccess", { files: [path], limit: 8 }, signal)).coAccess;
  if (!hits.length) return null;
  return details(words.panel.coaccessed, hits.length, false, listing(hits.map((one) => [link(to("graph", { focus: one.path }), one.path), h("span.where", null, ` ${words.coaccess.together(one.support)}`)]), 8));
}

/** In which commits a file changed, how often and by whom, asked for once the section is opened. */
async function changes(path, signal) {
  if (!path) return null;
  const [one] = (await ask("FileHistory", { paths: [path] }, signal)).fileHistory;
  if (!one?.changes) return null;
  const w = words.panel;
  // Git follows a file through renames that the index does not know where contents of old files are missing: the list counts itself.
  return folded(w.history, null, false, () => {
    const place = h("div");
    into(place, ask("CommitList", { path, limit: MOST_COMMITS, programs: true }, signal), ({ commits: { commits, notes } }) => [
      commits.length ? listing(commits.map(commitLine), 8) : null,
      commits.length === MOST_COMMITS ? h("p.hint", null, w.newest_commits(MOST_COMMITS)) : null,
      notes.map((note) => h("p.hint", null, noted(note))),
      h("dl.facts", null, [
        [w.commits, words.number(commits.length)],
        [w.churn, words.number(Math.round(10 * one.churn) / 10)],
        [w.first, day(commits.at(-1)?.at)],
        [w.last, day(commits[0]?.at)],
        [w.authors, words.number(new Set(commits.map(({ author }) => author)).size)],
      ].map(([name, value]) => [h("dt", null, name), h("dd", null, value)])),
    ]);
    return place;
  });
}
