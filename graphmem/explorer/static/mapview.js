// The map with its controls and its table: on the start page small, on the graph page large.

import { ask } from "./api.js";
import { announce, calm, fill, h, later } from "./dom.js";
import { KINDS, MapScene } from "./map.js";
import { measure, owners } from "./measures.js";
import { miniMap } from "./minimap.js";
import { details, fileOf, go, link, menu, table, to } from "./parts.js";
import { past } from "./paint.js";
import { Stage } from "./stage.js";
import { svgOf } from "./svg.js";
import { words } from "./words.js";

const MOST_FILES = 400; // whose symbols are asked for at once

const FOLDED = ["test", "migration", "translation", "generated", "no_code"]; // roles of files that are shown when asked for

/** Roles that an address asks for beside code: "test,migration". */
export function rolesOf(shown) {
  return ["code", ...(shown ?? "").split(",").filter((one) => FOLDED.includes(one))];
}

/**
 * The answer of `atlas`, asked once a generation.
 * @param {string} shown  roles beside code, as in the address.
 * @param {string} focus  a module, file or symbol that must be on the map, if it is anywhere.
 */
export async function atlas(signal, shown = "", focus = "") {
  const asked = async (roles) => ({ ...(await ask("Atlas", { roles: roles.map((one) => one.toUpperCase()) }, signal)).atlas, shown: roles });
  const made = await asked(rolesOf(shown));
  const { files, modules } = made.columns;
  const has = (one) => !focus || one.modules.name.includes(focus) || one.files.path.some((path) => focus === path || focus.startsWith(`${path}:`) || path.startsWith(`${focus.replace(/\/$/, "")}/`));
  if (!files.path.length && !shown && made.columns.roles.files.some((n) => n)) return asked(["code", ...FOLDED]); // nothing but tests
  if (has({ files, modules }) || rolesOf(shown).length > FOLDED.length) return made;
  const whole = await asked(["code", ...FOLDED]);
  return has(whole.columns) ? whole : made;
}

/** Memories in use with the files of the code that they are about, the surest first; at most a thousand. */
async function memoryMarks(known, signal) {
  const found = [];
  for (let after = null; found.length < 1000; ) {
    const { memories } = await ask("MemoryMarks", { first: 250, after }, signal);
    found.push(...memories.edges.map(({ node }) => ({ ...node, files: [...node.files, ...node.about.map(({ name }) => fileOf(name, known))], trust: node.confidenceInUse })));
    if (!memories.pageInfo.hasNextPage) break;
    after = memories.pageInfo.endCursor;
  }
  return found;
}

/**
 * A map in a place.
 * @param {object} answer  of `atlas`.
 * @param {object} options  `controls`: whether to show them; `select(thing, scene)`; `moved(camera)`; `heat`: what to colour by, and
 *   `at`: of hot spots the moment, a day; `coloured(heat, at)` when that is changed; `showing(roles)` when other files are to be shown.
 */
export function mapView(answer, { controls = true, signal, select = () => {}, moved = () => {}, coloured = () => {}, showing = () => {}, heat: colour = "dependents", at = null } = {}) {
  const scene = new MapScene(answer.columns);
  scene.stageWidth = () => stage?.width;
  let arranging = false;
  let isComplete = () => {};
  const complete = new Promise((done) => (isComplete = done)); // with what people changed, and memories
  let mini = null;
  const { modules, files } = scene;
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": words.map.label(modules.name.length, files.path.length) });
  const tip = h("div.tip", { hidden: true, "aria-hidden": "true" });
  const said = h("p.said", { role: "status" });
  const key = h("p.hint.key");
  const frame = h("div.stage", null, canvas, tip);
  const whole = h("div.map", null, controls ? null : frame);
  let stage = null;
  let asked = new Set();
  let waiting = null;
  const over = h("div.over", null); // about what is painted, above the picture
  const legend = h("span.legend", { "aria-hidden": "true" });
  const heatField = h("label.field.row", null, h("span", null, words.map.heat));
  const explain = (painted) => {
    heatField.hidden = Boolean(painted);
    fill(legend, painted ? painted.legend.map((word, i) => [h(`i.depth-${i}`), word]) : [words.map.legend[0], [0, 1, 2, 3, 4].map((i) => h(`i.heat-${i}`)), words.map.legend[1]]);
  };
  explain(null);
  let first = () => {}; // once the picture is there
  let sought = null; // a symbol to choose as soon as it is there

  const meaning = h("p.meaning", { "aria-label": words.map.key.title });
  let keyOf = ""; // what it explains
  /** What the marks and colours mean that are on the picture now. */
  const explainMarks = () => {
    const level = scene.level(stage.camera);
    const chosen = scene.chosen?.level === "memory" ? "" : (scene.chosen?.level ?? "");
    const wanted = [level, chosen, scene.settings.heat, Boolean(scene.painted), scene.marks.length > 0].join();
    if (wanted === keyOf) return;
    keyOf = wanted;
    const w = words.map.key;
    const item = (mark, text) => h("span", null, h(mark, { "aria-hidden": "true" }), ` ${text}`);
    const cuts = scene.moduleEdges.cut?.some((n) => n > 0);
    const shown = {
      modules: [item("i.circle", w.module), item("i.line.plain", w.edge), cuts ? item("i.line.cut", words.map.cut) : null, scene.blocks.members.length ? item("i.frame", w.cycle) : null, modules.worded?.some(Boolean) ? h("span", null, w.words) : null],
      files: [item("i.circle", w.file), h("span", null, w.lines), ...KINDS.filter((kind) => scene.fileEdges.kind.some((one) => scene.kindNames[one] === kind)).map((kind) => item(`i.line.${kind.toLowerCase()}`, words.map.kind[kind])), h("span", null, w.dashed)],
      symbols: [item("i.circle.accent", w.type), item("i.circle.module", w.other), item("i.circle.test", w.test), h("span", null, w.lines), ...KINDS.map((kind) => item(`i.line.${kind.toLowerCase()}`, words.map.kind[kind])), h("span", null, w.dashed)],
    }[level];
    fill(meaning, shown, scene.marks.length ? item("i.mark", words.map.memory) : null, chosen ? [item("i.line.after", w.users), item("i.line.before", w.used)] : null);
  };

  const tell = () => {
    explainMarks();
    const parts = [words.map.level_is(words.map.level[scene.level(stage.camera)])];
    if (answer.leftOut) parts.push(words.map.left_out(answer.leftOut));
    if (scene.symbolsLeftOut) parts.push(words.map.symbols_left_out(scene.symbolsLeftOut));
    said.textContent = `${parts.join("; ")}.`;
  };
  const fetchSymbols = later(async () => {
    const wanted = scene.wanted(stage.camera, { width: stage.width, height: stage.height }, MOST_FILES);
    if (!wanted.length || wanted.every((file) => asked.has(file))) return tell();
    waiting?.abort();
    waiting = new AbortController();
    try {
      const got = (await ask("AtlasSymbols", { paths: wanted.map((file) => files.path[file]), limit: 5000, roles: answer.shown.map((one) => one.toUpperCase()) }, waiting.signal)).atlasSymbols;
      const chosen = sought ?? (scene.chosen?.level === "symbol" ? scene.symbols?.symbols.ref[scene.chosen.index] : null);
      scene.holdSymbols(got.columns);
      scene.symbolsLeftOut = got.leftOut;
      asked = new Set(wanted);
      if (chosen) {
        const at = scene.symbols.symbols.ref.indexOf(chosen);
        if (at >= 0) scene.chosen = { level: "symbol", index: at };
        else if (scene.chosen?.level === "symbol") scene.chosen = null;
        if (at >= 0) sought = null;
      }
      stage.repaint();
      tell();
    } catch (error) {
      if (error.name !== "AbortError") said.textContent = error.message;
    }
  }, 120);

  const choose = (thing) => {
    if (thing?.level === "memory") return go(thing.mark.memories.length > 1 && thing.mark.file !== null ? to("memories", { file: files.path[thing.mark.file] }) : to("memories", { id: thing.index }));
    scene.chosen = thing;
    tip.hidden = true;
    stage.repaint();
    explainMarks();
    select(thing, scene);
  };
  const goInto = (thing) => {
    if (!thing || thing.level === "symbol") return;
    const ends = thing.level === "module" ? modules : files;
    const [x, y, r] = [ends.x[thing.index], ends.y[thing.index], ends.r[thing.index]];
    stage.glide(stage.cameraFor(x - r, y - r, x + r, y + r));
  };

  /** What people changed, and memories; both when the picture is there already. */
  const personal = async () => {
    try {
      const { mapEntries } = await ask("MapEntries", {}, signal);
      scene.arrange(mapEntries.entries);
      stage.repaint();
      if (mapEntries.entries.some((one) => one.pinned.length || one.hidden)) stage.fit();
    } catch (error) {
      if (error.name === "AbortError") return;
      said.textContent = error.message;
    }
    try {
      scene.remember(await memoryMarks(scene.fileAt, signal));
      if (scene.marks.length) (stage.repaint(), explainMarks());
    } catch (error) {
      if (error.name !== "AbortError") said.textContent = error.message;
    }
    whole.dataset.complete = "true";
    isComplete();
  };
  /** A module that is dragged while one arranges the map. */
  const grab = (thing) => {
    if (!arranging || thing?.level !== "module") return null;
    const i = thing.index;
    const own = scene.filesOf[i];
    return {
      move: (dx, dy) => {
        scene.modules.x = scene.modules.x.with(i, scene.modules.x[i] + dx);
        scene.modules.y = scene.modules.y.with(i, scene.modules.y[i] + dy);
        for (const file of own) (files.x[file] += dx), (files.y[file] += dy);
        stage.repaint();
      },
      drop: async () => {
        try {
          const { changeMap } = await ask("ChangeMap", { module: modules.name[i], pinned: scene.share(i) }, signal);
          scene.arrange(changeMap.entries);
          announce(words.map.pinned);
        } catch (error) {
          if (error.name !== "AbortError") said.textContent = error.message;
          scene.arrange([...scene.entries.values()]);
        }
        stage.repaint();
      },
    };
  };

  let explained = "";
  /** The modules that have a number on the map, because their names have no room. */
  const explainNumbers = () => {
    const { unnamed, crowded } = scene;
    const now = `${unnamed} ${crowded}`;
    if (now === explained) return;
    explained = now;
    const names = scene.numbered();
    fill(key, unnamed.length ? [words.map.numbered, " ", unnamed.map((i, n) => [n ? ", " : "", `${n + 1} `, link(to("graph", { focus: modules.name[i] }), names[n], { title: modules.name[i] })]), ". "] : null, crowded.length ? words.map.crowded(crowded.length) : null);
  };

  const start = () => {
    stage = new Stage(canvas, scene, {
      scrolls: !controls, // the wheel scrolls a page around the map
      grab,
      select: choose,
      open: goInto,
      hover: (thing, x, y) => {
        tip.hidden = !thing;
        if (!thing) return;
        tip.textContent = scene.told(thing);
        tip.style.left = `${Math.min(x + 14, stage.width - 260)}px`;
        tip.style.top = `${y + 14}px`;
      },
      painted: explainNumbers,
      moved: (camera) => {
        if (!stage) return;
        fetchSymbols();
        mini?.draw();
        moved(camera);
      },
    });
    if (controls) {
      mini = miniMap(scene, () => stage);
      frame.append(mini.element);
    }
    tell();
    fetchSymbols();
    first();
    personal();
    signal?.addEventListener("abort", () => stage.stop());
    const retheme = () => (scene.retheme(), stage.repaint(), mini?.draw());
    addEventListener("retheme", retheme);
    signal?.addEventListener("abort", () => removeEventListener("retheme", retheme));
  };

  if (controls) {
    const redraw = () => stage.repaint();
    const toggle = (text, checked, change, colour = null) =>
      h("label.toggle", null, h("input", { type: "checkbox", checked, onchange: (event) => (change(event.target.checked), redraw()) }), colour ? h(`i.line.${colour}`, { "aria-hidden": "true" }) : null, text);
    const settings = scene.settings;
    const heat = h(
      "select",
      { onchange: () => colourBy(heat.value) },
      Object.entries(words.map.heats).map(([key, text]) => h("option", { value: key, selected: key === colour }, text)),
    );
    heatField.append(heat);
    const colourBy = async (key, day = null) => {
      fill(over);
      settings.heat = key;
      scene.measured = null;
      if (key === "churn") await history(day);
      else if (["owner", "untested", "unresolved"].includes(key)) await measured(key);
      scene.reheat();
      stage?.repaint();
      if (key !== "churn") coloured(key, null);
    };
    const measured = async (key) => {
      let extra = null;
      if (key === "owner") {
        fill(over, h("span.hint", null, words.loading));
        try {
          extra = await owners(files.path, signal);
        } catch (error) {
          if (error.name !== "AbortError") fill(over, h("span.hint", null, error.message));
          return;
        }
      }
      const made = measure(key, scene, extra);
      scene.heatCuts = null;
      scene.extraHeat = new Map(files.path.map((path, i) => [path, made.value(i)]));
      scene.measured = made.told;
      const unknown = files.path.filter((_, i) => made.value(i) < 0).length;
      fill(over, h("span.hint", null, words.map.measure.hint[key], unknown ? ` ${words.map.measure.unknown(unknown)}` : ""));
    };
    const history = async (day) => {
      fill(over, h("span.hint", null, words.loading));
      let told;
      try {
        told = await past(signal);
      } catch (error) {
        if (error.name !== "AbortError") fill(over, h("span.hint", null, error.message));
        return;
      }
      if (!told.at.length) return fill(over, h("span.hint", null, words.map.no_past));
      const last = told.at.length - 1;
      const precise = Date.parse(told.at[last]) - Date.parse(told.at[0]) > 60 * 864e5 ? 10 : 16; // the day, or the minute of a young project
      const from = day ? told.at.findIndex((one) => one.slice(0, precise) >= day) : last;
      const shown = h("output", { for: "moment" });
      const slide = h("input", { id: "moment", type: "range", min: 0, max: last, step: 1, value: from < 0 ? last : from, "aria-label": words.map.moment });
      const set = () => {
        const step = Number(slide.value);
        scene.heatCuts = told.cuts;
        scene.extraHeat = told.heat(step);
        scene.reheat();
        stage?.repaint();
        shown.textContent = words.map.moment_is(told.at[step].slice(0, precise).replace("T", " "), told.commits[step]);
        slide.setAttribute("aria-valuetext", shown.textContent);
      };
      slide.addEventListener("input", set);
      slide.addEventListener("change", () => coloured("churn", Number(slide.value) === last ? null : told.at[Number(slide.value)].slice(0, precise)));
      fill(over, h("label.moment", null, h("span", null, words.map.moment), slide, shown), h("span.hint", null, words.map.moment_hint));
      set();
      coloured("churn", day);
    };
    first = () => colour !== "dependents" && colourBy(colour, at);
    const button = (text, act) => h("button", { type: "button", onclick: act }, text);
    fill(
      whole,
      h(
        "div.controls",
        null,
        menu(words.map.layers, signal,
          toggle(words.map.show_edges, true, (on) => (settings.edges = on)),
          toggle(words.map.show_symbols, true, (on) => ((settings.symbols = on), fetchSymbols())),
          toggle(words.map.show_memories, true, (on) => (settings.memories = on)),
          toggle(words.map.show_titles, true, (on) => (settings.titles = on)),
          toggle(words.map.certain_only, false, (on) => (settings.certainOnly = on)),
          toggle(words.map.show_hidden, false, (on) => ((settings.hidden = on), scene.arrange([...scene.entries.values()]))),
          FOLDED.map((role) => {
            const n = answer.columns.roles.files[answer.columns.roles.role.indexOf(role)];
            if (!n) return null;
            const shown = answer.shown.includes(role);
            return toggle(words.map.role[role](n), shown, (on) => showing(FOLDED.filter((one) => (one === role ? on : answer.shown.includes(one)))));
          })),
        menu(words.map.kinds, signal,
          KINDS.map((kind) => toggle(words.map.kind[kind], true, (on) => settings.kinds[on ? "add" : "delete"](kind), kind.toLowerCase()))),
        heatField,
        legend,
        toggle(words.map.arrange, false, (on) => ((arranging = on), frame.classList.toggle("arranging", on))),
        h("span.buttons", null,
          button(words.map.zoom_in, () => stage.zoom(1.5)),
          button(words.map.zoom_out, () => stage.zoom(1 / 1.5)),
          button(words.map.fit, () => stage.glide(stage.cameraFor(...scene.bounds()), true)),
          button(words.map.save, () => svgOf(stage, "graphmem-map.svg")))),
      over,
      frame,
      meaning,
      key,
      said,
    );
  } else whole.append(meaning, key, said);

  const lookAt = (camera) => {
    if (calm()) stage.moveTo(camera);
    else stage.glide(camera);
    stage.repaint();
  };

  return {
    element: whole,
    scene,
    complete,
    /** Show what people changed, after a change. */
    arrange: (entries) => (scene.arrange(entries), stage?.repaint()),
    start,
    stage: () => stage,
    tables: () => mapTables(scene, (thing) => (choose(thing), goInto(thing)), signal),
    /** Paint something over it, see paint.js; `ended()` when it is to be taken away. */
    paint(painted, ended) {
      scene.paintOver(painted);
      explain(painted);
      fill(over, h("strong", null, painted.title), painted.leftOut ? h("span.hint", null, words.paint.left_out(painted.leftOut)) : null, link(painted.back, words.paint.list, { class: "button" }), h("button", { type: "button", onclick: () => (scene.paintOver(null), explain(null), fill(over), stage.repaint(), ended()) }, words.paint.stop));
      stage.repaint();
    },
    /** Show a file or module by its name, and choose it; or a symbol in it. */
    reveal(path, symbol = null) {
      const file = scene.fileAt.get(path);
      const module = modules.name.indexOf(path);
      const thing = file !== undefined ? { level: "file", index: file } : module >= 0 ? { level: "module", index: module } : null;
      if (!thing) return false;
      scene.chosen = symbol ? null : thing; // a symbol is chosen when it is there
      const ends = thing.level === "file" ? files : modules;
      sought = symbol;
      const room = symbol ? 1.15 : thing.level === "file" ? 6 : 1.2;
      const [x, y, r] = [ends.x[thing.index], ends.y[thing.index], ends.r[thing.index] * room];
      lookAt(stage.cameraFor(x - r, y - r, x + r, y + r));
      return true;
    },
    /** Show the part of the map that holds files, given by their numbers, and ring these. */
    frame(some) {
      scene.framed = some;
      const edge = (of, side, pick) => pick(...some.map((i) => of[i] + side * files.r[i]));
      lookAt(stage.cameraFor(edge(files.x, -1, Math.min), edge(files.y, -1, Math.min), edge(files.x, 1, Math.max), edge(files.y, 1, Math.max)));
    },
  };
}

/** What the map shows, as tables. */
function mapTables(scene, show, signal) {
  const { modules, files } = scene;
  const name = (i) => modules.name[i] || words.map.root;
  const uses = modules.name.map(() => h("span"));
  // The numbers of the matrix and of the cut page: without tests, and only what the source states.
  ask("ModuleUses", {}, signal).then(({ modules: found }) => {
    const heaviest = (of) => found.dependencies.filter((one) => one.srcName === of).sort((a, b) => b.weight - a.weight || (a.dstName < b.dstName ? -1 : 1)).slice(0, 4);
    uses.forEach((place, i) => fill(place, heaviest(modules.name[i]).map((one) => `${one.dstName} (${words.number(one.weight)})`).join(", ")));
  }, (error) => uses.forEach((place) => fill(place, h("span.hint", { title: error.message }, "–"))));
  const c = words.map.columns;
  const rows = modules.name.map((_, i) => [
    h("button.plain", { type: "button", onclick: () => show({ level: "module", index: i }) }, name(i)),
    words.number(modules.files[i]),
    words.number(modules.symbols[i]),
    uses[i],
  ]);
  const fileRows = files.path
    .map((path, i) => ({ path, i }))
    .sort((a, b) => files.dependents[b.i] - files.dependents[a.i] || (a.path < b.path ? -1 : 1))
    .map(({ path, i }) => [
      link(to("graph", { focus: path }), path),
      name(files.module[i]),
      words.number(files.symbols[i]),
      words.number(files.dependents[i]),
      words.number(files.complexity[i]),
    ]);
  return details(
    words.map.as_table,
    null,
    false,
    table(words.map.modules_table, [c.module, c.files, c.symbols, words.map.depends_on], rows, { numeric: [1, 2] }),
    table(c.files, [c.file, c.module, c.symbols, c.used_by, c.complexity], fileRows, { numeric: [2, 3, 4], first: 50 }),
  );
}

