"""All errors that graphmem raises on purpose, as a flat list of types.

Each error keeps its facts as attributes. A class's docstring lists them in parentheses, or after "Facts:". The message says what is wrong
and what to do. Every interface shows the error's `code` (`extensions.code` in GraphQL, `code` in the JSON of the command line). Types,
attributes and codes are API; the wording of messages is not.
"""

from __future__ import annotations

from typing import Any, ClassVar


class GraphMemError(Exception):
    """Base of every error raised on purpose.

    Args:
        message: one sentence for a person that ends with what to do.
        **facts: values for programs, such as `path`; each becomes an attribute and an item of `facts`.
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
    """An argument is invalid.

    Facts: `argument`, and often `value`, `limit` or `allowed`.
    """

    code = "BAD_INPUT"


class SettingsError(BadInputError):
    """A setting is unknown or out of range (`setting`, `value`, `origin`)."""


class RepositoryError(BadInputError):
    """The path to index is missing, unreadable or not a directory (`path`)."""


class UnsupportedLanguageError(GraphMemError):
    """The language is unknown (`language`)."""

    code = "BAD_INPUT"


class GrammarError(GraphMemError):
    """A grammar directory or an installed grammar is invalid (`path`, `line`)."""


class QueryFileError(GraphMemError):
    """A file in `queries/` has an invalid format (`path`, `line`)."""


class QueryParameterError(BadInputError):
    """A query has wrong parameters (`query`, `missing`, `extra`)."""


class MigrationError(GraphMemError):
    """A database's schema history does not match the migration files.

    Facts: `path`, `version`.
    """


class SchemaTooNewError(MigrationError):
    """The database was written by a newer graphmem (`path`, `found`, `known`)."""


class DatabaseDamagedError(GraphMemError):
    """The database file cannot be opened (`path`, `reason`)."""

    code = "CONFLICT"


class DiskFullError(GraphMemError):
    """A write to disk failed (`path`); the previous index is intact."""

    code = "LIMIT"


class ResourceError(GraphMemError):
    """The system limits memory, descriptors or file size of this process.

    Facts: `limit`, `allowed`, `found`, `path`.
    """

    code = "LIMIT"


class StoreBusyError(GraphMemError):
    """Another process owns the database, or the writer's queue is full.

    Facts: `path`, `owner`; `retry_after` in seconds when waiting helps.
    """

    code = "CONFLICT"


class StoreUnreachableError(GraphMemError):
    """The PostgreSQL that holds the graph does not answer (`address`)."""

    code = "CONFLICT"


class GenerationChangedError(GraphMemError):
    """The index was changed since the state that the client expects.

    Facts: `expected`, `found`.
    """

    code = "CONFLICT"


class StoreClosedError(GraphMemError):
    """The store was closed before this call."""


class SymbolNotFoundError(GraphMemError, LookupError):
    """The reference matches nothing (`ref`, `suggestions`)."""

    code = "NOT_FOUND"


class AmbiguousSymbolError(GraphMemError, LookupError):
    """The reference matches several symbols.

    Facts: `ref`, `candidates` (list of SymbolInfo).
    """

    code = "AMBIGUOUS"


class MemoryNotFoundError(GraphMemError, LookupError):
    """No memory has this id or short id (`id`)."""

    code = "NOT_FOUND"


class AmbiguousMemoryError(GraphMemError, LookupError):
    """Several memories have an id that begins with the given prefix.

    Facts: `id`, `candidates` (list of {id, title}).
    """

    code = "AMBIGUOUS"


class SessionNotFoundError(GraphMemError, LookupError):
    """The id matches no session, or several (`id`, `candidates`)."""

    code = "NOT_FOUND"


class SecretError(BadInputError):
    """The text is mostly a secret and is not stored (`field`, `kinds`).

    The error does not contain the secret.
    """


class JournalError(GraphMemError):
    """The journal of memories cannot be read or written (`path`).

    Writes that were acknowledged before are intact.
    """

    code = "CONFLICT"


class EncryptionError(GraphMemError):
    """The memories are encrypted, and the key is missing or wrong.

    The fact `key` is the hash that identifies the right key.
    """

    code = "CONFLICT"


class NotIndexedError(GraphMemError, LookupError):
    """The project does not have an index yet (`path`)."""

    code = "NOT_FOUND"


class StaleFileError(GraphMemError):
    """A file changed after indexing, so its positions are invalid (`path`)."""

    code = "CONFLICT"


class IndexingError(GraphMemError):
    """An index run failed; the previous index is intact (`stage`)."""


class IndexCancelledError(IndexingError):
    """An index run was interrupted; the previous index is intact."""

    code = "CONFLICT"


class EvidenceError(GraphMemError):
    """A file with facts from another tool is unusable (`path`, `reason`).

    Such a file is, for example, a coverage report. Facts that were imported before are intact.
    """

    code = "BAD_INPUT"


class HistoryError(GraphMemError):
    """The history log cannot be read or written (`path`, `reason`).

    The log has commits and agents' sessions. Entries that were acknowledged before are intact.
    """

    code = "CONFLICT"


class EmbedderError(GraphMemError):
    """The embedding model failed to load or to answer (`model`)."""

    code = "CONFLICT"


class LanguageModelError(GraphMemError):
    """The language model failed to give a valid answer (`host`, `reason`)."""

    code = "CONFLICT"


class SharingError(GraphMemError):
    """Memories cannot be exchanged with the team (`reason`)."""

    code = "SHARING"


class LedgerError(GraphMemError):
    """The statistics of sessions cannot be read or written (`path`).

    Memories are not affected.
    """

    code = "CONFLICT"


class GitError(GraphMemError):
    """A git command failed, or git is not installed (`command`, `stderr`)."""

    code = "BAD_INPUT"


class LimitError(GraphMemError):
    """A request exceeds a configured limit (`limit`, `allowed`, `found`)."""

    code = "LIMIT"


class DeadlineError(GraphMemError):
    """A request exceeded its time limit (`seconds`)."""

    code = "TIMEOUT"


class UnauthenticatedError(GraphMemError):
    """The server requires a token; the request has none or an invalid one."""

    code = "UNAUTHENTICATED"


class ForbiddenError(GraphMemError):
    """The caller or the server lacks permission for this request (`path`)."""

    code = "FORBIDDEN"


class UnsupportedError(ForbiddenError):
    """The store of the index does not support this function (`needs`)."""


class WrongIndexError(GraphMemError):
    """The server serves a different index (`address`, `expected`, `found`)."""

    code = "CONFLICT"


class OwnerUnreachableError(GraphMemError):
    """A server owns the database but does not answer (`address`, `pid`)."""

    code = "CONFLICT"
