"""Slowdown of a test suite under `pytest --graphmem`, compared with the same suite without it.

    python -m benchmarks pytest_plugin ROOT [--python PYTHON …] [--repeat 3] [--path src] [--tests tests]

ROOT is a project with tests. For each interpreter the suite runs without and with the plugin in turn. The least processor time of each
whole process is compared, because other load only adds. The time includes finding the definitions and writing the trace. The row `recording
alone` leaves that out, because it does not grow with the time of the tests. The interpreters need pytest, the dependencies of the suite,
and those of graphmem's parsing. The exit code is 1 if a slowdown is above its target.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import report

HOME = Path(__file__).resolve().parents[1]
TARGETS = {"setprofile": 2.0, "monitoring": 2.0}  # allowed factor, by recording method of the Python version
_PROBE = "import sys, platform; print('monitoring' if sys.version_info >= (3, 12) else 'setprofile', platform.python_version())"
_NO_END = (  # a plugin that keeps the recorder and drops the work after the tests
    "from graphmem import pytest_plugin\npytest_plugin._Recording.pytest_sessionfinish = lambda self: self._recorder.stop()\n"
)


def cpu_of(command: list[str], root: Path, path: list[str]) -> tuple[float, str]:
    """Return the CPU seconds of a command with children, and its last line."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(path)}, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode not in (0, 1) or not said:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}; its output:\n" + "\n".join(said[-15:]) + done.stderr[-2000:])
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said[-1]


def main() -> int:
    options = report.parser(__doc__)
    options.add_argument("root", type=Path)
    options.add_argument("--python", action="append", help="an interpreter (repeatable); default: this one")
    options.add_argument("--repeat", type=int, default=3)
    options.add_argument("--path", action="append", default=[], help="added to PYTHONPATH, from ROOT (repeatable)")
    options.add_argument("--tests", action="append", default=[], help="arguments of pytest, from ROOT (repeatable)")
    arguments = options.parse_args()
    root = arguments.root.resolve()
    rows, results = [], []
    with tempfile.TemporaryDirectory() as folder:
        helper = Path(folder) / "graphmem_without_end.py"
        helper.write_text(_NO_END, encoding="utf-8")
        path = [*(str(root / one) for one in arguments.path), str(HOME), folder]
        for python in arguments.python or [sys.executable]:
            how, version = subprocess.run([python, "-c", _PROBE], capture_output=True, text=True, check=True).stdout.split()
            plain = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments.tests]
            trace = Path(folder) / "run.trace"
            recorded = [*plain, "-p", "graphmem.pytest_plugin", "--graphmem-trace", str(trace)]
            ways = {"without": plain, "with": recorded, "recording alone": [*recorded, "-p", "graphmem_without_end"]}
            times: dict[str, list[float]] = {name: [] for name in ways}
            said = ""
            for _ in range(arguments.repeat):
                for name, command in ways.items():
                    seconds, line = cpu_of(command, root, path)
                    times[name].append(round(seconds, 2))
                    said = line if name == "without" else said
            least = {name: min(found) for name, found in times.items()}
            result: dict[str, Any] = {
                "python": version,
                "records_by": how,
                "suite": said,
                "cpu_seconds": times,
                "slowdown": round(least["with"] / least["without"], 2),
                "slowdown_recording_alone": round(least["recording alone"] / least["without"], 2),
                "target": TARGETS[how],
                "trace_bytes": trace.stat().st_size,
            }
            results.append(result)
            rows.append(
                (
                    version,
                    f"sys.{how}",
                    least["without"],
                    least["with"],
                    f"{result['slowdown']:.2f}x",
                    f"{result['slowdown_recording_alone']:.2f}x",
                    f"{TARGETS[how]:.1f}x",
                    result["trace_bytes"],
                )
            )
    print(f"\n{root.name}: {results[0]['suite']}\n")
    report.table(["Python", "records by", "CPU s without", "CPU s with", "slowdown", "recording alone", "target", "trace bytes"], rows)
    report.publish("pytest_plugin", {"project": root.name, "runs": results}, arguments.out)
    return 0 if all(one["slowdown"] <= one["target"] for one in results) else 1


if __name__ == "__main__":
    raise SystemExit(main())
