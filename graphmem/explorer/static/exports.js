// A view as a file or a link: SVG, PNG, Mermaid.

import { announce, h } from "./dom.js";
import { copy, failure, menu } from "./parts.js";
import { keep, pngOf } from "./svg.js";
import { words } from "./words.js";

/**
 * A menu that saves a view.
 * @param {string} name  of the file, without its ending.
 * @param {object} makers  `svg` and `mermaid`: functions that give a text, or a promise of one.
 */
export function exportMenu(name, { svg, mermaid }) {
  const w = words.exports;
  const file = `graphmem-${name.replace(/[^\w.-]+/g, "-")}`;
  const item = (text, act) =>
    h("button.plain", { type: "button", onclick: async (event) => {
      const whole = event.target.closest("details");
      try {
        await act();
        announce(w.done);
      } catch (error) {
        whole.after(failure(error));
      }
      whole.open = false;
    } }, text);
  const made = menu(w.save, null,
    item(w.svg, async () => keep(await svg(), "image/svg+xml", `${file}.svg`)),
    item(w.png, async () => keep(await pngOf(await svg()), "image/png", `${file}.png`)),
    item(w.mermaid, async () => keep(await mermaid(), "text/vnd.mermaid", `${file}.mmd`)),
    item(w.link, () => copy(location.href)));
  made.classList.add("exports");
  return made;
}
