"""Index the calls of each name, and choose which of them to examine.

An input is a fact of a file on which cached answers depend, such as the definitions of a name.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final, NamedTuple

from graphmem.resolution.cache.solver import Memo, Solver
from graphmem.resolution.files.call_index import CallSite
from graphmem.resolution.files.file_entry import FileEntry

MAX_CALL_SITES: Final = 120
"""Maximum number of call sites of one name used to infer an undeclared parameter."""

MAX_SAMPLED: Final = 40
"""Maximum number for a name with more than `MAX_CALL_SITES` call sites outside tests. Only the types of these calls count."""

MAX_DECORATED: Final = 60
"""Maximum number for a name that is used only as a decorator. Each use adds one function."""

_LAST: Final = "\U0010ffff"  # after every character of a path


class Callers(NamedTuple):
    """Sorted paths of the files that call a name: test files and other files."""

    outside: list[str]  # not in tests
    tests: list[str]
    are_sampled: bool  # there are more calls than `MAX_CALL_SITES`, and at least so many of them outside tests


class CallSites:
    """The calls of each name in all files of a project.

    Args:
        files: all files by path.
        solver: computes answers and records what they depend on.
        touch: records that the answer being computed depends on an input; see `Project.touch`.
        shared: answers that are valid until a file is replaced.
    """

    def __init__(self, files: Mapping[str, FileEntry], solver: Solver, touch: Callable[..., None], shared: Memo) -> None:
        self._files = files
        self._solver = solver
        self._touch = touch
        self._shared = shared
        self._called: dict[str, dict[str, int]] = {}  # bare name -> path -> number of calls
        self._callers: dict[str, Callers] = {}  # of names that many files call

    def add(self, entry: FileEntry) -> None:
        """Add the calls of a file."""
        for name, sites in entry.calls.items():
            self._called.setdefault(name, {})[entry.path] = len(sites)

    def remove(self, entry: FileEntry) -> None:
        """Remove the calls of a file."""
        for name in entry.calls:
            self._called[name].pop(entry.path)

    def forget_answers(self) -> None:
        """Clear cached results about calls, because files will change."""
        self._callers.clear()

    def of(self, name: str, near: str = "") -> tuple[Sequence[CallSite], bool]:
        """Return the calls of a name, and whether the list is complete.

        The name has no dots: `f` for `a.f()`. A long list is cut to a maximum length:

        - `MAX_DECORATED` if all calls are uses of a decorator;
        - `MAX_SAMPLED` if at least `MAX_CALL_SITES` calls are outside tests;
        - `MAX_CALL_SITES` in all other cases.

        Calls outside tests come first. Of these, the calls nearest to the file `near` come first: those in the file, then in its folder,
        then in the folder around that folder. Distant calls matter less, because unrelated packages share many names.
        """
        paths = self._called.get(name, {})
        if sum(islice(paths.values(), MAX_DECORATED + 1)) <= MAX_DECORATED:
            near = ""
        return self._solver.look_up(self._shared, ("sites", name, near), self._call_sites, name, near)

    def decorations(self, key: str) -> Iterator[CallSite]:
        """Yield all uses of a decorator, in the order of their files' paths.

        `key` is the name of the decorator. `@` before the name selects decorators that are calls, as `@name(…)`.
        """
        self._touch("calls", key)
        for path in sorted(self._called.get(key, ())):
            yield from (site for site in self._files[path].call_sites(key) if site.decorated >= 0)

    def is_called(self, name: str) -> bool:
        """Whether any code calls a function of a given name."""
        self._touch("calls", name)
        return bool(self._called.get(name))

    def _callers_of(self, name: str) -> Callers:
        """Return the files with calls of functions called `name`.

        The files outside tests and the test files are listed separately. The result for a common name is cached.
        """
        known = self._callers.get(name)
        if known is not None:
            return known
        counts = self._called.get(name, {})
        paths = sorted(counts)
        outside = [path for path in paths if not self._files[path].in_tests]
        tests = [path for path in paths if self._files[path].in_tests]
        found = Callers(outside, tests, sum(counts[path] for path in outside) >= MAX_CALL_SITES < sum(counts.values()))
        if len(paths) > MAX_DECORATED:
            self._callers[name] = found
        return found

    def _call_sites(self, name: str, near: str) -> tuple[Sequence[CallSite], bool]:
        self._touch("calls", name)
        found: list[CallSite] = []
        callers = self._callers_of(name)
        decorate_only = True
        for path in chain(nearest(callers.outside, near), nearest(callers.tests, near)):
            sites = list(self._files[path].call_sites(name))
            found += sites
            decorate_only = decorate_only and all(site.decorated >= 0 for site in sites)
            if decorate_only and len(found) > MAX_DECORATED:
                return found[:MAX_DECORATED], False
            # Stop before a file whose calls would not be returned, because its facts may have to be read from disk.
            if not decorate_only and len(found) > (MAX_SAMPLED if callers.are_sampled else MAX_CALL_SITES):
                return found[: MAX_SAMPLED if callers.are_sampled else MAX_CALL_SITES], False
        return found, True


def nearest(paths: Sequence[str], near: str) -> Iterator[str]:
    """Yield sorted paths in the order of their distance from a file.

    `near` is the path of the file, which comes first. The files in its folder and in the folders inside that folder follow. Then come the
    files of the next outer folder, and so on.
    """
    first = end = bisect_left(paths, near)
    around = near
    while around:
        below = bisect_left(paths, around, 0, first), bisect_left(paths, around + _LAST, end)
        yield from paths[below[0] : first]
        yield from paths[end : below[1]]
        first, end = below
        around = around[: around.rstrip("/").rfind("/") + 1]
    yield from paths[:first]
    yield from paths[end:]
