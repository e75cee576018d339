// One symbol or file: what it is, what stands around it, and everything known about it; its source is in the pane beside.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { aroundView } from "./aroundview.js";
import { showPanel } from "./panel.js";
import { card, go, into, symbolField, symbolLink, table, to, where } from "./parts.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const { at = "" } = parameters;
  const w = words.code;
  if (!at) return start(page, signal);
  const panel = h("section.panel.flat", { "aria-label": words.panel.label });
  const picture = h("div.around-small");
  fill(page, h("h1.quiet", null, words.views.code), panel);
  await showPanel(panel, at, {
    signal,
    between: picture,
    named: (symbol) => {
      document.title = `${symbol.name || symbol.path} · ${words.brand}`;
      if (symbol.kind !== "EXTERNAL" && symbol.path) aroundView(picture, { ...parameters, around: symbol.id, depth: "1" }, signal, { small: true });
      else fill(picture, h("p.hint", null, w.outside));
    },
  });
}

/** Without a name: where one may begin. */
function start(page, signal) {
  const w = words.code;
  const central = h("div");
  const box = symbolField("code-of", { label: words.impact.of, placeholder: "Graph.add_edge", chosen: (ref) => go(to("code", { at: ref })), labelled: true });
  const submit = (event) => (event.preventDefault(), box.querySelector("input").value.trim() && go(to("code", { at: box.querySelector("input").value.trim() })));
  fill(page, h("h1", null, w.ask), h("p.lead", null, w.hint), h("form.bar", { onsubmit: submit }, h("div.field.grow", null, h("label", { for: "code-of" }, words.impact.of), box), h("button.primary", null, words.impact.show)), card(w.central, w.begin, central));
  box.querySelector("input").focus();
  into(central, ask("CentralSymbols", { limit: 15 }, signal), ({ centralSymbols }) => table(w.central, [words.map.columns.name, words.map.columns.where], centralSymbols.symbols.map(({ symbol }) => [symbolLink(symbol), where(symbol)])));
}
