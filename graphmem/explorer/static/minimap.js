// A small picture of the whole map with the part that is seen; a click or a drag moves there.

import { h } from "./dom.js";
import { words } from "./words.js";

const WIDTH = 150;
const HEIGHT = 96;

/** The element, and `draw()` for after each move. */
export function miniMap(scene, stage) {
  const canvas = h("canvas", { class: "mini", width: WIDTH * 2, height: HEIGHT * 2, hidden: true, "aria-hidden": "true", title: words.map.mini });
  const frame = () => {
    const [x0, y0, x1, y1] = scene.bounds();
    const k = Math.min(WIDTH / (x1 - x0), HEIGHT / (y1 - y0)) * 0.94;
    return { k, x: (x0 + x1) / 2, y: (y0 + y1) / 2, box: [x0, y0, x1, y1] };
  };
  const draw = () => {
    const { k, x, y, box } = frame();
    const { camera, width, height } = stage();
    const [w, hgt] = [width / camera.k, height / camera.k];
    canvas.hidden = w >= (box[2] - box[0]) * 0.98 && hgt >= (box[3] - box[1]) * 0.98; // all of it is seen
    if (canvas.hidden) return;
    const context = canvas.getContext("2d");
    context.setTransform(2, 0, 0, 2, WIDTH, HEIGHT);
    context.clearRect(-WIDTH / 2, -HEIGHT / 2, WIDTH, HEIGHT);
    const { modules, palette } = scene;
    for (let i = 0; i < modules.x.length; i++) {
      if (scene.hiddenNow?.[i]) continue;
      context.fillStyle = scene.mine?.[i]?.colour || palette.heat[scene.moduleHeat[i]];
      context.strokeStyle = palette.line;
      context.lineWidth = 0.6;
      context.beginPath();
      context.arc((modules.x[i] - x) * k, (modules.y[i] - y) * k, Math.max(1, modules.r[i] * k), 0, 7);
      context.fill();
      context.stroke();
    }
    context.strokeStyle = palette.accent;
    context.lineWidth = 1.5;
    context.strokeRect((camera.x - w / 2 - x) * k, (camera.y - hgt / 2 - y) * k, w * k, hgt * k);
  };
  const move = (event) => {
    const { k, x, y } = frame();
    const box = canvas.getBoundingClientRect();
    const at = [x + (event.clientX - box.left - box.width / 2) / k, y + (event.clientY - box.top - box.height / 2) / k];
    stage().moveTo({ ...stage().camera, x: at[0], y: at[1] });
  };
  let held = false;
  canvas.addEventListener("pointerdown", (event) => ((held = true), canvas.setPointerCapture(event.pointerId), move(event)));
  canvas.addEventListener("pointermove", (event) => held && move(event));
  canvas.addEventListener("pointerup", () => (held = false));
  return { element: canvas, draw };
}
