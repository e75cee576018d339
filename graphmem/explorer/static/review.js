// The review queue, made for the keyboard: one memory after another, a key for each decision.

import { ask } from "./api.js";
import { announce, fill, h, plain } from "./dom.js";
import { chip, details, failure, go, into, link, to } from "./parts.js";
import { actions, bearings, inPlace, provenance } from "./memory.js";
import { words } from "./words.js";

const FIRST = 50;

export async function show(page, parameters, signal) {
  const w = words.review;
  const count = h("p.lead", { role: "status" });
  const list = h("ol.queue", { "aria-label": w.list });
  const unconfirmed = h("p");
  const keys = details(w.keyboard, null, false, h("dl.keys", null, w.keys.map(([key, does]) => [h("dt", null, key.split(", ").map((one) => h("kbd", null, one))), h("dd", null, does)])));
  fill(page, h("h1", null, w.title), h("p.hint", null, w.hint), count, unconfirmed, keys, list);
  let items = [];
  let at = 0;
  let rest = 0;
  let candidates = 0; // number of unconfirmed memories, which are not in the queue
  const decided = new Set(); // ids: a disputed memory stays in the queue, but need not be looked at twice

  const tell = () => {
    count.textContent = items.length ? w.left(items.length + rest) : candidates ? w.no_doubts : w.empty;
    fill(unconfirmed, candidates ? link(to("memories", { status: "candidate" }), w.candidates(candidates)) : null);
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
  // A decision about one memory can settle others too: what is superseded or no longer contradicted leaves the queue with it.
  const settle = async (one) => {
    decided.add(one.memory.id);
    const place = items.indexOf(one);
    items.splice(place, 1);
    one.element.remove();
    tell();
    if (!items.length) return load();
    focus(Math.min(place, items.length - 1));
    try {
      refresh((await ask("ReviewQueue", { first: FIRST }, signal)).reviewQueue);
    } catch (error) {
      if (error.name !== "AbortError") list.before(failure(error));
    }
  };
  /** Bring the list in line with the queue; what has not changed stays, with what was begun in it. */
  const refresh = (queue) => {
    const [current, there] = [items[at], new Map(items.map((one) => [one.memory.id, one]))];
    const inside = current?.element.contains(document.activeElement);
    const undecided = queue.edges.map(({ node }) => node).filter((node) => !decided.has(node.memory.id));
    items = undecided.map((node) => (there.get(node.memory.id)?.said === saying(node) ? there.get(node.memory.id) : make(node)));
    rest = queue.totalCount - queue.edges.length;
    tell();
    if (!items.length) return load();
    for (const element of [...list.children]) if (!items.some((one) => one.element === element)) element.remove();
    items.forEach((one, i) => list.children[i] !== one.element && list.insertBefore(one.element, list.children[i] ?? null));
    if (rest > 0) list.append(h("li.hint", null, w.more_left(rest)));
    const same = items.indexOf(current);
    if (same >= 0) at = same;
    else if (inside) focus(Math.max(0, items.findIndex((one) => one.memory.id === current.memory.id)));
  };
  const make = (node) => {
    const { memory, reasons } = node;
    const body = h("div.body", { hidden: true });
    const title = h("h2", { id: `review-${memory.shortId}` }, plain(memory.title) || memory.shortId);
    const one = { memory, said: saying(node), body, acting: null, opened: false };
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
      fill(body, inPlace("blockquote.content", memory, memory.content, (now) => ((one.memory = now), settle(one))), one.acting, bearings(memory), details(words.memories.provenance, null, false, provenance(memory, signal)));
    };
    one.element = h("li.item", { tabindex: -1, "aria-labelledby": `review-${memory.shortId}`, onclick: () => items[at] !== one && focus(items.indexOf(one)) }, title, h("p.meta", null, reasons.map((reason) => chip(w.reason[reason] ?? reason, "possible")), chip(words.memories.type_of[memory.type] ?? memory.type)), body);
    return one;
  };
  const load = () =>
    into(list, Promise.all([ask("ReviewQueue", { first: FIRST }, signal), ask("Memories", { filter: { statuses: ["candidate"] }, first: 1 }, signal)]), ([{ reviewQueue }, { memories }]) => {
      decided.clear();
      candidates = memories.totalCount;
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

/** What the page says of an entry of the queue; not what only time changes, as its certainty. */
function saying({ memory, reasons }) {
  return JSON.stringify([reasons, memory.title, memory.content, memory.status, memory.relations, memory.about]);
}
