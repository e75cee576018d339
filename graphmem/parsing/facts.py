"""Facts: the results of parsing one file, from which names are resolved.

Facts concern one file, are immutable and independent of the language. They consist of plain tuples, strings and integers, so they are cheap
to serialise. They can be cached by the content hash of the file. Every expression is a *term*: a tuple whose first item is an operator,
such as `call`. Each file has one list of terms, `FileFacts.terms`. A term refers to its parts by their indices in this list, which are
smaller than its own index. Equal terms have the same index, so type inference can cache results by (file, scope, index).

Scopes are indices into `definitions`; index 0 is always the module itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple, NewType

from graphmem.model import Severity

NAME: Final = 0
ATTR: Final = 1
CALL: Final = 2
INDEX: Final = 3
STRING: Final = 4
LITERAL: Final = 5
LIST: Final = 6
TUPLE: Final = 7
SET: Final = 8
DICT: Final = 9
EITHER: Final = 10
AWAIT: Final = 11
ITER: Final = 12
ENTER: Final = 13
UNPACK: Final = 14
LAMBDA: Final = 15
NEW: Final = 16
COMPREHENSION: Final = 17
OPERATOR: Final = 18
SELF: Final = 19
SUPER: Final = 20
OBJECT: Final = 21
SPREAD: Final = 22
UNKNOWN: Final = 23
TYPED: Final = 24

TRUTH: Final = "bool"
TEXT: Final = "str"
FORMAT: Final = "format"
REPR: Final = "repr"
REMOVAL: Final = "del"
"""Signs of unary operations that have no sign in the source: a condition, text made of a value, `del x[k]`."""

BLOCK_OBJECT: Final = "this"
"""Name of the object that members of a block belong to; some blocks bind it to another object."""

TermIndex = NewType("TermIndex", int)
"""Position of a term in `FileFacts.terms`, distinct from lines and scopes."""

OptionalTerm = TermIndex
"""A `TermIndex`, or `NO_TERM` where the source has none."""

NO_TERM: Final = TermIndex(-1)

Keyword = tuple[str, TermIndex]
"""An argument given by name: the name, `**` for a spread mapping; the value."""

Name = tuple[Literal[0], str]
"""`x`: the name."""

Attr = tuple[Literal[1], TermIndex, str]
"""`base.y`: the base; the attribute's name."""

CallOperator = Literal[2, 16]
"""`CALL`, or `NEW` for a constructor call marked as such: `new X()`."""

Call = tuple[CallOperator, TermIndex, tuple[TermIndex, ...], tuple[Keyword, ...]]
"""`f(a, k=b)`: callee, positional arguments, keyword arguments.

A spread argument is a `Spread`.
"""

Index = tuple[Literal[3], TermIndex, TermIndex]
"""`base[key]`: the base; the key, a tuple when there are several."""

String = tuple[Literal[4], str]
"""A string literal: its first 200 characters."""

LiteralValue = tuple[Literal[5], str]
"""Another literal: int float bool bytes none complex regex template slice ellipsis.

Python's are `true` and `false` in place of `bool`.
"""

ItemsOperator = Literal[6, 7, 8]
"""`LIST`, `TUPLE` or `SET`."""

Items = tuple[ItemsOperator, tuple[TermIndex, ...]]
"""`[a, b]`, `(a, b)`, `{a, b}`: at most 64 items."""

Dict = tuple[Literal[9], tuple[TermIndex, ...], tuple[TermIndex, ...]]
"""`{a: b}`: keys, and as many values; a spread is in both."""

Either = tuple[Literal[10], tuple[TermIndex, ...]]
"""`a or b`, `a if c else b`, `a ?? b`, an annotation `A | B`: the alternatives."""

Await = tuple[Literal[11], TermIndex]
"""`await x`: what is awaited."""

Iter = tuple[Literal[12], TermIndex]
"""One element of an iterable: the iterable."""

Enter = tuple[Literal[13], TermIndex]
"""What `with x as` binds: the context manager."""

Unpack = tuple[Literal[14], TermIndex, int]
"""An item that a tuple target takes from a value.

It has the value and the position, which is -1 for a starred target.
"""

Lambda = tuple[Literal[15], OptionalTerm]
"""An anonymous function: its body, if that is an expression."""

Comprehension = tuple[Literal[17], str, TermIndex]
"""`[e for ...]`: list, set, dict or generator; the element."""

Operator = tuple[Literal[18], str, TermIndex, OptionalTerm]
"""An operation that a class can overload.

It has the sign, the left operand, and the right one, which is -1 for unary operators.
"""

Self = tuple[Literal[19]]
"""`this`, where it is a keyword; Python's `self` is a `Name`."""

Super = tuple[Literal[20]]
"""`super`, where it is a keyword."""

Object = tuple[Literal[21], tuple[str, ...], tuple[TermIndex, ...]]
"""`{a: b}` as an object literal: keys, `...` for a spread, and as many values."""

Spread = tuple[Literal[22], TermIndex]
"""`*x` among arguments or items: what is spread."""

Unknown = tuple[Literal[23]]
"""Anything else."""

Typed = tuple[Literal[24], TermIndex]
"""A value of a declared type, such as a cast: the type."""

Term = (
    Name
    | Attr
    | Call
    | Index
    | String
    | LiteralValue
    | Items
    | Dict
    | Either
    | Await
    | Iter
    | Enter
    | Unpack
    | Lambda
    | Comprehension
    | Operator
    | Self
    | Super
    | Object
    | Spread
    | Unknown
    | Typed
)
"""An expression; its operator gives the type checker the types of the parts."""


class Parameter(NamedTuple):
    """One parameter of a function: its name, kind, annotation and default."""

    name: str
    annotation: OptionalTerm  # term, -1 for none
    default: OptionalTerm  # term, -1 for none
    kind: str  # positional | normal | keyword | rest | keyword_rest


class Definition(NamedTuple):
    """A named object that a file defines, such as a class or a function.

    `definitions[0]` is the module: kind "module", parent -1.
    """

    kind: str  # SymbolKind
    name: str
    qualname: str  # dotted, without "<locals>"; "<module>" for index 0
    ordinal: int  # number of earlier definitions with the same kind and qualname in the file
    parent: int  # index of the enclosing definition
    start_byte: int
    end_byte: int
    start_line: int  # 1-based, decorators included
    end_line: int  # 1-based, inclusive
    name_line: int
    name_column: int  # 0-based, in characters
    signature: str
    doc: str
    modifiers: tuple[str, ...]  # sorted; see SymbolRow.modifiers
    decorators: tuple[TermIndex, ...]  # terms, from top to bottom
    parameters: tuple[Parameter, ...]
    returns: OptionalTerm  # annotation term, -1 for none
    bases: tuple[tuple[str, TermIndex], ...]  # (keyword or "", term): superclasses, implemented interfaces, metaclass=
    complexity: int
    body_hash: str


Spot = tuple[int, int, int]
"""Where a name is written: its line (1-based), its column and its length (both in characters). The line 0 means nowhere."""

NOWHERE: Final[Spot] = (0, 0, 0)


class Import(NamedTuple):
    """A name that an import statement binds or re-exports."""

    scope: int
    module: str  # as in the source, without leading dots: "a.b", "./x", "@/lib/y"
    level: int  # leading dots of a relative Python import; 0 elsewhere
    name: str  # the imported name; "" when the module itself is bound; "*" for all
    alias: str  # the bound local name; "" if there is none (side effect, star, re-export only)
    kind: str  # import | from | require | dynamic | reexport | type | augment | package (the file's own) | constraint
    exported_as: str  # name of the re-export, "global" if the import holds for the whole project; "" if it holds for its file
    line: int
    end_line: int  # last line of a package clause and its block; 0 for other imports
    module_spot: Spot = NOWHERE  # of the module as written
    name_spot: Spot = NOWHERE  # of the imported name
    alias_spot: Spot = NOWHERE  # of the local name


ASSIGNED: Final = frozenset({"set", "augment"})
"""Bindings that do not declare a name in languages with declarations.

The name may belong to an outer scope.
"""
TESTS_OF_CLASS: Final = ("narrow", "exclude")
"""Kinds of bindings that say which class a value has, and give it no value."""


class Binding(NamedTuple):
    """A place where a name or attribute gets a value, such as `x = f()`.

    Type inference reads bindings.
    """

    scope: int  # the scope that owns the target name, with global and nonlocal applied
    target: TermIndex  # term: NAME, ATTR or INDEX
    op: str  # assign | annotate | augment | for | with | except | return | yield | narrow | delete | export | local | fill (`x.append(y)`)
    # or: when (it runs only if all tests of parameters hold) | unless (only if not all hold) | exclude (a narrow whose test is false)
    value: OptionalTerm  # term, -1 for none. narrow: the tested type; when, unless: a tuple of tests; for: (ITER, x); with: (ENTER, x)
    annotation: OptionalTerm  # term, -1 for none
    line: int
    end_line: int  # narrow, when, unless and local (in a comprehension or lambda): last line of its range; else last line of its value
    block_end: int  # last line of the innermost block around it; up to this line, the binding has certainly run
    # narrow and exclude: first line at which another binding of the target ends its range


class Reference(NamedTuple):
    """A use of a name, such as a call `f()`.

    For calls, `term` is the expression `f()` and not `f`.
    """

    # call | read | write | delete | decorate | inherit | type | raise | jsx | implicit | named (only a place: a declaration has the type)
    kind: str
    scope: int
    term: TermIndex
    line: int
    column: int  # 0-based, in characters
    end_line: int
    name_line: int = 0  # of the name that is used; 0 without a name
    name_column: int = 0  # 0-based, in characters


Note = tuple[Severity, str, str, int]
"""A problem of a file: its severity, code, message and line."""


class FileFacts(NamedTuple):
    """Results of parsing one file: definitions, imports, bindings, references.

    Diagnostics are included.
    """

    path: str
    language: str
    content_hash: str
    size_bytes: int
    lines: int
    encoding: str
    terms: list[Term]
    definitions: list[Definition]
    imports: list[Import]
    bindings: list[Binding]
    references: list[Reference]
    exports: tuple[str, ...] | None  # Python: literal __all__; None if the file has none
    error_count: int
    diagnostics: tuple[Note, ...]
    extraction_version: str  # grammar versions and rules; part of the cache key
    ends: tuple[tuple[Any, ...], ...] = ()  # offers and uses of contracts, such as routes, as plain tuples of `contracts.end.End`


def written_name(terms: Sequence[Term], index: TermIndex) -> str:
    """Return the last name in the expression `terms[index]`; "" if none.

    For `a.b.c`, `a.b.c(…)` and `a.b.c[…]`, the name is `c`.
    """
    while index >= 0:
        term = terms[index]
        if term[0] == NAME:
            return term[1]
        if term[0] == ATTR:
            return term[2]
        if term[0] not in (CALL, NEW, INDEX, TYPED):
            break
        index = term[1]
    return ""
