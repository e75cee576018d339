// The graph: the map one zooms into, or the neighbourhood of a symbol, with details beside it.

import { aroundView } from "./aroundview.js";
import { fill, h } from "./dom.js";
import { failure, go, note, refOf, to } from "./parts.js";
import { folderPanel, modulePanel } from "./modulepanel.js";
import { atlas, mapView } from "./mapview.js";
import { paintedTable, painting } from "./paint.js";
import { showPanel } from "./panel.js";
import { showNoSource } from "./workspace.js";
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
        note(to("graph", Object.assign(here, { focus: scene.modules.name[thing.index], code: "" })), false);
        showNoSource();
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
  const folder = focus.replace(/\/$/, "");
  const inside = map.scene.files.path.flatMap((path, i) => (path.startsWith(`${folder}/`) ? [i] : []));
  if (inside.length) {
    map.frame(inside);
    return fill(panel, folderPanel(map.scene, folder, inside, panel, signal));
  }
  inspect(focus, (symbol) => map.reveal(symbol.path, symbol.qualname ? refOf(symbol) : null));
}

async function showAround(picture, panel, below, parameters, signal) {
  panel.hidden = false;
  openPanel(panel, parameters.around, signal);
  await aroundView(picture, parameters, signal, { below });
}
