// The first page: what this system is made of, and where to look first.

import { ask } from "./api.js";
import { fill, h, plain } from "./dom.js";
import { card, chip, day, failure, fileLink, go, into, link, table, listing, to } from "./parts.js";
import { atlas, mapView } from "./mapview.js";
import { homeSemantics } from "./semantics.js";
import { leading, sentence, tangles } from "./tangled.js";
import { tour } from "./tour.js";
import { tokens } from "./trust.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const w = words.home;
  const heading = h("h1", null, words.loading);
  const summary = h("p.lead");
  const place = h("div.map-place");
  const tables = h("div");
  const entries = h("div");
  const recent = h("div");
  const learnt = h("div");
  const health = h("div");
  const central = h("div");
  const [hot, cycles, flows, dead, tangle] = [h("div"), h("div"), h("div"), h("div"), h("div")];
  for (const one of [hot, cycles, flows, dead, entries, central]) fill(one, h("p.loading", null, words.loading));
  fill(
    page,
    h("div.heading", null, heading, summary),
    h("nav.tasks", { "aria-label": w.tasks }, Object.entries(w.task).map(([view, [question, hint]]) => h("a.task", { href: to(view) }, h("strong", null, question), h("span", null, hint)))),
    h("section.card.wide", null, h("div.card-head", null, h("h2", null, w.map), link(to("graph"), w.open_map, { class: "button" })), h("p.hint", null, w.map_hint), place, tables),
    h("div.grid", null,
      card(w.recent, w.recent_hint, recent), card(w.hot, w.hot_hint, hot), card(w.entries, w.entries_hint, entries), card(w.tangled_cycles, null, tangle, cycles), card(w.flows, w.flows_hint, flows),
      card(w.learnt, w.learnt_hint, learnt), card(w.central, w.central_hint, central), card(w.dead, w.dead_hint, dead), card(w.health, null, health)),
  );
  fill(place, h("p.loading", null, words.loading));
  const projectAsked = ask("Project", {}, signal).then(({ project }) => {
    const state = project.state;
    heading.textContent = w.title(project.name);
    summary.textContent = w.made_of(state.files, state.symbols, state.edges);
    if (project.textOnly.length) summary.after(h("p.hint", null, w.text_only(project.textOnly.map((one) => `${one.name} (${words.number(one.value)})`))));
    return project;
  });
  const mapAsked = atlas(signal);
  mapAsked.catch(() => {}); // awaited below, unless the project is refused first: then that is said
  tour();
  into(health, Promise.all([projectAsked, ask("ReviewQueue", { first: 1 }, signal), ask("Health", {}, signal)]), ([project, { reviewQueue }, answer]) => brief(project.state, reviewQueue, answer.health));
  into(learnt, ask("Memories", { sort: "NEWEST", first: 6 }, signal), ({ memories }) =>
    memories.edges.length
      ? [listing(memories.edges.map(({ node }) => [link(to("memories", { id: node.shortId }), plain(node.title)), " ", chip(words.memories.type_of[node.type] ?? node.type), " ", day(node.createdAt)])), h("p", null, memories.totalCount > memories.edges.length ? [words.of(memories.edges.length, memories.totalCount), " "] : null, link(to("news"), words.news.title), " · ", link(to("memories"), words.memories.back))]
      : h("p.hint", null, words.none));
  try {
    await projectAsked;
    const answer = await mapAsked;
    if (signal.aborted) return;
    const map = mapView(answer, {
      controls: false,
      signal,
      select: (thing, scene) => {
        if (!thing) return;
        const focus = thing.level === "module" ? scene.modules.name[thing.index] : thing.level === "file" ? scene.files.path[thing.index] : scene.symbols.symbols.ref[thing.index];
        go(to("graph", { focus }));
      },
    });
    fill(place, map.element);
    map.start();
    fill(tables, map.tables());
    homeSemantics({ hot, cycles, entries, flows, dead, recent }, map.scene.files, signal); // after the picture, so that it is there first
    tangles(signal).then((found) => found.order.length && fill(tangle, h("h3", null, found.cycles.length ? w.tangled : w.connected), sentence(found), leading(found), h("p", null, link(to("tangled"), words.tangled.all)), h("h3", null, w.cycles), h("p.hint", null, w.cycles_hint)), () => {}); // the cycles say what is wrong
    const { files } = map.scene;
    const order = files.path.map((_, i) => i).sort((a, b) => files.dependents[b] - files.dependents[a] || a - b);
    fill(central, table(w.central, [words.map.columns.file, words.map.columns.used_by], order.filter((i) => files.dependents[i]).map((i) => () => [fileLink(files.path[i]), words.number(files.dependents[i])]), { numeric: [1], first: 8 }));
  } catch (error) {
    if (error.name === "AbortError") return;
    for (const one of [hot, cycles, flows, dead, entries, central]) fill(one, h("p.hint", null, words.none));
    fill(place, error.code === "NOT_FOUND" || error.facts?.reason === "not_indexed" ? h("p.hint", null, words.empty_index) : failure(error));
  }
}

function brief(state, queue, service) {
  const said = words.state[state.state];
  const text = typeof said === "string" ? said : state.status === "STALE" ? said(state.staleFiles) : said(state.done, state.total);
  return h(
    "div",
    null,
    h("dl.facts", null, h("dt", null, words.health.index), h("dd", null, text), h("dt", null, words.health.memories), h("dd", null, queue.totalCount ? link(to("review"), words.health.review(queue.totalCount)) : words.review.empty)),
    service.cost.sessions ? [h("h3", null, words.trust.tokens.title), tokens(service)] : null,
    link(to("health"), words.views.health, { class: "button" }),
  );
}

