"""Links of memories to code, to each other and to sessions.

A link is a tuple: id of the source, id of the target, then the columns in the order of `queries/schema`. The key of a link is its first two
items. If a memory may have several links to one target, the key also has the third item (role or kind).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.runtime.arrow import pc
from graphmem.store.tables.arrow_rows import checked
from graphmem.store.tables.paired_queries import FEW
from graphmem.store.tables.tables import NodeTable, Pair, RelTable
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes.write_edges import ends

Link = tuple[Any, ...]  # (src, dst, *columns)


class LinkShape(NamedTuple):
    """Description of one kind of link: its columns, its key and its queries.

    There is one object for each pair of node tables, such as memories and symbols.
    """

    pair: Pair
    columns: Mapping[str, pa.DataType]  # after the ends
    key: int  # number of leading values that make the key
    create_one: str
    create_many: str
    drop_one: str
    drop_many: str
    fills: Mapping[str, Any]


def _about(label: NodeTable) -> LinkShape:
    columns = {"role": pa.string(), "confidence": pa.float64(), "body_hash": pa.string(), "commit_sha": pa.string(), "anchor": pa.string()}
    pair = Pair(RelTable.ABOUT, NodeTable.MEMORY, label)
    return LinkShape(pair, columns, 3, "create_about", "create_abouts", "delete_about", "delete_abouts", {"to": label})


ABOUT: Final = {label: _about(label) for label in (NodeTable.SYMBOL, NodeTable.FILE, NodeTable.EXTERNAL, NodeTable.MODULE)}
RELATES: Final = LinkShape(
    Pair(RelTable.RELATES, NodeTable.MEMORY, NodeTable.MEMORY),
    {"kind": pa.string(), "confidence": pa.float64(), "auto": pa.bool_()},
    3,
    "create_relation",
    "create_relations",
    "delete_relation",
    "delete_relations",
    {},
)
_LEARNT_PAIR: Final = Pair(RelTable.LEARNT_IN, NodeTable.MEMORY, NodeTable.SESSION)
LEARNT: Final = LinkShape(
    _LEARNT_PAIR,
    {"message_from": pa.int64(), "message_to": pa.int64()},
    2,
    "create_learnt",
    "create_learnts",
    "delete_edge",
    "delete_edges",
    {},
)
OUTWARD: Final = (*ABOUT.values(), RELATES, LEARNT)  # all links that start at a memory


def key_of(shape: LinkShape, link: Link) -> Link:
    """Return the key of a link: its ends, and if needed its role or kind.

    The role or kind is needed if a memory may have several links to one target.
    """
    return link[: shape.key]


def stored_links(transaction: Transaction, shape: LinkShape, ids: Collection[str], *, inward: bool = False) -> list[Link]:
    """Return the stored links of one kind that begin at given memories.

    `ids` are the ids of the memories. If `inward` is true, the links that end at the nodes `ids` are returned instead.
    """
    if not ids:
        return []
    if len(ids) <= FEW:
        query = "memory_edges_in" if inward else "memory_edges"
        answers = transaction.each_rows(query, ends(shape.pair), [{"id": one} for one in sorted(ids)])
        return [tuple(row) for rows in answers for row in rows]
    table = transaction.arrow("dump_edges", **ends(shape.pair))
    return links_of_table(table.filter(pc.is_in(table.column(1 if inward else 0), pa.array(sorted(ids), pa.string()))))


def links_of_table(table: pa.Table) -> list[Link]:
    """Convert an Arrow table of links to tuples, in the order of its rows."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def write_links(transaction: Transaction, shape: LinkShape, stored: Iterable[Link], wanted: Iterable[Link]) -> None:
    """Replace `stored` links by `wanted` links; links in both stay unchanged.

    Raises:
        BadInputError: an end is missing.
    """
    old, new = set(stored), set(wanted)
    drop_links(transaction, shape, sorted(old - new, key=lambda link: key_of(shape, link)))
    create_links(transaction, shape, sorted(new - old, key=lambda link: key_of(shape, link)))


def drop_links(transaction: Transaction, shape: LinkShape, links: Sequence[Link]) -> None:
    """Delete links of memories; each stored link is found by its key.

    See `key_of` for the key.
    """
    if not links:
        return
    fills = ends(shape.pair) if shape.drop_one == "delete_edge" else shape.fills
    names = ("src", "dst", *shape.columns)[: shape.key]
    if len(links) <= FEW:
        transaction.each(shape.drop_one, fills, [dict(zip(names, link, strict=False)) for link in links])
        return
    columns = zip(*(key_of(shape, link) for link in links), strict=True)
    # A column of the rows must not have the name of a property. Otherwise the engine compares the property with itself.
    renamed = [name if name in ("src", "dst") else f"of_{name}" for name in names]
    transaction.run(
        shape.drop_many, **fills, rows=pa.table({name: pa.array(some, pa.string()) for name, some in zip(renamed, columns, strict=True)})
    )


def create_links(transaction: Transaction, shape: LinkShape, links: Sequence[Link]) -> None:
    """Create links between nodes that exist or that the same change writes.

    Raises:
        BadInputError: an end is missing, or a value does not fit its column.
    """
    if not links:
        return
    names = ("src", "dst", *shape.columns)
    if len(links) <= FEW:
        answers = transaction.each(shape.create_one, shape.fills, [dict(zip(names, link, strict=True)) for link in links])
        missing, others = next((link for link, answer in zip(links, answers, strict=True) if answer != [1]), None), ""
    else:
        types = (pa.string(), pa.string(), *shape.columns.values())
        columns = zip(names, types, zip(*links, strict=True), strict=True)
        rows = pa.table({name: checked(shape.pair.edge, name, pa.array, some, type_) for name, type_, some in columns})
        missing = None if transaction.run(shape.create_many, **shape.fills, rows=rows).rows == [[len(links)]] else links[0]
        others = f" or another of the {len(links):,} links to {shape.pair.dst}"
    if missing is not None:
        raise BadInputError(
            f"the link {shape.pair.edge} {missing[0]} -> {missing[1]}{others} has an end that is "
            "neither in the change nor in the graph; write the missing node with the change",
            argument=str(shape.pair.edge).lower(),
        )
