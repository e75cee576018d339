"""All errors that graphmem raises on purpose, as a flat list of types.

Each error keeps facts for programs as attributes, which the docstring of the class lists. The message says what is wrong and what to do.
Every interface shows the error's `code` (`extensions.code` in GraphQL, `code` in the JSON of the command line). Types, attributes and codes
are API; the wording of messages is not.
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

    The attributes are `argument` (name of the argument), and often `value`, `limit` or `allowed` (allowed values).
    """

    code = "BAD_INPUT"


class SettingsError(BadInputError):
    """A setting is unknown or out of range.

    The attributes are `setting` (key of the setting), `value` and `origin` (such as the name of a file). `value` is "" for an unknown
    setting, because it may be a secret.
    """


class RepositoryError(BadInputError):
    """The path to index is missing, unreadable or not a directory.

    The attribute is `path`.
    """


class UnsupportedLanguageError(GraphMemError):
    """The language is unknown.

    The attribute is `language`.
    """

    code = "BAD_INPUT"


class GrammarError(GraphMemError):
    """A grammar directory or an installed grammar is invalid.

    The attributes are `path` and `line` (0 if unknown).
    """


class QueryFileError(GraphMemError):
    """A file in `queries/` has an invalid format.

    The attributes are `path` and `line`.
    """


class QueryParameterError(BadInputError):
    """A database query was called with wrong parameters.

    The attributes are `query` (name of the query), `missing` and `extra` (names of parameters).
    """


class MigrationError(GraphMemError):
    """A database's schema history does not match the migration files.

    The attributes are `path` and `version` (number of the migration file).
    """


class SchemaTooNewError(MigrationError):
    """The database was written by a newer graphmem.

    The attributes are `path`, `found` (schema version of the database) and `known` (newest version that this graphmem knows).
    """


class DatabaseDamagedError(GraphMemError):
    """The database file cannot be opened.

    The attributes are `path` and `reason`.
    """

    code = "CONFLICT"


class DiskFullError(GraphMemError):
    """A write to disk failed; the previous index is intact.

    The attribute is `path`.
    """

    code = "LIMIT"


class ResourceError(GraphMemError):
    """The system limits memory, descriptors or file size of this process.

    The attributes are `limit` (name of the resource), `allowed` and `found` (amounts), and `path`.
    """

    code = "LIMIT"


class StoreBusyError(GraphMemError):
    """Another process owns the database, or the writer's queue is full.

    The attributes are `path` and `owner` (facts about the other process, or None). If waiting helps, `retry_after` has the seconds to wait.
    """

    code = "CONFLICT"


class StoreUnreachableError(GraphMemError):
    """The PostgreSQL database that holds the graph does not answer.

    The attribute is `address`.
    """

    code = "CONFLICT"


class GenerationChangedError(GraphMemError):
    """The index was changed since the state that the client expects.

    The attributes are `expected` and `found`: values of the index's counter of changes.
    """

    code = "CONFLICT"


class StoreClosedError(GraphMemError):
    """The store was closed before this call."""


class SymbolNotFoundError(GraphMemError, LookupError):
    """The reference to a symbol or file matches nothing.

    The attributes are `ref` (the reference) and `suggestions` (similar names).
    """

    code = "NOT_FOUND"


class AmbiguousSymbolError(GraphMemError, LookupError):
    """The reference matches several symbols.

    The attributes are `ref` (the reference) and `candidates` (list of SymbolInfo).
    """

    code = "AMBIGUOUS"


class MemoryNotFoundError(GraphMemError, LookupError):
    """No memory has this id or short id.

    The attribute is `id`.
    """

    code = "NOT_FOUND"


class AmbiguousMemoryError(GraphMemError, LookupError):
    """Several memories have an id that begins with the given prefix.

    The attributes are `id` (the prefix) and `candidates` (list of {id, title}).
    """

    code = "AMBIGUOUS"


class SessionNotFoundError(GraphMemError, LookupError):
    """The id matches no session, or several sessions.

    The attributes are `id` and `candidates` (ids of sessions).
    """

    code = "NOT_FOUND"


class SecretError(BadInputError):
    """The text is mostly a secret and is not stored.

    The attributes are `field` (the field with the secret) and `kinds` (kinds of the secrets). The error does not contain the secret.
    """


class JournalError(GraphMemError):
    """The journal of memories cannot be read or written.

    Writes that were acknowledged before are intact. The attribute is `path`.
    """

    code = "CONFLICT"


class EncryptionError(GraphMemError):
    """The memories are encrypted, and the key is missing or wrong.

    The attribute `key` is the hash that identifies the right key.
    """

    code = "CONFLICT"


class NotIndexedError(GraphMemError, LookupError):
    """The project does not have an index yet.

    The attribute is `path`.
    """

    code = "NOT_FOUND"


class StaleFileError(GraphMemError):
    """A file changed after indexing, so stored positions in it are invalid.

    The attribute is `path`.
    """

    code = "CONFLICT"


class IndexingError(GraphMemError):
    """An index run failed; the previous index is intact.

    The attribute is `stage` (name of the step that failed).
    """


class IndexCancelledError(IndexingError):
    """An index run was interrupted; the previous index is intact."""

    code = "CONFLICT"


class EvidenceError(GraphMemError):
    """A file with facts from another tool is unusable.

    Such a file is, for example, a coverage report. Facts that were imported before are intact. The attributes are `path` and `reason`.
    """

    code = "BAD_INPUT"


class HistoryError(GraphMemError):
    """The history log cannot be read or written.

    The log has commits and agents' sessions. Entries that were acknowledged before are intact. The attributes are `path` and `reason`.
    """

    code = "CONFLICT"


class EmbedderError(GraphMemError):
    """The embedding model failed to load or to answer.

    The attribute is `model`.
    """

    code = "CONFLICT"


class LanguageModelError(GraphMemError):
    """The language model failed to give a valid answer.

    The attributes are `host` and `reason`.
    """

    code = "CONFLICT"


class SharingError(GraphMemError):
    """Memories cannot be exchanged with the team.

    The attribute is `reason`.
    """

    code = "SHARING"


class LedgerError(GraphMemError):
    """The statistics of sessions cannot be read or written.

    Memories are not affected. The attribute is `path`.
    """

    code = "CONFLICT"


class GitError(GraphMemError):
    """A git command failed, or git is not installed.

    The attributes are `command` and `stderr` (the output of git about the error).
    """

    code = "BAD_INPUT"


class LimitError(GraphMemError):
    """A request exceeds a configured limit.

    The attributes are `limit` (name of the limit), `allowed` and `found` (numbers).
    """

    code = "LIMIT"


class DeadlineError(GraphMemError):
    """A request exceeded its time limit.

    The attribute `seconds` is the time limit.
    """

    code = "TIMEOUT"


class UnauthenticatedError(GraphMemError):
    """The server requires a token; the request has none or an invalid one."""

    code = "UNAUTHENTICATED"


class ForbiddenError(GraphMemError):
    """The caller or the server lacks permission for this request.

    The attribute is `needs` (name of the missing permission) or `path` (of a directory that the server may not index).
    """

    code = "FORBIDDEN"


class UnsupportedError(ForbiddenError):
    """The store of the index does not support this function.

    The attribute `needs` names the missing part of the store.
    """


class WrongIndexError(GraphMemError):
    """The server serves a different index than the client expects.

    The attributes are `address` of the server, and `expected` and `found` (ids of index directories).
    """

    code = "CONFLICT"


class OwnerUnreachableError(GraphMemError):
    """A server owns the database but does not answer.

    The attributes are `address` and `pid` (number of the server's process).
    """

    code = "CONFLICT"
