// One symbol or file: what it is, what stands around it, and everything known about it; its source is in the pane beside.

import { fill, h } from "./dom.js";
import { aroundView } from "./aroundview.js";
import { showPanel } from "./panel.js";
import { go, to } from "./parts.js";
import { begin, nameForm } from "./start.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const { at = "" } = parameters;
  const w = words.code;
  if (!at) return start(page, signal);
  const panel = h("section.panel.flat", { "aria-label": words.panel.label });
  const picture = h("div.around-small");
  const again = h("div");
  fill(page, h("h1.quiet", null, words.views.code), again, panel);
  await showPanel(panel, at, {
    signal,
    refused: () => fill(again, nameForm("code-of", at, (ref) => go(to("code", { at: ref }))).form),
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
  const { box, form } = nameForm("code-of", "", (ref) => go(to("code", { at: ref })));
  const central = h("div");
  fill(page, h("h1", null, w.ask), h("p.lead", null, w.hint), form, central);
  begin(central, box, (at) => to("code", { at }), signal);
}
