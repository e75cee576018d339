"""Latency of hovers, definitions, references and lenses in an editor, and the cost of `graphmem lsp`.

    python -m benchmarks editor REPOSITORY --db DIR [--hovers 300] [--files 30] [--seed 1] [--starts 3]

The benchmark starts `graphmem lsp` over standard streams on an existing index, as an editor does, and sends one request at a time. First
answers come from new processes: "cold" without a running server, "warm" with a server that an earlier process started. Other hovers are at
random names of random files with a warm server; half of the documents have unsaved lines above. Definitions, references, code
lenses of a file of 2,000 lines, and its outline over GraphQL follow.

Memory is that of the process `graphmem lsp` after all requests. Processor time is that of both processes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import report
from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

QUIET_S = 0.05  # processor time of an idle server in a second
FIRST = ("s", "lsp_cpu_s", "server_cpu_s", "lsp_mb")
UNSAVED = "# not saved\n# not saved\n"


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--db", type=Path, required=True, help="directory of an existing index")
    parser.add_argument("--hovers", type=int, default=300)
    parser.add_argument("--files", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--starts", type=int, default=3, help="cold starts and warm starts")
    options = parser.parse_args()
    result = asyncio.run(measured(options))
    report.table(["what", "p50 ms", "p95 ms", "most ms"], [[name, *row.values()] for name, row in result["waits"].items()])
    print(f"\n{result['symbols']:,} symbols")
    head = ["first answer", "median s", "CPU s of lsp", "CPU s of the server", "MB of lsp"]
    report.table(head, [[name, *row.values()] for name, row in result["first_answers"].items()])
    print(f"memory of graphmem lsp: {result['memory_mb']:.0f} MB")
    print(f"outline of {result['lenses_lines']:,} lines over GraphQL: {result['outline_ms']} ms")
    print(f"{result['empty_hovers']} of {options.hovers} hovers were empty")
    report.publish("editor", result, options.out)


async def measured(options: Any) -> dict[str, Any]:
    root: Path = options.repository.resolve()
    chance = random.Random(options.seed)
    files = sorted(path for path in root.rglob("*.py") if path.stat().st_size > 2_000)
    at_least = [path for path in files if path.read_bytes().count(b"\n") >= 2_000]
    largest = min(at_least, key=lambda path: path.stat().st_size) if at_least else max(files, key=lambda path: path.stat().st_size)
    chosen = [*chance.sample(files, min(options.files, len(files))), largest]
    firsts: dict[str, list[tuple[float, ...]]] = {"cold": [], "warm": []}
    for _ in range(options.starts):
        for name, rows in firsts.items():
            client, row = await started(options, root, chosen[:1])
            rows.append(row)
            await ended(client)
            if name == "warm":
                stop(options.db)
    client, _ = await started(options, root, chosen)
    owner = json.loads((options.db / "owner.json").read_text())

    from graphmem.client.remote import RemoteGraphMem

    service = RemoteGraphMem(owner["address"], owner["token"])
    service.wait_until_ready()
    asked = []
    for number, path in enumerate(chosen):
        for one in service.occurrences(path.relative_to(root).as_posix()).occurrences:
            line = one.range.line - 1 + (UNSAVED.count("\n") if number % 2 else 0)
            asked.append(lsp.HoverParams(lsp.TextDocumentIdentifier(path.as_uri()), lsp.Position(line, one.range.utf16_column)))
    asked = chance.sample(asked, min(options.hovers, len(asked)))
    waits: dict[str, list[float]] = {"hover": [], "definition": [], "references": [], "code lenses": []}
    empty = 0

    async def timed(name: str, question: Any) -> Any:
        at = time.perf_counter()
        found = await question
        waits[name].append((time.perf_counter() - at) * 1000)
        return found

    was = -1.0
    while used(owner["pid"]) - was > QUIET_S:  # until the server has loaded its data in the background
        was = used(owner["pid"])
        await asyncio.sleep(1)
    before = [used(pid) for pid in (client._server.pid, owner["pid"])]
    for one in asked:
        empty += await timed("hover", client.text_document_hover_async(one)) is None
    spent = [used(pid) - was for pid, was in zip((client._server.pid, owner["pid"]), before, strict=True)]
    for one in asked[:50]:
        where = {"text_document": one.text_document, "position": one.position}
        await timed("definition", client.text_document_definition_async(lsp.DefinitionParams(**where)))
        await timed("references", client.text_document_references_async(lsp.ReferenceParams(lsp.ReferenceContext(True), **where)))
    for _ in range(10):
        lenses = await timed(
            "code lenses", client.text_document_code_lens_async(lsp.CodeLensParams(lsp.TextDocumentIdentifier(largest.as_uri())))
        )
    outlines = []
    for _ in range(20):
        at = time.perf_counter()
        service.outline(largest.relative_to(root).as_posix())
        outlines.append((time.perf_counter() - at) * 1000)
    memory = pss(client._server.pid)
    symbols = service.symbols(limit=1).total
    await ended(client)
    stop(options.db)
    return {
        "repository": root.name,
        "symbols": symbols,
        "first_answers": {
            name: dict(
                zip(("s", "lsp_cpu_s", "server_cpu_s", "lsp_mb"), (round(median(one), 3) for one in zip(*rows, strict=True)), strict=True)
            )
            for name, rows in firsts.items()
        },
        "memory_mb": round(memory, 1),
        "empty_hovers": empty,
        "hover_cpu_ms": {"lsp": round(spent[0] * 1000 / len(asked), 2), "server": round(spent[1] * 1000 / len(asked), 2)},
        "waits": {
            name: {
                "p50_ms": round(report.percentile(row, 0.5), 1),
                "p95_ms": round(report.percentile(row, 0.95), 1),
                "most_ms": round(max(row), 1),
            }
            for name, row in waits.items()
        },
        "lenses_lines": largest.read_bytes().count(b"\n"),
        "lenses": len(lenses or []),
        "outline_ms": round(report.percentile(outlines, 0.5), 1),
    }


async def started(options: Any, root: Path, documents: list[Path]) -> tuple[LanguageClient, tuple[float, ...]]:
    """Start `graphmem lsp`, open documents and ask a first hover.

    The second result has the seconds until its answer, the processor seconds of both processes until then, and the megabytes of the first.
    Every second document has unsaved lines.
    """
    client = LanguageClient("benchmark", "1")
    for name in (lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, lsp.WINDOW_SHOW_MESSAGE, lsp.WINDOW_LOG_MESSAGE):
        client.feature(name)(lambda given: None)
    was = used(running(options.db))
    begun = time.perf_counter()
    environ = {**os.environ, "GRAPHMEM_EMBEDDER": "none"}
    await client.start_io(sys.executable, "-m", "graphmem", "lsp", str(root), "--db", str(options.db), env=environ)
    await client.initialize_async(lsp.InitializeParams(capabilities=lsp.ClientCapabilities(), root_uri=root.as_uri()))
    client.initialized(lsp.InitializedParams())
    for number, path in enumerate(documents):
        item = lsp.TextDocumentItem(path.as_uri(), "python", 1, path.read_text(encoding="utf-8", errors="replace"))
        client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        if number % 2:
            start = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
            client.text_document_did_change(
                lsp.DidChangeTextDocumentParams(
                    lsp.VersionedTextDocumentIdentifier(2, path.as_uri()), [lsp.TextDocumentContentChangePartial(start, UNSAVED)]
                )
            )
    await client.text_document_hover_async(lsp.HoverParams(lsp.TextDocumentIdentifier(documents[0].as_uri()), lsp.Position(5, 1)))
    took = time.perf_counter() - begun
    pid = client._server.pid
    return client, (took, used(pid), used(running(options.db)) - was, pss(pid))


async def ended(client: LanguageClient) -> None:
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def running(db: Path) -> int:
    """Return the process id of an index's server; 0 if none runs."""
    file = db / "owner.json"
    pid = int(json.loads(file.read_text())["pid"]) if file.is_file() else 0
    return pid if pid and Path(f"/proc/{pid}").is_dir() else 0


def stop(db: Path) -> None:
    """End the server of an index, and wait for it."""
    if pid := running(db):
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}").is_dir():
            time.sleep(0.05)


def used(pid: int) -> float:
    """Return the processor seconds of a process; 0 without one."""
    if not pid:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def pss(pid: int) -> float:
    """Return the megabytes of a process, with its share of shared pages."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


if __name__ == "__main__":
    main()
