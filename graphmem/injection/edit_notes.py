"""Sentences for an agent about the effects of an edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from graphmem.injection.consequences import MOVES_SHARE, NAMED, REMOVED, TestCase
from graphmem.injection.items import Item, clean, plain_path

if TYPE_CHECKING:
    from graphmem.injection.consequences import Consequences, Dependent, TestCommand

MOST_TEST_FILES: Final = 10  # that reach an edit; of more, none is closer to it than the others
TEST_FILES: Final = 3  # files of tests in a command that runs whole files
MAX_DEPENDENTS: Final = 300  # characters of listed dependents, so that a trap beside them has room
MAX_COMMAND: Final = 160  # characters of a command that runs single tests


def notes(found: Consequences, command: TestCommand) -> list[Item]:
    """Return the advice about an edit as sentences, most important first.

    `found` has the effects of the edit, and `command` returns the command line that runs given tests. The sentences name code that uses the
    edited code, also in other projects. Other sentences name files that often change with the edited file, and tests.
    """
    inside = tuple(f"{one}." for one in found.targets)
    names = names_text(plain_path(one) for one in found.targets if not one.startswith(inside))
    said = []
    if found.dependents:
        files = len({one.path for one in found.dependents})
        is_removal = any(one.endswith(REMOVED) for one in found.targets)
        broken = sum(one.breaks for one in found.dependents)
        some = f"{broken} of them, named first, {'use' if broken > 1 else 'uses'} the old signature"
        they = "they use" if len(found.dependents) > 1 else "it uses"
        how = f"{they} it" if is_removal or not broken else f"{they} the old signature" if broken == len(found.dependents) else some
        count = f"{_count(len(found.dependents), 'dependent')} in {_count(files, 'other file' if found.is_used else 'file')}"
        said.append(f"Edit of {names}: {count} ({how}): {dependents_text(found.dependents)}.")
    if found.alike:
        said.append(f"Must keep the same signature (override or implementation): {names_text(map(plain_path, found.alike))}.")
    if found.outside:
        said.append(f"Other projects use {names} over the network: {names_text(map(plain_path, found.outside))}.")
    moving = {path for path, _ in found.moves}
    often = sorted((one for one in found.moves if one[1] >= MOVES_SHARE), key=lambda one: -one[1])
    if often:
        said.append(f"Often changed together with it, with the share of its changes: {_shares(often)}.")
    if seldom := [one for one in found.moves if one[1] < MOVES_SHARE]:
        said.append(f"Tests that changed with it, with the share of its changes: {_shares(seldom)}.")
    own = [path for path in found.named if path not in moving]
    if own and not {one.path for one in found.tests[:NAMED]}.issuperset(own):
        said.append(f"Tests named after it: {names_text(map(plain_path, own))}.")
    is_few = len({one.path for one in found.tests}) <= MOST_TEST_FILES
    near = [one for one in found.tests if is_few or one.path in found.named]
    if near and not found.are_tests_told and (said or found.breaks or found.is_used):
        said.append(f"Tests that reach it: {named_tests(near, command)}.")
    return [Item("editor", "note", f"edit:{place}", text, score=-place) for place, text in enumerate(said, 1)]


def reminder(left: Sequence[Dependent]) -> Item:
    """Return a note that names the code `left` to be checked after an edit.

    The code uses a signature or file that was changed or removed, and its file was not opened since.
    """
    text = f"Not opened yet, though they use code that you changed or removed: {dependents_text(left)}."
    return Item("editor", "note", "edit:left", text)


def named_tests(tests: Sequence[TestCase], command: TestCommand) -> str:
    """Return the command line that runs the best tests, such as `go test .`.

    If there are more than NAMED tests, or the command would be long, the command runs whole files instead: the first TEST_FILES of them.
    The number of other files is appended, as in "and 3 more files". Without a known test runner, names are returned instead of a command.
    """
    line = command(tests) if len(tests) <= NAMED else ""
    if line and len(line) <= MAX_COMMAND:
        return f"`{plain_path(line)}`"
    files = [TestCase(path, "", 0, is_method=False) for path in dict.fromkeys(one.path for one in tests)]
    line = command(files[:TEST_FILES])
    chosen = files[:TEST_FILES] if line or len(tests) > NAMED else tests
    more = 0 if line and line == command(files) else max(0, len(files) - TEST_FILES)  # one command may run a whole folder
    named = f"`{plain_path(line)}`" if line else ", ".join(plain_path(one.shown) for one in chosen)
    return named + (f" and {_count(more, 'more file')}" if more else "")


def dependents_text(found: Sequence[Dependent], *, with_code: bool = True) -> str:
    """Name the first dependents, and count the others."""
    named = listed(found, with_code=with_code)
    said = ", ".join(_dependent_text(one, with_code=with_code) for one in named)
    return said + (f" and {len(found) - len(named)} more" if len(found) > len(named) else "")


def listed(found: Sequence[Dependent], *, with_code: bool) -> Sequence[Dependent]:
    """Return the first dependents, as many as one sentence has room for.

    With `with_code`, the sentence shows the line of code of each dependent, which takes more room.
    """
    lengths = list(accumulate(len(_dependent_text(one, with_code=with_code)) for one in found[:NAMED]))
    return found[: max(1, sum(length <= MAX_DEPENDENTS for length in lengths))]


def _dependent_text(one: Dependent, *, with_code: bool) -> str:
    return " ".join(filter(None, (f"{plain_path(one.path)}:{one.line}", plain_path(one.name), _code(one) if with_code else "")))


def _code(one: Dependent) -> str:
    code = " ".join(clean(one.code).split()).replace("[^", "(^")  # "[^" begins a citation
    return f"`{code}`" if code else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _shares(files: Iterable[tuple[str, float]]) -> str:
    return names_text(f"{plain_path(path)} ({share:.0%})" for path, share in files)


def names_text(names: Iterable[str]) -> str:
    """Join the first `NAMED` names, and count the others."""
    every = list(names)
    return ", ".join(every[:NAMED]) + more_text(len(every), NAMED)


def more_text(count: int, named: int) -> str:
    """Return how many of `count` things are not among the `named` ones."""
    return f" and {count - named} more" if count > named else ""
