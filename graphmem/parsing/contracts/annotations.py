"""Find routes and other contracts that annotations declare.

An example is `@app.get("/users")`.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from graphmem.model import FUNCTION_KINDS
from graphmem.parsing.contracts import paths
from graphmem.parsing.contracts.end import ASKS, OFFERS, End, Role
from graphmem.parsing.contracts.paths import HOLE
from graphmem.parsing.contracts.source import Source
from graphmem.parsing.contracts.table import Row
from graphmem.parsing.contracts.written import arguments, evaluate, split, strings
from graphmem.parsing.facts import ATTR, CALL, NAME, NEW, Definition

_PATHS: Final = "value path rule url pattern uri topics queues topic destination"


class Annotations:
    """Finds the routes and other contracts that annotations of a file declare.

    Args:
        source: the file.
        prefixes: the path prefix of each router, by the name of the variable that holds the router.
    """

    def __init__(self, source: Source, prefixes: Mapping[str, str]) -> None:
        self.source = source
        self.prefixes = prefixes
        self._named = {one.name_line for one in source.facts.definitions[1:]}  # lines whose annotations belong to another definition

    def all(self) -> Iterator[End]:
        """Yield an `End` for each contract that annotations of functions declare.

        For `@app.get("/users")`, the contract is `GET /users`.
        """
        in_comments = self.source.table.annotations if self.source.has_habit("annotations_in_comments") else ()
        for position, definition in enumerate(self.source.facts.definitions):
            if definition.kind not in FUNCTION_KINDS:
                continue
            names = [self._annotation(decorator) for decorator in definition.decorators]
            for name in names or in_comments:
                if name.rpartition(".")[2] not in self.source.table.annotations:
                    continue
                for row in self.source.table.annotated:
                    if row.fits(name) and self.source.holds(row):
                        for given in self._given_to(definition, name):
                            yield from self._annotated(position, definition, row, name, given)
                        break

    def _annotation(self, index: int) -> str:
        """Return the dotted name of a decorator: `app.get` for `@app.get("/x")`.

        `index` is the position of the decorator in the file's list of expressions.
        """
        term = self.source.terms[index]
        if term[0] in (CALL, NEW):
            term = self.source.terms[term[1]]
        parts: list[str] = []
        while term[0] == ATTR:
            parts.append(term[2])
            term = self.source.terms[term[1]]
        parts.append(term[1] if term[0] == NAME else "")
        return ".".join(reversed(parts))

    def _given_to(self, definition: Definition, name: str) -> Iterator[list[str]]:
        """Yield the argument texts of each annotation `name` of `definition`.

        For `@app.get("/x", tags=t)`, the texts are `"/x"` and `tags=t`. An annotation without arguments gives an empty list.
        """
        text, starts = self.source.text, self.source.starts
        line = definition.start_line - 1
        while line and line not in self._named and text[starts[line - 1] : starts[line]].lstrip().startswith(("@", "#[", "[", "*", "/**")):
            line -= 1
        first = self.source.starts[line]
        last = self.source.starts[definition.name_line - 1] + definition.name_column
        for match in re.finditer(rf"(?:@|\[|,\s*|#\[)(?:[\w.]*\.|\w+:)?{re.escape(name)}\b", self.source.text[first:last]):
            after = first + match.end()
            yield arguments(self.source.text, after)[0] if self.source.text[after : after + 1] == "(" else []

    def _written_in(self, given: Sequence[str], *, only: str = "") -> list[str]:
        """Return the paths in the arguments of an annotation, as patterns.

        `given` has the source text of each argument. In a pattern such as `/users/{}`, `{}` stands for a part that is known only at run
        time. Paths are read from the first argument, and from keywords such as `path`. If `only` names a keyword, paths are read from this
        keyword alone.
        """
        found: list[str] = []
        for position, one in enumerate(given):
            match = re.match(r"(\w+)\s*[=:](?!=)\s*(.*)$", one, re.DOTALL)
            if (match and match[1] not in (only or _PATHS).split()) or (not match and (position or only)):
                continue
            text = match[2] if match else one
            parts = (
                split(text[1:-1]) if text[:1] in "[{" else split(text[text.index("(") + 1 : -1]) if text.startswith("arrayOf(") else [text]
            )
            found += [made for part in parts if part and (made := evaluate(part, self.source.look_up).pattern)]
        return found

    def _annotated(self, position: int, definition: Definition, row: Row, name: str, given: Sequence[str]) -> Iterator[End]:
        line = definition.name_line
        written = self._written_in(given)
        if row.kind == "listener":
            for text in written:
                if HOLE not in text:
                    yield End(OFFERS, "topic", text, position, line, "", "", row.framework)
            return
        last = name.rpartition(".")[2]
        if row.method == "name":
            verb = last.removeprefix(row.strip).removesuffix(row.strip).upper()
            verb = {"ALL": "", "WEBSOCKET": "GET"}.get(verb, verb)
        else:
            methods = [one for one in given if re.match(r"methods?\s*[=:]", one)]
            verbs = [
                verb.upper() for one in methods for verb in re.findall(r"(?:RequestMethod\.|[\"'])?(GET|POST|PUT|PATCH|DELETE|HEAD)\b", one)
            ]
            verb = ",".join(verbs) or ("GET" if last == "route" and self.source.has_habit("gets_by_default") else "")
        beside = [text for one in [*self._given_to(definition, row.beside)][-1:] for text in self._written_in(one)] if row.beside else []
        around, role, said = self._class_prefix(definition, row)
        prefix = self.prefixes.get(name.rpartition(".")[0].rpartition(".")[2], "")
        for text in written or beside or [""]:
            whole = (
                text
                if text.startswith(("/", "~/")) and row.framework == "asp.net"
                else "/".join((prefix, around, *(beside if written else ()), text))
            )
            path = paths.route_path(self._placeholders(whole.removeprefix("~").removeprefix(HOLE), definition))
            for one in verb.split(","):
                yield End(row.role or role, "http", f"{one or '*'} {path}", position, line, "", said, row.framework)

    def _placeholders(self, text: str, definition: Definition) -> str:
        """Replace ASP.NET's `[controller]` and `[action]` in the path of a route.

        `[controller]` becomes the name of the class without "Controller", and `[action]` the name of the method.
        """
        owner = self.source.facts.definitions[definition.parent].name.removesuffix("Controller")
        return text.replace("[controller]", owner).replace("[action]", definition.name)

    def _class_prefix(self, definition: Definition, row: Row) -> tuple[str, Role, str]:
        """Return the path prefix, role and service words of a method's class.

        The method is `definition`. The values come from annotations of the class. `row` lists the names of these annotations.

        - The path prefix is put before the path of every route of the class.
        - The role is "asks" if the class is an interface of client methods, which call a service; otherwise the role is "offers".
        - The service words are the strings in the annotation of such a client class, and name the service. For other classes, they are "".
        """
        role: Role = OFFERS
        prefix = said = ""
        if definition.parent <= 0:
            return prefix, role, said
        owner = self.source.facts.definitions[definition.parent]
        for name in row.around:
            for given in self._given_to(owner, name):
                prefix = next(iter(self._written_in(given)), prefix)
        for name in row.asks:
            for given in self._given_to(owner, name):
                role = ASKS
                said = " ".join(text for one in given for text in strings(one))
                prefix = next(iter(self._written_in(given, only="path")), prefix)
        return prefix, role, said
