// How far one can trust what this server says.

import { ask, askIfThere } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { card, day, failure, into, link, listing, table, to } from "./parts.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const w = words.health;
  const attention = h("div");
  const index = h("div");
  const audit = h("div");
  const modules = h("div");
  const score = h("div");
  fill(page, h("h1", null, w.title), score, h("div.grid", null, card(w.attention, null, attention), card(w.index, null, index), card(w.by_module, w.by_module_hint, modules), card(w.audit, null, audit)));
  const project = ask("Project", {}, signal);
  const queue = ask("ReviewQueue", { first: 1 }, signal);
  const trail = ask("Audit", { first: 15 }, signal);
  askIfThere("Health", {}, signal).then((answer) => answer?.health && fill(score, overall(answer.health))).catch(() => {});
  into(index, project, ({ project: one }) => facts(one, () => askToIndex(index)));
  into(attention, Promise.all([project, queue, trail]), ([{ project: one }, { reviewQueue }, { audit: entries }]) => {
    const state = one.indexState;
    const wants = [
      state.staleFiles ? h("span", null, w.stale(state.staleFiles), h("div.where", null, state.stale.join(", "))) : null,
      reviewQueue.totalCount ? link(to("review"), w.review(reviewQueue.totalCount)) : null,
      state.chunks > state.vectors ? w.vectors(state.chunks - state.vectors) : null,
      entries.sound ? null : h("strong", null, `${w.unsound}: ${entries.notes.join("; ")}`),
    ].filter(Boolean);
    return wants.length ? listing(wants, 10) : h("p", null, w.fine);
  });
  into(audit, trail, ({ audit: entries }) => [
    h("p", null, `${entries.sound ? w.sound : w.unsound}, ${w.entries(entries.total)}.`),
    listing(entries.entries.map((one) => [day(one.at), ` ${one.actor || "?"}: ${one.action} `, one.memoryId ? link(to("memories", { id: one.memoryId }), one.memoryId.slice(0, 8)) : null]), 8),
  ]);
  into(modules, Promise.all([ask("Atlas", { edges: 0 }, signal), ask("Memories", { sort: "NEWEST", first: 1000 }, signal)]), ([{ atlas }, { memories }]) => coverage(atlas.columns, memories));
}

function facts(project, index) {
  const w = words.health;
  const state = project.indexState;
  const all = { ...project, ...state };
  const said = words.state[state.status];
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

/** How many memories are about each module's files. */
function coverage(columns, memories) {
  const { modules, files } = columns;
  const moduleOf = new Map(files.path.map((path, i) => [path, files.module[i]]));
  const known = modules.name.map(() => 0);
  for (const { node } of memories.edges) for (const module of new Set(node.files.map((path) => moduleOf.get(path)))) if (module !== undefined) known[module]++;
  const order = modules.name.map((_, i) => i).sort((a, b) => known[b] - known[a] || modules.symbols[b] - modules.symbols[a] || a - b);
  const c = words.map.columns;
  return table(words.health.by_module, [c.module, c.symbols, words.health.memories], order.map((i) => [link(to("graph", { focus: modules.name[i] }), modules.name[i] || words.map.root), words.number(modules.symbols[i]), words.number(known[i])]), { numeric: [1, 2], first: 12 });
}

function overall(health) {
  return h("div.verdict", null, h("strong", null, `${words.health.score}: ${Math.round(health.score ?? 0)} / 100`));
}
