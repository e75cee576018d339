"""The decorator `@operation` and marks, which declare operations.

Signature, docstring and answer type of a declared method are the contract. The GraphQL root field, the client's request and decoder, the
access rule and the reference pages are derived from it. The marks below add facts that a type hint cannot express, such as bounds. They are
used in `Annotated[...]`, like the marks of `graphmem.answers.marks`.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, ParamSpec, TypeVar

from graphmem.answers.marks import Doc
from graphmem.errors import BadInputError
from graphmem.operations.marks import Bounds

P = ParamSpec("P")
R = TypeVar("R")


class Sight(StrEnum):
    """The method by which an operation hides memories from some callers."""

    PLAIN = "plain"
    """The answer contains no memories."""
    SEEN = "seen"
    """The operation reads memories only through their index, in the calling thread; see `projection.memories.sight`."""
    NAMED = "named"
    """It changes memories given by id, or adds some. They are checked first, and the answer is read again."""
    WHOLE = "whole"
    """It uses memories in other ways, so the caller must be allowed to see all of them."""


Scope = Literal["", "read", "remember", "curate", "index", "admin"]
"""The scope that a token needs; "" allows every token."""

Root = Literal["query", "mutation", ""]
"""The GraphQL root type of the operation; "" when GraphQL has a separate resolver for it, or none."""

MARK: Final = "__operation__"


@dataclass(frozen=True, slots=True)
class Hints:
    """The arguments of the decorator `operation`."""

    root: Root
    needs: Scope
    shows: Sight
    also_reads: bool
    slow: bool
    sizes: Mapping[str, tuple[str, ...]]
    packed: type | None
    renamed: Mapping[str, str]
    client: Literal["derived", "own", "none"]
    command: str
    searches: bool

    @classmethod
    def closed(cls) -> Hints:
        """Return the options for a method that is not declared as an operation.

        They are the strictest: only an administrator who sees every memory may call the method.
        """
        return cls("", "admin", Sight.WHOLE, False, False, {}, None, {}, "none", "", False)


def operation(
    root: Root = "",
    *,
    needs: Scope = "admin",
    shows: Sight = Sight.WHOLE,
    also_reads: bool = False,
    slow: bool = False,
    sizes: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
    packed: type | None = None,
    renamed: Mapping[str, str] = MappingProxyType({}),
    client: Literal["derived", "own", "none"] = "derived",
    command: str = "",
    searches: bool = False,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a method as an operation.

    The defaults fail closed: only an administrator who sees every memory may call it.

    Args:
        root: the GraphQL root type.
        needs: the scope that a token needs.
        shows: how memories are hidden from callers who may not see them.
        also_reads: the answer contains stored knowledge, so a token also needs `read`.
        slow: the operation may take minutes, so the deadline of a request does not apply.
        sizes: maps a parameter to the lists in the answer whose length it limits, such as `hits` or `impact.hits`. () means that the answer
            itself is the list.
        packed: a TypedDict with the operation's parameters; GraphQL has one argument `input` of this type.
        renamed: earlier name of a parameter -> current name. In Python the earlier name works with a DeprecationWarning.
        client: `derived`: the remote client calls the root field. `own`: the client has a handwritten method. `none`: it has none.
        command: the name of the derived command; `memory show` belongs to the family `memory`.
        searches: the operation searches by words and by meaning, so a command waits until both indexes are ready.
    """
    hints = Hints(root, needs, shows, also_reads, slow, sizes, packed, renamed, client, command, searches)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        setattr(function, MARK, hints)
        return function

    return decorate


class Parameter(NamedTuple):
    """A parameter of an operation."""

    name: str
    hint: Any  # without the marks
    marks: tuple[Any, ...]
    default: Any  # inspect.Parameter.empty: it has none
    is_mapping: bool  # `**changes: Unpack[…]`: its fields are parameters of the call
    described: str  # the text of the docstring's section `Args`, or of a `Doc`

    def has(self, kind: type) -> bool:
        """Whether the parameter's `Annotated` metadata contains a given class."""
        return any(isinstance(one, kind) for one in self.marks)

    def mark(self, kind: type[R]) -> R | None:
        """Return the outermost mark of a class in the annotation; None without."""
        return next((one for one in reversed(self.marks) if isinstance(one, kind)), None)

    @property
    def is_required(self) -> bool:
        """Whether a caller must give the parameter."""
        return self.default is inspect.Parameter.empty and not self.is_mapping

    @property
    def graphql_name(self) -> str:
        """Name of the parameter in GraphQL."""
        return camel(self.name)


@dataclass(frozen=True)
class Operation:
    """An operation as declared: its signature, documentation and rules."""

    name: str
    function: Callable[..., Any] = field(repr=False)
    hints: Hints

    @cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the declaration, with `self`."""
        return inspect.signature(self.function)

    @cached_property
    def _types(self) -> dict[str, Any]:
        return type_hints(self.function)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the operation's method in order, without `self`.

        `**given: Unpack[TypedDict]` counts as one parameter with the name `given`.
        """
        found = []
        for name, one in list(self.signature.parameters.items())[1:]:
            hint, marks = split(self._types[name])
            is_mapping = one.kind is inspect.Parameter.VAR_KEYWORD
            if is_mapping:
                hint = typing.get_args(hint)[0]
            doc = next((mark.text for mark in marks if isinstance(mark, Doc)), "")
            found.append(Parameter(name, hint, marks, one.default, is_mapping, self._described.get(name, doc)))
        return tuple(found)

    @cached_property
    def bounds(self) -> dict[str, Bounds]:
        """Smallest and largest value allowed for each parameter that is a number."""
        return {one.name: bounds for one in self.parameters if (bounds := one.mark(Bounds)) is not None}

    @cached_property
    def limits(self) -> tuple[tuple[str, int, float, float], ...]:
        """(parameter, position in a call, lowest, highest value) of each number."""
        order = list(self.signature.parameters)[1:]
        return tuple((name, order.index(name), one.low, one.high) for name, one in self.bounds.items() if name in order)

    @cached_property
    def answer(self) -> Any:
        """Type of the operation's answer."""
        return self._types["return"]

    @cached_property
    def _described(self) -> dict[str, str]:
        """Map each parameter to its description in the docstring's section `Args`."""
        section = (inspect.getdoc(self.function) or "").partition("\nArgs:\n")[2].partition("\n\n")[0]
        found: dict[str, str] = {}
        name = ""
        for line in section.splitlines():
            if line.startswith("    ") and not line.startswith("     ") and ":" in line:
                name, _, text = line.strip().partition(":")
                found[name] = text.strip()
            elif name:
                found[name] += " " + line.strip()
        return found

    @property
    def doc(self) -> str:
        """The description of the operation: the docstring up to its sections."""
        text = inspect.getdoc(self.function) or ""
        for section in ("\nArgs:", "\nRaises:", "\nReturns:"):
            text = text.partition(section)[0]
        return text.strip()


def accepting(function: Callable[..., Any], renamed: Mapping[str, str]) -> Callable[..., Any]:
    """Wrap a function so that it accepts earlier names of its parameters.

    `renamed` maps an earlier name to the current one.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **by_new_names(function.__name__, kwargs, renamed))

    return call


def by_new_names(called: str, given: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Return arguments by their current names; warn about earlier names.

    Args:
        called: the function's name, for the warning.
        given: the arguments, by current or earlier names.
        renamed: earlier name -> current name.
    """
    for old in renamed.keys() & given.keys():
        warnings.warn(f"{called}({old}=…) is now {renamed[old]}=…", DeprecationWarning, stacklevel=3)
    return {renamed.get(name, name): value for name, value in given.items()}


def within_bounds(function: Callable[..., Any], operation: Operation) -> Callable[..., Any]:
    """Wrap a function to reject numbers outside their bounds.

    The declaration is read at the first call. Reading all of them took 50 ms of processor time of every command that opens an index.

    Raises:
        BadInputError: from the wrapped function, for a number outside its `Bounds`.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name, at, low, high in operation.limits:
            value = args[at] if at < len(args) else kwargs.get(name)
            if value is None:
                continue
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
                raise BadInputError(f"{name} is {value!r}; use a number from {low:,g} to {high:,g}", argument=name, value=value)
        return function(*args, **kwargs)

    return call


def held_to(operation: Operation, method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `method`: check number bounds, and accept old parameter names."""
    method = within_bounds(method, operation)
    return accepting(method, operation.hints.renamed) if operation.hints.renamed else method


_hints: Final[dict[tuple[str, str], Any]] = {}  # by module and text


def type_hints(declared: Any) -> dict[str, Any]:
    """Return `typing.get_type_hints` with metadata, for a class or a function.

    `declared` is the class or function. The result maps each name to its type.

    Results are cached by module and text, because many annotations of a module are the same.
    """
    found: dict[str, Any] = {}
    for one in reversed(declared.__mro__) if isinstance(declared, type) else (declared,):
        annotations = vars(one).get("__annotations__", {}) if isinstance(one, type) else one.__annotations__
        found |= {name: _type_of(one.__module__, hint) for name, hint in annotations.items()}
    return found


def _type_of(module: str, hint: Any) -> Any:
    if not isinstance(hint, str):
        return _evaluated(module, hint)
    if (module, hint) not in _hints:
        _hints[module, hint] = _evaluated(module, hint)
    return _hints[module, hint]


def _evaluated(module: str, hint: Any) -> Any:
    alone = types.SimpleNamespace(__annotations__={"hint": hint})
    return typing.get_type_hints(alone, vars(sys.modules[module]), include_extras=True)["hint"]


def split(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Split a type hint into the plain type and its metadata.

    For `Annotated[int, a, b]`, the result is (`int`, (`a`, `b`)). A hint without `Annotated` has no metadata.
    """
    if typing.get_origin(hint) is typing.Annotated:
        inner, *marks = typing.get_args(hint)
        return inner, tuple(marks)
    return hint, ()


def camel(name: str) -> str:
    """Convert a Python name to its GraphQL name: `max_depth` to `maxDepth`.

    A trailing underscore is dropped: `from_` becomes `from`.
    """
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in tail)


def pascal(name: str) -> str:
    """Return the document name of an operation: `CoAccess` for `co_access`.

    A document is a GraphQL query or mutation that is stored under this name.
    """
    text = camel(name)
    return text[:1].upper() + text[1:]


def operations_of(*declared: type) -> dict[str, Operation]:
    """Map names to the operations that classes declare, in declaration order."""
    found: dict[str, Operation] = {}
    for cls in declared:
        for name, value in vars(cls).items():
            hints = getattr(value, MARK, None)
            if isinstance(hints, Hints):
                found[name] = Operation(name, value, hints)
    return found
