"""State for resolvers of GraphQL fields: operations, deadline, loaders."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from functools import partial
from typing import Final, Generic, ParamSpec, TypeAlias, TypeVar

import strawberry

from graphmem.api.requests.activity import Activity
from graphmem.api.requests.limits import ServerLimits
from graphmem.api.requests.loaders import Loaders
from graphmem.api.requests.progress import Fan
from graphmem.api.requests.runner import OperationRunner
from graphmem.errors import GenerationChangedError, UnauthenticatedError
from graphmem.operations.registry import Operations as Service
from graphmem.runtime.network.pushes import no_branches
from graphmem.security.access import Access
from graphmem.security.guarded import guarded

P = ParamSpec("P")
T = TypeVar("T")

NOTHING: Final = Access("nobody", frozenset(), frozenset())
"""Access of a connection without a token. It is refused before any operation runs, so it is not used for one."""


def _no_branch(name: str, access: Access) -> AbstractAsyncContextManager[ServerState]:
    raise no_branches()


class ServerState:
    """State that all requests of a server share: operations, limits, threads."""

    def __init__(self, service: Service, limits: ServerLimits) -> None:
        self.service = service
        self.limits = limits
        self.runner = OperationRunner(limits)
        self.progress = Fan(service.subscribe_progress, is_state=True)
        self.memory_news = Fan(service.subscribe_memories, is_state=False)
        self.context_news = Fan(service.subscribe_context, is_state=False)
        self.activity = Activity()
        self.on_branch: OnBranch = _no_branch

    def end_streams(self) -> None:
        """End all GraphQL subscriptions of the server's clients."""
        self.progress.close()
        self.memory_news.close()
        self.context_news.close()

    def close(self) -> None:
        """End all subscriptions, and accept no more operations.

        The operations' service remains open; it belongs to the caller.
        """
        self.end_streams()
        self.runner.close()


@dataclass(slots=True)
class Connection:
    """State of one HTTP request or WebSocket, such as the caller's access.

    All operations that a WebSocket carries share this state.
    """

    server: ServerState
    access: Access | None  # None until a valid token is presented
    stands: Callable[[Access], bool] = lambda access: True  # whether the access is still valid
    connection_params: dict[str, object] | None = None  # payload of a WebSocket's first message


OnBranch: TypeAlias = Callable[[str, Access], AbstractAsyncContextManager[ServerState]]
"""Opens a branch of the project for a block: its name and the caller's access give the state of the branch's server."""


class Heard(Generic[T]):
    """Sends a client of a subscription the events that it may receive.

    Whether the client may use the operation is checked once, before the first event. Whether its token is still valid is checked again at
    each event.

    Args:
        fan: source of the events, which sends them to all subscribers.
        operation: looks up the operation that gives the events; raises ForbiddenError if the subscriber may not use it.
        may_hear: returns whether the subscriber's access is still valid.
    """

    def __init__(self, fan: Fan[T], operation: Callable[[], object], may_hear: Callable[[], bool]) -> None:
        self._fan, self._operation, self._may_hear = fan, operation, may_hear

    async def steps(self, follow: bool) -> AsyncGenerator[T, None]:
        """Yield the events for the subscriber.

        If `follow` is false, the end of an index run is the last event; see `Fan.steps`.

        Raises:
            ForbiddenError: the subscriber may not receive the events.
            UnauthenticatedError: the subscriber's access became invalid.
        """
        self._operation()
        async with aclosing(self._fan.steps(follow)) as steps:
            async for step in steps:
                if not self._may_hear():
                    raise UnauthenticatedError(
                        "the token with which this subscription was started is no longer valid; subscribe again with a valid token"
                    )
                yield step


class Operation:
    """State of one GraphQL operation: deadline, loaders and permissions.

    Calls that the client has no permission for are refused.

    Args:
        connection: state of the request or WebSocket.
        generation: the state of the index that the client expects, as its counter of changes; None for any.
    """

    def __init__(self, connection: Connection, generation: int | None = None) -> None:
        self._generation = generation
        server, access = connection.server, connection.access or NOTHING
        self.service = guarded(server.service, access)

        def may_hear() -> bool:
            return connection.stands(access)

        self.limits = server.limits
        self.progress = Heard(server.progress, lambda: self.service.subscribe_progress, may_hear)
        self.memory_news = Heard(server.memory_news, lambda: self.service.subscribe_memories, may_hear)
        self.context_news = Heard(server.context_news, lambda: self.service.subscribe_context, may_hear)
        self.deadline = asyncio.get_running_loop().time() + server.limits.seconds
        self.loaders = Loaders(self.service, self.call)
        self._runner = server.runner

    async def call(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread, within the time left for the operation.

        Raises:
            DeadlineError, LimitError: see `OperationRunner.run`.
            GenerationChangedError: the index has changed since the state that the client expects.
            GraphMemError: the function raised it.
        """
        if self._generation is None:
            return await self._runner.run(self.deadline, operation, *args, **kwargs)
        return await self._runner.run(self.deadline, self._as_expected, partial(operation, *args, **kwargs))

    def _as_expected(self, operation: Callable[[], T]) -> T:
        """Run `operation`, and check that the index has the expected state.

        The state is a counter that grows with each committed change of the index. So one check after `operation` is enough.

        Raises:
            GenerationChangedError: the index has another state.
        """
        answer = operation()
        found = self.service.state().generation
        if found != self._generation:
            raise GenerationChangedError(
                f"the ids in the request belong to state {self._generation} of the index, but the index now has "
                f"state {found}; repeat the queries from which the ids come",
                expected=self._generation,
                found=found,
            )
        return answer

    def begin_event(self) -> None:
        """Start a new deadline for the next event of a GraphQL subscription.

        The caches of the data loaders are emptied, so that the event shows current data.
        """
        self.deadline = asyncio.get_running_loop().time() + self.limits.seconds
        self.loaders = Loaders(self.service, self.call)

    async def wait_for(self, operation: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that may take minutes, without a deadline.

        Raises:
            LimitError: too many operations are waiting.
            GraphMemError: the function raised it.
        """
        answer = await self._runner.run_long(operation, *args, **kwargs)
        self.deadline = asyncio.get_running_loop().time() + self.limits.seconds  # nested fields of the answer get the full time again
        return answer


Info: TypeAlias = strawberry.Info[Operation, object]
"""The `info` argument of every resolver."""
