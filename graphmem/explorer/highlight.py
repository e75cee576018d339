"""Divide source text into tokens to colour: keywords, strings, comments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pygments.lexer import Lexer

KINDS: Final = ("plain", "comment", "keyword", "string", "number", "function", "type", "decorator")
MOST: Final = 400_000  # characters of source text; longer text gets no colours
LONGEST_LINE: Final = 5_000  # minified text takes long and nobody reads it
# The nearest of these that a token's type is part of.
_KIND_OF: Final = {
    "Token.Comment": "comment",
    "Token.Keyword": "keyword",
    "Token.Keyword.Constant": "number",
    "Token.Keyword.Type": "type",
    "Token.Literal.Number": "number",
    "Token.Literal.String": "string",
    "Token.Name.Attribute": "type",
    "Token.Name.Builtin": "type",
    "Token.Name.Builtin.Pseudo": "keyword",
    "Token.Name.Class": "type",
    "Token.Name.Decorator": "decorator",
    "Token.Name.Exception": "type",
    "Token.Name.Function": "function",
    "Token.Name.Tag": "keyword",
    "Token.Operator.Word": "keyword",
    "Token.Generic.Heading": "keyword",
    "Token.Generic.Subheading": "keyword",
    "Token.Generic.Emph": "string",
    "Token.Generic.Strong": "keyword",
}


def tokens(text: str, path: str, language: str) -> tuple[list[int], list[int], str]:
    """Cut source text into tokens of one colour each.

    Args:
        text: the source text, whose lines end with a line feed.
        path: path of the file, whose name usually shows the language.
        language: name of the language, used if the path does not show it.

    Returns:
        (lengths, kinds, note). `lengths` has the length of each token in UTF-16 code units. `kinds` has each token's position in `KINDS`;
            neighbouring tokens differ. The note states why `text` was not divided; it is "" if `text` was divided, or if the language is
            unknown.
    """
    if len(text) > MOST:
        return [], [], f"the file has more than {MOST:,} characters, so it has no colours"
    if max(map(len, text.split("\n"))) > LONGEST_LINE:
        return [], [], f"the file has lines of more than {LONGEST_LINE:,} characters, so it has no colours"
    lexer = _lexer(path, language)
    if lexer is None:
        return [], [], ""
    lengths: list[int] = []
    kinds: list[int] = []
    for kind, part in _parts(lexer, text):
        size = len(part) + sum(one > "\uffff" for one in part) if not part.isascii() else len(part)
        blank = part.isspace()
        if kinds and (kinds[-1] == kind or blank):
            lengths[-1] += size
        elif size:
            kinds.append(0 if blank else kind)
            lengths.append(size)
    return lengths, kinds, ""


def _parts(lexer: Lexer, text: str) -> Iterator[tuple[int, str]]:
    place = {one: i for i, one in enumerate(KINDS)}
    known: dict[object, int] = {}
    for _, token, part in lexer.get_tokens_unprocessed(text):
        kind = known.get(token)
        if kind is None:
            names = str(token).split(".")
            named = next((_KIND_OF[one] for n in range(len(names), 1, -1) if (one := ".".join(names[:n])) in _KIND_OF), "plain")
            kind = known[token] = place[named]
        yield kind, part


def _lexer(path: str, language: str) -> Lexer | None:
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    for find, word in ((get_lexer_for_filename, path.rpartition("/")[2]), (get_lexer_by_name, language)):
        try:
            return find(word) if word else None
        except ClassNotFound:
            continue
    return None
