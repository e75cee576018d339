"""Validation rules for the shape of a document: how deep it nests and how many aliases it has.

Strawberry's own limiters make a new rule class for every request, which keeps its validation cache
from ever hitting, and walk a fragment again at each spread, which a hostile document can make
exponential. These are built once for a set of limits and look at each fragment once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from graphql import (
    ASTValidationRule,
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    MaxIntrospectionDepthRule,
    Node,
    OperationDefinitionNode,
    SelectionSetNode,
)

Fragments = Mapping[str, FragmentDefinitionNode]


@cache
def shape_rules(max_depth: int, max_aliases: int) -> tuple[type[ASTValidationRule], ...]:
    """The rules for these limits: the same classes for the same limits, always."""

    class DepthRule(ASTValidationRule):
        """Refuses operations nested deeper than allowed; introspection is left to graphql-core's own rule."""

        def enter_document(self, node: DocumentNode, *_args: Any) -> None:
            _check(self, node, _depth, "depth", max_depth)

    class AliasRule(ASTValidationRule):
        """Refuses operations with more aliases than allowed, those of a fragment counted at each spread."""

        def enter_document(self, node: DocumentNode, *_args: Any) -> None:
            _check(self, node, _aliases, "aliases", max_aliases)

    return (DepthRule, AliasRule, MaxIntrospectionDepthRule)


Measure = Callable[[SelectionSetNode, Callable[[str], int]], int]


def _check(rule: ASTValidationRule, document: DocumentNode, measure: Measure, limit: str, allowed: int) -> None:
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    known: dict[str, int] = {}

    def of_fragment(name: str) -> int:
        if name not in known:
            known[name] = 0  # what an endless spread adds; another rule refuses it
            fragment = fragments.get(name)
            known[name] = 0 if fragment is None else measure(fragment.selection_set, of_fragment)
        return known[name]

    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            found = measure(node.selection_set, of_fragment)
            if found > allowed:
                rule.report_error(too_much(limit, allowed, found, node))


def too_much(limit: str, allowed: int, found: int, node: Node | None = None) -> GraphQLError:
    """The refusal of a document that exceeds a limit."""
    return GraphQLError(
        f"The operation is too large: {limit} {found:,}, allowed are at most {allowed:,}; ask for less at a time",
        None if node is None else [node],
        extensions={"code": "LIMIT", "limit": limit, "allowed": allowed, "found": found},
    )


def _depth(selection: SelectionSetNode, of_fragment: Callable[[str], int]) -> int:
    deepest = 0
    for node in selection.selections:
        if isinstance(node, FieldNode):
            if node.name.value.startswith("__"):
                continue
            below = 0 if node.selection_set is None else _depth(node.selection_set, of_fragment)
            deepest = max(deepest, 1 + below)
        elif isinstance(node, InlineFragmentNode):
            deepest = max(deepest, _depth(node.selection_set, of_fragment))
        elif isinstance(node, FragmentSpreadNode):
            deepest = max(deepest, of_fragment(node.name.value))
    return deepest


def _aliases(selection: SelectionSetNode, of_fragment: Callable[[str], int]) -> int:
    count = 0
    for node in selection.selections:
        if isinstance(node, FieldNode):
            count += node.alias is not None
            if node.selection_set is not None:
                count += _aliases(node.selection_set, of_fragment)
        elif isinstance(node, InlineFragmentNode):
            count += _aliases(node.selection_set, of_fragment)
        elif isinstance(node, FragmentSpreadNode):
            count += of_fragment(node.name.value)
    return count
