// What the map can be coloured by beside what it holds itself: who knows a file. Where nothing is known, that is said.

import { ask } from "./api.js";
import { words } from "./words.js";

const AT_ONCE = 400; // files of one question

/** Share of the commits of each file by the person with most: path → { share, people, commits }; files without commits are missing. */
export async function owners(paths, signal) {
  const found = new Map();
  for (let at = 0; at < paths.length; at += AT_ONCE) {
    const { fileHistory } = await ask("FileHistory", { paths: paths.slice(at, at + AT_ONCE) }, signal);
    for (const one of fileHistory) {
      const counts = one.authors.map((author) => author.value);
      const commits = counts.reduce((sum, n) => sum + n, 0);
      if (commits) found.set(one.path, { share: Math.max(...counts) / commits, people: counts.length, commits });
    }
  }
  return found;
}

/** Measures of a file of the map: `value(i)`, -1 where it is unknown, and `told(i)`. */
export function measure(key, scene, extra) {
  const { files } = scene;
  const w = words.map.measure;
  if (key === "untested") {
    return {
      value: (i) => (files.functions[i] ? files.functions[i] - files.tested[i] : -1),
      told: (i) => (files.functions[i] ? w.untested(files.functions[i] - files.tested[i], files.functions[i]) : w.no_functions),
    };
  }
  if (key === "unresolved") return { value: (i) => files.unresolved[i], told: (i) => w.unresolved(files.unresolved[i]) };
  if (key === "owner") {
    const of = (i) => extra.get(files.path[i]);
    return { value: (i) => (of(i) ? of(i).share * Math.log1p(of(i).commits) : -1), told: (i) => (of(i) ? w.owner(Math.round(100 * of(i).share), of(i).people, of(i).commits) : w.no_history) };
  }
  return null;
}
