// What breaks if something changes: what it depends on, the thing itself, who depends on it.

import { ask } from "./api.js";
import { fill, h } from "./dom.js";
import { card, certainty, choice, copy, countedDependents, details, edgeWhy, field, fileTraps, folded, go, into, kindChip, knownList, link, listing, nameOf, placeLink, riskReasons, refOf, runnable, symbolField, symbolLink, to, trapMark, trapsAt, where } from "./parts.js";
import { exportMenu } from "./exports.js";
import { begin } from "./start.js";
import { words } from "./words.js";

const LIMIT = 5000;
const SURE = 0.8;
const MOST_DIRECT = 15; // direct dependents that are listed at first
const LIKELY = 0.3; // least chance that a test runs the target, to be listed first
const FIRST_TESTS = 3; // tests that are named beside the command
const MOST_EXAMPLES = 5; // places beside a reason
const NAMED = "named_in_text"; // the cause that lists places which only name the target
const MOST_KNOWN = 3; // memories that stand beside the answer

export async function show(page, parameters, signal) {
  const { of = "", depth = "5", least = "0.3" } = parameters; // as everywhere: one number of dependents
  const w = words.impact;
  const result = h("div");
  const again = () => of && run(of); // so that the boxes never say something else than the answer below them
  const depths = choice([...new Set([1, 2, 3, 4, 5, Number(depth)])].sort((a, b) => a - b).map((n) => [String(n), String(n)]), depth, { name: "depth", autocomplete: "off", onchange: again });
  const bounds = choice([...new Set(["0.8", "0.5", "0.3", "0.1", least])].map((one) => [one, words.impact.at_least(one)]), least, { name: "least", autocomplete: "off", onchange: again });
  const run = (ref) => go(to("impact", { of: ref, depth: depths.value, least: bounds.value }));
  const input = symbolField("impact-of", { label: w.of, value: of, chosen: run, labelled: true });
  const submit = (event) => (event.preventDefault(), run(input.querySelector("input").value.trim()));
  fill(
    page,
    h("h1", null, w.title),
    h("form.bar", { onsubmit: submit }, h("div.field.grow", null, h("label", { for: "impact-of" }, w.of), input), field(w.depth, depths), field(w.least, bounds), h("button.primary", null, w.show)),
    result,
  );
  if (!of) {
    const list = h("div");
    fill(result, h("p.hint", null, w.hint), list);
    return begin(list, input, (ref) => to("impact", { of: ref }), signal);
  }
  const question = { targets: [of], maxDepth: Number(depth), minConfidence: Number(least), limit: LIMIT };
  await into(
    result,
    Promise.all([
      ask("ImpactOverview", question, signal),
      ask("ImpactOverview", { ...question, direction: "DEPENDENCIES", maxDepth: Math.min(2, Number(depth)) }, signal),
      modulesByPath(signal),
    ]),
    ([after, before, modules]) => {
      const commands = (limit) => ask("TestCommands", { targets: [of], maxDepth: Number(depth), minConfidence: Number(least), ...(limit ? { limit } : {}) }, signal).then((found) => found.testsToRun);
      return zones(after.impact, before.impact, modules, { commands: commands(), likely: commands });
    },
    (ref) => to("impact", { of: ref, depth, least }),
  );
}

/**
 * The three zones with everything around them, grouped by `modules`; also of a diff, which has no `before`.
 * @param {object} more  `commands`: a promise of how many tests there are and what runs them; `likely`: the same for the first tests, by their number; `middle` in the place of the target.
 */
export function zones(after, before, modules, { commands, likely = null, middle = null }) {
  const w = words.impact;
  const focus = after.targets[0];
  const paths = [...after.targets, ...after.hits.map((hit) => hit.symbol), ...after.tests.map((hit) => hit.symbol)].map((one) => one.path).filter(Boolean);
  const [shown, warnings, memories] = nearby(after, paths);
  const direct = after.hits.filter((hit) => hit.depth === 1).sort((a, b) => b.confidence - a.confidence);
  const above = direct.length ? "" : NAMED; // stands with what breaks
  const trapsOf = (hits) => after.known.memories.filter((one) => one.trap && hits.some((hit) => hit.symbol.path === one.about)).map((one) => one.shortId);
  const causes = after.causes.filter((cause) => cause.kind !== above);
  return [
    h("div.verdict", null,
      h(`strong.risk.${after.risk.level.toLowerCase()}`, null, w.risk(after.risk.level, after.risk.atLeast)),
      h("span", null, countedDependents(after)),
      h("span", null, w.epistemic[after.epistemic]),
      after.missChance === null ? null : w.misses(after.missChance),
      after.direction === "DEPENDENTS" && after.targets.some(calledFromOutside) ? h("span", null, w.outside(after.targets.filter(calledFromOutside).slice(0, 5).map(nameOf).join(", "))) : null,
      riskReasons(after.risk)),
    warnings,
    directCard(after, direct, shown),
    after.outside.length ? card(w.other_projects, null, listing(after.outside.map(outsideUse), 15)) : null,
    testCard(after.tests, wayOf(after), commands, likely),
    h(`div.zones3${before ? "" : ".two"}`, null,
      h("section.zone.focus", null, h("h2", null, w.focus), middle ?? [h("p.ref", null, symbolLink(focus)), h("p", null, kindChip(focus.kind)), where(focus), focus.signature ? h("pre.signature", null, focus.signature) : null,
        h("nav.actions", null, link(to("graph", { around: refOf(focus), depth: 2 }), w.picture, { class: "button" }), link(to("graph", { paint: "impact", of: refOf(focus) }), words.panel.on_map, { class: "button" }), link(to("path", { to: refOf(focus) }), words.views.path, { class: "button" }),
          exports_(refOf(focus)))]),
      zone(w.after, "after", after, direct.length ? w.nothing_farther : w.nothing_after, modules, new Set([...shown, ...trapsOf(direct)]), false),
      before ? zone(w.before, "before", before, w.nothing_before, modules, shown) : null),
    memories,
    causes.length ? card(w.causes, null, listing(causes.map(causeLine), 6)) : null,
  ];
}

/** What breaks at once: the code that uses the target itself; without any, the places that only name it. */
function directCard(report, direct, shown) {
  const w = words.impact;
  const way = Object.assign(wayOf(report), { near: true });
  const named = report.causes.find((cause) => cause.kind === NAMED);
  return h("section.card.breaks", null,
    h("h2", { title: w.direct_hint }, w.breaks, h("span.count", null, words.number(direct.length))),
    fileTraps(report.known, direct.map((hit) => hit.symbol), shown),
    direct.length ? listing(direct.map((hit) => entry(hit, way)), MOST_DIRECT) : h("p.hint", null, w.nothing_after),
    named && !direct.length ? h("div.named", null, causeLine(named)) : null);
}

/** A reason why an answer may be incomplete, and its places, which open in the source pane. */
function causeLine({ message, count, examples }) {
  const shown = examples.slice(0, MOST_EXAMPLES);
  const place = (one) => {
    const [, path, line] = /^(.*):(\d+)$/.exec(one) ?? [];
    return path ? placeLink(path, Number(line)) : one;
  };
  return [count ? `${words.number(count)} ` : "", message, shown.length ? h("div.where", null, shown.map((one, i) => [i ? ", " : "", place(one)]), count > shown.length ? ` ${words.of(shown.length, count)}` : null) : null];
}

/** Memories about the target, or about what uses it directly, and their short ids: with a warning among them a card, else folded. */
function nearby(report, paths) {
  const w = words.impact;
  const direct = new Set(report.hits.filter((hit) => hit.depth === 1).flatMap((hit) => [refOf(hit.symbol), nameOf(hit.symbol)]));
  const near = report.known.memories.filter((one) => one.place === "target" || direct.has(one.about));
  const shown = [...near].sort((a, b) => b.trap - a.trap).slice(0, MOST_KNOWN);
  const known = { ...report.known, memories: shown, more: report.known.more + report.known.memories.length - shown.length };
  const ids = new Set(shown.map((one) => one.shortId));
  if (shown.some((one) => one.trap)) return [ids, card(words.known.about.impact, null, knownList(known, w.no_memories, paths, "answer")), null];
  return [new Set(), null, folded(words.known.about.impact, shown.length, false, () => h("div", null, knownList(known, w.no_memories, paths, "answer")))];
}

/** Whether something is there for others than this project's own code to call: an entry point, or a name with a meaning in Python. */
function calledFromOutside({ entryPoint, name, path }) {
  return (entryPoint !== "" && entryPoint !== "test") || (/^__\w+__$/.test(name) && path.endsWith(".py"));
}

/** The three zones, drawn by the server. */
function exports_(ref) {
  const ready = async (format) => (await ask("ExportView", { view: "IMPACT", format, targets: [ref] })).exportView.text;
  return exportMenu(`impact-${ref.split(/[/:]/).at(-1)}`, { svg: () => ready("SVG"), mermaid: () => ready("MERMAID") });
}

/** Code of another project that a contract joins to this answer. */
function outsideUse({ kind, name, place }) {
  return [h("strong", null, `${place.project}: ${place.name || place.path}`), " ", certainty(place.confidence), h("div.where", null, `${place.path}:${place.line} · ${kind} ${name}`)];
}

/**
 * @param {Set} shown  short ids of the memories that stand above the zones.
 * @param {boolean} near  Whether hits one step away are listed here as well.
 */
function zone(title, name, report, nothing, modules, shown, near = true) {
  const w = words.impact;
  const way = wayOf(report);
  const direct = near ? report.hits.filter((hit) => hit.depth === 1).sort((a, b) => b.confidence - a.confidence) : [];
  const farther = report.hits.filter((hit) => hit.depth > 1);
  const listed = [...direct, ...farther];
  const sure = farther.filter((hit) => hit.confidence >= SURE);
  const unsure = farther.filter((hit) => hit.confidence < SURE);
  return h(
    `section.zone.${name}`,
    null,
    h("h2", null, title, h("span.count", null, words.number(listed.length))),
    listed.length || report.possible.length ? null : h("p.hint", null, nothing),
    fileTraps(report.known, listed.map((hit) => hit.symbol), shown),
    direct.length ? [h("h3.direct", { title: w.direct_hint }, w.direct, h("span.count", null, words.number(direct.length))), listing(direct.map((hit) => entry(hit, way)), MOST_DIRECT)] : null,
    sure.length ? [h("h3", { title: w.certain_hint }, w.certain[name], h("span.count", null, words.number(sure.length))), groups(sure, way, modules)] : null,
    unsure.length ? [h("h3.unsure", { title: w.possible_hint }, w.possible[name], h("span.count", null, words.number(unsure.length))), groups(unsure, way, modules)] : null,
    report.possible.length
      ? details(w.maybe, report.possible.length, false, h("p.hint", null, w.maybe_hint), listing(report.possible.map((one) => [symbolLink(one.caller), " ", h("span.where", null, `${one.caller.path}:${one.line}`)]), 10))
      : null,
  );
}

/** How the path view is asked about a hit of a report. */
function wayOf(report) {
  const byId = new Map(report.targets.map((one) => [one.id, one]));
  const way = (hit) => {
    const [self, target] = [refOf(hit.symbol), refOf(byId.get(hit.target) ?? report.targets[0])];
    return report.direction === "DEPENDENTS" ? { from: self, to: target } : { from: target, to: self };
  };
  return Object.assign(way, { known: report.known });
}

/** Path of each file with code → name of its module. */
export async function modulesByPath(signal) {
  const { modules, files } = (await ask("Atlas", { edges: 0 }, signal)).atlas.columns;
  return new Map(files.path.map((path, i) => [path, modules.name[files.module[i]]]));
}

const folder = (path) => path.split("/").slice(0, -1).join("/") || words.map.root;

function groups(hits, way, modules) {
  const found = new Map();
  for (const hit of hits) {
    const { path } = hit.symbol;
    const name = path ? modules.get(path) || folder(path) : words.impact.external;
    if (!found.has(name)) found.set(name, []);
    found.get(name).push(hit);
  }
  const outside = (one) => (one[0] === words.impact.external ? 1 : 0);
  const ordered = [...found].sort((a, b) => outside(a) - outside(b) || b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
  return ordered.map(([name, some], i) => folded(name, some.length, i === 0 || ordered.length <= 3, () => listing(some.map((hit) => entry(hit, way)), 15)));
}

/** @param {function} way  parameters of the path view for a hit; `way.known` has the memories of the answer, `way.near` means that all are one step away. */
function entry(hit, way) {
  return [
    symbolLink(hit.symbol),
    " ",
    certainty(hit.confidence),
    trapsAt(way.known, hit.symbol).map((one) => [" ", trapMark(one)]),
    h("div.where", null, way.near ? where(hit.symbol) : [words.depth(hit.depth), hit.symbol.qualname === "<module>" ? null : [" · ", where(hit.symbol)]]),
    why(hit, way),
  ];
}

/** The path of a hit, asked for once it is opened: each edge with its rule, and its line, the first in the source pane. */
function why(hit, way) {
  const w = words.impact;
  const whole = h("details.way", null, h("summary", null, w.why));
  whole.addEventListener("toggle", async () => {
    if (!whole.open || whole.children.length > 1) return;
    const place = h("div");
    whole.append(place);
    const { from, to: target } = way(hit);
    await into(place, ask("Path", { source: from, target }), ({ path }) => [
      path.steps.length
        ? h("ol", null, path.steps.map((step) => h("li", null, symbolLink(step.src), " ", edgeWhy(step, path.rules), "→ ", symbolLink(step.dst), trapsAt(path.known, step.dst).map((one) => [" ", trapMark(one)]))))
        : h("p.hint", null, w.no_way),
      fileTraps(path.known, path.steps.map((step) => step.dst)),
      link(to("path", way(hit)), w.way),
    ]);
    place.querySelector("a.site")?.click();
  });
  return whole;
}

/** The tests to run, above all dependents: how many, the commands, the first few, and the others by file; unlikely ones are folded. */
function testCard(hits, way, commands, likelyCommands) {
  const w = words.impact;
  if (!hits.length) return card(w.tests, null, h("p.hint", null, w.no_tests));
  const cases = hits.filter((hit) => runnable(hit.symbol));
  const shared = hits.filter((hit) => !runnable(hit.symbol));
  const likely = cases.filter((hit) => hit.confidence >= LIKELY);
  const isSplit = likely.length > 0 && likely.length < cases.length; // code that many callers share, such as a decorator, leads to tests of everything
  const unlikely = isSplit ? cases.filter((hit) => hit.confidence < LIKELY) : [];
  const [files, rest, others] = [byFile(isSplit ? likely : cases), byFile(unlikely), byFile(shared)];
  const [first, place] = [h("div"), h("div")];
  if (isSplit && likelyCommands) into(first, likelyCommands(likely.length), (found) => (found.commands.length ? [h("h3", null, w.run_likely), found.commands.map(toRun)] : null));
  into(place, commands, (found) => {
    const loose = found.tests.filter((one) => !one.runner);
    const inCommands = found.commands.reduce((sum, one) => sum + one.tests, 0);
    return [
      found.commands.slice(0, 1).map(toRun),
      found.commands.length > 1 ? details(w.more_commands, found.commands.length - 1, false, found.commands.slice(1).map(toRun)) : null,
      found.commands.length && cases.length > inCommands + loose.length ? h("p.hint", null, w.held(cases.length - inCommands - loose.length)) : null,
      unnamed(loose, !found.commands.length),
      found.commands.map(recorded),
    ];
  });
  return h("section.card.tests", null,
    h("h2", null, w.tests, h("span.count", null, words.number(cases.length))),
    cases.length ? h("p", null, w.likeliest, cases.slice(0, FIRST_TESTS).map((hit, i) => [i ? ", " : "", symbolLink(hit.symbol), " ", where(hit.symbol), ` (${hit.confidence === 1 ? w.ran : w.reaches(words.depth(hit.depth))})`])) : null,
    isSplit ? h("p", null, w.split(likely.length, unlikely.length)) : null,
    first,
    isSplit && likelyCommands ? details(w.run_all(cases.length), null, false, place) : place,
    cases.length > FIRST_TESTS ? details(isSplit ? w.likely_in_files(likely.length, files.size) : w.in_files(cases.length, files.size), null, false, perFile(files, way)) : null,
    unlikely.length ? details(w.unlikely_in_files(unlikely.length, rest.size), null, false, perFile(rest, way)) : null,
    others.size ? details(w.shared(shared.length), null, false, h("p.hint", null, w.shared_hint), perFile(others, way)) : null);
}

function byFile(hits) {
  const found = new Map();
  for (const hit of hits) {
    if (!found.has(hit.symbol.path)) found.set(hit.symbol.path, []);
    found.get(hit.symbol.path).push(hit);
  }
  return found;
}

const perFile = (files, way) =>
  listing([...files].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1)).map(([file, some]) => folded(file, some.length, false, () => listing(some.map((hit) => entry(hit, way)), 10))), 15);

/** A command line that runs tests of one runner, and a button that copies it. */
function toRun({ runner, command, tests: count, wholeFiles }) {
  const w = words.impact;
  return [
    h("p.hint", null, wholeFiles ? w.whole_files(count, runner) : w.runs(count, runner)),
    h("div.command", null, h("code", { tabindex: 0 }, command), h("button.primary", { type: "button", onclick: (event) => copy(command, event.currentTarget) }, w.copy)),
  ];
}

/** How a run of one runner is recorded, if it can be. */
function recorded({ recording }) {
  const w = words.impact;
  return recording ? details(w.record, null, false, h("p.hint", null, w.record_hint), h("div.command.recording", null, h("code", { tabindex: 0 }, recording), h("button", { type: "button", onclick: (event) => copy(recording, event.currentTarget) }, w.copy_record))) : null;
}

/** Tests that no command runs, because their runner is unknown; their files can be copied. */
function unnamed(some, open) {
  const w = words.impact;
  if (!some.length) return null;
  const files = [...new Set(some.map((one) => one.path))].sort();
  const text = files.join("\n");
  return details(w.unnamed(some.length), null, open, h("p.hint", null, w.unnamed_hint), h("div.command", null, h("code", { tabindex: 0 }, text), h("button", { type: "button", onclick: (event) => copy(text, event.currentTarget) }, w.copy_files(files.length))));
}
