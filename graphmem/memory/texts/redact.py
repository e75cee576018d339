"""Redact secrets and personal data in strings: `[REDACTED:kind]`.

Strings are redacted before they are stored, logged or embedded. Three rules are tried, the most precise first. The rule that matches first
determines the kind:

1. the shapes in `secret_shapes.toml`, which issuers publish;
2. assignments to names that mean a secret;
3. a measure of randomness for strings without a known shape.

No network or other file is used. detect-secrets (Apache-2.0, offline) was tried instead. It is ten times slower, checks whole lines of
files, and reports hashes and identifiers as secrets. `benchmarks/redaction.py` measures these rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any, Final, NamedTuple

from graphmem.memory.texts.secret_shapes import personal_kinds, shapes
from graphmem.memory.texts.secret_values import JUDGES, UNQUOTED, VALUES, Value, is_random
from graphmem.runtime.texts.private_passages import private_spans

ENTROPY_BITS: Final = 4.0  # per character; above it a string of unknown shape is examined
ENTROPY_LENGTH: Final = 20  # characters; a shorter string is not examined
_MOSTLY: Final = 0.5  # share of a content's characters that makes it mostly a secret
_LEFT: Final = 12  # letters and digits; a shorter remainder is not worth keeping

PRIVATE: Final = "private"  # kind of text that a person marked with `<private>`: removed without a trace
_LEAD: Final = 20  # characters before a value in which another secret may begin


class Found(NamedTuple):
    """Position and kind of a secret in a string; never its value."""

    kind: str
    start: int
    end: int


# A name that may mean a secret: only then the text under it is judged as an assignment.
_SECRET_NAME: Final = re.compile(
    r"(?i)pass|pwd|secret|api.?key|access.?key|auth.?key|private.?key|signing.?key|encryption.?key|token|credential"
)
_RANDOM: Final = re.compile(rf"[A-Za-z0-9+/_\-=]{{{ENTROPY_LENGTH + 1},}}")
# Random text that is not a secret: embedded images and fonts, public keys, checksums, certificates.
_PUBLIC_BEFORE: Final = re.compile(
    r"(?i)(?:base64,\s*|sha(?:1|224|256|384|512)[-:=]?\s*|md5[-:=]?\s*|h1:|blake[23]b?[-:=]?\s*|digest[\"']?\s*[:=]\s*[\"']?"
    r"|integrity[\"']?\s*[:=]\s*[\"']?|checksum[\"']?\s*[:=]\s*[\"']?"
    r"|etag[\"']?\s*[:=]\s*[\"']?|ssh-(?:rsa|dss|ed25519)\s+|ecdsa-sha2-nistp\d+\s+"
    r"|BEGIN (?:CERTIFICATE|PUBLIC KEY|RSA PUBLIC KEY|PGP PUBLIC KEY BLOCK|CERTIFICATE REQUEST)-----[\s\S]*)\Z"
)
_PUBLIC_START: Final = re.compile(
    r"iVBORw0KGgo|/9j/|R0lGOD|UklGR|PHN2Zy|PD94bW|JVBERi0|AAAAB3Nza|AAAAC3Nza|AAAAE2Vj|d09G|sha\d{3}-|MII[A-Z]"
)
_BASE64_RUN: Final = 400  # characters; a longer unbroken run is a file, not a key


def find(text: str) -> list[Found]:
    """Return the secrets and personal data in a string, by position.

    The results do not overlap. Text marked as private has the kind `PRIVATE`.
    """
    found = [Found(PRIVATE, start, end) for start, end in private_spans(text)]
    found += (
        [one for one in _shaped(text) if not any(own.start < one.end and one.start < own.end for own in found)] if found else _shaped(text)
    )
    for match in _RANDOM.finditer(text):
        if not any(one.start < match.end() and match.start() < one.end for one in found):
            found += _random(text, match)
    return sorted(found, key=lambda one: one.start)


def redact(text: str) -> tuple[str, list[str]]:
    """Return a string without its secrets, and the kinds of the secrets.

    There is one kind for each secret, such as `PRIVATE`.
    """
    found = find(text)
    if not found:
        return text, []
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], "" if one.kind == PRIVATE else f"[REDACTED:{one.kind}]"]
        at = one.end
    return "".join([*parts, text[at:]]), [one.kind for one in found]


def redact_all(value: object, kinds: list[str]) -> Any:
    """Redact every string inside mappings and sequences; return a copy.

    The kinds of the found secrets are appended to `kinds`. Numbers and keys are unchanged.
    """
    if isinstance(value, str):
        clean, found = redact(value)
        kinds += found
        return clean
    if isinstance(value, Mapping):
        return {key: _under(key, inner, kinds) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact_all(inner, kinds) for inner in value]
    return value


def is_mostly_secret(text: str, found: list[Found]) -> bool:
    """Return whether a string has almost nothing besides secrets.

    `found` are the secrets. Personal data do not count as secrets here.
    """
    secret = [one for one in found if one.kind not in personal_kinds() and one.kind != PRIVATE]
    if not secret:
        return False
    taken = sum(one.end - one.start for one in secret)
    outside = "".join(
        text[a:b] for a, b in zip([0, *(one.end for one in secret)], [*(one.start for one in secret), len(text)], strict=True)
    )
    return taken > _MOSTLY * sum(not sign.isspace() for sign in text) or sum(map(str.isalnum, outside)) < _LEFT


def _under(key: object, value: object, kinds: list[str]) -> object:
    """Redact `value` if its key means a secret, as in `{"password": "…"}`.

    Otherwise redact the secrets inside `value`. Kinds of secrets are appended to `kinds`.
    """
    if isinstance(key, str) and isinstance(value, str) and len(value) < _BASE64_RUN:
        lead = f"{key}: "
        for one in _shaped(lead + value) if _SECRET_NAME.search(key) else ():
            if one.kind == "assigned_secret" and one.start >= len(lead):
                kinds.append(one.kind)
                return "[REDACTED:assigned_secret]"
    return redact_all(value, kinds)


@cache
def _kinds() -> Mapping[str, str]:
    """Map the name of each group in the combined pattern to a kind of secret.

    The names of the groups are `s0`, `s1` and so on. A secret that a group matches is of the group's kind.
    """
    return {f"s{i}": shape.kind for i, shape in enumerate(shapes())}


@cache
def _needs() -> tuple[tuple[str, int, re.Pattern[str] | None], ...]:
    """Return (word, index, pattern) for each word that hints at a secret.

    Each word belongs to one kind of secret, and `index` is the position of this kind in the list that `shapes()` returns. A string that has
    none of the words of a kind is not searched for secrets of that kind. If `pattern` is not None, the word counts only where `pattern`
    matches at the word's position.
    """
    return tuple((need, i, re.compile(shape.near) if shape.near else None) for i, shape in enumerate(shapes()) for need in shape.needs)


def _possible(text: str) -> tuple[int, ...]:
    """Return the kinds of secrets that a string could contain.

    A kind is represented by its position in the list that `shapes()` returns. This test is cheap and runs before the search. For most
    strings, the result is empty.
    """
    lower = text.lower()
    found: dict[int, None] = {}
    for need, i, near in _needs():
        if need in lower and _is_near(lower, need, near):
            found[i] = None
    return tuple(found)


def _is_near(lower: str, need: str, near: re.Pattern[str] | None) -> bool:
    if near is None:
        return True
    at = lower.find(need)
    while at >= 0:
        if near.match(lower, at):
            return True
        at = lower.find(need, at + 1)
    return False


@lru_cache(maxsize=128)
def _patterns_of(chosen: tuple[int, ...]) -> re.Pattern[str]:
    """Return one pattern that matches secrets of the kinds `chosen`.

    A kind is a position in the list that `shapes()` returns. If several kinds match, the one that comes first in `chosen` counts.
    """
    every = shapes()
    return re.compile("|".join(f"(?P<s{i}>{every[i].pattern})" for i in chosen))


def _shaped(text: str) -> Iterator[Found]:
    chosen = _possible(text)
    if not chosen:
        return
    kinds, pattern, at = _kinds(), _patterns_of(chosen), 0
    while match := pattern.search(text, at):
        groups = match.groupdict()
        kind = (
            kinds[match.lastgroup or ""]
            if match.lastgroup in kinds
            else next(kind for name, kind in kinds.items() if groups.get(name) is not None)
        )
        group = next((name for name in VALUES if groups.get(name) is not None), "")
        start, end = match.span(group) if group else match.span()
        value = text[start:end]
        if group in UNQUOTED:
            value = value.rstrip(".,;:!?")
            end = start + len(value)
        judge = JUDGES.get(group or kind)
        if judge is not None and not judge(Value(value, groups, text, start)):
            # A part of a rejected match may match another shape: `auth: xoxb-…`.
            at = max(start, match.start() + 1) if group else match.end()
            continue
        if start - match.start() > _LEAD:  # and before it, in the same command
            yield from (Found(one.kind, one.start + match.start(), one.end + match.start()) for one in _shaped(text[match.start() : start]))
        yield Found(kind, start, end)
        at = max(end, match.start() + 1)


def _random(text: str, match: re.Match[str]) -> Iterator[Found]:
    """Yield the random-looking parts of a long string without spaces.

    `match` is the position of the string in `text`. Nothing is yielded if the text before it shows that it is public, such as a hash.
    """
    run = match.group()
    if len(run) > _BASE64_RUN or _PUBLIC_START.match(run):
        return
    found = list(_random_parts(run, match.start()))  # before the look-behind, which costs more and is seldom needed
    if found and not _PUBLIC_BEFORE.search(text, max(0, match.start() - 4000), match.start()):
        yield from found


def _random_parts(run: str, at: int) -> Iterator[Found]:
    for run_ in re.finditer(r"[^=]+", run):
        # A key may contain slashes, and a path consists of them: judge the whole first, then the parts.
        whole = run_.group()
        parts = [run_] if is_random(whole, bits=ENTROPY_BITS) else re.finditer(r"[^/]+", whole)
        for part in parts:
            if len(part.group()) > ENTROPY_LENGTH and is_random(part.group(), bits=ENTROPY_BITS):
                start = at + part.start() + (0 if part is run_ else run_.start())
                yield Found("high_entropy", start, start + len(part.group()))
