"""Read the commands that a project's CI files run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphmem.memory.seeds.seed import Seed
from graphmem.memory.texts.text import clipped
from graphmem.runtime.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

_TELLING_COMMAND: Final = lazy_pattern(
    r"(?:^|[\s/])(?:pytest|tox|nox|hatch|ruff|mypy|pyright|flake8|black|eslint|vitest|jest|playwright|cypress|tsc|cargo|mvnw?|gradlew?|make|rake"
    r"|poe|poethepoet|inv|invoke|nx|turbo|mise run|pdm run"
    r"|rspec|phpunit|phpstan|dotnet|ctest|cmake|just|task|bazel|golangci-lint|clippy|rubocop|unittest|coverage run"
    r"|go (?:test|vet|build)|(?:npm|pnpm|yarn|bun) (?:run |test|build|lint|check)|(?:uv|poetry|bundle) (?:run|exec)"
    r"|scripts?/\w+|composer (?:run|test))\b"
)
_INSTALLS: Final = lazy_pattern(
    r"\b(?:pip3?|apt(?:-get)?|brew|npm|pnpm|yarn|uv pip|gem|cargo|choco|sudo) (?:ci\b|i\b|install|add|update)"
    r"|^(?:poe|make|just|task) install\b|\buv tool install"
)
_RUN: Final = lazy_pattern(r"^(?P<in>\s*)(?:-\s+)?run:\s*(?P<said>.*)$")
_SCRIPT: Final = lazy_pattern(r"^(?P<in>\s*)(?:before_script|script):\s*(?P<said>.*)$")
_OPTIONS: Final = lazy_pattern(r"\s+(?:-(?!m\s)|\$\{\{)")  # `python -m` names a program
_PLUMBING: Final = lazy_pattern(  # of a shell script: these lines check nothing
    r"^(?:\w+=(?:\$\(|\S*$)|(?:cat|cd|cp|curl|echo|elif|else|exit|export|fi|for|if|ls|mkdir|mv|printf|rm|set|source|tar|test|then|wget|while)\b)"
)
_PROBE: Final = lazy_pattern(r"\s(?:--?version|version|--help|-V)$")  # it only shows that the program starts
_MOST_COMMANDS: Final = 8


def ci_commands(path: str, text: str) -> Iterator[Seed]:
    """Yield a seed (text for a first memory) with a CI file's commands."""
    telling = (one for one in _commands(text) if _TELLING_COMMAND.search(one) and not _PLUMBING.search(one) and not _PROBE.search(one))
    every = dict.fromkeys(one for one in telling if not _INSTALLS.search(one))
    shortest: dict[str, str] = {}
    for one in every:
        program = _OPTIONS.split(one, maxsplit=1)[0]
        if len(one) < len(shortest.setdefault(program, one)):
            shortest[program] = one
    found = [one for one in shortest.values() if "${{" not in one] or list(shortest.values())  # nobody can run a variable of the matrix
    if found:
        said = "; ".join(f"`{clipped(one, 100)}`" for one in found[:_MOST_COMMANDS])
        yield Seed(f"CI ({path}) runs {said}", "workflow_recipe", is_orientation=True)


def _commands(text: str) -> Iterator[str]:
    """Yield the shell commands in a CI file, under `run:` and `script:`."""
    deep = -1
    folded: list[str] | None = None  # lines of a block that YAML joins to one line
    for line in text.splitlines():
        if deep >= 0:
            if not line.strip():
                continue
            if len(line) - len(line.lstrip()) > deep:
                said = line.strip().removeprefix("- ").rstrip("\\").strip().strip("'\"")
                if folded is None:
                    yield said
                else:
                    folded.append(line.strip())
                continue
            deep = -1
            if folded:
                yield " ".join(folded)
        begun = _RUN.match(line) or _SCRIPT.match(line)
        if begun is None:
            continue
        said = begun["said"].strip()
        if said and said[0] not in "|>[":
            yield said.strip("'\"")
        else:
            deep = len(begun["in"])
            folded = [] if said.startswith(">") else None
    if deep >= 0 and folded:
        yield " ".join(folded)
