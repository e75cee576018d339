// What moves together with some files.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { chip, day, go, into, link, splitList, table, to } from "./parts.js";
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
    const { hits, notes } = answer.coAccess;
    const said = notes.map((note) => h("p.hint", null, note));
    if (!hits.length) return [h("p.lead", null, w.none), said];
    return [
      h("p", null, link(to("graph", { paint: "together", of: splitList(parameters.files).join(",") }), words.panel.on_map, { class: "button" })),
      table(
        w.title,
        [words.map.columns.file, w.share, w.support, w.order, w.last, w.code],
        hits.map((one) => [
          [link(to("graph", { focus: one.path }), one.path), one.via ? h("div.where", null, w.via(one.via)) : null],
          h("span.share", null, bar(one.confidence), ` ${Math.round(100 * one.confidence)}%`),
          words.number(one.support),
          w.direction[one.direction] ?? one.direction,
          day(one.lastSeen),
          one.explained.length ? one.explained.map((kind) => chip(words.map.kind[kind] ?? kind)) : chip(w.hidden, "likely"),
        ]),
        { numeric: [2] },
      ),
      said,
    ];
  });
}

function bar(score) {
  return h("meter", { min: 0, max: 1, value: Math.max(0, Math.min(1, score)), "aria-label": words.coaccess.share }, `${Math.round(100 * score)}%`);
}

