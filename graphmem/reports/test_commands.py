"""Write the commands that run named tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from graphmem.answers.review import TestCommand, TestToRun

MOST_COMMAND: Final = 32_000  # characters; a command that would be longer runs whole files


class Named(NamedTuple):
    """A test's runner, and the id that this runner uses for the test."""

    runner: str  # "" when unknown
    id: str
    base: str = ""  # directory in which the runner runs, "" for the root
    parts: tuple[str, ...] = ()  # what the command needs
    launcher: str = ""  # the program that starts the runner, such as "poetry run"


NOT_RUN: Final = Named("", "")
"""A place that no runner runs, such as a file of helpers or a benchmark."""


def commands(tests: Sequence[TestToRun], names: Mapping[str, Named]) -> list[TestCommand]:
    """Return for each test runner a command line that runs its tests.

    The command lines are in the order of the runners' first tests. Tests without a known runner are left out. A command line that would be
    too long runs whole files instead of single tests.

    Args:
        tests: the selected tests.
        names: maps the id of a test to its runner, and to the id that the runner uses.
    """
    groups: dict[str, list[tuple[TestToRun, Named]]] = {}
    for one in tests:
        if one.runner:
            groups.setdefault(one.runner, []).append((one, names[one.id]))
    found = []
    for runner, rows in groups.items():
        exact, files = _COMMANDS[runner]
        by_base: dict[tuple[str, str], list[tuple[TestToRun, Named]]] = {}
        for row in rows:
            by_base.setdefault((row[1].base, row[1].launcher), []).append(row)
        command = " && ".join(_in(*start, exact(some)) for start, some in by_base.items())
        whole = len(command) > MOST_COMMAND
        if whole:
            command = " && ".join(_in(*start, files(some)) for start, some in by_base.items())
        by_file = whole or (runner in _WIDENED and not all(test.name for test, _ in rows))
        found.append(TestCommand(runner, command, len(rows), by_file, RECORDING.get(runner, "")))
    return found


def _in(base: str, launcher: str, command: str) -> str:
    """Return a shell command that changes to a directory and runs `command`.

    The command is started by `launcher`, such as `uv run`, unless that is "". Without a directory (`base` is ""), the command runs where it
    is.
    """
    command = f"{launcher} {command}" if launcher else command
    return f"(cd {shlex.quote(base)} && {command})" if base else command


def _quoted(words: Sequence[str]) -> str:
    return " ".join(shlex.quote(one) for one in dict.fromkeys(words))


def _any(names: Sequence[str]) -> str:
    """Return a regular expression that matches any of several names."""
    return "(" + "|".join(dict.fromkeys(re.escape(one).replace("\\ ", " ") for one in names)) + ")"


Rows = Sequence[tuple[TestToRun, Named]]


def _listed(program: str, rows: Rows) -> str:
    return f"{program} {_quoted([name.id for _, name in rows])}"


def _paths(program: str, rows: Rows) -> str:
    return f"{program} {_quoted([test.path for test, _ in rows])}"


def _parts(program: str, place: int, rows: Rows) -> str:
    return f"{program} {_quoted([name.parts[place] for _, name in rows])}"


def _modules(program: str, rows: Rows) -> str:
    return f"{program} {_quoted([name.parts[0] for _, name in rows])}"


def _titled(program: str, rows: Rows) -> str:
    whole = any(not name.parts[1] for _, name in rows)
    pattern = "" if whole else f" -t {shlex.quote(_any([name.parts[1] for _, name in rows]))}"
    return _modules(program, rows) + pattern


def _deno_test(exact: bool, rows: Rows) -> str:
    config = next((name.parts[2] for _, name in rows if name.parts[2]), "")
    options = next((name.parts[3] for _, name in rows if name.parts[3]), "")
    program = " ".join(filter(None, ("deno test", options))) + (f" --config {shlex.quote(config)}" if config else "")
    titles = [name.parts[1] for _, name in rows]
    return _modules(program, rows) + (f" --filter {shlex.quote(f'/^{_any(titles)}$/')}" if exact and all(titles) else "")


def _go_test(exact: bool, rows: Rows) -> str:
    """Return the commands of Go tests: one for each set of build tags.

    `rows` are the tests. With `exact`, only these tests run; otherwise all tests of their packages. Tests of a suite have a command of
    their own, with the test that runs the suite.
    """
    apart: dict[tuple[str, str], list[tuple[TestToRun, Named]]] = {}
    for row in rows:
        _, name, tags = row[1].parts
        apart.setdefault((tags, name.partition("/")[0] if exact and "/" in name else ""), []).append(row)
    found = []
    for (tags, suite), some in apart.items():
        names = list(dict.fromkeys(name.parts[1].rpartition("/")[2] for _, name in some))
        pattern = (f"^{suite}$/" if suite else "") + f"^({'|'.join(names)})$"
        command = _modules(f"go test -tags {shlex.quote(tags)}" if tags else "go test", some)
        found.append(command + (f" -run {shlex.quote(pattern)}" if exact and all(names) else ""))
    return " && ".join(found)


def _cargo(exact: bool, rows: Rows) -> str:
    targets: dict[str, list[str]] = {}
    for _, name in rows:
        targets.setdefault(name.parts[0], []).append(name.parts[1])
    found = []
    for target, names in targets.items():
        if not exact or not all(names):
            found.append(f"cargo test {target}")
        else:  # a module is a part of its tests' names
            how = "" if any(name.endswith("::") for name in names) else "--exact "
            found.append(f"cargo test {target} -- {how}{_quoted(names)}")
    return " && ".join(found)


def _gradle(rows: Rows) -> str:
    tasks: dict[str, list[str]] = {}
    for _, name in rows:
        tasks.setdefault(name.parts[0], []).append(name.parts[1])
    return "./gradlew " + " ".join(
        f"{task} {' '.join(f'--tests {shlex.quote(one)}' for one in dict.fromkeys(some))}" for task, some in tasks.items()
    )


def _maven(exact: bool, rows: Rows) -> str:
    classes: dict[str, dict[str, None]] = {}
    for _, name in rows:
        classes.setdefault(name.parts[1], {})[name.parts[2] if exact else ""] = None
    tests = ",".join(name + (f"#{'+'.join(methods)}" if all(methods) else "") for name, methods in classes.items())
    modules = sorted({name.parts[0] for _, name in rows} - {""})
    return (
        "mvn test"
        + (f" -pl {','.join(modules)} -am -Dsurefire.failIfNoSpecifiedTests=false" if modules else "")
        + f" {shlex.quote(f'-Dtest={tests}')}"
    )


def _minitest(exact: bool, rows: Rows) -> str:
    files: dict[str, list[str]] = {}
    for _, name in rows:
        files.setdefault(name.parts[0], []).append(name.parts[1])
    return " && ".join(
        f"ruby -Ilib -Itest {shlex.quote(path)}" + (f" -n {shlex.quote(f'/^{_any(some)}$/')}" if exact and all(some) else "")
        for path, some in files.items()
    )


def _phpunit(exact: bool, rows: Rows) -> str:
    names = [name.parts[0] if exact else PurePosixPath(name.parts[1]).stem for _, name in rows]
    pattern = rf"/\b{_any(names)}\b/"
    return f"vendor/bin/phpunit --filter {shlex.quote(pattern)}"


RECORDING: Final[Mapping[str, str]] = {
    "pytest": "pytest --graphmem && graphmem index",
    "go": (
        "mkdir -p cov; for p in $(go list ./...); do for t in $(go test -list . $p | grep ^Test); do "
        'go test -run "^$t\\$" -coverpkg=./... -coverprofile=cov/$t.out $p; done; done; graphmem index --coverage cov'
    ),
    "vitest": (
        "for t in $(git ls-files '*.test.*'); do npx vitest run $t --coverage.enabled --coverage.reporter=lcovonly "
        "--coverage.reportsDirectory=cov/$t; done; graphmem index --coverage cov"
    ),
}
"""Runner -> command that runs all tests and records which code each runs; docs/evidence.md has the versions that it was tried with."""

_WIDENED: Final = frozenset({"vitest", "jest", "bun", "deno", "go", "cargo"})
"""Runners that select tests by one pattern for several files; a file without the name of a test makes them run the other files whole."""

Command = Callable[[Rows], str]
_COMMANDS: Final[Mapping[str, tuple[Command, Command]]] = {
    "pytest": (partial(_parts, "pytest", 0), partial(_parts, "pytest", 1)),
    "unittest": (partial(_listed, "python -m unittest"), partial(_modules, "python -m unittest")),
    "django": (partial(_listed, "python manage.py test"), partial(_listed, "python manage.py test")),
    "vitest": (partial(_titled, "vitest run"), partial(_modules, "vitest run")),
    "jest": (partial(_titled, "jest"), partial(_modules, "jest")),
    "deno": (partial(_deno_test, True), partial(_deno_test, False)),
    "bun": (partial(_titled, "bun test"), partial(_modules, "bun test")),
    "go": (partial(_go_test, True), partial(_go_test, False)),
    "cargo": (partial(_cargo, True), partial(_cargo, False)),
    "gradle": (_gradle, _gradle),
    "maven": (partial(_maven, True), partial(_maven, False)),
    "rspec": (partial(_listed, "bundle exec rspec"), partial(_paths, "bundle exec rspec")),
    "minitest": (partial(_minitest, True), partial(_minitest, False)),
    "phpunit": (partial(_phpunit, True), partial(_phpunit, False)),
}
"""Runner -> command of exact tests, and of whole files."""
