"""The effects of an edit: dependents, tests, other files and memories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

NAMED: Final = 5  # dependents, tests or files that a sentence names
MOVES_SHARE: Final = 0.3  # least share of the small changes of the edited file that touched another file as well
MOVES_CHANCE: Final = 0.4  # least chance that such a file changes this time, too, for a note before the edit
LIKELY_CHANCE: Final = 0.6  # the same, for a reminder at the stop, which costs a turn; `benchmarks/forgotten.py` measures both
REMOVED: Final = " (removed)"  # after the path of a file that is deleted or moved, in `Consequences.targets`
BROKEN: Final = " (signature)"  # after a target of which a window was told that uses of its old signature fail
DOCUMENTED: Final = " (documentation)"  # after the id of code of which only comments or docstrings change


class Edit(NamedTuple):
    """One replacement of text in a file, before it is made."""

    path: str  # from the root
    old: str | None  # None: the whole file is written
    new: str
    is_removal: bool = False  # the file is deleted or moved
    at: int = -1  # place of the old text in the file, in characters; -1: where it occurs first
    cell: str = ""  # id or place of the cell of a notebook that is replaced, or after which a cell is inserted
    is_insertion: bool = False  # of a new cell


class Dependent(NamedTuple):
    """Code that uses edited code: its file, line and name."""

    path: str
    line: int  # of the use, 1-based
    name: str
    code: str = ""  # the line of the use, if a signature changes
    uses: tuple[str, ...] = ()  # names by which it may use the edited code, such as the constructor and its class
    begins: int = 0  # first line of its definition in the index; 0: unknown
    call: tuple[str, ...] = ()  # the lines of the use, if a signature changes
    marks: frozenset[str] = frozenset()  # those of these lines that occur only once in the file
    breaks: bool = False  # it uses an old signature that the edit breaks, or code that it removes


class TestCase(NamedTuple):
    """A test that runs edited code."""

    path: str
    name: str  # qualified, such as "TestCart.test_total"; "" for all tests of the file
    line: int
    is_method: bool

    @property
    def shown(self) -> str:
        """The file and the name of the test: `tests/test_cart.py::test_total`."""
        return "::".join([self.path, *filter(None, self.name.split("."))])


class Consequences(NamedTuple):
    """The effects of an edit: dependents, tests, other files, memories.

    Dependents are code that uses the edited code.
    """

    targets: tuple[str, ...]  # references of the edited symbols, or the file
    dependents: tuple[Dependent, ...] = ()  # direct ones outside tests, most confident first
    tests: tuple[TestCase, ...] = ()  # best first
    moves: tuple[tuple[str, float], ...] = ()  # files that change with it, and their share of its changes
    likely: tuple[tuple[str, float], ...] = ()  # those that change most probably, with their chance
    memories: tuple[str, ...] = ()  # ids, best first
    breaks: bool = False  # uses of an old signature fail, or a definition is removed
    named: tuple[str, ...] = ()  # test files that are named after the edited files
    are_tests_told: bool = False  # whether earlier advice named all files of `tests`
    outside: tuple[str, ...] = ()  # code of other projects that uses a contract of the targets, such as "web: shop.py:12 (GET /product/{})"
    is_used: bool = False  # earlier advice, or the opened file itself, has dependents that `dependents` leaves out
    alike: tuple[str, ...] = ()  # methods that must keep the same signature, as "shop.py:12 Cart.add"


Advise = Callable[[Sequence[Edit]], Consequences | None]
TestCommand = Callable[[Sequence[TestCase]], str]  # the command line that runs tests; "" if their runner is unknown
