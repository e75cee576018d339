"""Rows of the framework tables: how frameworks use functions.

Each class is a row of one table in `frameworks.toml`; `grammars/README.md` explains the tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class HandsOver:
    """A call that registers functions with a framework: `path("x/", view)`.

    The framework calls the registered functions later.
    """

    rule: str  # rule of the edges, and kind of the functions' entry point
    functions: tuple[int | str, ...]  # arguments: a position, a name, "2:" (from a position on), "**" (all named), "." (the receiver)
    calls: tuple[str, ...] = ()  # patterns of the callee, package and name
    methods: tuple[str, ...] = ()  # or names of methods of objects outside the project
    begins: str = ""  # prefix of the first argument's text, where `methods` are ambiguous
    not_on: tuple[str, ...] = ()  # last names of receivers to exclude: clients and test doubles
    members: tuple[str, ...] = ()  # methods that the framework calls on a registered class
    named_views: bool = False  # the method of a view gives the route its name: `Index.as_view("index")`
    texts: bool = False  # a string may name the function or a module: "package.module.function"
    base_names: tuple[str, ...] = ()  # keywords with the beginning of the names of several routes: `basename="cart"` of `cart-list`
    suffix: str = ""  # end of the class's name that is left out of this beginning, if no keyword gives it: `CartViewSet`
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of a framework. Sending it calls the connected functions.

    An event may be an object, as in `saved.connect(f)`, `@receiver(saved)` and `saved.send()`. Otherwise it has a name, as in
    `bus.on("saved", f)` and `bus.emit("saved")`.
    """

    connects: tuple[str, ...]  # methods of the event that connect a function; also usable as decorators
    sends: tuple[str, ...]  # methods of the event that call the functions
    decorators: tuple[str, ...] = ()  # names of functions that take events and return a connecting decorator
    function: int = 0  # position of the function among the arguments of a connecting method
    is_text: bool = False  # the first argument names the event; the methods belong to an object with many events
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """A decorated function that a queue runs later: `task.delay()`."""

    decorators: tuple[str, ...]  # patterns of the decorator as written, without arguments
    methods: tuple[str, ...]
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Injection:
    """A parameter whose value the framework gets by calling a function.

    Examples: `x=Depends(f)`, `x: Annotated[T, Depends(f)]`.
    """

    calls: tuple[str, ...]  # patterns of the callee, package and name
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """A test's request that a route's handler answers: `client.get("/x")`."""

    methods: tuple[str, ...]  # methods of the client that send a request
    on: tuple[str, ...]  # patterns of the client: the last name of what the method is called on
    by_name: tuple[str, ...] = ()  # functions that make a path of a route's name
    filled: tuple[str, ...] = ()  # methods of a string that fill its placeholders: `"/users/{}".format(3)`
    framework: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A method that turns a class into a view, such as `Index.as_view()`.

    Code registers the view for a route.
    """

    methods: tuple[str, ...]
    always: tuple[str, ...] = ()  # methods of the class that every request runs
    actions: Mapping[str, Sequence[str]] = field(default_factory=dict)  # HTTP method → other methods of the class that it runs
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Derived:
    """A library's class that calls methods of the classes derived from it.

    For example, `is_valid()` of a form of Django calls the methods `clean_*` of the form's class.
    """

    bases: tuple[str, ...]  # patterns of the library's class, package and name
    members: tuple[str, ...]  # patterns of the methods that the library's class calls
    decorators: tuple[str, ...] = ()  # or last names of decorators of these methods
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Template:
    """Registration of a function under a name that templates see.

    Examples: `@app.template_filter("x")`, `app.add_template_filter(f, "x")`, `env.filters["x"] = f`, `env.globals.update(x=f)`.
    """

    decorators: tuple[str, ...]  # last names of decorators; their first argument is the name, without it that of the function
    methods: tuple[str, ...]  # methods that take a function, then its name
    holders: tuple[str, ...]  # attributes whose keys are the names
    framework: str = ""


@dataclass(frozen=True, slots=True)
class Generated:
    """A configuration that a framework writes before a build.

    The file of this configuration is not in the repository. Another configuration, which is in the repository, extends it.
    """

    file: str  # path of the configuration, relative to the folder of the extending one
    paths: Mapping[str, Sequence[str]]  # pattern of imported names → places from that folder
    framework: str = ""
