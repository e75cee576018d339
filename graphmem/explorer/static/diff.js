// What a change breaks: of a pasted diff, or of a range of revisions.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { chip, day, details, field, link, go, into, listing, symbolLink, to, where } from "./parts.js";
import { modulesByPath, zones } from "./impact.js";
import { commit } from "./semantics.js";
import { words } from "./words.js";

let pasted = ""; // a diff is too long for an address; it stays while the page does

export async function show(page, parameters, signal) {
  const w = words.diff;
  const result = h("div");
  const about = h("div"); // the commit, where the change is one
  const base = h("input", { name: "base", value: parameters.base ?? "", placeholder: "HEAD", spellcheck: "false", autocomplete: "off" });
  const head = h("input", { name: "head", value: parameters.head ?? "", placeholder: w.head_hint, spellcheck: "false", autocomplete: "off" });
  const text = h("textarea", { name: "diff", rows: 6, spellcheck: "false", value: pasted });
  const run = (variables) =>
    into(result, Promise.all([ask("ImpactOfDiff", { ...variables, limit: 400 }, signal), modulesByPath(signal)]), ([{ impactOfDiff: found }, modules]) => {
      const changed = h("div", null,
        h("p.hint", { title: w.between(found.base, found.head) }, w.between(short(found.base), short(found.head))),
        found.changed.length
          ? listing(found.changed.map((one) => [symbolLink(one.symbol), " ", chip(w.change[one.change]), h("br"), where(one.symbol)]), 20)
          : h("p.hint", null, w.none),
        found.unmapped.length ? details(w.unmapped, found.unmapped.length, false, listing(found.unmapped, 10)) : null);
      return zones(found.impact, null, modules, { middle: [h("h3", null, w.changed), changed], commands: ask("ReviewCommands", variables, signal).then(({ review }) => review) });
    });
  fill(
    page,
    h("h1", null, w.title),
    about,
    h("form.bar", {
      onsubmit: (event) => {
        event.preventDefault();
        pasted = text.value;
        if (pasted.trim()) run({ diff: pasted });
        else go(to("diff", { base: base.value.trim() || "HEAD", head: head.value.trim() }));
      },
    },
      field(w.base, base), field(w.head, head), h("button.primary", null, w.show),
      h("details.paste", { open: Boolean(pasted) || !parameters.base }, h("summary", null, w.paste), h("label.field", null, h("span.quiet", null, w.paste), text))),
    result,
  );
  const { head: sha = "" } = parameters;
  if (sha && parameters.base === `${sha}~1`)
    into(about, ask("Commits", { limit: 1, revision: sha }, signal), ({ commits: { commits } }) => commits.filter((one) => !/^[0-9a-f]{7,40}$/.test(sha) || one.sha.startsWith(sha)).map(told));
  if (!parameters.base && !pasted)
    into(result, ask("CommitList", { limit: 30 }, signal), ({ commits: page }) => h("section.card", null, h("h2", null, w.recent), h("p.hint", null, w.recent_hint), page.commits.length ? listing(page.commits.map(commit), 12) : null, page.notes.map((one) => h("p.hint", null, `${one}.`))));
  if (parameters.base) await run({ base: parameters.base, ...(parameters.head ? { head: parameters.head } : {}) });
}

const short = (revision) => (/^[0-9a-f]{40}(~1)?$/.test(revision) ? revision.replace(/^(.{10})[0-9a-f]{30}/, "$1") : revision);

/** One commit: its message, author, time and modules. */
function told(one) {
  return h("section.card.commit", null,
    h("h2", null, one.subject || one.sha.slice(0, 10)),
    h("p.meta", null, h("span.author", null, one.author), day(one.at), h("code.where", { title: one.sha }, one.sha.slice(0, 10)), h("span.where", null, words.many(one.files, "file")), one.modules.map((name) => link(to("graph", { focus: name }), name, { class: "chip" }))),
    one.body ? h("pre.message", null, one.body) : null);
}
