"""Tell which nodes of the graph are entry points, such as tests or routes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from graphmem.model import ENTRY_RULES
from graphmem.projection.graph.arrays import SYMBOL, GraphArrays
from graphmem.projection.graph.build import text
from graphmem.runtime.arrow import computed


def entry_points(arrays: GraphArrays) -> pa.StringArray:
    """Return the kind of entry point of each node, as an Arrow column.

    The kind is "" for a node that is not an entry point.

    If a symbol is stored with a kind of entry point, this kind is returned. Otherwise the incoming edges of the symbol decide. Each edge
    has a rule, which names how its target was found. If the rule of an incoming edge is in `ENTRY_RULES`, the name of the rule is the kind.
    """
    nodes, edges, rules = arrays.nodes, arrays.edges, arrays.rules
    column = nodes.entry_point
    is_entry = np.zeros(256, np.bool_)
    is_entry[[code for code, rule in enumerate(rules) if rule in ENTRY_RULES]] = True
    rows = np.flatnonzero(is_entry[edges.rule])
    rows = rows[nodes.label[edges.dst[rows]] == SYMBOL]
    rows = rows[~nodes.is_test[edges.src[rows]] | nodes.is_test[edges.dst[rows]]]  # a registration inside a test belongs to the test
    if not len(rows):
        return column
    rule_of: dict[int, str] = {}
    for node, rule in sorted({(node, rules[rule]) for node, rule in zip(edges.dst[rows].tolist(), edges.rule[rows].tolist(), strict=True)}):
        rule_of.setdefault(node, rule)
    registered = np.fromiter(rule_of, np.int64, len(rule_of))
    # From a list: for an array Arrow loads numpy's masked arrays first, a tenth of the time of a server's first answer.
    unnamed = np.asarray(computed("equal", computed("take", column, pa.array(list(rule_of))), ""), dtype=np.bool_)
    mask = np.zeros(len(nodes.label), np.bool_)
    mask[registered[unnamed]] = True
    bits = pa.Array.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(np.packbits(mask, bitorder="little"))])
    kinds = pa.array([rule_of[node] for node in registered[unnamed].tolist()], pa.string())
    return text(computed("replace_with_mask", column, bits, kinds))
