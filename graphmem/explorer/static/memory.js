// One memory: its content, where it comes from, and what a person can do about it.

import { ask } from "./api.js";
import { announce, fill, h, plain } from "./dom.js";
import { chip, choice, commitPage, day, details, failure, field, into, link, listing, splitList, to } from "./parts.js";
import { words } from "./words.js";

/** Its short marks: type, state, and what one should know before using it. */
export function flags(memory) {
  const w = words.memories.flags;
  return [
    chip(words.memories.type_of[memory.type] ?? memory.type),
    memory.status === "confirmed" ? null : chip(words.memories.status_is(memory.status), memory.status),
    memory.needsReview ? chip(w.needsReview, "possible") : null,
    memory.userVerified ? chip(w.userVerified, "certain") : null,
    memory.disputed ? chip(w.disputed, "likely") : null,
    memory.contaminated ? chip(w.contaminated, "likely") : null,
    rival(memory) ? chip(w.conflict, "likely") : null,
    memory.staleAt ? chip(w.staleAt, "possible") : null,
  ];
}

/** Where it comes from, how sure it is, what its type adds, the audit. */
export function provenance(memory, signal) {
  const w = words.memories;
  const value = (key) => {
    const given = memory[key];
    if (Array.isArray(given)) return given.join(", ");
    if (["createdAt", "updatedAt", "validFrom", "validTo"].includes(key)) return given ? day(given) : "";
    if (["injectedCount", "usedCount", "confirmedCount"].includes(key)) return w.times(given);
    if (["confidence", "confidenceInUse", "importance"].includes(key)) return w.of_one(given);
    if (key === "trust") return w.of_trust(given);
    if (key === "source") return w.source_of[given] ?? given;
    if (key === "commitSha") return given ? link(commitPage(given), given.slice(0, 10)) : "";
    if (key === "halfLifeDays") return given === null ? w.never : w.days(given);
    return typeof given === "number" ? String(Math.round(given * 100) / 100) : (given ?? "");
  };
  const facts = Object.entries(w.rows)
    .map(([key, name]) => [name, value(key)])
    .concat(Object.entries({ ...memory.workUnit, ...memory.details }).map(([key, one]) => [key.replaceAll("_", " "), told(one)]))
    .filter(([, one]) => one !== "");
  const audit = h("div");
  into(audit, ask("Audit", { memory: memory.id, limit: 20 }, signal), ({ audit: page }) =>
    details(w.audit, page.total, false, listing(page.entries.map((one) => [day(one.at), ` ${done(one)}`, one.note ? ` (${one.note})` : ""]), 10)));
  return [
    h("dl.facts", null, facts.map(([name, one]) => [h("dt", null, name), h("dd", null, one)])),
    audit,
  ];
}

/** Who did what, of an entry of the audit. */
export function done({ actor, action }) {
  const w = words.audit;
  return w.done(w.actions[action] ?? action.replaceAll("_", " "), w.actors[actor] ?? w.by(actor));
}

/** A value of a memory's details in words. */
function told(given) {
  if (Array.isArray(given)) return given.map(told).join(", ");
  if (given && typeof given === "object") return Object.entries(given).map(([key, one]) => `${key} ${told(one)}`).join(", ");
  return given === null || given === undefined ? "" : String(given);
}

/** The code it is about and the memories it stands beside: what one has to see to judge it. */
export function bearings(memory) {
  const w = words.memories;
  return [
    memory.about.length
      ? details(w.about, memory.about.length, true, listing(memory.about.map((one) => [one.label === "Symbol" || one.label === "File" ? link(to("graph", { focus: one.name }), one.name) : one.name, " ", chip(w.anchors[one.anchor] ?? one.anchor, one.anchor === "valid" ? "" : "possible"), one.role === "about" ? null : chip(one.role)]), 10))
      : null,
    memory.relations.length
      ? details(w.relations, memory.relations.length, true, listing(memory.relations.map((one) => [h("span.quiet-text", null, `${(w.relation[one.kind] ?? [one.kind, one.kind])[one.outgoing ? 0 : 1]} `), link(to("memories", { id: one.shortId }), plain(one.title)), " ", one.status === "confirmed" ? null : chip(words.memories.status_is(one.status))]), 10))
      : null,
  ];
}

/** The other memory it contradicts, or null. */
export function rival(memory) {
  return memory.relations.find((one) => one.kind === "conflicts_with" && !["superseded", "deprecated"].includes(one.status)) ?? null;
}

/** What one can do, each a function that asks the server and gives the memory as it now is (null: it is gone). */
export const ACTS = {
  verify: async (memory) => (await ask("Verify", { id: memory.id })).verify,
  dispute: async (memory, reason = "") => (await ask("Dispute", { id: memory.id, reason })).dispute,
  pin: async (memory) => (await ask("Pin", { id: memory.id, on: true })).pin,
  unpin: async (memory) => (await ask("Pin", { id: memory.id, on: false })).pin,
  forget: async (memory) => (await ask("Forget", { id: memory.id, hard: false }), null),
  merge: async (memory, loser) => (await ask("ResolveConflict", { winner: memory.id, loser })).resolveConflict,
  correct: async (memory, reason, content) => {
    await ask("Dispute", { id: memory.id, reason }); // the audit keeps why
    const { updateMemory } = await ask("UpdateMemory", { id: memory.id, changes: { content } });
    return (await ask("Verify", { id: updateMemory.id })).verify;
  },
  edit: async (memory, changes) => (await ask("UpdateMemory", { id: memory.id, changes })).updateMemory,
};

/**
 * Buttons for everything one can do.
 * @param {function} done  told the memory as it now is, or null.
 */
export function actions(memory, done) {
  const w = words.memories;
  const place = h("div.acting");
  const act = async (name, ...given) => {
    try {
      const now = await ACTS[name](memory, ...given);
      announce(w.done[name] ?? w.saved);
      done(now, name);
    } catch (error) {
      fill(place, failure(error));
    }
  };
  const button = (text, run, kind = "") => h(`button${kind}`, { type: "button", onclick: run }, text);
  const asking = (label, yes, run, input = null) => {
    const form = h("form.ask", { onsubmit: (event) => (event.preventDefault(), run(input?.value.trim() ?? "")) }, input ? field(label, input) : h("p", null, label), h("button.primary", null, yes), button(w.cancel, () => fill(place)));
    fill(place, form);
    (input ?? form.querySelector("button")).focus();
  };
  const other = rival(memory);
  const replace = (loser) => act("merge", loser);
  const buttons = {
    verify: button(w.verify, () => act("verify"), other ? "" : ".primary"),
    dispute: button(w.dispute, () => fill(place, correction(memory, act, () => fill(place)))),
    edit: button(w.edit, () => fill(place, editor(memory, (changes) => act("edit", changes), () => fill(place)))),
    pin: button(memory.status === "pinned" ? w.unpin : w.pin, () => act(memory.status === "pinned" ? "unpin" : "pin")),
    merge: other
      ? button(w.holds, () => asking(w.holds_sure(other.title), w.holds, () => replace(other.shortId)), ".primary")
      : button(w.merge_with, () => asking(w.merge_hint, w.merge, replace, h("input", { name: "loser", required: true }))),
    forget: button(w.forget, () => asking(w.forget_sure, w.yes_forget, () => act("forget"))),
  };
  const shown = other ? ["merge", "verify", "dispute", "edit", "pin", "forget"] : Object.keys(buttons);
  const element = h("div.actions", { role: "group", "aria-label": w.actions }, shown.map((name) => buttons[name]), place);
  element.run = (name) => {
    if (name === "merge") {
      if (other) replace(other.shortId);
      else announce(words.review.no_conflict);
    } else buttons[name].click();
  };
  return element;
}

/** Why a memory is not true, and what is true instead: without the latter it is disputed, with it replaced. */
function correction(memory, act, cancel) {
  const w = words.memories.correct;
  const reason = h("input", { name: "reason", list: "reasons", autocomplete: "off" });
  const truth = h("textarea", { name: "truth", rows: 3, maxlength: 8000, placeholder: memory.content });
  const submit = (event) => {
    event.preventDefault();
    const [why, text] = [reason.value.trim(), truth.value.trim()];
    if (text && text !== memory.content) act("correct", why, text);
    else act("dispute", why);
  };
  const form = h("form.editor", { onsubmit: submit }, field(words.memories.reason, reason), h("datalist", { id: "reasons" }, w.reasons.map((one) => h("option", { value: one }))), h("div.reasons", null, w.reasons.map((one) => h("button.plain", { type: "button", onclick: () => ((reason.value = one), truth.focus()) }, one))), field(w.truth, truth, w.truth_hint), h("div.buttons", null, h("button.primary", null, words.memories.dispute), h("button", { type: "button", onclick: cancel }, words.memories.cancel)));
  setTimeout(() => reason.focus());
  return form;
}

/**
 * The text of a memory that is edited where it stands: click it, or Enter on it; Ctrl Enter saves, Escape leaves it.
 * @param {function} done  told the memory as it now is.
 */
export function inPlace(tag, memory, shown, done) {
  const w = words.memories;
  const element = h(`${tag}.in-place`, null, h("span", null, shown));
  const pen = h("button.pen", { type: "button", "aria-label": w.edit_here(memory.title), title: w.edit_here(memory.title) }, "✎");
  const leave = () => (element.replaceChildren(h("span", null, shown), pen), pen.focus());
  const edit = () => {
    const text = h("textarea", { "aria-label": w.content, rows: Math.min(12, 2 + Math.ceil(memory.content.length / 90)), value: memory.content, maxlength: 8000, required: true });
    const said = h("div", { role: "status" });
    const save = async () => {
      const content = text.value.trim();
      if (!content || content === memory.content) return leave();
      try {
        const now = await ACTS.edit(memory, { content });
        announce(w.saved);
        done(now);
      } catch (error) {
        fill(said, failure(error));
      }
    };
    text.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") leave();
      else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
    });
    element.replaceChildren(text, h("div.buttons", null, h("button.primary", { type: "button", onclick: save }, w.save), h("button", { type: "button", onclick: leave }, w.cancel), h("span.hint", null, w.edit_keys)), said);
    text.focus();
  };
  pen.addEventListener("click", edit);
  element.addEventListener("dblclick", (event) => event.target.closest("textarea, button") || edit());
  element.append(pen);
  return element;
}

function editor(memory, save, cancel) {
  const w = words.memories;
  const title = h("input", { name: "title", value: memory.title });
  const content = h("textarea", { name: "content", rows: 6, value: memory.content, required: true, maxlength: 8000 });
  const type = choice([...new Set([memory.type, ...w.types])].map((one) => [one, w.type_of[one] ?? one]), memory.type, { name: "type" });
  const tags = h("input", { name: "tags", value: memory.tags.join(", ") });
  const importance = h("input", { name: "importance", type: "number", min: 0, max: 1, step: 0.05, value: memory.importance });
  const submit = (event) => {
    event.preventDefault();
    const changes = {};
    if (title.value !== memory.title) changes.title = title.value;
    if (content.value !== memory.content) changes.content = content.value;
    if (type.value !== memory.type) changes.type = type.value;
    if (tags.value !== memory.tags.join(", ")) changes.tags = splitList(tags.value);
    if (Number(importance.value) !== memory.importance) changes.importance = Number(importance.value);
    if (Object.keys(changes).length) save(changes);
    else cancel();
  };
  const form = h("form.editor", { onsubmit: submit }, field(w.title_field, title), field(w.content, content), field(w.type, type), field(words.teach.tags, tags), field(w.importance, importance), h("div.buttons", null, h("button.primary", null, w.save), h("button", { type: "button", onclick: cancel }, w.cancel)));
  setTimeout(() => content.focus());
  return form;
}

