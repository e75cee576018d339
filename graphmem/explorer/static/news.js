// What was learnt, on what people disagree and who knows what; and what somebody new has to know. For one person, and for a team.

import { ask } from "./api.js";
import { announce, fill, h, plain } from "./dom.js";
import { MOST_TEXT, breakable, card, chip, choice, day, failure, field, fileLink, go, into, link, listing, noted, symbolLink, table, to, where } from "./parts.js";
import { entriesOf } from "./semantics.js";
import { words } from "./words.js";

const SPANS = [7, 30, 91, 365];
const MOST = 200; // memories of a period
const FIRST_SEEDED = 3; // memories made from the project's files that are shown at first
const STARTS = 4; // programs and commands with which reading begins
const FIRST = 8; // entries of a list at first

const person = (name) => (name ? h("span.author", null, name) : null);
const files = (paths) => (paths.length ? h("span.where", null, paths.map((path, i) => [i ? ", " : "", link(to("code", { at: path }), path)])) : null);

/** What a memory says beyond its title, which is mostly its first sentence or the beginning of it. */
function rest({ title, content }) {
  const cut = title.endsWith("…");
  const begin = cut ? title.slice(0, -1) : title;
  if (!content.startsWith(begin)) return content;
  const more = content.slice(begin.length);
  return cut || !/^([.!?]|$)/.test(more) ? `…${more.replace(/^[;:,]/, "")}` : more.slice(1).trim();
}

/** Whether the title is a short text's cut beginning, so that the text stands alone. */
const isCut = ({ title, content }) => title.endsWith("…") && content.length <= MOST_TEXT && content.startsWith(title.slice(0, -1));

/** A memory of the news, in a few lines. */
function entry(one) {
  const w = words.memories;
  const said = { title: plain(one.title), content: plain(one.content) };
  const whole = isCut(said);
  const text = whole ? "" : rest(said);
  return [
    link(to("memories", { id: one.shortId }), (whole ? said.content : said.title) || one.shortId),
    text ? h("p.quiet-text", null, text.length > 240 ? `${text.slice(0, 240)}…` : text) : null,
    h("p.meta", null, chip(w.type_of[one.type] ?? one.type), one.isNew ? null : chip(words.news.changed), person(one.person), day(one.at), files(one.files)),
  ];
}

/** What was learnt in a period, open disputes, and who knows what. */
export async function news(page, { days = "7" }, signal) {
  const w = words.news;
  const span = choice(SPANS.map((n) => [String(n), w.days(n)]), days, { onchange: () => go(to("news", { days: span.value })) });
  const [place, code] = [h("div"), h("div")];
  fill(page,
    h("div.heading.row", null, h("div", null, h("h1", null, w.title), h("p.lead", null, w.hint)), h("nav.actions", null, link(to("onboarding"), words.views.onboarding, { class: "button" }), link(to("memories"), words.memories.back, { class: "button" }))),
    h("form.bar", { onsubmit: (event) => event.preventDefault() }, field(w.span, span)),
    place,
    card(w.code, w.code_hint, code));
  knowers(code, FIRST, signal);
  await into(place, ask("TeamNews", { days: Number(days), limit: MOST }, signal), ({ teamNews: found }) => [
    h("p", { role: "status" }, w.count(found.total, found.since.slice(0, 10), found.disagreements.length)),
    found.disagreements.length ? h("section.card", { id: "disputes" }, h("h2", null, w.disputes), h("p.hint", null, w.disputes_hint), found.disagreements.map((one) => dispute(one, () => go(to("news", { days }), true)))) : null,
    card(w.learnt, null, found.learnt.length ? listing(found.learnt.map(entry), FIRST) : h("p", null, w.nothing), found.total > found.learnt.length ? h("p.hint", null, words.of(found.learnt.length, found.total)) : null),
    found.knows.length ? card(w.knows, w.knows_hint, people(found.knows)) : h("p.hint", null, w.alone),
  ]);
}

/** The people of a team, what they taught and about which files; teams and roles where there are some. */
function people(some) {
  const w = words.news;
  const roles = some.some((one) => one.level);
  return table(w.knows, [w.person, w.memories, w.about, ...(roles ? [w.teams, w.role] : [])], some.map((one) => [
    one.person,
    words.number(one.memories),
    one.files.length ? one.files.map(fileLink) : "",
    ...(roles ? [one.teams.join(", "), w.level[one.level] ?? one.level] : []),
  ]), { first: 30, numeric: [1] });
}

/** One disagreement with all of its sides; `decided()` after a person chose one. */
function dispute(one, decided) {
  const w = words.news;
  const failed = h("div");
  const why = one.field === "text" ? h("input", { name: "why", autocomplete: "off", maxlength: 1000 }) : null;
  const act = (operation, variables) => async () => {
    try {
      await ask(operation, variables);
      announce(w.decided);
      decided();
    } catch (error) {
      fill(failed, failure(error));
    }
  };
  const keep = (side, n) => {
    if (one.field === "text") return [w.keep, () => act("ResolveConflict", { winner: side.memory, loser: one.sides[1 - n].memory, note: why.value.trim() })()];
    if (one.field === "disputed") return n ? [w.forget, act("Forget", { id: one.id, hard: false })] : [w.keep_true, act("Verify", { id: one.id })];
    return [w.keep, act("DecideDisagreement", { id: one.id, field: one.field, side: n + 1 })];
  };
  const said = (side, n) => {
    const [label, run] = keep(side, n);
    const text = side.value || w.no_reason;
    return h("div.side", null,
      h("p.meta", null, person(side.person), day(side.at), side.memory && one.field === "text" ? link(to("memories", { id: side.memory }), w.open) : null),
      h("blockquote.content", null, one.field === "disputed" && n ? w.objects(text) : text),
      h("button", { type: "button", onclick: run, "aria-label": `${label}: ${text.slice(0, 80)}` }, label));
  };
  return h("article.dispute", null,
    h("h3", null, link(to("memories", { id: one.shortId }), one.title || one.shortId), " ", chip(w.field[one.field] ?? w.about_field(one.field), "likely")),
    h("div.sides", null, one.sides.map(said)),
    why ? field(w.why, why) : null,
    failed);
}

/** Who knows the modules best, by the history of the code. */
function knowers(place, first, signal) {
  const w = words.news;
  return into(place, ask("People", { limit: 100 }, signal), ({ people: found }) => [
    found.notes.map((note) => h("p.hint", null, noted(note))),
    found.parts.length
      ? [table(w.code, [words.map.columns.module, w.person], found.parts.map((part) => [link(to("people", { of: part.name }), breakable(part.name)), part.people.slice(0, 3).map((who) => `${who.name} ${Math.round(100 * who.share)}%`).join(", ")]), { first }), h("p", null, link(to("people"), words.architect.people.title))]
      : found.notes.length ? null : h("p.hint", null, words.none),
  ]);
}

/** What somebody new to the project has to know, where to begin reading, and whom to ask. */
export async function onboarding(page, _, signal) {
  const w = words.onboarding;
  const [know, code, ask_them, own] = [h("div"), h("div"), h("div"), h("div")];
  fill(page,
    h("div.heading.row", null, h("div", null, h("h1", null, w.title), h("p.lead", null, w.hint)), h("nav.actions", null, link(to("graph"), words.home.open_map, { class: "button" }), link(to("decisions"), words.architect.decisions.title, { class: "button" }), link(to("news"), words.views.news, { class: "button" }))),
    card(w.know, w.know_hint, know),
    h("div.sides", null, card(words.code.central, words.code.begin, code), card(w.whom, words.news.code_hint, ask_them)), own);
  const starts = ask("EntryPoints", { kinds: ["MAIN", "COMMAND"], limit: STARTS }, signal).then(({ entryPoints }) => entryPoints.entryPoints.filter((one) => !one.beside));
  into(code, Promise.all([starts, ask("CentralSymbols", { limit: 10 }, signal)]), ([begun, { centralSymbols }]) => [
    begun.length ? [h("h3", null, w.starts), listing(entriesOf(begun), STARTS), h("h3", null, w.used)] : null,
    listing(centralSymbols.symbols.map(({ symbol }) => [symbolLink(symbol), " ", where(symbol)]), 10),
  ]);
  knowers(ask_them, FIRST, signal);
  await into(know, ask("TeamNews", { days: 7, limit: 1 }, signal), ({ teamNews: found }) => {
    const learnt = found.important.filter((one) => !one.seeded);
    const depth = (one) => (one.type === "module_insight" ? -1 : Math.min(...one.files.map((path) => path.split("/").length), 2));
    const seeded = found.important.filter((one) => one.seeded).sort((a, b) => depth(a) - depth(b)); // of the whole project before its parts
    if (seeded.length) fill(own, card(w.own, w.own_hint, listing(seeded.map(entry), FIRST_SEEDED)));
    return learnt.length
      ? listing(learnt.map(entry), learnt.length, "ol")
      : [h("p", null, w.nothing), link(to("teach"), words.views.teach, { class: "button" }), " ", link(to("review"), words.views.review, { class: "button" })];
  });
}
