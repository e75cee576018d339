// What changes together with some files.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { card, chip, day, fileLink, go, into, knownList, link, splitList, table, to } from "./parts.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const w = words.coaccess;
  const result = h("div");
  const input = h("input", { name: "files", value: parameters.files ?? "", spellcheck: "false", autocomplete: "off" });
  fill(
    page,
    h("h1", null, w.title),
    h("form.bar", { onsubmit: (event) => (event.preventDefault(), go(to("coaccess", { files: input.value }))) }, h("div.field.grow", null, h("label", null, h("span", null, w.files), input)), h("button.primary", null, w.show)),
    h("p.hint", null, w.hint),
    result,
  );
  if (!parameters.files) return;
  await into(result, ask("CoAccess", { files: splitList(parameters.files), limit: 50 }, signal), (answer) => {
    const { files, unknown, hits, known, notes } = answer.coAccess;
    const said = [
      unknown.length ? h("p.lead", { role: "alert" }, w.unknown(unknown.join(", ")), hits.length && unknown.length === files.length ? ` ${w.guessed}` : "") : null,
      notes.filter((note) => !unknown.some((path) => note.includes(path))).map((note) => h("p.hint", null, note)),
    ];
    if (!hits.length) return [said, h("p.lead", null, w.none)];
    const moved = hits.filter((one) => one.support);
    const never = hits.filter((one) => !one.support);
    const named = (one) => [fileLink(one.path), one.via ? h("div.where", null, w.via(one.via)) : null];
    const code = (one) => one.explained.map((kind) => chip(words.map.kind[kind] ?? kind));
    const byName = (one) => one.parts.some((part) => part.name === "names" && part.value);
    const why = (one) => (one.explained.length ? code(one) : one.via ? w.via(one.via) : byName(one) ? w.by_name : w.recently);
    return [
      said,
      h("p", null, link(to("graph", { paint: "together", of: files.join(",") }), words.panel.on_map, { class: "button" })),
      h("p.hint", null, w.order_hint),
      moved.length
        ? card(w.moved, null, table(
            w.moved,
            [words.map.columns.file, w.share, w.support, w.order, w.last, w.code],
            moved.map((one) => [
              named(one),
              h("span.share", null, bar(one.confidence), ` ${Math.round(100 * one.confidence)}%`),
              words.number(one.support),
              w.direction[one.direction] ?? one.direction,
              day(one.lastSeen),
              one.explained.length ? code(one) : chip(w.hidden, "likely"),
            ]),
            { numeric: [2], first: 15 },
          ))
        : null,
      never.length
        ? card(w.never, w.never_hint, table(w.never, [words.map.columns.file, w.why], never.map((one) => [[fileLink(one.path)], why(one)]), { first: 15 }))
        : null,
      known.memories.length || known.held ? card(words.known.about.together, null, knownList(known, "", files, "together")) : null,
    ];
  });
}

function bar(score) {
  return h("meter", { min: 0, max: 1, value: Math.max(0, Math.min(1, score)), "aria-label": words.coaccess.share }, `${Math.round(100 * score)}%`);
}

