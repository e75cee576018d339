// Filling a fresh database, which nobody else sees before it is complete. COPY is the engine's fast path; it is
// right only into empty tables and outside of transactions.

// name: copy_nodes(rows)
// All rows of one label; the columns stand in the table's order.
// fill: @label NodeTable
COPY @label FROM $rows

// name: copy_embeddings(rows)
// All vectors of one dimension.
// fill: @table EmbeddingTable
COPY @table FROM $rows

// name: copy_edges(rows)
// All edges of one FROM … TO …; the first two columns are the ids of the ends.
// fill: @edge RelTable
COPY @edge FROM $rows

// name: copy_edges_between(rows)
// The same for a relationship table with several pairs.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
COPY @edge FROM $rows (from='@from', to='@to')

// name: dump_nodes()
// All rows of one label, stale ones too, columns in the table's order.
// fill: @label NodeTable
// returns: *
MATCH (n:@label) RETURN n.*

// name: dump_edges()
// All edges of one FROM … TO …, stale ones too: ids of the ends, then the columns in the table's order.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: *
MATCH (a:@from)-[e:@edge]->(b:@to) RETURN a.id AS src, b.id AS dst, e.*

// name: last_node()
// The highest offset of one label, null without rows; offsets of rows that were deleted are in between.
// fill: @label NodeTable
// returns: last INT64
MATCH (n:@label) RETURN max(offset(id(n))) AS last

// name: last_embedding()
// The highest offset of the vectors of one dimension.
// fill: @table EmbeddingTable
// returns: last INT64
MATCH (n:@table) RETURN max(offset(id(n))) AS last

// name: dump_nodes_between(first, beyond)
// Rows of one label with these offsets, the last one left out.
// fill: @label NodeTable
// returns: *
MATCH (n:@label) WHERE offset(id(n)) >= $first AND offset(id(n)) < $beyond RETURN n.*

// name: dump_embeddings_between(first, beyond)
// Vectors of one dimension with these offsets, the last one left out.
// fill: @table EmbeddingTable
// returns: *
MATCH (n:@table) WHERE offset(id(n)) >= $first AND offset(id(n)) < $beyond RETURN n.*

// name: dump_edges_between(first, beyond)
// Edges of one FROM … TO … that begin at nodes with these offsets, the last one left out.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: *
MATCH (a:@from)-[e:@edge]->(b:@to) WHERE offset(id(a)) >= $first AND offset(id(a)) < $beyond RETURN a.id AS src, b.id AS dst, e.*
