// How one symbol depends on another.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { card, edgeWhy, go, into, kindChip, knownList, link, nameOf, symbolField, symbolLink, to, trapMark, trapsAt, where } from "./parts.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const { from = "", to: target = "" } = parameters;
  const w = words.path;
  const result = h("div");
  const a = symbolField("path-from", { label: w.from, value: from, labelled: true });
  const b = symbolField("path-to", { label: w.to, value: target, labelled: true });
  const value = (one) => one.querySelector("input").value.trim();
  fill(
    page,
    h("h1", null, w.title),
    h("form.bar", { onsubmit: (event) => (event.preventDefault(), go(to("path", { from: value(a), to: value(b) }))) },
      h("div.field.grow", null, h("label", { for: "path-from" }, w.from), a),
      h("div.field.grow", null, h("label", { for: "path-to" }, w.to), b),
      h("button.primary", null, w.find)),
    result,
  );
  if (!from || !target) {
    fill(result, h("p.hint", null, w.hint));
    return;
  }
  await into(result, ask("Path", { source: from, target }, signal), ({ path }) => {
    const turn = link(to("path", { from: target, to: from }), w.turn, { class: "button" });
    if (!path.steps.length) {
      return [h("p.lead", null, w.none_found(from, target, path.maxDepth)), h("p.hint", null, w.hidden), turn, about(path.known)];
    }
    // A class or a file stands for its members: where the way begins or ends at one, both are named.
    const stop = (symbol, end = symbol) => h("div.stop", null, symbolLink(symbol), " ", kindChip(symbol.kind), " ", end.id === symbol.id ? null : [w.member(nameOf(end)), " "], where(symbol), trapsAt(path.known, symbol).map((one) => [" ", trapMark(one)]));
    const last = path.steps.length - 1;
    return [
      h("p.lead", null, w.found(path.steps.length, words.certainty(path.confidence), path.confidence)),
      h("ol.way", null,
        h("li", null, stop(path.steps[0].src, path.source)),
        path.steps.map((step, i) => h("li", null, h("div.step", null, h(`i.line.${step.kind.toLowerCase()}`, { "aria-hidden": "true" }), edgeWhy(step, path.rules)), stop(step.dst, i === last ? path.target : step.dst)))),
      turn,
      about(path.known, path.steps.flatMap((step) => [step.src.path, step.dst.path]).filter(Boolean)),
    ];
  }, (ref) => to("path", { from: ref, to: target }));
}

function about(known, paths) {
  return known.memories.length || known.held ? card(words.impact.memories, null, knownList(known, "", paths)) : null;
}
