// How sure a memory must be to be shown to agents unasked, and what that costs and saves.

import { ask } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { choice, failure, field } from "./parts.js";
import { words } from "./words.js";

/** The control of the project's level of trust. */
export function trustControl(trust, changed = () => {}) {
  const w = words.trust;
  const said = h("div", { role: "status" });
  const tell = (now) => fill(said, h("p.hint", null, w.means(w.levels[now.level.toUpperCase()] ?? now.level, Math.round(100 * now.threshold)), now.offer ? ` ${w.offer(w.levels[now.offer.toUpperCase()] ?? now.offer)}` : null));
  const select = choice(Object.entries(w.levels), trust.chosen.toUpperCase(), {
    name: "trust",
    onchange: async () => {
      try {
        const { setTrustLevel } = await ask("SetTrustLevel", { level: select.value });
        tell(setTrustLevel);
        announce(words.memories.saved);
        changed(setTrustLevel);
      } catch (error) {
        fill(said, failure(error));
      }
    },
  });
  tell(trust);
  return h("div", null, field(w.label, select), said);
}

/** What memories cost and saved, in tokens; of the health of an index. */
export function tokens({ cost }) {
  const w = words.trust;
  const rows = [
    [w.tokens.sessions, words.number(cost.sessions)],
    [w.tokens.injected, words.number(Number(cost.injectedTokens))],
    cost.injectedPerSession === null ? null : [w.tokens.each, words.number(Math.round(cost.injectedPerSession))],
    cost.savedPerSession === null ? null : [w.tokens.saved, words.number(Math.round(cost.savedPerSession))],
  ].filter(Boolean);
  return [h("dl.facts", null, rows.map(([name, value]) => [h("dt", null, name), h("dd", null, value)])), cost.savedPerSession === null ? h("p.hint", null, w.tokens.unknown) : null];
}
