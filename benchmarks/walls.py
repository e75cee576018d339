"""Visibility on a server with many projects: every operation and interface against the rules.

    python -m benchmarks walls [--people 100] [--teams 5] [--projects 20] [--seed 1] [--everybody]

A real server is started. Every person has roles in some projects, and writes memories with every visibility there. Each memory has a unique
word. Each project has a public and a private branch, with unique words in their names and code.

Then one person of each distinct right (role in a project, or none, and team) calls every operation there: by GraphQL, the tools of agents,
the plain routes and the questions about several projects, also with ids of memories that the person may not see. Every person asks for the
memories of every project. With --everybody, every person calls every operation in one of their projects, and the reading ones in every
project. Each answer is searched for the words.

At the end every protection is switched off in turn, and the search must find something. The exit code is 1 if a word is shown against the
rules, an expected one is missing, or a missing protection is not noticed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import report

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))


def main() -> int:
    parser = report.parser(__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--teams", type=int, default=5)
    parser.add_argument("--projects", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--everybody", action="store_true", help="every person asks, not one person of each right")
    given = parser.parse_args()
    from hosted import hosted
    from walls import WALLS, Walls

    result: dict[str, Any] = {"people": given.people, "teams": given.teams, "projects": given.projects, "seed": given.seed}
    with tempfile.TemporaryDirectory(prefix="gm-bench-") as folder, hosted(Path(folder) / "srv", most_open=given.projects) as server:
        walls = Walls(server, Path(folder), given.people, given.teams, given.projects, given.seed)
        begun = time.process_time()
        result["memories"], result["branches"] = len(walls.memories), len(walls.branches)
        result["everybody"], result["rights"] = given.everybody, len(walls.rights())
        result["leaks"] = walls.leaks() if given.everybody else walls.leaks_by_right()
        result["missing"] = list(walls.missing)
        result["calls"], result["words_seen"] = walls.calls, walls.words
        result["cpu_s"] = round(time.process_time() - begun, 1)
        unnoticed = []
        for name, off in WALLS.items():
            with off():
                if not walls.is_leaking(walls.people[:5]):
                    unnoticed.append(name)
        result["walls"], result["unnoticed"] = len(WALLS), unnoticed
        walls.close()
    counted = {name: len(value) if isinstance(value, list) else value for name, value in result.items()}
    report.table(["", ""], list(counted.items()))
    report.publish("walls", result, given.out)
    return 1 if result["leaks"] or result["missing"] or result["unnoticed"] else 0


if __name__ == "__main__":
    sys.exit(main())
