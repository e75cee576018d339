"""Edit JSON as text, so that every byte outside of the edit is unchanged.

The settings files of agents belong to people. Parsing and rewriting such a file would lose its comments, order and spacing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from graphmem.errors import BadInputError

MAX_DEPTH: Final = 200
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_STRING: Final = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_PLAIN: Final = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INDENT: Final = re.compile(r"\n([ \t]+)[\"\[{]")


class Value(NamedTuple):
    """A JSON value, with its start and end in the text of the document."""

    start: int
    end: int
    kind: str  # object | array | plain
    members: list[Member]  # of an object, or elements of an array


class Member(NamedTuple):
    """A member of a JSON object, or an element of an array.

    `start` is the position at which the member's key, or the element, begins. An element has the key "".
    """

    start: int  # of the key, or of the element
    key: str
    value: Value


class _Reader:
    def __init__(self, text: str, *, comments: bool) -> None:
        self.text = text
        self.comments = comments

    def fail(self, at: int, wanted: str) -> BadInputError:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return BadInputError(f"line {line}, column {column}: {wanted}", argument="json", line=line, column=column)

    def skip(self, at: int) -> int:
        while True:
            at = _match_end(_SPACE, self.text, at)
            found = _COMMENT.match(self.text, at) if self.comments else None
            if found is None:
                return at
            at = found.end()

    def value(self, at: int, depth: int = 0) -> Value:
        if depth > MAX_DEPTH:
            raise self.fail(at, f"JSON is nested deeper than {MAX_DEPTH} levels; reduce the nesting")
        sign = self.text[at : at + 1]
        if sign == "{":
            return self.inside(at, "object", "}", depth)
        if sign == "[":
            return self.inside(at, "array", "]", depth)
        for pattern in (_STRING, _PLAIN):
            found = pattern.match(self.text, at)
            if found is not None:
                return Value(at, found.end(), "plain", [])
        raise self.fail(at, "expected a JSON value; write a string, number, object, array, true, false or null")

    def inside(self, at: int, kind: str, closing: str, depth: int) -> Value:
        start, members = at, []
        at = self.skip(at + 1)
        while self.text[at : at + 1] != closing:
            begun, key = at, ""
            if kind == "object":
                found = _STRING.match(self.text, at)
                if found is None:
                    raise self.fail(at, 'expected a property name in double quotes; write "name": value')
                key = json.loads(found.group())
                at = self.skip(found.end())
                if self.text[at : at + 1] != ":":
                    raise self.fail(at, "expected ':' after the property name; write \"name\": value")
                at = self.skip(at + 1)
            value = self.value(at, depth + 1)
            members.append(Member(begun, key, value))
            at = self.skip(value.end)
            if self.text[at : at + 1] == ",":
                comma = at
                at = self.skip(at + 1)
                if self.text[at : at + 1] == closing and not self.comments:
                    raise self.fail(comma, "the comma after the last entry is not allowed in JSON; remove the comma")
            elif self.text[at : at + 1] != closing:
                raise self.fail(
                    at, f"expected ',' or '{closing}' after the value; add ',' before the next entry, or '{closing}' at the end"
                )
        return Value(start, at + 1, kind, members)


class JsonText:
    """A JSON document that is edited in place.

    Args:
        text: the document; an empty text is an empty object.
        comments: whether the format allows comments and trailing commas.

    Raises:
        BadInputError: the text is not JSON, or not an object. The message has the position.
    """

    def __init__(self, text: str, *, comments: bool = False) -> None:
        self._comments = comments
        self.text = text if text.strip("\ufeff \t\r\n") else text + "{}\n"
        self._newline = "\r\n" if "\r\n" in text else "\n"
        found = _INDENT.search(text)
        self._unit = found.group(1) if found is not None else "  "
        self._root()

    def get(self, path: Sequence[str]) -> Any:
        """Return the value at a path of keys as a Python object; None if missing."""
        found = self._find(path)
        return None if found is None else self._loaded(found)

    def add_member(self, path: Sequence[str], key: str, value: object) -> None:
        """Append a member to the object at a path of keys; create missing objects.

        Raises:
            BadInputError: a value on the path is not an object.
        """
        self._add(self._made(path, "object"), len(path), json.dumps(key) + ": ", value)

    def add_element(self, path: Sequence[str], value: object) -> None:
        """Append an element to the array at a path of keys.

        Missing objects and the array are created.

        Raises:
            BadInputError: a value on the path has another type.
        """
        self._add(self._made(path, "array"), len(path), "", value)

    def remove(self, path: Sequence[str], index: int) -> None:
        """Remove a member or element from the object or array at a path of keys.

        `index` is the position of the member or element, from 0. The comma is removed, too. Comments are kept.
        """
        container = self._find(path)
        if container is None:
            return
        members = container.members
        own = members[index]
        if index > 0:
            before = members[index - 1].value.end
            self.text = self.text[:before] + self._between(before, own.start) + self.text[own.value.end :]
        elif len(members) > 1:
            second = members[1].start
            if kept := self._between(own.value.end, second).strip():
                indent = self.text[self.text.rfind("\n", 0, own.start) + 1 : own.start]
                kept += self._newline + ("" if indent.strip() else indent)
            self.text = self.text[: own.start] + kept + self.text[second:]
        else:
            rest = self.text[own.value.end : container.end - 1].lstrip(" \t\r\n")
            rest = rest.removeprefix(",").lstrip(" \t\r\n") if self._comments else rest
            head = self.text[container.start + 1 : own.start].rstrip(" \t\r\n")
            inner = f"{head}{self._newline if head or rest else ''}{rest}"
            self.text = self.text[: container.start + 1] + inner + self.text[container.end - 1 :]

    def remove_member(self, path: Sequence[str], key: str) -> None:
        """Remove the member called `key` from the object at a path of keys."""
        container = self._find(path)
        for index, member in enumerate(container.members if container is not None else ()):
            if member.key == key:
                self.remove(path, index)
                return

    def _between(self, start: int, end: int) -> str:
        """Return the comments between two positions of the text.

        A removal of the text from `start` to `end` must keep the comments.
        """
        kept = "".join(found.group() + self._newline for found in _COMMENT.finditer(self.text[start:end])) if self._comments else ""
        return f" {kept.rstrip()}" if kept else ""

    def _root(self) -> Value:
        reader = _Reader(self.text, comments=self._comments)
        begin = 1 if self.text.startswith("\ufeff") else 0
        root = reader.value(reader.skip(begin))
        after = reader.skip(root.end)
        if after != len(self.text):
            raise reader.fail(after, "there is text after the end of the JSON value; remove that text")
        if root.kind != "object":
            raise reader.fail(root.start, "expected an object; write the settings between { and }")
        return root

    def _find(self, path: Sequence[str]) -> Value | None:
        at: Value | None = self._root()
        for name in path:
            at = (
                next((member.value for member in at.members if member.key == name), None)
                if at is not None and at.kind == "object"
                else None
            )
        return at

    def _made(self, path: Sequence[str], kind: str) -> Value:
        for depth in range(len(path) + 1):
            wanted = kind if depth == len(path) else "object"
            at = self._find(path[:depth])
            if at is None:
                self._add(
                    self._made(path[: depth - 1], "object"), depth - 1, json.dumps(path[depth - 1]) + ": ", [] if wanted == "array" else {}
                )
            elif at.kind != wanted:
                name = ".".join(path[:depth])
                raise BadInputError(
                    f"{name} in the agent's settings file must be of the JSON type {wanted}; correct the settings file",
                    argument="json",
                    path=name,
                )
        found = self._find(path)
        assert found is not None  # noqa: S101 - it has just been made
        return found

    def _add(self, container: Value, depth: int, key: str, value: object) -> None:
        whole = self.text[container.start : container.end]
        outer, inner = self._unit * depth, self._unit * (depth + 1)
        if not container.members:
            rest = whole[1:-1].strip()
            head = f"{self._newline}{inner}{rest}" if rest else ""  # comments of an empty container
            written = f"{whole[0]}{head}{self._newline}{inner}{key}{self._written(value, inner)}{self._newline}{outer}{whole[-1]}"
            self.text = self.text[: container.start] + written + self.text[container.end :]
            return
        last = container.members[-1]
        tail = self.text[last.value.end : container.end - 1]
        line = self.text.rfind("\n", 0, last.start)
        lead = self.text[line + 1 : last.start]
        has_own_line = line >= container.start and not lead.strip()
        given = lead if has_own_line else inner
        kept = tail.rstrip(" \t\r\n")
        comma = "" if _has_comma(kept) else ","
        if has_own_line or "\n" in whole:
            closing = tail[len(kept) :] if "\n" in tail[len(kept) :] else f"{self._newline}{outer}"
            added = f"{comma}{kept}{self._newline}{given}{key}{self._written(value, given)}{closing}"
        else:
            added = f"{comma}{kept} {key}{json.dumps(value, ensure_ascii=False)}{tail[len(kept) :]}"
        self.text = self.text[: last.value.end] + added + self.text[container.end - 1 :]

    def _written(self, value: object, indent: str) -> str:
        text = json.dumps(value, ensure_ascii=False, indent=self._unit)
        return text.replace("\n", f"{self._newline}{indent}")

    def _loaded(self, value: Value) -> Any:
        text = self.text[value.start : value.end]
        if value.kind == "plain":
            return json.loads(text)
        if value.kind == "array":
            return [self._loaded(member.value) for member in value.members]
        return {member.key: self._loaded(member.value) for member in value.members}


def _has_comma(trivia: str) -> bool:
    """Whether `trivia`, the text after a member, has a comma outside comments."""
    return "," in _COMMENT.sub("", trivia)


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at
