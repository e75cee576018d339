"""Precision and recall of links between services (HTTP, gRPC, topics) against hand-judged links.

    python -m benchmarks contracts --checkouts DIR [--differences]

DIR has checkouts of the systems in `contract_truth`, each named like its file and at the commit in its first line. A truth file has
every link from a call site to the handler that it reaches, outside tests. Its rules:

* A call site counts if the code, or a served page, sends a request to another part of the system: a route, a procedure, a topic.
* The line is that of the call, and of the handler's definition. A function written in place has the line of its registration.
* A link is true if the handler answers a request from the site when the system is deployed by its own files. Gateways and proxies pass
  requests on; a class that is never registered answers none.
* Sites whose target is outside the system, and getters with names of procedures, are not links.

Precision is the share of found links that are in the file. Recall is the share of the file's links that are found. A system of several
programs in one repository is indexed as one project.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import report

from graphmem.contracts import rows
from graphmem.contracts.linking import link
from graphmem.project.graphmem import GraphMem
from graphmem.settings import Settings

TRUTH = Path(__file__).parent / "contract_truth"
HEAD = ("system", "true links", "found", "right", "precision", "recall")


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("--checkouts", type=Path, required=True, help="directory with the checkouts of the systems")
    options.add_argument("--differences", action="store_true", help="also print the links that differ")
    arguments = options.parse_args()
    figures = {}
    for file in sorted(TRUTH.glob("*.txt")):
        commit, *lines = file.read_text(encoding="utf-8").splitlines()
        truth, found = set(filter(None, lines)), found_in(arguments.checkouts / file.stem)
        right = truth & found
        if arguments.differences:
            print(f"{commit}", *(f"- {one}" for one in sorted(truth - found)), *(f"+ {one}" for one in sorted(found - truth)), sep="\n  ")
        figures[file.stem] = {"true links": len(truth), "found": len(found), "right": len(right)}
    total = {name: sum(one[name] for one in figures.values()) for name in HEAD[1:4]}
    for one in (*figures.values(), total):
        one |= {"precision": round(one["right"] / max(1, one["found"]), 3), "recall": round(one["right"] / max(1, one["true links"]), 3)}
    report.table(HEAD, [[name, *(one[key] for key in HEAD[1:])] for name, one in [*figures.items(), ("all", total)]])
    report.publish("contracts", {"systems": figures, **total}, arguments.out)
    return 0


def found_in(checkout: Path) -> set[str]:
    """Return the links of a checkout outside tests, as the truth files do."""
    with tempfile.TemporaryDirectory() as scratch:
        with GraphMem.open(Path(scratch), checkout, settings=Settings(embedder="none", git_history=False)) as memory:
            memory.index(checkout)
        published = rows.read(Path(scratch))
    assert published is not None
    links = link(row for some in published.rows.values() for row in some)
    return {
        f"{one.asks.path}:{one.asks.line} -> {one.offers.path}:{one.offers.line}"
        for one in links
        if not one.asks.test and "test" not in one.asks.path
    }


if __name__ == "__main__":
    raise SystemExit(main())
