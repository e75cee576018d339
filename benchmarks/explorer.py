"""Explorer page: first useful paint, page weight, and frame times while panning up to 50,000 nodes.

    python -m benchmarks explorer --repo PATH [--nodes 2000 20000 50000] [--paints 3] [--weight-alone]

PATH is a repository with enough symbols. Frames are a worst case: headless Chromium draws in software, a person's browser on a graphics
card. The first useful paint is the map on the screen, measured in the page from the start of the navigation, in a browser that never loaded
the page. The pan moves a map of symbols and edges from the server, drawn by the explorer's own stage. The control is a loop that draws
everything in every frame on the same canvas.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from browser import chromium
from report import parser, percentile, publish, table

from graphmem.api.app import build_app
from graphmem.api.serve import Server
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

FRAMES = 90
READY = "document.querySelector('.said')?.textContent.startsWith('Showing')"

# The map with every file's symbols, as if one were near enough to all of them, moved a few pixels a frame.
PAN = """
(async () => {
  const { Stage } = await import("/explore/assets/stage.js");
  const { MapScene } = await import("/explore/assets/map.js");
  const { ask } = await import("/explore/assets/api.js");
  const atlas = (await ask("Atlas", {})).atlas.columns;
  const wanted = %(nodes)d;
  const symbols = { ref: [], name: [], kind: [], file: [], line: [], test: [], dependents: [], x: [], y: [] };
  const edges = { src: [], dst: [], kind: [], confidence: [] };
  for (let at = 0; at < atlas.files.path.length && symbols.x.length < wanted; at += 300) {
    const asked = { paths: atlas.files.path.slice(at, at + 300), limit: Math.min(10000, wanted - symbols.x.length) };
    const got = (await ask("AtlasSymbols", asked)).atlasSymbols.columns;
    const base = symbols.x.length;
    for (const key of Object.keys(symbols)) symbols[key].push(...got.symbols[key]);
    for (let i = 0; i < got.edges.src.length; i++) {
      edges.src.push(got.edges.src[i] + base);
      edges.dst.push(got.edges.dst[i] + base);
      edges.kind.push(got.edges.kind[i]);
      edges.confidence.push(got.edges.confidence[i]);
    }
  }
  const scene = new MapScene(atlas);
  scene.symbols = { symbols, edges };
  scene.level = () => "symbols";
  const shown = symbols.x.length;
  let box = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < shown; i++) {
    const [x, y] = [symbols.x[i], symbols.y[i]];
    box = [Math.min(box[0], x), Math.min(box[1], y), Math.max(box[2], x), Math.max(box[3], y)];
  }
  scene.bounds = () => box;
  const canvas = document.createElement("canvas");
  canvas.style.cssText = "position:fixed;inset:0;width:100vw;height:100vh;z-index:99";
  document.body.append(canvas);
  const stage = new Stage(canvas, scene);
  const next = () => new Promise((done) => requestAnimationFrame(done));
  const begun = performance.now();
  while (stage.size === Infinity) await next();
  const settled = performance.now() - begun;
  const run = async (move) => {
    const took = [];
    let last = await next();
    for (let i = 0; i < %(frames)d; i++) {
      move(i);
      const now = await next();
      took.push(now - last);
      last = now;
    }
    return took;
  };
  const panned = await run((i) => stage.pan(i %% 60 < 30 ? 6 : -6, i %% 40 < 20 ? 3 : -3));
  stage.stop();
  const plain = %(plain)s ? await run(() => {
    const context = canvas.getContext("2d");
    context.setTransform(stage.ratio, 0, 0, stage.ratio, canvas.width / 2, canvas.height / 2);
    context.clearRect(-stage.width, -stage.height, 2 * stage.width, 2 * stage.height);
    for (const portion of scene.paint(context, stage.camera, { width: stage.width, height: stage.height })) void portion;
  }) : [];
  canvas.remove();
  return JSON.stringify({ nodes: shown, edges: edges.src.length, settled, panned, plain });
})()
"""
PAINT = "performance.getEntriesByName('map-painted')[0]?.startTime ?? 0"


@contextmanager
def served(repo: Path, index: Path) -> Iterator[str]:
    """Run a server of a repository; yield its address."""
    with GraphMem.open(index, repo=repo, settings=Settings(embedder="none")) as memory:
        if not memory.state().generation:
            memory.index(repo)
        server = Server(build_app(memory), "127.0.0.1", 0)
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(lambda host, port: ready.set(),))
        thread.start()
        ready.wait(30)
        try:
            yield f"http://127.0.0.1:{server.port}"
        finally:
            server.stop()
            thread.join(20)


def weight() -> dict[str, int]:
    """Return the bytes of all page files, plain and compressed."""
    entries = [entry.read_bytes() for entry in (files("graphmem.explorer") / "static").iterdir() if entry.is_file()]
    return {"files": len(entries), "bytes": sum(map(len, entries)), "gzip": sum(len(gzip.compress(one)) for one in entries)}


def paints(address: str, folder: Path, times: int) -> list[float]:
    """Return the milliseconds from navigation to the map on the screen.

    Each is measured in a browser that never saw the page.
    """
    found = []
    for number in range(times):
        with chromium(folder / f"paint{number}") as tab:
            tab.open(f"{address}/")
            tab.until(PAINT, 60)
            found.append(float(tab.value(PAINT)))
    return found


def pan(address: str, folder: Path, nodes: int, plain: bool) -> dict[str, Any]:
    """Return the frames of a pan over `nodes` nodes."""
    with chromium(folder / f"pan{nodes}") as tab:
        tab.open(f"{address}/explore/teach")
        tab.until("document.querySelector('textarea')")
        return json.loads(
            tab.value(PAN % {"nodes": nodes, "frames": FRAMES if nodes <= 20_000 else 45, "plain": "true" if plain else "false"})
        )


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--repo", type=Path, help="repository to index; default networkx's installed source")
    options.add_argument("--index", type=Path, help="keep the index here")
    options.add_argument("--nodes", type=int, nargs="+", default=[2_000, 20_000, 50_000])
    options.add_argument("--paints", type=int, default=3, help="how often the first paint is measured")
    options.add_argument("--weight-alone", action="store_true", help="measure only the size of the pages, into explorer_weight.json")
    given = options.parse_args()
    if given.weight_alone:
        heavy = weight()
        table(["files", "KB", "KB compressed"], [[heavy["files"], heavy["bytes"] / 1000, heavy["gzip"] / 1000]])
        publish("explorer_weight", {"weight": heavy}, given.out)
        return
    import networkx

    repo = given.repo or Path(networkx.__file__).parent
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with served(repo, given.index or folder / "index") as address:
            heavy = weight()
            painted = paints(address, folder, given.paints)
            table(
                ["page", "files", "KB", "KB compressed", "first useful paint, ms (median)", "(worst)"],
                [["explorer", heavy["files"], heavy["bytes"] / 1000, heavy["gzip"] / 1000, percentile(painted, 0.5), max(painted)]],
            )
            pans = [pan(address, folder, nodes, nodes <= 20_000) for nodes in given.nodes]
    print()
    table(
        ["nodes", "edges", "first whole picture, ms", "frame p50, ms", "p95", "worst", "drawing all in each: p50", "worst"],
        [
            [
                one["nodes"],
                one["edges"],
                one["settled"],
                percentile(one["panned"], 0.5),
                percentile(one["panned"], 0.95),
                max(one["panned"]),
                percentile(one["plain"], 0.5) if one["plain"] else "-",
                max(one["plain"]) if one["plain"] else "-",
            ]
            for one in pans
        ],
    )
    publish("explorer", {"repository": repo.name, "weight": heavy, "first_paint_ms": painted, "pans": pans}, given.out)


if __name__ == "__main__":
    sys.exit(main())
