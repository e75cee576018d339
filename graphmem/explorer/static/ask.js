// A question, and the evidence for an answer, each piece with a number to cite it by.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { chip, commitPage, day, details, go, into, link, short, to } from "./parts.js";
import { lead, routed } from "./routes.js";
import { words } from "./words.js";

const MOST_STRONG = 5; // hits that are told in short
const STRONG = 0.7; // least share of the highest score

export async function show(page, parameters, signal) {
  const w = words.ask;
  const question = parameters.q ?? "";
  const input = h("input", { name: "q", type: "search", value: question, placeholder: w.placeholder });
  const result = h("div");
  fill(page, h("h1", null, w.title), h("p.hint", null, w.scope), h("form.bar", { onsubmit: (event) => (event.preventDefault(), go(to("ask", { q: input.value.trim() }))) }, h("label.field.grow", null, h("span", null, w.question), input), h("button.primary", null, w.ask)), result);
  if (!question) {
    input.focus();
    return;
  }
  const answer = h("div", null, h("p.loading", null, words.loading));
  page.insertBefore(answer, result);
  const route = await routed(question, signal).catch((error) => (error.name === "AbortError" ? Promise.reject(error) : null)); // search answers then
  if (route) into(answer, lead(route, signal), (made) => made);
  else fill(answer);
  await into(result, ask("Ask", { question, limit: 12 }, signal), ({ ask: reply }) => {
    const search = reply.evidence;
    const why = reply.reasons.length ? reasons(reply.reasons) : null;
    if (!search.hits.length) return [why, h("p.lead", null, w.none), search.near.length ? h("p", null, w.near, search.near.map((one) => [" ", link(to("graph", { focus: one.ref }), one.ref)])) : null];
    const said = reply.sentences.length
      ? [
          h("section.card", null, h("h2", null, w.answer), h("p", null, reply.sentences.map((one) => [one.text, " ", one.cites.map((number) => [cite(number), " "])]))),
          h("p.hint", null, w.by(reply.model)),
        ]
      : why ?? (route ? null : h("section.card", null, h("h2", null, w.in_short), h("ul.short", null, strong(search.hits).map(([hit, number]) => h("li", null, gist(hit), " ", cite(number))))));
    const found = [
      h("p.hint", null, search.facets.map((one) => `${w.facet[one.facet]} ${one.hits}`).join(" · ")),
      search.groups.map((group) => [group.path ? h("p.where", null, group.path) : null, h("ol.evidence", null, group.hits.map((number) => evidence(search.hits[number - 1], number)))]),
      h("p.hint", null, w.answered(search.answered.join(", ")), search.missing.map((one) => ` ${w.missing(one.name, one.value)}.`), search.notes.map((one) => ` ${one}.`)),
      route ? null : reply.notes.map((note) => h("p.hint", null, coded(`${note[0].toUpperCase()}${note.slice(1)}.`))),
    ];
    return [
      said,
      route ? details(w.also_found, search.hits.length, false, found) : [h("h2", null, w.evidence), found],
    ];
  });
}

/** A sentence with its names in code style. */
const coded = (text) => text.split("`").map((part, i) => (i % 2 ? h("code", null, part) : part));

/** The best hits with their numbers: those whose score is near the highest one. In the evidence, a hit stands beside those that it calls. */
function strong(hits) {
  const all = hits.map((hit, i) => [hit, i + 1]).sort(([a], [b]) => b.score - a.score);
  const own = all.filter(([hit]) => !["MODULE", "FLOW"].includes(hit.kind)); // those two tell of other code
  const numbered = own.length ? own : all;
  return numbered.filter(([hit]) => hit.score >= STRONG * numbered[0][0].score).slice(0, MOST_STRONG);
}

/** Passages that give a reason; or, when none does, that nobody wrote it, and the nearest passages. */
function reasons(some) {
  const w = words.ask;
  const place = (one) => {
    if (one.kind === "MEMORY") return link(to("memories", { id: one.ref }), one.title || one.ref);
    if (one.kind === "COMMIT") return [link(commitPage(one.ref), one.title), " ", day(one.at)];
    return link(to("code", { at: one.path, code: `${one.path}:${one.line}` }), `${one.path}:${one.line}`);
  };
  return h("section.card.reasons", null, h("h2", null, w.why), h("p.answer", null, some.some((one) => one.states) ? w.reasons : w.no_reason), h("ul.listing", null, some.map((one) => h("li", null, h("p", null, chip(w.reason_in[one.kind]), " ", place(one)), one.text ? h("p.quiet-text", null, one.text) : null))));
}

function cite(number) {
  return h("a.cite", { href: `#e${number}`, "aria-label": words.ask.evidence_number(number) }, String(number));
}

function gist(hit) {
  if (hit.memory) return short(hit.memory.content, 220);
  if (hit.summary) return `${hit.qualname || hit.title || hit.path}: ${hit.summary}`;
  const doc = /^[ \t]*[rRuU]?("""|''')[ \t]*([^\s"'][^\n]+)/m.exec(hit.snippet)?.[2]?.replace(/"""|'''/g, "");
  const name = hit.qualname || hit.title || hit.path;
  return doc ? `${name}: ${doc}` : words.ask.in_file(name, hit.path);
}

function evidence(hit, number) {
  const w = words.ask;
  const target = hit.kind === "MODULE" ? to("graph", { focus: hit.id }) : hit.memory ? to("memories", { id: hit.memory.shortId }) : to("graph", { focus: hit.qualname ? `${hit.path}:${hit.qualname}` : hit.path });
  const parts = [...hit.parts.map((one) => `${one.path} #${one.rank}`), ...hit.factors.map((one) => `${one.name} ${Math.round(one.value * 100) / 100}`)];
  return h(
    "li.card",
    { id: `e${number}`, tabindex: -1 },
    h("h3", null, h("span.cite", null, String(number)), " ", link(target, hit.title || hit.id)),
    h("p.meta", null, chip(w.kind[hit.kind] ?? hit.kind), h("span.where", null, hit.path ? w.lines(hit.startLine, hit.endLine) : ""), h("span.where", { title: parts.join(", ") }, w.score(hit.score))),
    hit.summary ? h("p", null, hit.summary) : null,
    hit.memory ? h("blockquote.content", null, hit.memory.content) : h("pre.source", { tabindex: 0 }, hit.lines.length ? hit.lines.map((one) => `${one.line}  ${one.text}`).join("\n") : hit.snippet),
    hit.memories.length ? details(w.known, hit.memories.length, true, h("ul", null, hit.memories.map((one) => h("li", null, link(to("memories", { id: one.shortId }), one.title))))) : null,
  );
}
