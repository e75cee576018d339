// A view that was opened without a name: a box for one, and where one may begin.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { card, into, nameOf, refOf, link, symbolField, table, where } from "./parts.js";
import { words } from "./words.js";

const MOST = 15; // symbols that are offered

/**
 * Fill `place` with the symbols that the most other code depends on, and show the first of them as an example in a box.
 * @param {function} address  where a click on a symbol leads, given its reference.
 */
export function begin(place, box, address, signal) {
  const w = words.code;
  const list = h("div");
  fill(place, card(w.central, w.begin, list));
  const input = box.querySelector("input");
  input.focus();
  into(list, ask("CentralSymbols", { limit: MOST }, signal), ({ centralSymbols }) => {
    const some = centralSymbols.symbols.map(({ symbol }) => symbol);
    if (some.length) input.placeholder = words.search.example(nameOf(some[0]));
    return table(w.central, [words.map.columns.name, words.map.columns.where], some.map((one) => [link(address(refOf(one)), nameOf(one), { class: "symbol", title: refOf(one) }), where(one)]));
  });
}

/** The box of such a view, as a form: `chosen(ref)`. */
export function nameForm(id, value, chosen) {
  const box = symbolField(id, { label: words.impact.of, value, chosen, labelled: true });
  const submit = (event) => (event.preventDefault(), box.querySelector("input").value.trim() && chosen(box.querySelector("input").value.trim()));
  return { box, form: h("form.bar", { onsubmit: submit }, h("div.field.grow", null, h("label", { for: id }, words.impact.of), box), h("button.primary", null, words.impact.show)) };
}
