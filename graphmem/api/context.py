"""What resolvers are handed: the service, the deadline and the loaders of one operation."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Generic, ParamSpec, TypeAlias, TypeVar

import strawberry

from graphmem.api.activity import Activity
from graphmem.api.limits import ServerLimits
from graphmem.api.loaders import Loaders
from graphmem.api.progress import Fan
from graphmem.api.runner import VerbRunner
from graphmem.errors import UnauthenticatedError
from graphmem.operations.registry import Operations as Service
from graphmem.security.access import Access, guarded

P = ParamSpec("P")
T = TypeVar("T")

NOTHING: Final = Access("nobody", frozenset(), frozenset())
"""Of a connection without a token; it is refused before anything runs, so this is never asked."""


class Door:
    """What lives as long as the server: shared by all requests."""

    def __init__(self, service: Service, limits: ServerLimits) -> None:
        self.service = service
        self.limits = limits
        self.runner = VerbRunner(limits)
        self.progress = Fan(service.subscribe_progress, is_state=True)
        self.memory_news = Fan(service.subscribe_memories, is_state=False)
        self.context_news = Fan(service.subscribe_context, is_state=False)
        self.activity = Activity()

    def close(self) -> None:
        """End subscriptions and take no more verbs; the service stays open, it is the caller's."""
        self.progress.close()
        self.memory_news.close()
        self.context_news.close()
        self.runner.close()


@dataclass(slots=True)
class Connection:
    """What lives as long as one request or one WebSocket, which may carry many operations."""

    door: Door
    access: Access | None  # None until it brings a token that is good
    stands: Callable[[Access], bool] = lambda access: True  # whether the access still holds
    connection_params: dict[str, object] | None = None  # payload of a WebSocket's first message


class Heard(Generic[T]):
    """News as somebody may hear them.

    Args:
        fan: of the news.
        verb: looks up the verb that gives them, which raises when it is not theirs.
        may_hear: whether they still may.
    """

    def __init__(self, fan: Fan[T], verb: Callable[[], object], may_hear: Callable[[], bool]) -> None:
        self._fan, self._verb, self._may_hear = fan, verb, may_hear

    async def steps(self, follow: bool) -> AsyncGenerator[T, None]:
        """See `Fan.steps`.

        Raises:
            ForbiddenError: they may not hear them.
            UnauthenticatedError: not any more.
        """
        self._verb()
        async with aclosing(self._fan.steps(follow)) as steps:
            async for step in steps:
                if not self._may_hear():
                    raise UnauthenticatedError("The token of this subscription is not good any more; subscribe again with another")
                yield step


class Operation:
    """What lives as long as one GraphQL operation. Its service is held to what whoever asks may do."""

    def __init__(self, connection: Connection) -> None:
        door, access = connection.door, connection.access or NOTHING
        self.service = guarded(door.service, access)

        def may_hear() -> bool:
            return connection.stands(access)

        self.limits = door.limits
        self.progress = Heard(door.progress, lambda: self.service.subscribe_progress, may_hear)
        self.memory_news = Heard(door.memory_news, lambda: self.service.subscribe_memories, may_hear)
        self.context_news = Heard(door.context_news, lambda: self.service.subscribe_context, may_hear)
        self.deadline = asyncio.get_running_loop().time() + door.limits.seconds
        self.loaders = Loaders(self.service, self.call)
        self._runner = door.runner

    async def call(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb in a thread within what is left of the operation's time.

        Raises:
            DeadlineError, LimitError: see `VerbRunner.run`; and whatever the verb raises.
        """
        return await self._runner.run(self.deadline, verb, *args, **kwargs)

    async def wait_for(self, verb: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a verb that may take minutes: in a thread of its own and without the deadline."""
        answer = await self._runner.run_long(verb, *args, **kwargs)
        self.deadline = asyncio.get_running_loop().time() + self.limits.seconds  # what is asked about the answer has its own time
        return answer


Info: TypeAlias = strawberry.Info[Operation, Any]
"""The `info` argument of every resolver."""
