// Vectors, one table a dimension, one row a model and text. Searched in the `vectors` projection, never here.

// name: create_embedding_table()
// Make the table of one dimension, if it is not there.
// fill: @table EmbeddingTable, @dim 1..4096
CREATE NODE TABLE IF NOT EXISTS @table(id STRING PRIMARY KEY, model STRING, text_hash STRING, vec FLOAT[@dim])

// name: put_embeddings(rows, model)
// Add rows of id, text_hash, vec; those that are there stay as they are.
// fill: @table EmbeddingTable
LOAD FROM $rows MERGE (e:@table {id: id}) ON CREATE SET e.model = $model, e.text_hash = text_hash, e.vec = vec

// name: has_embedding(id)
// The id, when there is a vector of that id.
// fill: @table EmbeddingTable
// returns: id STRING
MATCH (e:@table {id: $id}) RETURN e.id AS id

// name: create_embedding(id, model, text_hash, vec)
// One vector.
// fill: @table EmbeddingTable
CREATE (e:@table {id: $id, model: $model, text_hash: $text_hash, vec: $vec})

// name: delete_embeddings(rows)
// Vectors whose ids are in the column `wanted`.
// fill: @table EmbeddingTable
LOAD FROM $rows MATCH (e:@table) WHERE e.id = wanted DELETE e

// name: embedding_ids_of(model)
// Keys of the vectors of one model.
// fill: @table EmbeddingTable
// returns: id STRING
MATCH (e:@table) WHERE e.model = $model RETURN e.id AS id

// name: embedding_models()
// Models that have vectors of this dimension.
// fill: @table EmbeddingTable
// returns: model STRING, vectors INT64
MATCH (e:@table) RETURN e.model AS model, count(*) AS vectors ORDER BY model

// name: embedding_count()
// Vectors of this dimension.
// fill: @table EmbeddingTable
// returns: vectors INT64
MATCH (e:@table) RETURN count(*) AS vectors
