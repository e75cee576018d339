"""Every way graphmem can refuse, as a flat list of types.

Each error keeps its facts as attributes, says in its message what to do next, and carries the
`code` that every door shows (`extensions.code` in GraphQL, the JSON `code` of the command line).
Types, attributes and codes are API; the wording of messages is not.
"""

from __future__ import annotations

from typing import Any, ClassVar


class GraphMemError(Exception):
    """Base of every error raised on purpose.

    Args:
        message: one sentence for a person, ending in what to do next.
        **facts: what a program needs to act on it; kept as attributes and in `facts`.
    """

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        self.message = message
        self.facts = facts

    def __getattr__(self, name: str) -> Any:
        facts = self.__dict__.get("facts", {})
        if name in facts:
            return facts[name]
        raise AttributeError(name)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, self.facts))


def _rebuild(kind: type[GraphMemError], message: str, facts: dict[str, Any]) -> GraphMemError:
    return kind(message, **facts)


class BadInputError(GraphMemError, ValueError):
    """An argument that cannot be meant: its name, its limit and what came are in the facts."""

    code = "BAD_INPUT"


class SettingsError(BadInputError):
    """A setting that is unknown or out of range (`setting`, `value`, `origin`)."""


class RepositoryError(BadInputError):
    """The path to index does not exist, is no directory, or cannot be read (`path`)."""


class UnsupportedLanguageError(GraphMemError):
    """No grammar folder answers for this language (`language`)."""

    code = "BAD_INPUT"


class GrammarError(GraphMemError):
    """A grammar folder or an installed grammar is not usable (`path`, `line`)."""


class QueryFileError(GraphMemError):
    """A file in `queries/` does not follow the format (`path`, `line`)."""


class QueryParameterError(BadInputError):
    """A named query was called with missing or extra parameters (`query`, `missing`, `extra`)."""


class MigrationError(GraphMemError):
    """The database's schema history does not match the files (`path`, `version`)."""


class SchemaTooNewError(MigrationError):
    """The database was written by a newer graphmem (`path`, `found`, `known`)."""


class DatabaseDamagedError(GraphMemError):
    """The database file cannot be opened as one (`path`, `reason`)."""

    code = "CONFLICT"


class DiskFullError(GraphMemError):
    """The disk refused a write (`path`); the previous index is still there."""

    code = "LIMIT"


class ResourceError(GraphMemError):
    """The system refused this process memory, descriptors or a larger file (`limit`, `allowed`, `found`, `path`)."""

    code = "LIMIT"


class StoreBusyError(GraphMemError):
    """Another process owns the database, or the writer's queue is full (`path`, `owner`; `retry_after` seconds when waiting helps)."""

    code = "CONFLICT"


class StoreClosedError(GraphMemError):
    """The store was closed before this call."""


class SymbolNotFoundError(GraphMemError, LookupError):
    """Nothing answers to that reference (`ref`, `suggestions`)."""

    code = "NOT_FOUND"


class AmbiguousSymbolError(GraphMemError, LookupError):
    """Several symbols answer to that reference (`ref`, `candidates`: list of SymbolInfo)."""

    code = "AMBIGUOUS"


class MemoryNotFoundError(GraphMemError, LookupError):
    """No memory has that id or short id (`id`)."""

    code = "NOT_FOUND"


class AmbiguousMemoryError(GraphMemError, LookupError):
    """Several memories have ids that begin so (`id`, `candidates`: list of {id, title})."""

    code = "AMBIGUOUS"


class SessionNotFoundError(GraphMemError, LookupError):
    """No session has this id, or several begin so (`id`, `candidates`)."""

    code = "NOT_FOUND"


class SecretError(BadInputError):
    """A text that is mostly a secret is not kept (`field`, `kinds`); the secret itself is nowhere in the error."""


class JournalError(GraphMemError):
    """The memories' journal cannot be written or read (`path`); what was acknowledged before is untouched."""

    code = "CONFLICT"


class NotIndexedError(GraphMemError, LookupError):
    """There is no index yet for this project (`path`)."""

    code = "NOT_FOUND"


class StaleFileError(GraphMemError):
    """A file has changed since it was indexed (`path`), so positions in it mean nothing."""

    code = "CONFLICT"


class IndexingError(GraphMemError):
    """A run could not finish; what was there before is untouched (`stage`)."""


class IndexCancelledError(IndexingError):
    """The run was interrupted; what was there before is untouched."""

    code = "CONFLICT"


class EvidenceError(GraphMemError):
    """A file of outside evidence cannot be used (`path`, `reason`); what was taken in before is untouched."""

    code = "BAD_INPUT"


class HistoryError(GraphMemError):
    """The log of co-edits cannot be read or written (`path`, `reason`); what was acknowledged before is untouched."""

    code = "CONFLICT"


class EmbedderError(GraphMemError):
    """The embedding model cannot be loaded or answered with something unusable (`model`)."""

    code = "CONFLICT"


class LanguageModelError(GraphMemError):
    """The configured language model did not answer, or not as it was asked to (`host`, `reason`)."""

    code = "CONFLICT"


class LedgerError(GraphMemError):
    """What is counted across sessions cannot be read or written (`path`); memories are not concerned."""

    code = "CONFLICT"


class GitError(GraphMemError):
    """git refused or is not installed (`command`, `stderr`)."""

    code = "BAD_INPUT"


class LimitError(GraphMemError):
    """A request is larger than a configured limit (`limit`, `allowed`, `found`)."""

    code = "LIMIT"


class DeadlineError(GraphMemError):
    """A request did not finish in its time (`seconds`)."""

    code = "TIMEOUT"


class UnauthenticatedError(GraphMemError):
    """The server asked for a token and none, or a wrong one, came."""

    code = "UNAUTHENTICATED"


class ForbiddenError(GraphMemError):
    """What was asked is not for this caller or this server (`path`)."""

    code = "FORBIDDEN"


class UnsupportedError(ForbiddenError):
    """The store of this index has no such capability (`needs`)."""


class WrongIndexError(GraphMemError):
    """The server at an address serves another index than the one that was meant (`address`, `expected`, `found`)."""

    code = "CONFLICT"


class OwnerUnreachableError(GraphMemError):
    """A server owns the database but does not answer (`address`, `pid`)."""

    code = "CONFLICT"
