"""Compile a language's table of terms to a function for each node type.

A term is an expression as the parser stores it: a tuple that begins with an operator. The function converts a syntax node to a term.
"""

from __future__ import annotations

from graphmem.errors import GrammarError
from graphmem.parsing.languages import Helper
from graphmem.parsing.syntax import Syntax
from graphmem.parsing.term_operators import OPERATORS, by_helper
from graphmem.parsing.terms import Build, TermTable


def compiled_terms(syntax: Syntax, helper: Helper) -> TermTable:
    """Compile `[terms]` of a language to one function for each node type.

    A function converts a syntax node to a term: a tuple that begins with an operator, such as `call`.

    Raises:
        GrammarError: the table names an unknown operator or node type.
    """
    builds: dict[int, Build] = {}
    names: set[int] = set()
    for node_type, entry in syntax.spec.terms.items():
        ids = syntax.kind_ids(node_type)
        operator = entry.get("op", "")
        make = OPERATORS.get(operator)
        if (make is None and operator != "helper") or not ids:
            origin = f"grammars/{syntax.spec.name}/language.toml"
            reason = f"unknown operator {operator!r}" if ids else "the grammar has no such node"
            raise GrammarError(
                f"the entry {node_type} in the table [terms] of {origin} is invalid: {reason}; correct the entry", path=origin, line=0
            )
        builds.update(dict.fromkeys(ids, make(syntax, entry) if make is not None else by_helper(helper, entry)))
        if operator == "name":
            names.update(ids)
    return TermTable(builds, frozenset(names))
