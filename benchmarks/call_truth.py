"""Recorder of the calls in the tests of a project: truth for `callgraph` and `calibration`.

    python -m benchmarks call_truth ROOT --data NEW --work DIR --package src/x --like DATA [--python PYTHON] [-- tests -q …]

The tests of ROOT run under a tracer. The program writes NEW/truth/NAME, NEW/repos.json and DIR/subjects/NAME in the layout that
`callgraph`, `completeness` and `calibration` read. NAME is the name of the folder without its version. --like is the data with the scorer:
its `score.py`, `pyast.py` and adapters are linked into NEW. So rules can be judged on projects that nobody read when the rules were
written. PYTHON must be 3.12 or later and have pytest and the dependencies of the tests. The arguments after `--` are those of pytest.

A generator has its event when it is first resumed. The caller of that event is the function that resumes it. A call through code outside
the project has no edge, but its target counts as reached by the test.
"""

from __future__ import annotations

import ast
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from types import CodeType
from typing import Any

SCORER = ("score.py", "pyast.py", "run_adapter.py", "adapters")
CACHE = 0  # the opcode of inline cache entries
Call = tuple[int, int, int, int]  # line, end line, column and end column of a call


class Tracer:
    """Recorder of code that runs below a folder, by `sys.monitoring`."""

    def __init__(self, root: str) -> None:
        self.root = os.path.join(os.path.realpath(root), "")  # noqa: PTH118
        self.codes: dict[int, CodeType] = {}
        self.lines: dict[str, set[int]] = defaultdict(set)
        self.calls: set[tuple[int, int, int, bool, bool]] = set()  # caller, called, instruction, called by C, is a generator resumed
        self.bucket: set[int] = set()
        self.outer: set[int] = set()
        self._inside: dict[str, bool] = {}
        self._starts: dict[tuple[int, int], int] = {}
        self._called: dict[tuple[int, int], Any] = {}

    def start(self) -> None:
        """Begin to record, in all threads."""
        tool, events = sys.monitoring.PROFILER_ID, sys.monitoring.events
        sys.monitoring.use_tool_id(tool, "call_truth")
        sys.monitoring.register_callback(tool, events.PY_START, self._on_start)
        sys.monitoring.register_callback(tool, events.LINE, self._on_line)
        sys.monitoring.register_callback(tool, events.CALL, self._on_call)
        sys.monitoring.set_events(tool, events.PY_START | events.LINE | events.CALL)

    def _is_inside(self, name: str) -> bool:
        found = self._inside.get(name)
        if found is None:
            path = os.path.realpath(name)
            found = self._inside[name] = path.startswith(self.root) and "site-packages" not in path and path.endswith(".py")
        return found

    def _on_line(self, code: CodeType, line: int) -> Any:
        if self._is_inside(code.co_filename):
            self.lines[code.co_filename].add(line)
        return sys.monitoring.DISABLE

    def _on_call(self, code: CodeType, offset: int, called: object, _: object) -> Any:
        if not self._is_inside(code.co_filename):
            return sys.monitoring.DISABLE
        self._called[id(code), offset] = called
        return None

    def _on_start(self, code: CodeType, offset: int) -> Any:
        if not self._is_inside(code.co_filename):
            return sys.monitoring.DISABLE
        self.codes[id(code)] = code
        self.bucket.add(id(code))
        parent = sys._getframe(1).f_back
        if parent is not None and self._is_inside(parent.f_code.co_filename):
            by = parent.f_code
            self.codes[id(by)] = by
            at = (id(by), parent.f_lasti)
            offset = self._starts.get(at)
            if offset is None:
                text, offset = by.co_code, parent.f_lasti
                while offset > 0 and text[offset] == CACHE:
                    offset -= 2
                self._starts[at] = offset
            self.calls.add((id(by), id(code), offset, self._is_by_c(by, offset, code), bool(code.co_flags & 0x2A0)))
        return None

    def _is_by_c(self, by: CodeType, offset: int, code: CodeType) -> bool:
        """Whether C code makes the call.

        The object that the instruction calls is then neither this function nor a class or object that it makes or calls.
        """
        called = self._called.get((id(by), offset))
        name = code.co_name
        if called is None:
            return False
        if getattr(called, "__code__", None) is code or getattr(getattr(called, "__func__", None), "__code__", None) is code:
            return False
        if isinstance(called, type):
            return name not in ("__init__", "__new__", "__call__") or called.__module__ == "builtins"
        return type(called).__name__ in ("builtin_function_or_method", "method_descriptor", "wrapper_descriptor", "method-wrapper")


try:
    import pytest
except ImportError:  # the command itself does not need pytest
    pytest = None  # type: ignore[assignment]

if pytest is not None and os.environ.get("CALL_TRUTH_OUT"):

    class Recording:
        """Plugin of pytest."""

        def __init__(self) -> None:
            self.tracer = Tracer(os.environ["CALL_TRUTH_ROOT"])
            self.tests: dict[str, dict[str, Any]] = {}
            self.tracer.start()

        def _into(self, item: Any, group: str) -> Any:
            function = getattr(item, "function", None)
            while hasattr(function, "__wrapped__"):
                function = function.__wrapped__
            if hasattr(function, "hypothesis"):
                function = function.hypothesis.inner_test
            code = getattr(function, "__code__", None)
            one = self.tests.setdefault(item.nodeid, {"code": code, "functions": set(), "setup": set(), "outcome": "?"})
            self.tracer.bucket = one[group]

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_setup(self, item: Any) -> Any:
            """Assign code of fixtures to the set-up of the test."""
            self._into(item, "setup")
            yield
            self.tracer.bucket = self.tracer.outer

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item: Any) -> Any:
            """Assign code that runs to the test."""
            self._into(item, "functions")
            yield
            self.tracer.bucket = self.tracer.outer

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_teardown(self, item: Any) -> Any:
            """Assign the teardown of fixtures to the set-up of the test."""
            self._into(item, "setup")
            yield
            self.tracer.bucket = self.tracer.outer

        def pytest_runtest_logreport(self, report: Any) -> None:
            """Keep the outcome of a test."""
            if report.when == "call":
                self.tests[report.nodeid]["outcome"] = report.outcome

        def pytest_unconfigure(self) -> None:
            """Write the recorded calls."""
            sys.monitoring.set_events(sys.monitoring.PROFILER_ID, 0)
            tracer = self.tracer
            root = tracer.root

            def path(code: CodeType) -> str:
                return os.path.realpath(code.co_filename)[len(root) :]

            codes = {key: (path(code), code.co_firstlineno, code.co_qualname) for key, code in tracer.codes.items()}
            sites = []
            for by, to, offset, by_c, resumed in tracer.calls:
                code = tracer.codes[by]
                spans = list(code.co_positions())
                place = spans[offset // 2] if 0 <= offset // 2 < len(spans) else (None,) * 4
                kind = _operation(code, offset)
                sites.append((by, to, place, by_c, resumed, kind))
            tests = [
                (
                    name,
                    (path(one["code"]), one["code"].co_qualname) if one["code"] and tracer._is_inside(one["code"].co_filename) else None,
                    sorted(one["functions"]),
                    sorted(one["setup"]),
                    one["outcome"],
                )
                for name, one in self.tests.items()
            ]
            lines = {os.path.realpath(name)[len(root) :]: sorted(found) for name, found in tracer.lines.items()}
            Path(os.environ["CALL_TRUTH_OUT"]).write_text(
                json.dumps({"codes": codes, "sites": sites, "tests": tests, "lines": lines}), encoding="utf-8"
            )

    def _operation(code: CodeType, offset: int) -> str:
        import dis

        return dis.opname[code.co_code[offset]] if 0 <= offset < len(code.co_code) else ""

    def pytest_configure(config: Any) -> None:
        """Register the recording."""
        config.pluginmanager.register(Recording(), "call-truth-recording")


def main() -> int:
    import report

    options = report.parser(__doc__)
    options.add_argument("root", type=Path)
    options.add_argument("--data", type=Path, required=True, help="where the truth goes")
    options.add_argument("--work", type=Path, required=True, help="where the subject goes")
    options.add_argument("--like", type=Path, required=True, help="data whose scorer is used")
    options.add_argument("--package", action="append", required=True, help="a folder of the package, from ROOT (repeatable)")
    options.add_argument("--tests", default="tests", help="folder of the tests, from ROOT")
    options.add_argument("--python", default=sys.executable)
    arguments = options.parse_args(sys.argv[1:][: sys.argv[1:].index("--")] if "--" in sys.argv else None)
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else [arguments.tests]
    root = arguments.root.resolve()
    name = re.sub(r"-[0-9].*", "", root.name)
    subject = (arguments.work / "subjects" / name).resolve()
    shutil.rmtree(subject, ignore_errors=True)
    for one in (*arguments.package, arguments.tests, "pyproject.toml"):
        (subject / one).parent.mkdir(parents=True, exist_ok=True)
        if (root / one).is_dir():
            shutil.copytree(root / one, subject / one, ignore=shutil.ignore_patterns("__pycache__"))
        elif (root / one).exists():
            shutil.copy(root / one, subject / one)
    arguments.data.mkdir(parents=True, exist_ok=True)
    for one in SCORER:
        if not (arguments.data / one).exists():
            (arguments.data / one).symlink_to((arguments.like / one).resolve())
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "seen.json"
        inner = Path(folder) / "graphmem_call_truth.py"
        shutil.copy(__file__, inner)
        path = [folder, str(root), *(str((root / one).parent) for one in arguments.package)]
        environment = {**os.environ, "CALL_TRUTH_OUT": str(out), "CALL_TRUTH_ROOT": str(root), "PYTHONPATH": os.pathsep.join(path)}
        done = subprocess.run(
            [arguments.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "graphmem_call_truth", *given],
            cwd=root,
            env=environment,
            check=False,
        )
        seen = json.loads(out.read_text(encoding="utf-8"))
    truth = arguments.data / "truth" / name
    truth.mkdir(parents=True, exist_ok=True)
    found = build(seen, subject, arguments.package)
    for part, rows in found.items():
        with gzip.open(truth / f"{part}.jsonl.gz", "wt", encoding="utf-8") as stream:
            stream.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
    listed = arguments.data / "repos.json"
    known = json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else {}
    known[name] = {"split": "traced", "sha": root.name, "pkg": arguments.package, "include": [*arguments.package, arguments.tests]}
    listed.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(name, "pytest", done.returncode, {part: len(rows) for part, rows in found.items()})
    return 0


def build(seen: dict[str, Any], subject: Path, packages: list[str]) -> dict[str, list[dict[str, Any]]]:
    """Return the recorded calls as rows of the truth's files."""
    kinds: dict[str, str] = {}
    trees: dict[str, dict[Call, ast.Call]] = {}

    def kind(path: str, qualname: str) -> str:
        if path not in kinds:
            test = "/tests/" in f"/{path}" or ("/testing/" in f"/{path}" and not any(path.startswith(f"{one}/") for one in packages))
            kinds[path] = "test" if test or not any(path.startswith(f"{one}/") or path == one for one in packages) else "pkg"
        return "toplevel" if qualname == "<module>" else kinds[path]

    def call_at(path: str, place: Any) -> ast.Call | None:
        if path not in trees:
            trees[path] = {}
            for node in _nodes(subject / path):
                if isinstance(node, ast.Call):
                    trees[path][node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0] = node
        return trees[path].get(tuple(place))

    codes = {int(key): one for key, one in seen["codes"].items() if (subject / one[0]).is_file()}
    edges: dict[tuple[Any, ...], dict[str, Any]] = {}
    back: dict[int, list[tuple[int, str, str]]] = defaultdict(list)

    def add(by: int, to: int, via: str, site: str, named: bool, line: int | None) -> None:
        (source, source_line, source_name), (path, first, qualname) = codes[by], codes[to]
        src_kind = "toplevel" if _is_class_body(codes[by], subject) else kind(source, source_name)
        row = {"src_path": source, "src_line": source_line, "src_qualname": source_name, "src_kind": src_kind}
        row |= {"dst_path": path, "dst_line": first, "dst_qualname": qualname, "dst_kind": kind(path, "")}
        row |= {"via": via, "site": site, "named": named, "lines": []}
        row = edges.setdefault((source, source_name, source_line, path, qualname, first, via, site, named), row)
        if line and line not in row["lines"]:
            row["lines"].append(line)

    placed = []
    for by, to, place, by_c, resumed, operation in seen["sites"]:
        if by not in codes or to not in codes or codes[to][2] == "<module>" or ".<module>" in codes[to][2]:
            continue
        if _is_class_body(codes[to], subject):
            continue
        node = call_at(codes[by][0], place) if operation.startswith("CALL") else None
        site, name = _site(node)
        parts = [one for one in codes[to][2].split(".") if one != "<locals>"]
        names = {parts[-1], *(parts[-2:-1] if parts[-1] in ("__init__", "__new__") else ())}
        if node is None:
            via = "gen" if resumed or operation in ("FOR_ITER", "SEND") else "implicit"
        elif by_c:
            via = "c"
        else:
            via = "gen" if resumed and name not in names else "call"
        named = via == "call" and name in names
        add(by, to, via, site, named, place[0])
        placed.append((by, to, via, site, name, names, place[0]))
        if via == "call" and not named and name:
            back[to].append((by, site, name))
    for by, to, via, _, _, names, line in placed:
        for outer, site, name in back.get(by, ()) if via == "call" else ():
            if name in names:
                add(outer, to, "wrapped", site, True, None if line is None else line)
    order = {key: at for at, key in enumerate(codes)}
    return {
        "edges": list(edges.values()),
        "functions": [{"id": order[key], "path": one[0], "line": one[1], "qualname": one[2]} for key, one in codes.items()],
        "tests": [
            {
                "test_id": name,
                "path": place[0] if place else None,
                "qualname": place[1] if place else None,
                "outcome": outcome,
                "functions": [order[one] for one in functions if one in order],
                "setup_functions": [order[one] for one in setup if one in order],
            }
            for name, place, functions, setup, outcome in seen["tests"]
        ],
        "lines": [{"path": path, "ranges": [[one, one] for one in lines]} for path, lines in seen["lines"].items()],
    }


def _nodes(path: Path) -> list[ast.AST]:
    """Return all syntax of a file; none if this Python is too old for it."""
    try:
        return list(ast.walk(ast.parse(path.read_bytes())))
    except SyntaxError as error:
        print(f"{path}: {error}; its calls have no shape", file=sys.stderr)
        return []


_bodies: dict[str, set[tuple[int, str]]] = {}


def _is_class_body(code: Any, subject: Path) -> bool:
    """Whether code is the body of a class."""
    path, first, qualname = code
    if path not in _bodies:
        _bodies[path] = {
            (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.name)
            for node in _nodes(subject / path)
            if isinstance(node, ast.ClassDef)
        }
    return (first, qualname.split(".")[-1]) in _bodies[path]


def _site(node: ast.Call | None) -> tuple[str, str | None]:
    """Return the shape of a call, and the called name."""
    if node is None:
        return "none", None
    called = node.func
    if isinstance(called, ast.Name):
        return "name", called.id
    if isinstance(called, ast.Attribute):
        inner = called.value
        if isinstance(inner, ast.Name) and inner.id in ("self", "cls"):
            return "self", called.attr
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id == "super":
            return "super", called.attr
        return "attr", called.attr
    return "other", None


if __name__ == "__main__":
    raise SystemExit(main())
