// What agents did and learnt.

import { askIfThere } from "./api.js";
import { fill, h } from "./dom.js";
import { into } from "./parts.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const w = words.sessions;
  const list = h("div");
  fill(page, h("h1", null, w.title), h("p.hint", null, w.hint), list);
  await into(list, askIfThere("Sessions", { first: 30 }, signal), (answer) => (answer ? h("p", null, w.none) : h("p.lead", null, words.absent(w.title.toLowerCase()))));
}
