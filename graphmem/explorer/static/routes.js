// Questions that a page answers better than a search: which page, about what, and the first line of its answer.

import { Refusal, ask } from "./api.js";
import { h } from "./dom.js";
import { countedDependents, failure, link, nameOf, refOf, runnable, spelled, to } from "./parts.js";
import { entryPoints, isOutside, isProgram, programNames } from "./semantics.js";
import { sentence, tangles } from "./tangled.js";
import { words } from "./words.js";

const NAMED = 3; // callers that an answer names
const PAGES = { callees: "code", entries: "onboarding", flows: "home", known: "memories", tests: "impact", uses: "matrix" }; // the page of a route, if it has another name
const ABOUT_MODULES = new Set(["people", "risk", "cut", "decisions"]);
const ABOUT_CODE = new Set(["impact", "code", "callees", "coaccess", "known", "tests"]);
const MOST_EDGES = 100; // of a relation, among which the telling ones are named
const TRIED = 12; // symbols that a word of a question may mean

/** The page for a question, and what the question is about; null when search has to answer it. */
export async function routed(question, signal) {
  const [first, second] = words.ask.routes.filter(([pattern]) => pattern.test(question)).map(([, name]) => name);
  const both = first === "uses" ? await twoModules(question, signal) : null;
  if (both) return { view: "uses", subject: both };
  const view = first === "uses" ? second : first;
  if (!view) return null;
  if (!ABOUT_MODULES.has(view) && !ABOUT_CODE.has(view)) return { view, subject: null };
  const own = view === "people" ? await directory(question, signal) : view === "known" ? await folderIn(question, signal) : null;
  const about = own ?? (await subject(question, view === "known" || ABOUT_MODULES.has(view), signal));
  return { view, subject: view === "known" && about?.module ? await folderOf(about, signal) : about };
}

const wordsOf = (question) => question.replace(/[?!.,;]+(?=\s|$)/g, "").split(/\s+/).map((word) => word.replace(/^[`"'„“(]+|[`"'“”)]+$/g, "")).filter(Boolean).reverse();

/** The module or directory that a question names by a path, with the people who know it; null without one. */
async function directory(question, signal) {
  for (const word of wordsOf(question).filter((one) => one.includes("/"))) {
    const { people } = await ask("People", { module: word, limit: 1 }, signal).catch((error) => (error instanceof Refusal ? { people: {} } : Promise.reject(error)));
    if (people.whole) return { module: people.whole.name, ref: word, whole: people.whole };
  }
  return null;
}

/** The file, symbol or, if the page takes one, module that a question names, the last of several; `unknown` is a name that is not in the index. */
async function subject(question, modulesToo, signal) {
  const said = wordsOf(question);
  const { modules } = await ask("ModuleNames", {}, signal);
  const names = modulesToo ? modules.modules.map((one) => one.name) : [];
  const isCode = (word) => /[./_:]|[a-z][A-Z]/.test(word);
  for (const word of said.filter(isCode)) {
    const module = moduleOf(word, names);
    const found = module ? { module, ref: module } : await named(word, signal);
    if (found) return found;
  }
  const plain = said.filter((one) => !isCode(one) && !words.ask.general.test(one));
  for (const word of plain) {
    const module = moduleCalled(word, names);
    if (module) return { module, ref: module };
  }
  for (const word of plain.filter((one) => one.length > 3)) {
    const found = await named(word, signal);
    if (found) return found;
  }
  const unknown = said.find(isCode);
  return (await folderIn(question, signal)) ?? (unknown ? { unknown } : null);
}

/** The two modules of a question whether one uses the other, as `of` and `on`; null without exactly two. */
async function twoModules(question, signal) {
  const { modules } = await ask("ModuleNames", {}, signal);
  const names = modules.modules.map((one) => one.name);
  const found = [...new Set(wordsOf(question).map((word) => moduleOf(word, names) ?? moduleCalled(word, names)).filter(Boolean))];
  if (found.length !== 2) return null;
  const [on, of] = words.ask.passive.test(question) ? found.reverse() : found; // words come last first
  return { of, on };
}

/** The module whose directory has this name; of several, the one nearest to the root; undefined without one, or if two are equally near. */
function moduleCalled(word, names) {
  const parts = new Map(names.map((name) => [name, name.split(": ")[0].split("/")])); // `core: api, tables` is the directory `core`
  const called = names.filter((name) => name === word || parts.get(name).at(-1).toLowerCase() === word.toLowerCase());
  const [one, next] = called.sort((a, b) => parts.get(a).length - parts.get(b).length);
  return one && (!next || parts.get(one).length < parts.get(next).length) ? one : undefined;
}

/** The directory that a question names by its path, and its number of files; null without one. */
async function folderIn(question, signal) {
  for (const word of wordsOf(question).filter((one) => one.includes("/"))) {
    const path = word.replace(/\/$/, "");
    const { files } = await ask("Files", { prefix: `${path}/`, first: 1 }, signal);
    if (files.totalCount) return { ref: path, path, files: files.totalCount };
  }
  return null;
}

/** The directory of a module, for pages that take no module. */
async function folderOf(about, signal) {
  const { path } = (await ask("Module", { ref: about.module }, signal)).module.module;
  return path ? { ref: path, path } : about;
}

/** The module with a name or directory: a Go package in `lib/fs` is the module `fs`; undefined without one. */
export function moduleOf(place, names) {
  const path = place.replace(/\/$/, "");
  return names.filter((name) => path === name || path.endsWith(`/${name}`)).sort((a, b) => b.length - a.length)[0];
}

/** The symbol or file with exactly this name; null without one. */
async function named(word, signal) {
  const same = (...texts) => texts.some((text) => text.toLowerCase() === word.toLowerCase());
  const { symbols } = await ask("Symbols", { query: word, first: TRIED }, signal);
  const nodes = symbols.edges.map((edge) => edge.node);
  const node = nodes.find((one) => same(one.name, one.qualname, `${one.path}:${one.qualname}`));
  if (node) return { ref: word, path: node.path };
  const route = nodes.find((one) => same(spelled(one.name).split(" ").at(-1))); // `POST carts.info` is known as carts.info
  if (route) return { ref: refOf(route), path: route.path };
  const { files } = await ask("Files", { query: word, first: TRIED }, signal);
  const file = files.edges.map((edge) => edge.node).find((one) => same(one.path, one.path.split("/").at(-1)));
  return file ? { ref: file.path, path: file.path } : null;
}

/** The card that leads to the page, with the first line of what it says. */
export async function lead({ view, subject: about }, signal) {
  const w = words.ask;
  const page = PAGES[view] ?? view;
  const title = page === "home" ? words.views.home : (words.architect[page] ?? words[page]).title;
  const unknown = about?.unknown;
  if (unknown) about = null;
  if (about?.files && view !== "known") return answered(words.ask.folder(about.ref, about.files), to("graph", { focus: about.ref }), `${words.views.graph} ${about.ref}/`);
  let line = null;
  let links = [];
  try {
    line = unknown ? words.ask.unknown(unknown) : await (FIRST[view]?.(about, signal) ?? null);
    if (Array.isArray(line)) [line, links] = line;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    line = failure(error, (ref) => to(page, page === "code" ? { at: ref } : { of: ref }));
  }
  const key = { impact: "of", tests: "of", code: "at", callees: "at", known: "file", coaccess: "files" }[view];
  const parameters = !about ? {} : key ? { [key]: view === "coaccess" ? about.path ?? about.ref : about.ref } : about.module ? { of: about.module } : about.on ? about : {};
  return answered(line instanceof Node || line === null ? line : linked(line, links), to(page, parameters), about && ABOUT_CODE.has(view) ? `${title} ${about.ref}` : title);
}

/** The card of an answer: its line, and the page that has the whole of it. */
function answered(line, address, title) {
  const w = words.ask;
  return h("section.card", null, h("h2", null, w.answer), line === null ? null : line instanceof Node ? line : h("p.answer", null, line), h("p", null, w.on_page, " ", link(address, title, { class: "button primary" })));
}

/** A sentence in which names are links; `links` are pairs of name and address. */
function linked(text, links) {
  const names = new Map(links);
  const longest = [...names.keys()].sort((a, b) => b.length - a.length).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!longest.length) return text;
  return text.split(new RegExp(`(${longest.join("|")})`)).map((part) => (names.has(part) ? link(names.get(part), part) : part));
}

const pageOf = (symbol) => to("code", { at: refOf(symbol) });

export const shares = (people) => people.filter((who) => Math.round(100 * who.share)).map((who) => `${who.name} ${Math.round(100 * who.share)}%`).join(", ");

const FIRST = {
  tangled: async (_, signal) => sentence(await tangles(signal)),
  cut: async (about, signal) => (about ? null : sentence(await tangles(signal))),
  changes: async (_, signal) => {
    const { commits } = await ask("CommitList", { limit: 1 }, signal);
    const [one] = commits.commits;
    return one ? words.ask.newest(one.subject, one.author, one.at.slice(0, 10), one.modules) : words.architect.changes.no_commits;
  },
  people: async (about, signal) => {
    if (!about) return null; // a page of all modules answers that, and no first line of it does
    const { path, whole } = about;
    if (whole) return words.ask.knows(whole.name, shares(whole.people), whole.busFactor);
    about.module ??= (await ask("Module", { ref: path }, signal)).module.module.name; // the page about a file is that of its module
    const { people } = await ask("People", { ...(path ? { module: about.module } : {}), limit: 500 }, signal);
    const one = people.parts.find((part) => part.name === (path ?? about.module));
    return one ? words.ask.knows(one.name, shares(one.people), one.busFactor) : null;
  },
  uses: async ({ of, on }, signal) => {
    const { dependencies } = (await ask("ModuleUses", {}, signal)).modules;
    return words.ask.uses(of, on, dependencies.find((one) => one.srcName === of && one.dstName === on)?.weight ?? 0);
  },
  entries: async (_, signal) => {
    const { some: all, total } = await entryPoints(signal);
    const programs = all.filter((one) => isProgram(one) && !one.beside);
    const some = programs.length ? programs : all;
    const names = programNames(some.map(({ symbol }) => symbol));
    const called = some.map(({ symbol }, i) => [names[i], pageOf(symbol)]);
    const first = called.slice(0, NAMED).map(([name]) => name);
    const known = programs.length && programs.length < all.length ? programs.length : total; // programs come before handlers
    return first.length ? [(isOutside(some[0]) ? words.ask.starts : words.ask.exports)(first, known), called] : null;
  },
  news: async (_, signal) => {
    const { teamNews: one } = await ask("TeamNews", { limit: 1 }, signal);
    return words.news.count(one.total, one.since.slice(0, 10), one.disagreements.length);
  },
  onboarding: async (_, signal) => {
    const { important } = (await ask("TeamNews", { limit: 1 }, signal)).teamNews;
    return important.length ? words.ask.begin(important[0].title, important.length) : words.onboarding.nothing;
  },
  flows: async (_, signal) => {
    const { flows } = await ask("Flows", { limit: NAMED }, signal);
    return flows.flows.length ? [words.ask.flows(flows.flows.map((one) => one.name), flows.total), flows.flows.map((one) => [one.name, pageOf(one.entry)])] : null;
  },
  tests: async (about, signal) => {
    if (!about) return words.impact.hint;
    const { impact } = await ask("ImpactOverview", { targets: [about.ref] }, signal);
    const cases = impact.tests.filter((hit) => runnable(hit.symbol));
    const first = cases.slice(0, NAMED).map((hit) => hit.symbol);
    return [words.ask.tests(about.ref, cases.length, first.map(nameOf)), first.map((one) => [nameOf(one), pageOf(one)])];
  },
  coaccess: async (about, signal) => {
    if (!about) return words.coaccess.hint;
    const { coAccess } = await ask("CoAccess", { files: [about.path ?? about.ref], limit: NAMED }, signal);
    const often = coAccess.hits.filter((one) => one.support);
    return [words.ask.together(about.path ?? about.ref, often.map((one) => `${one.path} (${Math.round(100 * one.confidence)}%)`)), often.map((one) => [one.path, to("code", { at: one.path })])];
  },
  risk: async (about, signal) => {
    if (about) return null; // the page has the figures of the module
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
  callees: async (about, signal) => {
    if (!about) return words.code.hint;
    const { symbol } = await ask("Symbol", { ref: about.ref, first: MOST_EDGES }, signal);
    const all = symbol.callees.edges.map(({ node }) => node);
    const some = [...all.filter((one) => one.path), ...all.filter((one) => !one.path)].slice(0, NAMED); // the project's own first
    return [words.ask.callees(nameOf(symbol), symbol.callees.totalCount, some.map(nameOf)), some.map((one) => [nameOf(one), pageOf(one)])];
  },
  code: async (about, signal) => {
    if (!about) return words.code.hint;
    const { symbol } = await ask("Symbol", { ref: about.ref, first: MOST_EDGES }, signal);
    const all = symbol.callers.edges.map(({ node }) => node);
    const inTests = all.filter((one) => one.isTest);
    const callers = [...all.filter((one) => !one.isTest), ...inTests].slice(0, NAMED); // the product's own first
    const total = symbol.callers.totalCount;
    const tests = total > all.length ? null : inTests.length; // of a longer list, it is not known
    // A function that only tests call may be passed on: the code that names it is then nearer to an answer.
    const passing = callers.some((one) => !one.isTest) ? [] : symbol.references.edges.filter(({ kind, node }) => kind === "REFERENCES" && !node.isTest).map(({ node }) => node).slice(0, NAMED);
    const said = words.ask.callers(nameOf(symbol), total, tests, callers.map(nameOf)) + (passing.length ? words.ask.references(passing.map(nameOf)) : "");
    return [said, [...callers, ...passing].map((one) => [nameOf(one), pageOf(one)])];
  },
};
