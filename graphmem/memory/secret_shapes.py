"""Shapes of secrets: the forms in which issuers publish them, and the ways in which people and files write them down.

The order is that of precision: the earlier shape names the kind. `memory.redact` reads the table.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Shape(NamedTuple):
    """One kind of secret by the form its issuer gives it."""

    kind: str
    pattern: str  # the part to take out is the group `v`, else all of it
    needs: tuple[str, ...]  # one of these, in lower case, is in every text the pattern fits
    near: str = ""  # and where one stands this fits the text in lower case: a looser form of the pattern, from there on
    personal: bool = False  # personal data: taken out, and no reason to refuse the rest


_NOT_BEFORE: Final = r"(?<![A-Za-z0-9_\-+/])"
_QUOTE: Final = r"[\"'`]"

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
        rf"(?:(?P<q>{_QUOTE})(?P<v6>[^\"'`\n]{{4,200}})(?P=q)|(?P<v7>[^\s\"'`,;<>\[\]{{}}()]{{6,4096}}))",
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
    # What configuration files and command lines say without the name of a secret beside an equals sign.
    Shape(
        "private_key",  # in base64, as kube configurations and CI variables have it
        r"(?P<v12>LS0tLS1CRUdJTi[A-Za-z0-9+/_-]{20,}(?:\s{1,20}[A-Za-z0-9+/_-]{40,})*={0,2})",
        ("ls0tls1crudjti",),
    ),
    Shape(
        "assigned_secret",  # `_auth` of .npmrc, `auth` of a Docker configuration: name and password in base64
        rf"(?i:(?<![A-Za-z0-9])_?auth{_QUOTE}?\s*[=:]\s*{_QUOTE}?)(?P<v13>[A-Za-z0-9+/_-]{{8,}}={{0,2}})(?![\w.(])",
        ("auth",),
        r"auth[\"'`]?\s*[=:]",
    ),
    Shape(
        "assigned_secret",
        r"(?i:<(?:[\w.-]{1,40}:)?(?P<n14>[\w.-]{0,40}?(?:pass(?:word|wd|phrase)?|pwd|secret|(?:api|access|secret|private|signing|shared)[_-]?key"
        r"|(?:auth|access|refresh|api|private)?[_-]?token|client[_-]?secret))(?:\s[^<>]{0,200})?>)\s*(?P<v14>[^<>\s][^<>\n]{2,400}?)\s*</",
        ("<",),
        r"<[\w.:-]{0,60}(?:pass|pwd|secret|key|token)[\w-]*[\s>]",
    ),
    Shape(
        "netrc_password",
        r"(?i:(?P<n15>\bmachine\s+\S{1,200}\s+)?\blogin\s+\S{1,200}\s+(?:account\s+\S{1,200}\s+)?password\s+)(?P<v15>\S{2,200})",
        ("login",),
        r"login\s+\S{1,200}\s+(?:account\s+\S{1,200}\s+)?password\s",
    ),
    Shape(
        "command_password",  # joined to its flag: mysql -pSECRET
        rf"\b(?:mysql|mariadb)[\w-]{{0,20}}\b[^\n|;]{{0,300}}?\s-p{_QUOTE}?(?P<v16>[^\s\"'`|;<>]{{1,200}})",
        ("mysql", "mariadb"),
        r"(?:mysql|mariadb)[\w-]{0,20}\b[^\n|;]{0,300}?\s-p\S",
    ),
    Shape(
        "command_password",  # behind a flag of one letter, of commands in which it means a password
        rf"\b(?:(?:sshpass|(?:docker|podman|helm\s+registry|oras|az|oc)\s+login|mongo(?:sh|dump|restore|import|export)?|7za?)\b[^\n|;]{{0,300}}?\s-p"
        rf"|redis-cli\b[^\n|;]{{0,300}}?\s-a|ldap(?:search|add|modify|passwd|whoami)\b[^\n|;]{{0,300}}?\s-w)\s*{_QUOTE}?(?P<v17>[^\s\"'`|;<>]{{3,200}})",
        ("sshpass", "login", "mongo", "7z", "redis-cli", "ldap"),
        r"(?:sshpass|login|mongo\w*|7za?|redis-cli|ldap\w+)\b[^\n|;]{0,300}?\s-[paw]",
    ),
    Shape(
        "command_password",
        r"(?i:(?<![\w-])--?(?:[a-z0-9]{1,20}[_-]){0,3}(?P<n18>pass(?:word|wd|phrase)?|pwd|secret|(?:api|access|secret|auth|private|signing|account|encryption)[_-]?key"
        r"|apikey|token))[ \t]+(?:(?P<q18>[\"'])(?P<v18>[^\"'\n]{3,200})(?P=q18)|(?P<v19>[^\s\"'`|;<>()\[\]{}]{3,400}))",
        ("-pass", "-pwd", "-secret", "key", "-token"),
        r"(?:-pass\w*|-pwd|-secret[\w-]*|key|-token)[ \t]",
    ),
    Shape(
        "private_key", r"(?<![0-9A-Za-z])(?P<v20>0x[0-9a-fA-F]{64})(?![0-9A-Za-z])", ("0x",), r"0x[0-9a-f]{64}(?![0-9a-z])"
    ),  # of a wallet
    Shape(
        "email",
        # not the user of an address (`https://me@host`, `git@github.com:me/it`), which nobody writes to
        r"(?<![A-Za-z0-9._%+-])(?<!//)(?!(?:git|hg|svn)@)(?P<v21>[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24})\b",
        ("@",),
        r"(?<=[a-z0-9._%+-])@[a-z0-9-]",
        personal=True,
    ),
)
PERSONAL: Final = frozenset(shape.kind for shape in SHAPES if shape.personal)
