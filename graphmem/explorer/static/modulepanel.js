// Details of a module of the map: what it does, its dependencies, and what people may change about it.

import { ask } from "./api.js";
import { announce, fill, h, plain } from "./dom.js";
import { chip, details, field, fileLink, into, link, listing, table, to } from "./parts.js";
import { words } from "./words.js";

export function modulePanel(scene, index, panel, signal, arrange) {
  const { modules, files } = scene;
  const name = (i) => modules.name[i] || words.map.root;
  const c = words.map.columns;
  const held = scene.filesOf[index].slice().sort((a, b) => files.dependents[b] - files.dependents[a] || a - b);
  return [
    h("button.close", { type: "button", onclick: () => (panel.hidden = true), "aria-label": words.panel.close }, "×"),
    h("h2.ref", null, scene.mine?.[index]?.name || name(index)),
    scene.mine?.[index]?.name ? h("p.where", null, name(index)) : null,
    scene.mine?.[index]?.note ? h("p.written", null, scene.mine[index].note) : null,
    h("p.where", null, `${words.many(modules.files[index], "file")}, ${words.many(modules.symbols[index], "symbol")}`),
    modules.name[index] ? told(modules.name[index], scene.purpose(index), signal) : null,
    modules.name[index] ? questions(modules.name[index]) : null,
    memoriesOf(held.map((i) => files.path[i]), signal),
    modules.name[index] ? changes(scene, index, signal, arrange) : null,
    dependencies(modules.name[index], signal),
    details(c.files, held.length, true, table(words.map.files_of(name(index)), [c.file, c.used_by], held.map((i) => [fileLink(files.path[i]), words.number(files.dependents[i])]), { first: 30, numeric: [1] })),
  ];
}

/** Details of a directory that is not a module: the modules that its files belong to, and pages about it. */
export function folderPanel(scene, folder, held, panel, signal) {
  const { modules, files } = scene;
  const c = words.map.columns;
  const ordered = held.slice().sort((a, b) => files.dependents[b] - files.dependents[a] || a - b);
  const counts = new Map();
  for (const i of held) if (modules.name[files.module[i]]) counts.set(files.module[i], (counts.get(files.module[i]) ?? 0) + 1);
  const parts = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([i, n]) => [link(to("graph", { focus: modules.name[i] }), scene.mine?.[i]?.name || modules.name[i]), ` ${words.many(n, "file")}`]);
  return [
    h("button.close", { type: "button", onclick: () => (panel.hidden = true), "aria-label": words.panel.close }, "×"),
    h("h2.ref", null, `${folder}/`),
    h("p.where", null, words.map.folder_files(held.length)),
    h("p.meta", null, link(to("people", { of: folder }), words.ask_of.people, { class: "button" }), " ", link(to("memories", { file: folder }), words.views.memories, { class: "button" })),
    parts.length ? details(words.map.folder_modules, parts.length, true, listing(parts, 8)) : null,
    memoriesOf(ordered.map((i) => files.path[i]), signal, words.known.about.folder),
    details(c.files, held.length, true, table(words.map.files_of(`${folder}/`), [c.file, c.used_by], ordered.map((i) => [fileLink(files.path[i]), words.number(files.dependents[i])]), { first: 30, numeric: [1] })),
  ];
}

/** Modules that use this one and that it uses, with the numbers of edges that count for layers and cuts. */
function dependencies(name, signal) {
  const place = h("div");
  const [w, c] = [words.architect.cut, words.map.columns];
  into(place, ask("ModuleUses", {}, signal), ({ modules }) =>
    [[w.needed_by, "dstName", "srcName"], [w.depends_on, "srcName", "dstName"]].map(([title, mine, other]) => {
      const some = modules.dependencies.filter((one) => one[mine] === name).sort((a, b) => b.weight - a.weight || (a[other] < b[other] ? -1 : 1));
      return details(title, some.length, true, table(title, [c.module, w.edges], some.map((one) => [link(to("graph", { focus: one[other] }), one[other]), words.number(one.weight)]), { first: 8, numeric: [1] }));
    }));
  return place;
}

/** What the module says of itself, and what a language model says of it. */
function told(name, title, signal) {
  const place = h("div");
  into(place, ask("Module", { ref: name }, signal), ({ module: { module } }) => [
    title && !module.summary.startsWith(title.replace(/…$/, "")) ? h("p.doc", null, title) : null,
    module.summary ? h("p.doc", null, module.summary) : null,
    module.paragraph ? h("p.written", { title: words.panel.written }, module.paragraph) : null,
    module.entryPoints.length ? h("p.meta", null, module.entryPoints.map((one) => chip(words.home.entry_kind(one.name, one.value), "entry"))) : null,
  ]);
  return place;
}


const MOST_FILES = 500; // of a module whose memories are asked for
const PAGE = 50; // memories of a further answer

/** The newest memories about the files of a module or directory. */
function memoriesOf(paths, signal, title = words.known.about.module) {
  const place = h("div");
  const some = paths.slice(0, MOST_FILES);
  if (!some.length) return place;
  const asked = (first, after) => ask("Memories", { filter: { files: some }, first, after }, signal).then((answer) => answer.memories);
  const entry = ({ node }) => [link(to("memories", { id: node.shortId }), plain(node.title)), " ", chip(words.memories.type_of[node.type] ?? node.type)];
  into(place, asked(8, null), ({ edges, totalCount, pageInfo }) => {
    let { endCursor } = pageInfo;
    const more = async () => {
      const next = await asked(PAGE, endCursor);
      ({ endCursor } = next.pageInfo);
      return next.edges.map(entry);
    };
    return details(title, totalCount, true,
      edges.length ? listing(edges.map(entry), 8, "ul", { total: totalCount, page: PAGE, more }) : h("p.hint", null, words.panel.no_memories),
      paths.length > some.length ? h("p.hint", null, words.map.first_files(some.length, paths.length)) : null);
  });
  return place;
}

/** Pages that answer a question about this module. */
function questions(name) {
  const w = words.ask_of;
  return h("p.meta", null, ["cut", "people", "risk", "decisions"].map((view) => [link(to(view, { of: name }), w[view], { class: "button" }), " "]));
}

/** A form for what people give a module: name, group, colour, note, place, and whether it is shown. */
function changes(scene, index, signal, arrange) {
  const w = words.map.change;
  const module = scene.modules.name[index];
  const mine = scene.mine?.[index] ?? { name: "", group: "", colour: "", note: "", hidden: false, pinned: [] };
  const said = h("p.hint", { role: "status" });
  const name = h("input", { value: mine.name, maxlength: 60, placeholder: module, autocomplete: "off" });
  const group = h("input", { value: mine.group, maxlength: 60, list: "map-groups", autocomplete: "off" });
  const coloured = h("input", { type: "checkbox", checked: Boolean(mine.colour) });
  const colour = h("input", { type: "color", value: mine.colour || "#8fb0ff", "aria-label": w.colour, oninput: () => (coloured.checked = true) });
  const note = h("textarea", { rows: 3, maxlength: 2000, value: mine.note });
  const hidden = h("input", { type: "checkbox", checked: mine.hidden });
  const save = async (values) => {
    try {
      const { changeMap } = await ask("ChangeMap", { module, ...values }, signal);
      arrange(changeMap.entries);
      said.textContent = w.saved(changeMap.path);
      announce(said.textContent);
    } catch (error) {
      if (error.name !== "AbortError") said.textContent = error.message;
    }
  };
  const form = h(
    "form.teach-form",
    {
      onsubmit: (event) => {
        event.preventDefault();
        save({ name: name.value, group: group.value, colour: coloured.checked ? colour.value : "", note: note.value, hidden: hidden.checked });
      },
    },
    field(w.name, name),
    field(w.group, group),
    h("datalist", { id: "map-groups" }, (scene.groups ?? []).map((one) => h("option", { value: one }))),
    h("label.toggle", null, coloured, w.colour, " ", colour),
    field(w.note, note),
    h("label.toggle", null, hidden, w.hidden),
    h("p", null, h("button", null, w.save), " ", mine.pinned.length ? h("button.plain", { type: "button", onclick: () => save({ pinned: [] }) }, w.unpin) : null),
    said,
  );
  return details(w.title, null, false, h("p.hint", null, w.hint), form);
}
