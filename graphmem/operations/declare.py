"""How an operation is declared: a method with `@operation`, whose signature, docstring and answer are the contract.

From it follow the root field of GraphQL, the client's request and decoder, the access rule and the reference pages. The marks
below say what a type hint cannot; they stand in `Annotated[...]` beside those of `graphmem.answers.marks`.
"""

from __future__ import annotations

import functools
import inspect
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

P = ParamSpec("P")
R = TypeVar("R")


class Bounds(NamedTuple):
    """The least and the greatest value of a number, both allowed. Others are refused before the implementation is called."""

    low: float
    high: float


class Within(NamedTuple):
    """A number, or the length of a list, that the server's limit of this name bounds as well."""

    limit: str


class Ref(NamedTuple):
    """A reference to a node: what a person types, a raw id, or a global id.

    Args:
        to: the type of the node where only one is meant, such as `Memory`.
    """

    to: str = ""


class Words(NamedTuple):
    """A text that a person types as several words."""


class Argument(NamedTuple):
    """A parameter with a default that a command takes by its place, as it takes those without one."""


class Spelled(NamedTuple):
    """How a command spells a parameter, where the rule does not say it (see `graphmem.cli.derived`).

    Args:
        flags: of the option.
        default: for people, who want to see less at once than programs.
        metavar: what stands for the value in the help.
        was: earlier flags, which work for one more release.
    """

    flags: tuple[str, ...] = ()
    default: Any = None
    metavar: str = ""
    was: tuple[str, ...] = ()


class Filled(NamedTuple):
    """A parameter that an interface fills in itself.

    Args:
        by: `actor`: who asks, for the audit. `clock`: when the request came, on the clock of `time.monotonic`. `network`: whether the
            caller is on the other side of a connection.
    """

    by: Literal["actor", "clock", "network"]


class Local(NamedTuple):
    """A parameter of callers in the same process, such as a callback or a path. GraphQL does not have it.

    Args:
        by_command: a derived command has it.
    """

    by_command: bool = False


class FileName(NamedTuple):
    """A file by its path; over the network by its name alone, in the index's own directory."""


class Sight(StrEnum):
    """How memories of other visibilities are kept out of an answer."""

    PLAIN = "plain"
    """No memory comes into it."""
    SEEN = "seen"
    """The operation reads memories through their index alone, in the thread that calls it: `projection.sight`."""
    NAMED = "named"
    """It changes memories it is given by id, or adds some: those are checked first, the answer is read again."""
    WHOLE = "whole"
    """It touches or shows memories in other ways: only for those who see all of them."""


Scope = Literal["", "read", "remember", "curate", "index", "admin"]
"""What a token needs: "" is what every token may."""

Root = Literal["query", "mutation", ""]
"""Under which root GraphQL has the operation; "": GraphQL reaches it by a resolver of its own, or not at all."""

MARK: Final = "__operation__"


@dataclass(frozen=True, slots=True)
class Hints:
    """What the decorator is told; see `operation`."""

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
        """What holds for a method that nothing is known of."""
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
    """Declare a method as an operation. What is left out fails closed: an administrator who sees every memory.

    Args:
        root: GraphQL's root type that has it.
        needs: the scope of a token that may call it.
        shows: how memories are kept from those who may not see them.
        also_reads: it answers with what is known, so a token needs `read` as well.
        slow: it may take minutes, so the deadline of a request does not hold for it.
        sizes: parameter that bounds lists of the answer -> those lists, deeper ones with dots; () is the answer itself.
        packed: a TypedDict that holds its parameters by name; GraphQL takes one argument `input` of it.
        renamed: earlier name of a parameter -> its name; in Python the earlier one still works, with a DeprecationWarning.
        client: `derived`: the remote client calls the root field. `own`: it has a method of its own. `none`: it has not got it.
        command: the name of the command that is derived from it; `memory show` is one of the family `memory`.
        searches: it searches by words and by meaning, so a command waits until both are ready.
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
    described: str  # by the docstring's section `Args`, or by a `Doc`

    def has(self, kind: type) -> bool:
        """Whether it has a mark of a kind."""
        return any(isinstance(one, kind) for one in self.marks)

    def mark(self, kind: type[R]) -> R | None:
        """Its mark of a kind; of several the last, which stands nearest."""
        return next((one for one in reversed(self.marks) if isinstance(one, kind)), None)

    @property
    def is_required(self) -> bool:
        """Whether a caller has to give it."""
        return self.default is inspect.Parameter.empty and not self.is_mapping

    @property
    def graphql_name(self) -> str:
        """Its name in GraphQL."""
        return camel(self.name)


@dataclass(frozen=True)
class Operation:
    """One declared operation."""

    name: str
    function: Callable[..., Any] = field(repr=False)
    hints: Hints

    @cached_property
    def signature(self) -> inspect.Signature:
        """Of the declaration, with `self`."""
        return inspect.signature(self.function)

    @cached_property
    def _types(self) -> dict[str, Any]:
        return typing.get_type_hints(self.function, include_extras=True)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those a caller gives, in order; `**given: Unpack[TypedDict]` is a parameter by its own name."""
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
        """Bounds of its numbers, by parameter."""
        return {one.name: bounds for one in self.parameters if (bounds := one.mark(Bounds)) is not None}

    @cached_property
    def answer(self) -> Any:
        """The type of its answer."""
        return self._types["return"]

    @cached_property
    def _described(self) -> dict[str, str]:
        """What the docstring's section `Args` says of parameters."""
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
        """What it does, for people: the docstring up to its sections."""
        text = inspect.getdoc(self.function) or ""
        for section in ("\nArgs:", "\nRaises:", "\nReturns:"):
            text = text.partition(section)[0]
        return text.strip()


def accepting(function: Callable[..., Any], renamed: Mapping[str, str]) -> Callable[..., Any]:
    """The function, called by earlier names of its parameters as well."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **by_new_names(function.__name__, kwargs, renamed))

    return call


def by_new_names(called: str, given: Mapping[str, Any], renamed: Mapping[str, str]) -> dict[str, Any]:
    """Arguments by the names of now, with a warning for each earlier one.

    Args:
        called: what they are given to, for the warning.
        given: the arguments.
        renamed: earlier name -> name.
    """
    for old in renamed.keys() & given.keys():
        warnings.warn(f"{called}({old}=…) is now {renamed[old]}=…", DeprecationWarning, stacklevel=3)
    return {renamed.get(name, name): value for name, value in given.items()}


def within_bounds(function: Callable[..., Any], operation: Operation) -> Callable[..., Any]:
    """The function, which refuses numbers outside their `Bounds` with a BadInputError."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = operation.signature.bind(None, *args, **kwargs).arguments
        for name, (low, high) in operation.bounds.items():
            value = given.get(name)
            if value is None:
                continue
            if not isinstance(value, (int, float)) or isinstance(value, bool) or not low <= value <= high:
                raise BadInputError(f"{name} is {value!r}; it must be {low:,g} to {high:,g}", argument=name, value=value)
        return function(*args, **kwargs)

    return call


def held_to(operation: Operation, method: Callable[..., Any]) -> Callable[..., Any]:
    """The bound method that implements an operation, with what its declaration promises of parameters."""
    if operation.bounds:
        method = within_bounds(method, operation)
    return accepting(method, operation.hints.renamed) if operation.hints.renamed else method


def split(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type hint and the marks of its `Annotated`."""
    if typing.get_origin(hint) is typing.Annotated:
        inner, *marks = typing.get_args(hint)
        return inner, tuple(marks)
    return hint, ()


def camel(name: str) -> str:
    """The GraphQL name of a Python name: `max_depth` is `maxDepth`, `from_` is `from`."""
    head, *tail = name.rstrip("_").split("_")
    return head + "".join(part.capitalize() for part in tail)


def pascal(name: str) -> str:
    """The name of the ready-made document of an operation: `co_access` is `CoAccess`."""
    text = camel(name)
    return text[:1].upper() + text[1:]


def operations_of(*declared: type) -> dict[str, Operation]:
    """The operations that classes declare, by name, in the order of declaration."""
    found: dict[str, Operation] = {}
    for cls in declared:
        for name, value in vars(cls).items():
            hints = getattr(value, MARK, None)
            if isinstance(hints, Hints):
                found[name] = Operation(name, value, hints)
    return found
