"""Reads a Cypher query that a person wrote, and writes down what of it may run.

The engine's read-only mode still reads and writes files of the machine (LOAD FROM, COPY, EXPORT, ATTACH), loads extensions and
calls functions that end the process, so nothing a person wrote is handed to it. A query is parsed by the grammar below, which has the
clauses that read and nothing else, and the engine is given a text made of the parsed pieces: names that are letters, numbers that are
numbers, and texts as parameters.

    query      = part { UNION [ALL] part } | CALL table "(" [text] ")" RETURN ...
    part       = { [OPTIONAL] MATCH patterns [WHERE e] | UNWIND e AS name | WITH items ... [WHERE e] } RETURN items ...
    items      = [DISTINCT] ( "*" | e [AS name] { "," ... } ) [ORDER BY ...] [SKIP n] [LIMIT n]
    pattern    = [name "="] node { rel node }
    rel        = ["<"] "-" [ "[" [name] [":" type { "|" type }] [ "*" [SHORTEST] [n] ".." n ] [map] "]" ] "-" [">"]

Source:
    openCypher 9, grammar; the clauses and functions are those of Kuzu's documentation that are named in `cypher_words`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError
from graphmem.store.cypher_words import CLAUSES, FUNCTIONS, KINDS, RESERVED, TABLES, Kind, Token, refusal, tokens_of

MOST_HOPS: Final = 10  # of a path of any length
MOST_NESTED: Final = 24  # brackets in brackets
MOST_CLAUSES: Final = 24
MOST_VALUES: Final = 10_000  # in a list that is a parameter
MOST_TEXT: Final = 100_000  # characters of a text that is a parameter

_PLAIN: Final = re.compile(r"[A-Za-z0-9_./: -]{0,200}")  # texts that may stand in quotes: the engine wants some of them there
_COMPARE: Final = frozenset(["=", "<>", "<", ">", "<=", ">=", "=~"])
_OWN: Final = "_text"  # parameters that this makes; a person's begin with a letter


class Checked(NamedTuple):
    """A query that may run."""

    text: str  # holds no text of the person's but names, numbers and plain words
    params: dict[str, Any]


def checked(query: str, params: Mapping[str, Any] | None, most_rows: int) -> Checked:
    """The query as it may run.

    Args:
        query: what a person wrote.
        params: values by name: texts, numbers, truth values, and lists of them.
        most_rows: rows that are wanted at most; each RETURN is limited to one more, which tells that there are more.

    Raises:
        BadInputError: it is not in the grammar, calls what is not on the list, or a parameter is missing, left over or no value.
    """
    return _Parser(tokens_of(query), _values({} if params is None else params), most_rows).query()


def _values(params: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(params, Mapping):
        raise BadInputError(f"params is a {type(params).__name__}; give an object with a value for each $name", argument="params")
    for name, value in params.items():
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", name):
            raise BadInputError(f"{str(name)[:60]!r} is no name of a parameter; use letters, digits and underlines", argument="params")
        if isinstance(value, (list, tuple)):
            if not 0 < len(value) <= MOST_VALUES:
                raise BadInputError(f"the list {name} has {len(value):,} values; give 1 to {MOST_VALUES:,}", argument=name)
            kinds = {type(one) for one in value}
            if len(kinds) > 1:
                raise BadInputError(f"the values of {name} are of several types; give a list of one type", argument=name)
        for one in value if isinstance(value, (list, tuple)) else (value,):
            _expect_value(name, one)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in params.items()}


def _expect_value(name: str, value: Any) -> None:
    if isinstance(value, str):
        if len(value) > MOST_TEXT:
            raise BadInputError(f"the text {name} has {len(value):,} characters; at most {MOST_TEXT:,}", argument=name, allowed=MOST_TEXT)
        if any("\ud800" <= sign <= "\udfff" for sign in value) or "\0" in value:
            raise BadInputError(f"the text {name} holds half a sign or a null; give text", argument=name)
    elif isinstance(value, int) and not isinstance(value, bool):
        if not -(2**63) <= value < 2**63:
            raise BadInputError(f"{name} does not fit into 64 bits", argument=name)
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise BadInputError(f"{name} is {value}; give a number", argument=name)
    elif not isinstance(value, bool) and value is not None:
        raise BadInputError(f"{name} is a {type(value).__name__}; give a text, a number, true, false, null or a list", argument=name)


class _Parser:
    """One reading, from left to right; each method reads a piece and gives it back as it may run."""

    def __init__(self, tokens: list[Token], given: Mapping[str, Any], most_rows: int) -> None:
        self._tokens = tokens
        self._at = 0
        self._given = given
        self._most_rows = most_rows
        self._params: dict[str, Any] = {}
        self._seen: set[str] = set()
        self._depth = 0
        self._clauses = 0

    # ---- tokens

    @property
    def _now(self) -> Token:
        return self._tokens[self._at]

    def _next(self) -> Token:
        token = self._now
        self._at += token.kind is not Kind.END
        return token

    def _is(self, *signs: str) -> bool:
        """Whether the next tokens are these keywords or signs."""
        ahead = self._tokens[self._at : self._at + len(signs)]
        return len(ahead) == len(signs) and all(
            token.word == sign or (token.kind is Kind.SIGN and token.text == sign) for token, sign in zip(ahead, signs, strict=True)
        )

    def _take(self, *signs: str) -> bool:
        if not self._is(*signs):
            return False
        self._at += len(signs)
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise self._unexpected(sign)

    def _unexpected(self, wanted: str) -> BadInputError:
        token = self._now
        found = "the end" if token.kind is Kind.END else repr(token.text[:40])
        return refusal(f"{wanted} should be here and not {found}; graphmem reads MATCH, WITH, UNWIND and RETURN alone", token.at)

    def _name(self, what: str) -> str:
        """A name of a variable, a table or a column of the answer."""
        token = self._now
        if token.kind is not Kind.NAME or token.word in RESERVED or token.text.startswith("_"):
            raise self._unexpected(what)
        return self._next().text

    def _kind(self) -> str:
        return self._next().text if self._now.kind is Kind.NAME and self._now.text in KINDS else self._name("a kind of edge")

    def _property(self) -> str:
        token = self._now
        if token.kind is not Kind.NAME or token.word in CLAUSES:
            raise self._unexpected("a property")
        return self._next().text

    def _nested(self, read: Callable[[], str]) -> str:
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise refusal(f"it is nested more than {MOST_NESTED} deep", self._now.at)
        found = read()
        self._depth -= 1
        return found

    # ---- clauses

    def query(self) -> Checked:
        """The whole."""
        parts = [self._table() if self._is("CALL") else self._part()]
        while self._take("UNION"):
            parts.append(("ALL " if self._take("ALL") else "") + self._part())
        if self._now.kind is not Kind.END:
            raise self._unexpected("the end")
        if left := sorted(set(self._given) - self._seen):
            raise BadInputError(f"the query does not use the parameter {left[0]}; leave it out", argument="params", value=left[0])
        return Checked(" UNION ".join(parts), self._params)

    def _table(self) -> str:
        self._expect("CALL")
        token = self._now
        if token.kind is not Kind.NAME or token.text.lower() not in TABLES:
            raise refusal(f"CALL is for {' and '.join(TABLES)} alone", token.at)
        name = self._next().text.lower()
        self._expect("(")
        argument = ""
        if name == "table_info":
            token = self._next()
            if token.kind is not Kind.STRING or not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", token.text):
                raise refusal("the name of a table should be here, in quotes", token.at)
            argument = f"'{token.text}'"
        self._expect(")")
        return f"CALL {name}({argument}) {self._projection('RETURN', last=True)}"

    def _part(self) -> str:
        found: list[str] = []
        while not self._is("RETURN"):
            self._clauses += 1
            if self._clauses > MOST_CLAUSES:
                raise refusal(f"there are more than {MOST_CLAUSES} clauses", self._now.at)
            if self._is("MATCH") or self._is("OPTIONAL", "MATCH"):
                found.append(("OPTIONAL " if self._take("OPTIONAL") else "") + self._match())
            elif self._take("UNWIND"):
                value = self._expression()
                self._expect("AS")
                found.append(f"UNWIND {value} AS {self._name('a name')}")
            elif self._is("WITH"):
                found.append(self._projection("WITH", last=False))
            else:
                raise self._unexpected("MATCH, UNWIND, WITH or RETURN")
        return " ".join([*found, self._projection("RETURN", last=True)])

    def _match(self) -> str:
        self._expect("MATCH")
        patterns = [self._pattern()]
        while self._take(","):
            patterns.append(self._pattern())
        return f"MATCH {', '.join(patterns)}{self._where()}"

    def _where(self) -> str:
        return f" WHERE {self._expression()}" if self._take("WHERE") else ""

    def _projection(self, word: str, *, last: bool) -> str:
        self._expect(word)
        found = word + (" DISTINCT" if self._take("DISTINCT") else "")
        if self._take("*"):
            found += " *"
        else:
            items = [self._item()]
            while self._take(","):
                items.append(self._item())
            found += f" {', '.join(items)}"
        if self._take("ORDER"):
            self._expect("BY")
            keys = [self._key()]
            while self._take(","):
                keys.append(self._key())
            found += f" ORDER BY {', '.join(keys)}"
        if self._take("SKIP"):
            found += f" SKIP {self._count()}"
        wanted = self._count() if self._take("LIMIT") else None
        if last:
            wanted = min(self._most_rows + 1, wanted if wanted is not None else self._most_rows + 1)
        if wanted is not None:
            found += f" LIMIT {wanted}"
        return found if last else found + self._where()

    def _item(self) -> str:
        value = self._expression()
        return f"{value} AS {self._name('a name')}" if self._take("AS") else value

    def _key(self) -> str:
        value = self._expression()
        return f"{value} DESC" if self._take("DESC") else f"{value} ASC" if self._take("ASC") else value

    def _count(self) -> int:
        """A number of rows, as itself or as a parameter."""
        token = self._next()
        value: Any = None
        if token.kind is Kind.NUMBER and token.text.isdigit():
            value = int(token.text)
        elif token.kind is Kind.PARAMETER:
            value = self._given_value(token)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**31:
            raise refusal("a number of rows should be here", token.at)
        return value

    # ---- patterns

    def _pattern(self) -> str:
        name = ""
        if self._now.kind is Kind.NAME and not self._is("("):
            name = self._name("a pattern")
            self._expect("=")
            name += " = "
        found = self._node()
        while self._is("-") or self._is("<-") or self._is("<"):
            found += self._rel() + self._node()
        return name + found

    def _node(self) -> str:
        self._expect("(")
        name = self._name("a name") if self._now.kind is Kind.NAME else ""
        found = name
        while self._take(":"):
            found += f":{self._name('a table')}"
        if self._is("{"):
            found += f" {self._map()}"
        self._expect(")")
        return f"({found})"

    def _rel(self) -> str:
        left = self._take("<-") or self._take("<", "-")
        if not left:
            self._expect("-")
        inside = self._nested(self._inside_rel) if self._take("[") else ""
        right = self._take("->") or (self._take("-", ">"))
        if not right:
            self._expect("-")
        if left and right:
            raise refusal("an edge has one direction, or none", self._now.at)
        return f"{'<-' if left else '-'}[{inside}]{'->' if right else '-'}"

    def _inside_rel(self) -> str:
        found = self._name("a name") if self._now.kind is Kind.NAME else ""
        if self._take(":"):
            found += f":{self._kind()}"
            while self._take("|"):
                self._take(":")
                found += f"|{self._kind()}"
        if self._take("*"):
            shortest = " SHORTEST " if self._take("SHORTEST") else ""
            low, high = self._hops()
            found += f"*{shortest}{low}..{high}"
        if self._is("{"):
            found += f" {self._map()}"
        self._expect("]")
        return found

    def _hops(self) -> tuple[int, int]:
        at = self._now.at
        low = int(self._next().text) if self._now.kind is Kind.NUMBER and self._now.text.isdigit() else None
        high = low
        if self._take(".."):
            high = int(self._next().text) if self._now.kind is Kind.NUMBER and self._now.text.isdigit() else None
        if high is None or not 0 < high <= MOST_HOPS or not 0 < (low if low is not None else 1) <= high:
            raise refusal(f"a path of any length needs its longest: *1..{MOST_HOPS} at most, from 1 on", at)
        return (low if low is not None else 1), high

    def _map(self) -> str:
        self._expect("{")

        def read() -> str:
            pairs = []
            while not self._is("}"):
                name = self._property()
                self._expect(":")
                pairs.append(f"{name}: {self._expression()}")
                if not self._take(","):
                    break
            self._expect("}")
            if not pairs:
                raise refusal("an empty map says nothing", self._now.at)
            return f"{{{', '.join(pairs)}}}"

        return self._nested(read)

    # ---- expressions, weakest first

    def _expression(self) -> str:
        return self._nested(self._or)

    def _or(self) -> str:
        found = self._and()
        while self._is("OR") or self._is("XOR"):
            found += f" {self._next().word} {self._and()}"
        return found

    def _and(self) -> str:
        found = self._not()
        while self._take("AND"):
            found += f" AND {self._not()}"
        return found

    def _not(self) -> str:
        return f"NOT {self._nested(self._not)}" if self._take("NOT") else self._comparison()

    def _comparison(self) -> str:
        found = self._sum()
        if self._now.kind is Kind.SIGN and self._now.text in _COMPARE:
            return f"{found} {self._next().text} {self._sum()}"
        if self._take("<-"):  # n<-1
            return f"{found} < - {self._sum()}"
        for words in (("STARTS", "WITH"), ("ENDS", "WITH"), ("CONTAINS",), ("IN",)):
            if self._take(*words):
                return f"{found} {' '.join(words)} {self._sum()}"
        if self._take("IS"):
            turned = "NOT " if self._take("NOT") else ""
            self._expect("NULL")
            return f"{found} IS {turned}NULL"
        return found

    def _sum(self) -> str:
        found = self._product()
        while self._is("+") or self._is("-"):
            found += f" {self._next().text} {self._product()}"
        return found

    def _product(self) -> str:
        found = self._sign()
        while any(self._is(sign) for sign in ("*", "/", "%", "^")):
            found += f" {self._next().text} {self._sign()}"
        return found

    def _sign(self) -> str:
        return f"- {self._nested(self._sign)}" if self._take("-") else self._reached()

    def _reached(self) -> str:
        """An atom with properties and places in lists after it."""
        found = self._atom()
        while True:
            if self._take("."):
                found += f".{self._property()}"
            elif self._take("["):
                found += self._nested(self._place)
            else:
                return found

    def _place(self) -> str:
        low = "" if self._is(":") else self._expression()
        if self._take(":"):
            high = "" if self._is("]") else self._expression()
            self._expect("]")
            return f"[{low}:{high}]"
        self._expect("]")
        return f"[{low}]"

    def _atom(self) -> str:
        token = self._now
        if token.kind is Kind.NUMBER:
            return _number(self._next())
        if token.kind is Kind.STRING:
            return self._text(self._next().text)
        if token.kind is Kind.PARAMETER:
            self._params[token.text] = self._given_value(self._next())
            return f"${token.text}"
        if self._take("("):
            found = self._expression()
            self._expect(")")
            return f"({found})"
        if self._take("["):
            return self._nested(self._list)
        if self._is("{"):
            return self._map()
        for word in ("TRUE", "FALSE", "NULL"):
            if self._take(word):
                return word
        if self._is("CASE"):
            return self._nested(self._case)
        for word in ("EXISTS", "COUNT"):
            if self._take(word, "{"):
                return f"{word} {{ {self._nested(self._subquery)} }}"
        if token.kind is Kind.NAME and self._tokens[self._at + 1].text == "(" and self._tokens[self._at + 1].kind is Kind.SIGN:
            return self._nested(self._call)
        return self._name("a value")

    def _list(self) -> str:
        items = []
        while not self._is("]"):
            items.append(self._expression())
            if not self._take(","):
                break
        self._expect("]")
        return f"[{', '.join(items)}]"

    def _case(self) -> str:
        self._expect("CASE")
        found = "CASE" + ("" if self._is("WHEN") else f" {self._expression()}")
        while self._take("WHEN"):
            condition = self._expression()
            self._expect("THEN")
            found += f" WHEN {condition} THEN {self._expression()}"
        if self._take("ELSE"):
            found += f" ELSE {self._expression()}"
        self._expect("END")
        return f"{found} END"

    def _subquery(self) -> str:
        found = self._match()
        self._expect("}")
        return found

    def _call(self) -> str:
        token = self._next()
        name = token.text.lower()
        if name not in FUNCTIONS:
            raise refusal(f"the function {token.text[:60]} is not on the list; there are {', '.join(sorted(FUNCTIONS))}", token.at)
        self._expect("(")
        if name == "count" and self._take("*"):
            self._expect(")")
            return "count(*)"
        found = "DISTINCT " if self._take("DISTINCT") else ""
        items = []
        while not self._is(")"):
            items.append(self._expression())
            if not self._take(","):
                break
        self._expect(")")
        return f"{name}({found}{', '.join(items)})"

    # ---- values

    def _given_value(self, token: Token) -> Any:
        if token.text not in self._given:
            raise BadInputError(f"the query wants the parameter {token.text}; give it a value", argument="params", value=token.text)
        self._seen.add(token.text)
        return self._given[token.text]

    def _text(self, meant: str) -> str:
        if _PLAIN.fullmatch(meant):
            return f"'{meant}'"
        _expect_value("in the query", meant)
        name = f"{_OWN}{sum(one.startswith(_OWN) for one in self._params)}"
        self._params[name] = meant
        return f"${name}"


def _number(token: Token) -> str:
    value = float(token.text)
    if not math.isfinite(value) or (token.text.isdigit() and int(token.text) >= 2**63):
        raise refusal(f"{token.text[:40]} is too large a number", token.at)
    return str(int(token.text)) if token.text.isdigit() else token.text
