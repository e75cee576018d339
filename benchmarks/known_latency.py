"""Cost of the memories about the code of an answer (field `known`), for impact and symbol.

    python -m benchmarks known_latency REPOSITORY [--db DIR] [--memories 2000] [--targets 500] [--seed 1]

Two server processes serve copies of one index: one without memories and with queries without the field `known`, and one with memories about
random symbols and queries with the field. Each question about a random symbol goes to both in turn, over one open connection each,
so the load of the machine is the same for both. The index in DIR is used if there is one, else it is made.
"""

from __future__ import annotations

import http.client
import json
import random
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import graphql_latency
import report

DEPTHS = (3, 5)
WARM_UP = 20
FIELDS = """targets { id } hits { symbol { id path qualname startLine } depth verdict confidence target
  path { src { id } dst { id } kind confidence rule line } }
  tests { symbol { id path qualname startLine } depth verdict confidence target }
  total risk { level score reasons } epistemic causes { kind message count }"""
KNOWN = "known { memories { id shortId type title content trap about place steps confidenceInUse score createdAt doubt } more held }"
SYMBOL = "id path qualname doc callers(first: 20) { edges { node { id path qualname } } }"
TYPES = ("gotcha", "decision", "pattern", "module_insight", "dead_end")


class Asked(graphql_latency.Server):
    """A server that gets queries in full."""

    def query(self, text: str, **variables: Any) -> tuple[float, bytes]:
        """Return milliseconds and body of an answer."""
        body = json.dumps({"query": text, "variables": variables})
        begun = time.perf_counter()
        self._connection.request("POST", "/graphql", body, {"content-type": "application/json"})
        answer = self._connection.getresponse().read()
        return (time.perf_counter() - begun) * 1000, answer


def documents(known: str) -> dict[str, str]:
    """Return the queries by name."""
    found = {
        f"impact, depth {depth}": f"query($ref: String!) {{ impact(targets: [$ref], maxDepth: {depth}) {{ {FIELDS} {known} }} }}"
        for depth in DEPTHS
    }
    return {**found, "symbol": f"query($ref: String!) {{ symbol(ref: $ref) {{ {SYMBOL} {known} }} }}"}


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--db", type=Path, help="directory of an index; made when there is none")
    parser.add_argument("--memories", type=int, default=2000)
    parser.add_argument("--targets", type=int, default=500, help="random symbols to ask about")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    from graphmem.project.graphmem import GraphMem
    from graphmem.settings import Settings

    chance = random.Random(options.seed)
    settings = Settings(embedder="none")
    with tempfile.TemporaryDirectory() as scratch:
        plain = options.db or Path(scratch) / "plain"
        with GraphMem.open(plain, settings=settings) as memory:
            if not memory.state().generation:
                memory.index(options.repository)
            every: list[Any] = []
            while page := memory.symbols("", graphql_latency.KINDS, limit=10_000, offset=len(every))[0]:
                every += page
            state = memory.state()
        taught = Path(scratch) / "taught"
        shutil.copytree(plain, taught)
        with GraphMem.open(taught, settings=settings) as memory:
            about = chance.sample(every, min(options.memories, len(every)))
            memory.remember_many(
                [
                    {
                        "content": f"Case {n}: {graphql_latency.words_of(one.name)} needs care.",
                        "type": TYPES[n % len(TYPES)],
                        "symbols": [one.id],
                        "id": f"note-{n}",
                    }
                    for n, one in enumerate(about)
                ],
                skip_invalid=True,
            )
            memory.parts.book.flush()
        targets = [one.id for one in chance.sample(every, min(options.targets, len(every)))]
        without, with_ = Asked(plain, "none"), Asked(taught, "none")
        result: dict[str, Any] = {}
        try:
            for name, asked in documents("").items():
                times: tuple[list[float], list[float]] = ([], [])
                told = 0
                for n, ref in enumerate([*targets[:WARM_UP], *targets]):
                    pair = [(without, asked), (with_, documents(KNOWN)[name])]
                    for server, text in pair if n % 2 else pair[::-1]:
                        took, answer = server.query(text, ref=ref)
                        if answer.startswith(b'{"errors"'):
                            raise SystemExit(answer[:400].decode())
                        if n >= WARM_UP:
                            times[server is with_].append(took)
                            told += server is with_ and b'"memories":[{' in answer
                ratios = {at: round(report.percentile(times[1], at) / report.percentile(times[0], at), 3) for at in (0.5, 0.99)}
                result[name] = {
                    "without": graphql_latency.shown(times[0]),
                    "with": graphql_latency.shown(times[1]),
                    "ratio_p50": ratios[0.5],
                    "ratio_p99": ratios[0.99],
                    "with_memories": told,
                }
        except http.client.HTTPException as error:
            raise SystemExit(f"a server has ended; its message is above: {error!r}") from error
        finally:
            without.close()
            with_.close()

    print(f"{options.repository.name}: {state.files} files, {state.symbols} symbols; {len(targets)} targets, {options.memories} memories\n")
    report.table(
        ["question", "without p50 ms", "p99", "with p50 ms", "p99", "ratio p50", "ratio p99", "answers with memories"],
        [
            [
                name,
                one["without"]["p50_ms"],
                one["without"]["p99_ms"],
                one["with"]["p50_ms"],
                one["with"]["p99_ms"],
                one["ratio_p50"],
                one["ratio_p99"],
                one["with_memories"],
            ]
            for name, one in result.items()
        ],
    )
    index = {"files": state.files, "symbols": state.symbols, "edges": state.edges}
    report.publish(
        "known_latency",
        {
            "repository": options.repository.name,
            "index": index,
            "seed": options.seed,
            "targets": len(targets),
            "memories": options.memories,
            "questions": result,
        },
        options.out,
    )


if __name__ == "__main__":
    main()
