// How far one can trust what this server says.

import { Refusal, ask } from "./api.js";
import { announce, fill, h, plain } from "./dom.js";
import { card, day, failure, fileOf, into, link, listing, table, to } from "./parts.js";
import { done } from "./memory.js";
import { tokens, trustControl } from "./trust.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const w = words.health;
  const [score, attention, index, audit, modules, service, searches, shown, cost] = Array.from({ length: 9 }, () => h("div"));
  fill(
    page,
    h("h1", null, w.title),
    h("div.grid", null,
      card(w.score, w.score_hint, score), card(w.attention, null, attention), card(w.searches, w.searches_hint, searches), card(w.shown, w.shown_hint, shown), card(words.trust.tokens.title, words.trust.tokens.hint, cost),
      card(w.index, null, index), card(w.service, null, service), card(w.by_module, w.by_module_hint, modules), card(w.audit, null, audit)),
  );
  const asked = {
    project: ask("Project", {}, signal).then((answer) => answer.project),
    queue: ask("ReviewQueue", { first: 1 }, signal).then((answer) => answer.reviewQueue),
    trail: ask("Audit", { limit: 15 }, signal).then((answer) => answer.audit),
    service: ask("Health", {}, signal).then((answer) => answer.health),
    memories: ask("Memories", { sort: "NEWEST", first: 1000 }, signal).then((answer) => answer.memories),
  };
  into(score, Promise.all([asked.project, asked.queue, asked.trail, asked.service, asked.memories]), overall);
  into(index, asked.project, (one) => facts(one, () => askToIndex(index)));
  into(attention, Promise.all([asked.project, asked.queue, asked.trail, asked.service]), wanting);
  into(service, asked.service, running);
  into(searches, asked.service, searched);
  into(cost, asked.service, tokens);
  into(shown, Promise.all([ask("Memories", { sort: "USED", first: 1000 }, signal), ask("Trust", {}, signal)]), ([{ memories }, { trust }]) => [helped(memories, trust), trustControl(trust)]);
  into(audit, Promise.all([asked.trail, asked.memories]).then(([entries, memories]) => trail(entries, memories, signal)), (shown) => shown);
  into(modules, Promise.all([ask("Atlas", { edges: 0 }, signal), asked.memories]), ([{ atlas }, memories]) => coverage(atlas.columns, memories));
}

/** A number out of 100: the mean of shares that can each be looked up on this page. */
function overall([project, queue, trail, service, memories]) {
  const w = words.health;
  const state = project.state;
  const share = (part, whole) => (whole ? Math.max(0, Math.min(1, part / whole)) : 1);
  const shares = [
    [w.shares.fresh, share(state.files - state.staleFiles, state.files)],
    [w.shares.vectors, share(state.vectors, state.chunks)],
    [w.shares.reviewed, share(memories.totalCount - queue.totalCount, memories.totalCount)],
    [w.shares.parts, share(service.parts.filter((one) => one.ready).length, service.parts.length)],
    [w.shares.audit, trail.sound ? 1 : 0],
  ];
  const mean = shares.reduce((sum, [, one]) => sum + one, 0) / shares.length;
  return [
    h("p.score", null, h("strong", null, String(Math.round(100 * mean))), " / 100"),
    h("dl.facts.shares", null, shares.map(([name, one]) => [h("dt", null, name), h("dd", null, h("meter", { min: 0, max: 1, low: 0.5, high: 0.8, optimum: 1, value: one, "aria-label": name }), ` ${Math.round(100 * one)}%`)])),
  ];
}

function wanting([project, queue, trail, service]) {
  const w = words.health;
  const state = project.state;
  const wants = [
    state.staleFiles ? h("span", null, w.stale(state.staleFiles), h("div.where", null, state.stale.join(", "))) : null,
    queue.totalCount ? link(to("review"), w.review(queue.totalCount)) : null,
    state.chunks > state.vectors ? w.vectors(state.chunks - state.vectors) : null,
    trail.sound ? null : h("strong", null, `${w.unsound}: ${trail.notes.join("; ")}`),
    ...service.parts.filter((one) => !one.ready || one.degraded).map((one) => `${one.name}: ${one.degraded || w.not_ready}`),
    ...service.notes,
  ].filter(Boolean);
  return wants.length ? listing(wants, 12) : h("p", null, w.fine);
}

function running(service) {
  const w = words.health;
  const megabytes = (bytes) => `${words.number(Math.round(bytes / 1e6))} MB`;
  const rows = [
    [w.running.status, service.status],
    [w.running.memory, `${words.number(Math.round(service.rssMb))} MB`],
    [w.running.uptime, w.minutes(Math.round(service.uptimeS / 60))],
    [w.running.queued, words.number(service.queuedWrites)],
    [w.running.database, megabytes(service.databaseBytes)],
    [w.running.log, megabytes(service.walBytes)],
    [w.running.backup, service.lastBackup || w.no_backup],
  ];
  return h("dl.facts", null, rows.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

/** How long searches took, and how often the graph had a say. */
function searched({ searches }) {
  const w = words.health;
  if (!searches.count) return h("p.hint", null, w.no_searches);
  return terms([[w.search.count, words.number(searches.count)], [w.search.p50, words.milliseconds(searches.p50Ms)], [w.search.p95, words.milliseconds(searches.p95Ms)], [w.search.boosted, share(searches.boosted, w.search.boosted)]]);
}

/** What agents were shown without asking, and what came of it. */
function helped(memories, trust) {
  const w = words.health;
  const nodes = memories.edges.map((edge) => edge.node);
  const sum = (key) => nodes.reduce((total, one) => total + one[key], 0);
  const times = sum("injectedCount");
  const most = nodes.filter((one) => one.injectedCount).sort((a, b) => b.usedCount - a.usedCount || b.injectedCount - a.injectedCount || (a.id < b.id ? -1 : 1));
  return [
    times
      ? terms([[w.help.shown, words.memories.times(times)], [w.help.used, [`${words.memories.times(sum("usedCount"))} `, share(Math.min(1, sum("usedCount") / times), w.help.used)]], [w.help.confirmed, words.memories.times(sum("confirmedCount"))], [w.help.wrong, share(trust.corrections, w.help.wrong)]])
      : h("p.hint", null, w.nothing_shown),
    h("p", null, w.help.trust(trust.level, trust.threshold)),
    most.length ? listing(most.slice(0, 20).map((one) => [link(to("memories", { id: one.shortId }), plain(one.title)), h("span.where", null, ` ${w.help.each(one.injectedCount, one.usedCount)}`)]), 4) : null,
    memories.totalCount > nodes.length ? h("p.hint", null, words.of(nodes.length, memories.totalCount)) : null,
  ];
}

function terms(rows) {
  return h("dl.facts", null, rows.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

function share(part, name) {
  return h("span.share", null, h("meter", { min: 0, max: 1, value: part, "aria-label": name }), ` ${Math.round(100 * part)}%`);
}

function facts(project, index) {
  const w = words.health;
  const state = project.state;
  const all = { ...project, ...state };
  const said = words.state[state.state];
  const value = (key) => {
    if (key === "status") return typeof said === "string" ? said : state.status === "STALE" ? said(state.staleFiles) : said(state.done, state.total);
    if (key === "indexedAt") return state.indexedAt ? day(state.indexedAt) : "";
    return typeof all[key] === "number" ? words.number(all[key]) : all[key];
  };
  return [
    h("dl.facts", null, Object.entries(w.rows).map(([key, name]) => [h("dt", null, name), h("dd", null, value(key))])),
    state.note ? h("p.hint", null, state.note) : null,
    h("button", { type: "button", onclick: index }, w.indexing),
  ];
}

async function askToIndex(place) {
  try {
    await ask("Index", {});
    announce(words.health.started);
    place.append(h("p", null, words.health.started));
  } catch (error) {
    place.append(failure(error));
  }
}

/** The last entries of the audit. An id begins with a time, which tells two of one hour apart from nobody: the short id does. */
async function trail(entries, memories, signal) {
  const w = words.health;
  const short = new Map(memories.edges.map(({ node }) => [node.id, node.shortId]));
  const others = [...new Set(entries.entries.map((one) => one.memoryId))].filter((id) => id && !short.has(id));
  await Promise.all(others.map(async (id) => {
    try {
      short.set(id, (await ask("Memory", { id }, signal)).memory.shortId);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error; // a memory that was deleted for good: its entry has no link
    }
  }));
  const named = (id) => (short.has(id) ? link(to("memories", { id: short.get(id) }), `#${short.get(id)}`) : id ? words.audit.gone : null);
  return [
    h("p", null, `${entries.sound ? w.sound : w.unsound}, ${w.entries(entries.total)}.`),
    listing(entries.entries.map((one) => [day(one.at), ` ${done(one)} `, named(one.memoryId), one.memoryId || !one.note ? null : h("div.where", null, one.note)]), 8),
  ];
}

/** How many memories are about each module's files, or symbols in them. */
function coverage(columns, memories) {
  const { modules, files } = columns;
  const moduleOf = new Map(files.path.map((path, i) => [path, files.module[i]]));
  const known = modules.name.map(() => 0);
  for (const { node } of memories.edges) for (const module of new Set([...node.files, ...node.about.map(({ name }) => fileOf(name, moduleOf))].map((path) => moduleOf.get(path)))) if (module !== undefined) known[module]++;
  const order = modules.name.map((_, i) => i).sort((a, b) => known[b] - known[a] || modules.symbols[b] - modules.symbols[a] || a - b);
  const c = words.map.columns;
  return [table(words.health.by_module, [c.module, c.symbols, words.health.memories], order.map((i) => [link(to("graph", { focus: modules.name[i] }), modules.name[i] || words.map.root), words.number(modules.symbols[i]), words.number(known[i])]), { numeric: [1, 2], first: 12 }),
    memories.totalCount > memories.edges.length ? h("p.hint", null, words.health.newest(memories.edges.length)) : null];
}
