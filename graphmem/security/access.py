"""Check which operations a caller may call, and which memories it sees.

Every interface calls operations: the root fields of GraphQL, the tools of agents over HTTP, and the plain routes. Each interface gets a
`Guarded` service, which applies the access rules in the declarations of operations. A method that is not declared as an operation needs the
scope `admin`.

A token has *scopes* (permitted actions) and *visibilities* (visible memories).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from graphmem.errors import ForbiddenError, GraphMemError
from graphmem.operations.declare import Hints, Sight
from graphmem.operations.registry import registry
from graphmem.projection.sight import seeing

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo

SCOPES: Final = ("read", "remember", "curate", "index", "admin")
"""read: ask. remember: add memories and tell of sessions. curate: change and retire memories, and import. index: index the project,
tell its history. admin: everything, upkeep and deletion among it."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({"write": ("read", "remember", "curate", "index")})
"""Names for several scopes."""

VISIBILITIES: Final = ("personal", "project", "team", "organization")
SHARED: Final = frozenset(VISIBILITIES[1:])
"""What a token sees unless it says otherwise: what is personal is the index's owner's."""

ACCESS: Final = "graphmem.access"
"""Key of the ASGI scope: the `Access` of a request, or None when it brought no token that is good."""


@dataclass(frozen=True, slots=True)
class Access:
    """The permissions of a caller; the index's owner has an empty name."""

    name: str = ""
    scopes: frozenset[str] = frozenset(SCOPES)
    visibilities: frozenset[str] = frozenset(VISIBILITIES)
    token_id: str = ""

    def may(self, scope: str) -> bool:
        """Whether the caller has a scope such as `admin`, which includes all.

        Always True for "", which needs no scope.
        """
        return not scope or scope in self.scopes or "admin" in self.scopes

    @property
    def sees_all(self) -> bool:
        """Whether the caller sees memories of every visibility."""
        return self.visibilities.issuperset(VISIBILITIES)


FULL: Final = Access()
"""Permissions of the index's owner, who can read its files anyway."""


_caller: ContextVar[Access] = ContextVar("graphmem_caller", default=FULL)


def caller() -> Access:
    """Return the permissions of the caller whose operation runs now."""
    return _caller.get()


UNKNOWN: Final = Hints.closed()
"""Of a method that is not an operation: for an administrator who sees every memory."""


def rule_of(name: str) -> Hints:
    """Return the access rule of an operation, from its declaration."""
    known = registry().get(name)
    return known.hints if known is not None else UNKNOWN


S = TypeVar("S")


def guarded(service: S, access: Access) -> S:
    """Return a service whose operations check the caller's permissions.

    With full permissions, the result is the service itself.
    """
    return service if access == FULL else cast("S", Guarded(service, access))


class Guarded:
    """A service that checks access before each operation.

    It has the same operations and answers as the unguarded service.

    Args:
        service: the service of the open project.
        access: the permissions of the caller.
    """

    def __init__(self, service: Any, access: Access) -> None:
        self._service = service
        self._access = access

    def __getattr__(self, verb: str) -> Any:
        """Return an operation of the service with its access check.

        Raises:
            ForbiddenError: the caller lacks the scope in `needs`.
        """
        if verb.startswith("_"):
            raise AttributeError(verb)
        rule = rule_of(verb)
        access = self._access
        for scope in (rule.needs, *(("read",) if rule.also_reads else ())):
            if not access.may(scope):
                raise ForbiddenError(
                    f"this token may not {verb}, because it lacks the scope {scope}; ask for a token with this scope",
                    needs=scope,
                    verb=verb,
                )
        if rule.shows is Sight.WHOLE and not access.sees_all:
            raise ForbiddenError(
                f"this token sees {', '.join(sorted(access.visibilities)) or 'no'} memories, and {verb} may show or change every memory; "
                "ask for a token that sees every visibility",
                needs="visibility",
                verb=verb,
            )
        function = getattr(self._service, verb)
        if not callable(function):
            return function
        call = self._signed(function)
        if access.sees_all or rule.shows in (Sight.PLAIN, Sight.WHOLE):
            return call
        return self._seeing(call) if rule.shows is Sight.SEEN else self._named(verb, call)

    def _signed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap an operation: the audit gets the name of the caller's token.

        `caller` returns the caller meanwhile.
        """

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._access.name and kwargs.get("actor") is not None:
                kwargs["actor"] = f"{kwargs['actor']}:{self._access.name}"
            before = _caller.set(self._access)
            try:
                return function(*args, **kwargs)
            finally:
                _caller.reset(before)

        return call

    def _seeing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with seeing(self._access.visibilities):
                return function(*args, **kwargs)

        return call

    def _named(self, verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
        ids, levels = _TARGETS[verb]

        def call(*args: Any, **kwargs: Any) -> Any:
            for one in ids(args, kwargs):
                self._see(one)
            for one in _given_ids(verb, args, kwargs):
                self._expect_free(one)
            for level in levels(args, kwargs):
                # The operation itself refuses unknown visibilities.
                if level in VISIBILITIES and level not in self._access.visibilities:
                    raise ForbiddenError(
                        f"this token may not write {level} memories; it sees {', '.join(sorted(self._access.visibilities)) or 'none'}",
                        needs=level,
                        verb=verb,
                    )
            return self._as_seen(function(*args, **kwargs))

        return call

    def _see(self, memory_id: str) -> MemoryInfo:
        """Return a memory if the caller may see it.

        Raises:
            MemoryNotFoundError: the memory does not exist, or is hidden from the caller.
        """
        with seeing(self._access.visibilities):
            return cast("MemoryInfo", self._service.memory(memory_id))

    def _expect_free(self, memory_id: str) -> None:
        """Check that a new memory's id is not the id of a hidden memory.

        Hidden memories are those that the caller may not see.
        """
        try:
            self._service.memory(memory_id)
        except GraphMemError:
            return
        try:
            self._see(memory_id)
        except GraphMemError:
            raise ForbiddenError(
                f"{memory_id[:80]!r} cannot be used as an id; choose another id", needs="visibility", verb="remember"
            ) from None

    def _as_seen(self, answer: Any) -> Any:
        """Remove memories that are hidden from the caller from an answer."""
        import dataclasses

        from graphmem.answers import MemoryInfo, RememberAnswer

        if isinstance(answer, MemoryInfo):
            return self._see(answer.id)
        if isinstance(answer, RememberAnswer):
            return dataclasses.replace(answer, memory=self._see(answer.memory.id))
        return answer


_Args = tuple[Any, ...]
_Kwargs = Mapping[str, Any]


def _no_names(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return ()


def _first(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return (args[0] if args else kwargs["id"],)


def _ids(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return cast("Iterable[str]", args[0] if args else kwargs["ids"])


def _level(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return (kwargs["visibility"],) if kwargs.get("visibility") is not None else ()


def _default_level(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return (kwargs.get("visibility") or "project",)


def _levels_of_items(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return [one.get("visibility") or "project" for one in (args[0] if args else kwargs["items"])]


def _named_by(item: Mapping[str, Any]) -> list[str]:
    """Return the ids of existing memories that a new memory refers to."""
    return [*(item.get("derived_from") or ()), *(item.get("required_with") or ())]


def _related(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return _named_by(kwargs)


def _related_of_items(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return [one for item in (args[0] if args else kwargs["items"]) for one in _named_by(item)]


def _given_ids(verb: str, args: _Args, kwargs: _Kwargs) -> list[str]:
    """Return the ids that a call of `remember` or `remember_many` gives.

    The caller chose these ids for new memories.
    """
    items = (kwargs,) if verb == "remember" else (args[0] if args else kwargs["items"]) if verb == "remember_many" else ()
    return [item["id"] for item in items if isinstance(item.get("id"), str)]


_Reads = Callable[[_Args, _Kwargs], Iterable[str]]

# For each operation with sight NAMED: the memory ids in its arguments, and the visibilities it would set.
_TARGETS: Final[Mapping[str, tuple[_Reads, _Reads]]] = MappingProxyType(
    {
        "remember": (_related, _default_level),
        "remember_many": (_related_of_items, _levels_of_items),
        "note_use": (_ids, _no_names),
        "update_memory": (_first, _level),
        "forget": (_first, _no_names),
        "pin": (_first, _no_names),
        "verify": (_first, _no_names),
        "dispute": (_first, _no_names),
    }
)
