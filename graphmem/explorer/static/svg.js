// A view as an SVG file: the scene paints into a context that writes elements down instead of pixels.

const NS = "http://www.w3.org/2000/svg";

/** Save what a stage shows now. */
export function svgOf(stage, name) {
  const text = svgText(stage);
  keep(text, "image/svg+xml", name);
  return text;
}

/** What a stage shows, as the text of an SVG file; anything with a `scene`, a size and a `camera` will do. */
export function svgText(stage) {
  const { width, height } = stage;
  const context = new SvgContext(width, height);
  for (const portion of stage.scene.paint(context, stage.camera, { width, height })) void portion;
  const lines = inLines((stage.scene.numbered?.() ?? []).map((name, n) => `${n + 1} ${name}`), (line) => line.length < width / 6);
  context.font = "400 10px system-ui, sans-serif";
  lines.forEach((line, n) => context.fillText(line, 8 - width / 2, height / 2 - 8 - 13 * (lines.length - 1 - n)));
  return new XMLSerializer().serializeToString(context.root);
}

/** Texts in as few lines as fit. */
function inLines(texts, fits) {
  const lines = [];
  for (const text of texts) {
    const longer = lines.length ? `${lines.at(-1)}, ${text}` : "";
    if (longer && fits(longer)) lines[lines.length - 1] = longer;
    else lines.push(text);
  }
  return lines;
}

/** An SVG file's text as the bytes of a PNG file, twice as large. */
export async function pngOf(text) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    const scale = Math.min(2, 8000 / Math.max(image.width, image.height, 1));
    [canvas.width, canvas.height] = [Math.ceil(image.width * scale), Math.ceil(image.height * scale)];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Give a text to the person as a file. */
export function keep(text, type, name) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement("a");
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** As much of CanvasRenderingContext2D as the scenes use; text goes in as text nodes. */
class SvgContext {
  constructor(width, height) {
    this.root = document.createElementNS(NS, "svg");
    this.root.setAttribute("xmlns", NS);
    this.root.setAttribute("viewBox", `${-width / 2} ${-height / 2} ${width} ${height}`);
    this.root.setAttribute("width", width);
    this.root.setAttribute("height", height);
    const style = getComputedStyle(document.documentElement).getPropertyValue("--back").trim();
    this.add("rect", { x: -width / 2, y: -height / 2, width, height, fill: style });
    this.globalAlpha = 1;
    this.lineWidth = 1;
    this.dash = [];
    this.measure = document.createElement("canvas").getContext("2d");
    this.beginPath();
  }

  add(tag, attributes, text = null) {
    const element = document.createElementNS(NS, tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text !== null) element.textContent = text;
    this.root.append(element);
  }

  beginPath() {
    this.path = [];
  }
  moveTo(x, y) {
    this.path.push(`M${r(x)} ${r(y)}`);
  }
  lineTo(x, y) {
    this.path.push(`L${r(x)} ${r(y)}`);
  }
  quadraticCurveTo(cx, cy, x, y) {
    this.path.push(`Q${r(cx)} ${r(cy)} ${r(x)} ${r(y)}`);
  }
  bezierCurveTo(ax, ay, bx, by, x, y) {
    this.path.push(`C${r(ax)} ${r(ay)} ${r(bx)} ${r(by)} ${r(x)} ${r(y)}`);
  }
  arc(x, y, radius) {
    this.path.push(`M${r(x - radius)} ${r(y)}a${r(radius)} ${r(radius)} 0 1 0 ${r(2 * radius)} 0a${r(radius)} ${r(radius)} 0 1 0 ${r(-2 * radius)} 0`);
  }
  rect(x, y, w, hgt) {
    this.path.push(`M${r(x)} ${r(y)}h${r(w)}v${r(hgt)}h${r(-w)}z`);
  }
  roundRect(x, y, w, hgt) {
    this.rect(x, y, w, hgt);
  }
  fillRect(x, y, width, height) {
    this.add("rect", { x: r(x), y: r(y), width: r(width), height: r(height), fill: this.fillStyle });
  }
  fill() {
    this.add("path", { d: this.path.join(""), fill: this.fillStyle, "fill-opacity": this.globalAlpha });
  }
  stroke() {
    const dash = this.dash.length ? { "stroke-dasharray": this.dash.join(" ") } : {};
    this.add("path", { d: this.path.join(""), fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-opacity": this.globalAlpha, ...dash });
  }
  setLineDash(dash) {
    this.dash = dash;
  }
  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }
  strokeText() {}
  fillText(text, x, y) {
    const [, weight, size] = /^(\d+) ([\d.]+)px/.exec(this.font) ?? [null, 500, 12];
    this.add(
      "text",
      { x: r(x), y: r(y), fill: this.fillStyle, "font-family": "system-ui, sans-serif", "font-size": size, "font-weight": weight, "dominant-baseline": "central", stroke: this.strokeStyle, "stroke-width": 0.01, "paint-order": "stroke" },
      text,
    );
  }
}

const r = (value) => Math.round(value * 100) / 100;
