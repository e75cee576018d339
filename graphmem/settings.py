"""Settings of graphmem; each value has its origin, such as a file.

Later sources override earlier ones: defaults, `[tool.graphmem]` in the project's pyproject.toml, the project's graphmem.toml, `GRAPHMEM_*`
variables, command line. Nothing is read at import. An interface, such as the command line, reads the settings once. Other packages receive
a `Settings` and never read files or the environment.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from graphmem.errors import SettingsError

ENV_PREFIX: Final = "GRAPHMEM_"
PROJECT_FILE: Final = "graphmem.toml"
DEFAULT_ORIGIN: Final = "default"

# A file in a repository must not contain secrets. It also must not choose where texts and keys are sent, who may connect,
# or which code is loaded.
_NOT_IN_FILES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "token": "would be committed",
        "projects": "would let a repository choose what your server answers for",
        "server": "would let a repository choose who receives your questions",
        "server_token": "would be committed",
        "site": "would let a repository choose where logins of your server end",
        "oidc_issuer": "would let a repository choose who may enter your server",
        "oidc_client": "would let a repository choose who may enter your server",
        "oidc_secret": "would be committed",
        "follow": "would switch off your index runs",
        "store": "would let a repository choose who receives your code",
        "sync_url": "would let a repository choose who receives your memories",
        "sync_person": "would let a repository choose in whose name you write",
        "model_key": "would be committed",
        "model_url": "would let a repository choose who reads your texts",
        "embedder_key": "would be committed",
        "embedder_url": "would let a repository choose who reads your texts",
        "memory_key_file": "would let a repository choose the key of your memories",
        "memory_key_command": "would let a repository run a program",
        "model": "would let a repository choose what is loaded into the server",
        "reranker": "would let a repository choose what is loaded into the server",
        "reranker_key": "would be committed",
        "reranker_url": "would let a repository choose who reads your texts",
        "host": "would let a repository open your machine to the network",
        "hosts": "would let a repository choose the host names of your server",
        "sites": "would let a repository choose which pages may use your server",
        "insecure_behind_proxy": "would let a repository open your machine to the network",
        "tls_cert": "would let a repository choose your server's certificate",
        "tls_key": "would let a repository choose your server's certificate",
        "cypher": "would let a repository enable a disabled interface",
    }
)
_OUTSIDE: Final = "would let a repository write to a directory outside of it"
_SECRET: Final = frozenset({"token", "server_token", "oidc_secret", "store", "sync_url", "model_key", "embedder_key", "reranker_key"})


LEAST_BODY_KB: Final = 1_024
"""Least value of `limits.body_kb`: hooks and clients send requests of up to this size."""


def _setting(default: object, doc: str, *, low: int | None = None, high: int | None = None, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"doc": doc, "low": low, "high": high, "choices": choices})


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a request to the server; the error names the exceeded limit."""

    depth: int = _setting(12, "maximum nesting of a GraphQL query", low=1, high=100)
    complexity: int = _setting(120_000, "maximum number of objects in the answer to a GraphQL query", low=1, high=10_000_000)
    aliases: int = _setting(30, "maximum number of aliases in a GraphQL query", low=0, high=10_000)
    tokens: int = _setting(4_000, "maximum number of tokens in a GraphQL query", low=10, high=1_000_000)
    body_kb: int = _setting(1_024, "maximum size of a request's body, KiB", low=LEAST_BODY_KB, high=1_048_576)
    seconds: int = _setting(30, "maximum time for one request, seconds", low=1, high=3_600)
    cypher_rows: int = _setting(1_000, "maximum number of rows in the answer to a Cypher query", low=1, high=1_000_000)
    cypher_seconds: int = _setting(5, "maximum time for one Cypher query, seconds", low=1, high=600)
    connections: int = _setting(
        512, "maximum number of simultaneous connections; fewer when the process may open few files", low=16, high=100_000
    )
    connections_per_address: int = _setting(256, "maximum number of simultaneous connections from one address", low=4, high=100_000)
    header_kb: int = _setting(32, "maximum size of a request's headers, KiB", low=4, high=1_024)
    header_seconds: int = _setting(10, "maximum time for TLS and for a request's headers, seconds", low=1, high=600)
    body_seconds: int = _setting(
        30, "maximum time to receive a request's body, seconds; one second more for each 16 KiB", low=1, high=3_600
    )
    write_seconds: int = _setting(30, "maximum time in which a client must receive 64 KiB of an answer, seconds", low=1, high=3_600)
    idle_seconds: int = _setting(30, "maximum time between two requests on one connection, seconds", low=1, high=3_600)
    per_minute: int = _setting(
        0, "maximum number of requests per minute from one address, except to /health and /ready; 0: unlimited", low=0, high=10_000_000
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings, made by `load_settings` or directly in Python."""

    db: str = _setting("", "directory of the index; empty: .graphmem in the project")
    home: bool = _setting(False, "keep the index under the user's data directory instead of in the project")
    store: str = _setting("", "PostgreSQL database that holds the graph: postgresql://host/name; empty: a file in the index directory")
    follow: bool = _setting(False, "only answer questions about a graph in PostgreSQL that another server writes, and follow its changes")
    projects: str = _setting("", "directory of a server of several projects, which `graphmem push` fills; empty: serve one project")
    branch_days: int = _setting(14, "days after its newest push at which a server of several projects deletes a branch", low=1, high=3_650)
    server: str = _setting("", "address of a project on a server, https://host/p/NAME, that commands ask instead of a local index")
    server_token: str = _setting("", "your token for the server in `server`; empty: the token of `graphmem login`")
    site: str = _setting(
        "", "address under which browsers reach a server of several projects, for logins: https://host; empty: the address of each request"
    )
    oidc_issuer: str = _setting("", "OpenID Connect provider for logins in the explorer of a server of several projects; empty: none")
    oidc_client: str = _setting("", "client id that the OpenID Connect provider gave the server")
    oidc_secret: str = _setting("", "client secret that the OpenID Connect provider gave the server")
    engine: str = _setting("kuzu", "graph database", choices=("kuzu", "ladybug"))
    buffer_pool_mb: int = _setting(
        256, "minimum memory for database pages, MiB; if the database file is larger, its size", low=64, high=1_048_576
    )
    max_db_gb: int = _setting(64, "maximum address space of the database, GiB; a power of two", low=1, high=8_192)
    workers: int = _setting(0, "number of processes that parse and resolve files; 0: one for each processor", low=0, high=256)
    max_file_kb: int = _setting(1_024, "files larger than this are skipped, KiB; outputs of notebooks do not count", low=1, high=1_048_576)
    include_vendored: bool = _setting(False, "index vendored, generated and minified files too")
    past_mb: int = _setting(32, "space for earlier states of the graph, which `impact --as-of` asks, MiB; 0: none", low=0, high=10_240)
    git_history: bool = _setting(True, "read the commits of the project: files that change together, how often, and by how many people")
    git_lessons: bool = _setting(True, "store explanations from commit messages of fixes as candidate memories, a few at most")
    seeds: bool = _setting(
        True, "store first memories from README, instructions for agents, manifests, decision records and CI files; such memories rank last"
    )
    embedder: str = _setting(
        "auto",
        "embedder, which converts text to vectors; openai and ollama send the texts to embedder_url",
        choices=("auto", "sentence-transformers", "hashed", "openai", "ollama", "none"),
    )
    model: str = _setting("", "name or path of a sentence-transformers model; empty: the packaged one")
    embedder_url: str = _setting("", "address of an embedding server, like https://host/v1, or http://127.0.0.1:11434 for Ollama")
    embedder_model: str = _setting("", "name of the model on the embedding server")
    embedder_key: str = _setting("", "API key of the embedding server")
    embedder_prefix: int = _setting(
        0, "leading values of a vector to use, if the named model is trained for shorter vectors; 0: all", low=0, high=8_192
    )
    embedder_seconds: int = _setting(20, "time limit of one request to the embedding server, seconds", low=1, high=600)
    reranker: str = _setting("", "name or path of a cross-encoder that ranks the best hits again; empty: none")
    reranker_url: str = _setting("", "address of a reranking server, to which /rerank is added; empty: none")
    reranker_model: str = _setting("", "name of the model on the reranking server; empty: the server has only one")
    reranker_key: str = _setting("", "API key of the reranking server")
    reranker_protocol: str = _setting(
        "documents",
        "name of the request's field for the texts: texts for Text Embeddings Inference; documents for Cohere, Jina, vLLM, "
        "Infinity and llama.cpp",
        choices=("documents", "texts"),
    )
    reranker_seconds: int = _setting(2, "time limit of one request to the reranking server, seconds", low=1, high=60)
    model_url: str = _setting("", "OpenAI-compatible address of a language model, like https://host/v1; empty: none")
    model_name: str = _setting("", "name of the language model")
    model_key: str = _setting("", "API key of the language model")
    model_seconds: int = _setting(20, "time limit of one request to the language model, seconds", low=1, high=600)
    paragraphs: bool = _setting(True, "let the language model write a paragraph about each module and flow, in the background")
    relevance: bool = _setting(True, "let the language model drop trivial items from prepared context")
    extraction: bool = _setting(True, "let the language model extract facts when a plan is approved or work is done")
    memory_limit: int = _setting(
        3_000, "memories in search, above which `graphmem memory prune` retires the least important", low=10, high=1_000_000
    )
    memory_mb: int = _setting(
        0, "size of memories in search, MiB, above which pruning retires the least important; 0: unlimited", low=0, high=10_000
    )
    memory_remove: bool = _setting(False, "delete memories 30 days after they were deprecated, instead of only hiding them from search")
    memory_key_file: str = _setting("", "file with the key that encrypts the memories on disk; with the setting, a new index is encrypted")
    memory_key_command: str = _setting("", "command that prints the key for the memories, instead of memory_key_file")
    learning: bool = _setting(True, "observe agents' sessions and learn from them; `graphmem memory auto` switches it at once")
    promotion: str = _setting(
        "balanced", "how easily findings of sessions become memories", choices=("conservative", "balanced", "aggressive")
    )
    host: str = _setting("127.0.0.1", "address of the server; other addresses than loopback need a token, and TLS or insecure_behind_proxy")
    port: int = _setting(8420, "port of the server; 0: any free port", low=0, high=65_535)
    hosts: str = _setting("", "host names of the server, separated by commas; localhost and IP addresses are always allowed")
    sites: str = _setting(
        "", "origins of web pages that may use the server, separated by commas: https://ide.example.com or vscode-webview://*"
    )
    token: str = _setting("", "token that allows clients everything; empty: no token is needed, on loopback only")
    tls_cert: str = _setting("", "file with the server's certificate and its chain (PEM); empty: no TLS")
    tls_key: str = _setting("", "file with the certificate's private key (PEM)")
    insecure_behind_proxy: bool = _setting(
        False, "serve on other addresses than loopback without TLS, because a proxy in front of the server provides TLS"
    )
    cypher: bool = _setting(False, "allow Cypher queries: read-only, for administrators")
    sync_files: str = _setting(
        "", "Markdown files besides MEMORY.md that `graphmem sync-file` may write into: paths from the root, separated by commas"
    )
    sync_url: str = _setting("", "PostgreSQL database in which a team shares memories: postgresql://host/name; empty: none")
    sync_person: str = _setting("", "your name for the team; empty: the name and address that Git knows")
    sync_team: str = _setting("", "team that sees your memories of visibility `team`, if you are in several teams of a project")
    sync_seconds: int = _setting(60, "seconds between automatic exchanges of a server with sync_url; 0: none", low=0, high=86_400)
    backup_hours: int = _setting(24, "hours between automatic backups of a server; 0: none", low=0, high=8_760)
    backup_keep: int = _setting(3, "number of automatic backups to keep", low=1, high=1_000)
    log_level: str = _setting("warning", "minimum level of log messages on stderr", choices=("debug", "info", "warning", "error"))
    log_format: str = _setting("text", "format of the log: lines of text, or one JSON object in each line", choices=("text", "json"))
    limits: Limits = field(default_factory=Limits)
    ignored: tuple[str, ...] = field(default=(), compare=False, repr=False)  # a sentence for each setting that its file must not contain
    origins: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)

    def __post_init__(self) -> None:
        for known in known_settings():
            value = self.value(known.key)
            checked = _checked(known, value, self.origin(known.key))
            if checked != value:  # "8420" for 8420: accepted from text sources only, which convert before they come here
                raise _refusal(known, value, self.origin(known.key))

    def value(self, key: str) -> Any:
        """The value of a dotted key such as `limits.depth`."""
        section, _, name = key.rpartition(".")
        return getattr(getattr(self, section) if section else self, name)

    def origin(self, key: str) -> str:
        """The origin of a setting's value, such as `default` or `GRAPHMEM_PORT`.

        Other origins are the name of a file, and a command-line option such as `--port`.
        """
        return self.origins.get(key, DEFAULT_ORIGIN)

    def shown(self, key: str) -> Any:
        """The value of a setting for display; a secret value is masked."""
        value = self.value(key)
        return "********" if key in _SECRET and value else value


class KnownSetting(NamedTuple):
    """A setting that exists: its key, type, default, bounds and description."""

    key: str  # dotted: limits.depth
    type: type
    default: Any
    doc: str
    low: int | None
    high: int | None
    choices: tuple[str, ...]

    @property
    def variable(self) -> str:
        """The setting's environment variable, such as `GRAPHMEM_LIMITS_DEPTH`."""
        return ENV_PREFIX + self.key.replace(".", "_").upper()


def known_settings() -> Iterator[KnownSetting]:
    """Yield all known settings, in the order of their declaration."""
    for section, kind in (("", Settings), ("limits.", Limits)):
        for item in dataclasses.fields(kind):
            if "doc" in item.metadata:
                meta = item.metadata
                yield KnownSetting(
                    section + item.name, type(item.default), item.default, meta["doc"], meta["low"], meta["high"], meta["choices"]
                )


def load_settings(
    project: Path | None = None, environ: Mapping[str, str] | None = None, flags: Mapping[str, object] | None = None
) -> Settings:
    """Return settings from all sources; later sources override earlier ones.

    Settings that a file in a repository must not contain are skipped and listed in `Settings.ignored`. They raise no error, because a
    cloned repository must not make graphmem unusable.

    Args:
        project: root with `pyproject.toml` and `graphmem.toml`; None reads no file.
        environ: usually `os.environ`; None reads no variables.
        flags: values from the command line by dotted key; None values are ignored.

    Raises:
        SettingsError: a key is unknown (the message names the nearest known one), a value is out of range, or a file is not TOML.
    """
    known = {item.key: item for item in known_settings()}
    values: dict[str, Any] = {}
    ignored: list[str] = []
    origins: dict[str, str] = {}

    def put(key: str, value: object, origin: str) -> None:
        values[key] = _checked(known[key], value, origin)
        origins[key] = origin

    if project is not None:
        for name, table in _file_tables(project):
            for key, value in _flat(table, known, name):
                if refused := _NOT_IN_FILES.get(key) or (key == "db" and not _is_inside(project, value) and _OUTSIDE):
                    ignored.append(f"{key} in {name} is ignored, as it {refused}; set {known[key].variable} instead")
                else:
                    put(
                        key, str((project.resolve() / value).resolve()) if key == "db" and value and isinstance(value, str) else value, name
                    )
    by_variable = {item.variable: key for key, item in known.items()}
    for variable, text in sorted((environ or {}).items()):
        if variable.startswith(ENV_PREFIX):
            if variable not in by_variable:
                raise SettingsError(_unknown(variable, by_variable), setting=variable, value="", origin="environment")  # it may be a secret
            if text:
                put(by_variable[variable], text, variable)
    for key, value in (flags or {}).items():
        if value is not None:
            put(key, value, "--" + key.replace("limits.", "limit-").replace("_", "-"))

    limits = Limits(**{key.removeprefix("limits."): value for key, value in values.items() if key.startswith("limits.")})
    top = {key: value for key, value in values.items() if "." not in key}
    return Settings(**top, limits=limits, origins=MappingProxyType(origins), ignored=tuple(ignored))


def with_setting(path: Path, key: str, value: str) -> None:
    """Write a setting with a string value to a settings file; keep the rest.

    Args:
        path: the file, which is created if missing.
        key: key of the setting, in the top-level table.
        value: one of the setting's choices.

    Raises:
        SettingsError: the file is not TOML, or cannot be written.
    """
    import tomllib

    line = f'{key} = "{value}"'
    try:
        before = path.read_text(encoding="utf-8-sig") if path.exists() else ""
        tomllib.loads(before)
        table = re.search(r"^[ \t]*\[", before, re.MULTILINE)
        top = before[: table.start()] if table is not None else before
        changed, found = re.subn(rf"^[ \t]*{re.escape(key)}[ \t]*=[^\n]*$", line, top, count=1, flags=re.MULTILINE)
        after = (changed if found else f"{line}\n{top}") + before[len(top) :]
        tomllib.loads(after)
        path.write_text(after, encoding="utf-8")
    except (ValueError, OSError, RecursionError) as reason:
        raise SettingsError(
            f"the settings file {path} cannot be changed: {reason}; write `{line}` into the file by hand",
            setting=key,
            value=value,
            origin=path.name,
        ) from reason


def _file_tables(project: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield (file name, table) of each settings file, lowest precedence first."""
    for name, where in (("pyproject.toml", ("tool", "graphmem")), (PROJECT_FILE, ())):
        path = project / name
        if not path.is_file():
            continue
        import tomllib

        try:
            table: Any = tomllib.loads(path.read_text(encoding="utf-8-sig"))  # Windows editors may write a BOM
        except (ValueError, OSError, RecursionError) as reason:  # also an integer of more digits than Python takes
            if name == "pyproject.toml":
                continue  # errors in this file are for its own tools to report
            raise SettingsError(
                f"the settings file {path} cannot be read: {reason}; correct or remove the file", setting=name, value="", origin=name
            ) from reason
        for part in where:
            table = table.get(part, {}) if isinstance(table, dict) else {}
        if isinstance(table, dict) and table:
            yield name, table


def _flat(table: Mapping[str, object], known: Mapping[str, KnownSetting], origin: str) -> Iterator[tuple[str, object]]:
    for key, value in table.items():
        pairs = (
            [(f"limits.{name}", inner) for name, inner in value.items()] if key == "limits" and isinstance(value, dict) else [(key, value)]
        )
        for dotted, inner in pairs:
            if dotted not in known:
                raise SettingsError(_unknown(dotted, known, f" in {origin}"), setting=dotted, value="", origin=origin)
            yield dotted, inner


def _is_inside(project: Path, value: object) -> bool:
    """Whether the path of an index is inside the repository `project`.

    `value` is the path from the repository's settings file. The root of the repository is not inside. A value that is empty or not a string
    gives True, because a later check handles it.
    """
    if not isinstance(value, str) or not value:
        return True
    root = project.resolve()
    try:
        path = (root / value).resolve()
    except (OSError, ValueError, RuntimeError):  # an invalid path, or circular links
        return False
    return path != root and path.is_relative_to(root)


def _checked(known: KnownSetting, value: Any, origin: str) -> Any:
    """Return the value of a setting, converted to its type and checked.

    Raises:
        SettingsError: the value has another type or is out of range.
    """
    if known.type is bool:
        words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
        meant = words.get(value.lower()) if isinstance(value, str) else value
        if not isinstance(meant, bool):
            raise _refusal(known, value, origin)
        return meant
    if known.type is int:
        if isinstance(value, str):
            try:
                value = int(value.replace("_", ""))
            except ValueError:
                raise _refusal(known, value, origin) from None
        in_range = isinstance(value, int) and not isinstance(value, bool) and (known.low or 0) <= value <= (known.high or value)
        if not in_range or (known.key == "max_db_gb" and value & (value - 1)):
            raise _refusal(known, value, origin)
        return value
    if not isinstance(value, str) or (known.choices and value not in known.choices):
        raise _refusal(known, value, origin)
    return value


def _refusal(known: KnownSetting, value: object, origin: str) -> SettingsError:
    if known.choices:
        wanted = "one of " + ", ".join(known.choices)
    elif known.type is bool:
        wanted = "true or false"
    elif known.key == "max_db_gb":
        wanted = f"a power of two from {known.low} to {known.high}"
    elif known.type is int:
        wanted = f"a whole number from {known.low} to {known.high}"
    else:
        wanted = "text"
    value = "********" if known.key in _SECRET else value
    return SettingsError(f"{known.key} from {origin} is {value!r}; it must be {wanted}", setting=known.key, value=value, origin=origin)


def _unknown(key: str, known: Mapping[str, object], where: str = "") -> str:
    from difflib import get_close_matches

    near = get_close_matches(key, list(known), n=1, cutoff=0.6)
    hint = f"did you mean {near[0]}?" if near else "`graphmem config` lists every setting"
    return f"unknown setting {key}{where}; {hint}"
