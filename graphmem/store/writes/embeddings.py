"""Store and validate vectors of texts; one table for each vector length.

The key of a vector consists of the embedding model and the hash of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import pyarrow as pa

from graphmem.errors import BadInputError
from graphmem.model import stable_id
from graphmem.runtime.arrow import computed
from graphmem.store.tables.tables import MAX_DIMENSIONS, EmbeddingTable

FEW: Final = 24  # up to this number vectors are written one by one, more by a join
DELETED: Final = 8_192  # vectors deleted in one transaction

if TYPE_CHECKING:
    from graphmem.knowledge import KnowledgeDelta
    from graphmem.store.tables.transaction import Transaction


class Vectors(NamedTuple):
    """Validated vectors of one embedding model, and the table to store them."""

    model: str
    table: EmbeddingTable
    rows: pa.Table


def checked_for(delta: KnowledgeDelta, rows: pa.Table | None) -> Vectors | None:
    """Validate `rows`, the vectors of the memories in the change `delta`.

    The memories name the embedding model. The result is None if `rows` is None or empty.

    Raises:
        BadInputError: the memories name no model or several models, or a vector is invalid (see `checked_vectors`).
    """
    if rows is None or not len(rows):
        return None
    models = sorted({row.embedding_model for row in delta.memories if row.embedding_model})
    if not models:
        raise BadInputError(
            "vectors are given, but no memory of the write has an embedding_model; set it to the model that made the vectors",
            argument="vectors",
        )
    if len(models) > 1:
        raise BadInputError(
            f"the vectors in one write are of several embedding models ({', '.join(models)}); write the vectors of each model separately",
            argument="vectors",
        )
    dim = dimension(rows)
    return Vectors(models[0], EmbeddingTable(dim), checked_vectors(models[0], dim, rows))


def checked_vectors(model: str, dim: int, rows: pa.Table) -> pa.Table:
    """Validate vectors; return rows of the Embedding table.

    The vectors are checked here, because the engine accepts a NaN silently, and notices a wrong length only at a later cast.

    Args:
        model: id of the model; vectors of different models are never compared.
        dim: number of dimensions, 1 to `MAX_DIMENSIONS`.
        rows: a table with the columns text_hash (string) and vector (fixed_size_list<float32>, `dim`).

    Raises:
        BadInputError: the shape is wrong, a hash is repeated or null, or a vector is zero or not finite.
    """
    if not model:
        raise BadInputError("the embedding model of the vectors is missing; give its id as `model`", argument="model")
    if not 1 <= dim <= MAX_DIMENSIONS:
        raise BadInputError(
            f"vectors of the embedding model {model!r} have {dim} dimensions; use vectors of 1 to {MAX_DIMENSIONS} dimensions",
            argument="dim",
        )
    if set(rows.column_names) != {"text_hash", "vector"} or rows["vector"].type != pa.list_(pa.float32(), dim):
        raise BadInputError(
            f"the rows of vectors have the schema {rows.schema}; use text_hash string and vector fixed_size_list<float32>[{dim}]",
            argument="rows",
        )
    hashes = rows["text_hash"].to_pylist()
    if None in hashes:
        raise BadInputError("a row of the vectors has no text_hash; give each row the hash of its text", argument="rows")
    if len(set(hashes)) != len(hashes):
        raise BadInputError("two rows of the vectors have the same text_hash; give each text one vector", argument="rows")
    vectors = rows["vector"].combine_chunks()
    values = vectors.flatten().to_numpy(zero_copy_only=False)
    if vectors.null_count or len(values) != len(hashes) * dim:
        raise BadInputError("the vector of a row is missing; give each text_hash a vector", argument="rows")
    shaped = values.reshape(len(hashes), dim)
    good = np.isfinite(shaped).all(axis=1) & shaped.any(axis=1)
    if not good.all():
        first = hashes[int(np.flatnonzero(~good)[0])]
        raise BadInputError(
            f"{int((~good).sum())} vectors are all zero or have NaN or infinite values, the first of them for the text_hash {first}; "
            "embed these texts again",
            argument="rows",
        )
    ids = [vector_id(model, text_hash) for text_hash in hashes]
    return pa.table({"id": pa.array(ids, pa.string()), "text_hash": rows["text_hash"], "vec": vectors})


def vector_id(model: str, text_hash: str) -> str:
    """Return the key under which a model's vector of a string is stored."""
    return stable_id("embedding", model, text_hash)


def put(transaction: Transaction, model: str, table: EmbeddingTable, rows: pa.Table, tables: Collection[EmbeddingTable]) -> None:
    """Store vectors of an embedding model in `table`.

    `table` is the table for vectors of this length. The table is created if it is not among the existing `tables`. The vectors must be
    validated. A vector that is already stored stays unchanged.
    """
    if table not in tables:
        transaction.run("create_embedding_table", table=table, dim=table.dim)
    if len(rows) > FEW:
        transaction.run("put_embeddings", table=table, model=model, rows=rows)
        return
    given = rows.to_pylist()
    there = transaction.each("has_embedding", {"table": table}, [{"id": row["id"]} for row in given])
    new = [{**row, "model": model} for row, found in zip(given, there, strict=True) if not found]
    transaction.each("create_embedding", {"table": table}, new)


def of_model(read: Callable[[EmbeddingTable], Iterable[pa.Table]], tables: list[EmbeddingTable], model: str) -> pa.Table:
    """Return the vectors of one model, sorted by text_hash.

    `tables` are the existing tables of vectors, and `read` yields the rows of such a table in pieces. The columns of the result are
    text_hash and vector. If the model has no vectors, the result has no rows, and the type of its vector column is a vector of length 1.
    """
    for table in tables:
        mine = [_of(model, rows) for rows in read(table)]
        found = pa.concat_tables(mine).rename_columns(["text_hash", "vector"])
        if len(found):
            schema = vector_schema(table.dim)
            exact = found if found.schema.equals(schema) else found.cast(schema)
            return computed("take", exact, computed("array_sort_indices", exact["text_hash"])).combine_chunks()
    return vector_schema(1).empty_table()


def _of(model: str, rows: pa.Table) -> pa.Table:
    return computed("filter", rows.select(["text_hash", "vec"]), computed("equal", rows["model"], pa.scalar(model)))


def models(ask: Callable[..., pa.Table], tables: list[EmbeddingTable]) -> dict[str, int]:
    """Map the id of each embedding model to the number of its stored vectors."""
    counts: dict[str, int] = {}
    for table in tables:
        for row in ask("embedding_models", table=table).to_pylist():
            counts[row["model"]] = counts.get(row["model"], 0) + row["vectors"]
    return counts


def doomed(ask: Callable[..., pa.Table], tables: list[EmbeddingTable], model: str) -> Iterator[tuple[EmbeddingTable, pa.Table]]:
    """Yield the ids of all vectors of a model, in batches to delete.

    Each item is (table of the vectors, batch of ids in a column `wanted`). A batch is small enough to be deleted in one transaction.
    """
    for table in tables:
        ids = ask("embedding_ids_of", table=table, model=model).rename_columns(["wanted"])
        for at in range(0, len(ids), DELETED):
            yield table, ids.slice(at, DELETED)


def forget(transaction: Transaction, table: EmbeddingTable, rows: pa.Table) -> None:
    """Delete vectors from `table`: those whose ids are in the column `wanted`.

    `rows` is a batch that `doomed` yields.
    """
    transaction.run("delete_embeddings", table=table, rows=rows)


def pieces(rows: pa.Table, size: int) -> list[pa.Table]:
    """Split a table of vectors into tables of at most `size` bytes.

    Each piece has at least one row.
    """
    step = max(1, size * len(rows) // max(1, rows.nbytes))
    return [rows.slice(at, step) for at in range(0, max(1, len(rows)), step)]


def dimension(rows: pa.Table) -> int:
    """Return the dimension (length) of the vectors in a table.

    Raises:
        BadInputError: the vectors have different lengths.
    """
    kind = rows["vector"].type if "vector" in rows.column_names else pa.null()
    if not pa.types.is_fixed_size_list(kind):
        raise BadInputError(
            f"the rows of vectors have the schema {rows.schema}; use text_hash string and vector fixed_size_list<float32>",
            argument="vectors",
        )
    return int(kind.list_size)


def vector_schema(dim: int) -> pa.Schema:
    """Return the columns of a table of vectors of length `dim`.

    The columns are text_hash and vector.
    """
    return pa.schema({"text_hash": pa.string(), "vector": pa.list_(pa.float32(), dim)})
