// Questions that a page answers better than a search: which page, about what, and the first line of its answer.

import { Refusal, ask } from "./api.js";
import { h } from "./dom.js";
import { countedDependents, failure, link, nameOf, to } from "./parts.js";
import { entryPoints, isOutside } from "./semantics.js";
import { sentence, tangles } from "./tangled.js";
import { words } from "./words.js";

const NAMED = 3; // callers that an answer names
const PAGES = { entries: "onboarding", known: "memories" }; // the page of a route, if it has another name
const ABOUT_MODULES = new Set(["people", "risk", "cut", "decisions"]);
const ABOUT_CODE = new Set(["impact", "code", "known"]);

/** The page for a question, and what the question is about; null when search has to answer it. */
export async function routed(question, signal) {
  const view = words.ask.routes.find(([pattern]) => pattern.test(question))?.[1];
  if (!view) return null;
  if (!ABOUT_MODULES.has(view) && !ABOUT_CODE.has(view)) return { view, subject: null };
  return { view, subject: await subject(question, signal) };
}

/** The module or symbol that a question names: a module by its name, else the last word that is a name in the index. */
async function subject(question, signal) {
  const said = question.replace(/[?!.,;]+(?=\s|$)/g, "").split(/\s+/).map((word) => word.replace(/^[`"'„“(]+|[`"'“”)]+$/g, "")).filter(Boolean);
  const { modules } = await ask("ModuleNames", {}, signal);
  const named = modules.modules.map((one) => one.name).filter((name) => said.includes(name)).sort((a, b) => b.length - a.length)[0];
  if (named) return { module: named, ref: named };
  const likely = (word) => /[./_:]|[a-z][A-Z]/.test(word) || word.length > 3;
  for (const word of said.filter(likely).reverse()) {
    const { symbols } = await ask("Symbols", { query: word, first: 1 }, signal);
    const node = symbols.edges[0]?.node;
    if (node && [node.name, node.qualname, node.path, node.path.split("/").at(-1)].some((text) => text.toLowerCase() === word.toLowerCase())) return { ref: word, path: node.path };
  }
  return null;
}

/** The card that leads to the page, with the first line of what it says. */
export async function lead({ view, subject: about }, signal) {
  const w = words.ask;
  const page = PAGES[view] ?? view;
  const { title } = words.architect[page] ?? words[page];
  const parameters = !about ? {} : view === "impact" ? { of: about.ref } : view === "code" ? { at: about.ref } : view === "known" ? { file: about.ref } : about.module ? { of: about.module } : {};
  let line = null;
  try {
    line = await (FIRST[view]?.(about, signal) ?? null);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    line = failure(error, (ref) => to(page, view === "impact" ? { of: ref } : { at: ref }));
  }
  return h("section.card", null,
    h("h2", null, w.answer),
    line === null ? null : line instanceof Node ? line : h("p.answer", null, line),
    h("p", null, w.on_page, " ", link(to(page, parameters), about && ABOUT_CODE.has(view) ? `${title} ${about.ref}` : title, { class: "button primary" })));
}

const shares = (people) => people.map((who) => `${who.name} ${Math.round(100 * who.share)}%`).join(", ");

const FIRST = {
  tangled: async (_, signal) => sentence(await tangles(signal)),
  cut: async (about, signal) => (about ? null : sentence(await tangles(signal))),
  changes: async (_, signal) => {
    const { commits } = await ask("CommitList", { limit: 1 }, signal);
    const [one] = commits.commits;
    return one ? words.ask.newest(one.subject, one.author, one.at.slice(0, 10), one.modules) : words.architect.changes.no_commits;
  },
  people: async (about, signal) => {
    const holder = about?.module ?? (about ? (await ask("Module", { ref: about.path }, signal)).module.module.name : "");
    const { people } = await ask("People", { ...(about && !about.module ? { module: holder } : {}), limit: 500 }, signal);
    const one = about ? people.parts.find((part) => part.name === (about.module ?? about.path)) : people.parts[0];
    return one ? words.ask.knows(one.name, shares(one.people), one.busFactor) : null;
  },
  entries: async (_, signal) => {
    const { some, total } = await entryPoints(signal);
    const names = some.slice(0, NAMED).map(({ symbol }) => (symbol.qualname === "<module>" ? symbol.path : nameOf(symbol)));
    return names.length ? (isOutside(some[0]) ? words.ask.starts : words.ask.exports)(names, total) : null;
  },
  news: async (_, signal) => {
    const { teamNews: one } = await ask("TeamNews", { limit: 1 }, signal);
    return words.news.count(one.total, one.since.slice(0, 10), one.disagreements.length);
  },
  onboarding: async (_, signal) => {
    const { important } = (await ask("TeamNews", { limit: 1 }, signal)).teamNews;
    return important.length ? words.ask.begin(important[0].title, important.length) : words.onboarding.nothing;
  },
  risk: async (_, signal) => {
    const { hotspots } = await ask("Hotspots", { level: "FILES", limit: 1 }, signal);
    const [one] = hotspots.hotspots;
    return one ? words.ask.hottest(one.symbol.path, Math.round(one.score)) : null;
  },
  impact: async (about, signal) => {
    if (!about) return words.impact.hint;
    const { impact } = await ask("ImpactOverview", { targets: [about.ref] }, signal);
    return countedDependents(impact);
  },
  known: async (about, signal) => {
    if (!about) return words.ask.known_of;
    const { memories } = await ask("Memories", { filter: { files: [about.path ?? about.ref] }, sort: "CONFIDENCE", first: 1 }, signal);
    return words.ask.known_about(about.ref, memories.totalCount, memories.edges[0]?.node.title);
  },
  code: async (about, signal) => {
    if (!about) return words.code.hint;
    const { symbol } = await ask("Symbol", { ref: about.ref, first: NAMED }, signal);
    return words.ask.callers(nameOf(symbol), symbol.callers.totalCount, symbol.callers.edges.map(({ node }) => nameOf(node)));
  },
};
