"""Evaluate the source text of string expressions to patterns.

A pattern is a string in which `{}` stands for every part that is known only at run time: `"http://" + host + "/users/" + id` gives
`http://{}/users/{}`. No parser is needed, because strings, brackets and commas are nearly the same in all languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

HOLE: Final = "{}"
MAX_ARGUMENTS: Final = 4_000
"""Most characters of an argument list that are read; handlers written in place can be very long."""

_CLOSES: Final = {"(": ")", "[": "]", "{": "}"}
_QUOTES: Final = "\"'`"
_PREFIX: Final = re.compile(r"[A-Za-z$@]{0,3}$")
_FORMAT: Final = re.compile(r"%[-+ #0]*\d*(?:\.\d+)?[sdvifgqxuc]|\{[^{}/]*\}")
EMPTY: Final = frozenset({'""', "''"})
"""Expressions of an empty string."""
_WORD: Final = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)*")
_HOLES: Final = re.compile(r"\$\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}|#\{([^{}]*)\}|\$(\w+(?:->\w+)?)")
_BRACES: Final = re.compile(r"\{([^{}:!]*)[^{}]*\}")
_FORMATTERS: Final = re.compile(r"(?:fmt\.)?Sprintf|String\.format|sprintf|format!|str\.Format|string\.Format|util\.format|String\.Format")
_THROUGH: Final = re.compile(
    r"^(?:new\s+)?(?:java\.net\.)?(?:Uri|URI|URL|URI\.create|URI\.parse|URI\.join|Uri\.parse|reverse|str|String|encodeURI|HttpRequest|\$sce\.\w+)$"
)


class Text(NamedTuple):
    """The pattern of a string expression, and the variables in the expression.

    In a pattern such as `/users/{}`, `{}` stands for a part that is known only at run time. `names` has the names of the variables.
    """

    pattern: str
    names: tuple[str, ...] = ()


def arguments(text: str, start: int) -> tuple[list[str], int]:
    """Return the argument texts of a call, and the position after them.

    A call without brackets, as in Ruby, has the rest of the line as its arguments.

    Args:
        text: the source.
        start: position after the name of the callee.
    """
    at = start
    while at < len(text) and text[at] in " \t\n\r!?":
        at += 1
    if text[at : at + 1] == "<":
        at = _skip_generic(text, at)
    if text[at : at + 1] not in ("(", "{"):
        line = text[start : text.find("\n", start) if "\n" in text[start:] else len(text)]
        return [part for part in split(line) if part], start + len(line)
    end = closing(text, at)
    return [part for part in split(text[at + 1 : end]) if part], end + 1


def _skip_generic(text: str, at: int) -> int:
    depth = 0
    for position in range(at, min(len(text), at + 200)):
        depth += (text[position] == "<") - (text[position] == ">")
        if not depth:
            return position + 1
    return at


def closing(text: str, start: int) -> int:
    """Return the position of the bracket that closes the bracket at `start`.

    If the bracket is not closed, the result is the position where the search ended: after `MAX_ARGUMENTS` characters, or at the end of the
    text.
    """
    wanted = [_CLOSES[text[start]]]
    at, last = start + 1, min(len(text), start + MAX_ARGUMENTS)
    while at < last:
        char = text[at]
        if char in _QUOTES:
            at = _string_end(text, at)
            continue
        if char in _CLOSES:
            wanted.append(_CLOSES[char])
        elif char == wanted[-1]:
            wanted.pop()
            if not wanted:
                return at
        elif text.startswith(("//", "/*"), at):
            at = _comment_end(text, at)
            continue
        at += 1
    return last


def _comment_end(text: str, at: int) -> int:
    found = text.find("\n" if text[at + 1] == "/" else "*/", at + 2)
    return len(text) if found < 0 else found + (0 if text[at + 1] == "/" else 2)


def _string_end(text: str, at: int) -> int:
    """Return the position after the string literal that begins at `at`."""
    quote = text[at]
    if text.startswith(quote * 3, at):
        found = text.find(quote * 3, at + 3)
        return len(text) if found < 0 else found + 3
    position, depth = at + 1, 0
    while position < len(text):
        char = text[position]
        if char == "\\":
            position += 1
        elif quote == "`" and text.startswith("${", position):
            depth += 1
            position += 1
        elif depth and char == "}":
            depth -= 1
        elif char == quote and not depth:
            return position + 1
        elif char == "\n" and quote != "`":
            return position  # not a string: an apostrophe, a lifetime
        position += 1
    return position


def split(text: str) -> list[str]:
    """Split the source text of a call's arguments at their commas.

    Commas inside brackets and strings are ignored, and comments are removed.
    """
    found: list[str] = []
    begin = at = 0
    while at < len(text):
        char = text[at]
        if char in _QUOTES:
            at = _string_end(text, at)
            continue
        if char in _CLOSES:
            at = closing(text, at) + 1
            continue
        if text.startswith(("//", "/*"), at) and (at == begin or text[at - 1].isspace()):
            end = _comment_end(text, at)
            text = text[:at] + " " * (end - at) + text[end:]
            continue
        if char == ",":
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    found.append(text[begin:].strip())
    return found


Lookup = Callable[[str], "str | None"]
"""Returns the expression that a name of the file stands for, or None.

For `f()`, it is the expression that the function `f` returns, and for `f(`, the names of its parameters.
"""


def evaluate(text: str, look_up: Lookup, depth: int = 0) -> Text:
    """Return the pattern and the names of a string expression.

    For `"/a/" + x`, the pattern is `/a/{}` and the name is `x`. In a pattern, `{}` stands for a part that is known only at run time.

    Args:
        text: source of the expression.
        look_up: returns the expression that a name stands for; None if it is unknown.
        depth: number of names that were replaced by their expressions so far; limited by `MAX_DEPTH`.
    """
    text = text.strip().rstrip(";")
    pattern, names = "", list[str]()
    at = 0
    while at < len(text):
        char = text[at]
        if char in _QUOTES:
            at, part = _literal(text, at, names, look_up, depth)
            pattern += part
        elif match := _WORD.match(text, at):
            at, piece = _word(text, match, names, look_up, depth)
            pattern += piece
        elif char in _CLOSES:
            end = closing(text, at)
            if char == "(":
                inner = evaluate(text[at + 1 : end], look_up, depth)
                pattern += inner.pattern
                names += inner.names
            elif pattern.endswith(HOLE) and (value := look_up(text[at : end + 1])) is not None and depth < MAX_DEPTH:
                made = evaluate(value, look_up, depth + 1)  # `config["URL"]`
                pattern = pattern.removesuffix(HOLE) + made.pattern
                names += [*re.findall(r"\w+", text[at:end]), *made.names]
            elif pattern.endswith(HOLE):
                names += re.findall(r"[\"'](\w[\w-]*)[\"']", text[at:end])
            at = end + 1
        elif text.startswith(("||", "??"), at):
            other = evaluate(text[at + 2 :], look_up, depth)
            names += other.names
            if "/" in other.pattern:
                pattern = other.pattern
            else:
                names += re.findall(r"\w[\w-]*", other.pattern)
            break
        elif char == "?" and ":" in text[at:]:
            other = evaluate(text[at + 1 :].partition(":")[0], look_up, depth)
            pattern, names = other.pattern, list(other.names)
            break
        else:
            at += 1
    return Text(re.sub(r"(?:\{\}){2,}", HOLE, pattern), tuple(dict.fromkeys(names)))


def _literal(text: str, at: int, names: list[str], look_up: Lookup, depth: int) -> tuple[int, str]:
    """Return (end, pattern) of the string literal that begins at a position.

    A call of `format` after the literal is included. The names in the literal and in the call are added to `names`. `look_up` and `depth`
    are as in `evaluate`.
    """
    end = _string_end(text, at)
    prefix = _PREFIX.search(text[:at])
    body = text[at:end]
    body = body[3:-3] if body[:3] in ('"""', "'''") and len(body) >= 6 else body[1:-1]
    pattern = _interpolated(body, text[at], prefix.group() if prefix else "", names, look_up, depth)
    if not re.match(r"\s*\.\s*(?:format|formatted)\s*\(|\s*%\s*[\w(]", text[end:]):
        return end, pattern
    opened = text.find("(", end)
    given = text[opened + 1 : closing(text, opened)] if opened >= 0 else ""
    names.extend(_WORD.findall(given))
    shown = _FORMAT.sub(HOLE, pattern)
    first = evaluate(split(given)[0], look_up, depth).pattern if shown.startswith(HOLE + "/") and given else ""
    return len(text), first + shown[len(HOLE) :] if "/" in first else shown


def _word(text: str, match: re.Match[str], names: list[str], look_up: Lookup, depth: int) -> tuple[int, str]:
    """Return the position after a name or call, and the pattern of its value.

    `match` is the position of the name in `text`. Names that occur in the value are added to `names`. In a pattern, `{}` stands for a part
    that is known only at run time. `look_up` and `depth` are as in `evaluate`.
    """
    word, at = match.group(), match.end()
    if re.match(r"[\"'`]", text[at : at + 1]) and len(word) <= 2:  # the prefix of a string
        return at, ""
    if word in ("new", "await", "return", "async", "const", "the") and text[at : at + 1].isspace():
        return at, ""
    while text[at : at + 1] == "!":
        word, at = word + "!", at + 1
    if text[at : at + 1] == "(":
        end = closing(text, at)
        given = split(text[at + 1 : end])
        if _FORMATTERS.fullmatch(word) and given:
            made = evaluate(given[0], look_up, depth)
            names.extend(made.names)
            for one in given[1:]:
                names.extend(_WORD.findall(one))
            first = evaluate(given[1], look_up, depth).pattern if len(given) > 1 and made.pattern.startswith(("%s/", "{}/", "%s%s")) else ""
            shown = _FORMAT.sub(HOLE, made.pattern)
            return end + 1, first + shown[2:] if "/" in first and shown.startswith(HOLE) else shown
        if _THROUGH.fullmatch(word) and given:
            made = evaluate(given[0], look_up, depth)
            names.extend(made.names)
            return end + 1, made.pattern
        if word.endswith((".trim", ".strip", ".rstrip", ".replace", ".toString", ".ToString", ".TrimEnd")):
            made = evaluate(word.rpartition(".")[0], look_up, depth)
            names.extend(made.names)
            return end + 1, made.pattern
        written = re.findall(r"[\"'`](\w[\w.:/-]*)[\"'`]", text[at:end])
        names += [word, *written]
        value = look_up(word + "()") if depth < MAX_DEPTH else None
        if value is not None:
            made = evaluate(value, _bound(word, given, look_up, depth), depth + 1)
            names.extend(made.names)
            if "/" in made.pattern:
                return end + 1, made.pattern
        address = next((one for one in written if "://" in one), "")
        return end + 1, address or HOLE
    value = look_up(word) if depth < MAX_DEPTH else None
    if value is not None:
        made = evaluate(value, look_up, depth + 1)
        names.append(word)
        names.extend(made.names)
        return at, made.pattern or ("" if value.strip() in EMPTY else HOLE)
    names.append(word)
    return at, HOLE


def _bound(callee: str, given: list[str], look_up: Lookup, depth: int) -> Lookup:
    """Return a look-up in which parameters have the arguments of a call.

    So `endpoint("/feeds")` has the path `/v1/feeds`, if the function returns `f"{base}/v1{path}"`. A parameter without an argument is
    looked up like other names.

    Args:
        callee: name of the function.
        given: source texts of the arguments.
        look_up: returns the expression that a name outside the function stands for; None if it is unknown.
        depth: as in `evaluate`.
    """
    parameters = (look_up(f"{callee}(") or "").split()
    values: dict[str, str] = {}
    for position, text in enumerate(given) if parameters else ():
        named = re.match(r"(\w+)\s*[=:](?![=:])\s*", text)
        if named and named[1] in parameters:
            name, text = named[1], text[named.end() :]
        else:
            name = parameters[position] if position < len(parameters) else ""
        if name:
            pattern = evaluate(text, look_up, depth + 1).pattern
            values[name] = f'"{pattern}"' if pattern and '"' not in pattern else f'"{HOLE}"'
    return (lambda name: values.get(name) or look_up(name)) if values else look_up


MAX_DEPTH: Final = 4
"""Most constants that are followed, one inside the other."""


def _interpolated(body: str, quote: str, prefix: str, names: list[str], look_up: Lookup, depth: int) -> str:
    """Return the pattern of a string: `/users/{}` for `"/users/${id}"`.

    `body` is the text between the quotes; `quote` and `prefix` select the syntax of interpolation, as `f` does in Python. `{}` stands for a
    part that is known only at run time. Names in interpolated expressions are added to `names`. `look_up` and `depth` are as in `evaluate`.
    """

    def filled(inner: str) -> str:
        made = evaluate(inner, look_up, depth) if inner.strip() else Text(HOLE)
        names.extend(made.names)
        return made.pattern if "/" in made.pattern else HOLE

    if ("f" in prefix.lower() and quote != "`") or "$" in prefix:
        return _BRACES.sub(lambda match: filled(match[1]), body)
    if quote in ('"', "`"):
        return _HOLES.sub(lambda match: filled(match[1] or match[2] or match[3]), body)
    return body


def strings(text: str) -> Iterator[str]:
    """Yield the contents of the string literals in a source text."""
    at = 0
    while at < len(text):
        if text[at] in _QUOTES:
            end = _string_end(text, at)
            yield text[at + 1 : end - 1]
            at = end
        else:
            at += 1
