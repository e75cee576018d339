// The neighbourhood of a symbol as a scene: what it depends on to the left, who depends on it to the right.

import { spelled } from "./parts.js";
import { colours } from "./stage.js";
import { words } from "./words.js";

const HEIGHT = 22;
const WIDTH = 208;

export class AroundScene {
  /** @param {object} columns  the answer of `neighbourhood`. */
  constructor(columns) {
    this.nodes = columns.nodes;
    this.edges = columns.edges;
    this.limits = [0.15, 3];
    this.chosen = null;
    this.palette = colours();
  }

  retheme() {
    this.palette = colours();
  }

  bounds() {
    const { x, y } = this.nodes;
    const room = WIDTH / 2 + 10;
    return [Math.min(...x) - room, Math.min(...y) - 24, Math.max(...x) + room, Math.max(...y) + 24];
  }

  *paint(context, camera, { width, height }) {
    const { k } = camera;
    const { nodes, edges, palette } = this;
    const sx = (x) => (x - camera.x) * k;
    const sy = (y) => (y - camera.y) * k;
    const chosen = this.chosen;
    for (let e = 0; e < edges.src.length; e++) {
      const [a, b] = [edges.src[e], edges.dst[e]];
      const mine = chosen !== null && (a === chosen || b === chosen);
      // From who is depended upon (left) to who depends (right); between equals from side to side.
      const way = nodes.x[a] >= nodes.x[b] ? 1 : -1;
      const [x1, x2] = [sx(nodes.x[b] + (way * WIDTH) / 2), sx(nodes.x[a] - (way * WIDTH) / 2)];
      const [y1, y2] = [sy(nodes.y[b]), sy(nodes.y[a])];
      const bend = Math.max(26 * k, Math.abs(x2 - x1) * 0.45) * way;
      context.beginPath();
      context.moveTo(x1, y1);
      context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
      context.strokeStyle = palette.kinds[edges.kind[e]] ?? palette.line;
      context.setLineDash(edges.confidence[e] >= 0.8 ? [] : [5, 4]);
      const middle = nodes.side[a] === 0 || nodes.side[b] === 0;
      context.globalAlpha = mine ? 0.95 : (chosen === null ? 1 : 0.4) * (middle ? 0.6 : 0.16);
      context.lineWidth = mine ? 2 : 1.2;
      context.stroke();
      if (e % 100 === 99) yield 300;
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
    const size = Math.min(13, 12 * k);
    for (let i = 0; i < nodes.x.length; i++) {
      const [x, y] = [sx(nodes.x[i]), sy(nodes.y[i])];
      if (Math.abs(x) > width / 2 + WIDTH * k || Math.abs(y) > height / 2 + HEIGHT * k) continue;
      const side = nodes.side[i];
      const colour = side === 0 ? palette.accent : nodes.test[i] ? palette.test : side < 0 ? palette.before : palette.after;
      context.beginPath();
      context.roundRect(x - (WIDTH / 2) * k, y - (HEIGHT / 2) * k, WIDTH * k, HEIGHT * k, 5 * k);
      context.fillStyle = palette.card;
      context.fill();
      context.strokeStyle = colour;
      context.lineWidth = side === 0 || i === chosen ? 2.5 : 1.2;
      context.stroke();
      context.fillStyle = colour;
      context.fillRect(x - (WIDTH / 2) * k, y - (HEIGHT / 2) * k + 4 * k, 4 * k, HEIGHT * k - 8 * k);
      if (size > 5) {
        context.font = `${side === 0 ? 700 : 500} ${size}px system-ui, sans-serif`;
        context.fillStyle = palette.text;
        context.textAlign = "left";
        context.textBaseline = "middle";
        context.fillText(fitted(context, label(nodes, i), (WIDTH - 18) * k), x - (WIDTH / 2 - 10) * k, y);
      }
      if (i % 100 === 99) yield 300;
    }
    yield 100;
  }

  pick(x, y) {
    const { nodes } = this;
    for (let i = 0; i < nodes.x.length; i++) {
      if (Math.abs(nodes.x[i] - x) < WIDTH / 2 && Math.abs(nodes.y[i] - y) < HEIGHT / 2 + 2) return i;
    }
    return null;
  }
}

function label(nodes, i) {
  const ref = nodes.ref[i];
  const qualname = ref.slice(nodes.path[i].length + 1);
  if (!nodes.path[i]) return ref;
  const file = nodes.path[i].split("/").slice(-2).join("/");
  if (qualname === "<module>") return words.top_level(file);
  return !qualname ? file : spelled(qualname.split(".").slice(-2).join("."));
}

function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
