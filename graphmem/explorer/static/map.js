// The map of the project as a scene of the stage: modules, then files, then symbols, by how near one is.

import { Labels, colours } from "./stage.js";
import { words } from "./words.js";

export const KINDS = ["CALLS", "IMPORTS", "REFERENCES", "INHERITS", "OVERRIDES", "USES_TYPE", "TESTS"];
const FILES_FROM = 54; // radius in pixels a typical module must have for its files to show
const SYMBOLS_FROM = 34; // likewise a file for its symbols
const PORTION = 400;
const MOST_LINES = 1_200; // between files at a time, the heaviest; a chosen file shows all of its own

export class MapScene {
  /** @param {object} columns  the answer of `atlas`. */
  constructor(columns) {
    this.kindNames = columns.kinds;
    this.modules = columns.modules;
    this.files = columns.files;
    this.moduleEdges = columns.moduleEdges;
    this.fileEdges = columns.fileEdges;
    this.heaviest = this.fileEdges.count.map((_, e) => e).sort((a, b) => this.fileEdges.count[b] - this.fileEdges.count[a] || a - b);
    this.filesOf = this.modules.name.map(() => []);
    this.files.module.forEach((module, file) => this.filesOf[module].push(file));
    this.shortNames = shortest(this.modules.name.map((name) => name || words.map.root));
    this.bands = columns.bands;
    this.blocks = columns.blocks;
    this.home = { module: { x: this.modules.x, y: this.modules.y }, file: { x: this.files.x, y: this.files.y } }; // where the server put them
    this.extent = this.bounds();
    this.entries = new Map(); // what people changed, by module
    this.unnamed = []; // modules that the last picture has a number for, in the order of the numbers
    this.crowded = []; // modules that it could not even number
    this.marks = []; // memories: { module, file | null, memories: [...], trust }
    this.fileAt = new Map(this.files.path.map((path, i) => [path, i]));
    this.symbols = null; // {columns, files: Set}
    this.settings = { kinds: new Set(KINDS), certainOnly: false, edges: true, symbols: true, memories: true, hidden: false, titles: true, heat: "dependents" };
    this.framed = []; // files of the directory that is shown, while nothing is chosen
    this.chosen = null; // {level: "module" | "file" | "symbol", index}
    this.limits = [0.02, 60];
    this.filesFrom = FILES_FROM;
    this.symbolsFrom = SYMBOLS_FROM;
    const radii = [...this.modules.r].sort((a, b) => b - a);
    this.typical = radii[Math.floor(radii.length / 4)] ?? 1;
    const fileRadii = [...this.files.r].sort((a, b) => a - b);
    this.typicalFile = fileRadii[Math.floor(fileRadii.length * 0.7)] ?? 1;
    this.extraHeat = new Map(); // path → heat of another measure
    this.heatCuts = null; // values of it at which a colour ends, when they are to be the same for every moment
    this.painted = null; // {level, told}: see paint.js
    this.retheme();
    this.reheat();
  }

  /** What people changed: names, colours, groups, notes, places; hidden modules are left out. */
  arrange(entries) {
    this.entries = new Map(entries.filter((one) => one.module !== undefined).map((one) => [one.module, one]));
    const { modules, files, home } = this;
    const [x0, y0, x1, y1] = this.extent;
    const moved = modules.name.map((name, i) => {
      const [fx, fy] = this.entries.get(name)?.pinned ?? [];
      return fx === undefined ? [0, 0] : [x0 + fx * (x1 - x0) - home.module.x[i], y0 + fy * (y1 - y0) - home.module.y[i]];
    });
    modules.x = home.module.x.map((x, i) => x + moved[i][0]);
    modules.y = home.module.y.map((y, i) => y + moved[i][1]);
    files.x = home.file.x.map((x, i) => x + moved[files.module[i]][0]);
    files.y = home.file.y.map((y, i) => y + moved[files.module[i]][1]);
    this.moved = moved;
    if (this.symbols) this.symbols = { ...this.symbols, symbols: this.shifted(this.symbols.home) };
    this.mine = modules.name.map((name) => this.entries.get(name) ?? null);
    this.hiddenNow = modules.name.map((_, i) => Boolean(this.mine[i]?.hidden) && !this.settings.hidden);
    this.shownNames = modules.name.map((name, i) => this.mine[i]?.name || this.shortNames[i]);
    this.groups = [...new Set(this.mine.map((one) => one?.group).filter(Boolean))].sort();
  }

  /** Symbols as the server placed them, moved with their modules. */
  shifted(symbols) {
    if (!this.moved) return symbols;
    const by = (i, axis) => this.moved[this.files.module[symbols.file[i]]][axis];
    return { ...symbols, x: symbols.x.map((x, i) => x + by(i, 0)), y: symbols.y.map((y, i) => y + by(i, 1)) };
  }

  /** Symbols to show, as the server gives them. */
  holdSymbols({ symbols, edges }) {
    this.symbols = { symbols: this.shifted(symbols), home: symbols, edges };
  }

  /** The place of a module as shares of the map, as it is kept. */
  share(i) {
    const [x0, y0, x1, y1] = this.extent;
    return [(this.modules.x[i] - x0) / (x1 - x0), (this.modules.y[i] - y0) / (y1 - y0)].map((one) => Math.min(2, Math.max(-1, Math.round(one * 1e4) / 1e4)));
  }

  /** Memories on what they are about; `memories`: { shortId, title, type, trust, files }. */
  remember(memories) {
    const byFile = new Map();
    for (const memory of memories) for (const path of new Set(memory.files)) {
      const file = this.fileAt.get(path);
      if (file === undefined) continue;
      if (!byFile.has(file)) byFile.set(file, []);
      byFile.get(file).push(memory);
    }
    this.marks = [...byFile].map(([file, some]) => ({ file, module: this.files.module[file], memories: some, trust: Math.max(...some.map((one) => one.trust)) }));
    const byModule = new Map();
    for (const mark of this.marks) {
      const held = byModule.get(mark.module) ?? new Set();
      for (const one of mark.memories) held.add(one);
      byModule.set(mark.module, held);
    }
    this.moduleMarks = [...byModule].map(([module, held]) => ({ module, file: null, memories: [...held], trust: Math.max(...[...held].map((one) => one.trust)) }));
  }

  retheme() {
    this.palette = colours();
  }

  bounds() {
    const { x, y, r } = this.modules;
    if (!x.length) return [0, 0, 1, 1];
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (let i = 0; i < x.length; i++) {
      if (this.hiddenNow?.[i]) continue;
      box[0] = Math.min(box[0], x[i] - r[i]);
      box[1] = Math.min(box[1], y[i] - r[i]);
      box[2] = Math.max(box[2], x[i] + r[i]);
      box[3] = Math.max(box[3], y[i] + r[i]);
    }
    for (const band of this.bands.top.keys()) {
      box[1] = Math.min(box[1], this.bands.top[band]);
      box[3] = Math.max(box[3], this.bands.bottom[band]);
    }
    for (const block of this.blocks.members.keys()) {
      box[0] = Math.min(box[0], this.blocks.left[block]);
      box[2] = Math.max(box[2], this.blocks.right[block]);
    }
    return box[0] === Infinity ? [0, 0, 1, 1] : box;
  }

  /** The scale at which everything is seen: there the map always shows modules. */
  fitted(k) {
    this.filesFrom = Math.max(FILES_FROM, 1.35 * this.typical * k);
    this.symbolsFrom = Math.max(SYMBOLS_FROM, 1.8 * this.typicalFile * k);
  }

  level(camera) {
    if (this.typicalFile * camera.k >= this.symbolsFrom && this.typical * camera.k >= this.filesFrom) return "symbols";
    return this.typical * camera.k >= this.filesFrom ? "files" : "modules";
  }

  /** Heat of each file and module, 0 to 4, by rank among those that have any. */
  reheat() {
    const { heat } = this.settings;
    const of = heat === "untested" ? (i) => this.files.functions[i] - this.files.tested[i] : heat === "size" ? (i) => this.files.symbols[i] : heat in this.files ? (i) => this.files[heat][i] : (i) => this.extraHeat.get(this.files.path[i]) ?? 0;
    this.heatOf = of;
    const place = this.heatCuts && !(heat in this.files) ? (values) => values.map((value) => (value > 0 ? this.heatCuts.filter((cut) => value > cut).length : 0)) : ranked;
    this.fileHeat = place(this.files.path.map((_, i) => of(i)));
    const dense = this.modules.name.map((_, m) => {
      const held = this.filesOf[m];
      return held.reduce((sum, i) => sum + Math.max(0, of(i)), 0) / Math.max(1, held.length);
    });
    this.moduleHeat = place === ranked ? ranked(dense) : this.modules.name.map((_, m) => this.hottest(m));
    this.moduleValue = dense;
  }

  /** Of colours that mean the same at every moment: that of a module's fifth hottest file, or of its coolest when it has fewer. */
  hottest(module) {
    const held = this.filesOf[module].map((i) => this.fileHeat[i]).sort((a, b) => b - a);
    return held[Math.min(4, held.length - 1)] ?? 0;
  }

  /** Paint files by something else than heat; null ends it. */
  paintOver(painted) {
    this.painted = painted;
    if (!painted) return;
    this.fileLevel = this.files.path.map((path) => painted.level.get(path) ?? -1);
    this.moduleLevel = this.filesOf.map((held) => Math.min(...held.map((i) => this.fileLevel[i]).filter((level) => level >= 0), 9));
  }

  /** Files whose symbols the camera is near enough for and which are not there yet. */
  wanted(camera, window, most) {
    if (!this.settings.symbols || this.level(camera) !== "symbols") return [];
    const found = this.filesIn(camera, window).filter((i) => this.files.symbols[i] && this.files.r[i] * camera.k > 10);
    const d = (i) => (this.files.x[i] - camera.x) ** 2 + (this.files.y[i] - camera.y) ** 2;
    return found.sort((a, b) => d(a) - d(b)).slice(0, most);
  }

  filesIn(camera, { width, height }) {
    const [w, hgt] = [width / 2 / camera.k, height / 2 / camera.k];
    const { x, y, r } = this.files;
    const found = [];
    for (let i = 0; i < x.length; i++) {
      if (this.hiddenNow?.[this.files.module[i]]) continue;
      if (Math.abs(x[i] - camera.x) < w + r[i] && Math.abs(y[i] - camera.y) < hgt + r[i]) found.push(i);
    }
    return found;
  }

  shows(kind, certain) {
    return this.settings.kinds.has(this.kindNames[kind]) && (!this.settings.certainOnly || certain);
  }

  *paint(context, camera, window) {
    const { palette, settings } = this;
    this.windowWidth = this.stageWidth?.() ?? window.width; // names of layers stand at the edge that is seen
    const { k } = camera;
    const sx = (x) => (x - camera.x) * k;
    const sy = (y) => (y - camera.y) * k;
    const level = this.level(camera);
    const labels = new Labels(context, palette, this.windowWidth);
    const m = this.modules;
    const near = Math.min(1, Math.max(0, (this.typical * k - this.filesFrom * 0.8) / (this.filesFrom * 0.4))); // 0: modules only, 1: files

    if (near < 1) yield* this.paintBands(context, labels, sx, sy, k, window, 1 - near);
    if (settings.edges && near < 1) yield* this.paintModuleEdges(context, sx, sy, k, 1 - near);
    for (let i = 0; i < m.x.length; i++) {
      if (this.hiddenNow?.[i]) continue;
      const mine = this.mine?.[i];
      context.beginPath();
      context.arc(sx(m.x[i]), sy(m.y[i]), m.r[i] * k, 0, 7);
      context.fillStyle = this.painted ? (this.moduleLevel[i] < 9 ? palette.depth[this.moduleLevel[i]] : palette.card) : mine?.colour ? mine.colour : near < 0.99 ? palette.heat[this.moduleHeat[i]] : palette.card;
      context.globalAlpha = this.painted ? 0.3 : 1 - 0.45 * near;
      context.fill();
      context.globalAlpha = 1;
      context.lineWidth = mine?.group ? 3 : 1;
      context.strokeStyle = mine?.group ? palette.groups[this.groups.indexOf(mine.group) % palette.groups.length] : palette.edge;
      context.stroke();
      if (i % PORTION === PORTION - 1) yield PORTION;
    }
    yield m.x.length % PORTION;

    if (level !== "modules" || near > 0 || this.painted) {
      if (settings.edges && level === "files" && near > 0.5) {
        const lively = this.chosen ? 0.06 : 0.13;
        yield* this.paintEdges(context, this.fileEdges, this.files, sx, sy, k, lively, window, (i) => !this.hiddenNow?.[this.files.module[i]]);
      }
      const visible = this.filesIn(camera, window);
      const shade = [[], [], [], [], [], []];
      const colour = this.painted ? (i) => (this.fileLevel[i] < 0 ? 5 : this.fileLevel[i]) : (i) => this.fileHeat[i];
      for (const i of visible) shade[colour(i)].push(i);
      for (let heat = 5; heat >= 0; heat--) {
        const strength = this.painted && heat < 5 ? 1 : Math.max(near, 0.15); // what is painted is seen from afar
        context.globalAlpha = strength * (level === "symbols" ? 0.35 : 0.95);
        context.fillStyle = this.painted ? (palette.depth[heat] ?? palette.soft) : palette.heat[heat];
        for (let at = 0; at < shade[heat].length; at += PORTION) {
          const some = shade[heat].slice(at, at + PORTION);
          context.beginPath();
          for (const i of some) disc(context, sx(this.files.x[i]), sy(this.files.y[i]), this.files.r[i] * k);
          context.fill();
          yield some.length;
        }
      }
      context.globalAlpha = 1;
      if (level === "symbols") yield* this.paintSymbols(context, sx, sy, k, window);
    }
    if (this.chosen) yield* this.paintChosen(context, sx, sy, k, window);
    else if (this.framed.length) yield* this.paintFramed(context, sx, sy, k);
    if (settings.memories) yield* this.paintMarks(context, camera, window, level, sx, sy);
    yield* this.paintLabels(labels, camera, window, level, near, sx, sy);
  }

  /** Layers as stripes with their names at the left edge, and a frame around the modules of each cycle. */
  *paintBands(context, labels, sx, sy, k, { width, height }, alpha) {
    const { bands, blocks, palette } = this;
    bands.layer.forEach((layer, i) => {
      const [y0, y1] = [sy(bands.top[i]), sy(bands.bottom[i])];
      if (y1 < -height / 2 || y0 > height / 2) return;
      if (i % 2 === 0) {
        context.globalAlpha = 0.45 * alpha;
        context.fillStyle = palette.soft;
        context.fillRect(-width / 2, y0, width, y1 - y0);
        context.globalAlpha = 1;
      }
    });
    blocks.members.forEach((members, i) => {
      if (this.mine?.some((one, m) => one?.pinned?.length && members.includes(m))) return; // moved by a person: a frame would lie
      const [x0, y0, x1, y1] = [sx(blocks.left[i]), sy(blocks.top[i]), sx(blocks.right[i]), sy(blocks.bottom[i])];
      context.globalAlpha = 0.9 * alpha;
      context.strokeStyle = palette.quiet;
      context.lineWidth = 1.2;
      context.setLineDash([6, 5]);
      context.beginPath();
      context.roundRect(x0, y0, x1 - x0, y1 - y0, 10);
      context.stroke();
      context.setLineDash([]);
      context.globalAlpha = 1;
      if (alpha > 0.5) labels.write(words.map.ring(members.length), Math.min(x1, this.windowWidth / 2 - 10) - 10, y0, 11, { align: "right", weight: 600, colour: palette.quiet, plate: true });
    });
    if (alpha > 0.5)
      bands.layer.forEach((layer, i) => {
        const [y0, y1] = [sy(bands.top[i]), sy(bands.bottom[i])];
        if (y1 < -height / 2 || y0 > height / 2 || y1 - y0 <= 14) return;
        labels.write(words.map.band(layer, this.testsOnly(layer)), 10 - this.windowWidth / 2, Math.max(y0, -height / 2) + 9, 11, { align: "left", weight: 650, colour: palette.quiet, plate: true }); // above the frames
      });
    yield bands.layer.length + blocks.members.length;
  }

  /** Whether a layer holds nothing but tests. */
  testsOnly(layer) {
    return this.modules.layer.every((one, m) => one !== layer || this.filesOf[m].every((i) => this.files.role[i] === "test"));
  }

  /** Memories: a diamond on each file or module that some are about, larger the more they are trusted. */
  *paintMarks(context, camera, { width, height }, level, sx, sy) {
    const { k } = camera;
    const some = level === "modules" ? this.moduleMarks : this.marks;
    const ends = level === "modules" ? this.modules : this.files;
    if (!some?.length) return;
    this.placed = [];
    context.fillStyle = this.palette.memory;
    context.strokeStyle = this.palette.card;
    context.lineWidth = 1.5;
    for (const mark of some) {
      const at = level === "modules" ? mark.module : mark.file;
      if (this.hiddenNow?.[mark.module]) continue;
      const reach = ends.r[at] * k * 0.72;
      const [x, y] = [sx(ends.x[at]) + reach, sy(ends.y[at]) - reach];
      if (Math.abs(x) > width / 2 || Math.abs(y) > height / 2) continue;
      const r = 3 + 4 * Math.min(1, mark.trust);
      context.beginPath();
      context.moveTo(x, y - r);
      context.lineTo(x + r, y);
      context.lineTo(x, y + r);
      context.lineTo(x - r, y);
      context.lineTo(x, y - r);
      context.fill();
      context.stroke();
      this.placed.push({ x: camera.x + x / k, y: camera.y + y / k, r: r + 2, mark });
    }
    yield some.length * 2;
  }

  /** One curve for each pair of modules, the strongest only; those worth cutting in a colour of their own. */
  *paintModuleEdges(context, sx, sy, k, alpha) {
    const { modules: m, moduleEdges: edges } = this;
    const pairs = new Map();
    const against = new Map(); // edges whose cutting takes a module out of its cycle; others between the same two, as those of tests, do not
    for (let e = 0; e < edges.src.length; e++) {
      if (!this.shows(edges.kind[e], edges.certain[e] > 0)) continue;
      const key = edges.src[e] * m.x.length + edges.dst[e];
      if (this.hiddenNow?.[edges.src[e]] || this.hiddenNow?.[edges.dst[e]]) continue;
      if (edges.cut[e]) against.set(key, edges.cut[e]);
      pairs.set(key, (pairs.get(key) ?? 0) + edges.count[e]);
    }
    const order = [...pairs].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, Math.max(24, Math.round(m.x.length * 2.5)));
    const most = Math.log(1 + (order[0]?.[1] ?? 1));
    const line = (key, count, colour, least) => {
      const [a, b] = [Math.floor(key / m.x.length), key % m.x.length];
      const strength = Math.log(1 + count) / most;
      context.strokeStyle = colour;
      context.globalAlpha = alpha * Math.max(least, 0.12 + 0.5 * strength ** 2);
      context.lineWidth = 0.7 + 3.5 * strength ** 2;
      context.beginPath();
      arc(context, sx(m.x[a]), sy(m.y[a]), sx(m.x[b]), sy(m.y[b]));
      context.stroke();
    };
    for (const [key, count] of order.reverse()) if (count > (against.get(key) ?? 0)) line(key, count - (against.get(key) ?? 0), this.palette.quiet, 0);
    for (const [key, count] of against) line(key, count, this.palette.upward, 0.8); // few, and to be found however thin
    context.globalAlpha = 1;
    yield order.length * 3;
  }

  *paintEdges(context, edges, ends, sx, sy, k, alpha, { width, height }, may = () => true) {
    const groups = new Map();
    const [w, hgt] = [width / 2, height / 2];
    let room = MOST_LINES;
    for (const e of this.heaviest) {
      if (!this.shows(edges.kind[e], edges.certain[e] > 0)) continue;
      const [a, b] = [edges.src[e], edges.dst[e]];
      if (!may(a) || !may(b)) continue;
      const [x1, y1, x2, y2] = [sx(ends.x[a]), sy(ends.y[a]), sx(ends.x[b]), sy(ends.y[b])];
      if (Math.max(x1, x2) < -w || Math.min(x1, x2) > w || Math.max(y1, y2) < -hgt || Math.min(y1, y2) > hgt) continue;
      const thick = Math.min(3, Math.floor(Math.log10(edges.count[e] + 1)));
      const key = edges.kind[e] * 8 + thick * 2 + (edges.certain[e] > 0 ? 1 : 0);
      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push([x1, y1, x2, y2]);
      if (!--room) break;
    }
    for (const [key, lines] of [...groups].sort((a, b) => a[0] - b[0])) {
      context.strokeStyle = this.palette.kinds[this.kindNames[key >> 3]] ?? this.palette.line;
      context.lineWidth = 0.8 + ((key >> 1) & 3) * 1.3;
      context.globalAlpha = alpha;
      context.setLineDash(key & 1 ? [] : [5, 4]);
      for (let at = 0; at < lines.length; at += PORTION) {
        context.beginPath();
        for (const [x1, y1, x2, y2] of lines.slice(at, at + PORTION)) arc(context, x1, y1, x2, y2);
        context.stroke();
        yield Math.min(PORTION, lines.length - at) * 2;
      }
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  *paintSymbols(context, sx, sy, k, { width, height }) {
    if (!this.symbols) return;
    const { symbols, edges } = this.symbols;
    const [w, hgt] = [width / 2, height / 2];
    const inside = (i) => Math.abs(sx(symbols.x[i])) < w && Math.abs(sy(symbols.y[i])) < hgt;
    if (this.settings.edges) {
      const groups = new Map();
      for (let e = 0; e < edges.src.length; e++) {
        if (!this.shows(edges.kind[e], edges.confidence[e] >= 0.8)) continue;
        if (!inside(edges.src[e]) && !inside(edges.dst[e])) continue;
        const key = edges.kind[e] * 2 + (edges.confidence[e] >= 0.8 ? 1 : 0);
        if (!groups.has(key)) groups.set(key, []);
        groups.get(key).push(e);
      }
      context.lineWidth = 1;
      for (const [key, some] of groups) {
        context.strokeStyle = this.palette.kinds[this.kindNames[key >> 1]] ?? this.palette.line;
        context.setLineDash(key & 1 ? [] : [4, 3]);
        context.globalAlpha = some.length > 1500 ? 0.18 : 0.4;
        for (let at = 0; at < some.length; at += PORTION) {
          context.beginPath();
          for (const e of some.slice(at, at + PORTION)) {
            arc(context, sx(symbols.x[edges.src[e]]), sy(symbols.y[edges.src[e]]), sx(symbols.x[edges.dst[e]]), sy(symbols.y[edges.dst[e]]));
          }
          context.stroke();
          yield Math.min(PORTION, some.length - at) * 2;
        }
      }
      context.setLineDash([]);
      context.globalAlpha = 1;
    }
    const colourOf = { class: this.palette.accent, interface: this.palette.accent, enum: this.palette.accent, type: this.palette.accent };
    const byColour = new Map();
    for (let i = 0; i < symbols.x.length; i++) {
      if (!inside(i)) continue;
      const colour = symbols.test[i] ? this.palette.test : (colourOf[symbols.kind[i]] ?? this.palette.module);
      if (!byColour.has(colour)) byColour.set(colour, []);
      byColour.get(colour).push(i);
    }
    for (const [colour, some] of byColour) {
      context.fillStyle = colour;
      for (let at = 0; at < some.length; at += PORTION) {
        context.beginPath();
        for (const i of some.slice(at, at + PORTION)) disc(context, sx(symbols.x[i]), sy(symbols.y[i]), symbolRadius(k));
        context.fill();
        yield Math.min(PORTION, some.length - at);
      }
    }
  }

  *paintFramed(context, sx, sy, k) {
    const { x, y, r } = this.files;
    context.strokeStyle = this.palette.text;
    context.lineWidth = 2.5;
    for (const i of this.framed) {
      context.beginPath();
      context.arc(sx(x[i]), sy(y[i]), Math.max(4, r[i] * k), 0, 7);
      context.stroke();
    }
    yield this.framed.length;
  }

  *paintChosen(context, sx, sy, k, window) {
    const { level, index } = this.chosen;
    const ends = level === "module" ? this.modules : level === "file" ? this.files : this.symbols?.symbols;
    if (!ends || ends.x[index] === undefined) return;
    const edges = level === "module" ? this.moduleEdges : level === "file" ? this.fileEdges : this.symbols.edges;
    for (const [mine, other, colour] of [
      ["src", "dst", this.palette.before],
      ["dst", "src", this.palette.after],
    ]) {
      context.strokeStyle = colour;
      context.fillStyle = colour;
      context.lineWidth = 1.8;
      context.beginPath();
      const touched = [];
      for (let e = 0; e < edges.src.length; e++) {
        if (edges[mine][e] !== index || !this.shows(edges.kind[e], edges.certain ? edges.certain[e] > 0 : edges.confidence[e] >= 0.8)) continue;
        const there = edges[other][e];
        touched.push(there);
        arc(context, sx(ends.x[edges.src[e]]), sy(ends.y[edges.src[e]]), sx(ends.x[edges.dst[e]]), sy(ends.y[edges.dst[e]]));
      }
      context.globalAlpha = Math.min(0.8, 0.12 + 14 / (touched.length + 1));
      context.lineWidth = touched.length > 40 ? 1 : 1.8;
      context.stroke();
      context.globalAlpha = 1;
      context.lineWidth = touched.length > 40 ? 1.3 : 2;
      for (const there of touched) {
        context.beginPath();
        context.arc(sx(ends.x[there]), sy(ends.y[there]), Math.max(4, (ends.r ? ends.r[there] * k : symbolRadius(k)) + 1), 0, 7);
        context.stroke();
      }
      yield touched.length * 3;
    }
    context.strokeStyle = this.palette.text;
    context.lineWidth = 3;
    context.beginPath();
    context.arc(sx(ends.x[index]), sy(ends.y[index]), Math.max(6, ends.r ? ends.r[index] * k : symbolRadius(k) + 2), 0, 7);
    context.stroke();
    yield 1;
  }

  *paintLabels(labels, camera, window, level, near, sx, sy) {
    const { k } = camera;
    const m = this.modules;
    const order = m.name.map((_, i) => i).sort((a, b) => m.r[b] - m.r[a]);
    if (this.chosen?.level === "file") {
      const i = this.chosen.index;
      const above = level === "symbols" ? this.files.r[i] * k + 8 : 0; // the names of its symbols are inside it
      labels.write(base(this.files.path[i]), sx(this.files.x[i]), sy(this.files.y[i]) - above, 14, { weight: 700, force: true });
    }
    if (this.chosen?.level === "symbol" && this.symbols) {
      const { symbols } = this.symbols;
      const i = this.chosen.index;
      labels.write(symbols.name[i], sx(symbols.x[i]), sy(symbols.y[i]) - 14, 14, { weight: 700, force: true });
    }
    const unnamed = [];
    for (const i of order) {
      const r = m.r[i] * k;
      if (this.hiddenNow?.[i]) continue;
      const name = this.shownNames?.[i] ?? this.shortNames[i];
      const [x, y] = [sx(m.x[i]), sy(m.y[i])];
      if (near > 0.5) {
        if (r >= 4) labels.write(name, x, y - r - 10, 13, { weight: 700, colour: this.palette.quiet });
        continue;
      }
      const size = Math.max(11, Math.min(16, r / 4));
      const inside = labels.width(name, size, 600) < 1.9 * r;
      const below = inside ? 0 : 9;
      const free = { weight: 600, clear: (box) => this.clear(box, i, sx, sy, k) };
      const beside = (text) => labels.write(text, x + r + 5, y, 11, { ...free, align: "left" }) || labels.write(text, x - r - 5, y, 11, { ...free, align: "right" });
      const outside = (text) => labels.write(text, x, y + r + below, 11, free) || labels.write(text, x, y - r - below, 11, free) || beside(text) || labels.write(text, x, y + r + below, 11, { weight: 600 });
      const lines = (first, second, from) => labels.write(second, x, from + 13, 11, free) && labels.write(first, x, from, 11, { ...free, clear: null });
      const twoLines = ([first, second]) => second && (lines(first, second, y + r + below) || lines(first, second, y - r - below - 13));
      const named = inside ? labels.write(name, x, y, size, { weight: 600 }) : outside(name) || twoLines(halves(name)) || (name.length > 12 && outside(`${name.slice(0, 10)}…`));
      if (!named && Math.abs(x) < this.windowWidth / 2 && Math.abs(y) < window.height / 2) unnamed.push(i);
    }
    this.number(labels, unnamed, k, sx, sy);
    if (this.settings.titles && near < 0.3) {
      for (const i of order) {
        const r = m.r[i] * k;
        const title = this.mine?.[i]?.note ? "" : m.worded?.[i] ? m.title[i].replaceAll(", ", " · ") : m.title[i];
        if (!title || r < 12 || this.hiddenNow?.[i]) continue;
        const name = this.shownNames?.[i] ?? this.shortNames[i];
        const size = Math.max(11, Math.min(16, r / 4));
        const inside = labels.width(name, size, 600) < 1.9 * r;
        const write = (lines, from, colour, clear = null) => {
          const options = { weight: 400, colour, clear };
          const fits = lines.every((line, n) => labels.room(line, sx(m.x[i]), from + 13 * n, 11, options)); // the whole of it, or nothing
          return fits && lines.map((line, n) => labels.write(line, sx(m.x[i]), from + 13 * n, 11, { ...options, force: true })).length;
        };
        const within = inside ? wrapped(title, (text) => labels.width(text, 11, 400) < 1.7 * r, Math.max(0, Math.min(3, Math.floor((r * 0.8 - size) / 13)))) : [];
        if (within.join(" ").length >= Math.min(18, title.length)) write(within, sy(m.y[i]) + size * 0.6 + 10, this.palette.text);
        else [2, 1].some((most) => write(wrapped(title, (text) => labels.width(text, 11, 400) < Math.max(1.7 * r, 130), most), sy(m.y[i]) + r + (inside ? 9 : 22), this.palette.quiet, (box) => this.clear(box, i, sx, sy, k)));
      }
    }
    yield order.length;
    if (near > 0.5) {
      const visible = this.filesIn(camera, window).sort((a, b) => this.files.r[b] - this.files.r[a]);
      let written = 0;
      const named = this.chosen?.level === "file" ? this.chosen.index : -1; // above, and larger
      for (const i of visible) {
        if (i === named) continue;
        const r = this.files.r[i] * k;
        if (r < 13 || written > 160) break;
        const y = level === "symbols" ? sy(this.files.y[i]) - r - 8 : sy(this.files.y[i]);
        if (labels.write(base(this.files.path[i]), sx(this.files.x[i]), y, level === "symbols" ? 13 : 11, { weight: level === "symbols" ? 700 : 500 })) written++;
      }
      yield visible.length;
    }
    if (level === "symbols" && this.symbols && k > 3.4) {
      const { symbols } = this.symbols;
      const [w, hgt] = [window.width / 2, window.height / 2];
      const visible = [];
      for (let i = 0; i < symbols.x.length; i++) if (Math.abs(sx(symbols.x[i])) < w && Math.abs(sy(symbols.y[i])) < hgt) visible.push(i);
      visible.sort((a, b) => symbols.dependents[b] - symbols.dependents[a]);
      const written = this.chosen?.level === "symbol" ? this.chosen.index : -1; // above, and larger
      for (const i of visible.slice(0, 260)) if (i !== written) labels.write(symbols.name[i], sx(symbols.x[i]), sy(symbols.y[i]) + symbolRadius(k) + 8, 11);
      yield Math.min(260, visible.length) * 4;
    }
  }

  /** Names of the modules that the last picture has a number for, in the order of the numbers. */
  numbered() {
    return this.unnamed.map((i) => this.shownNames?.[i] ?? this.shortNames[i]);
  }

  /** Write a number in or at each module whose name has no room. `unnamed` has them in order, `crowded` those without room for a number. */
  number(labels, unnamed, k, sx, sy) {
    const { x, y, r } = this.modules;
    this.unnamed = [];
    this.crowded = [];
    for (const i of unnamed) {
      const text = String(this.unnamed.length + 1);
      const away = r[i] * k + 7;
      const free = { weight: 650, colour: this.palette.text };
      const fits = [[0, 0], [away, 0], [-away, 0], [0, away], [0, -away]].some(([dx, dy]) => labels.write(text, sx(x[i]) + dx, sy(y[i]) + dy, 10, free));
      (fits ? this.unnamed : this.crowded).push(i);
    }
  }

  /** Whether a box of a label covers no other module than its own. */
  clear([left, top, right, bottom], own, sx, sy, k) {
    const { x, y, r } = this.modules;
    return x.every((_, i) => {
      if (i === own || this.hiddenNow?.[i]) return true;
      const [cx, cy] = [sx(x[i]), sy(y[i])];
      return Math.hypot(cx - Math.max(left, Math.min(cx, right)), cy - Math.max(top, Math.min(cy, bottom))) > r[i] * k;
    });
  }

  pick(x, y, camera) {
    const level = this.level(camera);
    if (this.settings.memories) {
      const hit = this.placed?.find((one) => Math.hypot(one.x - x, one.y - y) * camera.k < one.r);
      if (hit) return { level: "memory", index: hit.mark.memories[0].shortId, mark: hit.mark };
    }
    if (level === "symbols" && this.symbols) {
      const { symbols } = this.symbols;
      const reach = Math.max(symbolRadius(camera.k), 7) / camera.k;
      let best = -1;
      let least = reach * reach;
      for (let i = 0; i < symbols.x.length; i++) {
        const d = (symbols.x[i] - x) ** 2 + (symbols.y[i] - y) ** 2;
        if (d < least) [best, least] = [i, d];
      }
      if (best >= 0) return { level: "symbol", index: best };
    }
    if (level !== "modules") {
      const { files } = this;
      for (let i = 0; i < files.x.length; i++) {
        if ((files.x[i] - x) ** 2 + (files.y[i] - y) ** 2 < files.r[i] ** 2 && !this.hiddenNow?.[files.module[i]]) return { level: "file", index: i };
      }
    }
    for (let i = 0; i < this.modules.x.length; i++) {
      if (this.hiddenNow?.[i]) continue;
      if ((this.modules.x[i] - x) ** 2 + (this.modules.y[i] - y) ** 2 < this.modules.r[i] ** 2) return { level: "module", index: i };
    }
    return null;
  }

  /** What a module does; or, without documentation, the frequent words of its names, said to be just that. */
  purpose(module) {
    const title = this.modules.title[module];
    return title && this.modules.worded?.[module] ? words.map.frequent(title) : title;
  }

  /** One line about a thing. */
  told({ level, index, mark }) {
    if (level === "memory") return words.map.memories_here(mark.memories.length, mark.memories[0].title);
    if (level === "module") {
      const mine = this.mine?.[index];
      const named = this.modules.name[index] || words.map.root;
      const said = words.map.module(mine?.name ? `${mine.name} (${named})` : named, this.modules.files[index], this.modules.symbols[index]);
      const more = mine?.note || this.purpose(index);
      if (!this.painted) return more ? `${said}. ${more}` : said;
      return `${said}; ${words.paint.of_module(this.filesOf[index].filter((i) => this.fileLevel[i] >= 0).length)}`;
    }
    if (level === "file") {
      const painted = this.painted?.told.get(this.files.path[index]);
      const measured = this.measured?.(index);
      if (measured) return `${this.files.path[index]}: ${measured}`;
      return painted ? `${this.files.path[index]}: ${painted}` : words.map.file(this.files.path[index], this.files.symbols[index], this.files.dependents[index]);
    }
    const { symbols } = this.symbols;
    return words.map.symbol(symbols.ref[index], symbols.kind[index], symbols.dependents[index]);
  }
}

/** Radius of a symbol in pixels. */
function symbolRadius(k) {
  return Math.max(1.6, Math.min(9, 0.55 * k));
}

/** Places 0 to 4 by rank among the values above zero. */
function ranked(values) {
  const sorted = values.filter((value) => value > 0).sort((a, b) => a - b);
  const place = (value) => {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] <= value) low = middle + 1;
      else high = middle;
    }
    return low / sorted.length;
  };
  return values.map((value) => (value <= 0 ? 0 : [0.35, 0.65, 0.85, 0.95].filter((cut) => place(value) > cut).length));
}

const VAGUE = /^(.{1,3}|v\d+\w*|apps?|base|common|core|helpers?|impl|index|internal|libs?|library|main|misc|models?|shared|src|tests?|types|utils?)$/i;

/** Each name's last part, or as much more of it as tells it from the others and says something. */
export function shortest(names) {
  const ends = (parts) => {
    const last = (folder) => folder.split("/").filter((part, i, all) => part !== "src" || all.length === 1).slice(-parts).join("/");
    const made = names.map((name) => {
      const [folders, ...apart] = name.split(": "); // "app/shop: cart, tax", "store/rows + build/perf"
      return [folders.split(" + ").map(last).join(" + "), ...apart].join(": ");
    });
    return made.map((one) => (made.filter((other) => other === one).length > 1 ? null : one));
  };
  const [one, two] = [ends(1), ends(2)];
  return names.map((name, i) => (VAGUE.test(one[i] ?? "") ? null : one[i]) ?? two[i] ?? name);
}

/** A name in two parts of about the same length, broken after a separator; one part if it has none. */
export function halves(name) {
  const breaks = [...name.matchAll(/[ /_-]+/g)].map((one) => one.index + one[0].length).filter((at) => at < name.length);
  if (!breaks.length) return [name];
  const at = breaks.reduce((best, one) => (Math.abs(one - name.length / 2) < Math.abs(best - name.length / 2) ? one : best));
  return [name.slice(0, at).trim(), name.slice(at)];
}

/** A text in at most so many lines that fit. If there is more, a list of words ends after one of them, a sentence with an ellipsis. */
function wrapped(text, fits, most) {
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line ? `${line} ${word}` : word;
    if (fits(longer)) {
      line = longer;
      continue;
    }
    if (!line) return lines; // a word wider than the room
    lines.push(line);
    line = word;
    if (lines.length === most) break;
  }
  if (lines.length < most) return (line && fits(line) ? [...lines, line] : lines).map((one) => one.replace(/^· | ·$/g, ""));
  const isList = text.includes(" · ") && text.split(" · ").every((item) => !item.includes(" "));
  if (most && lines.join(" ").length < text.length) lines[most - 1] = `${lines[most - 1].replace(/[,;:]$/, "")}${isList ? "" : "…"}`;
  return lines.slice(0, most).map((one) => one.replace(/^· | ·$/g, ""));
}

function disc(context, x, y, r) {
  if (r < 1.5) {
    context.rect(x - r, y - r, 2 * r, 2 * r); // as small as this a square looks the same and costs a third
    return;
  }
  context.moveTo(x + r, y);
  context.arc(x, y, r, 0, 7);
}

function arc(context, x1, y1, x2, y2) {
  const [dx, dy] = [x2 - x1, y2 - y1];
  context.moveTo(x1, y1);
  context.quadraticCurveTo((x1 + x2) / 2 - dy * 0.12, (y1 + y2) / 2 + dx * 0.12, x2, y2);
}

export function base(path) {
  return path.split("/").at(-1);
}
