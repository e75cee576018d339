"""Find contracts that schema files declare, such as GraphQL fields.

The files are Protocol Buffers, OpenAPI and GraphQL.

A contract is a name on which two programs agree, such as the HTTP route `GET /users` or a message topic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from graphmem.parsing.contracts import paths
from graphmem.parsing.contracts.end import Kind, Role
from graphmem.runtime.texts.lines import lines_of

SchemaEnd = tuple[Role, Kind, str, int, int, str, str, str]

_PACKAGE: Final = re.compile(r"^\s*package\s+([\w.]+)\s*;", re.MULTILINE)
_SERVICE: Final = re.compile(r"^\s*service\s+(\w+)\s*\{", re.MULTILINE)
_RPC: Final = re.compile(r"\brpc\s+(\w+)\s*\(\s*(?:stream\s+)?([\w.]+)\s*\)\s*returns\s*\(\s*(?:stream\s+)?([\w.]+)\s*\)")
_MESSAGE: Final = re.compile(r"^\s*(message|enum)\s+(\w+)\s*\{", re.MULTILINE)
_FIELD: Final = re.compile(r"(?:^|;)\s*(?:(?:optional|required|repeated)\s+)?(map\s*<[^>]*>|[\w.]+)\s+(\w+)\s*=\s*(\d+)", re.MULTILINE)
_TYPE: Final = re.compile(r"^\s*(?:extend\s+)?(type|interface|input|enum)\s+(\w+)[^{\n]*\{", re.MULTILINE)
_GQL_FIELD: Final = re.compile(r"^\s*(\w+)\s*(?:\([^)]*\))?\s*:\s*([\w\[\]!]+)", re.MULTILINE)
_OPENAPI: Final = re.compile(r"[\"']?(?:openapi|swagger)[\"']?\s*:\s*[\"']?[23]\.")
_VERBS: Final = ("get", "post", "put", "patch", "delete", "head", "options")


def schema_ends(path: str, source: bytes) -> Iterator[SchemaEnd]:
    """Yield a tuple for each contract that a schema file declares.

    A schema is a file of Protocol Buffers, GraphQL or OpenAPI. Each tuple has the fields of `End` (a place in code that offers or uses a
    contract). Other files yield nothing.
    """
    suffix = path.rpartition(".")[2].lower()
    if suffix == "proto":
        yield from _proto(source.decode("utf-8", "replace"))
    elif suffix in ("graphql", "graphqls", "gql"):
        yield from _graphql(source.decode("utf-8", "replace"))
    elif suffix in ("yaml", "yml", "json"):
        head = source[:4_000].decode("utf-8", "replace")
        if _OPENAPI.search(head):
            yield from _openapi(source.decode("utf-8", "replace"), suffix)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _block(text: str, at: int) -> int:
    depth = 0
    for position in range(at, len(text)):
        depth += (text[position] == "{") - (text[position] == "}")
        if not depth and text[position] == "}":
            return position
    return len(text)


def _bare(text: str) -> str:
    """Replace the comments in a schema by spaces, keeping the line numbers."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL)


def _proto(text: str) -> Iterator[SchemaEnd]:
    text = _bare(text)
    package = _PACKAGE.search(text)
    prefix = f"{package[1]}." if package else ""
    for service in _SERVICE.finditer(text):
        for rpc in _RPC.finditer(text, service.end(), _block(text, service.end() - 1)):
            said = f"{rpc[2].rpartition('.')[2]} {rpc[3].rpartition('.')[2]}"
            yield ("declares", "grpc", f"{prefix}{service[1]}/{rpc[1]}", 0, _line(text, rpc.start()), "", said, "protobuf")
    for message in _MESSAGE.finditer(text):
        end = _block(text, message.end() - 1)
        body = text[message.end() : end]
        while "{" in body:  # fields of messages inside have rows of their own; those of a oneof belong here
            kept = re.sub(r"\boneof\s+\w+\s*\{([^{}]*)\}", r"\1", body)
            body = kept if kept != body else re.sub(r"\{[^{}]*\}", lambda match: re.sub(r"[^\n]", " ", match[0]), body)
        if message[1] == "enum":
            continue
        for field in _FIELD.finditer(body):
            line = _line(text, message.end()) + body.count("\n", 0, field.start(2))
            yield ("declares", "field", f"{prefix}{message[2]}.{field[2]}", 0, line, "", f"{field[1]} {field[3]}", "protobuf")


def _graphql(text: str) -> Iterator[SchemaEnd]:
    text = re.sub(r"#[^\n]*|\"\"\".*?\"\"\"", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.DOTALL)
    for found in _TYPE.finditer(text):
        if found[1] == "enum":
            continue
        for field in _GQL_FIELD.finditer(text, found.end(), _block(text, found.end() - 1)):
            kind: Kind = "graphql" if found[2] in ("Query", "Mutation", "Subscription") else "field"
            yield ("declares", kind, f"{found[2]}.{field[1]}", 0, _line(text, field.start(1)), "", field[2], "graphql")


def _openapi(text: str, suffix: str) -> Iterator[SchemaEnd]:
    prefix = ""
    base = re.search(r"^[\"']?basePath[\"']?\s*:\s*[\"']?(/[\w/.-]*)", text, re.MULTILINE)
    if base:
        prefix = base[1]
    if suffix == "json":
        yield from _openapi_json(text, prefix)
        return
    inside, indent, current = False, -1, ""
    for number, line in enumerate(lines_of(text), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        depth = len(line) - len(line.lstrip())
        if depth == 0:
            inside = stripped.startswith("paths:")
            indent = -1
            continue
        if not inside:
            continue
        match = re.match(r"[\"']?(/[^\"':]*(?:\{[^}]*\}[^\"':]*)*)[\"']?\s*:", stripped)
        if match and (indent < 0 or depth == indent):
            indent, current = depth, match[1]
        elif current and depth > indent and (verb := stripped.rstrip(":").lower()) in _VERBS:
            yield ("declares", "http", f"{verb.upper()} {paths.route_path(prefix + current)}", 0, number, "", "", "openapi")


def _openapi_json(text: str, prefix: str) -> Iterator[SchemaEnd]:
    try:
        found: Any = json.loads(text, parse_int=float)
    except (ValueError, RecursionError):
        return
    declared = found.get("paths") if isinstance(found, dict) else None
    for path, verbs in declared.items() if isinstance(declared, dict) else ():
        at = text.find(json.dumps(path))
        for verb in verbs if isinstance(verbs, dict) else ():
            if verb in _VERBS:
                line = _line(text, max(0, at))
                yield ("declares", "http", f"{verb.upper()} {paths.route_path(prefix + path)}", 0, line, "", "", "openapi")
