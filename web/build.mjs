// Copies the query page into graphmem/api/static/graphiql: our three files and, from npm, what they load.
// Nothing is compiled: the packages ship files for browsers, and package-lock.json pins their bytes.

import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "graphmem", "api", "static", "graphiql");

const ours = ["index.html", "page.js", "page.css"];
const theirs = {
  "react.js": "react/umd/react.production.min.js",
  "react-dom.js": "react-dom/umd/react-dom.production.min.js",
  "graphiql.js": "graphiql/graphiql.min.js",
  "graphiql.css": "graphiql/graphiql.min.css",
};
const licensed = ["react", "react-dom", "graphiql", "graphql"];

await rm(target, { recursive: true, force: true });
await mkdir(target, { recursive: true });

for (const name of ours) {
  await copyFile(join(here, "src", name), join(target, name));
}
for (const [name, path] of Object.entries(theirs)) {
  const text = await readFile(join(here, "node_modules", path), "utf8");
  // Source maps are not copied; a comment that names one would make the browser ask for it.
  await writeFile(join(target, name), text.replace(/^\/[/*]# sourceMappingURL=.*$/gm, ""));
}

const notices = [];
for (const name of licensed) {
  const folder = join(here, "node_modules", name);
  const { version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  notices.push(`${name} ${version}\n\n${await readFile(join(folder, "LICENSE"), "utf8")}`);
}
await writeFile(join(target, "LICENSES.txt"), notices.join("\n\n----\n\n"));
console.log(`query page: ${ours.length + Object.keys(theirs).length} files in graphmem/api/static/graphiql`);
