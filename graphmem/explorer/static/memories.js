// What is known: browse, filter, and one memory with all about it.

import { ask } from "./api.js";
import { fill, h, later, plain } from "./dom.js";
import { choice, day, failure, field, go, into, isBeginning, knownList, MOST_TEXT, short, link, nameOf, note, reasonsFor, sureness, symbolField, to } from "./parts.js";
import { actions, bearings, flags, inPlace, provenance } from "./memory.js";
import { words } from "./words.js";

const PAGE = 30;
const MOST_BESIDE = 200; // dependents of a file whose memories are looked for
const NEAREST = 5; // memories of a folder around a place without any, or near in meaning to the words

export async function show(page, parameters, signal) {
  if (parameters.id) return showOne(page, parameters.id, signal);
  const w = words.memories;
  const any = ["", w.any];
  const controls = {
    text: h("input", { name: "text", type: "search", value: parameters.text ?? "" }),
    type: choice([any, ...w.types.map((one) => [one, w.type_of[one] ?? one])], parameters.type ?? "", { name: "type" }),
    status: choice([["", w.alive], ...w.statuses.map((one) => [one, w.status_is(one)])], parameters.status ?? "", { name: "status" }),
    tag: h("input", { name: "tag", value: parameters.tag ?? "" }),
    sort: choice(Object.entries(w.sorts), parameters.sort ?? "NEWEST", { name: "sort" }),
  };
  let about = parameters.file ?? ""; // a file, a folder, or a symbol, which stands for itself and its file
  const chooseAbout = async (ref) => {
    about = ref.replace(/\/$/, ""); // a folder
    box.querySelector("input").value = ref;
    await load();
  };
  const box = symbolField("memories-about", { label: w.about_this, value: about, chosen: chooseAbout, labelled: true, folders: true });
  box.querySelector("input").addEventListener("input", (event) => (event.stopPropagation(), event.target.value.trim() || chooseAbout("")));
  const total = h("p.lead", { role: "status" });
  const list = h("ul.memories");
  const more = h("div");
  const near = h("div.nearest");
  const given = () => Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, control.value.trim()]));
  let turn = null;
  const load = async (after = null) => {
    turn?.abort();
    turn = new AbortController();
    signal.addEventListener("abort", () => turn.abort());
    const { text, type, status, tag, sort } = given();
    const found = async ({ signal: mine }) => {
      const place = about ? await placeOf(about, mine) : null;
      const filter = {
        ...(text ? { text } : {}),
        ...(type ? { types: [type] } : {}),
        ...(status ? { statuses: [status] } : {}),
        ...(tag ? { tags: [tag] } : {}),
        ...(place ? { files: [place.path] } : {}),
      };
      return { place, ...(await ask("Memories", { filter, sort, first: PAGE, after }, mine)) };
    };
    if (!after) note(to("memories", { text, type, status, tag, file: about, sort: sort === "NEWEST" ? "" : sort }));
    const holder = after ? more : list;
    await into(holder, found(turn), ({ place, memories: found }) => {
      fill(total, w.total(found.totalCount), place ? [" ", w.about_place(place.path), place.symbol ? [" ", link(to("code", { at: about }), w.all_known(nameOf(place.symbol)))] : null] : null);
      const entries = found.edges.map(({ node }) => item(node));
      const next = found.pageInfo.hasNextPage ? h("button", { type: "button", onclick: () => load(found.pageInfo.endCursor) }, words.more(Math.min(PAGE, found.totalCount - list.children.length - entries.length), list.children.length + entries.length, found.totalCount)) : null;
      if (after) {
        list.append(...entries);
        return next;
      }
      fill(more, next);
      fill(near);
      if (text) nearInMeaning(near, text, new Set(found.edges.map(({ node }) => node.shortId)), turn.signal);
      if (entries.length || !place) return entries.length ? entries : h("li", null, text ? [w.none_words, " ", reasonsFor(text)] : w.none);
      const beside = h("li.nearest");
      nearest(beside, place.path, turn.signal);
      return [h("li", null, w.none_about), beside];
    }, (ref) => to("memories", { file: ref }));
  };
  const reload = later(() => load(), 150);
  const form = h("form.bar", { onsubmit: (event) => event.preventDefault(), oninput: reload },
    h("div.field.grow", null, h("label", { for: "memories-about" }, w.about_this), box), h("label.field.grow", null, h("span", null, w.text), controls.text), field(w.type, controls.type), field(w.status, controls.status), field(w.tag, controls.tag), field(w.sort, controls.sort));
  fill(page, h("div.heading.row", null, h("h1", null, w.title), h("nav.actions", null, link(to("teach"), words.views.teach, { class: "button primary" }), link(to("review"), words.views.review, { class: "button" }))), form, total, list, more, near);
  if (!parameters.text && !about) box.querySelector("input").focus();
  await load();
}

/** Fill a place with memories that do not have all of the words, but some of them or their meaning. */
async function nearInMeaning(place, text, listed, signal) {
  try {
    const { search } = await ask("Search", { query: text, kinds: ["MEMORY"], limit: NEAREST + listed.size, explain: false }, signal);
    const others = search.hits.map((hit) => hit.memory).filter((one) => one && !listed.has(one.shortId)).slice(0, NEAREST);
    fill(place, others.length ? [h("h2", null, words.memories.near), h("ul.memories", null, others.map(item))] : null);
  } catch (error) {
    if (error.name !== "AbortError") fill(place, failure(error));
  }
}

/** Fill a place with memories near a path without any: about code that uses it or that it uses, and of the nearest folder that has some. */
async function nearest(place, path, signal) {
  const w = words.memories;
  const [code, folder] = [h("div"), h("div")];
  fill(place, code, folder);
  try {
    const beside = await besideIt(path, signal);
    if (beside.length) fill(code, h("h2", null, w.beside(beside.length)), knownList({ memories: beside, more: 0, held: 0 }, "", [], "file"));
    const own = path.lastIndexOf("/");
    for (let at = own; at > 0; at = path.lastIndexOf("/", at - 1)) {
      const where = path.slice(0, at);
      const { memories } = await ask("Memories", { filter: { files: [where] }, sort: "CONFIDENCE", first: NEAREST }, signal);
      if (memories.totalCount) return fill(folder, h("h2", null, (at === own ? w.same_folder : w.wider_folder)(memories.totalCount, where)), h("ul.memories", null, memories.edges.map(({ node }) => item(node))), memories.totalCount > NEAREST ? link(to("memories", { file: where }), words.more(memories.totalCount - NEAREST, NEAREST, memories.totalCount)) : null);
    }
  } catch (error) {
    if (error.name !== "AbortError") fill(folder, failure(error));
  }
}

/** Memories about code one step from a file in the graph, in either direction, each once; none for a folder. */
async function besideIt(path, signal) {
  const question = { targets: [path], maxDepth: 1, limit: MOST_BESIDE };
  try {
    const answers = await Promise.all(["DEPENDENTS", "DEPENDENCIES"].map((direction) => ask("ImpactOverview", { ...question, direction }, signal)));
    const found = new Map(answers.flatMap(({ impact }) => impact.known.memories.filter((one) => one.place !== "together")).map((one) => [one.shortId, { ...one, place: "" }]));
    return [...found.values()].sort((a, b) => a.steps - b.steps || b.score - a.score);
  } catch (error) {
    if (error.code !== "NOT_FOUND") throw error;
    return [];
  }
}

/** The file or folder that a reference means; `symbol` when it is one. */
async function placeOf(ref, signal) {
  try {
    const { symbol } = await ask("Place", { ref }, signal);
    return { path: symbol.path || ref, symbol: symbol.kind !== "FILE" && symbol.path ? symbol : null };
  } catch (error) {
    if (error.code !== "NOT_FOUND") throw error;
    return { path: ref, symbol: null }; // a folder, or a name that is nowhere
  }
}

function item(memory) {
  const text = short(memory.content, MOST_TEXT);
  const same = isBeginning(memory.title, memory.content); // then the text stands alone, with the link
  const address = to("memories", { id: memory.shortId });
  const redraw = (now) => whole.replaceWith(item(now));
  const whole = h(
    "li.memory",
    null,
    same ? null : h("h3", null, link(address, plain(memory.title) || memory.shortId)),
    same ? inPlace("h3", memory, link(address, text || memory.shortId), redraw) : inPlace("p", memory, text, redraw),
    h("p.meta", null, flags(memory), sureness(memory.confidenceInUse), h("span.where", null, (memory.files.length ? memory.files : [...new Set((memory.about ?? []).map((one) => one.name))]).slice(0, 3).join(", ")), h("span.where", null, words.ago(memory.createdAt)), day(memory.createdAt)),
  );
  return whole;
}

async function showOne(page, id, signal) {
  const w = words.memories;
  await into(page, ask("Memory", { id }, signal), ({ memory }) => {
    const body = h("div");
    const draw = (now) => {
      if (!now) return go(to("memories"));
      fill(
        body,
        h("h1", null, plain(now.title) || now.shortId),
        h("p.meta", null, flags(now), sureness(now.confidenceInUse), h("span.where", null, words.ago(now.createdAt)), h("span.where", null, now.shortId)),
        inPlace("blockquote.content", now, now.content, draw),
        actions(now, draw),
        h("div.bearings", null, bearings(now)),
        h("section.card", null, h("h2", null, w.provenance), provenance(now, signal)),
      );
    };
    draw(memory);
    return [h("p", null, link(to("memories"), `← ${w.back}`)), body];
  });
}
