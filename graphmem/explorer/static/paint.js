// What is painted over the map: what breaks if something changes, by depth; what changes together; hot spots of a moment of the past.

import { ask } from "./api.js";
import { details, link, refOf, table, to } from "./parts.js";
import { words } from "./words.js";

const STEPS = 30; // moments of the past
const CUTS = [0.35, 0.65, 0.85, 0.95]; // shares of the hot files at which a colour ends

/**
 * What to paint, by the address's `paint` and `of`; null for an unknown kind.
 * @param {string} kind  "impact" or "together".
 * @param {string} of  a symbol or file.
 * @returns {Promise<object>} `level`: path → 0 (it itself) to 4 (far); `told`: path → words; `title`; `legend`: a word for each level;
 *   `leftOut`: how many hits were not listed.
 */
export async function painting(kind, of, signal) {
  if (kind === "impact") return ofImpact(of, signal);
  if (kind === "together") return ofTogether(of, signal);
  if (kind === "rules") return ofRules(signal);
  return null;
}

/** Files on both ends of dependencies that break a rule. */
async function ofRules(signal) {
  const w = words.paint;
  const { checkArchitecture: found } = await ask("CheckArchitecture", { limit: 1000 }, signal);
  const [level, told, out, into] = [new Map(), new Map(), new Map(), new Map()];
  for (const one of found.broken) {
    out.set(one.src, (out.get(one.src) ?? 0) + 1);
    into.set(one.dst, (into.get(one.dst) ?? 0) + 1);
    level.set(one.src, Math.min(level.get(one.src) ?? 9, one.accepted ? 1 : 0));
  }
  for (const [path, n] of into) {
    told.set(path, w.broken_from(n));
    if (!level.has(path)) level.set(path, 2);
  }
  for (const [path, n] of out) told.set(path, w.breaks_rules(n));
  return { kind: "rules", level, told, title: w.rules, legend: w.rule_levels, leftOut: Math.max(0, found.total - found.broken.length), back: to("rules") };
}

async function ofImpact(of, signal) {
  const w = words.paint;
  const { impact: report } = await ask("ImpactOverview", { targets: [of], maxDepth: 5, minConfidence: 0.3, limit: 5000 }, signal);
  const [level, told, counts] = [new Map(), new Map(), new Map()];
  for (const hit of [...report.hits, ...report.tests]) {
    const { path } = hit.symbol;
    if (!path) continue;
    level.set(path, Math.min(level.get(path) ?? 4, hit.depth, 4));
    counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  for (const [path, n] of counts) told.set(path, w.breaks(n, words.depth(level.get(path))));
  for (const target of report.targets) {
    level.set(target.path, 0);
    told.set(target.path, w.itself);
  }
  const shown = report.hits.length + report.tests.length;
  return { kind: "impact", level, told, title: w.impact_of(report.targets.map(refOf).join(", ")), legend: w.depths, leftOut: Math.max(0, report.total - shown), back: to("impact", { of }) };
}

async function ofTogether(of, signal) {
  const w = words.paint;
  const files = of.split(",");
  const { hits } = (await ask("CoAccess", { files, limit: 100 }, signal)).coAccess;
  const [level, told] = [new Map(), new Map()];
  for (const hit of hits) {
    level.set(hit.path, hit.confidence >= 0.5 ? 1 : hit.confidence >= 0.25 ? 2 : hit.confidence >= 0.1 ? 3 : 4);
    told.set(hit.path, hit.support ? w.moves(hit.support, Math.round(100 * hit.confidence)) : w.never);
  }
  for (const path of files) {
    level.set(path, 0);
    told.set(path, w.itself);
  }
  return { kind: "together", level, told, title: w.together_with(of), legend: w.shares, leftOut: 0, back: to("coaccess", { files: of }) };
}

/** The same as a table. */
export function paintedTable(painted) {
  const rows = [...painted.level].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1));
  const c = words.map.columns;
  return details(painted.title, rows.length, true, table(painted.title, [c.file, c.how], rows.map(([path]) => [link(to("graph", { focus: path }), path), painted.told.get(path)]), { first: 30 }));
}

/** Hot spots at moments of the past: `at`, `commits`, and `heat(step)`: path → score; `cuts`: scores at which a colour ends, the same for all. */
export async function past(signal) {
  const { at, commits, paths, scores } = (await ask("HeatHistory", { steps: STEPS }, signal)).heatHistory.columns;
  const last = (scores.at(-1) ?? []).filter((one) => one > 0).sort((a, b) => a - b);
  const cuts = CUTS.map((share) => last[Math.min(last.length - 1, Math.floor(share * last.length))] ?? Infinity);
  return { at, commits, cuts, heat: (step) => new Map(paths.map((path, i) => [path, scores[step][i]])) };
}
