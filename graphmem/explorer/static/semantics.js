// What the semantic layer tells on the start page: hot spots, cycles, entry points, flows.

import { ask } from "./api.js";
import { h } from "./dom.js";
import { chip, commitPage, day, details, fileLink, into, link, listing, nameOf, noted, refOf, symbolLink, table, to, where } from "./parts.js";
import { words } from "./words.js";

const OUTSIDE = ["MAIN", "ROUTE", "COMMAND", "EVENT", "TASK"]; // what people start; exports and tests are many and of less news
const PAGE = 50; // entries of a further answer
const MOST = 1000; // exports of one answer

/** Fill the places of the start page. */
export function homeSemantics({ hot, cycles, entries, flows, dead, recent }, files, signal) {
  const w = words.home;
  const users = new Map(files.path.map((path, i) => [path, files.dependents[i]]));
  into(recent, ask("CommitList", { limit: 12 }, signal), ({ commits: page }) => [
    page.commits.length ? [listing(page.commits.map(commit), 6), h("p", null, link(to("changes"), words.architect.changes.title))] : null,
    page.notes.map((note) => h("p.hint", null, noted(note))),
  ]);
  into(hot, ask("Hotspots", { limit: 8 }, signal), ({ hotspots: page }) => [
    page.hotspots.length
      ? table(
          w.hot,
          [words.map.columns.file, w.hot_score, words.map.columns.complexity, words.map.columns.used_by],
          page.hotspots.map((one) => [fileLink(one.symbol.path), String(Math.round(one.score)), words.number(one.complexity), users.has(one.symbol.path) ? words.number(users.get(one.symbol.path)) : "–"]),
          { numeric: [1, 2, 3] },
        )
      : h("p.hint", null, words.none),
    h("p", null, page.total > page.hotspots.length ? [words.of(page.hotspots.length, page.total), " "] : null, link(to("risk"), words.architect.risk.title)),
    page.notes.map((note) => h("p.hint", null, noted(note))),
  ]);
  into(cycles, ask("Cycles", { level: "MODULES", limit: 5 }, signal), ({ cycles: found }) =>
    found.cycles.length ? [found.cycles.map(cycle), found.total > found.cycles.length ? h("p", null, words.of(found.cycles.length, found.total), " ", link(to("tangled"), words.tangled.all_cycles)) : null] : h("p", null, w.no_cycles));
  into(entries, entryPoints(signal), ({ byKind, some, total, more }) => [
    h("p.meta", null, byKind.map((one) => chip(w.entry_kind(one.name, one.value)))),
    some.length ? listing(entriesOf(some), 6, "ul", { total, page: PAGE, more: async (have) => entriesOf(await more(have)) }) : null,
  ]);
  const flow = (one) => [symbolLink(one.entry), ` → ${one.steps.length ? nameOf(one.steps.at(-1).dst) : ""} `, chip(words.many(one.steps.length, "step")), details(w.passes(one.modules.length), null, false, h("ol", null, [one.entry, ...one.steps.map((step) => step.dst)].map((symbol) => h("li", null, symbolLink(symbol), " ", where(symbol)))), one.paragraph ? h("p.written", { title: words.panel.written }, one.paragraph) : null)];
  into(flows, ask("Flows", { limit: 6 }, signal), ({ flows: page }) =>
    page.flows.length
      ? listing(page.flows.map(flow), 6, "ul", { total: page.total, page: PAGE, more: async (offset) => (await ask("Flows", { limit: PAGE, offset }, signal)).flows.flows.map(flow) })
      : h("p.hint", null, words.none));
  const unused = (one) => [symbolLink(one.symbol), " ", chip(`${Math.round(100 * one.confidence)}%`), h("div.where", null, where(one.symbol), ` · ${one.why}`)];
  into(dead, ask("DeadCode", { limit: 8 }, signal), ({ deadCode: page }) =>
    page.symbols.length
      ? listing(page.symbols.map(unused), 6, "ul", { total: page.total, page: PAGE, more: async (offset) => (await ask("DeadCode", { limit: PAGE, offset }, signal)).deadCode.symbols.map(unused) })
      : h("p", null, w.no_dead));
}

/** Whether people start an entry point; others are exports and tests. */
export const isOutside = (one) => OUTSIDE.includes(one.kind);

/** Whether an entry point is a program, and not a handler or code that runs when a package is loaded. */
export const isProgram = ({ kind, symbol }) => kind === "COMMAND" || (kind === "MAIN" && ["<module>", "main"].includes(symbol.qualname));

/** Names of entry points. A program is known by its file, and so are several of one name in files of their own, such as the commands of Django. */
export function programNames(symbols) {
  const times = new Map();
  for (const { qualname } of symbols) times.set(qualname, (times.get(qualname) ?? 0) + 1);
  const isOfFile = ({ qualname }) => ["<module>", "main"].includes(qualname) || times.get(qualname) > 1;
  const inFile = new Map();
  for (const one of symbols.filter(isOfFile)) inFile.set(one.path, (inFile.get(one.path) ?? 0) + 1);
  return symbols.map((symbol) => (isOfFile(symbol) && inFile.get(symbol.path) === 1 ? symbol.path : nameOf(symbol)));
}

/** Entries of a list of entry points. */
export const entriesOf = (some) => programNames(some.map(({ symbol }) => symbol)).map((name, i) => entryPoint(some[i], name));

const entryPoint = (one, name) => [link(to("code", { at: refOf(one.symbol) }), name, { class: "symbol", title: refOf(one.symbol) }), " ", chip(words.home.entry_of[one.kind] ?? one.kind.toLowerCase(), "entry"), h("div.where", null, name === one.symbol.path ? null : [where(one.symbol), " · "], words.home.reach(one.reach))];

/** Entry points that people start; of a library the exports, those with the farthest reach first. */
export async function entryPoints(signal) {
  const { entryPoints: outside } = await ask("EntryPoints", { kinds: OUTSIDE, limit: 20 }, signal);
  const { entryPoints: all } = await ask("EntryPoints", { limit: 1 }, signal);
  const more = async (offset) => (await ask("EntryPoints", { kinds: OUTSIDE, limit: PAGE, offset }, signal)).entryPoints.entryPoints;
  if (outside.entryPoints.length) return { byKind: all.byKind, some: outside.entryPoints, total: outside.total, more };
  const exported = [];
  for (let total = 1; exported.length < total; ) {
    const { entryPoints: page } = await ask("EntryPoints", { kinds: ["EXPORT"], limit: MOST, offset: exported.length }, signal);
    if (!page.entryPoints.length) break;
    exported.push(...page.entryPoints);
    total = page.total;
  }
  const some = exported.sort((a, b) => b.reach - a.reach || (refOf(a.symbol) < refOf(b.symbol) ? -1 : 1));
  return { byKind: all.byKind, some, total: some.length, more: async () => [] };
}

/** A commit: what it says, when, which modules; leads to what it breaks. */
export function commit(one) {
  const w = words.home;
  return [
    link(commitPage(one.sha), one.subject || one.sha.slice(0, 10), { title: w.what_broke }),
    h("div.meta", null, day(one.at), one.author ? h("span.author", null, one.author) : null, h("span.where", null, words.many(one.files, "file")), one.modules.slice(0, 3).map((name) => link(to("graph", { focus: name }), name, { class: "chip" })), one.modules.length > 3 ? h("span.where", null, words.andMore(one.modules.length - 3)) : null),
  ];
}

/** A cycle of modules, and the dependency that is easiest to remove from it. */
export function cycle(one) {
  const w = words.home;
  const cut = one.cheapest;
  const member = (name) => link(to("graph", { focus: name }), name);
  return h(
    "div",
    null,
    h("p", null, w.ring(one.members.length), one.deferred ? ` ${w.deferred}` : ""),
    h("p.where", null, one.example.map((name, i) => [i ? " → " : "", member(name)]), " → ", member(one.example[0])),
    h("p", null, w.cut, " ", member(cut.src), " → ", member(cut.dst), ` (${words.many(cut.weight, "connection")})`),
    details(w.sites, cut.sites.length, false, listing(cut.sites.map((step) => [symbolLink(step.src), ` ${words.map.kind[step.kind] ?? step.kind} `, symbolLink(step.dst), h("div.where", null, `${step.src.path}:${step.line}`)]), 8)),
    details(w.members, one.members.length, false, listing(one.members.map(member), 30)),
  );
}
