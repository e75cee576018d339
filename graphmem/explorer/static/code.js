// One symbol or file: what it is, what stands around it, and everything known about it; its source is in the pane beside.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { aroundView } from "./aroundview.js";
import { showPanel } from "./panel.js";
import { card, into, symbolLink, table, where } from "./parts.js";
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
  fill(page, h("h1", null, w.title), h("p.lead", null, w.hint), card(words.home.central, w.begin, central));
  into(central, ask("CentralSymbols", { limit: 15 }, signal), ({ centralSymbols }) => table(words.home.central, [words.map.columns.name, words.map.columns.where], centralSymbols.symbols.map(({ symbol }) => [symbolLink(symbol), where(symbol)])));
}
