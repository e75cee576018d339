// The graph: the map one zooms into, or the neighbourhood of a symbol, with details beside it.

import { ask } from "./api.js";
import { AroundScene } from "./around.js";
import { fill, h } from "./dom.js";
import { certainty, chip, choice, details, failure, fileLink, go, into, link, menu, note, refOf, table, to } from "./parts.js";
import { KINDS } from "./map.js";
import { modulePanel } from "./modulepanel.js";
import { atlas, mapView } from "./mapview.js";
import { paintedTable, painting } from "./paint.js";
import { showPanel } from "./panel.js";
import { Stage } from "./stage.js";
import { svgOf } from "./svg.js";
import { words } from "./words.js";

export async function show(page, parameters, signal) {
  const picture = h("div.picture");
  const panel = h("aside.panel", { "aria-label": words.panel.label, hidden: true });
  const below = h("div.below");
  const title = h("h1.quiet", null, words.views.graph);
  fill(page, title, h("div.split", null, picture, panel), below);
  if (parameters.around) await showAround(picture, panel, below, parameters, signal);
  else await showMap(picture, panel, below, parameters, signal);
}

function openPanel(panel, ref, signal, named) {
  panel.hidden = false;
  return showPanel(panel, ref, {
    signal,
    named,
    close: () => {
      panel.hidden = true;
      fill(panel);
    },
  });
}

async function showMap(picture, panel, below, parameters, signal) {
  const { focus, paint, of } = parameters;
  const here = { ...parameters }; // what the address says
  const noted = (changed) => note(to("graph", Object.assign(here, changed)));
  fill(picture, h("p.loading", null, words.loading));
  let turn = null;
  const inspect = (ref, named) => {
    turn?.abort();
    turn = new AbortController();
    signal.addEventListener("abort", () => turn.abort());
    openPanel(panel, ref, turn.signal, named);
  };
  const map = mapView(await atlas(signal, parameters.show, focus), {
    signal,
    heat: parameters.heat,
    at: parameters.at,
    showing: (roles) => go(to("graph", { ...here, show: roles.join(",") })),
    coloured: (heat, at) => noted({ heat: heat === "dependents" ? "" : heat, at: at ?? "" }),
    select: (thing, scene) => {
      if (!thing) return;
      if (thing.level === "module") {
        noted({ focus: scene.modules.name[thing.index] });
        turn?.abort();
        panel.hidden = false;
        fill(panel, modulePanel(scene, thing.index, panel, signal, map.arrange));
        return;
      }
      const ref = thing.level === "file" ? scene.files.path[thing.index] : scene.symbols.symbols.ref[thing.index];
      noted({ focus: ref });
      inspect(ref);
    },
  });
  fill(picture, map.element);
  map.complete.then(() => {
    // what people changed about a module comes after the picture
    const { chosen } = map.scene;
    if (!signal.aborted && chosen?.level === "module" && map.scene.mine?.[chosen.index]) fill(panel, modulePanel(map.scene, chosen.index, panel, signal, map.arrange));
  });
  if (focus) panel.hidden = false; // before the map is measured, so that it does not jump
  map.start();
  if (document.activeElement?.id === "find") picture.querySelector("canvas").focus({ preventScroll: true }); // what was looked for is shown: now the map's keys
  fill(below, map.tables());
  if (paint && of) {
    try {
      const painted = await painting(paint, of, signal);
      if (painted) {
        const listed = paintedTable(painted);
        map.paint(painted, () => (noted({ paint: "", of: "" }), listed.remove()));
        below.prepend(listed);
      }
    } catch (error) {
      if (error.name === "AbortError") return;
      below.prepend(failure(error, (ref) => to("graph", { ...here, of: ref })));
    }
  }
  if (!focus) return;
  if (paint) return inspect(focus); // the whole map is what is wanted; its details beside it
  if (map.reveal(focus)) {
    const { level, index } = map.scene.chosen;
    if (level === "module") return fill(panel, modulePanel(map.scene, index, panel, signal, map.arrange));
  }
  inspect(focus, (symbol) => map.reveal(symbol.path, symbol.qualname ? refOf(symbol) : null));
}

let switched = null; // the kind that was switched last: its switch has the focus again when the view has come anew

async function showAround(picture, panel, below, parameters, signal) {
  const { around, depth = "1", kinds = "" } = parameters;
  fill(picture, h("p.loading", null, words.loading));
  const chosen = new Set(kinds ? kinds.split(",") : KINDS);
  let answer;
  try {
    answer = (await ask("Neighbourhood", { refs: [around], depth: Number(depth), ...(kinds ? { kinds: [...chosen] } : {}), limit: 100 }, signal)).neighbourhood;
  } catch (error) {
    if (error.name === "AbortError") return;
    fill(picture, failure(error, (ref) => to("graph", { around: ref })));
    return;
  }
  const scene = new AroundScene(answer.columns);
  const { nodes, edges } = scene;
  const w = words.around;
  const again = (changed) => go(to("graph", { around, depth, kinds, ...changed }));
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": w.label(nodes.ref.length) });
  const depths = choice([1, 2, 3, 4].map((n) => [String(n), String(n)]), depth, { id: "depth", onchange: (event) => again({ depth: event.target.value }) });
  const toggles = KINDS.map((kind) =>
    h("label.toggle", null,
      h("input", { type: "checkbox", checked: chosen.has(kind), onchange: (event) => ((switched = kind), chosen[event.target.checked ? "add" : "delete"](kind), again({ kinds: KINDS.filter((one) => chosen.has(one)).join(",") })) }),
      h(`i.line.${kind.toLowerCase()}`, { "aria-hidden": "true" }), words.map.kind[kind]));
  const kindsMenu = menu(words.map.kinds, signal, toggles);
  kindsMenu.open = switched !== null;
  let stage = null;
  fill(
    picture,
    h("div.map", null,
      h("div.controls", null,
        h("label.field.row", null, h("span", null, w.depth), depths),
        kindsMenu,
        h("span.buttons", null,
          h("button", { type: "button", onclick: () => stage.zoom(1.4) }, words.map.zoom_in),
          h("button", { type: "button", onclick: () => stage.zoom(1 / 1.4) }, words.map.zoom_out),
          h("button", { type: "button", onclick: () => stage.fit() }, words.map.fit),
          h("button", { type: "button", onclick: () => svgOf(stage, "graphmem-neighbourhood.svg") }, words.map.save))),
      h("div.stage", null, h("div.zones", { "aria-hidden": "true" }, h("span.before", null, `← ${words.impact.before}`), h("span.after", null, `${words.impact.after} →`)), canvas),
      h("p.said", { role: "status" }, w.count(nodes.side.filter((side) => side < 0).length, nodes.side.filter((side) => side > 0).length, answer.leftOut))),
  );
  toggles[KINDS.indexOf(switched)]?.querySelector("input").focus();
  switched = null;
  panel.hidden = false;
  stage = new Stage(canvas, scene, {
    select: (index) => {
      scene.chosen = index;
      stage.repaint();
      if (index !== null && nodes.path[index]) openPanel(panel, nodes.ref[index], signal);
    },
    open: (index) => index !== null && nodes.path[index] && go(to("graph", { around: nodes.ref[index] })),
  });
  const centred = () => {
    const whole = stage.cameraFor(...scene.bounds(), 1);
    if (whole.k >= 0.72) return stage.moveTo(whole);
    const k = 0.8; // readable rather than whole and tiny, with what it depends on in sight
    const left = Math.max(-stage.width / 2 / k + 130, Math.min(...nodes.x.filter((_, i) => nodes.side[i] >= -1)) - 130);
    stage.moveTo({ x: Math.min(-130, left) + stage.width / 2 / k, y: 0, k }); // what is in the middle is whole, however narrow the picture

  };
  centred();
  signal.addEventListener("abort", () => stage.stop());
  const retheme = () => (scene.retheme(), stage.repaint());
  addEventListener("retheme", retheme);
  signal.addEventListener("abort", () => removeEventListener("retheme", retheme));
  openPanel(panel, around, signal);

  const c = words.map.columns;
  const bySide = (side) => (side < 0 ? `${w.left}, ${words.depth(-side)}` : side > 0 ? `${w.right}, ${words.depth(side)}` : w.middle);
  const named = (i) => link(to("graph", { focus: nodes.ref[i] }), nodes.ref[i]);
  fill(
    below,
    details(words.map.as_table, null, false,
      table(w.title, [c.name, c.kind, c.where], nodes.ref.map((_, i) => [named(i), nodes.kind[i], bySide(nodes.side[i])])),
      table(words.map.kinds, [c.name, c.relation, c.name, c.confidence], edges.src.map((a, e) => [named(a), words.map.kind[edges.kind[e]] ?? edges.kind[e], named(edges.dst[e]), certainty(edges.confidence[e])]))),
  );
}

