"""Recall and false alarms of secret redaction on a generated corpus.

    python -m benchmarks redaction [--seed 11] [--each 40]

The corpus is generated from a seed, so it contains no real secret. Positive samples are secrets in the formats that their issuers publish,
placed in sentences, code, configuration and logs. Negative samples only look similar: hashes, identifiers, encoded images, checksums,
public keys, placeholders, sentences about secrets, and lines of installed Python source.

A secret counts as found if no twelve consecutive characters of it are left. The rules were developed with the same generator and another
seed, so the figures do not cover unknown formats.
"""

from __future__ import annotations

import base64
import hashlib
import random
import string
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import networkx

from graphmem.memory.texts.redact import redact

UPPER, LOWER, DIGITS = string.ascii_uppercase, string.ascii_lowercase, string.digits
ALNUM = UPPER + LOWER + DIGITS
B64 = ALNUM + "+/"
URL = ALNUM + "-_"
HEX = DIGITS + "abcdef"


class Sample(NamedTuple):
    """A string and the secret in it; "" for none."""

    text: str
    secret: str
    kind: str


def _of(rng: random.Random, signs: str, n: int) -> str:
    return "".join(rng.choices(signs, k=n))


def _jwt(rng: random.Random) -> str:
    def part(text: str) -> str:
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")

    body = f'{{"sub":"{rng.randrange(10**9)}","iat":{rng.randrange(10**9, 2 * 10**9)}}}'
    head = '{"alg":"HS256","typ":"JWT"}'
    return f"{part(head)}.{part(body)}.{_of(rng, URL, 43)}"


def _pem(rng: random.Random) -> str:
    name = rng.choice(["RSA ", "EC ", "OPENSSH ", "", "DSA ", "ENCRYPTED "])
    lines = "\n".join(_of(rng, B64, 64) for _ in range(rng.randint(3, 12)))
    return f"-----BEGIN {name}PRIVATE KEY-----\n{lines}\n-----END {name}PRIVATE KEY-----"


def _password(rng: random.Random) -> str:
    style = rng.randrange(4)
    if style == 0:
        return _of(rng, ALNUM + "!#$%^&*_+", rng.randint(8, 20)) + rng.choice(DIGITS)
    if style == 1:
        return (
            rng.choice(["Summer", "Winter", "Dragon", "monkey", "Berlin", "qwerty"])
            + _of(rng, DIGITS, rng.randint(2, 4))
            + rng.choice("!?*#.")
        )
    if style == 2:
        return "-".join(rng.choice(["correct", "horse", "battery", "staple", "orbit", "velvet"]) for _ in range(3)) + _of(rng, DIGITS, 2)
    return _of(rng, LOWER, rng.randint(4, 8)) + _of(rng, DIGITS, 3) + _of(rng, UPPER, 2)


SECRETS = {
    "anthropic_key": lambda r: "sk-ant-api03-" + _of(r, URL, 93) + "AA",
    "openai_key": lambda r: r.choice(["sk-", "sk-proj-", "sk-svcacct-"]) + _of(r, ALNUM, r.choice([48, 64, 120])),
    "aws_access_key": lambda r: r.choice(["AKIA", "ASIA"]) + _of(r, UPPER + "234567", 16),
    "github_token": lambda r: r.choice(["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]) + _of(r, ALNUM, 36),
    "github_fine_grained": lambda r: "github_pat_" + _of(r, ALNUM, 22) + "_" + _of(r, ALNUM, 59),
    "gitlab_token": lambda r: "glpat-" + _of(r, URL, 20),
    "slack_token": lambda r: f"xoxb-{_of(r, DIGITS, 12)}-{_of(r, DIGITS, 12)}-{_of(r, ALNUM, 24)}",
    "slack_webhook": lambda r: (
        f"https://hooks.slack.com/services/T{_of(r, UPPER + DIGITS, 8)}/B{_of(r, UPPER + DIGITS, 8)}/{_of(r, ALNUM, 24)}"
    ),
    "google_key": lambda r: "AIza" + _of(r, URL, 35),
    "stripe_key": lambda r: r.choice(["sk_live_", "rk_live_", "sk_test_"]) + _of(r, ALNUM, 24),
    "twilio_key": lambda r: "SK" + _of(r, HEX, 32),
    "sendgrid_key": lambda r: f"SG.{_of(r, URL, 22)}.{_of(r, URL, 43)}",
    "npm_token": lambda r: "npm_" + _of(r, ALNUM, 36),
    "pypi_token": lambda r: "pypi-AgEIcHlwaS5vcmc" + _of(r, URL, 150),
    "huggingface_token": lambda r: "hf_" + _of(r, UPPER + LOWER, 34),
    "azure_key": lambda r: (
        f"DefaultEndpointsProtocol=https;AccountName=store{r.randrange(99)};AccountKey={_of(r, B64, 86)}==;EndpointSuffix=core.windows.net"
    ),
    "digitalocean_token": lambda r: "dop_v1_" + _of(r, HEX, 64),
    "databricks_token": lambda r: "dapi" + _of(r, HEX, 32),
    "vault_token": lambda r: "hvs." + _of(r, URL, 24),
    "shopify_token": lambda r: "shpat_" + _of(r, HEX, 32),
    "telegram_token": lambda r: f"{_of(r, '123456789', 10)}:AA{_of(r, URL, 33)}",
    "private_key": _pem,
    "jwt": _jwt,
    "connection_string": lambda r: (
        r.choice(["postgres", "mysql", "mongodb+srv", "redis", "amqp", "postgresql+asyncpg"])
        + f"://{r.choice(['app', 'root', 'svc_user', ''])}:{_of(r, ALNUM + '!*-_.', r.randint(8, 24))}@db{r.randrange(9)}.lan:5432/shop"
    ),
    "basic_auth_url": lambda r: f"https://deploy:{_of(r, ALNUM, 20)}@git.example.org/team/repo.git",
    "email": lambda r: f"{_of(r, LOWER, 5)}.{_of(r, LOWER, 7)}@{_of(r, LOWER, 8)}.{r.choice(['com', 'org', 'co.uk', 'dev', 'io'])}",
    "bearer": lambda r: f"Authorization: Bearer {_of(r, URL, r.randint(24, 60))}",
    "random_base64": lambda r: _of(r, B64, r.choice([32, 40, 44])),
    "random_base62": lambda r: _of(r, ALNUM, r.choice([28, 32, 40, 64])),
    "random_url_safe": lambda r: _of(r, URL, r.choice([32, 43, 64])),
}
# The secret replaces the braces; the name before it identifies it.
ASSIGNED = {
    "password_assigned": (
        _password,
        [
            "password = '{}'",
            'DB_PASSWORD="{}"',
            "password: {}",
            "PGPASSWORD={}",
            '"password": "{}"',
            "passwd = {}",
            "the password is {}",
            "mysql_pwd={}",
        ],
    ),
    "api_key_assigned": (
        lambda r: _of(r, r.choice([HEX, ALNUM, LOWER + DIGITS]), r.choice([24, 32, 40])),
        ["api_key = '{}'", "API_KEY={}", '"apiKey": "{}"', "X-Api-Key: {}", "weather_api_key: {}", "apikey={}"],
    ),
    "secret_assigned": (
        lambda r: _of(r, r.choice([HEX, ALNUM]), r.choice([20, 32, 50, 64])),
        ["SECRET_KEY = '{}'", "client_secret={}", 'JWT_SECRET="{}"', "secret: {}", "django_secret_key = '{}'", '"signing_key": "{}"'],
    ),
    "token_assigned": (
        lambda r: _of(r, r.choice([HEX, ALNUM, LOWER + DIGITS]), r.choice([20, 32, 40])),
        ["token = '{}'", "ACCESS_TOKEN={}", '"refresh_token": "{}"', "auth_token: {}", "CI_JOB_TOKEN={}", 'bot_token = "{}"'],
    ),
    "aws_secret_key": (lambda r: _of(r, B64, 40), ["aws_secret_access_key = {}", "AWS_SECRET_ACCESS_KEY={}", '"awsSecretKey": "{}"']),
}
# In sentences and commands: the name is further away, or only the form identifies the secret.
SAID = {
    "curl_password": (
        _password,
        [
            "curl -u bob:{} https://api.example.org/v1/items",
            "curl -sS --user 'deploy:{}' https://example.org",
            "curl https://example.org/x -u svc_user:{}",
        ],
    ),
    "session_cookie": (
        lambda r: _of(r, r.choice([HEX, LOWER + DIGITS, ALNUM]), 31) + r.choice(DIGITS),
        [
            "Cookie: sessionid={}",
            "Cookie: theme=dark; PHPSESSID={}; lang=en",
            "curl -b x --cookie 'auth_token={}' https://example.org",
            "Set-Cookie: connect.sid={}; Path=/",
        ],
    ),
    "passphrase_said": (
        lambda r: "-".join(r.choices(["correct", "horse", "battery", "staple", "orbit", "velvet", "lantern"], k=r.randint(3, 5))),
        [
            "pw for the build box: {}",
            "Password for staging: {}",
            "the passphrase of the signing machine is {}",
            "passwd for the old mirror = {}",
        ],
    ),
    "password_said": (
        lambda r: _of(r, LOWER, r.randint(5, 8)) + _of(r, DIGITS, 3) + r.choice("!#%&*") + _of(r, UPPER, 2),
        ["pw for the build box: {}", "The password of the test account is {}", "password for db 3 is {}"],
    ),
    "key_said": (
        lambda r: _of(r, HEX, 31) + r.choice("abcdef"),
        [
            "the api secret of the mirror is {}",
            "API key for the weather service: {}",
            "The token for CI is {}",
            "access token of the bot = {}",
        ],
    ),
    "login_said": (
        lambda r: r.choice(["admin", "letmein", "hunter", "qwerty"]) + _of(r, DIGITS, r.randint(2, 4)) + r.choice(["", "!", "#"]),
        ["the login is admin/{}", "Login for the demo: guest/{}", "credentials are root:{}", "creds for the printer: service/{}"],
    ),
    "npm_auth": (
        lambda r: base64.b64encode(f"{_of(r, LOWER, 6)}:{_password(r)}".encode()).decode(),
        ["_auth={}", "//registry.example.org/:_auth={}", '_auth = "{}"', '{{"auths": {{"hub.example.org": {{"auth": "{}"}}}}}}'],
    ),
    "kube_key": (
        lambda r: base64.b64encode(_pem(r).encode()).decode(),
        ["client-key-data: {}", "    client-key-data: {}\n    client-certificate-data: LS0t", "export DEPLOY_KEY={}", "key: '{}'"],
    ),
    "password_element": (
        _password,
        ["<password>{}</password>", "<server><username>bot</username><password>{}</password></server>", "<db:password> {} </db:password>"],
    ),
    "netrc": (
        _password,
        [
            "machine git.example.org login bot password {}",
            "machine git.example.org\n  login bot\n  password {}",
            "default login bot password {}",
        ],
    ),
    "password_joined": (
        lambda r: _of(r, ALNUM, r.randint(6, 16)),
        ["mysql -u root -p{}", "mysqldump -h db1 -u root -p'{}' shop", "mariadb -uroot -p{} -e 'select 1'"],
    ),
    "password_flag": (
        _password,
        [
            "tool --password {}",
            "createuser --db-password '{}' bob",
            'deploy.sh --user bob --password "{}" --dry-run',
            "docker login -u bob -p {}",
            "sshpass -p {} ssh bob@10.0.0.1",
            "redis-cli -h cache1 -a {} ping",
        ],
    ),
    "token_flag": (
        lambda r: _of(r, r.choice([HEX, ALNUM]), r.choice([20, 32, 40])),
        ["vercel deploy --token {}", "tool --api-key {}", "tool --client-secret '{}' login"],
    ),
    "wallet_key": (
        lambda r: "0x" + _of(r, HEX, 64),
        ["PRIVATE_KEY={}", "the deployer's private key is {}", "cast send --private-key {}", 'accounts: ["{}"]', "key {}"],
    ),
    "openai_key_in_order": (
        lambda r: "sk-proj-" + LOWER + DIGITS + UPPER[: r.randint(8, 20)] + _of(r, LOWER, 3),
        ["API key for docs: {}", "openai uses {}", "key {}"],
    ),
}
AROUND = [
    "Use {} to reach the staging system.",
    "The deployment failed until I set {} in the pipeline.",
    "{}",
    "curl -H 'X-Auth: {}' https://api.example.org/v1/items",
    "export KEY={}",
    "config.yaml has the line\n  value: {}\nwhich must not be committed",
    "log: request refused for {} (403)",
    "# note\n- first step\n- paste {} when asked\n",
    'client = Client("{}")',
]
WORDS = [
    "request",
    "handler",
    "session",
    "manager",
    "factory",
    "builder",
    "proxy",
    "abstract",
    "default",
    "service",
    "provider",
    "context",
    "resolver",
    "adapter",
    "registry",
    "pipeline",
    "validator",
    "serializer",
    "middleware",
    "transaction",
    "repository",
    "controller",
    "dispatcher",
    "scheduler",
    "executor",
    "configuration",
    "authentication",
]


def secrets(seed: int = 1, each: int = 40) -> Iterator[Sample]:
    """Yield samples with one secret each."""
    rng = random.Random(seed)
    for kind, make in SECRETS.items():
        for _ in range(each):
            secret = make(rng)
            text = rng.choice(AROUND).format(secret)
            hidden = secret.split("AccountKey=")[1].split(";")[0] if kind == "azure_key" else secret
            if kind in ("connection_string", "basic_auth_url"):
                hidden = secret.split("://")[1].partition(":")[2].partition("@")[0]
            if kind == "bearer":
                hidden = secret.rpartition(" ")[2]
            yield Sample(text, hidden, kind)
    for kind, (make, templates) in (ASSIGNED | SAID).items():
        for _ in range(each):
            secret = make(rng)
            line = rng.choice(templates).format(secret)
            yield Sample(
                rng.choice(["{}", "In production: {}", "settings.py\n{}\nDEBUG = False", "I found `{}` in the old script."]).format(line),
                secret,
                kind,
            )


def _camel(rng: random.Random) -> str:
    return "".join(rng.choice(WORDS).title() for _ in range(rng.randint(3, 7)))


def _public(rng: random.Random) -> str:
    return "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ" + _of(rng, B64, 340) + " me@laptop".replace("me@laptop", "build host")


def _image(rng: random.Random) -> str:
    return "data:image/png;base64,iVBORw0KGgo" + _of(rng, B64, rng.choice([60, 300, 1200])) + "=="


HARMLESS = {
    "sha256": lambda r: hashlib.sha256(str(r.random()).encode()).hexdigest(),
    "sha1_commit": lambda r: "commit " + hashlib.sha1(str(r.random()).encode()).hexdigest(),
    "md5": lambda r: hashlib.md5(str(r.random()).encode()).hexdigest(),
    "short_commit": lambda r: hashlib.sha1(str(r.random()).encode()).hexdigest()[: r.choice([7, 10, 12])],
    "uuid": lambda r: str(uuid.UUID(int=r.getrandbits(128), version=4)),
    "image": _image,
    "raw_image": lambda r: r.choice(["iVBORw0KGgo", "/9j/4AAQSkZJRg", "R0lGODlh"]) + _of(r, B64, 200),
    "npm_integrity": lambda r: '"integrity": "sha512-' + _of(r, B64, 86) + '=="',
    "go_sum": lambda r: f"golang.org/x/net v0.{r.randrange(40)}.0 h1:" + _of(r, B64, 43) + "=",
    "docker_digest": lambda r: "python@sha256:" + hashlib.sha256(str(r.random()).encode()).hexdigest(),
    "pip_hash": lambda r: "--hash=sha256:" + hashlib.sha256(str(r.random()).encode()).hexdigest(),
    "ssh_public_key": _public,
    "certificate": lambda r: "-----BEGIN CERTIFICATE-----\nMII" + _of(r, B64, 61) + "\n" + _of(r, B64, 64) + "\n-----END CERTIFICATE-----",
    "camel_name": _camel,
    "snake_name": lambda r: "_".join(r.choice(WORDS) for _ in range(r.randint(3, 8))),
    "constant_name": lambda r: "_".join(r.choice(WORDS) for _ in range(r.randint(3, 6))).upper() + "_V2",
    "java_name": lambda r: "org.springframework." + ".".join(r.choice(WORDS) for _ in range(3)) + "." + _camel(r),
    "test_name": lambda r: "test_" + "_".join(r.choice(WORDS) for _ in range(5)) + f"_{r.randrange(999)}",
    "path": lambda r: "/usr/lib/python3.11/" + "/".join(r.choice(WORDS) + r.choice(["", "2", "_v3"]) for _ in range(5)) + ".py",
    "url": lambda r: (
        "https://docs.example.org/en/5.2/" + "/".join(r.choice(WORDS) for _ in range(3)) + f"?page={r.randrange(99)}#L{r.randrange(999)}"
    ),
    "version": lambda r: f"graphmem-{r.randrange(9)}.{r.randrange(20)}.0-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "timestamp": lambda r: f"2026-0{r.randint(1, 9)}-1{r.randrange(9)}T0{r.randrange(9)}:15:22.{r.randrange(10**6):06d}+00:00",
    "number": lambda r: _of(r, DIGITS, 28),
    "transaction": lambda r: r.choice(["tx ", "block hash ", "root ", "", "sha256 ", "event topic "]) + "0x" + _of(r, HEX, 64),
    "kube_certificate": lambda r: (
        "client-certificate-data: " + base64.b64encode(("-----BEGIN CERTIFICATE-----\nMII" + _of(r, B64, 600)).encode()).decode()
    ),
    "user_of_an_address": lambda r: r.choice(
        [
            "https://deploy{n}@git.example.org/team/repo.git",
            "git+ssh://git@github.com/team/repo{n}.git",
            "ssh://hg@example.org/repo{n}",
            "git@github.com:team/repo{n}.git",
            "pip install git+ssh://git@example.org/team/repo@v1.{n}",
            "svn+ssh://svn@svn.example.org/r{n}",
        ]
    ).format(n=r.randrange(99)),
    "arn": lambda r: f"arn:aws:iam::{_of(r, DIGITS, 12)}:role/{_camel(r)}",
    "css_class": lambda r: "-".join(r.choice(WORDS) for _ in range(4)) + f"--{r.randrange(99)}xl",
    "environment": lambda r: r.choice(
        [
            "password = os.environ['DB_PASSWORD']",
            "token = config.get_token(user)",
            "api_key=settings.API_KEY",
            "secret: str = field(repr=False)",
            "PASSWORD=${DB_PASSWORD}",
            "token: {{ secrets.GITHUB_TOKEN }}",
            "password = getpass.getpass()",
            "API_KEY=<your-api-key>",
            "api_key = 'xxxxxxxxxxxx'",
            "password: ********",
            'client_secret = "changeme"',
            "auth_token = None",
            "def check(password: str, token: Optional[str] = None) -> bool:",
            "self.token = token",
            "secret_key = self.secret_key or default",
        ]
    ),
    "sentence": lambda r: r.choice(
        [
            "The token is refreshed by the middleware before every request.",
            "Never log the password; the session manager hides it.",
            "The secret: keep handlers small.",
            "An API key is needed for the weather service, ask the platform team.",
            "Password reset e-mails go through the queue.",
            "token = one lexical unit, as the parser sees it",
            "Access tokens expire after 15 minutes; refresh tokens after 30 days.",
            "Credentials are read from the vault at start.",
            "The private key is kept in the hardware module and never leaves it.",
            "Set the token: see docs/deployment.md.",
            "password: required",
            "The passphrase is asked for once per session.",
            "Basic auth is switched off, bearer tokens only.",
            "sk-learn is imported lazily; scikit-learn-contrib-packages are optional.",
        ]
    ),
    "said": lambda r: r.choice(
        [
            "curl -u $USER:$TOKEN https://api.example.org/v{n}",
            "curl -u user:password https://example.org/{n}",
            'curl --user "${{NAME}}:${{PASSWORD}}" https://example.org/{n}',
            "docker run -u 1000:10{n} image",
            "curl https://example.org:84{n}/health?u=1 -o out{n}.json",
            "Cookie: sessionid=<the session's id, {n} characters>",
            "The cookie sessionid=$SESSION_{n} is set by the middleware",
            "A cookie lives {n} days; the session id is kept in Redis",
            "document.cookie.split('; ').find(row => row.startsWith('token{n}='))",
            "pw for the build box: see-the-vault",
            "password for staging: ask-the-platform-team, room {n}",
            "The password of the test account is rotated every {n} days",
            "the password for the box is at-least-{n}-characters long",
            "The token of the request is checked in middleware/auth{n}.py",
            "the token for the parser is T_STRING_{n}",
            "The secret of the release is in vault/team-{n}",
            "the secret for JWT is settings.JWT_SECRET_{n}",
            "API key for docs: sk-learn-contrib-something-or-other-{n}",
            "API key for the demo: <your-key-{n}>",
            "the access key of the table is customer_{n}",
            "the login is handled by views/login{n}.py",
            "The login is in app/auth{n}.tsx",
            "login: /api/v{n}/session",
            "credentials are read from env/prod{n}.env",
            "Credentials: vault/{n}, see docs/secrets.md",
            "the login is OAuth/OIDC, {n} minutes",
            "mysql -h db{n} -P 33{n} -u root -p shop",
            "mysqldump -u root -p${{MYSQL_PASSWORD}} shop > dump{n}.sql",
            "docker login -u bob --password-stdin < token{n}.txt",
            "docker run -p 80{n}:80 mysql",
            "pass --password to be asked {n} times",
            "tool --password $PASSWORD --retries {n}",
            'tool --token "${{TOKEN}}" --retries {n}',
            "tool --token-file /run/secrets/token{n}",
            "tool --private-key ~/.ssh/id_ed25519_{n}",
            "tool --secret /run/secrets/key{n}",
            "<password>${{env.MAVEN_PASSWORD_{n}}}</password>",
            "<token>identifier</token><line>{n}</line>",
            "self._auth = build_auth_handler(limit={n})",
            "auth: required, {n} attempts",
            "auth = HTTPBasicAuth(user{n}, token)",
            "the login and password fields of form {n}",
            "machine learning needs a login at step {n}",
        ]
    ).format(n=r.randint(10, 99)),
}
CALM = ["{}", "See {} for details.", "It broke at {} yesterday.", "- {}\n- and others", "Fixed in {}.", "value = {}"]


def harmless(seed: int = 2, each: int = 60) -> Iterator[Sample]:
    """Yield samples without a secret."""
    rng = random.Random(seed)
    for kind, make in HARMLESS.items():
        for _ in range(each):
            yield Sample(rng.choice(CALM).format(make(rng)), "", kind)


def source_lines(seed: int = 3, count: int = 2_000) -> Iterator[Sample]:
    """Yield four lines of networkx or the standard library each.

    These packages contain no secrets.
    """
    rng = random.Random(seed)
    roots = [Path(networkx.__file__).parent, Path(base64.__file__).parent]
    files = [
        path
        for root in roots
        for path in sorted(root.rglob("*.py"))
        if not {"test", "tests", "site-packages", "idlelib"} & set(path.parts) and path.stat().st_size > 2_000
    ]
    while count:
        lines = rng.choice(files).read_text(encoding="utf-8", errors="replace").splitlines()
        at = rng.randrange(max(1, len(lines) - 4))
        text = "\n".join(lines[at : at + 4])
        if text.strip() and "@" not in text:  # addresses of authors are personal data; finding them is correct
            count -= 1
            yield Sample(text, "", "source")


def is_found(sample: Sample, cleaned: str) -> bool:
    """Whether no twelve consecutive characters of a secret are left."""
    secret = sample.secret
    return secret not in cleaned and not any(secret[i : i + 12] in cleaned for i in range(len(secret) - 11))


def measure(found: Callable[[Sample], bool], reported: Callable[[Sample], bool], seed: int, each: int) -> dict[str, Any]:
    """Return recall, false alarm rate, and the errors of both by kind."""
    positives = list(secrets(seed, each))
    negatives = [*harmless(seed + 1, each), *source_lines(seed + 2)]
    began = time.process_time()
    missed = Counter(sample.kind for sample in positives if not found(sample))
    false = Counter(sample.kind for sample in negatives if reported(sample))
    seconds = time.process_time() - began
    characters = sum(len(sample.text) for sample in [*positives, *negatives])
    return {
        "secrets": len(positives),
        "harmless": len(negatives),
        "recall": 1 - missed.total() / len(positives),
        "false_alarms": false.total() / len(negatives),
        "missed": dict(sorted(missed.items())),
        "false": dict(sorted(false.items())),
        "megabytes_a_cpu_second": characters / 1e6 / seconds,
    }


def main() -> int:
    """Measure and publish."""
    import report

    parser = report.parser(__doc__)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--each", type=int, default=40, help="texts of each kind")
    arguments = parser.parse_args()
    row = measure(
        lambda sample: is_found(sample, redact(sample.text)[0]), lambda sample: bool(redact(sample.text)[1]), arguments.seed, arguments.each
    )
    report.table(
        ["secrets", "recall", "harmless", "false alarms", "MB a CPU second"],
        [[row["secrets"], row["recall"], row["harmless"], row["false_alarms"], row["megabytes_a_cpu_second"]]],
    )
    report.publish("redaction", {"seed": arguments.seed, **row}, arguments.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
