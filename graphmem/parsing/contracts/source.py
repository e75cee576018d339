"""Find calls that may belong to contracts, and the values they get.

The table `grammars/contracts.toml` lists the names of these calls. Values are found in the text, because the facts of a file do not contain
values.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from graphmem.model import CLASS_KINDS, FUNCTION_KINDS
from graphmem.parsing.contracts.habits import Habit, has_habit, is_own_object, own_object
from graphmem.parsing.contracts.paths import HOLE
from graphmem.parsing.contracts.table import Row, Table
from graphmem.parsing.contracts.written import EMPTY, MAX_ARGUMENTS, arguments, evaluate, split
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, FileFacts, Reference, Term, TermIndex
from graphmem.parsing.language import language_spec

FUNCTION: Final = re.compile(r"=>|\bfunction\b|\bfunc\s*\(|^\s*(?:async\s+)?\(|^\s*\w+\s*->\s|\bfn\b|^\s*\|")
"""An anonymous function."""
_BLOCK: Final = re.compile(r"[^\n]*(?:\bdo[ \t]*(?:\|[^\n|]*\|)?[ \t]*(?:\n|$)|\)[ \t]*\{)")
"""A line with a call of Ruby that is given a block; `get "/do"` has none."""
_ENTRY: Final = re.compile(
    r"(?<![\w.$])[\"']?([A-Za-z_$][\w$]*)[\"']?\s*:\s*(\((?:[^()]|\([^()]*\))*\)\s*(?::\s*\w+\s*)?=>\s*|\w+\s*=>\s*)?(?=[\"'`])"
)
"""An entry of an object, whose value is a string or a function that returns one."""

OWN: Final = "(own)"
"""The receiver of a call on the object itself."""


@cache
def _given() -> re.Pattern[str]:
    """Return a pattern for the left side of an assignment, such as `url =`."""
    return re.compile(rf"(?<![\w.$?&]){own_object()}?([A-Za-z_$][\w$]*)\s*(?::[^\S\n]*[\w.<>\[\]| ]+)?\s*(?::=|=(?![=>]))\s*")


_KEY: Final = re.compile(r"\[[\"'][\w.:-]+[\"']\]")
"""The key of `config["KEY"]`."""


_AWAIT: Final = re.compile(r"\bawait\s+[\w.$]*$")


class Site(NamedTuple):
    """A call whose name is in the table of contracts, such as `app.get(…)`.

    The fields have the name, the receiver, the source text of each argument, and the position of the call.
    """

    reference: Reference
    name: str
    receiver: str  # last name before the call, "" for none, `OWN` for the object itself
    chain: tuple[str, ...]  # names of calls before it in the same expression, the nearest first
    given: list[str]
    start: int  # of the name
    end: int  # after its arguments


class Source:
    """One source file: its facts, its text, and the values of its names.

    Args:
        facts: the result of parsing the file.
        text: the content of the file.
        table: rows of `grammars/contracts.toml` for the language of the file. They list the calls and annotations that offer or use
            contracts, such as routes.
    """

    def __init__(self, facts: FileFacts, text: str, table: Table) -> None:
        self.facts = facts
        self.terms = facts.terms
        self.text = text
        self.table = table
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]  # offsets of the lines
        self._constants: dict[str, str | None] = {}
        self._given: dict[str, list[int]] | None = None
        self._entries: dict[str, str] | None = None
        self._injected: dict[str, str] | None = None

    def holds(self, row: Row) -> bool:
        """Whether the file meets the conditions of a row of the table.

        A row may require that the file is a test, or that its text has certain words, such as the name of an imported class.
        """
        if row.tests and not language_spec(self.facts.language).tests.is_test_path(self.facts.path):
            return False
        return not row.imports or any(word in self.text for word in row.imports)

    def has_block(self, site: Site) -> bool:
        """Whether a call in Ruby has a block, as `get "/" do … end` has."""
        return _BLOCK.match(self.text, site.start) is not None

    def is_awaited(self, site: Site) -> bool:
        """Whether the code awaits the result: `await server.get("/carts")`."""
        return _AWAIT.search(self.line_before(site)) is not None

    def site(self, reference: Reference, name: str) -> Site | None:
        """Return the call, with arguments, at the position of a use of `name`.

        `reference` is the parsed use of the name, and has the position. The result is None if the text has no call of `name` there.
        """
        line, column = (reference.name_line, reference.name_column) if reference.name_line else (reference.line, reference.column)
        start = self.starts[line - 1] + column
        if not self.text.startswith(name, start):
            called = re.compile(rf"(?<![\w$]){re.escape(name)}\s*(?=[(<!])").search(self.text, start, start + MAX_ARGUMENTS)
            start = called.start() if called else self.text.find(name, start)  # `api("get:cart").get(url)` has the name twice
            if start < 0:
                return None
        after = start + len(name)
        following = self.text[after : after + 200].lstrip()
        if not following.startswith(("(", "<", "!")) and not self.has_habit("calls_without_brackets"):
            return None
        given, end = arguments(self.text, after)
        if given and self.has_habit("blocks_after_calls"):
            given[-1] = re.sub(r"\s+do\b.*$|\s*\{\s*(?:\|.*)?$", "", given[-1], flags=re.DOTALL)
        callee = callee_of(self.terms, reference.term)
        receiver, chain = "", list[str]()
        base = self.terms[callee[1]] if callee[0] == ATTR else None
        while base is not None and base[0] in (CALL, NEW):
            inner = self.terms[base[1]]
            chain.append(inner[2] if inner[0] == ATTR else inner[1] if inner[0] == NAME else "")
            base = self.terms[inner[1]] if inner[0] == ATTR else None
        if base is not None:
            receiver = base[2] if base[0] == ATTR else base[1] if base[0] == NAME else OWN
        if not receiver and callee[0] == ATTR:
            receiver = chain[0] if chain else "?"
        return Site(reference, name, receiver, tuple(chain), given, start, end)

    def scope_at(self, at: int) -> int:
        """Return the index of the innermost class or function around an offset.

        `at` is the offset in the text of the file.
        """
        line = bisect_right(self.starts, at)
        kinds = CLASS_KINDS | FUNCTION_KINDS
        around = [
            (one.end_line - one.start_line, -position)
            for position, one in enumerate(self.facts.definitions)
            if one.kind in kinds and one.start_line <= line <= one.end_line
        ]
        return -min(around)[1] if around else 0

    def scope_of_value(self, site: Site) -> int:
        """Return the index of the definition that contains a call.

        This is the constant whose value contains the call, or else the innermost function or class.
        """
        line, scope = site.reference.line, site.reference.scope
        values = (at for at, one in enumerate(self.facts.definitions) if one.kind == "variable" and one.parent == scope)
        return next((at for at in values if self.facts.definitions[at].start_line <= line <= self.facts.definitions[at].end_line), scope)

    def line_before(self, site: Site) -> str:
        """Return the text that precedes a call's name on the name's line."""
        return self.text[self.text.rfind("\n", 0, site.start) + 1 : site.start]

    def text_of(self, site: Site, which: Sequence[int | str]) -> str:
        """Return the source text of one argument of the call `site`.

        `which` lists positions and keywords of arguments, such as 0 and "url". They are tried in this order, and the first argument that
        the call has is returned. The result is "" if the call has none of them.
        """
        for one in which:
            if isinstance(one, str):
                for given in site.given:
                    match = re.match(rf"{one}\s*[=:](?!=)\s*(.*)$", given, re.DOTALL)
                    if match:
                        return match[1]
            elif one < len(site.given) and not re.match(r"\w+\s*=[^=>]", site.given[one]):
                return site.given[one]
        return ""

    def argument(self, site: Site, which: Sequence[int | str]) -> str | None:
        """Return a string argument of a call as a pattern, such as `/users/{}`.

        In the pattern, `{}` stands for a part that is known only at run time. `which` lists positions and keywords of arguments, such as 0
        and "url". The first one that the call has is read. The result is None if the call has none of the arguments, or if the argument is
        not a string.
        """
        text = self.text_of(site, which)
        if not text:
            return None
        made = evaluate(text, self.look_up)
        return made.pattern if made.pattern != HOLE and not text.startswith(("{", "[", "(")) and not FUNCTION.search(text) else None

    def object_text(self, site: Site, keys: Sequence[str]) -> str:
        """Return the source of one value in a call's first argument, an object.

        `site` is the call. The first entry whose key is in `keys` has the value. An example is `base` for `request({url: base, data})`
        and the keys `url` and `path`. The result is "" if the object has none of the keys.
        """
        for one in split(site.given[0].strip()[1:-1]) if site.given else ():
            key, _, value = one.partition(":")
            if key.strip().strip("\"'") in keys:
                return value.strip() or key.strip()
        return ""

    def of_object(self, site: Site, keys: Sequence[str]) -> str | None:
        """Return the pattern of a value in an object that a call gets first.

        The object is the first argument of the call `site`. The first entry whose key is in `keys` has the value. An example is
        `/users/{}` for `request({url: "/users/" + id})` and the key `url`. The result is None if the object has none of the keys.
        """
        text = self.object_text(site, keys)
        return evaluate(text, self.look_up).pattern if text else None

    def variants(self, text: str, site: Site) -> list[str]:
        """Return the possible values of a call's argument, as source expressions.

        `text` is the source of the argument. If it is a variable, or a sum that begins with one, the result has the values of its last
        assignments before the call, at most four. Only assignments in the function that contains the call are considered. If there are
        none, the result is `text` alone.
        """
        match = re.match(r"([A-Za-z_$][\w$]*)(?=(\s*\+.*)?$)", text, re.DOTALL)
        if match is None:
            return [text] if text else []
        name, rest = match[1], match[2] or ""
        owner = self.facts.definitions[site.reference.scope]
        first = self.starts[owner.start_line - 1] if owner.parent >= 0 else 0
        found = [at for at in self.values(name) if first < at <= site.start]
        return list(dict.fromkeys(self.expression(at) + rest for at in found[-4:])) or [text]

    def look_up(self, name: str) -> str | None:
        """Return the string expression that the file assigns to `name`, or None.

        For the name `["KEY"]`, the result is the value that `config["KEY"]` gets. For the name `f()`, it is the expression that the
        function `f` returns. For `f(`, it is the names of the function's parameters, separated by spaces. The result is None if the file
        has no such expression, or several that differ.
        """
        last = name if _KEY.fullmatch(name) else re.split(r"\.|->|::|\?\.", name)[-1]
        if last in ("url", "uri", "path") and "." in name:
            return None
        found = self._constants.get(last, "")
        if found == "":
            found = self._constants[last] = self._assigned(last)
        return found

    def values(self, name: str) -> list[int]:
        """Return the offsets of the values that the file assigns to a name.

        For `url = "/users"`, this is the offset of the string in the text.
        """
        if self._given is None:
            self._given = {}
            for match in _given().finditer(self.text):
                self._given.setdefault(match[1], []).append(match.end())
        return self._given.get(name, [])

    def _assigned(self, name: str) -> str | None:
        if name.endswith("()"):
            return self._returned(name[:-2])
        if name.endswith("("):
            return self._parameters(name[:-1])
        if _KEY.fullmatch(name):
            given = {self.expression(match.end()) for match in re.finditer(rf"{re.escape(name)}\s*=(?!=)\s*", self.text)}
            return next(iter(given)) if len(given) == 1 else None
        if not re.fullmatch(r"[\w$]+", name):
            return None
        if name in self.injected():
            return self.injected()[name]
        found = self.values(name)
        if not found and self.has_habit("paths_in_objects"):
            return self.entries().get(name)
        found = [at for at in found if not re.match(rf"{re.escape(name)}\s*[,)]", self.text[at : at + len(name) + 40])]  # `f(name=name)`
        if not found or len(found) > 4:
            return None
        texts = {self.expression(at) for at in found}
        useful = {text for text in texts if re.search(r"[\"'`]", text)}
        if useful <= EMPTY and texts != useful:  # filled later
            return None
        return next(iter(useful)) if len(useful) == 1 else None

    def has_habit(self, habit: Habit) -> bool:
        """Whether the file's language follows one of the `Habit` conventions."""
        return has_habit(self.facts.language, habit)

    def injected(self) -> Mapping[str, str]:
        """Return the strings that annotations give to variables, as source.

        For `@Value("${topics.orders}") String topic`, the variable is `topic`.
        """
        if self._injected is None:
            self._injected = {}
            for word in self.table.values:
                for match in re.finditer(rf"@{word}\(\s*(\"[^\"\n]*\")\s*\)\s*(?:\w+\s+)*?[\w.<>\[\]]+\s+(\w+)\s*[,);=]", self.text):
                    self._injected.setdefault(match[2], match[1])
        return self._injected

    def entries(self) -> dict[str, str]:
        """Return the string expressions in objects of an ECMAScript file, by key.

        For `{users: "/users", user: (id) => `/users/${id}`}`, the keys are `users` and `user()`. A key with several expressions is left
        out, and one with an empty string, which other code fills.
        """
        if self._entries is None:
            found: dict[str, set[str]] = {}
            for match in _ENTRY.finditer(self.text) if self.has_habit("paths_in_objects") else ():
                found.setdefault(match[1] + ("()" if match[2] else ""), set()).add(self.expression(match.end()))
            self._entries = {name: next(iter(texts)) for name, texts in found.items() if len(texts) == 1 and not texts & EMPTY}
        return self._entries

    def _parameters(self, name: str) -> str | None:
        """Return the names of the parameters of the only function `name`."""
        found = [one for one in self.facts.definitions if one.name == name and one.kind in FUNCTION_KINDS]
        if len(found) != 1:
            return None
        names = [one.name for one in found[0].parameters if one.kind in ("positional", "normal")]
        return " ".join(names[1:] if names and is_own_object(names[0]) else names)

    def _returned(self, name: str) -> str | None:
        """Return the expression of the only `return` of the function `name`.

        The result is None if the function has several `return` statements or none, or if several functions have this name.
        """
        positions = [one for one in self.facts.definitions if one.name == name and one.kind in FUNCTION_KINDS]
        if f"{name}()" in self.entries():
            return self.entries()[f"{name}()"]
        if len(positions) != 1:
            return None
        one = positions[0]
        body = self.text[self.starts[one.start_line - 1] : self.starts[one.end_line] if one.end_line < len(self.starts) else len(self.text)]
        found = re.findall(r"\breturn\s+([^;\n]+)", body)
        return found[0] if len(found) == 1 else None

    def expression(self, at: int) -> str:
        """Return the source of the expression that begins at the offset `at`.

        The expression ends before a comma, a semicolon or an unmatched closing bracket. The expression also ends at the end of the line,
        unless an operator continues the expression on the next line.
        """
        depth, position = 0, at
        text = self.text
        while position < min(len(text), at + 600):
            char = text[position]
            if char in "\"'`":
                end = position + 1
                while end < len(text) and text[end] != char and (char == "`" or text[end] != "\n"):
                    end += 2 if text[end] == "\\" else 1
                position = end + 1
                continue
            depth += (char in "([{") - (char in ")]}")
            if depth < 0 or (not depth and char in ";,"):
                break
            if (
                char == "\n"
                and not depth
                and not re.match(r"\s*(?:[+.?:|]|\|\|)", text[position + 1 : position + 80])
                and not re.search(r"[+|=(.]\s*$", text[at:position])
            ):
                break
            position += 1
        return text[at:position].strip()

    def module_of(self, name: str) -> str:
        """Return the dotted source of an imported name, such as `app.users`.

        For `from app import users` and the name `users`, the result is `app.users`. A quoted name is returned without quotes. The result is
        "" if the file does not import the name.
        """
        if name[:1] in "\"'":
            return name.strip("\"'")
        first = re.split(r"[^\w$]", name, maxsplit=1)[0]
        for found in self.facts.imports:
            if first and found.alias == first:
                return "." * found.level + ".".join(part for part in (found.module, found.name) if part and part not in ("*", "default"))
        return ""


def callee_of(terms: Sequence[Term], index: TermIndex) -> Term:
    """Return the callee of a call: `a.b` for `a.b(x)`.

    The call is `terms[index]`, an item in the list of expressions of a file. An expression that is not a call is returned unchanged.
    """
    term = terms[index]
    return terms[term[1]] if term[0] == CALL or term[0] == NEW else term
