"""Find the runner, such as pytest, of each test, and its command line.

A runner is recognised by files of the repository: the nearest manifest at or above a test, such as `package.json` or `Cargo.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

from graphmem.reports import vitest_config
from graphmem.reports.cargo_targets import IntegrationTests, target_of, test_of, tests_of
from graphmem.reports.launchers import LAUNCHERS, node_launcher, python_launcher
from graphmem.reports.package_scripts import deno_script, is_run_by_bun, test_script
from graphmem.reports.pytest_settings import collected_files, is_collected
from graphmem.reports.test_commands import NOT_RUN, Named
from graphmem.runtime.data.tables import read_table


@dataclass(frozen=True, slots=True)
class RunnerFiles:
    """The content of `grammars/test_runners.toml`, which explains the keys."""

    config_endings: tuple[str, ...]
    pytest_settings: Mapping[str, tuple[str, ...]]
    endings: Mapping[str, tuple[str, ...]]


_FILES: Final = read_table("test_runners.toml", RunnerFiles)
MOST_MANIFEST: Final = 1 << 20  # bytes read of a manifest
_RUNNER: Final = {one: re.compile(rf"(?<![\w@/.-]){one}(?![\w/.-])") for one in ("vitest", "jest")}
"""The name of a runner in a `package.json`: of a package, or of a command in a script."""
VITEST_CONFIGS: Final = tuple(f"vitest.config.{ending}" for ending in _FILES.config_endings)
VITE_CONFIGS: Final = tuple(one.replace("vitest", "vite") for one in VITEST_CONFIGS)
JEST_CONFIGS: Final = tuple(f"jest.config.{ending}" for ending in (*_FILES.config_endings, "json"))
_JEST_PATTERNS: Final = re.compile(r"\b(?:testMatch|testRegex|preset|projects)\b")
_TEST_FILE: Final = re.compile(r"(?:^|/)(?:__tests__/.*|(?:[^/]*\.)?(?:test|spec)\.[cm]?[jt]sx?|[^/]*\.(?:test|spec)\.\w+)$")
"""The path of a file that Jest runs by default, or that is named as a test."""
_HELPERS: Final = "no test"  # instead of a runner
_DENO: Final = re.compile(r"""\bDeno\.test\b|\bfrom\s+["'](?:jsr:|@std/|https://deno\.land/)""")
_BUN: Final = re.compile(r"""\bfrom\s+["']bun:test["']""")
_CARGO_APART: Final = frozenset({"benches", "examples"})  # directories of which `cargo test` runs nothing
JVM_ROOTS: Final = re.compile(r"^(?:.*/)?src/[^/]*[tT]est[^/]*/(?:java|kotlin|scala|groovy)/")


class Place(NamedTuple):
    """The place of a test in the repository: file, qualified name and line."""

    path: str
    qualname: str  # "" for the whole file
    line: int
    is_method: bool


class PythonFolder(NamedTuple):
    """The pytest settings and the launcher of a directory of Python tests."""

    launcher: str  # such as "poetry run"
    top: str  # directory in which the launcher starts
    collected: tuple[str, ...] | None  # patterns of files that pytest collects; None without settings
    by_pytest: bool


@dataclass
class Project:
    """The files of a repository that show which test runners it uses.

    Args:
        root: the directory of the repository.
    """

    root: Path
    _texts: dict[str, str | None] = field(default_factory=dict)
    python: dict[str, PythonFolder] = field(default_factory=dict)
    """How each directory of Python tests seen so far is run."""
    ecmascript: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The runner of each JavaScript file seen so far, and its directory."""
    suites: dict[tuple[str, str], str] = field(default_factory=dict)
    """The Go test that runs a suite, by file and name of each suite seen so far."""

    cargo: dict[str, IntegrationTests] = field(default_factory=dict)
    """The integration tests of each Cargo package seen so far, by its directory; see `tests_of`."""

    def cargo_tests(self, folder: str) -> IntegrationTests:
        """Return the integration tests of the Cargo package in a directory."""
        if folder not in self.cargo:
            self.cargo[folder] = tests_of(
                self.root / folder, self.text(_join(folder, LAUNCHERS.rust_manifest)) or "", _FILES.endings["cargo"]
            )
        return self.cargo[folder]

    def text(self, path: str) -> str | None:
        """Return the text of a file of the repository; None if it is missing."""
        if path not in self._texts:
            try:
                with (self.root / path).open("rb") as file:
                    self._texts[path] = file.read(MOST_MANIFEST).decode("utf-8", errors="replace")
            except OSError:
                self._texts[path] = None
        return self._texts[path]

    def has(self, path: str) -> bool:
        """Whether the repository has a file at a path."""
        return self.text(path) is not None

    def nearest(self, path: str, *names: str) -> tuple[str, str] | None:
        """Return (directory, name) of the nearest file with a given name.

        The file must have one of `names`. The search starts in the directory of `path` and continues with the directories above. If a
        directory has several such files, the first of `names` is used. The root directory is returned as "".
        """
        for folder in PurePosixPath(path).parents:
            base = "" if str(folder) == "." else str(folder)
            for name in names:
                if self.has(_join(base, name)):
                    return base, name
        return None


def named(project: Project, place: Place) -> Named:
    """Return the runner of a test, and the id that this runner uses for it.

    If the runner is unknown, `runner` is "" and the id is the path of the test's file. The result is `NOT_RUN` if the runner of the
    project does not run this place, for example a file of helpers or a benchmark.
    """
    for runner, endings in _FILES.endings.items():
        if place.path.endswith(endings):
            return _FINDERS[runner](project, place) or Named("", place.path)
    return Named("", place.path)


def _join(base: str, name: str) -> str:
    return f"{base}/{name}" if base else name


def _below(base: str, path: str) -> str:
    return path.removeprefix(f"{base}/") if base else path


# ---- naming, by language


def _dotted(path: str) -> str:
    """Return the module of a Python file: `a.b` for `a/b.py`."""
    return ".".join(PurePosixPath(path).with_suffix("").parts)


def _python_folder(project: Project, path: str) -> PythonFolder:
    """Return how the tests in the directory of a file are run."""
    launcher, top = python_launcher(project, path)
    collected = collected_files(project, path, _FILES.pytest_settings)
    by_pytest = collected is not None or project.nearest(path, "conftest.py") is not None
    by_pytest = by_pytest or any(
        "pytest" in (project.text(_join(top, name)) or project.text(name) or "") for name in _FILES.pytest_settings
    )
    return PythonFolder(launcher, top, collected, by_pytest)


def _python(project: Project, place: Place) -> Named | None:
    folder = place.path.rpartition("/")[0]
    if folder not in project.python:
        project.python[folder] = _python_folder(project, place.path)
    launcher, top, collected, by_pytest = project.python[folder]
    if by_pytest or (place.qualname and not place.is_method):
        if not place.qualname and not is_collected(place.path, collected):
            return NOT_RUN
        path, inner = _below(top, place.path), [*filter(None, place.qualname.split("."))]
        return Named("pytest", "::".join([place.path, *inner]), top, ("::".join([path, *inner]), path), launcher)
    base = PurePosixPath(place.path).parent
    while str(base) != "." and project.has(f"{base}/__init__.py"):
        base = base.parent
    top = "" if str(base) == "." else str(base)
    module = _dotted(_below(top, place.path))
    dotted = ".".join(filter(None, (module, place.qualname)))
    if project.has("manage.py"):
        return Named("django", ".".join(filter(None, (_dotted(place.path), place.qualname))), launcher=launcher)
    return Named("unittest", dotted, top, (module,), launcher)


def _ecmascript(project: Project, place: Place) -> Named | None:
    if place.path not in project.ecmascript:
        project.ecmascript[place.path] = _ecmascript_runner(project, place.path)
    runner, base = project.ecmascript[place.path]
    if runner == "deno":
        return _deno(project, place)
    if runner == _HELPERS:
        return NOT_RUN
    if not runner:
        return None
    path, title = _below(base, place.path), _titles(place.qualname)
    launcher = "" if runner == "bun" else node_launcher(project, place.path)
    name = f"{place.path} -t {title!r}" if title else place.path
    return Named(runner, name, base, (f"./{path}" if runner == "bun" else path, title), launcher)


def _ecmascript_runner(project: Project, path: str) -> tuple[str, str]:
    """Return the runner of a file of tests, "" if unknown, and its directory.

    The runner is `_HELPERS` if the project uses Vitest or Jest alone, and the file is none of its tests.
    """
    text = project.text(path) or ""
    if _DENO.search(text):
        return "deno", ""
    if deno_script(project, path) is not None:
        return ("deno" if _TEST_FILE.search(path) else _HELPERS), ""
    if _BUN.search(text) or is_run_by_bun(project, path):
        return "bun", ""
    manifests = [
        (base, project.text(_join(base, LAUNCHERS.node_manifest)) or "") for base in _manifests(project, path, LAUNCHERS.node_manifest)
    ]
    found = [(runner, base) for base, text in manifests for runner in _RUNNER if _RUNNER[runner].search(text)]
    # Packages such as `jest-diff` and `@types/jest` are used with Vitest, too; they tell the runner only where nothing else does.
    found = found or [(runner, base) for base, text in manifests for runner in _RUNNER if f'"{runner}' in text or f"/{runner}" in text]
    runs = {"vitest": _run_by_vitest, "jest": _run_by_jest}
    for runner, base in found:
        if runs[runner](project, path):
            return runner, base
    return (_HELPERS if found and not _TEST_FILE.search(path) else ""), ""


def _run_by_vitest(project: Project, path: str) -> bool:
    """Whether the nearest Vitest configuration includes a test file.

    Without a configuration, Vitest's default patterns apply. A configuration of Vite may have others, which are not read.
    """
    found = project.nearest(path, *VITEST_CONFIGS)
    if found is None:
        return project.nearest(path, *VITE_CONFIGS) is not None or vitest_config.runs("", path)
    return vitest_config.runs(project.text(_join(*found)) or "", _below(found[0], path))


def _run_by_jest(project: Project, path: str) -> bool:
    """Whether Jest runs a file as a test.

    Jest's default patterns apply, unless a manifest or the nearest configuration may have others; these are not read.
    """
    texts = [project.text(_join(base, LAUNCHERS.node_manifest)) for base in _manifests(project, path, LAUNCHERS.node_manifest)]
    found = project.nearest(path, *JEST_CONFIGS)
    texts.append(project.text(_join(*found)) if found else "")
    return _TEST_FILE.search(path) is not None or any(_JEST_PATTERNS.search(text or "") for text in texts)


def _deno(project: Project, place: Place) -> Named:
    """Return Deno as the runner of a test, with the test's id for Deno.

    Deno can select tests only by file and outermost title.
    """
    title = _titles(place.qualname.partition(".")[0])
    name = f"{place.path} --filter {title!r}" if title else place.path
    if script := deno_script(project, place.path):
        base = test_script(project, place.path)[0]
        return Named("deno", name, base, (_below(base, place.path), title, "", script["options"].strip()), script["set"].strip())
    found = project.nearest(place.path, "deno.json", "deno.jsonc")
    folder = str(PurePosixPath(place.path).parent)
    others = sorted(one.name for one in (project.root / folder).glob("deno.*.json"))
    base = folder if others and (found is None or found[0] != folder) else found[0] if found else ""
    config = others[0] if others and base == folder and (found is None or found[0] != folder) else ""
    inner = _below(base, place.path)
    return Named("deno", name, "" if base == "." else base, (inner, title, config, "--allow-all"))


def _titles(qualname: str) -> str:
    """Return a test's full title as its runner prints it, without dots.

    The titles of the test and of the groups around it are joined by spaces. `qualname` is the name in the graph, in which the titles are
    joined by dots. A dot inside a title is written as `·`. For example, `cart.adds item` gives `cart adds item`.
    """
    return " ".join(part.replace("·", ".") for part in qualname.split(".")) if qualname else ""


def _manifests(project: Project, path: str, name: str) -> list[str]:
    """Return the directories that contain a file `name`, nearest first.

    The directory of `path` and the directories above it are searched.
    """
    folders = ["" if str(one) == "." else str(one) for one in PurePosixPath(path).parents]
    return [one for one in folders if project.has(_join(one, name))]


def _go(project: Project, place: Place) -> Named | None:
    if not place.path.endswith("_test.go"):
        return None
    found = project.nearest(place.path, LAUNCHERS.go_manifest)
    base = found[0] if found else ""
    folder = str(PurePosixPath(_below(base, place.path)).parent)
    package = "." if folder == "." else f"./{folder}"
    owner, _, method = place.qualname.rpartition(".")
    if owner:
        runs = _suite_runner(project, place.path, owner) if method.startswith("Test") else ""
        name = f"{runs}/{method}" if runs else ""
    else:
        name = place.qualname if re.match(r"(Test|Example|Fuzz)", place.qualname) else ""
    if place.qualname and not name:
        return None if owner else NOT_RUN
    tags = build_tags(project.text(place.path) or "")
    flags = f" -tags {tags}" if tags else ""
    return Named("go", f"{package}{flags} -run ^{name.replace('/', '$/^')}$" if name else f"{package}{flags}", base, (package, name, tags))


def _suite_runner(project: Project, path: str, suite: str) -> str:
    """Return the test that runs a suite of testify; "" without one.

    Such a test contains, for example, `suite.Run(t, new(CartSuite))`. It is in the file of the suite, or in a file beside it.
    """
    if (path, suite) not in project.suites:
        project.suites[path, suite] = next(_running(project, path, suite), "")
    return project.suites[path, suite]


def _running(project: Project, path: str, suite: str) -> Iterator[str]:
    """Yield the names of tests that run a suite, those in its own file first."""
    folder = PurePosixPath(path).parent
    beside = sorted(one.name for one in (project.root / folder).glob("*_test.go"))
    for one in dict.fromkeys([path, *(str(folder / name) for name in beside)]):
        for function in re.split(r"^func (?=Test)", project.text(one) or "", flags=re.MULTILINE)[1:]:
            body = function.partition("\n}")[0]
            if "suite.Run(" in body and re.search(rf"\b{re.escape(suite)}\b", body):
                yield re.split(r"\W", function, maxsplit=1)[0]


_PLATFORMS: Final = re.compile(
    r"unix|aix|android|darwin|dragonfly|freebsd|illumos|ios|js|linux|netbsd|openbsd|plan9|solaris|wasip1|windows|zos|386|amd64|arm|arm64"
    r"|loong64|mips\w*|ppc64\w*|riscv64|s390x|wasm|cgo|gc|gccgo|race|msan|asan|go1\.\d+"
)
"""Build tags that `go` sets by itself."""


def build_tags(text: str) -> str:
    """Return the tags that a build needs to contain a Go file; "" for none.

    Without the tags, `go test` leaves the file out and runs none of its tests. `text` is the file. Of alternatives (`a || b`), the first
    is used. The tags are separated by commas.
    """
    line = re.search(r"^//go:build (.*)$", text.partition("\npackage ")[0], re.MULTILINE)
    words = re.findall(r"!?[\w.]+", line[1].partition("||")[0]) if line else []
    return ",".join(one for one in words if one[0] != "!" and not _PLATFORMS.fullmatch(one))


def _rust(project: Project, place: Place) -> Named | None:
    manifest = LAUNCHERS.rust_manifest
    found = next(
        (
            one
            for one in _manifests(project, place.path, LAUNCHERS.rust_manifest)
            if "[package]" in (project.text(_join(one, LAUNCHERS.rust_manifest)) or "")
        ),
        None,
    )
    if found is None:
        return None
    inner = _below(found, place.path)
    package = re.search(r'\[package\][^\[]*?^\s*name\s*=\s*"([^"]+)"', project.text(_join(found, manifest)) or "", re.MULTILINE | re.DOTALL)
    scope = f"-p {package[1]} " if package and found else ""
    folder, _, rest = inner.partition("/")
    if folder == "tests":
        test = test_of(inner, project.cargo_tests(found), lambda path: project.text(_join(found, path)) or "")
        if test is None:
            return NOT_RUN
        target, modules = f"--test {test[0]}", test[1]
    elif folder == "src":
        library, program = (project.text(_join(found, f"src/{name}{_FILES.endings['cargo'][0]}")) for name in ("lib", "main"))
        target, modules = target_of(PurePosixPath(rest).with_suffix("").parts, library, program)
    else:
        return NOT_RUN if folder in _CARGO_APART else None
    name = "::".join([*modules, *filter(None, place.qualname.split("."))])
    if modules and not place.qualname:
        name += "::"  # of all tests in the module
    return Named("cargo", f"{scope}{target} {name}".rstrip(), "", (scope + target, name))


def _jvm(project: Project, place: Place) -> Named | None:
    found = project.nearest(place.path, "build.gradle", "build.gradle.kts", "pom.xml")
    inner = JVM_ROOTS.sub("", place.path)
    if found is None or inner == place.path:
        return None
    base, manifest = found
    package = str(PurePosixPath(inner).parent).replace("/", ".")
    stem = PurePosixPath(inner).stem
    classes, _, method = place.qualname.rpartition(".") if place.is_method else (place.qualname, "", "")
    name = ".".join(filter(None, ("" if package == "." else package, (classes or stem).replace(".", "$"))))
    if manifest == "pom.xml":
        return Named("maven", name + (f"#{method}" if method else ""), "", (base, name, method))
    test = name + (f".{method}" if method else "")
    return Named("gradle", test, "", (f":{base.replace('/', ':')}:test" if base else "test", test))


def _ruby(project: Project, place: Place) -> Named | None:
    if place.path.endswith("_spec.rb"):
        test = f"{place.path}:{place.line}" if place.qualname else place.path
        return Named("rspec", test, "", (test, place.path))
    method = place.qualname.rpartition(".")[2]
    return Named("minitest", f"{place.path} -n {method}" if method else place.path, "", (place.path, method))


def _php(project: Project, place: Place) -> Named | None:
    if not any(project.has(name) for name in ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml")):
        return None
    inside, _, method = place.qualname.rpartition(".")
    name = f"{inside}::{method}" if inside and place.is_method else PurePosixPath(place.path).stem
    return Named("phpunit", name, "", (name, place.path))


_FINDERS: Final[Mapping[str, Callable[[Project, Place], Named | None]]] = {
    "pytest": _python,
    "vitest": _ecmascript,
    "go": _go,
    "cargo": _rust,
    "gradle": _jvm,
    "rspec": _ruby,
    "phpunit": _php,
}
"""Key of `endings` in `grammars/test_runners.toml` -> how the runners of these files are found."""
