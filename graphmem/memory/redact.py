"""Secrets and personal data leave a text before it is stored, logged or embedded: `[REDACTED:kind]` takes their place.

A table of shapes that issuers publish, then assignments to names that mean a secret, then a measure of randomness for what has no
shape. The order is that of precision: the earlier rule names the kind. Nothing here looks at a network or a file.

detect-secrets (Apache-2.0, offline) was tried for this: it reads a tenth as much in the same time, judges whole lines of files, and takes
hashes and identifiers for secrets. The rules below are measured by `benchmarks/redaction.py`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

ENTROPY_BITS: Final = 4.0  # a character, above which a string of no known shape is looked at
ENTROPY_LENGTH: Final = 20  # and longer than this
_TRANSITIONS: Final = 0.38  # share of neighbours of another class (lower, upper, digit): words have fewer, random text has 0.62
_MOSTLY: Final = 0.5  # share of a content's characters that makes it a secret with words around
_LEFT: Final = 12  # letters and digits without which nothing is worth keeping


class Found(NamedTuple):
    """A secret's place in a text; never its value."""

    kind: str
    start: int
    end: int


class Shape(NamedTuple):
    """One kind of secret by the form its issuer gives it."""

    kind: str
    pattern: str  # the part to take out is the group `v`, else all of it
    needs: tuple[str, ...]  # one of these, in lower case, is in every text the pattern fits
    near: str = ""  # and where one stands this fits the text in lower case: a looser form of the pattern, from there on
    personal: bool = False  # personal data: taken out, and no reason to refuse the rest


_NOT_BEFORE: Final = r"(?<![A-Za-z0-9_\-+/])"
_QUOTE: Final = r"[\"'`]"
# A value that stands for one: a variable, a call, a placeholder, a type.
_STAND_IN: Final = re.compile(
    r"""(?ix) ^ (?: [<\[{(%$*.] .* | .* [)}>\]] | x{3,} .* | \*+ | .* \.\.\. | …
        | (?:your|my|the|an?|some|changeme|change[-_ ]me|example|placeholder|dummy|todo|none|null|nil|true|false|undefined|redacted
          |secret|password|passwd|str|string|bytes|int|bool|optional|any|required|missing|empty|invalid|expired|prompt|input|env|hidden|masked)
          (?:[-_.:,;] .*)? | os\.environ.* | process\.env.* | settings\..* | config\..* | self\..* | [A-Za-z_][\w.]*\(.* ) $"""
)

_NO_PASSWORD: Final = re.compile(r"(?i)(?:\*+|x+|\.\.\.|pass(?:word|wd)?|pwd|secret|token|\[REDACTED.*)\Z")

SHAPES: Final[tuple[Shape, ...]] = (
    Shape(
        "private_key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|\Z)",
        ("-----begin",),
    ),
    # The looser form begins at the beginning of a word, too: "eyjeyjeyj…" would be read to its end again from each of them.
    Shape(
        "jwt",
        _NOT_BEFORE + r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
        ("eyj",),
        r"(?<![a-z0-9_\-+/])eyj[a-z0-9_-]{8,}\.",
    ),
    Shape("anthropic_key", r"\bsk-ant-[A-Za-z0-9_-]{20,}", ("sk-ant-",)),
    Shape("openai_key", r"\bsk-(?:proj-|svcacct-|admin-|or-v1-)?[A-Za-z0-9_-]{20,}", ("sk-",), r"\bsk-[a-z0-9_-]{20}"),
    Shape("aws_access_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b", ("akia", "asia", "abia", "acca"), r"\b....[a-z2-7]{16}"),
    Shape(
        "aws_secret_key",
        r"(?i:aws.{0,20}?(?:secret|key).{0,20}?[\"'=: ]{1,3})(?P<v1>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        ("aws",),
        r"aws.{0,20}?(?:secret|key)",
    ),
    Shape(
        "github_token",
        r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
    ),
    Shape(
        "gitlab_token",
        r"\bgl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas)-[A-Za-z0-9_-]{20,}",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glsoat-", "glagent-", "gloas-"),
    ),
    Shape("slack_token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}", ("xox", "xapp-"), r"\bx(?:ox[abeoprs]|app)-"),
    Shape("slack_webhook", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{20,}", ("hooks.slack.com/",)),
    Shape("discord_webhook", r"https://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w-]{20,}", ("/api/webhooks/",)),
    Shape("google_key", r"\bAIza[A-Za-z0-9_-]{35}", ("aiza",), r"\baiza[a-z0-9_-]{35}"),
    Shape("google_oauth", r"\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}", ("ya29.", "gocspx-")),
    Shape(
        "stripe_key", r"\b(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,}", ("sk_", "rk_", "whsec_"), r"\b(?:sk|rk|whsec)_[a-z0-9_]{16}"
    ),
    Shape("twilio_key", r"\bSK[0-9a-f]{32}\b", ("sk",), r"\bsk[0-9a-f]{32}\b"),
    Shape("sendgrid_key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", ("sg.",), r"\bsg\.[a-z0-9_-]{16}"),
    Shape("npm_token", r"\bnpm_[A-Za-z0-9]{36}", ("npm_",), r"\bnpm_[a-z0-9]{36}"),
    Shape("pypi_token", r"\bpypi-[A-Za-z0-9_-]{50,}", ("pypi-",), r"\bpypi-[a-z0-9_-]{50}"),
    Shape("huggingface_token", r"\bhf_[A-Za-z]{30,}", ("hf_",), r"\bhf_[a-z]{30}"),
    Shape("azure_key", r"(?i:AccountKey|SharedAccessKey)=(?P<v2>[A-Za-z0-9+/]{40,}={0,2})", ("accountkey=", "sharedaccesskey=")),
    Shape("digitalocean_token", r"\bdo[por]_v1_[0-9a-f]{64}", ("dop_v1_", "doo_v1_", "dor_v1_")),
    Shape("databricks_token", r"\bdapi[0-9a-f]{32}", ("dapi",), r"\bdapi[0-9a-f]{32}"),
    Shape("vault_token", r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}", ("hvs.", "hvb.", "hvr."), r"\bhv.\.[a-z0-9_-]{20}"),
    Shape("shopify_token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}", ("shpat_", "shpca_", "shppa_", "shpss_")),
    Shape("mailgun_key", r"\bkey-[0-9a-f]{32}\b", ("key-",), r"\bkey-[0-9a-f]{32}"),
    Shape("telegram_token", r"\b\d{8,10}:AA[A-Za-z0-9_-]{33}", (":aa",), r":aa[a-z0-9_-]{33}"),
    Shape("age_key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{58}", ("age-secret-key-1",)),
    Shape(
        "connection_string",
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s:/@\"'<>{}$]{0,100}:(?P<v3>[^\s/@\"'<>{}$][^\s@\"'<>{}]{0,200})@(?=[\w\[])",
        ("://",),
        r"://[^\s:/@]{0,100}:[^\s/@]{1,201}@",
    ),
    Shape(
        "bearer_token",
        r"(?i:\b(?:authorization|proxy-authorization)[\"']?\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+)(?P<v4>[A-Za-z0-9_\-.+/=]{8,})",
        ("authorization",),
    ),
    Shape("bearer_token", r"\b[Bb]earer\s+(?P<v5>(?=[A-Za-z_.-]*\d)[A-Za-z0-9_\-.]{20,}=*)", ("bearer",), r"bearer\s+[a-z0-9_\-.]{20}"),
    Shape(
        "assigned_secret",
        r"(?i:(?<![A-Za-z])(?:[A-Za-z0-9]+[_.-])*(?:pg|db|mysql|smtp|ldap|root|admin|user)?(?:pass(?:word|wd|phrase)?|pwd|secret|api[_-]?key|apikey|access[_-]?key|auth[_-]?key|private[_-]?key|signing[_-]?key"
        r"|encryption[_-]?key|client[_-]?secret|secret[_-]?key|token|credentials?|auth[_-]?token|access[_-]?token|refresh[_-]?token)"
        rf"(?:[_-]?(?:key|token|value|prod|dev|base64|id_rsa))?{_QUOTE}?\s*(?:=|:=|:|=>|\bis\b)\s*)"
        rf"(?:(?P<q>{_QUOTE})(?P<v6>[^\"'`\n]{{4,200}})(?P=q)|(?P<v7>[^\s\"'`,;<>\[\]{{}}()]{{6,200}}))",
        ("pass", "pwd", "secret", "key", "token", "credential"),
        rf"[a-z]+(?:[_-]?(?:key|token|value|prod|dev|base64|id_rsa))?{_QUOTE}?\s*(?:=|:|is\b)",
    ),
    Shape(
        "basic_auth",
        rf"(?i:\bcurl\b[^\n|;]{{0,200}}?\s(?:-u\s*|--(?:proxy-)?user[\s=]+)){_QUOTE}?[^\s:\"'`$<{{]{{1,100}}:(?P<v8>[^\s\"'`]{{4,200}})",
        ("curl",),
        r"curl\b[^\n|;]{0,200}?\s-",
    ),
    Shape(
        "session_cookie",
        r"(?i:\bcookies?\b[^\n]{0,200}?(?<![\w.-])[\w.-]{0,30}(?:sess|sid|auth|token|remember|jwt)[\w.-]{0,30}=)(?P<v9>[^\s;,\"'`]{12,400})",
        ("cookie",),
        r"cookies?\b[^\n]{0,200}?=",
    ),
    # What is said in a sentence: "the api secret of the mirror is …", "pw for the build box: …", "the login is name/password".
    Shape(
        "assigned_secret",
        rf"(?i:(?<![A-Za-z])(?P<n10>pass(?:word|wd|phrase|code)?|pwd?|(?:(?:api|access|secret|auth|private|signing)[ _-]?)?(?:secret|token)"
        rf"|(?:api|access|secret|auth|private|signing)[ _-]?key)"
        rf"\s+(?:for|of|to|on|at)\s+(?:[\w.'’-]{{1,40}}\s+){{0,6}}?[\w.'’-]{{1,40}}\s*(?:=|:|\bis\b)\s*){_QUOTE}?"
        r"(?P<v10>[^\s\"'`,;<>\[\]{}()]{8,200})",
        ("pass", "pw", "secret", "key", "token"),
        r"(?:\w*|key|secret|token)\s+(?:for|of|to|on|at)\s[^\n]{1,300}?(?:=|:|\bis\b)",
    ),
    Shape(
        "assigned_secret",
        rf"(?i:(?<![A-Za-z])(?:logins?|log-in|credentials?|creds)\s+(?:(?:for|of|to|on|at)\s+(?:[\w.'’-]{{1,40}}\s+){{0,6}}?[\w.'’-]{{1,40}}\s*)?"
        rf"(?:is|are|:|=)\s*){_QUOTE}?[\w.@-]{{2,40}}\s?[/:]\s?(?P<v11>[^\s\"'`,;/:()]{{5,100}})",
        ("login", "log-in", "cred"),
        r"\w+",
    ),
    Shape(
        "email",
        r"\b[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}\b",
        ("@",),
        r"(?<=[a-z0-9._%+-])@[a-z0-9-]",
        personal=True,
    ),
)
PERSONAL: Final = frozenset(shape.kind for shape in SHAPES if shape.personal)

_KIND_OF: Final = {f"s{i}": shape.kind for i, shape in enumerate(SHAPES)}
_VALUES: Final = ("v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11")
# What is looked for first: a text, the place of its shape, and what has to fit where it stands.
_NEEDS: Final = tuple((need, i, re.compile(shape.near) if shape.near else None) for i, shape in enumerate(SHAPES) for need in shape.needs)
# A name that may mean a secret: only then the text under it is judged as an assignment.
_SECRET_NAME: Final = re.compile(
    r"(?i)pass|pwd|secret|api.?key|access.?key|auth.?key|private.?key|signing.?key|encryption.?key|token|credential"
)
# Names in a sentence are no assignment: "the token is refreshed", "password: see the vault".
_PLAIN_WORD: Final = re.compile(r"[A-Za-z][a-z]*(?:[-_./'’][A-Za-z]?[a-z]*)*[.,;:!?]*\Z|[A-Z][A-Z_]*[.,;:!?]*\Z")
# Words with hyphens that may follow the name of a password, and are none: "password for the box: see-the-vault".
_NO_PASSPHRASE: Final = re.compile(
    r"(?i)(?:see|ask|at|in|from|same|not|no|never|stored|kept|read|set|rotated|valid|only|min|max|minimum|per|to|by|one|user|team|self|auto|well)-"
)
_HYPHENED: Final = re.compile(r"[a-z]{2,}(?:-[a-z]{2,}){2,}(?:-?\d+)?\Z")
_PASSWORD_SIGNS: Final = re.compile(r"(?=.*[A-Za-z])(?=.*[\d!#$%&*?@^+])")
_FILE_NAME: Final = re.compile(r".*\.[A-Za-z]{1,5}\Z")
_ISSUED: Final = re.compile(r"sk-(?:proj|svcacct|admin)-(?=[A-Za-z_]*\d)(?=[a-z\d_-]*[A-Z])[A-Za-z0-9_]{32}")
_RANDOM: Final = re.compile(rf"[A-Za-z0-9+/_\-=]{{{ENTROPY_LENGTH + 1},}}")
# What is random and no secret: embedded images and fonts, public keys, checksums, certificates.
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
    """Secrets and personal data in a text, by place, without overlaps."""
    found = list(_shaped(text))
    for match in _RANDOM.finditer(text):
        if not any(one.start < match.end() and match.start() < one.end for one in found):
            found += _random(text, match)
    return sorted(found, key=lambda one: one.start)


def redact(text: str) -> tuple[str, list[str]]:
    """The text without its secrets, and their kinds, one for each place."""
    found = find(text)
    if not found:
        return text, []
    parts, at = [], 0
    for one in found:
        parts += [text[at : one.start], f"[REDACTED:{one.kind}]"]
        at = one.end
    return "".join([*parts, text[at:]]), [one.kind for one in found]


def redact_all(value: Any, kinds: list[str]) -> Any:
    """The same for every string inside mappings and sequences; kinds are appended. Numbers and keys stay."""
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
    """True when little is left of a text without its secrets; personal data do not count."""
    secret = [one for one in found if one.kind not in PERSONAL]
    if not secret:
        return False
    taken = sum(one.end - one.start for one in secret)
    outside = "".join(
        text[a:b] for a, b in zip([0, *(one.end for one in secret)], [*(one.start for one in secret), len(text)], strict=True)
    )
    return taken > _MOSTLY * sum(not sign.isspace() for sign in text) or sum(map(str.isalnum, outside)) < _LEFT


def entropy(text: str) -> float:
    """Shannon entropy of the characters, in bits a character."""
    n = len(text)
    return -sum(count / n * math.log2(count / n) for count in Counter(text).values()) if n else 0.0


def _under(key: Any, value: Any, kinds: list[str]) -> Any:
    """A value under a key that means a secret (`{"password": "…"}`) is judged as an assignment."""
    if isinstance(key, str) and isinstance(value, str) and len(value) < _BASE64_RUN:
        lead = f"{key}: "
        for one in _shaped(lead + value) if _SECRET_NAME.search(key) else ():
            if one.kind == "assigned_secret" and one.start >= len(lead):
                kinds.append(one.kind)
                return "[REDACTED:assigned_secret]"
    return redact_all(value, kinds)


def _possible(text: str) -> tuple[int, ...]:
    """Which shapes could fit somewhere. Most texts are done after this look, at a few per cent of what the patterns cost."""
    lower = text.lower()
    found: dict[int, None] = {}
    for need, i, near in _NEEDS:
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
def _patterns_of(shapes: tuple[int, ...]) -> re.Pattern[str]:
    """Those shapes as one pattern: the earlier one wins where two begin."""
    return re.compile("|".join(f"(?P<s{i}>{SHAPES[i].pattern})" for i in shapes))


def _shaped(text: str) -> Iterator[Found]:
    shapes = _possible(text)
    if not shapes:
        return
    for match in _patterns_of(shapes).finditer(text):
        groups = match.groupdict()
        kind = (
            _KIND_OF[match.lastgroup or ""]
            if match.lastgroup in _KIND_OF
            else next(kind for name, kind in _KIND_OF.items() if groups.get(name) is not None)
        )
        group = next((name for name in _VALUES if groups.get(name) is not None), None)
        start, end = match.span(group) if group else match.span()
        value = text[start:end]
        if kind == "assigned_secret":
            if group != "v6":
                value = value.rstrip(".,;:!?")
                end = start + len(value)
            if group == "v10":
                if not _is_said(value, after=groups["n10"]):
                    continue
            elif group == "v11":
                if _STAND_IN.match(value) or _FILE_NAME.match(value) or not _PASSWORD_SIGNS.match(value):
                    continue
            elif not _is_value(value, quoted=group == "v6"):
                continue
        elif kind in ("basic_auth", "session_cookie"):
            if _STAND_IN.match(value) or (kind == "session_cookie" and not any(map(str.isdigit, value))):
                continue
        elif kind == "connection_string" and _NO_PASSWORD.match(value):
            continue
        elif kind == "openai_key" and not _ISSUED.match(value) and not _is_random(value[3:], bits=3.2):
            continue  # sk-learn-contrib-something
        yield Found(kind, start, end)


def _is_value(value: str, *, quoted: bool) -> bool:
    """True for what a person would type as a password, False for what stands for one."""
    if len(value) < (4 if quoted else 6) or _STAND_IN.match(value):
        return False
    if quoted and " " in value:
        return sum(word[:1].isalpha() for word in value.split()) < 3 and any(sign.isdigit() for sign in value)
    return (quoted and not re.fullmatch(r"[a-z_]+|[A-Z_]+", value)) or (
        _PLAIN_WORD.match(value) is None and not re.fullmatch(r"[\d.,:%]+[a-zA-Z]*", value)
    )


def _is_said(value: str, *, after: str) -> bool:
    """True for what stands behind the name of a secret in a sentence and no sentence has: letters with digits, or words with hyphens."""
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


def _random(text: str, match: re.Match[str]) -> Iterator[Found]:
    """The part of a long run without spaces that no person wrote, if there is one."""
    run = match.group()
    if len(run) > _BASE64_RUN or _PUBLIC_START.match(run):
        return
    found = list(_random_parts(run, match.start()))  # before the look back, which costs more and is seldom needed
    if found and not _PUBLIC_BEFORE.search(text, max(0, match.start() - 4000), match.start()):
        yield from found


def _random_parts(run: str, at: int) -> Iterator[Found]:
    for run_ in re.finditer(r"[^=]+", run):
        # A key may have slashes in it, a path has nothing else: first as a whole, then by its parts.
        whole = run_.group()
        parts = [run_] if _is_random(whole, bits=ENTROPY_BITS) else re.finditer(r"[^/]+", whole)
        for part in parts:
            if len(part.group()) > ENTROPY_LENGTH and _is_random(part.group(), bits=ENTROPY_BITS):
                start = at + part.start() + (0 if part is run_ else run_.start())
                yield Found("high_entropy", start, start + len(part.group()))


def _is_random(text: str, *, bits: float) -> bool:
    """True when the characters tell nothing of each other: high entropy, and classes that alternate as only chance makes them."""
    if entropy(text) <= bits:
        return False
    classes = [0 if sign.islower() else 1 if sign.isupper() else 2 if sign.isdigit() else -1 for sign in text]
    pairs = [(a, b) for a, b in pairwise(classes) if a >= 0 and b >= 0]
    return len(pairs) > 8 and sum(a != b for a, b in pairs) >= _TRANSITIONS * len(pairs) and len({*classes} - {-1}) > 1
