// What agents did, what was remembered, what was learnt; each lesson to accept or to refuse.

import { ask } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { card, chip, day, failure, into, link, listing, table, to } from "./parts.js";
import { ACTS, inPlace } from "./memory.js";
import { tokens, trustControl } from "./trust.js";
import { words } from "./words.js";

const PAGE = 30;

export async function show(page, parameters, signal) {
  if (parameters.id) return showOne(page, parameters.id, signal);
  const w = words.sessions;
  const list = h("div");
  const [cost, trust] = [h("div"), h("div")];
  fill(page, h("h1", null, w.title), h("p.hint", null, w.hint), list, h("div.grid", null, card(words.trust.tokens.title, words.trust.tokens.hint, cost), card(words.trust.title, words.trust.hint, trust)));
  into(cost, ask("Health", {}, signal), ({ health }) => tokens(health));
  into(trust, ask("Trust", {}, signal), (answer) => trustControl(answer.trust));
  await into(list, ask("Sessions", { limit: PAGE, offset: Number(parameters.offset ?? 0) }, signal), ({ sessions: found }) => {
    if (!found.sessions.length) return h("p.lead", null, w.none);
    const next = Number(parameters.offset ?? 0) + PAGE;
    return [
      table(
        w.title,
        [w.columns.title, w.columns.agent, w.columns.state, w.columns.started, w.columns.lasted, w.columns.edited, w.columns.learnt],
        found.sessions.map((one) => [
          link(to("sessions", { id: one.id }), named(one)),
          one.agent,
          [chip(one.state.toLowerCase()), one.outcome ? chip(one.outcome.toLowerCase()) : null],
          day(one.startedAt),
          w.lasted(one.durationS),
          words.number(one.filesEdited),
          words.number(one.findings),
        ]),
        { numeric: [4, 5, 6] },
      ),
      found.total > next ? link(to("sessions", { offset: next }), words.more(found.total - next), { class: "button" }) : null,
    ];
  });
}

async function showOne(page, id, signal) {
  const w = words.sessions;
  const lessons = h("div");
  await into(page, ask("SessionDetail", { id }, signal), ({ sessionDetail: record }) => {
    const { session } = record;
    return [
      h("p", null, link(to("sessions"), `← ${w.title}`)),
      h("h1", null, named(session)),
      h("p.meta", null, chip(session.kind), chip(session.agent), chip(session.state.toLowerCase()), session.outcome ? chip(session.outcome.toLowerCase()) : null, day(session.startedAt), h("span.where", null, w.lasted(session.durationS)), named(session) === session.id ? null : h("span.where", null, session.id)),
      record.injectedTokens || record.readTokens ? h("p.hint", null, words.trust.tokens.session(record.injectedTokens, record.readTokens)) : null,
      card(w.learnt, w.learnt_hint, lessons),
      h("div.grid", null,
        record.findings.length ? card(w.seen, null, listing(record.findings.map((one) => [chip(words.sessions.signals[one.signal] ?? plain(one.signal)), ` ${subject(one)}`, one.files.length ? h("div.where", null, one.files.join(", ")) : null]), 10)) : null,
        record.files.length ? card(w.files, null, table(w.files, [words.map.columns.file, w.reads, w.edits], record.files.map((one) => [link(to("graph", { focus: one.path }), one.path), words.number(one.reads), words.number(one.edits)]), { numeric: [1, 2], first: 12 })) : null,
        record.commands.length ? card(w.commands, null, table(w.commands, [w.command, w.runs, w.failures], record.commands.map((one) => [h("code", null, one.command), words.number(one.runs), words.number(one.failures)]), { numeric: [1, 2], first: 12 })) : null,
        record.errors.length ? card(w.errors, null, listing(record.errors.map((one) => [one.message, " ", chip(one.fixed ? w.fixed : w.open, one.fixed ? "certain" : "possible")]), 8)) : null,
        record.deadEnds.length ? card(w.dead_ends, null, listing(record.deadEnds.map((one) => [one.approach, h("div.where", null, one.why)]), 8)) : null),
    ];
  });
  await into(lessons, ask("SessionReceipts", { session: id }, signal), ({ sessionReceipts: receipts }) => {
    const verdicts = receipts.filter((one) => !one.undone).flatMap((one) => one.verdicts);
    return [verdicts.length ? verdicts.map(lesson) : h("p.hint", null, w.nothing), receipts.flatMap((one) => one.notes).map((note) => h("p.hint", null, note))];
  });
  const undo = h("button", {
    type: "button",
    onclick: async () => {
      try {
        await ask("UndoSession", { session: id });
        announce(w.undone);
        fill(lessons, h("p", null, w.undone));
      } catch (error) {
        lessons.append(failure(error));
      }
    },
  }, w.undo);
  // Each finding that is ticked and open by its own button, so that what was refused, or accepted already, stays as it is.
  const open = (ticked) => [...lessons.querySelectorAll(".memory:not([data-decided])")].filter((one) => one.querySelector("button.primary") && (!ticked || one.querySelector("input")?.checked));
  const all = h("button.primary", { type: "button", onclick: () => open(true).forEach((one) => one.querySelector("button.primary").click()) });
  const count = () => ((all.textContent = w.save_confirmed(open(true).length)), (all.disabled = !open(true).length));
  lessons.addEventListener("change", count);
  lessons.addEventListener("decided", count);
  count();
  if (open(false).length > 1) lessons.prepend(h("p", null, all, " ", h("span.hint", null, w.save_hint)));
  if (lessons.querySelector(".actions")) lessons.append(undo);
}

/** What a person calls a session by. */
function named(session) {
  return session.title || session.workUnit || session.id;
}

/** A name of a table as words. */
function plain(name) {
  return name.replaceAll("_", " ");
}

/** What a finding is about: its key without its signal, which is shown beside it; of several things each. */
function subject({ key, signal }) {
  const parts = (key.startsWith(`${signal}:`) ? key.slice(signal.length + 1) : key).split("|");
  return (words.sessions.about[signal] ?? ((...all) => all.join(", ")))(...parts);
}

function lesson(one) {
  const w = words.sessions;
  const said = h("span", { role: "status" });
  const act = (name, done) => async () => {
    try {
      await ACTS[name]({ id: one.shortId });
      fill(said, chip(done, name === "verify" ? "certain" : ""));
      whole.dataset.decided = name;
      whole.dispatchEvent(new Event("decided", { bubbles: true }));
      announce(done);
    } catch (error) {
      fill(said, failure(error));
    }
  };
  const whole = h(
    "div.memory",
    null,
    one.shortId && one.text ? inPlace("p", { id: one.shortId, title: one.text, content: one.text }, one.text, (now) => whole.querySelector(".in-place").replaceWith(h("p", null, now.content))) : h("p", null, one.text || subject(one)),
    h("p.meta", null, chip(words.sessions.signals[one.signal] ?? plain(one.signal)), chip(words.sessions.outcomes[one.outcome] ?? plain(one.outcome)), h("span.where", null, one.why), said),
    one.shortId
      ? h("div.actions", null, h("label.tick", null, h("input", { type: "checkbox", checked: true }), w.confirmed), link(to("memories", { id: one.shortId }), w.look, { class: "button" }), h("button.primary", { type: "button", onclick: act("verify", w.accepted) }, w.accept), h("button", { type: "button", onclick: act("forget", w.refused) }, w.refuse))
      : null,
  );
  return whole;
}

