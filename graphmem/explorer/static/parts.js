// Pieces several views are made of.

import { BASE, Refusal, ask } from "./api.js";
import { announce, fill, h, later, plain } from "./dom.js";
import { words } from "./words.js";

/** Address of a view. */
export function to(view, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return `${BASE}/explore/${view === "home" ? "" : view}` + (query ? `?${query}` : "");
}

/** Go to an address without loading the page anew. */
export function go(address, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  dispatchEvent(new PopStateEvent("popstate"));
  if (!replace) scrollTo(0, 0);
}

/** Change the address to what is shown, without showing it again. */
export function note(address, keepSource = true) {
  const [next, code] = [new URL(address, location.href), new URL(location.href).searchParams.get("code")];
  if (keepSource && code && !next.searchParams.has("code")) next.searchParams.set("code", code); // the source pane stays where it is
  history.replaceState(null, "", next.pathname + next.search);
}

export function link(address, text, given = {}) {
  return h("a", { href: address, ...given }, text);
}

/** Address of a commit: what it says and what it breaks. */
export function commitPage(sha) {
  const short = sha.slice(0, 12);
  return to("diff", { base: `${short}~1`, head: short });
}

/** A commit in a list: its subject, which leads to its page, when and by whom. */
export function commitLine(one) {
  return [link(commitPage(one.sha), one.subject || one.sha.slice(0, 10)), h("div.meta", null, day(one.at), h("span.author", null, one.author))];
}

/** What a symbol is called: `qualname` and where. */
export function refOf(symbol) {
  if (!symbol.path) return symbol.qualname;
  return symbol.kind === "FILE" || !symbol.qualname ? symbol.path : `${symbol.path}:${symbol.qualname}`;
}

/** The file of what a memory is about: `path` or `path:name`, both of which may have colons. `known` has the paths of files. */
export function fileOf(name, known) {
  for (let at = name.length; at > 0; at = name.lastIndexOf(":", at - 1)) if (known.has(name.slice(0, at))) return name.slice(0, at);
  return name;
}

export function nameOf(symbol) {
  if (symbol.qualname === "<module>") return words.top_level(symbol.path);
  if (symbol.qualname === "default" && symbol.path) return `default (${symbol.path.split("/").slice(-2).join("/")})`; // every file has one
  return spelled(symbol.qualname || symbol.path || symbol.name);
}

/** A note of an answer as a sentence. */
export const noted = (note) => `${note[0].toUpperCase()}${note.slice(1)}.`;

/** A name as people wrote it: in names of tests, which are their titles, the index writes "·" for a dot. */
export const spelled = (name) => name.replace(/·+$/, "").replaceAll("·", ".");

export function symbolLink(symbol) {
  return link(to("code", { at: refOf(symbol) }), nameOf(symbol), { class: "symbol", title: refOf(symbol) });
}

export function where(symbol) {
  if (!symbol.path) return h("span.where", null, words.impact.outside_file);
  if (symbol.qualname === "<module>" || !symbol.startLine) return h("span.where", null, "");
  return placeLink(symbol.path, symbol.startLine);
}

/** A line of a file, written as its path and number, which a click shows in the source pane. */
export function placeLink(path, line) {
  const place = `${path}:${line}`;
  return link(to("code", { at: place }), place, { class: "where", "data-site": place });
}

/** A line of a file, which a click shows in the source pane. */
export function site(path, line) {
  return link(to("code", { at: `${path}:${line}` }), words.around.line(line), { class: "site", "data-site": `${path}:${line}`, title: `${path}:${line}` });
}

/** A name that breaks after a dot, a slash, a hyphen or an underscore, or before a capital, rather than in the middle of a word. */
export function breakable(text) {
  return text.split(/(?<=[./_-])(?=\w)|(?<=[a-z])(?=[A-Z])/).flatMap((part, i) => (i ? [h("wbr", null), part] : [part]));
}

export function chip(text, kind = "") {
  return h(`span.chip${kind ? `.${kind}` : ""}`, null, text);
}

/** The kind of a symbol, such as a function, in the language of the page. */
export function kindChip(kind) {
  return chip(words.kinds(kind));
}

export function certainty(confidence, rule = "") {
  const word = words.certainty(confidence);
  return h(`span.chip.${confidence >= 0.8 ? "certain" : confidence >= 0.5 ? "likely" : "possible"}`, { title: `${Math.round(100 * confidence)}%${rule ? `, ${words.rule(rule)}` : ""}` }, word);
}

export function day(iso) {
  return iso ? h("time", { datetime: iso, title: iso }, iso.slice(0, 16).replace("T", " ")) : "";
}

/** One edge of a path: how, how certain, by which rule, and the line that says it. */
export function edgeWhy(step, rules) {
  const said = new Map(rules.map((one) => [one.name, one.value]));
  return [words.map.verb[step.kind] ?? step.kind, " ", certainty(step.confidence, step.rule), " ", step.src.path && step.line ? site(step.src.path, step.line) : null, h("div.where", { title: step.rule }, said.get(step.rule) ?? words.rule(step.rule))];
}

/** Traps that an answer knows about one symbol itself. Those about its whole file are in `fileTraps`. */
export function trapsAt(known, symbol) {
  const here = [refOf(symbol), ...(symbol.qualname === "<module>" ? [] : [nameOf(symbol)])];
  return known.memories.filter((one) => one.trap && one.about !== symbol.path && here.includes(one.about));
}

/** Traps about whole files of the given symbols, each once and with its file; a list, or null. */
export function fileTraps(known, symbols, but = new Set()) {
  const paths = new Set(symbols.map((one) => one.path));
  const some = known.memories.filter((one) => one.trap && paths.has(one.about) && !but.has(one.shortId));
  return some.length ? h("ul.file-traps", null, some.map((one) => h("li", null, trapMark(one), h("div.where", null, words.known.whole_file(one.about))))) : null;
}

/** A mark that leads to a trap. */
export function trapMark(one) {
  return link(to("memories", { id: one.shortId }), words.known.trap_here(plain(one.title)), { class: "chip trap", title: one.content });
}

/** Why a change is as risky as it is: the first reasons, which open to the others. */
export function riskReasons(risk) {
  const reasons = risk.reasons.map(words.impact.reason);
  const first = reasons.slice(0, FIRST_REASONS).join("; ");
  if (reasons.length <= FIRST_REASONS) return first ? h("span.hint", null, first) : null;
  return h("details.hint.reasons", null, h("summary", null, first), reasons.slice(FIRST_REASONS).join("; "));
}

/** A section with a heading. */
export function card(title, hint, ...children) {
  return h("section.card", null, h("h2", null, title), hint ? h("p.hint", null, hint) : null, children);
}

/** The button below a cut list: it says how much is shown of how much, and leads to the rest, which the server may still have. */
function further(add, some, first, rest) {
  let shown = 0;
  const button = h("button.plain", { type: "button" });
  const show = (until) => {
    add(some.slice(shown, until));
    shown = Math.min(until, some.length);
    const all = Math.max(rest?.total ?? 0, some.length);
    if (shown >= all) return button.remove();
    button.textContent = words.more(some.length > shown ? some.length - shown : Math.min(rest.page ?? all, all - shown), shown, all);
  };
  button.addEventListener("click", async () => {
    if (shown < some.length) return show(some.length);
    button.disabled = true;
    try {
      const next = await rest.more(some.length);
      some = [...some, ...next];
      if (!next.length) rest = { ...rest, total: some.length };
      show(some.length);
    } catch (error) {
      if (error.name !== "AbortError") button.after(failure(error));
    }
    button.disabled = false;
  });
  show(first);
  return button;
}

/** A table; a row is a list of cells, or a function that gives it. `rest` is as for `listing`. */
export function table(caption, head, rows, { first = 100, numeric = [], rest = null, wide = head.length > 3 } = {}) {
  // Where there is no room for many columns, a row is a few lines, each cell with its column's name before it.
  const cell = (content, column) => h(numeric.includes(column) ? "td.number" : "td", column && wide ? { "data-column": head[column] } : null, content);
  const body = h("tbody");
  const add = (some) => body.append(...some.map((row) => h("tr", null, (typeof row === "function" ? row() : row).map(cell))));
  const whole = h("div.table", null, h(wide ? "table.wide" : "table", null, h("caption", null, caption), h("thead", null, h("tr", null, head.map((name, i) => h(numeric.includes(i) ? "th.number" : "th", { scope: "col" }, name)))), body));
  const button = further(add, rows, first, rest);
  if (button.textContent) whole.append(button);
  return whole;
}

/**
 * A list that shows its first entries and, asked, the others.
 * @param {object} rest  of a list that the server cut: `total`, `page` (entries of an answer) and `more(have)`, a promise of the next entries.
 */
export function listing(entries, first = 8, tag = "ul", rest = null) {
  const list = h(tag, { class: "listing" });
  const button = further((some) => list.append(...some.map((entry) => h("li", null, entry))), entries, first, rest);
  return button.textContent ? h("div", null, list, button) : list;
}

/** Whether a test runner can be given it: a test, or code of a file of tests outside all functions. */
export function runnable({ entryPoint, isTest, kind }) {
  return entryPoint === "test" || (isTest && kind === "MODULE");
}

/** How many dependents and tests an answer of impact has, in the same words wherever it is said. */
export function countedDependents(report) {
  const cases = report.tests.filter((hit) => runnable(hit.symbol)).length;
  const direct = report.hits.filter((hit) => hit.depth === 1).length;
  return words.impact.total(report.total - report.tests.length, report.hits.length, direct, report.maxDepth, cases, report.tests.length - cases);
}

const FIRST_REASONS = 2; // of a risk, in sight
export const MOST_TEXT = 240; // characters of a memory in a list
const NEAR = ["target", "around"]; // places of memories that come before all others
const MOST_PATHS = 500; // files whose memories are asked for at once

/** A button that lists the memories which an answer only counts. */
function others(known, paths, about) {
  const w = words.known;
  if (!paths.length) return h("p.hint", null, w.more(known.more, about));
  const place = h("div");
  const shown = new Set(known.memories.map((one) => one.shortId));
  const list = () => into(place, ask("Memories", { filter: { files: [...new Set(paths)].slice(0, MOST_PATHS) }, sort: "CONFIDENCE", first: 100 }), ({ memories }) => [
    listing(memories.edges.filter(({ node }) => !shown.has(node.shortId)).map(({ node }) => [link(to("memories", { id: node.shortId }), plain(node.title)), " ", chip(words.memories.type_of[node.type] ?? node.type), " ", sureness(node.confidenceInUse), h("div.where", null, node.files.slice(0, 3).join(", "), " · ", day(node.createdAt))]), 20),
    memories.totalCount > memories.edges.length ? h("p", null, words.of(memories.edges.length, memories.totalCount), " ", link(to("memories", paths.length === 1 ? { file: paths[0] } : {}), words.views.memories)) : null,
  ]);
  fill(place, h("button.plain", { type: "button", onclick: list }, w.more(known.more, about)));
  return place;
}

/** Whether a memory's title is only the beginning of its text, which is then shown in its place. */
export function isBeginning(title, content) {
  const told = plain(title).replace(/…$/, "");
  return plain(content).startsWith(told) && (title.endsWith("…") || content.length <= MOST_TEXT);
}

/** How certain a memory is, on its scale. */
export function sureness(confidence) {
  return h("span.chip", { title: words.known.certain_hint }, words.known.certain(confidence));
}

/** The beginning of a text, without Markdown. */
export const short = (text, most) => (plain(text).length > most ? `${plain(text).slice(0, most)}…` : plain(text));

/** A link to the reasons that documents, comments and commits give for something, also where nobody wrote a memory. */
export const reasonsFor = (text) => link(to("ask", { q: words.memories.why(text) }), words.memories.elsewhere);

/**
 * Memories about the code of an answer: the target's own first, each with the code it is about and the reason to check it.
 * @param {string[]} paths  files of the answer, in which the memories that it only counts are found.
 * @param {string} about  a key of `words.known.files`: what the counted memories are about.
 */
export function knownList(known, none, paths, about) {
  const w = words.known;
  const near = (one) => NEAR.indexOf(one.place) + (NEAR.includes(one.place) ? 0 : NEAR.length + 1);
  const entries = [...known.memories].sort((a, b) => near(a) - near(b)).map((one) => [
    one.trap ? [chip(w.trap, "trap"), " "] : null,
    link(to("memories", { id: one.shortId }), isBeginning(one.title, one.content) ? short(one.content, MOST_TEXT) : plain(one.title)),
    " ",
    one.trap ? null : [chip(words.memories.type_of[one.type] ?? one.type), " "],
    sureness(one.confidenceInUse),
    one.doubt ? [" ", chip(one.doubt, "likely")] : null,
    h("div.where", null, w.place[one.place] ? `${w.place[one.place]}: ` : "", one.about, " · ", day(one.createdAt)),
    isBeginning(one.title, one.content) ? null : h("p.quiet-text", null, short(one.content, 160)),
  ]);
  return [
    entries.length ? listing(entries, 5) : known.held ? null : h("p.hint", null, none),
    known.more ? others(known, paths, about) : null,
    known.held ? h("p.hint", null, link(to("review"), w.held(known.held, about))) : null,
  ];
}

export function details(title, count, open, ...children) {
  return h("details", { open }, h("summary", null, title, count === null ? null : h("span.count", null, words.number(count))), children);
}

/** The same for much content: `make` gives it when it is opened for the first time. */
export function folded(title, count, open, make) {
  const whole = details(title, count, open);
  let made = false;
  const fillIn = () => {
    if (!whole.open || made) return;
    made = true;
    whole.append(make());
  };
  whole.addEventListener("toggle", fillIn);
  fillIn();
  return whole;
}

/** Switches that open below a button; Escape and a click elsewhere close them. */
export function menu(title, signal, ...inside) {
  const made = h("details.menu", { onkeydown: (event) => event.key === "Escape" && made.open && ((made.open = false), made.querySelector("summary").focus()) }, h("summary", null, title), h("fieldset", null, h("legend", null, title), inside));
  const close = (event) => made.open && !made.contains(event.target) && (made.open = false);
  document.addEventListener("pointerdown", close);
  signal?.addEventListener("abort", () => document.removeEventListener("pointerdown", close));
  return made;
}

/** A file as a link that shows its name, with its folder below: long paths do not break in the middle of a word. */
export function fileLink(path) {
  const at = path.lastIndexOf("/");
  return [link(to("code", { at: path }), breakable(path.slice(at + 1)), { title: path }), at > 0 ? h("div.where", null, path.slice(0, at)) : null];
}

/** A labelled form field. */
export function field(label, control, hint = "") {
  return h("label.field", null, h("span", null, label), control, hint ? h("small", null, hint) : null);
}

export function choice(options, value, given = {}) {
  return h("select", given, options.map(([key, text]) => h("option", { value: key, selected: key === value }, text)));
}

/** A refusal where the answer would have been; of an ambiguous name the candidates. */
export function failure(error, again = null) {
  if (!(error instanceof Refusal)) {
    console.error(error); // a fault of the page, or a server of another version
    return h("div.failure", { role: "alert" }, h("strong", null, words.failed), h("p", null, words.page_fault));
  }
  const candidates = error.facts.candidates ?? [];
  const suggestions = error.facts.suggestions ?? [];
  const named = (one) => (typeof one === "string" ? one : (one.ref ?? refOf({ ...one, path: one.path ?? "" })));
  const choices = [...candidates.map(named), ...suggestions];
  if (again && choices.length) {
    // A question back, and no fault.
    const kind = (i) => (candidates[i]?.kind ? [" ", kindChip(candidates[i].kind)] : null);
    return h(
      "div.failure.choose",
      { role: "alert" },
      h("strong", null, error.code === "AMBIGUOUS" ? words.panel.twins : words.panel.unknown(error.facts.ref ?? "")),
      listing(choices.map((ref, i) => [link(again(ref), ref), kind(i)]), 20),
      error.facts.total > candidates.length ? h("p.hint", null, words.of(candidates.length, error.facts.total)) : null,
    );
  }
  const { ref } = error.facts;
  if (error.code === "NOT_FOUND" && ref && again) return h("div.failure", { role: "alert" }, h("strong", null, words.panel.unknown_here), h("p", null, words.panel.unread), link(to("ask", { q: ref }), words.search.by_words(ref)));
  return h("div.failure", { role: "alert" }, h("strong", null, error.code === "NOT_FOUND" ? words.panel.unknown_here : words.failed), h("p", null, error.message));
}

/** Fill a place when an answer comes: at once with a word, then with what `show` makes of it. */
export async function into(place, promise, show, again = null) {
  fill(place, h("p.loading", null, words.loading));
  try {
    const answer = await promise;
    fill(place, show(answer));
  } catch (error) {
    if (error.name === "AbortError") return;
    fill(place, failure(error, again));
  }
}

const FILES = 8; // files that a box asks for
const FOLDERS = 4; // folders that it offers
const SOME_FOLDERS = 2; // likewise, where code has the same words
const FILES_OF_FOLDERS = 60; // files whose folders it considers

let modules = null; // { name, mine }: their names, and those that people gave them on the map; asked for once a box is used
let commits = null; // the newest, likewise

/** Pages that have all words of a query in their title or their other names; `sure` when the words are whole. */
function pages(parts) {
  const titles = [...Object.entries(words.views).filter(([name]) => name !== "query"), ...Object.entries(words.architect).filter(([name, one]) => one.title && !words.views[name]).map(([name, one]) => [name, one.title])];
  const found = titles.map(([name, text]) => {
    const own = `${text} ${words.search.also[name] ?? ""}`.toLowerCase().split(/[\s,?]+/);
    const fits = parts.every((part) => own.some((word) => word.startsWith(part)));
    return fits ? { kind: words.search.view, text, where: "", address: to(name), sure: parts.every((part) => own.includes(part)) } : null;
  });
  return found.filter(Boolean);
}

/** Folders above the given paths that begin as written, or have the query in their own name, shortest first. */
function foldersIn(paths, query) {
  const written = query.toLowerCase().replace(/\/$/, "");
  const all = new Set(paths.flatMap((path) => path.split("/").slice(0, -1).map((_, i, parts) => parts.slice(0, i + 1).join("/"))));
  const fits = (one) => one.toLowerCase().startsWith(written) || one.toLowerCase().split("/").at(-1).includes(written);
  return [...all].filter(fits).sort((a, b) => a.split("/").length - b.split("/").length || (a < b ? -1 : 1)).slice(0, FOLDERS);
}

/** What a box proposes for a query: `{ text, kind, where, ref | address }`, best first, and how many there are. */
async function proposals(query, kinds, everything, signal, folders = false) {
  const none = { edges: [], totalCount: 0 };
  const [{ symbols }, files, memories] = await Promise.all([
    ask("Symbols", { query, first: 12, ...(kinds ? { kinds } : {}) }, signal),
    !kinds ? ask("Files", { query, first: folders || everything ? FILES_OF_FOLDERS : FILES }, signal).then((found) => found.files) : none,
    everything && query.length > 2 ? ask("Memories", { filter: { text: query }, first: 3 }, signal).then((found) => found.memories, () => none) : none,
  ]);
  const parts = query.toLowerCase().split(/\s+/);
  const has = (text) => parts.every((part) => text.toLowerCase().includes(part));
  const views = everything ? pages(parts) : [];
  const made = everything && query.length > 2 ? (commits ?? []).filter((one) => has(one.subject) || one.sha.startsWith(query)).slice(0, 3) : [];
  const named = everything && modules ? modules.filter(({ name, mine }) => has(name) || (mine && has(mine))) : [];
  // Of several with exactly this name the one outside tests and at the top comes first: it is the one that people mean. Tests come
  // last, also of names that only begin with it.
  const exact = (node) => node.name.toLowerCase() === query.toLowerCase() || node.qualname.toLowerCase() === query.toLowerCase();
  const ofTest = (node) => (node.isTest || /(^|\/)tests?\//.test(node.path) ? 1 : 0);
  const rank = ({ node }) => (exact(node) ? ofTest(node) + (node.qualname.includes(".") ? 0.5 : 0) + (node.qualname === "<module>" ? 0.7 : 0) + ([node.name, node.qualname].includes(query) ? 0 : 0.2) : 2 + ofTest(node));
  // A file with exactly this name or path is meant before code whose name holds it.
  const whole = (path) => [path, path.split("/").at(-1)].some((text) => text.toLowerCase() === query.toLowerCase());
  const file = ({ node }) => ({ kind: words.search.file, text: node.path.split("/").at(-1), where: node.path, ref: node.path, sure: whole(node.path) });
  const inFiles = files.edges.slice(0, FILES).map(file);
  const above = folders || everything ? foldersIn(files.edges.map(({ node }) => node.path), query).filter((path) => folders || !modules?.some(({ name }) => name === path)) : [];
  const offered = above.map((path) => ({ kind: words.search.folder, text: `${path}/`, where: "", ...(folders ? { ref: path } : { address: to("graph", { focus: path }) }), sure: path === query.replace(/\/$/, "") }));
  const surely = offered.filter((one) => folders || (one.sure && one.text.slice(0, -1).includes("/"))); // a path with a slash can mean nothing else
  const beside = new Set(inFiles.map((one) => one.ref)); // the top-level code of a file that is offered itself is no second answer
  const found = [
    ...surely,
    ...inFiles.filter((one) => one.sure),
    ...symbols.edges.filter(({ node }) => node.qualname !== "<module>" || !beside.has(node.path)).sort((a, b) => rank(a) - rank(b)).map(({ node }) => ({ kind: words.kinds(node.kind), text: nameOf(node), where: node.path, ref: refOf(node) })),
    ...inFiles.filter((one) => !one.sure).slice(0, FILES / 2),
    ...named.slice(0, 3).map(({ name, mine }) => ({ kind: words.search.module, text: mine || name, where: mine ? name : "", address: to("graph", { focus: name }) })),
    ...offered.filter((one) => !surely.includes(one)).slice(0, SOME_FOLDERS),
    ...memories.edges.map(({ node }) => ({ kind: words.search.memory, text: plain(node.title), where: words.memories.type_of[node.type] ?? node.type, address: to("memories", { id: node.shortId }) })),
    ...made.map((one) => ({ kind: words.search.commit, text: one.subject, where: `${one.at.slice(0, 10)} ${one.author}`, address: commitPage(one.sha) })),
    ...views.filter((one) => !one.sure).slice(0, 2),
  ];
  const first = found.findIndex(({ kind, text }) => !(kind !== words.search.view && text.toLowerCase() === query.toLowerCase()));
  found.splice(first < 0 ? found.length : first, 0, ...views.filter((one) => one.sure).slice(0, 2)); // a page that is named comes after code of exactly this name
  const seen = new Set(); // overloads share a name and a place
  const once = found.filter((one) => !one.ref || (!seen.has(one.ref) && seen.add(one.ref)));
  return { found: once, total: symbols.totalCount + files.totalCount + named.length + memories.totalCount + made.length + views.length };
}

/** All modules by their own names, with the names that people gave them. */
async function namedModules() {
  const [{ modules: all }, { mapEntries }] = await Promise.all([ask("ModuleNames"), ask("MapEntries")]);
  const mine = new Map(mapEntries.entries.map((one) => [one.module, one.name]));
  return all.modules.map(({ name }) => ({ name, mine: mine.get(name) ?? "" }));
}

/** What search by words and meaning finds for a query, in the same form. */
async function searched(query, signal) {
  const { search } = await ask("Search", { query, limit: 6, explain: false }, signal);
  return search.hits.map((hit) => ({
    kind: words.ask.kind[hit.kind] ?? words.kinds(hit.kind),
    text: hit.qualname || plain(hit.title) || hit.path,
    where: hit.path ? `${hit.path}:${hit.startLine}` : "",
    ...(hit.memory ? { address: to("memories", { id: hit.memory.shortId }) } : { ref: hit.qualname ? `${hit.path}:${hit.qualname}` : hit.path }),
  }));
}

/**
 * An input that proposes symbols while one types, or all that has a name.
 * @param {object} options  `chosen(ref)` when one is taken; `everything`: also files, modules, memories, commits and pages. Such a box
 *   leads to another page, which then has the focus: its keys work at once.
 */
export function symbolField(id, { label, value = "", placeholder = "", chosen, name = id, labelled = false, kinds = null, everything = false, folders = false }) {
  const list = h("ul.suggestions", { role: "listbox", id: `${id}-list`, "aria-label": label, hidden: true });
  const status = h("span.quiet", { role: "status" });
  let options = [];
  let at = -1;
  let waiting = null;
  const input = h("input", {
    id,
    name,
    value,
    placeholder,
    type: "text",
    role: "combobox",
    autocomplete: "off",
    spellcheck: "false",
    "aria-autocomplete": "list",
    "aria-expanded": "false",
    "aria-controls": `${id}-list`,
    "aria-label": labelled ? null : label,
  });
  const close = () => {
    list.hidden = true;
    at = -1;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const mark = (next) => {
    at = next;
    [...list.querySelectorAll("[role=option]")].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) {
      input.setAttribute("aria-activedescendant", `${id}-${at}`);
      document.getElementById(`${id}-${at}`).scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const leave = () => everything && document.getElementById("main").focus({ preventScroll: true });
  const take = (option) => {
    waiting?.abort();
    close();
    if (option.address) go(option.address);
    else {
      input.value = option.ref;
      chosen?.(option.ref);
    }
    leave();
  };
  const choice = (option, i) =>
    h(
      "li",
      { role: "option", id: `${id}-${i}`, "aria-selected": "false", onpointerdown: (event) => (event.preventDefault(), take(option)) },
      h("span.kind", { "aria-hidden": "true" }, option.kind),
      h("span.name", null, option.text),
      option.where ? h("span.where", { title: option.where }, h("bdi", null, option.where)) : null,
    );
  const offer = (found, said, query) => {
    const isQuestion = everything && words.ask.routes.some(([pattern]) => pattern.test(query));
    const rest = everything ? [{ kind: "", text: (isQuestion ? words.search.as_question : words.search.by_words)(query), where: "", address: to("ask", { q: query }) }] : [];
    options = isQuestion ? [...rest, ...found] : [...found, ...rest];
    fill(list, said && !isQuestion ? h("li.said", { role: "presentation" }, said) : null, options.map(choice));
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
    mark(-1);
  };
  const look = later(async () => {
    waiting?.abort();
    const query = input.value.trim();
    if (!query) return close();
    waiting = new AbortController();
    try {
      const { signal } = waiting;
      const { found, total } = await proposals(query, kinds, everything, signal, folders);
      offer(found, found.length ? "" : words.search.none, query);
      status.textContent = words.search.count(found.length, total);
      if (found.length || !everything) return;
      const hits = await searched(query, signal).catch((error) => (error.name === "AbortError" ? Promise.reject(error) : null));
      offer(hits ?? [], hits === null ? words.search.unsearched : hits.length ? words.search.by_meaning : words.search.none, query);
      status.textContent = words.search.count(hits?.length ?? 0, hits?.length ?? 0);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }, 60);
  input.addEventListener("input", look);
  const warm = () => {
    if (!everything) return;
    const took = (keep) => (found) => (keep(found), list.hidden || look()); // what was typed meanwhile is looked for again
    if (commits === null) (commits = []), ask("CommitList", { limit: 200, programs: true }).then(took((found) => (commits = found.commits.commits)), () => (commits = null));
    if (modules === null) (modules = []), namedModules().then(took((found) => (modules = found)), () => (modules = null));
  };
  input.addEventListener("focus", warm);
  input.addEventListener("input", warm);
  input.addEventListener("blur", close);
  /** Enter without a choice: what has exactly this name, the only or first suggestion, or what search finds. */
  const decide = async (written) => {
    if (!everything || /:\d+$/.test(written)) return chosen(written), leave();
    const given = written.toLowerCase();
    const { found } = await proposals(written, kinds, true, undefined).catch(() => ({ found: [] }));
    const exact = found.find((one) => [one.text, one.ref, one.text.replace(/\/$/, "")].some((text) => text?.toLowerCase() === given));
    const spoken = /\s/.test(written) && found.length !== 1; // words, and not one thing that has them
    const page = found.find((one) => one.sure && one.address);
    if (exact ?? page ?? (!spoken && found[0])) take(exact ?? page ?? found[0]);
    else go(to("ask", { q: written })), leave();
  };
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" && !list.hidden) mark(Math.min(options.length - 1, at + 1));
    else if (event.key === "ArrowUp" && !list.hidden) mark(Math.max(0, at - 1));
    else if (event.key === "Escape" && !list.hidden) close();
    else if (event.key === "Enter" && at >= 0) take(options[at]);
    else if (event.key === "Enter" && chosen && input.value.trim()) {
      const written = input.value.trim();
      waiting?.abort();
      close();
      decide(written);
    } else return;
    event.preventDefault();
  });
  return h("div.combo", null, input, list, status);
}

/** Modules by how many others they depend on in both directions, then by all their neighbours: { name, uses, usedBy, both }. */
export function mostTangled(dependencies) {
  const found = new Map();
  const of = (name) => found.get(name) ?? found.set(name, { name, uses: new Set(), usedBy: new Set() }).get(name);
  for (const { srcName, dstName } of dependencies) of(srcName).uses.add(dstName), of(dstName).usedBy.add(srcName);
  const all = [...found.values()].map((one) => ({ ...one, both: [...one.uses].filter((other) => one.usedBy.has(other)).length }));
  const size = (one) => one.uses.size + one.usedBy.size;
  return all.sort((a, b) => b.both - a.both || size(b) - size(a) || (a.name < b.name ? -1 : 1));
}

/** Text on the clipboard, with a word about it, for two seconds also on the button that was pressed. */
export async function copy(text, button = null) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h("textarea", { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  announce(words.impact.copied);
  if (!button || button.dataset.copied) return;
  const before = button.textContent;
  button.dataset.copied = "true";
  button.textContent = words.impact.copied;
  setTimeout(() => ((button.textContent = before), delete button.dataset.copied), 2000);
}

export function splitList(text) {
  return text
    .split(",")
    .map((one) => one.trim())
    .filter(Boolean);
}
