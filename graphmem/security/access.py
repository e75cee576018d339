"""Check which operations a caller may call, and which memories it sees.

Every interface calls operations: the root fields of GraphQL, the tools of agents over HTTP, and the plain routes. Each interface gets a
`Guarded` service, which applies the access rules in the declarations of operations. A method that is not declared as an operation needs the
scope `admin`.

A token has *scopes* (permitted actions) and *visibilities* (visible memories).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast

from graphmem.errors import ForbiddenError, GraphMemError
from graphmem.operations.declare import Hints, Sight
from graphmem.operations.registry import registry
from graphmem.projection.sight import NONE, Seen, meeting, seeing

if TYPE_CHECKING:
    from graphmem.answers import MemoryInfo
    from graphmem.answers.organisation import Colleague

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


class Individual(Protocol):
    """Interface of a person who calls operations of a project.

    `security.people` implements it.
    """

    @property
    def team(self) -> str:
        """The team that sees the team memories of this person; "" for none."""

    def seen(self) -> Mapping[str, frozenset[str]]:
        """Return ids of memories that this person wrote or the person's teams see.

        Under `personal` are the memories that the person wrote, and under `team` those that the person's teams see.
        """

    def owns(self, memory: str) -> bool:
        """Whether the person wrote a memory, which is given by its full id."""

    def authors(self) -> Mapping[str, str]:
        """Return logins of the people who wrote the project's memories, by id."""

    def colleagues(self) -> Sequence[Colleague]:
        """Return the people with a role in the project, sorted by login."""

    def writes(self, memory: str, visibility: str) -> None:
        """Record the person as the owner of a new memory."""

    def moves(self, memory: str, visibility: str) -> None:
        """Record the new `visibility` of a memory that the person owns."""

    def did(self, action: str) -> None:
        """Record in the audit log that the person called an operation (`action`)."""


@dataclass(frozen=True, slots=True)
class Access:
    """The permissions of a caller.

    `name` is the name of the caller's token, or the login. It is "" for the owner of the index, who has all permissions.
    """

    name: str = ""
    scopes: frozenset[str] = frozenset(SCOPES)
    visibilities: frozenset[str] = frozenset(VISIBILITIES)
    token_id: str = ""
    person: Individual | None = None  # sees their own memories and those of their teams, too

    def may(self, scope: str) -> bool:
        """Whether the caller has a scope; the scope `admin` includes all others.

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
    """Return the declared options of an operation, such as its access rule.

    An unknown name gets a rule that needs the scope `admin` and access to every memory.
    """
    known = registry().get(name)
    return known.hints if known is not None else UNKNOWN


S = TypeVar("S")
_Args = tuple[Any, ...]
_Kwargs = Mapping[str, Any]


def guarded(service: S, access: Access) -> S:
    """Return an object whose operations check the caller's permissions.

    It has the operations of `service`. With full permissions, the result is `service` itself.
    """
    return service if access == FULL else cast("S", Guarded(service, access))


class Guarded:
    """Operations of a project that check a caller's permissions first.

    The operations and answers are those of the unguarded object.

    Args:
        service: the open project.
        access: the permissions of the caller.
    """

    def __init__(self, service: Any, access: Access) -> None:
        self._service = service
        self._access = access

    def __getattr__(self, verb: str) -> Any:
        """Return an operation of the service with its access check.

        Raises:
            ForbiddenError: the caller lacks a needed scope, or the operation needs access to every memory.
        """
        if verb.startswith("_"):
            raise AttributeError(verb)
        rule = rule_of(verb)
        access = self._access
        for scope in (rule.needs, *(("read",) if rule.also_reads else ())):
            if not access.may(scope) and not self._may_change_own(rule):
                raise ForbiddenError(
                    f"this token may not {verb}, because it lacks the scope {scope}; ask an administrator for a token with this scope",
                    needs=scope,
                    verb=verb,
                )
        if rule.shows is Sight.WHOLE and not access.sees_all:
            raise ForbiddenError(
                f"{verb} needs access to all memories, but this token sees only {_kinds(access.visibilities)} ones; ask an administrator "
                "for a token for all visibilities",
                needs="visibility",
                verb=verb,
            )
        function = getattr(self._service, verb)
        if not callable(function):
            return function
        call = self._signed(verb, rule, function)
        if access.sees_all or rule.shows in (Sight.PLAIN, Sight.WHOLE):
            return call
        return self._seeing(call) if rule.shows is Sight.SEEN else self._named(verb, call)

    def _may_change_own(self, rule: Hints) -> bool:
        """Whether the caller may call an operation on memories of their own.

        A person with the scope `remember` may call operations that name memories and otherwise need the scope `curate`. The owner of each
        memory is checked later.
        """
        access = self._access
        return access.person is not None and rule.shows is Sight.NAMED and rule.needs == "curate" and access.may("remember")

    def _sight(self) -> AbstractContextManager[None]:
        person = self._access.person
        return seeing(self._access.visibilities, person.seen() if person is not None else NONE)

    def _signed(self, verb: str, rule: Hints, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap an operation, so that its caller is recorded.

        The name of the token or login is added to the argument `actor`, for the audit log of memories. If a person changes data, the
        operation is also recorded in the audit log of people. While the operation runs, `caller` returns the caller's permissions.
        """

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._access.name and kwargs.get("actor") is not None:
                kwargs["actor"] = f"{kwargs['actor']}:{self._access.name}"
            if self._access.person is not None and rule.root == "mutation":
                self._access.person.did(verb)
            before = _caller.set(self._access)
            try:
                return function(*args, **kwargs)
            finally:
                _caller.reset(before)

        return call

    def _seeing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with self._sight():
                return function(*args, **kwargs)

        return call

    def _named(self, verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
        ids, levels = _TARGETS[verb]

        def call(*args: Any, **kwargs: Any) -> Any:
            named = [self._see(one) for one in ids(args, kwargs)]
            if self._access.person is not None:
                self._expect_own(self._access.person, verb, named, kwargs)
                args, kwargs = _with_ids(verb, args, kwargs)
            free = [one for one in _given_ids(verb, args, kwargs) if self._is_free(one)]
            for level in levels(args, kwargs):
                # The operation itself refuses unknown visibilities.
                if level in VISIBILITIES and not self._may_write(level):
                    raise ForbiddenError(
                        f"this token may not write {level} memories, because it gives access only to {_kinds(self._access.visibilities)} "
                        "memories; choose another visibility, or ask an administrator for another token",
                        needs=level,
                        verb=verb,
                    )
            if self._access.person is None:
                return self._as_seen(function(*args, **kwargs))
            return self._as_seen(self._written(self._access.person, verb, named, set(free), function, args, kwargs))

        return call

    def _may_write(self, level: str) -> bool:
        """Whether the caller may write memories with the visibility `level`.

        A person may always write personal memories. A person with a team may also write team memories.
        """
        person = self._access.person
        return level in self._access.visibilities or (
            person is not None and (level == "personal" or (level == "team" and bool(person.team)))
        )

    def _expect_own(self, person: Individual, verb: str, named: Sequence[MemoryInfo], kwargs: Mapping[str, Any]) -> None:
        """Check that a person may change the memories `named` in a call.

        A person may change their own memories. With the scope `curate`, a person may also change memories of others, but not the visibility
        of these.

        Raises:
            ForbiddenError: another person wrote one of the memories, and `person` may not change it.
        """
        needs = rule_of(verb).needs
        is_private = verb == "update_memory" and kwargs.get("visibility") is not None
        if needs != "curate" or (self._access.may("curate") and not is_private):
            return
        if any(not person.owns(one.id) for one in named):
            what = "change who sees memories of others" if is_private else "change memories of others without the role curate"
            whom = "the author of the memory" if is_private else "the author of the memory or a curator of the project"
            raise ForbiddenError(f"you may not {what}; ask {whom}", needs=needs, verb=verb)

    def _written(
        self,
        person: Individual,
        verb: str,
        named: Sequence[MemoryInfo],
        free: Collection[str],
        function: Callable[..., Any],
        args: _Args,
        kwargs: _Kwargs,
    ) -> Any:
        """Call an operation that writes memories of a person; return its answer.

        The person is recorded as owner of new memories before the call. So no memory exists without a recorded owner.

        Args:
            person: the caller.
            verb: name of the operation.
            named: existing memories that the call names.
            free: ids of new memories that no existing memory has.
            function: the operation.
            args: positional arguments of the call.
            kwargs: keyword arguments of the call.
        """
        for item in _items(verb, args, kwargs):
            if item["id"] in free:
                person.writes(item["id"], item.get("visibility") or "project")
        with meeting(Seen(self._access.visibilities, person.seen())):
            answer = function(*args, **kwargs)
        if verb == "update_memory" and kwargs.get("visibility") is not None:
            person.moves(named[0].id, kwargs["visibility"])
        return answer

    def _see(self, memory_id: str) -> MemoryInfo:
        """Return a memory if the caller may see it.

        Raises:
            MemoryNotFoundError: the memory does not exist, or is hidden from the caller.
        """
        with self._sight():
            return cast("MemoryInfo", self._service.memory(memory_id))

    def _is_free(self, memory_id: str) -> bool:
        """Whether the id `memory_id` is free, which means that no memory has it.

        Raises:
            ForbiddenError: a memory that the caller may not see has this id.
        """
        try:
            self._service.memory(memory_id)
        except GraphMemError:
            return True
        try:
            self._see(memory_id)
        except GraphMemError:
            raise ForbiddenError(
                f"the id {memory_id[:80]!r} is already taken; choose another id", needs="visibility", verb="remember"
            ) from None
        return False

    def _as_seen(self, answer: Any) -> Any:
        """Return an operation's answer as this caller sees it.

        A memory in the answer is read again with the caller's permissions. Answers of other types are returned unchanged.

        Raises:
            MemoryNotFoundError: the memory in the answer is hidden from the caller.
        """
        import dataclasses

        from graphmem.answers import MemoryInfo, RememberAnswer

        if isinstance(answer, MemoryInfo):
            return self._see(answer.id)
        if isinstance(answer, RememberAnswer):
            return dataclasses.replace(answer, memory=self._see(answer.memory.id))
        return answer


def _no_names(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return ()


def _first(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return (args[0] if args else kwargs["id"],)


def _kinds(visibilities: Iterable[str]) -> str:
    return ", ".join(sorted(visibilities)) or "no"


def _winner_and_loser(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    winner, loser = (*args, *(kwargs[name] for name in ("winner", "loser") if name in kwargs), None)[:2]
    if loser is None:  # all memories that conflict with the winner, seen or not
        raise ForbiddenError(
            "the token does not see every memory that may conflict with the given one; give the id of the wrong memory as `loser`",
            needs="visibility",
            verb="resolve_conflict",
        )
    return cast("tuple[str, str]", (winner, loser))


def _ids(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return cast("Iterable[str]", args[0] if args else kwargs["ids"])


def _level(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return (kwargs["visibility"],) if kwargs.get("visibility") is not None else ()


def _default_level(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return (kwargs.get("visibility") or "project",)


def _levels_of_items(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return [one.get("visibility") or "project" for one in (args[0] if args else kwargs["items"])]


def _named_by(item: Mapping[str, Any]) -> list[str]:
    """Return the ids of existing memories that a new memory refers to.

    `item` has the fields of the new memory.
    """
    return [*(item.get("derived_from") or ()), *(item.get("required_with") or ())]


def _related(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return _named_by(kwargs)


def _related_of_items(args: _Args, kwargs: _Kwargs) -> Iterable[str]:
    return [one for item in (args[0] if args else kwargs["items"]) for one in _named_by(item)]


def _given_ids(verb: str, args: _Args, kwargs: _Kwargs) -> list[str]:
    """Return the ids that a caller chose for new memories.

    `args` and `kwargs` are the arguments of the operation `verb`. Only `remember` and `remember_many` store new memories; the result is
    empty for other operations.
    """
    return [item["id"] for item in _items(verb, args, kwargs) if isinstance(item.get("id"), str)]


def _items(verb: str, args: _Args, kwargs: _Kwargs) -> Sequence[Mapping[str, Any]]:
    """Return the new memories in the arguments of an operation.

    `verb` is the operation's name. Only `remember` and `remember_many` store new memories; the result is empty for other operations.
    """
    return (kwargs,) if verb == "remember" else (args[0] if args else kwargs["items"]) if verb == "remember_many" else ()


def _with_ids(verb: str, args: _Args, kwargs: _Kwargs) -> tuple[_Args, dict[str, Any]]:
    """Return the arguments of a call, with an id for each new memory.

    An id that the caller chose is kept. A memory that has an id is never merged with another author's memory.
    """
    if verb == "remember":
        return args, {**kwargs, "id": kwargs.get("id") or str(uuid.uuid4())}
    if verb == "remember_many":
        items = [{**item, "id": item.get("id") or str(uuid.uuid4())} for item in _items(verb, args, kwargs)]
        return (items, *args[1:]) if args else (), dict(kwargs) if args else {**kwargs, "items": items}
    return args, dict(kwargs)


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
        "resolve_conflict": (_winner_and_loser, _no_names),
    }
)
