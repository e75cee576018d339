"""Login with OpenID Connect: the authorization code flow with PKCE.

The library PyJWT checks the signature and the claims of identity tokens. Keys and addresses come from the provider's discovery document.
"""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.error import URLError
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from graphmem.errors import ForbiddenError, SettingsError

LASTS_S: Final = 600  # between the begin and the end of a login
TIMEOUT_S: Final = 10.0
MOST_BYTES: Final = 1 << 20
ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "EdDSA")


class Begun(NamedTuple):
    """A login that has begun and waits for the identity provider's answer.

    Only the browser keeps these values, in a cookie. So any server of the same directory can finish the login.
    """

    state: str  # identifies the login; the provider sends it back
    nonce: str
    verifier: str
    until: int  # Unix time

    @property
    def cookie(self) -> str:
        """The values as the value of a cookie."""
        return ".".join(map(str, self))

    @classmethod
    def of_cookie(cls, value: str) -> Begun | None:
        """Return the login that a cookie has; None if the value is invalid."""
        parts = value.split(".")
        if len(parts) != len(cls._fields) or not all(parts) or not parts[-1].isdecimal():
            return None
        state, nonce, verifier, until = parts
        return cls(state, nonce, verifier, int(until[:12]))


class Identity(NamedTuple):
    """A person as the identity provider identifies them."""

    issuer: str
    subject: str
    email: str  # verified; "" otherwise


class _NoRedirect(HTTPRedirectHandler):
    """HTTP handler that refuses redirects, so secrets stay at one host."""

    def redirect_request(self, *args: object, **kwargs: object) -> None:
        """Refuse a redirect to another address."""


@dataclass(eq=False)
class OpenId:
    """A client of one identity provider. Thread-safe.

    Args:
        issuer: address of the provider, as in its discovery document.
        client: id of this server at the provider.
        secret: secret of this server at the provider.

    Raises:
        SettingsError: the issuer is not an https address; http is allowed for this machine.
    """

    issuer: str
    client: str
    secret: str = field(repr=False)
    _known: dict[str, Any] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        _expect_private("oidc_issuer", self.issuer)

    def begin(self, callback: str) -> tuple[str, Begun]:
        """Begin a login; return the address for the browser, and the login.

        Store the login in a cookie of this browser, so that nobody else can finish it. `callback` is the address to which the provider
        sends the browser back.
        """
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "response_type": "code",
            "client_id": self.client,
            "redirect_uri": callback,
            "scope": "openid email profile",
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{self._discovered()['authorization_endpoint']}?{urlencode(asked)}", Begun(
            state, nonce, verifier, int(time.time()) + LASTS_S
        )

    def finish(self, begun: Begun, code: str, callback: str) -> Identity:
        """Exchange the provider's code for the identity of the person.

        `begun` is the login from `begin`, and `callback` is the address that was given to `begin`.

        Raises:
            ForbiddenError: the login is too old, or the provider's answer is not valid.
        """
        import jwt

        if begun.until <= time.time():
            raise ForbiddenError("this login has expired; start again at /login", needs="login", verb="login")
        found = self._discovered()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": callback, "code_verifier": begun.verifier}
        key = base64.b64encode(f"{self.client}:{self.secret}".encode()).decode()
        answer = self._fetch(found["token_endpoint"], urlencode(form).encode(), {"Authorization": f"Basic {key}"})
        try:
            token = str(answer["id_token"])
            keys = jwt.PyJWKSet.from_dict(self._fetch(found["jwks_uri"]))
            wanted = jwt.get_unverified_header(token).get("kid")
            signing = next(one for one in keys.keys if wanted in (None, one.key_id))
            claims = jwt.decode(
                token,
                signing.key,
                algorithms=[one for one in ALGORITHMS if signing.algorithm_name in (one, "")],
                audience=self.client,
                issuer=self.issuer,
                leeway=60,
                options={"require": ["exp", "iat", "sub", "nonce"]},
            )
        except (jwt.PyJWTError, KeyError, StopIteration, TypeError, ValueError) as error:
            raise ForbiddenError(
                f"the login token from the identity provider cannot be verified ({type(error).__name__}); begin again at /login",
                needs="login",
                verb="login",
            ) from error
        if not secrets.compare_digest(str(claims["nonce"]), begun.nonce):
            raise ForbiddenError(
                "the answer of the identity provider belongs to another login; begin again at /login", needs="login", verb="login"
            )
        email = str(claims.get("email", "")) if claims.get("email_verified") is True else ""
        return Identity(self.issuer, str(claims["sub"]), email)

    def _discovered(self) -> dict[str, Any]:
        if not self._known:
            found = self._fetch(self.issuer.rstrip("/") + "/.well-known/openid-configuration")
            if found.get("issuer") != self.issuer:
                raise ForbiddenError(
                    f"the identity provider reports the issuer {str(found.get('issuer'))[:200]}, but the setting oidc_issuer is "
                    f"{self.issuer}; set oidc_issuer to the issuer that the provider reports",
                    needs="login",
                    verb="login",
                )
            for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
                _expect_private(name, str(found.get(name)))
            self._known = found
        return self._known

    def _fetch(self, address: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> dict[str, Any]:
        request = Request(address, body, {"Accept": "application/json", **(headers or {})})  # noqa: S310 - checked by _expect_private
        try:
            with build_opener(_NoRedirect()).open(request, timeout=TIMEOUT_S) as answer:
                found = json.loads(answer.read(MOST_BYTES))
        except (URLError, OSError, ValueError) as error:
            raise ForbiddenError(
                f"the identity provider at {urlsplit(address).netloc} did not answer, or not in JSON "
                f"({type(error).__name__}); try again, or ask an administrator of the server",
                needs="login",
                verb="login",
            ) from error
        if not isinstance(found, dict):
            raise ForbiddenError(
                "the identity provider did not answer with a JSON object; ask an administrator of the server", needs="login", verb="login"
            )
        return found


def _expect_private(setting: str, address: str) -> None:
    """Check that an address is encrypted, or on this machine.

    Raises:
        SettingsError: the address is unencrypted and of another machine.
    """
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme != "http" or parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise SettingsError(f"the setting {setting} is {address[:200]!r}; use an https address", setting=setting, value=address, origin="")
