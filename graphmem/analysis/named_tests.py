"""Find tests of a file by names, such as `test_cart.py` of `cart.py`.

The words of names are compared, without words such as "test" and "spec". A test file is named after another file on two conditions:

* The name of the test file ends with all words of the other file's name.
* Each further word is the beginning of a word in the other file's path. Further words are those before the matching end, and those of the
  test file's folder if the files are in different folders.

In a repository of several packages, both files are in the same package, or one package contains the other.

For example, `test_command_check.py` is named after `commands/check.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping, Sequence
from functools import cache
from typing import Final

from graphmem.runtime.data.conventions import all_conventions, conventions_by_language

FEW: Final = 50  # tests that a name may select, however few tests the project has
SHARE: Final = 0.25  # of all tests; a name of more tests is too common
MOST: Final = 2  # equally good tests; more of them show that the name is common
_TEST: Final = frozenset({"test", "tests", "spec", "specs", "testing", "unit", "units", "integration", "functional", "t"})
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BREAK: Final = re.compile(r"[^a-z0-9]+")


def find_named_tests(path: str, paths: Sequence[str], is_test: Callable[[str], bool]) -> list[str]:
    """Return the test files that are named after a file, at most two.

    If there are several such files, those in the most similar folders are chosen. If more than two files remain, the name is too common,
    and the result is empty. The result is also empty if `path` is itself a test.

    Args:
        path: the file.
        paths: all files of the project.
        is_test: returns whether the file at a path has tests.
    """
    *folders, base = path.split("/")
    suffix = base.rpartition(".")[2]
    own = _own_words(path)
    if not own or is_test(path):
        return []
    family = _families()
    near = [*own, *(word for folder in folders for word in _words(folder))]
    found: dict[tuple[bool, int], list[str]] = {}
    last, capitalised = own[-1], own[-1].capitalize()
    for other in paths:  # thousands of files, so the first check must be cheap
        if (last not in other and capitalised not in other) or other == path:
            continue
        *its_folders, its_base = other.split("/")
        its_name, _, its_suffix = its_base.rpartition(".")
        words = _subject(its_name)
        if words[-len(own) :] != own or family.get(its_suffix, its_suffix) != family.get(suffix, suffix):
            continue
        more = [*words[: -len(own)], *(_subject(its_folders[-1]) if its_folders and its_folders != folders else ())]
        if all(any(word.startswith(one) for word in near) for one in more) and is_test(other):
            found.setdefault(_nearness(folders, other), []).append(other)
    best = _one_package(path, found[max(found)], paths) if found else []
    return best if len(best) <= MOST else []


def _one_package(path: str, tests: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return tests in a file's package, or in a package around or inside it.

    `paths` are all files of the project, among them the files that mark the root of a package.
    """
    marks = all_conventions().project_files
    roots = {f"{folder}/" for one in paths for folder, _, name in (one.rpartition("/"),) if folder and name in marks} if tests else set()
    own = _root_of(path, roots)
    return [one for one in tests if own.startswith(root := _root_of(one, roots)) or root.startswith(own)]


def _root_of(path: str, roots: Container[str]) -> str:
    """Return the deepest of `roots` that contains a path; "" without one."""
    while path and path not in roots:
        path = path.rstrip("/").rpartition("/")[0]
        path += "/" * bool(path)
    return path


def most_cases(tests: int) -> float:
    """Return the maximum number of tests that one name may select.

    `tests` is the number of tests in the project. A name that selects more tests than the maximum is too common.
    """
    return max(FEW, SHARE * tests)


class NamedCases:
    """The tests of a project, by the words of their names.

    The words of a test's name and of its file's name are compared with those of a code file or function. For example, the test
    `XLSXTests.test_wide`, in any file, is a test of `_xlsx.py`.

    Args:
        cases: all tests of the project, as (path, qualified name).
    """

    def __init__(self, cases: Sequence[tuple[str, str]]) -> None:
        self._most = most_cases(len(cases))
        self._paths = [path for path, _ in cases]
        self._runs: list[tuple[Sequence[str], Sequence[str]]] = []
        self._with: dict[str, list[int]] = {}
        files: dict[str, Sequence[str]] = {}
        for at, (path, name) in enumerate(cases):
            if path not in files:
                files[path] = _words(path.rpartition("/")[2].rpartition(".")[0])
            self._runs.append((files[path], _words(name)))
            for word in {*files[path], *self._runs[at][1]}:
                self._with.setdefault(word, []).append(at)

    def of_file(self, path: str) -> list[int] | None:
        """Return the positions of the tests whose names contain a file's name.

        Of several such test files, only those in the most similar folders count. The result is None if the name selects too many tests,
        which makes it too common.
        """
        found = self._of(_own_words(path))
        if not found:
            return found
        folders = path.split("/")[:-1]
        near = [_nearness(folders, self._paths[at]) for at in found]
        best = max(near)
        return [at for at, how in zip(found, near, strict=True) if how == best]

    def of_function(self, name: str) -> list[int] | None:
        """Return the positions of the tests whose names contain a function's name.

        A name of a single word selects no tests. The result is None if the name selects too many tests.
        """
        words = _words(name)
        return self._of(words) if len(words) > 1 else []

    def _of(self, own: Sequence[str]) -> list[int] | None:
        rare = min((self._with.get(word, []) for word in own), key=len, default=[])
        found = [at for at in rare if any(_has_run(words, list(own)) for words in self._runs[at])]
        return found if len(found) <= self._most else None


def _nearness(folders: Sequence[str], other: str) -> tuple[bool, int]:
    """Return how similar the folders of another path are; larger is nearer."""
    own = other.split("/")[:-1]
    return own == folders, len(set(own) & set(folders))


def _own_words(path: str) -> list[str]:
    """Return the words of a file's name; of its folder for `index.ts`."""
    *folders, base = path.split("/")
    own = _words(base.rpartition(".")[0])
    return _words(folders[-1]) if len(own) == 1 and own[0] in _folder_words() and folders else own


def _has_run(words: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(list(words[at : at + len(wanted)]) == wanted for at in range(len(words) - len(wanted) + 1))


@cache
def _families() -> Mapping[str, str]:
    """Map file suffixes to a key, the same for files that may test each other."""
    lists = (one.tested_together for one in conventions_by_language().values())
    return {suffix: names[0] for names in lists for suffix in names}


@cache
def _folder_words() -> frozenset[str]:
    """Return words of file names that represent a folder, such as `index`."""
    known = all_conventions()
    return frozenset(word for name in known.folder_files | known.program_files for word in _words(name))


def _subject(name: str) -> list[str]:
    """Return the words of a test file's name, without words such as "test"."""
    return [word for word in _words(name) if word not in _TEST]


def _words(name: str) -> list[str]:
    return [word for word in _BREAK.split(_CAPITAL.sub("_", name).lower()) if word]
