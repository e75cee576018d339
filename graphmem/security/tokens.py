"""Named access tokens of an index, hashed in a file beside it.

A token has scopes and visibilities. The file belongs to one index, so a token opens only one project. Only a token's SHA-256 is stored. A
token has 256 random bits, so it cannot be guessed, and a slow hash function is not needed. Tokens are created and revoked in the file,
never over the network. A server sees a change at the next request.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
import os
import re
import secrets
import threading
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from graphmem.errors import BadInputError, GraphMemError, ResourceError
from graphmem.runtime.files.checksums import read_sealed_json, sealed_json
from graphmem.runtime.files.replacing import replace_file
from graphmem.runtime.process import system
from graphmem.runtime.process.limits import unless_refused
from graphmem.security.access import FULL, GROUPS, SCOPES, SHARED, VISIBILITIES, Access

FILE: Final = "tokens.json"
VERSION: Final = 1
PREFIX: Final = "gm"  # lets secret scanners recognise a token: gm_<id>_<secret>
MOST: Final = 1_000  # tokens of one index
MOST_DAYS: Final = 3_650
_SECRET_BYTES: Final = 32
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_MOST_BYTES: Final = 1 << 20  # a longer file is not a token file

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class StoredToken:
    """The stored data of a token. Times are ISO 8601 in UTC."""

    id: str  # 8 hex digits; public, part of the token
    name: str
    hash: str  # SHA-256 of the whole token, hex
    scopes: tuple[str, ...]  # in the order of access.SCOPES
    visibilities: tuple[str, ...]  # in the order of access.VISIBILITIES
    created_at: str
    expires_at: str  # "" for never

    def access(self) -> Access:
        """Return the permissions of a caller that has this token."""
        return Access(self.name, frozenset(self.scopes), frozenset(self.visibilities), self.id)

    def is_over(self, now: datetime) -> bool:
        """Whether the token has expired at a given time."""
        return bool(self.expires_at) and datetime.fromisoformat(self.expires_at) <= now


@dataclass(frozen=True, slots=True)
class NewToken:
    """A new token: its text, which only the creator sees, and the stored data."""

    token: str
    stored: StoredToken


def digest(token: str) -> str:
    """Return the SHA-256 under which a token is stored."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class TokenFile:
    """Tokens of one index. Thread-safe. Several processes may change the file.

    Args:
        path: path of the token file, which may be missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._known: dict[str, StoredToken] = {}

    @property
    def exists(self) -> bool:
        """Whether any token was ever created.

        After a token was created, the server always requires a token, even if all tokens are revoked.
        """
        return self.path.exists()

    def find(self, token: str, now: datetime | None = None) -> Access | None:
        """Return the permissions of a caller that presents a token.

        The result is None if the token is unknown, revoked or expired.
        """
        parts = token.split("_", 2)
        with self._lock:
            self._look()
            stored = self._known.get(parts[1]) if len(parts) == 3 and parts[0] == PREFIX else None
        # The same work for an unknown token.
        fits = hmac.compare_digest(digest(token), stored.hash if stored is not None else digest(""))
        return stored.access() if stored is not None and fits and not stored.is_over(now or datetime.now(UTC)) else None

    def stands(self, access: Access, now: datetime | None = None) -> bool:
        """Whether the token that gave a caller its permissions is still valid."""
        if not access.token_id:
            return True
        with self._lock:
            self._look()
            stored = self._known.get(access.token_id)
        return stored is not None and not stored.is_over(now or datetime.now(UTC))

    def all(self) -> list[StoredToken]:
        """Return every stored token, the newest last.

        Raises:
            BadInputError: the file is not a token file.
        """
        return self._read()

    def create(
        self, name: str, scopes: Iterable[str] = ("read",), visibilities: Iterable[str] = sorted(SHARED), days: int | None = None
    ) -> NewToken:
        """Create a token and store it in the file.

        Args:
            name: at most 40 letters, digits, `.`, `_` and `-`; the audit log shows the name.
            scopes: names from `access.SCOPES`, or from `access.GROUPS` for several scopes.
            visibilities: names from `access.VISIBILITIES`; they define which memories are visible.
            days: number of days until the token expires; None for no expiry.

        Raises:
            BadInputError: an argument is invalid, the name is taken, or there are too many tokens.
        """
        if not _NAME.fullmatch(name):
            raise BadInputError(
                f"invalid token name {name[:60]!r}; use up to 40 letters, digits, dots, underscores or hyphens",
                argument="name",
                value=name[:60],
            )
        chosen = _chosen("scope", [one for given in scopes for one in GROUPS.get(given, (given,))], SCOPES)
        levels = _chosen("visibility", list(visibilities), VISIBILITIES)
        if days is not None and not 1 <= days <= MOST_DAYS:
            raise BadInputError(
                f"days, the lifetime of a token, is {days}; give 1 to {MOST_DAYS:,}, or omit days", argument="days", value=days
            )
        now = datetime.now(UTC).replace(microsecond=0)
        with self._changing() as known:
            if any(one.name == name for one in known):
                raise BadInputError(
                    f"the token {name!r} already exists; revoke it first, or choose another name", argument="name", value=name
                )
            if len(known) >= MOST:
                raise BadInputError(
                    f"there are {len(known):,} tokens, which is the maximum; revoke some tokens first", argument="name", allowed=MOST
                )
            taken = {one.id for one in known}
            token_id = next(one for one in iter(lambda: secrets.token_hex(4), "") if one not in taken)
            token = f"{PREFIX}_{token_id}_{secrets.token_urlsafe(_SECRET_BYTES)}"
            expires = (now + timedelta(days=days)).isoformat() if days is not None else ""
            stored = StoredToken(token_id, name, digest(token), chosen, levels, now.isoformat(), expires)
            known.append(stored)
        return NewToken(token, stored)

    def revoke(self, which: str) -> StoredToken:
        """Revoke a token by name or id, from the next request on.

        Raises:
            BadInputError: the token is unknown.
        """
        with self._changing() as known:
            found = next((one for one in known if which in (one.name, one.id)), None)
            if found is None:
                names = ", ".join(one.name for one in known)
                remedy = f"use one of {names}" if names else "no token exists yet"
                raise BadInputError(f"unknown token {which[:60]!r}; {remedy}", argument="token", value=which[:60])
            known.remove(found)
        return found

    def _look(self) -> None:
        """Read the token file again if it changed since it was read.

        If the file is unreadable, no token is valid.
        """
        try:
            about = self.path.stat()
            stamp = (about.st_mtime_ns, about.st_size, about.st_ino)
        except OSError:
            self._stamp, self._known = None, {}
            return
        if stamp == self._stamp:
            return
        try:
            self._known = {one.id: one for one in self._read()}
        except ResourceError as error:  # the next request reads it again
            _log.warning("%s: no token of it is accepted", error.message)
            self._stamp, self._known = None, {}
            return
        except GraphMemError as error:
            _log.warning("%s: no token of it is accepted", error.message)
            self._known = {}
        self._stamp = stamp

    def _read(self) -> list[StoredToken]:
        try:
            if self.path.stat().st_size > _MOST_BYTES:
                raise ValueError(f"the file has more than {_MOST_BYTES:,} bytes; create fewer tokens")
            found = read_sealed_json(self.path.read_bytes())
            if found["version"] != VERSION:
                raise BadInputError(
                    f"the token file {self.path} has version {found['version']}, and this graphmem reads version "
                    f"{VERSION}; update graphmem",
                    argument="path",
                )
            return [_stored(one) for one in found["tokens"]]
        except FileNotFoundError:
            return []
        except BadInputError:
            raise
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            unless_refused(error, f"reading {self.path.name}", self.path)
            raise BadInputError(
                f"{self.path} is not a valid token file ({type(error).__name__}); move the file to another place and create new tokens",
                argument="path",
            ) from error

    @contextlib.contextmanager
    def _changing(self) -> Iterator[list[StoredToken]]:
        """Lock the token file and yield its tokens, to change them in the block.

        After the block, the list is written atomically. Only the owner of the file may read it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        turn = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT | system.OPEN, 0o600)
        try:
            system.lock(turn, wait=True)
            known = self._read()
            yield known
            replace_file(self.path, sealed_json({"version": VERSION, "tokens": [asdict(one) for one in known]}, indent=1), durable=True)
        finally:
            os.close(turn)


class Keys:
    """All credentials that a server accepts.

    Args:
        token: the token from the settings, which has all permissions; "" without one.
        own: the secret of this server, which other processes of the same user read from `owner.json`; "" without one.
        tokens: the file of named tokens; None without one.
        required: whether a token is always required.
    """

    advice = "send it as `Authorization: Bearer …`"  # to a caller without a valid credential

    def __init__(self, token: str = "", own: str = "", tokens: TokenFile | None = None, *, required: bool = False) -> None:
        self._whole = [digest(one) for one in (token, own) if one]
        self._tokens = tokens
        self._required = required or bool(token)

    @property
    def required(self) -> bool:
        """Whether callers must present a token.

        They must if the argument `required` was true, the settings contain a token, or any named token was ever created.
        """
        return self._required or (self._tokens is not None and self._tokens.exists)

    def is_whole(self, authorization: str | None) -> bool:
        """Whether an `Authorization` header gives all permissions.

        This is so for the server's own secret and for the token from the settings.
        """
        presented = digest(_presented(authorization))
        return bool(sum(hmac.compare_digest(presented, one) for one in self._whole))  # all of them are compared

    def access(self, authorization: str | None) -> Access | None:
        """Return the permissions that an `Authorization` header gives, or None.

        A caller without a valid token gets None if tokens are required, else all permissions. The check takes the same time for every wrong
        header.
        """
        if self.is_whole(authorization):
            return FULL
        token = _presented(authorization)
        found = self._tokens.find(token) if self._tokens is not None else None
        if found is not None:
            return found
        return None if self.required else FULL

    def stands(self, access: Access) -> bool:
        """Whether the permissions that a caller was given before are still valid.

        They end when the caller's token expires or is revoked.
        """
        return self._tokens.stands(access) if self._tokens is not None else not access.token_id


def _presented(authorization: str | None) -> str:
    scheme, _, given = (authorization or "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


def _chosen(word: str, given: list[str], known: tuple[str, ...]) -> tuple[str, ...]:
    if not given:
        raise BadInputError(f"the {word} of the token is missing; give at least one of {', '.join(known)}", argument=word)
    for one in given:
        if one not in known:
            more = [*known, *(GROUPS if word == "scope" else ())]
            raise BadInputError(f"unknown {word} {str(one)[:60]!r}; use one of {', '.join(more)}", argument=word, value=str(one)[:60])
    return tuple(one for one in known if one in given)


def _stored(one: Any) -> StoredToken:
    stored = StoredToken(**one)
    scopes, levels = _chosen("scope", list(stored.scopes), SCOPES), _chosen("visibility", list(stored.visibilities), VISIBILITIES)
    if not all(isinstance(value, str) for value in (stored.id, stored.name, stored.hash, stored.created_at, stored.expires_at)):
        raise TypeError(f"a field of the token {stored.name!r} is not a string; create the token again")
    if stored.expires_at and datetime.fromisoformat(stored.expires_at).tzinfo is None:
        raise ValueError("the time has no time zone; add a zone, such as Z for UTC")
    return replace(stored, scopes=scopes, visibilities=levels)
