"""Facts of Python source, and its expressions as text for comparisons."""

from __future__ import annotations

import textwrap

from graphmem.parsing import facts as f
from graphmem.parsing.extract import extract


def read(text, path="pkg/mod.py"):
    return extract(path, textwrap.dedent(text).encode(), "python", "hash")


def spell(facts, index):
    """A term as text, for golden comparisons."""
    if index < 0:
        return "-"
    term = facts.terms[index]
    op, rest = term[0], term[1:]

    def one(i):
        return spell(facts, i)

    def many(items):
        return ", ".join(map(one, items))

    spellings = {
        f.NAME: lambda: rest[0],
        f.ATTR: lambda: f"{one(rest[0])}.{rest[1]}",
        f.CALL: lambda: f"{one(rest[0])}({', '.join([*map(one, rest[1]), *(f'{k}={one(v)}' for k, v in rest[2])])})",
        f.INDEX: lambda: f"{one(rest[0])}[{one(rest[1])}]",
        f.STRING: lambda: repr(rest[0]),
        f.LITERAL: lambda: f"<{rest[0]}>",
        f.LIST: lambda: f"[{many(rest[0])}]",
        f.TUPLE: lambda: f"({many(rest[0])})",
        f.SET: lambda: f"{{{many(rest[0])}}}",
        f.DICT: lambda: "{" + ", ".join(f"{one(k)}: {one(v)}" for k, v in zip(*rest, strict=True)) + "}",
        f.EITHER: lambda: f"either({many(rest[0])})",
        f.AWAIT: lambda: f"await {one(rest[0])}",
        f.ITER: lambda: f"each({one(rest[0])})",
        f.ENTER: lambda: f"enter({one(rest[0])})",
        f.UNPACK: lambda: f"unpack({one(rest[0])}, {rest[1]})",
        f.LAMBDA: lambda: f"lambda: {one(rest[0])}",
        f.COMPREHENSION: lambda: f"{rest[0]} of {one(rest[1])}",
        f.OPERATOR: lambda: f"({one(rest[1])} {rest[0]} {one(rest[2])})",
        f.SPREAD: lambda: f"*{one(rest[0])}",
        f.UNKNOWN: lambda: "?",
    }
    return spellings[op]()


def value(expression):
    facts = read(f"x = {expression}\n")
    return spell(facts, facts.bindings[0].value)
