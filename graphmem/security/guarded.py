"""Check a caller's permissions before each operation of a project.

Every interface calls operations: the root fields of GraphQL, the tools of agents over HTTP, and the plain routes. Each interface gets a
`Guarded` service, which applies the access rules in the declarations of operations. A method that is not declared as an operation needs the
scope `admin`.
"""

from __future__ import annotations

from contextlib import nullcontext
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from graphmem.errors import ForbiddenError, GraphMemError
from graphmem.operations.declare import Hints, Sight
from graphmem.operations.registry import registry
from graphmem.projection.memories.sight import NONE, Seen, meeting, seeing
from graphmem.security.access import FULL, VISIBILITIES, Access, Individual, current_caller
from graphmem.security.named_memories import TARGETS, Arguments, Keywords, given_ids, items_of, with_full_ids, with_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from graphmem.answers import MemoryInfo

UNKNOWN: Final = Hints.closed()
"""Of a method that is not an operation: for an administrator who sees every memory."""

_CHOOSING: Final = Lock()
"""Held while a person stores memories with ids of their choice.

Otherwise the owner of an id could be recorded for one person, and the memory stored for another who chose the same id at the same moment.
"""


def rule_of(name: str) -> Hints:
    """Return the declared options of an operation, such as its access rule.

    An unknown name gets a rule that needs the scope `admin` and access to every memory.
    """
    known = registry().get(name)
    return known.hints if known is not None else UNKNOWN


S = TypeVar("S")


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
                    f"this token may not call {verb}, because it lacks the scope {scope}; ask an administrator for a token with this scope",
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

        Some operations on named memories need the scope `curate`. A person with the scope `remember` may also call them, but only for
        memories of their own. The owner of each memory is checked later.
        """
        access = self._access
        return access.person is not None and rule.shows is Sight.NAMED and rule.needs == "curate" and access.may("remember")

    def _sight(self) -> AbstractContextManager[None]:
        person = self._access.person
        return seeing(self._access.visibilities, person.seen() if person is not None else NONE)

    def _signed(self, verb: str, rule: Hints, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the operation `function` to record who calls it.

        The name of the token or login is added to the argument `actor`, for the audit log of memories. If a person changes data, the
        operation is also recorded in the audit log of people, with its outcome. While the operation runs, `caller` returns the caller's
        permissions.
        """

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._access.name and kwargs.get("actor") is not None:
                kwargs["actor"] = f"{kwargs['actor']}:{self._access.name}"
            person = self._access.person if rule.root == "mutation" else None
            before = current_caller.set(self._access)
            try:
                with person.doing(verb) if person is not None else nullcontext():
                    return function(*args, **kwargs)
            finally:
                current_caller.reset(before)

        return call

    def _seeing(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            with self._sight():
                return function(*args, **kwargs)

        return call

    def _named(self, verb: str, function: Callable[..., Any]) -> Callable[..., Any]:
        ids, levels = TARGETS[verb]

        def call(*args: Any, **kwargs: Any) -> Any:
            if self._access.person is not None and given_ids(verb, args, kwargs):
                with _CHOOSING:
                    return checked(*args, **kwargs)
            return checked(*args, **kwargs)

        def checked(*args: Any, **kwargs: Any) -> Any:
            seen = {one: self._see(one) for one in ids(args, kwargs)}
            named = list(seen.values())
            args, kwargs = with_full_ids(verb, args, kwargs, {given: one.id for given, one in seen.items()})
            if self._access.person is not None:
                self._expect_own(self._access.person, verb, named, kwargs)
                args, kwargs = with_ids(verb, args, kwargs)
            free = [one for one in given_ids(verb, args, kwargs) if self._is_free(one)]
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
        args: Arguments,
        kwargs: Keywords,
    ) -> Any:
        """Call an operation that writes a person's memories; return its answer.

        The person is recorded as owner of new memories before the call. So no memory exists without a recorded owner.

        Args:
            person: the caller.
            verb: name of the operation.
            named: existing memories that the call names.
            free: those ids of the new memories that are not taken by an existing memory.
            function: the operation.
            args: positional arguments of the call.
            kwargs: keyword arguments of the call.
        """
        for item in items_of(verb, args, kwargs):
            if item["id"] in free:
                person.writes(item["id"], item.get("visibility") or "project")
        with meeting(Seen(self._access.visibilities, person.seen())):
            answer = function(*args, **kwargs)
        if verb == "update_memory" and kwargs.get("visibility") is not None:
            person.moves(named[0].id, kwargs["visibility"])
        return answer

    def _see(self, memory_id: str) -> MemoryInfo:
        """Return the memory with this id, if the caller may see the memory.

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
                f"another memory already has the id {memory_id[:80]!r}; choose another id", needs="visibility", verb="remember"
            ) from None
        return False

    def _as_seen(self, answer: Any) -> Any:
        """Return an operation's answer without what the caller may not see.

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


def _kinds(visibilities: Iterable[str]) -> str:
    return ", ".join(sorted(visibilities)) or "no"
