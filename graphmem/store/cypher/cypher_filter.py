"""Check user-written Cypher queries before they reach the engine.

In its read-only mode, the engine still reads and writes files of the machine (LOAD FROM, COPY, EXPORT, ATTACH). It also loads extensions,
and calls functions that crash the process. Therefore a query is split into tokens, and each token must be on a list of allowed tokens. The
engine gets a new query text built from these tokens: keywords that only read, names, numbers, and parameters in place of strings. The
engine itself checks the grammar. `cypher_sandbox` limits the cost of a query.

The following rules exclude all clauses and statements that are not on the lists:

* The first word, and the first after UNION, is one of `STARTS`. A semicolon is refused.
* After a value, only a keyword of `KEYWORDS` or a symbol such as `,` may follow. A name is refused, because it may be an unknown clause.
* A name before an opening bracket is one of `FUNCTIONS`.
* CALL is allowed only at the start of a query, and only for two functions (`_CALL`).
* Keywords that write, load or install (`_ELSEWHERE`) are refused everywhere, even where a name may stand.

Source:
    openCypher 9, grammar; the clauses and functions are those of Kuzu's documentation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

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

STARTS: Final = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN")
_CLAUSES: Final = frozenset([*STARTS, "WHERE", "ORDER", "SKIP", "LIMIT", "UNION"])
_VALUES: Final = frozenset(["NULL", "TRUE", "FALSE", "END"])
_OPERATORS: Final = "AND OR XOR NOT IN STARTS ENDS CONTAINS IS CASE WHEN THEN ELSE EXISTS COUNT AS BY ASC DESC DISTINCT ALL SHORTEST"
KEYWORDS: Final = _CLAUSES | _VALUES | frozenset(_OPERATORS.split())
_ELSEWHERE: Final = """
    ACYCLIC ADD ALTER ANALYZE ANY ATTACH BEGIN CALL CAST CHECKPOINT COLUMN COMMENT COMMIT CONSTRAINT COPY CREATE CYCLE DATABASE DBTYPE
    DEFAULT DELETE DETACH DROP EXPLAIN EXPORT EXTENSION FORCE FROM GLOB GRAPH HEADERS HINT IF IMPORT INCREMENT INSERT INSTALL JOIN LOAD
    LOGICAL MACRO MERGE NO NONE ON PRIMARY PROFILE PROJECT READ REL REMOVE RENAME ROLLBACK SEQUENCE SET SINGLE STRUCT TABLE TO TRAIL
    TRANSACTION UNINSTALL UPDATE USE WRITE WSHORTEST YIELD
"""
RESERVED: Final = frozenset(_ELSEWHERE.split())
"""Words that name nothing here."""

_TOKEN: Final = re.compile(
    r"""
    (?P<space>[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)
  | (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![A-Za-z0-9_]))
  | (?P<name>[A-Za-z][A-Za-z0-9_]*)
  | \$(?P<parameter>[A-Za-z][A-Za-z0-9_]{0,99})
  | (?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
  | (?P<sign><>|<=|>=|=~|\.\.|[-+*/%^=<>()\[\]{},.:|])
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_MEANT: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"'}
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./: -]{0,200}")  # texts that may be in quotes, because the engine requires some of them there
_CALL: Final = re.compile(
    r"""CALL\s+(show_tables\(\s*\)|table_info\(\s*(['"])[A-Za-z][A-Za-z0-9_]{0,99}\2\s*\))\s+(?=RETURN\b)""", re.IGNORECASE
)
"""What may be asked with CALL: which tables there are, and the columns of one."""
_OWN: Final = "_text"  # prefix of generated parameter names; a user's names begin with a letter


class Token(NamedTuple):
    """A token (word, number or sign) of a user-written query."""

    kind: str  # a group of `_TOKEN`, or keyword
    text: str  # as the engine gets it
    at: int  # its position, from 0
    space: str  # the space before it for the engine: "" if the user wrote none

    @property
    def is_value(self) -> bool:
        """Whether the token is a value, such as `3`, or ends a value.

        The bracket that closes `f(x)` ends a value.
        """
        return self.kind in ("number", "name", "parameter", "string", "text") or self.text in (")", "]", "}") or self.text in _VALUES


class Checked(NamedTuple):
    """A checked query: the text for the engine, and its parameters."""

    text: str  # contains no user text except names, numbers and plain words
    params: dict[str, Any]


def checked(query: str, params: Mapping[str, object], most_rows: int) -> Checked:
    """Check a query; return the text and parameters that the engine may run.

    Args:
        query: the user's text.
        params: values by name: strings, numbers, booleans, and lists of these.
        most_rows: maximum number of rows to return. Each part of a UNION is limited to `most_rows` + 1 rows, so that the caller notices
            further rows.

    Raises:
        BadInputError: a token is not on the lists, or a parameter is missing, unused or not a value.
    """
    if len(query) > MOST_CHARACTERS:
        raise BadInputError(
            f"the Cypher query has {len(query):,} characters; write at most {MOST_CHARACTERS:,}, and pass long values as parameters",
            argument="query",
            limit="characters",
            allowed=MOST_CHARACTERS,
        )
    values = _values(params)
    query = query.strip(" \t\r\n;")
    call = _CALL.match(query)
    tokens, texts = _tokens(query, call.end() if call is not None else 0)
    asked = {token.text[1:] for token in tokens if token.kind == "parameter"}
    if missing := sorted(asked - values.keys()):
        raise BadInputError(
            f"the Cypher query uses the parameter {missing[0]}, which has no value; give it a value", argument="params", value=missing[0]
        )
    if left := sorted(values.keys() - asked):
        raise BadInputError(f"the Cypher query does not use the parameter {left[0]}; omit the parameter", argument="params", value=left[0])
    tokens = _counted(tokens, values)
    text = "".join(token.space + token.text for part in _parts(tokens) for token in _limited(part, most_rows + 1))
    used = {token.text[1:] for token in tokens if token.kind == "parameter"}
    given = {name: value for name, value in values.items() if name in used} | texts
    return Checked(f"CALL {call.group(1)} {text}" if call is not None else text, given)


def _values(params: Mapping[str, object]) -> dict[str, Any]:
    if not isinstance(params, Mapping):
        raise BadInputError(
            f"params is of type {type(params).__name__}; pass an object with a value for each $name of the query", argument="params"
        )
    for name, value in params.items():
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", name):
            raise BadInputError(
                f"invalid name of a query parameter {str(name)[:60]!r}; use letters, digits and underscores", argument="params"
            )
        kinds = {type(one) for one in value} if isinstance(value, (list, tuple)) else {type(value)}
        if len(kinds) != 1 or not kinds <= {str, int, float, bool, type(None)}:
            raise BadInputError(
                f"invalid value of the query parameter {name}; use a string, number, true, false, null or a list of one type", argument=name
            )
    return dict(params)


def _tokens(query: str, at: int) -> tuple[list[Token], dict[str, str]]:
    """Split a query, from position `at` on, into tokens; extract its strings.

    A parameter takes the place of each string. The second result maps the names of these parameters to the strings. A token that is not on
    a list of allowed tokens is refused.
    """
    found: list[Token] = []
    texts: dict[str, str] = {}
    starts = True  # a part of the query begins here
    space = ""
    while at < len(query):
        match = _TOKEN.match(query, at)
        if match is None:
            raise refusal(f"{query[at : at + 10]!r} is not allowed at this place in a Cypher query; remove it", at)
        kind, said = match.lastgroup or "", match.group()
        at, end = match.start(), match.end()
        if kind == "space":
            at, space = end, " "
            continue
        after_value = bool(found) and found[-1].is_value
        if kind == "name":
            kind, said = _word(said, at)
        if said == "(" and found and found[-1].kind == "name" and found[-1].text.lower() not in FUNCTIONS:
            wanted = ", ".join(sorted(FUNCTIONS))
            raise refusal(f"the function {found[-1].text[:60]} is not allowed in a Cypher query; use one of {wanted}", found[-1].at)
        if after_value and kind not in ("keyword", "sign"):
            raise refusal(
                f"{said[:40]!r} cannot follow a value in a Cypher query; continue with a clause or an operator, or end the query there", at
            )
        if starts and not (kind == "keyword" and said in STARTS):
            if said != "ALL" or not found:
                raise refusal(f"{said[:40]!r} cannot begin a Cypher query; begin with MATCH, UNWIND, WITH or RETURN", at)
        else:
            starts = said == "UNION"
        if kind == "string":
            meant = _meaning(said[1:-1], at)
            if _PLAIN.fullmatch(meant):
                said = f"'{meant}'"
            else:
                texts[name := f"{_OWN}{len(texts)}"] = meant
                kind, said = "text", f"${name}"
        found.append(Token(kind, said, at, space))
        if len(found) > MOST_TOKENS:
            raise refusal(f"the Cypher query has more than {MOST_TOKENS:,} words and symbols; write a shorter query", at)
        at, space = end, ""
    return found, texts


def _word(text: str, at: int) -> tuple[str, str]:
    """Return (kind, text) of the word at a position of a query.

    The kind is "keyword" or "name". The text of a keyword is in upper case.
    """
    word = text.upper()
    if word in RESERVED:
        raise refusal(f"{word} is not allowed in a Cypher query; use only MATCH, WITH, UNWIND and RETURN", at)
    return ("keyword", word) if word in KEYWORDS else ("name", text)


def _meaning(inside: str, at: int) -> str:
    def one(match: re.Match[str]) -> str:
        if match.group(1) not in _MEANT:
            raise refusal(f"{match.group()!r} is not allowed in a string of a Cypher query; pass the string as a parameter", at)
        return _MEANT[match.group(1)]

    return _ESCAPE.sub(one, inside)


def _counted(tokens: list[Token], values: Mapping[str, object]) -> list[Token]:
    """Return tokens with numbers instead of parameters after SKIP and LIMIT.

    `values` maps names of parameters to values. If `n` is 5, `LIMIT $n` becomes `LIMIT 5`.
    """
    found = list(tokens)
    for at, token in enumerate(tokens):
        if token.text not in ("SKIP", "LIMIT"):
            continue
        count = tokens[at + 1] if at + 1 < len(tokens) else token
        value: Any = None
        if count.kind == "number" and re.fullmatch("[0-9]{1,10}", count.text):
            value = int(count.text)
        elif count.kind == "parameter":
            value = values.get(count.text[1:])
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
            raise refusal("SKIP or LIMIT in the Cypher query has no whole number after it; write the number of rows, 0 or more", count.at)
        found[at + 1] = Token("number", str(value), count.at, " ")
    return found


def _parts(tokens: list[Token]) -> list[list[Token]]:
    """Split a query at each UNION; every later part begins with its UNION.

    `tokens` are the words and signs of the query.
    """
    found: list[list[Token]] = [[]]
    for token in tokens:
        if token.text == "UNION":
            found.append([])
        found[-1].append(token)
    return found


def _limited(part: list[Token], most: int) -> list[Token]:
    """Return a part of a query with a LIMIT of at most `most` rows.

    A missing LIMIT is added, and a higher one is lowered to `most`.

    Raises:
        BadInputError: RETURN is missing, a bracket is open, or LIMIT is not at the end.
    """
    depth, returns, limit = 0, False, None
    for at, token in enumerate(part):
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth == 0 and token.text == "RETURN":
            returns, limit = True, None
        elif depth == 0 and token.text == "LIMIT" and limit is None:
            limit = at
        if depth < 0:
            raise refusal("the Cypher query has a closing bracket without an opening one; remove it, or add the opening one", token.at)
    end = part[-1].at if part else 0
    if depth:
        raise refusal("this part of the Cypher query has an unclosed bracket; close every bracket", end)
    if not returns:
        raise refusal("RETURN is missing in the Cypher query; end the query, and each side of a UNION, with RETURN", end)
    if limit is None:
        return [*part, Token("keyword", "LIMIT", end, " "), Token("number", str(most), end, " ")]
    if limit + 2 != len(part):
        raise refusal("LIMIT must be the last part of a Cypher query; move it to the end", part[limit].at)
    return [*part[:-1], Token("number", str(min(most, int(part[-1].text))), end, " ")]


def refusal(why: str, at: int) -> BadInputError:
    """Return the error for a query that is not allowed.

    `at` is the position of the fault, in characters from 0. `why` says what is wrong and what to do.
    """
    return BadInputError(f"Cypher, character {at + 1}: {why}", argument="query", value=at)
