"""The term table of a grammar, compiled: which function makes a term of which node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from graphmem.errors import GrammarError
from graphmem.parsing.term_operators import OPERATORS, Build

if TYPE_CHECKING:
    from graphmem.parsing.grammar import Grammar

_compiled: dict[str, dict[int, Build]] = {}
_names: dict[str, frozenset[int]] = {}


def compiled_terms(grammar: Grammar) -> Mapping[int, Build]:
    """The term table of a grammar as one function for each node id; compiled once.

    Raises:
        GrammarError: the table names an operator or a node type that does not exist.
    """
    found = _compiled.get(grammar.spec.name)
    if found is None:
        found = {}
        names: set[int] = set()
        for node_type, entry in grammar.spec.terms.items():
            ids = grammar.kind_ids(node_type)
            operator = str(entry.get("op", ""))
            make = OPERATORS.get(operator)
            if make is None or not ids:
                origin = f"grammars/{grammar.spec.name}/language.toml"
                reason = f"unknown operator {operator!r}" if ids else "the grammar has no such node"
                raise GrammarError(f"{origin}: [terms] {node_type}: {reason}", path=origin, line=0)
            found.update(dict.fromkeys(ids, make(grammar, entry)))
            if operator == "name":
                names.update(ids)
        _compiled[grammar.spec.name] = found
        _names[grammar.spec.name] = frozenset(names)
    return found


def plain_names(grammar: Grammar) -> frozenset[int]:
    """Ids of the nodes that are a plain name."""
    compiled_terms(grammar)
    return _names[grammar.spec.name]
