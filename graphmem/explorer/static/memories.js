// What is known: browse, filter, and one memory with all about it.

import { ask } from "./api.js";
import { fill, h, later } from "./dom.js";
import { choice, day, field, go, into, link, note, sureness, to } from "./parts.js";
import { actions, bearings, flags, inPlace, provenance } from "./memory.js";
import { words } from "./words.js";

const PAGE = 30;

export async function show(page, parameters, signal) {
  if (parameters.id) return showOne(page, parameters.id, signal);
  const w = words.memories;
  const any = ["", w.any];
  const controls = {
    text: h("input", { name: "text", type: "search", value: parameters.text ?? "" }),
    type: choice([any, ...w.types.map((one) => [one, w.type_of[one] ?? one])], parameters.type ?? "", { name: "type" }),
    status: choice([["", w.alive], ...w.statuses.map((one) => [one, one])], parameters.status ?? "", { name: "status" }),
    tag: h("input", { name: "tag", value: parameters.tag ?? "" }),
    file: h("input", { name: "file", value: parameters.file ?? "" }),
    sort: choice(Object.entries(w.sorts), parameters.sort ?? "NEWEST", { name: "sort" }),
  };
  const total = h("p.lead", { role: "status" });
  const list = h("ul.memories");
  const more = h("div");
  const given = () => Object.fromEntries(Object.entries(controls).map(([key, control]) => [key, control.value.trim()]));
  let turn = null;
  const load = async (after = null) => {
    turn?.abort();
    turn = new AbortController();
    signal.addEventListener("abort", () => turn.abort());
    const { text, type, status, tag, file, sort } = given();
    const filter = {
      ...(text ? { text } : {}),
      ...(type ? { types: [type] } : {}),
      ...(status ? { statuses: [status] } : {}),
      ...(tag ? { tags: [tag] } : {}),
      ...(file ? { files: [file] } : {}),
    };
    if (!after) note(to("memories", { text, type, status, tag, file, sort: sort === "NEWEST" ? "" : sort }));
    const holder = after ? more : list;
    await into(holder, ask("Memories", { filter, sort, first: PAGE, after }, turn.signal), ({ memories: found }) => {
      total.textContent = w.total(found.totalCount);
      const entries = found.edges.map(({ node }) => item(node));
      const next = found.pageInfo.hasNextPage ? h("button", { type: "button", onclick: () => load(found.pageInfo.endCursor) }, words.more(Math.min(PAGE, found.totalCount - list.children.length - entries.length), list.children.length + entries.length, found.totalCount)) : null;
      if (after) {
        list.append(...entries);
        return next;
      }
      fill(more, next);
      return entries.length ? entries : h("li", null, w.none);
    });
  };
  const reload = later(() => load(), 150);
  const form = h("form.bar", { onsubmit: (event) => event.preventDefault(), oninput: reload },
    h("label.field.grow", null, h("span", null, w.text), controls.text), field(w.type, controls.type), field(w.status, controls.status), field(w.tag, controls.tag), field(w.file, controls.file), field(w.sort, controls.sort));
  fill(page, h("div.heading.row", null, h("h1", null, w.title), h("nav.actions", null, link(to("teach"), words.views.teach, { class: "button primary" }), link(to("review"), words.views.review, { class: "button" }))), form, total, list, more);
  await load();
}

function item(memory) {
  const told = memory.content.replace(/\.$/, ""); // a memory of one short sentence is its title
  const whole = h(
    "li.memory",
    null,
    h("h3", null, link(to("memories", { id: memory.shortId }), memory.title || memory.shortId)),
    inPlace("p", memory, told === memory.title ? "" : told.length > 240 ? `${told.slice(0, 240)}…` : memory.content, (now) => whole.replaceWith(item(now))),
    h("p.meta", null, flags(memory), sureness(memory.confidenceInUse), h("span.where", null, memory.files.slice(0, 3).join(", ")), h("span.where", null, words.ago(memory.createdAt)), day(memory.createdAt)),
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
        h("h1", null, now.title || now.shortId),
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
