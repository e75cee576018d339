"""Decide whether a value that looks like a secret really is a secret."""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_TRANSITIONS: Final = 0.38  # share of neighbours of another class (lower, upper, digit): words have fewer, random text has 0.62


# Values that are placeholders: a variable, a call, a type.
_STAND_IN: Final = re.compile(
    r"""(?ix) ^ (?: [<\[{(%$*.] .* | .* [)}>\]] | x{3,} .* | \*+ | .* \.\.\. | …
        | (?:your|my|the|an?|some|changeme|change[-_ ]me|example|placeholder|dummy|todo|none|null|nil|true|false|undefined|redacted
          |secret|password|passwd|str|string|bytes|int|bool|optional|any|required|missing|empty|invalid|expired|prompt|input|env|hidden|masked)
          (?:[-_.:,;] .*)? | os\.environ.* | process\.env.* | settings\..* | config\..* | self\..* | [A-Za-z_][\w.]*\(.* ) $"""
)

_NO_PASSWORD: Final = re.compile(r"(?i)(?:\*+|x+|\.\.\.|pass(?:word|wd)?|pwd|secret|token|\[REDACTED.*)\Z")

VALUES: Final = tuple(f"v{i}" for i in range(1, 22))


# Names in a sentence are not assignments: "the token is refreshed", "password: see the vault".
_PLAIN_WORD: Final = re.compile(r"[A-Za-z][a-z]*(?:[-_./'’][A-Za-z]?[a-z]*)*[.,;:!?]*\Z|[A-Z][A-Z_]*[.,;:!?]*\Z")
# Words with hyphens that may follow the name of a password, but are not one: "password for the box: see-the-vault".
_NO_PASSPHRASE: Final = re.compile(
    r"(?i)(?:see|ask|at|in|from|same|not|no|never|stored|kept|read|set|rotated|valid|only|min|max|minimum|per|to|by|one|user|team|self|auto|well)-"
)
_HYPHENED: Final = re.compile(r"[a-z]{2,}(?:-[a-z]{2,}){2,}(?:-?\d+)?\Z")
_PASSWORD_SIGNS: Final = re.compile(r"(?=.*[A-Za-z])(?=.*[\d!#$%&*?@^+])")
_FILE_NAME: Final = re.compile(r".*\.[A-Za-z]{1,5}\Z")
_ISSUED: Final = re.compile(r"sk-(?:proj|svcacct|admin)-(?=[A-Za-z_]*\d)(?=[a-z\d_-]*[A-Z])[A-Za-z0-9_]{32}")


def entropy(text: str) -> float:
    """Return the Shannon entropy of a string, in bits per character."""
    n = len(text)
    return -sum(count / n * math.log2(count / n) for count in Counter(text).values()) if n else 0.0


def _is_value(value: str, *, quoted: bool) -> bool:
    """Return whether a value assigned to a name like `password` looks secret.

    A placeholder such as `<your password>` does not. `quoted` tells whether the value is in quotes.
    """
    if len(value) < (4 if quoted else 6) or _STAND_IN.match(value):
        return False
    if quoted and " " in value:
        return sum(word[:1].isalpha() for word in value.split()) < 3 and any(sign.isdigit() for sign in value)
    return (quoted and not re.fullmatch(r"[a-z_]+|[A-Z_]+", value)) or (
        _PLAIN_WORD.match(value) is None and not re.fullmatch(r"[\d.,:%]+[a-zA-Z]*", value)
    )


def _is_said(value: str, *, after: str) -> bool:
    """Return whether a word in a sentence about a secret is that secret.

    For example, in "the password is WORD", `value` is "WORD" and `after` is "password". A long word counts as the secret if it mixes
    letters with digits or signs; a common word does not. A word with hyphens counts only if `after` means a password.
    """
    if _NO_PASSPHRASE.match(value):
        return False
    is_password = after.lower().startswith(("pass", "pw"))
    if _HYPHENED.match(value):
        return is_password
    return (
        len(value) >= (8 if is_password else 16)
        and _is_value(value, quoted=False)
        and not {"/", "."} & set(value)
        and bool(_PASSWORD_SIGNS.match(value))
    )


def is_random(text: str, *, bits: float) -> bool:
    """Return whether a string looks random, as a key or a token does.

    A string looks random if the entropy of its characters is above `bits` (bits per character), and if letters, digits and case alternate
    as in random text.
    """
    if entropy(text) <= bits:
        return False
    classes = [0 if sign.islower() else 1 if sign.isupper() else 2 if sign.isdigit() else -1 for sign in text]
    pairs = [(a, b) for a, b in pairwise(classes) if a >= 0 and b >= 0]
    return len(pairs) > 8 and sum(a != b for a, b in pairs) >= _TRANSITIONS * len(pairs) and len({*classes} - {-1}) > 1


class Value(NamedTuple):
    """A string that looks like a secret, with the text around it."""

    text: str
    groups: Mapping[str, str | None]
    whole: str
    start: int


def _decoded(text: str) -> str:
    """Return the text that a base64 string encodes; "" if it is invalid."""
    try:
        return base64.b64decode(re.sub(r"\s", "", text).rstrip("=").replace("-", "+").replace("_", "/") + "==").decode("utf-8")
    except (binascii.Error, ValueError):
        return ""


def _is_login(value: Value) -> bool:
    """Return whether base64 contains a login: `name:password`."""
    name, colon, password = _decoded(value.text).partition(":")
    return bool(colon and name and password) and (name + password).isprintable() and not _NO_PASSWORD.match(password)


def _is_element(value: Value) -> bool:
    is_password = (value.groups["n14"] or "").lower().endswith(("password", "passwd", "passphrase", "pass", "pwd"))
    return _STAND_IN.match(value.text) is None if is_password else _is_value(value.text, quoted=True) and any(map(str.isdigit, value.text))


def _is_typed(value: Value) -> bool:
    """Return whether the value of a command's flag is written literally.

    An example is the value `secret` in `-p secret`. The result is False for variables, port numbers and placeholders.
    """
    return _STAND_IN.match(value.text) is None and not re.fullmatch(r"\d{1,5}|-.*", value.text)


def _is_argument(value: Value) -> bool:
    """Return whether the value of a flag such as `--token` can be a secret.

    An ordinary word or a file name is not a secret.
    """
    text = value.text
    if text.startswith(("-", "/", "./", "../", "~", "@", "file:", "env:")) or _STAND_IN.match(text):
        return False
    is_password = (value.groups["n18"] or "").lower().startswith(("pass", "pwd"))
    if value.groups["v18"] is not None:
        return len(text.split()) < 3 if is_password else _is_value(text, quoted=True)
    if _FILE_NAME.match(text) and "/" in text:
        return False
    return _is_value(text, quoted=False) if not text.isdigit() else is_password and len(text) >= 4


def _is_wallet(value: Value) -> bool:
    """Return whether 64 hexadecimal digits are a private key of a wallet.

    They count as a key only if a word for a key, and none for a hash, precedes them in the line, because most such strings are hashes.
    """
    line = value.whole[max(0, value.start - 80) : value.start].rpartition("\n")[2]
    return _MEANS_KEY.search(line) is not None and _MEANS_HASH.search(line) is None


_MEANS_KEY: Final = re.compile(r"(?i)priv|secret|wallet|signer|signing|deployer|mnemonic|accounts?\b|keys?\b|(?<![a-z])[ps]k\b")
_MEANS_HASH: Final = re.compile(
    r"(?i)hash|public|pub[_ -]?key|\btx|transaction|block|topic|root|slot|storage|digest|checksum|sha\d|address|commit"
)
UNQUOTED: Final = frozenset({"v7", "v10", "v11", "v19"})  # values that punctuation may follow
# Conditions for a value, by its group, or by the shape's kind if it has no group.
JUDGES: Final[Mapping[str, Callable[[Value], bool]]] = MappingProxyType(
    {
        "v3": lambda one: not _NO_PASSWORD.match(one.text),
        "v6": lambda one: _is_value(one.text, quoted=True),
        "v7": lambda one: _is_value(one.text, quoted=False),
        "v8": lambda one: not _STAND_IN.match(one.text),
        "v9": lambda one: not _STAND_IN.match(one.text) and any(map(str.isdigit, one.text)),
        "v10": lambda one: _is_said(one.text, after=one.groups["n10"] or ""),
        "v11": lambda one: not (_STAND_IN.match(one.text) or _FILE_NAME.match(one.text)) and bool(_PASSWORD_SIGNS.match(one.text)),
        # excludes names such as sk-learn-contrib-something
        "openai_key": lambda one: bool(_ISSUED.match(one.text)) or is_random(one.text[3:], bits=3.2),
        "v12": lambda one: "PRIVATE KEY" in _decoded(one.text[:120]),
        "v13": _is_login,
        "v14": _is_element,
        "v15": lambda one: not _STAND_IN.match(one.text) and (one.groups["n15"] is not None or bool(_PASSWORD_SIGNS.match(one.text))),
        "v16": _is_typed,
        "v17": _is_typed,
        "v18": _is_argument,
        "v19": _is_argument,
        "v20": _is_wallet,
    }
)
