// What moves together with some files.

import { askIfThere } from "./api.js";
import { fill, h } from "./dom.js";
import { go, into, link, splitList, table, to } from "./parts.js";
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
  await into(result, askIfThere("CoAccess", { files: splitList(parameters.files), limit: 50 }, signal), (answer) => {
    if (!answer) return h("p.hint", null, words.absent(w.title.toLowerCase()));
    const hits = answer.coAccess.hits ?? answer.coAccess.files ?? [];
    if (!hits.length) return h("p.lead", null, w.none);
    return table(w.title, [words.map.columns.file, w.score, w.support, w.reason], hits.map((one) => [link(to("graph", { focus: one.path }), one.path), bar(one.score), one.support ?? "", one.reason ?? ""]), { numeric: [2] });
  });
}

function bar(score) {
  return h("meter", { min: 0, max: 1, value: Math.max(0, Math.min(1, score)), "aria-label": words.coaccess.score }, `${Math.round(100 * score)}%`);
}

