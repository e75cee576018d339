"""One end of a contract: an offer or a use of a route, topic or service.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

OFFERS: Final = "offers"
ASKS: Final = "asks"
MOUNTS: Final = "mounts"
"""A prefix before all routes of another file."""
NAMES: Final = "names"
"""A constant or a function of a module with the path of a route."""
REFERS: Final = "refers"
"""A use of a path that another module names, or of a route by its name."""
STARTS: Final = "starts"
"""A test that starts a program of the project."""
BEGINS: Final = "begins"
"""A function or a file in which a program begins."""
VERBS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")

Role = Literal["offers", "asks", "mounts", "names", "refers", "declares", "starts", "begins", "speaks", "calls", "defines", "serves"]
"""What a place does with a contract; the last four are of gRPC alone."""
Kind = Literal["http", "grpc", "topic", "graphql", "program", "field"]


class End(NamedTuple):
    """A place in code that offers or uses a contract, such as an HTTP route.

    For example, `@app.get("/users")` offers the contract `GET /users`, and `fetch("/users")` uses it.
    """

    role: Role
    kind: Kind
    name: str  # "GET /users/{}" (the verb is * for any), "package.Service/Method", a topic, "Query.user"
    scope: int  # the definition that contains the place, or that an annotation belongs to
    line: int
    handler: str = ""  # name of the registered function; "" for the definition itself
    said: str = ""  # words about the other end, by role. asks: host, or variable with the address; mounts: the mounted module;
    # offers: the name of the route; names: the constant; refers: the module and the constant, or the name of a route
    framework: str = ""
