"""The words of the Cypher that people may write: which clauses, functions and signs there are, and how a text is cut into them.

What is not named here does not exist. A text is cut as openCypher has it, without its comments; what follows never looks at the text
again, so there is nothing an engine could read in it that was not read here.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from graphmem.errors import BadInputError

MOST_CHARACTERS: Final = 8_000
MOST_TOKENS: Final = 1_000

_FUNCTIONS: Final = """
    count sum avg min max collect
    id label offset nodes rels properties length size
    lower upper trim ltrim rtrim reverse substring left right starts_with ends_with contains concat
    coalesce ifnull
    abs ceil floor round sqrt ln log2 log10 sign greatest least
    list_contains list_position list_distinct list_sort list_sum list_slice list_extract list_unique
    date timestamp year month day date_part date_trunc
    to_string to_int64 to_double
"""
FUNCTIONS: Final = frozenset(_FUNCTIONS.split())
"""What may be called: functions that look at their arguments alone and whose answer is not much longer than they are. None that make
lists or texts of any length (`range`, `repeat`, `lpad`: one call ends the process), none that read or list files, none of extensions."""

TABLES: Final = ("show_tables", "table_info")
"""What may be asked with CALL: which tables there are, and the columns of one."""

CLAUSES: Final = ("MATCH", "OPTIONAL", "WHERE", "WITH", "UNWIND", "RETURN", "ORDER", "SKIP", "LIMIT", "UNION", "CALL")
_OPERATORS: Final = (
    "AND OR XOR NOT IN STARTS ENDS CONTAINS IS NULL TRUE FALSE CASE WHEN THEN ELSE END EXISTS COUNT AS BY ASC DESC DISTINCT ALL"
)
_ELSEWHERE: Final = """
    ACYCLIC ADD ALTER ANALYZE ANY ASCENDING ATTACH BEGIN CAST CHECKPOINT COLUMN COMMENT COMMIT COMMIT_SKIP_CHECKPOINT CONSTRAINT COPY
    CREATE CYCLE DATABASE DEFAULT DELETE DESCENDING DETACH DBTYPE DROP EXPLAIN EXPORT EXTENSION EXISTS FORCE FROM GLOB GRAPH
    HEADERS HINT IF IMPORT INCREMENT INSTALL JOIN LOAD LOGICAL MACRO MAXVALUE MERGE MINVALUE MULTI_JOIN NO NONE ON ONLY PRIMARY
    PROFILE PROJECT PROJECTED READ REL RENAME ROLLBACK ROLLBACK_SKIP_CHECKPOINT SEQUENCE SET SHORTEST SINGLE STRUCT TABLE TO TRAIL
    TRANSACTION UNINSTALL UPDATE USE WRITE WSHORTEST YIELD RDFGRAPH
"""
RESERVED: Final = frozenset([*CLAUSES, *_OPERATORS.split(), *_ELSEWHERE.split()])
"""Words that name nothing here, so that no name can begin something else in the engine's grammar."""

KINDS: Final = frozenset(["CONTAINS"])
"""Reserved words that are kinds of edges all the same."""


class Kind(Enum):
    """What a token is."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    PARAMETER = "parameter"
    SIGN = "sign"
    END = "end"


class Token(NamedTuple):
    """A piece of a text."""

    kind: Kind
    text: str  # of a string: what it means; of a parameter: its name
    at: int  # where it begins, from 0

    @property
    def word(self) -> str:
        """In capitals, for keywords; "" for what is no name."""
        return self.text.upper() if self.kind is Kind.NAME else ""


_TOKEN: Final = re.compile(
    r"""
    (?P<space>[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)
  | (?P<number>(?:[0-9]+\.[0-9]+|[0-9]+)(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_]))
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<parameter>\$[A-Za-z][A-Za-z0-9_]*)
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<sign><>|<=|>=|=~|\.\.|<-|->|[-+*/%^=<>()\[\]{},.:|])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_MEANT: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, and an END.

    Raises:
        BadInputError: it is too long, or holds a sign that is none; `at` says where.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadInputError(
            f"the query has {len(text):,} characters; at most {MOST_CHARACTERS:,}, give long values as parameters",
            argument="query",
            limit="characters",
            allowed=MOST_CHARACTERS,
        )
    text = text.rstrip(" \t\r\n;")
    found: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise refusal(f"{text[at : at + 10]!r} is no sign of this language", at)
        kind = match.lastgroup or ""
        said = match.group()
        if kind == "string":
            found.append(Token(Kind.STRING, _meaning(said[1:-1], at), at))
        elif kind != "space":
            found.append(Token(Kind(kind), said[1:] if kind == "parameter" else said, at))
        if len(found) > MOST_TOKENS:
            raise refusal(f"the query has more than {MOST_TOKENS:,} words and signs; ask for less at once", at)
        at = match.end()
    return [*found, Token(Kind.END, "", len(text))]


def _meaning(inside: str, at: int) -> str:
    def one(match: re.Match[str]) -> str:
        if match.group(1) not in _MEANT:
            raise refusal(f"{match.group()!r} means nothing in a text; give the text as a parameter", at)
        return _MEANT[match.group(1)]

    return _ESCAPE.sub(one, inside)


def refusal(why: str, at: int) -> BadInputError:
    """Why a text is not read further."""
    return BadInputError(f"Cypher, character {at + 1}: {why}", argument="query", value=at)
