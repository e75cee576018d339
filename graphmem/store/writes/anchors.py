"""Update links from memories to code when the code moves or changes.

The anchor of a link is a word that says whether the linked code still exists unchanged. Every write of memories or code sets anchors as
follows:

| the code a link leads to | anchor |
|---|---|
| is gone, or is named and not indexed yet | orphaned |
| has another body than when the memory was written | suspect |
| was moved and still has that body | moved |
| else | valid |

Only symbols have a body. A link written without a body hash is never suspect.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import pyarrow as pa

from graphmem.knowledge import Anchor
from graphmem.model import GraphDelta
from graphmem.store.tables.tables import KNOWLEDGE_PAIRS, NodeTable, Pair, RelTable
from graphmem.store.tables.transaction import Transaction
from graphmem.store.writes.knowledge_edges import ABOUT, Link, links_of_table, stored_links, write_links
from graphmem.store.writes.write_edges import ends

BODY_HASH: Final = 4  # positions in an ABOUT link: memory, target, role, confidence, body_hash, commit_sha, anchor
ANCHOR: Final = 6
ANCHORED: Final = (NodeTable.SYMBOL, NodeTable.FILE, NodeTable.EXTERNAL)  # labels that an index run may change under a link
_CREATES: Final = {
    RelTable.ABOUT: "create_abouts",
    RelTable.CO_ACCESSED: "create_co_accessed",
    RelTable.SEEN_IN: "create_seen_in",
    RelTable.OWNS: "create_owns",
}


class State(NamedTuple):
    """Whether a file, symbol or package exists after a change of the code.

    The state of a symbol also has the hash of its body.
    """

    gone: bool
    body_hash: str = ""  # of symbols


GONE: Final = State(True)


def judged(link: Link, state: State, *, moved: bool = False) -> Link:
    """Return a link from a memory to code, with its state updated.

    The state, called anchor, says whether the linked code still exists unchanged.

    Args:
        link: (memory, target, role, confidence, body_hash, commit_sha, anchor).
        state: current state of the link's target.
        moved: whether the link led to another node before.
    """
    if state.gone:
        anchor = Anchor.ORPHANED
    elif link[BODY_HASH] and state.body_hash and link[BODY_HASH] != state.body_hash:
        anchor = Anchor.SUSPECT
    elif moved or link[ANCHOR] == Anchor.MOVED:
        anchor = Anchor.MOVED
    else:
        anchor = Anchor.VALID
    return (*link[:ANCHOR], str(anchor))


def states(delta: GraphDelta) -> dict[str, State]:
    """Map the id of each node in a code change to its state: gone or present.

    The nodes are symbols, files and externals (names defined outside the project). A removed node is gone; a new or changed node is
    present.
    """
    found = dict.fromkeys((*delta.removed_symbols, *delta.removed_files, *delta.removed_externals), GONE)
    found.update((row.id, State(False, row.body_hash)) for row in delta.symbols)
    found.update((row.id, State(False)) for rows in (delta.files, delta.externals) for row in rows)
    return found


def real_moves(delta: GraphDelta, now: Mapping[str, State]) -> dict[str, str]:
    """Map the old ids to the new ids of code that was moved or renamed.

    Links of memories follow these moves. `now` is the result of `states` for `delta`. A move in `delta.moves` counts only if the new node
    exists and the old node is gone.
    """
    return {old: new for old, new in delta.moves if new in now and not now[new].gone and now.get(old, GONE).gone}


def follow(links: Iterable[Link], pair: Pair, moves: Mapping[str, str], now: Mapping[str, State]) -> tuple[list[Link], list[Link]]:
    """Update links from memories to code after a change of the code.

    If an end of a link has moved, the link gets the new id. A link to code also gets its new state, such as "suspect". A moved link is
    dropped if it duplicates another link. Two links are duplicates if they have the same ends. Links to code must also have the same role,
    such as "about" or "impacts".

    Args:
        links: all stored links of one table.
        pair: the link table, with the node tables that its links join.
        moves: maps the old id of each moved node to the new id.
        now: maps ids of changed nodes to their states after the change.

    Returns:
        Two lists: the links that keep both ends, and the links with a new end.
    """
    stays: list[Link] = []
    comes: list[Link] = []
    for link in links:
        src, dst = moves.get(link[0], link[0]), moves.get(link[1], link[1])
        moved = (src, dst) != link[:2]
        if pair.edge is RelTable.ABOUT and dst in now:
            link = judged((src, dst, *link[2:]), now[dst], moved=moved)
        (comes if moved else stays).append((src, dst, *link[2:]))
    size = 3 if pair.edge is RelTable.ABOUT else 2
    seen = {link[:size] for link in stays}
    fresh = []
    for link in sorted(comes, key=lambda link: tuple(map(str, link))):
        if link[:size] not in seen:
            seen.add(link[:size])
            fresh.append(link)
    return stays, fresh


class Following:
    """Updates links of memories when the linked code moves.

    Create the object before the change is written. Call `finish` after all nodes are written.

    Args:
        transaction: an open transaction, in which nothing was changed yet.
        delta: the change of the code.

    Attributes:
        changed: whether a link was moved or an anchor changed.
    """

    def __init__(self, transaction: Transaction, delta: GraphDelta) -> None:
        self.changed = False
        self._transaction = transaction
        self._linked_ids: dict[NodeTable, set[str]] = {}
        self._now: Mapping[str, State] = {}
        self._moves: Mapping[str, str] = {}
        self._carried: list[tuple[Pair, pa.Schema, list[Link]]] = []
        if not transaction.run("knowledge_count").rows[0][0]:
            return
        self._now = states(delta)
        self._linked_ids = {label: _linked_ids(transaction, label) for label in ANCHORED}
        known = set().union(*self._linked_ids.values())
        self._moves = {old: new for old, new in real_moves(delta, self._now).items() if old in known}
        if self._moves:
            self._carry()

    def held(self, label: NodeTable) -> set[str]:
        """Return ids of nodes that must be kept, because memories link to them.

        `label` is the kind of node, such as File. A node whose code moved to another id is left out, because its links move to the other
        node.
        """
        return self._linked_ids.get(label, set()) - self._moves.keys()

    def _carry(self) -> None:
        """Record which memories link to nodes that will get another id.

        Call this before the old nodes are deleted, because their links are deleted with them.
        """
        for pair in KNOWLEDGE_PAIRS:
            if pair.src in ANCHORED or pair.dst in ANCHORED:
                table = self._transaction.arrow("dump_edges", **ends(pair))
                _, moved = follow(links_of_table(table), pair, self._moves, self._now)
                if moved:
                    names = [name.rpartition(".")[2] for name in table.column_names]
                    self._carried.append((pair, pa.schema(zip(names, table.schema.types, strict=True)), moved))

    def finish(self) -> None:
        """Write moved links and new link states; call after nodes are written."""
        for pair, schema, links in self._carried:
            fills: dict[str, Any] = {} if pair.edge is RelTable.CO_ACCESSED else {"to": pair.dst}
            columns = zip(schema, zip(*links, strict=True), strict=True)
            rows = pa.table({field.name: pa.array(some, field.type) for field, some in columns})
            self._transaction.run(_CREATES[pair.edge], **fills, rows=rows)
            self.changed = True
        for label in ANCHORED:
            touched = self._linked_ids.get(label, set()) & self._now.keys()
            stored = stored_links(self._transaction, ABOUT[label], touched, inward=True)
            wanted = [judged(link, self._now[link[1]]) for link in stored]
            if wanted != stored:
                write_links(self._transaction, ABOUT[label], stored, wanted)
                self.changed = True


def _linked_ids(transaction: Transaction, label: NodeTable) -> set[str]:
    """Return ids of nodes of one kind, such as File, to which memories link.

    Files at either end of a co-access edge (between files that change together) are included.
    """
    found: set[str] = set()
    for pair in KNOWLEDGE_PAIRS:
        if pair.dst is label:
            found.update(transaction.arrow("known_code", **ends(pair))["id"].to_pylist())
        if pair.src is label:
            found.update(transaction.arrow("known_code_from", **ends(pair))["id"].to_pylist())
    return found
