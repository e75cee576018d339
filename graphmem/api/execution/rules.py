"""Validation rules that limit depth and aliases of GraphQL documents.

Strawberry's own limiters make a new rule class for every request, so Strawberry's cache of validations is never used. Strawberry's limiters
visit a fragment again at each use, which takes exponential time for a hostile document. The rules in this module are built once for a set
of limits, and visit each fragment once.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

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


@cache
def shape_rules(max_depth: int, max_aliases: int) -> tuple[type[ASTValidationRule], ...]:
    """Return GraphQL validation rules that limit depth and aliases.

    Equal limits give the same classes, so that validation can be cached.
    """

    class DepthRule(ASTValidationRule):
        """Refuses operations that are nested too deeply.

        Fields of introspection do not count, because graphql-core has its own rule for them.
        """

        def enter_document(self, node: DocumentNode, *_args: object) -> None:
            _check(self, node, _depth, "depth", max_depth)

    class AliasRule(ASTValidationRule):
        """Refuses operations with too many aliases.

        An alias in a fragment counts once for each use of the fragment.
        """

        def enter_document(self, node: DocumentNode, *_args: object) -> None:
            _check(self, node, _aliases, "aliases", max_aliases)

    return (DepthRule, AliasRule, MaxIntrospectionDepthRule)


Measure = Callable[[SelectionSetNode, Callable[[str], int]], int]


def _check(rule: ASTValidationRule, document: DocumentNode, measure: Measure, limit: str, allowed: int) -> None:
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    known: dict[str, int] = {}

    def of_fragment(name: str) -> int:
        if name not in known:
            known[name] = 0  # a recursive fragment; another rule refuses it
            fragment = fragments.get(name)
            known[name] = 0 if fragment is None else measure(fragment.selection_set, of_fragment)
        return known[name]

    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode):
            found = measure(node.selection_set, of_fragment)
            if found > allowed:
                rule.report_error(too_much(limit, allowed, found, node))


def too_much(limit: str, allowed: int, found: int, node: Node | None = None) -> GraphQLError:
    """Return the error for a document that exceeds a limit.

    Args:
        limit: name of the limit, such as depth.
        allowed: the highest allowed number.
        found: the number in the document.
        node: the part of the document to which the error refers, if known.
    """
    return GraphQLError(
        f"The operation is too large: its {limit} is {found:,}, and at most {allowed:,} is allowed; ask for less at a time",
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
