"""A small OpenID Connect provider on loopback."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa


class Provider:
    """A small OpenID Connect provider, which logs in a person with the claims in `person`."""

    def __init__(self):
        self.key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.person = {"sub": "7", "email": "ann@example.com", "email_verified": True}
        self.wrong = {}
        self.codes = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path.endswith("/openid-configuration"):
                    names = ("authorization_endpoint", "token_endpoint", "jwks_uri")
                    self.say({"issuer": provider.issuer} | {one: f"{provider.issuer}/{one}" for one in names})
                elif self.path == "/jwks_uri":
                    self.say(
                        {
                            "keys": [
                                {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(provider.key.public_key())), "kid": "1", "alg": "RS256"}
                            ]
                        }
                    )

            def do_POST(self):
                form = {name: one[0] for name, one in parse_qs(self.rfile.read(int(self.headers["content-length"])).decode()).items()}
                asked = provider.codes.pop(form["code"])
                challenge = provider.challenge(form["code_verifier"])
                assert asked["code_challenge"] == challenge
                assert asked["redirect_uri"] == form["redirect_uri"]
                assert self.headers["authorization"].startswith("Basic ")
                now = int(time.time())
                claims = {"iss": provider.issuer, "aud": "graphmem", "iat": now, "exp": now + 60, "nonce": asked["nonce"]}
                self.say(
                    {
                        "id_token": jwt.encode(
                            {**claims, **provider.person, **provider.wrong}, provider.signing or provider.key, "RS256", {"kid": "1"}
                        )
                    }
                )

            def say(self, body):
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.signing = None
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    @staticmethod
    def challenge(verifier):
        return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()

    def consent(self, address):
        """Play the person's browser at the provider: agree, and be sent back."""
        asked = {name: one[0] for name, one in parse_qs(urlsplit(address).query).items()}
        self.codes["c1"] = asked
        return f"{asked['redirect_uri']}?code=c1&state={asked['state']}"
