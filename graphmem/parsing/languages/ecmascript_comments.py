"""Read types that plain JavaScript declares in documentation comments.

The tags are `@param {Type} name`, `@returns {Type}`, `@type {Type}` and `@typedef`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from graphmem.parsing.facts import (
    ATTR,
    CALL,
    NAME,
    NO_TERM,
    OBJECT,
    STRING,
    TermIndex,
)
from graphmem.parsing.grammar import load_grammar
from graphmem.parsing.languages.ecmascript_words import TYPE_SLOT
from graphmem.parsing.terms import TermBuilder

if TYPE_CHECKING:
    from tree_sitter import Tree

_TAG: Final = re.compile(r"@(param|arg|argument|property|prop|returns?|type|typedef|callback|template|extends|augments)\b[ \t]*")
_NAME: Final = re.compile(r"[ \t*]*\[?([\w$.]+)")
_IMPORT: Final = re.compile(
    r"""@import\s+(?:\*\s+as\s+(?P<all>[\w$]+)|(?P<default>[\w$]+)?\s*,?\s*(?:\{(?P<names>[^}]*)\})?)\s*from\s*["'](?P<module>[^"']+)["']"""
)
_LEADING: Final = re.compile(r"^(?:\.\.\.|[?!])+")
_MAX_TYPE: Final = 600
"""Most characters of a type that are read."""


def documented(builder: TermBuilder, text: str) -> Mapping[str, TermIndex]:
    """Map names to the types that a comment declares for them.

    `Helper.documented` explains the keys.
    """
    if not text.startswith("/**") or "@" not in text:
        return {}
    found: dict[str, TermIndex] = {}
    alias = ""
    fields: dict[str, TermIndex] = {}
    place = 0
    for tag, written, name in _tags(text):
        term = declared_type(builder, written)
        if tag in ("param", "arg", "argument"):
            if "." not in name:
                found.setdefault(f"#{place}", term)
                place += 1
                if name and not alias:
                    found[name] = term
        elif tag in ("returns", "return"):
            found["return"] = term
        elif tag == "type":
            found[""] = term
        elif tag == "template" and name:
            found[f"<{name}>"] = term
        elif tag in ("property", "prop") and "." not in name:
            fields[name] = term
        elif tag in ("typedef", "callback") and name:
            alias = name
            found[TYPE_SLOT + name] = term
    if alias and fields:
        kept = {key: term for key, term in fields.items() if term >= 0}
        found[TYPE_SLOT + alias] = builder.add((OBJECT, tuple(kept), tuple(kept.values())))
    found.update(_imported(builder, text))
    return {key: term for key, term in found.items() if term >= 0 or key.startswith("<")}


def _imported(builder: TermBuilder, text: str) -> Iterator[tuple[str, TermIndex]]:
    """Yield (alias, expression) for each name that an `@import` tag declares.

    Forms of the tag: `@import Default, { Name as other } from "module"` and `@import * as all from "module"`.
    """
    if "@import" not in text:
        return
    plain = " ".join(line.strip().lstrip("*") for line in text.removesuffix("*/").splitlines())
    for match in _IMPORT.finditer(plain):
        module = builder.add((CALL, builder.add((NAME, "import")), (builder.add((STRING, match["module"])),), ()))
        if match["all"]:
            yield TYPE_SLOT + match["all"], module
        if match["default"]:
            yield TYPE_SLOT + match["default"], builder.add((ATTR, module, "default"))
        for part in (match["names"] or "").split(","):
            words = part.split()
            if words:
                yield TYPE_SLOT + words[-1], builder.add((ATTR, module, words[0]))


def _tags(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield (tag, type, name) of each tag, such as `@param {Type} name`.

    Missing parts are "".
    """
    for match in _TAG.finditer(text):
        position = match.end()
        written = ""
        if text[position : position + 1] == "{":
            end = _closing(text, position)
            if end < 0:
                continue
            written, position = text[position + 1 : end], end + 1
        name = _NAME.match(text, position)
        yield match[1], written, name[1] if name is not None else ""


def _closing(text: str, start: int) -> int:
    """Return the position of the `}` that closes the `{` at `start`, else -1."""
    depth = 0
    for position in range(start, min(len(text), start + _MAX_TYPE)):
        if text[position] == "{":
            depth += 1
        elif text[position] == "}":
            depth -= 1
            if not depth:
                return position
    return -1


def declared_type(builder: TermBuilder, written: str) -> TermIndex:
    """Convert a type in a comment to a term (an expression); return its index.

    The result is -1 if the type is invalid, or gives no information, such as `any`.
    """
    text = " ".join(line.strip().removeprefix("*") for line in written.splitlines()).strip()
    text = _LEADING.sub("", text).removesuffix("=").replace(".<", "<").strip()
    if not text or text in ("*", "any", "unknown", "object", "Object", "function", "Function"):
        return NO_TERM
    tree = _type_tree(text)
    alias = tree.root_node.named_children[0] if tree is not None and tree.root_node.named_children else None
    value = alias.child_by_field_name("value") if alias is not None else None
    if value is None:
        return NO_TERM
    grammar = load_grammar("typescript")
    inner = TermBuilder(grammar, grammar.terms, _source(text), builder)
    return inner.annotation(value)


def _source(text: str) -> bytes:
    return f"type _ = {text}".encode()


@lru_cache(maxsize=1024)
def _type_tree(text: str) -> Tree | None:
    """Parse a type in a comment; None if the text is not a type.

    Results are cached, because a project repeats the same few types.
    """
    tree = load_grammar("typescript").parse(_source(text))
    return None if tree is None or tree.root_node.has_error else tree
