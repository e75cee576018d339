// A canvas one can move about in: pan, zoom, pick. It knows nothing of graphs.
//
// A scene paints a part of itself into a hidden canvas in each frame. The size of the part follows the speed of the machine. Until the
// scene is complete, the stage shows the last complete picture, moved and scaled to the camera. So a frame costs the same with 5,000
// and with 50,000 nodes. A small scene is painted whole in every frame.

import { calm } from "./dom.js";

const MARGIN = 240; // pixels painted around the window: a pan inside them only moves the picture
const STRETCH = 1.3; // how far a picture may be scaled while one zooms, before it is painted again
const BUDGET_MS = 6; // of painting in a frame, while a movement needs a new picture
const DIRECT = 6_000; // most primitives painted in every frame: up to here, that is faster than copying a picture
const SLOW_MS = 34;
const QUICK_MS = 20;

export class Stage {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {object} scene  `bounds()` → [x0, y0, x1, y1]; `*paint(context, camera, window)` yielding after each portion its size in
   *   primitives; `pick(x, y, camera)` → a thing or null; `limits` [smallest, largest scale].
   * @param {object} told  `select(thing)`, `open(thing)`, `hover(thing, x, y)`, `moved(camera)`, `painted()`, all optional.
   */
  constructor(canvas, scene, told = {}) {
    this.canvas = canvas;
    this.scene = scene;
    this.told = told;
    this.context = canvas.getContext("2d");
    this.camera = { x: 0, y: 0, k: 1 };
    this.shown = null; // {canvas, camera} of the last finished picture
    this.job = null;
    this.portion = 1500; // primitives a frame, adapted
    this.dirty = true;
    this.size = Infinity; // primitives of the last picture
    this.frames = []; // durations of the last frames while something moved, for measuring
    this.stopped = false;
    this.drag = null;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.listen();
    this.resize();
    this.fit();
  }

  stop() {
    this.stopped = true;
    this.observer.disconnect();
    cancelAnimationFrame(this.request);
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = Math.min(2, devicePixelRatio || 1);
    const first = !this.width;
    this.width = Math.max(1, box.width);
    this.height = Math.max(1, box.height);
    this.canvas.width = Math.round(this.width * this.ratio);
    this.canvas.height = Math.round(this.height * this.ratio);
    if (first || this.whole) this.fit(); // everything was seen, so it is seen in the new size as well
    this.repaint();
  }

  /** Show everything. */
  fit() {
    const [x0, y0, x1, y1] = this.scene.bounds();
    const camera = this.cameraFor(x0, y0, x1, y1);
    this.scene.fitted?.(camera.k);
    this.moveTo(camera);
    this.whole = true;
  }

  cameraFor(x0, y0, x1, y1, largest = Infinity) {
    const room = 24;
    const k = Math.min((this.width - 2 * room) / Math.max(1, x1 - x0), (this.height - 2 * room) / Math.max(1, y1 - y0), largest);
    return { k: this.within(k), x: (x0 + x1) / 2, y: (y0 + y1) / 2 };
  }

  within(k) {
    const [least, most] = this.scene.limits;
    return Math.max(least, Math.min(most, k));
  }

  moveTo(camera) {
    this.camera = camera;
    this.whole = false;
    this.told.moved?.(camera);
    this.wake();
  }

  /** Go somewhere, smoothly unless that is not wanted. */
  glide(camera, whole = false) {
    if (calm()) return whole ? this.fit() : this.moveTo(camera);
    const from = this.camera;
    const begun = performance.now();
    const step = (now) => {
      if (this.stopped || this.drag) return;
      const t = Math.min(1, (now - begun) / 320);
      const e = 1 - (1 - t) ** 3;
      this.moveTo({ x: from.x + (camera.x - from.x) * e, y: from.y + (camera.y - from.y) * e, k: from.k * (camera.k / from.k) ** e });
      if (t < 1) requestAnimationFrame(step);
      else if (whole) this.fit();
    };
    requestAnimationFrame(step);
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const { x, y, k } = this.camera;
    const next = this.within(k * factor);
    const [wx, wy] = [x + (px - this.width / 2) / k, y + (py - this.height / 2) / k];
    this.moveTo({ k: next, x: wx - (px - this.width / 2) / next, y: wy - (py - this.height / 2) / next });
  }

  pan(dx, dy) {
    this.moveTo({ ...this.camera, x: this.camera.x - dx / this.camera.k, y: this.camera.y - dy / this.camera.k });
  }

  /** The scene has changed. */
  repaint() {
    this.dirty = true;
    this.size = Infinity;
    this.job = null;
    this.wake();
  }

  wake() {
    if (!this.request && !this.stopped) this.request = requestAnimationFrame((now) => this.frame(now));
  }

  frame(now) {
    this.request = 0;
    const took = this.last ? now - this.last : 0;
    this.last = now;
    if (took) {
      this.frames.push(took);
      if (this.frames.length > 600) this.frames.shift();
      if (this.job && took > SLOW_MS) this.portion = Math.max(250, this.portion * 0.6);
      else if (this.job && took < QUICK_MS) this.portion = Math.min(20_000, this.portion * 1.25);
    }
    if (this.size <= DIRECT && !this.job) {
      this.direct();
      return;
    }
    const moving = this.seen !== undefined && !same(this.seen, this.camera);
    this.seen = { ...this.camera };
    const there = this.shown && !this.dirty && same(this.shown.camera, this.camera);
    // A movement that the last picture covers only moves it; it is painted where it belongs once the movement rests.
    if (there || !(moving && this.covers())) {
      if (!there && !this.job) this.begin();
      if (this.job) this.work(moving);
    }
    this.blit();
    if (this.job || !this.shown || this.dirty || !same(this.shown.camera, this.camera)) this.wake();
    else this.last = 0;
  }

  /** Paint everything, where it belongs, at once; only while it is little. */
  direct() {
    const { context } = this;
    this.dirty = false;
    this.shown = null;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.setTransform(this.ratio, 0, 0, this.ratio, this.canvas.width / 2, this.canvas.height / 2);
    let size = 0;
    for (const portion of this.scene.paint(context, { ...this.camera }, { width: this.width, height: this.height })) size += portion;
    this.size = size;
    this.last = 0;
    this.told.painted?.();
  }

  begin() {
    this.dirty = false;
    const canvas = this.spare ?? document.createElement("canvas");
    this.spare = null;
    const width = this.width + 2 * MARGIN;
    const height = this.height + 2 * MARGIN;
    canvas.width = Math.round(width * this.ratio); // also clears it
    canvas.height = Math.round(height * this.ratio);
    const context = canvas.getContext("2d");
    context.setTransform(this.ratio, 0, 0, this.ratio, (width * this.ratio) / 2, (height * this.ratio) / 2);
    const camera = { ...this.camera };
    this.job = { canvas, camera, size: 0, steps: this.scene.paint(context, camera, { width, height }) };
  }

  /** Whether the last picture, moved and scaled to where the camera is, fills the window. */
  covers() {
    if (!this.shown || this.dirty) return false;
    const { camera } = this.shown;
    const scale = this.camera.k / camera.k;
    if (scale > STRETCH || scale < 1 / STRETCH) return false;
    const [dx, dy] = [Math.abs(camera.x - this.camera.x) * this.camera.k, Math.abs(camera.y - this.camera.y) * this.camera.k];
    return dx + this.width / 2 <= (this.width / 2 + MARGIN) * scale && dy + this.height / 2 <= (this.height / 2 + MARGIN) * scale;
  }

  work(moving = false) {
    let done = 0;
    const until = performance.now() + BUDGET_MS;
    while (done < this.portion && !(moving && done && performance.now() > until)) {
      const { value, done: over } = this.job.steps.next();
      if (over) {
        if (this.shown) this.spare = this.shown.canvas;
        this.shown = { canvas: this.job.canvas, camera: this.job.camera };
        this.size = this.job.size;
        this.job = null;
        this.told.painted?.();
        if (!performance.getEntriesByName("map-painted").length) performance.mark("map-painted"); // what benchmarks/explorer.py asks
        return;
      }
      done += value;
      this.job.size += value;
    }
  }

  blit() {
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    const picture = this.shown ?? this.job;
    if (!picture) return;
    const { camera } = picture;
    const scale = this.camera.k / camera.k;
    const x = (camera.x - this.camera.x) * this.camera.k * this.ratio + this.canvas.width / 2;
    const y = (camera.y - this.camera.y) * this.camera.k * this.ratio + this.canvas.height / 2;
    const w = picture.canvas.width * scale;
    const hgt = picture.canvas.height * scale;
    context.drawImage(picture.canvas, Math.round(x - w / 2), Math.round(y - hgt / 2), w, hgt);
  }

  place(event) {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  world(px, py) {
    return [this.camera.x + (px - this.width / 2) / this.camera.k, this.camera.y + (py - this.height / 2) / this.camera.k];
  }

  pickAt(event) {
    const [px, py] = this.place(event);
    const [x, y] = this.world(px, py);
    return this.scene.pick(x, y, this.camera);
  }

  listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button) return;
      canvas.setPointerCapture(event.pointerId);
      this.drag = { at: this.place(event), moved: 0, held: this.told.grab?.(this.pickAt(event)) ?? null };
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!this.drag) {
        const thing = this.pickAt(event);
        canvas.classList.toggle("on-thing", Boolean(thing));
        this.told.hover?.(thing, ...this.place(event));
        return;
      }
      const [x, y] = this.place(event);
      const [dx, dy] = [x - this.drag.at[0], y - this.drag.at[1]];
      this.drag.moved += Math.abs(dx) + Math.abs(dy);
      this.drag.at = [x, y];
      if (this.drag.moved <= 3) return;
      if (this.drag.held) this.drag.held.move(dx / this.camera.k, dy / this.camera.k);
      else this.pan(dx, dy);
    });
    canvas.addEventListener("pointerup", (event) => {
      const clicked = this.drag && this.drag.moved <= 3;
      if (!clicked) this.drag?.held?.drop();
      this.drag = null;
      if (clicked) this.told.select?.(this.pickAt(event));
    });
    canvas.addEventListener("pointercancel", () => (this.drag = null));
    canvas.addEventListener("pointerleave", () => this.told.hover?.(null, 0, 0));
    canvas.addEventListener("dblclick", (event) => this.told.open?.(this.pickAt(event)));
    canvas.addEventListener(
      "wheel",
      (event) => {
        if (this.told.scrolls && !event.ctrlKey && !event.metaKey) return; // the page scrolls
        event.preventDefault();
        const unit = event.deltaMode ? 16 : 1;
        this.zoom(Math.exp(-event.deltaY * unit * 0.0016), ...this.place(event));
      },
      { passive: false },
    );
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = event.shiftKey ? 160 : 50;
      const keys = {
        ArrowLeft: () => this.pan(step, 0),
        ArrowRight: () => this.pan(-step, 0),
        ArrowUp: () => this.pan(0, step),
        ArrowDown: () => this.pan(0, -step),
        "+": () => this.zoom(1.25),
        "=": () => this.zoom(1.25),
        "-": () => this.zoom(0.8),
        0: () => this.fit(),
        Enter: () => this.told.select?.(this.scene.pick(this.camera.x, this.camera.y, this.camera)),
      };
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}

function same(a, b) {
  return a.x === b.x && a.y === b.y && a.k === b.k;
}

/** Colours of the current theme, by the names of the style sheet's variables. */
export function colours() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const list = (name, n) => Array.from({ length: n }, (_, i) => read(`${name}-${i}`));
  return {
    text: read("text"),
    quiet: read("quiet"),
    back: read("back"),
    card: read("card"),
    line: read("line"),
    edge: read("edge"),
    accent: read("accent"),
    halo: read("back"),
    module: read("module"),
    test: read("test"),
    before: read("before"),
    after: read("after"),
    upward: read("bad"),
    heat: list("heat", 5),
    depth: list("depth", 5),
    soft: read("soft"),
    memory: read("memory"),
    groups: list("group", 6),
    kinds: Object.fromEntries(["CALLS", "IMPORTS", "REFERENCES", "INHERITS", "OVERRIDES", "USES_TYPE", "TESTS"].map((kind) => [kind, read(`kind-${kind.toLowerCase()}`)])),
  };
}

/** Labels that do not cover each other: the first who comes stays. They stay inside a window of some width around the middle. */
export class Labels {
  constructor(context, palette, width = Infinity) {
    this.context = context;
    this.palette = palette;
    this.half = width / 2 - 4;
    this.taken = []; // boxes: left, top, right, bottom
  }

  /** Width of a text in pixels. */
  width(text, size, weight = 500) {
    this.context.font = `${weight} ${size}px system-ui, sans-serif`;
    return this.context.measureText(text).width;
  }

  /** The box of a text around a place; null if there is no room for it. */
  room(text, x, y, size, { align = "center", weight = 500, force = false, clear = null } = {}) {
    const width = this.width(text, size, weight);
    let x0 = align === "center" ? x - width / 2 : align === "right" ? x - width : x;
    if (Math.abs(x) < this.half) x0 = Math.max(-this.half, Math.min(x0, this.half - width)); // what is named is seen, so its whole name is
    const box = [x0 - 3, y - size * 0.58, x0 + width + 3, y + size * 0.58];
    if (!force && this.taken.some((one) => one[0] < box[2] && box[0] < one[2] && one[1] < box[3] && box[1] < one[3])) return null;
    return clear && !clear(box) ? null : box;
  }

  /** Write a text around a place if there is room; says whether there was. */
  write(text, x, y, size, options = {}) {
    const { context } = this;
    const { weight = 500, colour = this.palette.text, plate = false } = options;
    const box = this.room(text, x, y, size, options);
    if (!box) return false;
    const x0 = box[0] + 3;
    context.font = `${weight} ${size}px system-ui, sans-serif`;
    this.taken.push(box);
    if (plate) {
      context.fillStyle = this.palette.back;
      context.fillRect(box[0] - 2, box[1], box[2] - box[0] + 4, box[3] - box[1]);
    }
    context.textAlign = "left";
    context.textBaseline = "middle";
    context.lineJoin = "round";
    context.lineWidth = 3;
    context.strokeStyle = this.palette.halo;
    context.strokeText(text, x0, y);
    context.fillStyle = colour;
    context.fillText(text, x0, y);
    return true;
  }
}
