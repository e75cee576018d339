"""What resolvers are handed: the service, the deadline and the loaders of one operation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeAlias, TypeVar

import strawberry

from graphmem.api.activity import Activity
from graphmem.api.limits import ServerLimits
from graphmem.api.loaders import Loaders
from graphmem.api.progress import Fan
from graphmem.api.runner import VerbRunner
from graphmem.api.verbs import Service

P = ParamSpec("P")
T = TypeVar("T")


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
    authenticated: bool
    connection_params: dict[str, object] | None = None  # payload of a WebSocket's first message


class Operation:
    """What lives as long as one GraphQL operation."""

    def __init__(self, door: Door) -> None:
        self.service = door.service
        self.limits = door.limits
        self.progress = door.progress
        self.memory_news = door.memory_news
        self.context_news = door.context_news
        self.deadline = asyncio.get_running_loop().time() + door.limits.seconds
        self.loaders = Loaders(door.service, self.call)
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
