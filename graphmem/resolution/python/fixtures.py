"""Find the functions that pytest and unittest run before and after a test.

These are fixtures, and methods such as `setUp`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import ATTR, CALL, NAME, TermIndex
from graphmem.resolution.python.annotations import PythonTypes
from graphmem.resolution.python.tables import LIBRARY
from graphmem.resolution.values.symbol import CLASS_KINDS, FUNCTION_KINDS, Symbol
from graphmem.resolution.values.terms import string_of
from graphmem.resolution.values.types import EMPTY, FUNC

if TYPE_CHECKING:
    from graphmem.resolution.files.file_entry import FileEntry
    from graphmem.resolution.interfaces.inference import Inference

CLASS_HOOKS: Final = LIBRARY.class_hooks
"""Methods that unittest or pytest runs before or after the tests of a class."""

MODULE_HOOKS: Final = LIBRARY.module_hooks
"""Functions that unittest or pytest runs before or after the tests of a module."""

FUNCTION_HOOKS: Final = LIBRARY.function_hooks
"""Functions that pytest runs before or after each test function of a module."""


class PythonFixtures(PythonTypes):
    """Rules that find the fixtures and set-up methods of Python tests."""

    def implicit_calls(self, inference: Inference, symbol: Symbol) -> Sequence[Symbol]:
        """Return the functions that pytest or unittest runs for a test.

        These are the fixtures that a test or another fixture requests, and methods such as `setUp` that run before or after each test.
        """
        if symbol.kind not in FUNCTION_KINDS:
            return ()
        parameters = inference.project.definition(symbol).parameters
        found = [self._fixture(inference, symbol, index) for index in range(len(parameters))]
        fixtures = [fixture for fixture in found if fixture is not None]
        return [*fixtures, *self._around_test(inference, symbol)] if symbol.name.startswith("test") else fixtures

    def _around_test(self, inference: Inference, test: Symbol) -> Iterator[Symbol]:
        """Yield the functions that run before or after a test.

        They are methods of the test's class, functions of its module, and fixtures that `usefixtures` names. Fixtures that the test
        requests by its parameters are not included.
        """
        entry = inference.project.entry(test)
        definition = entry.definitions[test.index]
        if not entry.in_tests or (test.kind == "function" and definition.parent != 0):
            return
        decorators = list(definition.decorators)
        if test.kind == "method":
            owner = entry.symbols[definition.parent]
            decorators += entry.definitions[owner.index].decorators
            for name in CLASS_HOOKS:
                found = inference.owner(owner, name)
                if isinstance(found, Symbol):
                    yield from inference.functions(found, name)
        for name in MODULE_HOOKS if test.kind == "method" else (*MODULE_HOOKS, *FUNCTION_HOOKS):
            for place in inference.module_places(entry.path, name) or ():
                if place.entry is entry and place.slot.kind == "definition":
                    yield entry.symbols[place.slot.index]
        for decorator in decorators:
            term = entry.terms[decorator]
            for argument in term[2] if term[0] == CALL and name_of_decorator(entry, decorator) == "usefixtures" else ():
                fixture = self._fixture_named(inference, test, string_of(entry.terms[argument]))
                if fixture is not None:
                    yield fixture

    def _fixture(self, inference: Inference, symbol: Symbol, index: int) -> Symbol | None:
        """Return the pytest fixture that a parameter requests; None without one."""
        entry = inference.project.entry(symbol)
        definition = entry.definitions[symbol.index]
        parameter = definition.parameters[index]
        if not (definition.name.startswith("test") or is_fixture(entry, symbol)) or parameter.default >= 0:
            return None
        in_class = definition.parent >= 0 and entry.definitions[definition.parent].kind in CLASS_KINDS
        return None if in_class and index == 0 else self._fixture_named(inference, symbol, parameter.name)

    def _fixture_named(self, inference: Inference, symbol: Symbol, name: str) -> Symbol | None:
        """Return the pytest fixture of a name that a test sees; None without one.

        The search order is: the test's class, its module, the `conftest.py` files in the folders above the module.
        """
        entry = inference.project.entry(symbol)
        parent = entry.definitions[symbol.index].parent
        if parent >= 0 and entry.definitions[parent].kind in CLASS_KINDS:
            owner = inference.owner(entry.symbols[parent], name)
            if isinstance(owner, Symbol):
                found = self._fixture_in(inference, owner.path, owner.index, name, symbol)
                if found is not None:
                    return found
        folder = entry.path
        paths = [entry.path]
        while folder:
            folder = folder.rpartition("/")[0]
            paths.append(f"{folder}/conftest.py" if folder else "conftest.py")
        for path in paths:
            if path == entry.path or inference.project.file(path) is not None:
                found = self._fixture_in(inference, path, 0, name, symbol)
                if found is not None:
                    return found
        return None

    def _fixture_in(self, inference: Inference, path: str, scope: int, name: str, asking: Symbol) -> Symbol | None:
        entry = inference.project.files[path]
        if scope == 0:
            inference.project.touch("top", path, name)
            places = inference.module_places(path, name) or []
        else:
            inference.project.touch("top", path, entry.top_name(scope))
            inference.project.touch_member(entry, name)
            places = []
            for slot in entry.names(scope).get(name, ()):
                if slot.kind == "definition" and is_fixture(entry, entry.symbols[slot.index]) and entry.symbols[slot.index] is not asking:
                    return entry.symbols[slot.index]
        for place in reversed(places):
            atoms = inference.slot(place) if place.slot.kind == "import" else EMPTY
            symbols = [place.entry.symbols[place.slot.index]] if place.slot.kind == "definition" else []
            symbols += [atom[1] for atom in atoms if atom[0] == FUNC]
            for symbol in symbols:
                if symbol is not asking and is_fixture(inference.project.entry(symbol), symbol):
                    return symbol
        return None


def is_fixture(entry: FileEntry, symbol: Symbol) -> bool:
    """Return whether a function is a pytest fixture.

    Pytest runs a fixture because tests request it by name.
    """
    return any(name_of_decorator(entry, d) in ("fixture", "yield_fixture") for d in entry.definitions[symbol.index].decorators)


def name_of_decorator(entry: FileEntry, term: TermIndex) -> str:
    """Return the last name of a decorator: `fixture` for `@pytest.fixture()`."""
    found = entry.terms[term]
    if found[0] == CALL:
        found = entry.terms[found[1]]
    return str(found[-1]) if found[0] in (NAME, ATTR) else ""
