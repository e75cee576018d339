// Questions of an architect, each a page with an address: what uses what, where to cut, what changed, who knows it, what is risky,
// what was decided, and which rules hold.

import { Refusal, ask } from "./api.js";
import { fill, h, plain } from "./dom.js";
import { breakable, card, chip, choice, commitLine, details, failure, field, fileLink, go, into, link, listing, mostTangled, noted, short, site, symbolLink, table, to, where } from "./parts.js";
import { moduleOf, shares } from "./routes.js";
import { answered, firstCut } from "./tangled.js";
import { words } from "./words.js";

const ORDER = ["tangled", "cut", "changes", "matrix", "risk", "people", "decisions", "rules"];
const DAY_MS = 864e5;
const QUARTER = 91; // days
const SPANS = [7, 30, QUARTER, 365];
const MOST_FILES = 600; // of a project whose older revision is read without being asked for
const MOST_PEOPLE = 500; // modules or files whose people are asked for at once
const MOST_COMMITS = 2000; // that one question lists
const MOST_PAIRS = 25; // pairs of files of a dependency that are asked for at first
const MOST_ANSWER = 1000; // the same, of one answer
const SURFACE = 200; // symbols of a module's interface that are asked for at first
const MOST_SURFACE = 1000; // the same, of one answer

/** The list of the questions. */
export async function questions(page, _, signal) {
  const w = words.architect;
  fill(page, h("h1", null, w.title), h("p.lead", null, w.hint), answered(signal), h("div.grid", null, ORDER.map((name) => h("section.card", null, h("h2", null, link(to(name), w[name].title)), h("p.hint", null, w[name].hint)))));
}

const headed = (page, name, ...children) => fill(page, h("p", null, link(to("questions"), `← ${words.architect.title}`)), h("h1", null, words.architect[name].title), h("p.lead", null, words.architect[name].hint), children);
const moduleLink = (name) => link(to("graph", { focus: name }), breakable(name));

/** A box to choose a module; `chosen(name)`. */
async function moduleBox(of, signal, chosen, empty = null) {
  const { modules } = await ask("ModuleNames", {}, signal);
  const names = modules.modules.map((one) => one.name).sort();
  const box = h("select", { onchange: () => chosen(box.value) }, empty === null ? null : h("option", { value: "" }, empty), (of && !names.includes(of) ? [of, ...names] : names).map((name) => h("option", { value: name, selected: name === of }, name)));
  return { box: field(words.map.columns.module, box), names };
}

/** What uses what, as a table of modules; a cell leads to the edges. */
export async function matrix(page, { of = "", on = "" }, signal) {
  const w = words.architect.matrix;
  const place = h("div");
  const cell = h("div");
  headed(page, "matrix", place, cell);
  await into(place, ask("Modules", {}, signal), ({ modules: found }) => {
    const order = found.modules.slice().sort((a, b) => b.layer - a.layer || (a.name < b.name ? -1 : 1));
    const number = new Map(order.map((one, i) => [one.name, i]));
    const weights = new Map(found.dependencies.map((one) => [`${one.srcName}\n${one.dstName}`, one]));
    const most = Math.log1p(Math.max(1, ...found.dependencies.map((one) => one.weight)));
    const chosen = weights.get(`${of}\n${on}`);
    if (of && on) fill(cell, chosen ? dependency(chosen, signal) : h("p.hint", null, w.nothing(of, on)));
    const row = (a, i) =>
      h("tr", null, h("th", { scope: "row" }, `${i + 1} `, moduleLink(a.name)), order.map((b) => {
        const one = weights.get(`${a.name}\n${b.name}`);
        if (a.name === b.name) return h("td.self", { "aria-label": w.itself }, "·");
        if (!one) return h("td", null, "");
        const heat = Math.min(4, Math.floor((5 * Math.log1p(one.weight)) / most));
        return h(`td.heat-${heat}${one.worthCutting ? ".cut" : ""}`, null, link(to("matrix", { of: a.name, on: b.name }), words.number(one.weight), { title: `${a.name} → ${b.name}` }));
      }));
    return [
      h("p.hint", null, w.legend),
      h("div.matrix", { tabindex: 0, role: "region", "aria-label": w.title },
        h("table", null, h("caption", null, w.caption(order.length, found.dependencies.length)), h("thead", null, h("tr", null, h("th", { scope: "col" }, w.corner), order.map((one, i) => h("th", { scope: "col", title: one.name }, String(i + 1))))), h("tbody", null, order.map(row)))),
      h("p.hint", null, w.columns(number.size)),
    ];
  });
  if (of && on) cell.scrollIntoView({ block: "nearest" });
}

/** One dependency: its kinds, its first edges, and the files on both ends. */
function dependency(one, signal) {
  const w = words.architect.matrix;
  const files = h("div");
  const pairs = async (limit) => (await ask("ModuleDependency", { src: one.srcName, dst: one.dstName, limit }, signal)).moduleDependency;
  const rows = (some) => some.map((pair) => [fileLink(pair.src), fileLink(pair.dst), words.number(pair.weight)]);
  into(files, pairs(MOST_PAIRS), ({ files: first, total }) => {
    const page = Math.min(total, MOST_ANSWER) - first.length;
    return table(w.files, [w.from, w.to, w.edges], rows(first), { first: 25, numeric: [2], rest: { total, page, more: async (have) => rows((await pairs(MOST_ANSWER)).files.slice(have)) } });
  });
  return card(
    `${one.srcName} → ${one.dstName}`,
    w.edges_of(one.weight),
    h("p.meta", null, one.kinds.map((kind) => chip(`${words.map.kind[kind.name] ?? kind.name}: ${words.number(kind.value)}`)), one.worthCutting ? chip(words.map.cut, "trap") : null),
    sites(one.sites),
    files,
    h("p", null, link(to("cut", { of: one.srcName }), words.ask_of.cut, { class: "button" })),
  );
}

const sites = (some) => listing(some.map((step) => [symbolLink(step.src), ` ${words.map.kind[step.kind] ?? step.kind} `, symbolLink(step.dst), h("div.where", null, step.src.path, step.line ? `:${step.line}` : "")]), 8);

/** Where to cut a module off, and in two. */
export async function cut(page, { of = "" }, signal) {
  const w = words.architect.cut;
  const [boxes, place] = [h("div.boxes"), h("div")];
  headed(page, "cut", of ? firstCut(of, signal) : answered(signal), boxes, place);
  const { box, names } = await moduleBox(of, signal, (name) => go(to("cut", { of: name })));
  fill(boxes, box);
  const name = of || mostTangled((await ask("ModuleUses", {}, signal)).modules.dependencies)[0]?.name || names[0];
  if (!of && name) box.querySelector("select").value = name;
  if (!name) return fill(place, h("p", null, words.none));
  await into(place, ask("Boundary", { module: name, limit: SURFACE }, signal), ({ boundary: found }) => {
    const c = words.map.columns;
    const cost = (some) => some.reduce((sum, one) => sum + one.weight, 0);
    const surfaceRows = (some) => some.map((one) => [[symbolLink(one.symbol), " ", where(one.symbol)], words.number(one.edges), one.modules.slice(0, 4).join(", ")]);
    const more = async (have) => surfaceRows((await ask("Boundary", { module: name, limit: MOST_SURFACE }, signal)).boundary.surface.slice(have));
    const deps = (some, mine) => some.map((one) => [link(to("matrix", { of: one.srcName, on: one.dstName }), mine === "src" ? one.srcName : one.dstName), words.number(one.weight), one.worthCutting ? chip(words.map.cut, "trap") : ""]);
    return [
      h("h2", null, w.two(found.module)),
      ...divided(found),
      h("h2", null, w.off(found.module)),
      h("p", null, w.cost(cost(found.incoming), found.incoming.length, found.total, cost(found.outgoing), found.outgoing.length)),
      h("div.grid", null,
        card(w.surface, w.surface_hint, found.surface.length ? table(w.surface, [c.name, w.edges, w.needed_by], surfaceRows(found.surface), { first: 12, numeric: [1], wide: true, rest: { total: found.total, page: Math.min(found.total, MOST_SURFACE) - found.surface.length, more } }) : h("p", null, w.unused)),
        card(w.needed_by, null, found.incoming.length ? table(w.needed_by, [c.module, w.edges, ""], deps(found.incoming, "src"), { first: 12, numeric: [1] }) : h("p", null, words.none)),
        card(w.depends_on, null, found.outgoing.length ? table(w.depends_on, [c.module, w.edges, ""], deps(found.outgoing, "dst"), { first: 12, numeric: [1] }) : h("p", null, words.none)),
        card(words.home.cycles, null, found.cycles.length ? found.cycles.map((one) => [h("p", null, words.home.ring(one.members.length), ". ", words.home.cut, " ", link(to("matrix", { of: one.cheapest.src, on: one.cheapest.dst }), `${one.cheapest.src} → ${one.cheapest.dst}`), ` (${words.number(one.cheapest.weight)})`), details(words.home.sites, one.cheapest.sites.length, false, sites(one.cheapest.sites))]) : h("p", null, w.no_cycle))),
    ];
  });
}

/** Whether a module divides well, what crosses the best division, and the two parts. */
function divided(found) {
  const w = words.architect.cut;
  if (!found.larger.length) return [h("p.answer", null, w.undivided)];
  const all = found.crossing + found.inside;
  const [first] = found.crossingSymbols;
  const verdict = found.splitsWell
    ? found.crossing ? w.good(found.smaller.length, found.larger.length, found.crossing, all) : w.apart(found.smaller.length, found.larger.length)
    : [w.bad(found.crossing, all), first && first.uses > 1 ? [" ", w.hub, symbolLink(first.symbol), ` (${words.number(first.uses)}).`] : null];
  const users = (one) => [one.files.slice(0, 2).map((path) => [fileLink(path), " "]), one.files.length > 2 ? words.andMore(one.files.length - 2) : null];
  const rows = found.crossingSymbols.map((one) => [[symbolLink(one.symbol), " ", where(one.symbol)], words.number(one.uses), w.part_name(one.inLarger ? 0 : 1), users(one)]);
  return [
    h("p.answer", null, verdict),
    h("p.hint", null, w.rule),
    rows.length ? card(w.crossing, w.crossing_hint, table(w.crossing, [words.map.columns.name, w.uses, w.side, w.used_in], rows, { first: 8, numeric: [1] })) : null,
    h("div.grid", null,
      [found.larger, found.smaller].map((part, i) => card(w.part(i, part.length), null, listing(part.map(fileLink), 12)))),
  ];
}

/** What changed in a number of days: by whom, new dependencies, modules, API. */
export async function changes(page, { base = "", days = "" }, signal) {
  const w = words.architect.changes;
  const [place, form] = [h("div"), h("div")];
  headed(page, "changes", form, place);
  const input = h("input", { value: base, placeholder: w.base_hint, autocomplete: "off" });
  const span = choice(SPANS.map((n) => [String(n), w.days(n)]), days || String(QUARTER), { onchange: () => go(to("changes", { days: span.value })) });
  fill(form, h("form.bar", { onsubmit: (event) => (event.preventDefault(), go(to("changes", { base: input.value.trim() }))) }, field(w.span, span), field(w.base, input), h("button", null, w.compare)));
  fill(place, h("p.loading", null, words.loading));
  let some = [];
  let said = [];
  let first = "";
  try {
    const { commits: found } = await ask("CommitList", { limit: MOST_COMMITS, programs: true }, signal);
    if (!found.commits.length) return fill(place, h("p", null, w.no_commits), found.notes.map((note) => h("p.hint", null, noted(note))));
    const newest = Date.parse(found.commits[0].at);
    const at = base ? found.commits.findIndex((one) => one.sha.startsWith(base)) : -1;
    some = at > 0 ? found.commits.slice(0, at) : found.commits.filter((one) => newest - Date.parse(one.at) <= Number(days || QUARTER) * DAY_MS);
    const cut = some.length === MOST_COMMITS;
    const routine = some.filter((one) => one.routine);
    said = [w.since(some.length, some.at(-1).at.slice(0, 10), some[0].at.slice(0, 10), Math.floor((Date.now() - newest) / DAY_MS), cut), routine.length ? ` ${w.routine(routine.length, [...new Set(routine.map((one) => one.author))])}` : ""];
    first = (found.commits[some.length] ?? some.at(-1)).sha; // the commit before the period, so that its first commit counts
    some = some.filter((one) => !one.routine);
  } catch (error) {
    if (error.name === "AbortError") return;
    return fill(place, failure(error));
  }
  const since = base || first;
  const byModule = new Map();
  const nowhere = some.filter((one) => !one.modules.length).length;
  for (const one of some) for (const name of one.modules) byModule.set(name, (byModule.get(name) ?? 0) + 1);
  const drift = h("div");
  const c = words.map.columns;
  const authors = new Map(); // → commits, modules with their numbers of commits, newest moment
  for (const one of some) {
    if (!authors.has(one.author)) authors.set(one.author, { commits: 0, modules: new Map(), last: one.at });
    const known = authors.get(one.author);
    known.commits += 1;
    for (const name of one.modules) known.modules.set(name, (known.modules.get(name) ?? 0) + 1);
  }
  const most = (counts, n) => [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, n);
  const inModule = (name) => most(new Map([...authors].map(([who, known]) => [who, known.modules.get(name) ?? 0]).filter(([, n]) => n)), 3).map(([who, n]) => `${who} (${words.number(n)})`).join(", ");
  fill(place,
    h("p", null, said),
    h("div.grid", null,
      card(w.newest, null, listing(some.map(commitLine), 8)),
      card(w.active, [w.active_hint, nowhere ? ` ${w.nowhere(nowhere, some.length)}` : ""], table(w.active, [c.module, w.commits, w.by], most(byModule, Infinity).map(([name, n]) => [moduleLink(name), words.number(n), inModule(name)]), { first: 12, numeric: [1] })),
      card(w.authors, w.authors_hint, table(w.authors, [w.author, w.commits, w.where], [...authors].sort((a, b) => b[1].commits - a[1].commits || (a[0] < b[0] ? -1 : 1)).map(([who, known]) => [who, words.number(known.commits), most(known.modules, 3).map(([name, n], i) => [i ? ", " : "", moduleLink(name), ` (${words.number(n)})`])]), { first: 12, numeric: [1] })),
    ),
    h("h2", null, w.drift), h("p.hint", null, w.drift_hint), drift);
  const { project } = await ask("Project", {}, signal);
  const compare = () => compared(drift, since, project.state.files, signal);
  if (project.state.files <= MOST_FILES) return compare();
  fill(drift, h("p.hint", null, w.takes_long(project.state.files, since.slice(0, 10))), h("button.primary", { type: "button", onclick: compare }, w.read));
}

/** How the architecture differs from an older revision, whose files the server has to read first. */
async function compared(place, since, files, signal) {
  const w = words.architect.changes;
  const begun = Date.now();
  const said = h("p.loading", { role: "status" }, w.reading(since.slice(0, 10), files, 0));
  fill(place, said);
  const clock = setInterval(() => (said.textContent = w.reading(since.slice(0, 10), files, Math.round((Date.now() - begun) / 1000))), 1000);
  signal.addEventListener("abort", () => clearInterval(clock));
  try {
    const { drift } = await ask("Drift", { base: since }, signal);
    fill(place, drifted(drift));
  } catch (error) {
    if (error.name !== "AbortError") fill(place, failure(error));
  } finally {
    clearInterval(clock);
  }
}

function drifted(found) {
  const w = words.architect.changes;
  const nothing = () => h("p", null, w.none);
  const pair = (one) => [link(to("matrix", { of: one.src, on: one.dst }), breakable(`${one.src} → ${one.dst}`)), one.sites.length ? details(w.fresh_edges, null, false, sites(one.sites)) : null];
  const rows = (some) => some.map((one) => [pair(one), words.number(one.before), words.number(one.after)]);
  const dependencies = (title, hint, kinds) => {
    const some = found.dependencies.filter((one) => kinds.includes(one.change.toLowerCase()));
    return card(title, hint, some.length ? table(title, [w.dependency, w.before, w.after], rows(some), { first: 10, numeric: [1, 2] }) : nothing());
  };
  const cycle = (one, mark) => [mark, " ", one.members.slice(0, 8).join(", "), one.members.length > 8 ? ` ${words.andMore(one.members.length - 8)}` : ""];
  const definition = (one) => [chip(w.changed(one.change), one.change.toLowerCase() === "removed" ? "trap" : undefined), " ", one.public ? [chip(w.public), " "] : null, symbolLink(one.symbol), h("div.where", null, where(one.symbol)), one.before && one.change.toLowerCase() === "signature" ? h("div.where", null, h("del", null, one.before), h("br"), one.symbol.signature) : null];
  const files = (one) => [moduleLink(one.name), " ", chip(w.changed(one.change)), ` ${words.number(one.filesBefore)} → ${words.many(one.filesAfter, "file")}`, h("div.where", null, [...one.came.slice(0, 3).map((path) => `+ ${path}`), ...one.left.slice(0, 3).map((path) => `− ${path}`)].map((line, i) => [i ? h("br") : null, line]))];
  const of_cycles = found.notes.filter((note) => note.startsWith("a cycle "));
  const others = found.notes.filter((note) => !of_cycles.includes(note));
  return [h("p.hint", null, w.one_division), others.map((note) => h("p.hint", null, noted(note))), h("div.grid", null,
    dependencies(w.added, null, ["added"]),
    dependencies(w.removed, null, ["removed"]),
    dependencies(w.other, w.other_hint, ["heavier", "lighter"]),
    card(w.api, w.api_hint, found.api.length ? [h("p.meta", null, found.apiCounts.map((one) => chip(`${w.changed(one.name)}: ${words.number(one.value)}`))), listing(found.api.map(definition), 8)] : nothing()),
    card(w.modules, null, found.modules.length ? listing(found.modules.map(files), 6) : nothing()),
    card(w.cycles, null, found.newCycles.length || found.resolvedCycles.length ? listing([...found.newCycles.map((one) => cycle(one, chip(w.fresh, "trap"))), ...found.resolvedCycles.map((one) => cycle(one, chip(w.resolved)))], 6) : h("p", null, w.no_cycle), of_cycles.map((note) => h("p", null, noted(note)))))];
}

/** Who knows a module, a directory, or the module whose name is the end of a path. */
export async function peopleOf(place, signal) {
  try {
    return await ask("People", { module: place, limit: MOST_PEOPLE }, signal);
  } catch (error) {
    const names = error instanceof Refusal ? (await ask("ModuleNames", {}, signal)).modules.modules.map((one) => one.name) : [];
    const module = moduleOf(place, names);
    if (!module) throw error;
    return ask("People", { module, limit: MOST_PEOPLE }, signal);
  }
}

/** Who knows the modules, or the files of one, and how few they are. */
export async function people(page, { of: asked_of = "" }, signal) {
  const w = words.architect.people;
  const [boxes, place] = [h("div.boxes"), h("div")];
  headed(page, "people", boxes, place);
  const of = asked_of;
  const asked = Promise.all([of ? peopleOf(of, signal) : ask("People", { limit: MOST_PEOPLE }, signal), of ? ask("Atlas", { edges: 0 }, signal) : null]);
  asked.then(([{ people: found }]) => found.whole?.name ?? of, () => of).then((name) => moduleBox(name, signal, (chosen) => go(to("people", { of: chosen })), w.all)).then(({ box }) => fill(boxes, box), () => {});
  await into(place, asked, ([{ people: found }, atlas]) => {
    const { whole } = found;
    const files = atlas?.atlas.columns.files;
    const tests = new Set(files ? files.path.filter((_, i) => files.role[i] === "test") : []);
    const parts = [...found.parts.filter((one) => !tests.has(one.name)), ...found.parts.filter((one) => tests.has(one.name))];
    return [
      whole ? h("p.answer", null, w.of_all(whole.name, shares(whole.people), whole.busFactor)) : null,
      found.notes.map((note) => h("p.hint", null, noted(note))),
      parts.length
        ? table(w.title, [of ? words.map.columns.file : words.map.columns.module, w.bus, w.commits, w.people, w.last], parts.map((one) => [
          of ? fileLink(one.name) : link(to("people", { of: one.name }), one.name),
          one.busFactor === 1 ? chip("1", "trap") : words.number(one.busFactor),
          words.number(one.commits),
          shares(one.people),
          h("span.date", null, one.people.map((who) => who.lastAt).sort().at(-1)?.slice(0, 10) ?? ""),
        ]), { first: 60, numeric: [1, 2] })
        : h("p.lead", null, words.none),
    ];
  });
}

/** Files that are risky to touch, with every reason that is known. */
export async function risk(page, { of = "" }, signal) {
  const w = words.architect.risk;
  const [boxes, place] = [h("div.boxes"), h("div")];
  headed(page, "risk", boxes, place);
  moduleBox(of, signal, (name) => go(to("risk", { of: name })), words.architect.people.all).then(({ box }) => fill(boxes, box), () => {});
  const loaded = Promise.all([ask("Hotspots", { level: "FILES", limit: 1000 }, signal), ask("Atlas", { edges: 0 }, signal)]);
  await into(place, loaded, ([{ hotspots }, { atlas }]) => {
    const { files, modules } = atlas.columns;
    const at = new Map(files.path.map((path, i) => [path, i]));
    const some = hotspots.hotspots.filter((one) => at.has(one.symbol.path) && files.role[at.get(one.symbol.path)] === "code" && (!of || modules.name[files.module[at.get(one.symbol.path)]] === of));
    if (!some.length) return h("p", null, words.none);
    const c = words.map.columns;
    const [first] = some;
    const top = at.get(first.symbol.path);
    return [
      h("p.answer", null, link(to("code", { at: first.symbol.path }), first.symbol.path), " ", w.riskiest(Math.round(first.score), first.complexity, files.dependents[top], files.functions[top] - files.tested[top], files.functions[top])),
      hotspots.notes.map((note) => h("p.hint", null, noted(note))),
      table(w.title, [c.file, words.home.hot_score, w.churn, c.complexity, c.used_by, w.untested, w.unresolved], some.map((one) => () => {
        const i = at.get(one.symbol.path);
        return [
          [fileLink(one.symbol.path), h("div", null, link(to("impact", { of: one.symbol.path }), words.panel.impact, { class: "where" }))],
          String(Math.round(one.score)),
          hotspots.churnKnown ? one.churn.toFixed(1) : w.unknown,
          words.number(one.complexity),
          words.number(files.dependents[i]),
          files.functions[i] ? w.of(files.functions[i] - files.tested[i], files.functions[i]) : "–",
          words.number(files.unresolved[i]),
        ];
      }), { first: 40, numeric: [1, 2, 3, 4, 5, 6] }),
    ];
  });
}

/** Decisions that hold for a module or file, with their age. */
export async function decisions(page, { of = "" }, signal) {
  const w = words.architect.decisions;
  const [boxes, place] = [h("div.boxes"), h("div")];
  headed(page, "decisions", boxes, place);
  moduleBox(of, signal, (name) => go(to("decisions", { of: name })), words.architect.people.all).then(({ box }) => fill(boxes, box), () => {});
  const loaded = Promise.all([ask("Memories", { filter: { types: ["decision"] }, sort: "NEWEST", first: 200 }, signal), of ? ask("Module", { ref: of }, signal) : null]);
  await into(place, loaded, ([{ memories }, found]) => {
    const own = found ? new Set(found.module.files.map((one) => one.path)) : null;
    const some = memories.edges.map(({ node }) => node).filter((one) => !own || one.files.some((path) => own.has(path)) || one.about.some((to) => to.label === "Module" && to.name === of));
    if (!some.length) return [h("p", null, w.none), link(to("teach"), words.views.teach, { class: "button" })];
    const age = (iso) => words.many(Math.max(0, Math.round((Date.now() - Date.parse(iso)) / 864e5)), "day");
    return [
      table(w.title, [w.decision, w.age, w.state, w.about], some.map((one) => [
        [link(to("memories", { id: one.shortId }), plain(one.title) || one.shortId), plain(one.content).replace(/[.;]$/, "") === plain(one.title) ? null : h("div.where", null, short(one.content, 200))],
        h("span", { title: one.validFrom }, age(one.validFrom)),
        [chip(words.memories.status_is(one.status.toLowerCase())), one.about.some((to) => ["suspect", "orphaned"].includes(to.anchor)) ? [" ", chip(w.changed, "trap")] : null, one.disputed ? [" ", chip(words.memories.flags.disputed, "trap")] : null],
        one.files.length ? listing(one.files.map(fileLink), 3) : "",
      ]), { first: 50 }),
      memories.totalCount > memories.edges.length ? h("p.hint", null, words.of(memories.edges.length, memories.totalCount), " ", link(to("memories", { type: "decision" }), words.memories.back)) : null,
    ];
  });
}

/** The project's own rules and what breaks them. */
export async function rules(page, _, signal) {
  const w = words.architect.rules;
  const place = h("div");
  headed(page, "rules", place);
  try {
    const { checkArchitecture: found } = await ask("CheckArchitecture", { limit: 500 }, signal);
    fill(place,
      h("p", null, w.count(found.new, found.total), " ", found.total ? link(to("graph", { paint: "rules", of: "all" }), w.on_map, { class: "button" }) : null),
      found.notes.map((note) => h("p.hint", null, noted(note))),
      table(w.table, [w.rule, w.because, w.files, w.checked, w.broken, w.in_baseline], found.rules.map((one) => [one.name, one.because, words.number(one.files), words.number(one.checked), words.number(one.broken), words.number(one.accepted)]), { numeric: [2, 3, 4, 5] }),
      found.broken.length ? table(w.breaches, [w.rule, words.architect.matrix.from, words.architect.matrix.to, ""], found.broken.map((one) => [one.rule, [fileLink(one.src), one.sites.map((step) => [" ", site(step.src.path, step.line)])], fileLink(one.dst), one.accepted ? chip(w.accepted) : chip(w.fresh, "trap")]), { first: 50 }) : null,
      found.resolved.length ? details(w.resolved, found.resolved.length, false, listing(found.resolved, 20)) : null);
  } catch (error) {
    if (error.name === "AbortError") return;
    const missing = error.facts?.reason === "no_rules"; // which is no fault: none were written yet
    fill(place, missing ? h("p", null, w.no_rules) : failure(error), h("p", null, w.how), h("pre.source", null, w.example));
  }
}
