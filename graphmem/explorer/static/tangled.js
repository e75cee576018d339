// Which module is most tangled, and where to cut it: one sentence that several pages begin with, and a page that ranks all modules.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { card, into, link, listing, mostTangled, table, to } from "./parts.js";
import { cycle } from "./semantics.js";
import { words } from "./words.js";

const MOST_CYCLES = 200;
const CHEAP = 20; // connections; more of them are a redesign

/** Modules, those in a cycle first, then the most connected, with the cycle of each and the dependency to cut; and the cycles. */
export async function tangles(signal) {
  const [{ modules }, { cycles }] = await Promise.all([ask("ModuleUses", {}, signal), ask("Cycles", { level: "MODULES", limit: MOST_CYCLES }, signal)]);
  const ranked = mostTangled(modules.dependencies).map((one) => {
    const own = modules.dependencies.filter((edge) => edge.srcName === one.name || edge.dstName === one.name).sort((a, b) => a.weight - b.weight || (`${a.srcName} ${a.dstName}` < `${b.srcName} ${b.dstName}` ? -1 : 1));
    const ring = cycles.cycles.find((found) => found.members.includes(one.name)) ?? null;
    return { ...one, ring, edges: own.reduce((sum, edge) => sum + edge.weight, 0), place: place(own, ring) };
  });
  return { order: [...ranked.filter((one) => one.ring), ...ranked.filter((one) => !one.ring)], cycles: cycles.cycles };
}

/** The dependency to cut first of a module in a cycle, else null; `own` are its own, lightest first; `why` is a key of words.tangled.begin. */
function place(own, ring) {
  if (!ring) return null;
  const leaves = own.find((edge) => edge.worthCutting);
  if (leaves) return { ...leaves, why: "leaves" };
  return { srcName: ring.cheapest.src, dstName: ring.cheapest.dst, weight: ring.cheapest.weight, why: "cheapest" };
}

const module = (name) => link(to("graph", { focus: name }), name);
const dependency = ({ srcName, dstName }) => link(to("matrix", { of: srcName, on: dstName }), `${srcName} → ${dstName}`);

/** A remark on a dependency that costs much to remove. */
const dear = ({ weight }) => (weight > CHEAP ? ` ${words.tangled.dear}` : "");

/** The answer in one sentence. */
export function sentence({ order }) {
  const w = words.tangled;
  const [first] = order;
  if (!first) return h("p.answer", null, w.none);
  if (!first.place) return h("p.answer", null, w.no_tangle, module(first.name), w.connected(words.home.tangle(first.uses.size, first.usedBy.size, first.both)), " ", h("span.hint", null, w.measure_connected));
  return h("p.answer", null, module(first.name), w.is(words.home.tangle(first.uses.size, first.usedBy.size, first.both)), w.begin[first.place.why](first.ring.members.length), dependency(first.place), w.cut[first.place.why](first.place.weight, first.ring.members.length), dear(first.place), " ", h("span.hint", null, w.measure));
}

/** The sentence at the top of another page, which says the same without it; leads to the ranking. */
export function answered(signal) {
  const place = h("div");
  into(place, tangles(signal), (found) => [sentence(found), h("p", null, link(to("tangled"), words.tangled.all))]);
  return place;
}

/** The sentence about one module: the dependency to remove first, as the ranking says it. */
export function firstCut(name, signal) {
  const w = words.tangled;
  const place = h("div");
  into(place, tangles(signal), ({ order }) => {
    const one = order.find((found) => found.name === name);
    if (!one) return [];
    return one.place ? [h("p.answer", null, w.first[one.place.why](name), dependency(one.place), w.cut[one.place.why](one.place.weight, one.ring.members.length), dear(one.place))] : [h("p.answer", null, w.untangled(name))];
  });
  return place;
}

/** The first few as a list. */
export const leading = ({ order }) =>
  listing(order.slice(0, 3).map((one) => [module(one.name), h("div.where", null, words.home.tangle(one.uses.size, one.usedBy.size, one.both), " · ", link(to("cut", { of: one.name }), words.ask_of.cut))]), 3, "ol");

export async function show(page, _, signal) {
  const w = words.tangled;
  const result = h("div");
  fill(page, h("p", null, link(to("questions"), `← ${words.architect.title}`)), h("h1", null, words.architect.tangled.title), h("p.lead", null, words.architect.tangled.hint), result);
  await into(result, tangles(signal), (found) => [
    sentence(found),
    found.order.length
      ? table(found.cycles.length ? w.ranking : w.ranking_connected, [words.map.columns.module, w.both, w.uses, w.used, w.edges, w.ring, w.place], found.order.map((one, i) => [
          [`${i + 1}. `, module(one.name)],
          words.number(one.both),
          words.number(one.uses.size),
          words.number(one.usedBy.size),
          words.number(one.edges),
          one.ring ? words.number(one.ring.members.length) : "–",
          [one.place ? (one.place.why === "leaves" || found.cycles.length > 1 ? [dependency(one.place), ` (${words.number(one.place.weight)})`] : w.of_cycle) : "–", h("div.where", null, link(to("cut", { of: one.name }), words.ask_of.cut))],
        ]), { first: 30, numeric: [1, 2, 3, 4, 5] })
      : null,
    card(words.home.cycles, words.home.cycles_hint, found.cycles.length ? found.cycles.map(cycle) : h("p", null, words.home.no_cycles)),
  ]);
}
