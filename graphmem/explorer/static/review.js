// The review queue, made for the keyboard: one memory after another, a key for each decision.

import { ask } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { chip, details, go, into, to } from "./parts.js";
import { actions, bearings, provenance } from "./memory.js";
import { words } from "./words.js";

const FIRST = 50;

export async function show(page, parameters, signal) {
  const w = words.review;
  const count = h("p.lead", { role: "status" });
  const list = h("ol.queue", { "aria-label": w.list });
  const keys = details(w.keyboard, null, false, h("dl.keys", null, w.keys.map(([key, does]) => [h("dt", null, key.split(", ").map((one) => h("kbd", null, one))), h("dd", null, does)])));
  fill(page, h("h1", null, w.title), h("p.hint", null, w.hint), count, keys, list);
  let items = [];
  let at = 0;
  let rest = 0;

  const tell = () => {
    count.textContent = items.length ? w.left(items.length + rest) : w.empty;
  };
  const focus = (next) => {
    if (!items.length) return;
    at = Math.max(0, Math.min(items.length - 1, next));
    items.forEach((one, i) => {
      one.element.tabIndex = i === at ? 0 : -1;
      one.element.classList.toggle("current", i === at);
      one.body.hidden = i !== at;
    });
    items[at].open();
    items[at].element.focus();
  };
  const settle = (one) => {
    const place = items.indexOf(one);
    items.splice(place, 1);
    one.element.remove();
    tell();
    if (items.length) focus(Math.min(place, items.length - 1));
    else load();
  };
  const make = ({ memory, reasons }) => {
    const body = h("div.body", { hidden: true });
    const title = h("h2", { id: `review-${memory.shortId}` }, memory.title || memory.shortId);
    const one = { memory, body, acting: null, opened: false };
    one.open = () => {
      if (one.opened) return;
      one.opened = true;
      one.acting = actions(memory, (now, name) => {
        if (now && name === "edit") {
          one.memory = now;
          announce(words.memories.saved);
        }
        settle(one);
      });
      fill(body, h("blockquote.content", null, memory.content), one.acting, bearings(memory), details(words.memories.provenance, null, false, provenance(memory, signal)));
    };
    one.element = h("li.item", { tabindex: -1, "aria-labelledby": `review-${memory.shortId}`, onclick: () => items[at] !== one && focus(items.indexOf(one)) }, title, h("p.meta", null, reasons.map((reason) => chip(w.reason[reason] ?? reason, "possible")), chip(memory.type)), body);
    return one;
  };
  const load = () =>
    into(list, ask("ReviewQueue", { first: FIRST }, signal), ({ reviewQueue }) => {
      items = reviewQueue.edges.map(({ node }) => make(node));
      rest = reviewQueue.totalCount - items.length;
      tell();
      return [items.map((one) => one.element), rest > 0 ? h("li.hint", null, w.more_left(rest)) : null];
    }).then(() => items.length && focus(0));
  list.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select");
    if (typing) {
      if (event.key === "Escape") items[at]?.element.focus();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const one = items[at];
    const onItem = event.target === one?.element;
    const run = {
      j: () => focus(at + 1),
      ArrowDown: () => focus(at + 1),
      k: () => focus(at - 1),
      ArrowUp: () => focus(at - 1),
      v: () => one?.acting.run("verify"),
      d: () => one?.acting.run("dispute"),
      e: () => one?.acting.run("edit"),
      m: () => one?.acting.run("merge"),
      f: () => one?.acting.run("forget"),
      o: () => one && go(to("memories", { id: one.memory.shortId })),
      ...(onItem ? { Enter: () => go(to("memories", { id: one.memory.shortId })) } : {}),
    }[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  });
  await load();
}
