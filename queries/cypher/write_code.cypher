// Changes of the code graph, inside one transaction. Small changes go by id, which uses the primary-key index;
// larger ones as Arrow rows, joined in one pass (graphmem/store/writes/write_edges.py chooses).
//
// Two habits of the engines shape them. DETACH DELETE leaves edges behind on kuzu, so edges are deleted first, in
// words. And setting a string makes the next checkpoint write the whole column anew, in twice the room, so numbers
// are set by themselves, strings only where they differ, and nodes without edges of their own are deleted and created.

// name: create_files(rows)
// New files.
LOAD FROM $rows
CREATE (:File {id: id, path: path, language: language, module: module, content_hash: content_hash, size_bytes: size_bytes, lines: lines,
  is_test: is_test, error_count: error_count, diagnostic: diagnostic, call_sites: call_sites, stale_at: stale_at})

// name: create_symbols(rows)
// New symbols.
LOAD FROM $rows
CREATE (:Symbol {id: id, path: path, kind: kind, name: name, qualname: qualname, parent_id: parent_id, signature: signature, doc: doc,
  start_line: start_line, end_line: end_line, start_byte: start_byte, end_byte: end_byte, name_line: name_line, name_column: name_column,
  body_hash: body_hash, modifiers: modifiers, entry_point: entry_point, complexity: complexity, is_test: is_test, stale_at: stale_at})

// name: create_externals(rows)
// New externals.
LOAD FROM $rows CREATE (:External {id: id, package: package, name: name, stale_at: stale_at})

// name: create_chunks(rows)
// New chunks, `text` deflated.
LOAD FROM $rows
CREATE (:Chunk {id: id, path: path, symbol_id: symbol_id, kind: kind, title: title, start_line: start_line, end_line: end_line,
  text: text, text_hash: text_hash, stale_at: stale_at})

// name: create_unresolved(rows)
// New unresolved call sites.
LOAD FROM $rows
CREATE (:Unresolved {id: id, path: path, caller_id: caller_id, name: name, line: line, reason: reason, stale_at: stale_at})

// name: create_occurrences(rows)
// Occurrences of files.
LOAD FROM $rows CREATE (:Occurrences {id: id, path: path, places: places, stale_at: stale_at})

// name: node_row(id)
// One node as it is stored, stale or not.
// fill: @label NodeTable
// returns: *
MATCH (n:@label {id: $id}) RETURN n.*

// name: renumber_file(id, size_bytes, lines, is_test, error_count, call_sites)
// The numbers of one file.
MATCH (n:File {id: $id})
SET n.size_bytes = $size_bytes, n.lines = $lines, n.is_test = $is_test, n.error_count = $error_count, n.call_sites = $call_sites

// name: renumber_symbol(id, start_line, end_line, start_byte, end_byte, name_line, name_column, complexity, is_test)
// The numbers of one symbol: what changes when lines move.
MATCH (n:Symbol {id: $id})
SET n.start_line = $start_line, n.end_line = $end_line, n.start_byte = $start_byte, n.end_byte = $end_byte, n.name_line = $name_line,
  n.name_column = $name_column, n.complexity = $complexity, n.is_test = $is_test

// name: renumber_symbols(rows)
// The same for many; their ids are in the column `wanted`.
LOAD FROM $rows
MATCH (n:Symbol) WHERE n.id = wanted
SET n.start_line = start_line, n.end_line = end_line, n.start_byte = start_byte, n.end_byte = end_byte, n.name_line = name_line,
  n.name_column = name_column, n.complexity = complexity, n.is_test = is_test

// name: move_chunk(id, start_line, end_line)
// The lines of one chunk that says what it said.
MATCH (n:Chunk {id: $id}) SET n.start_line = $start_line, n.end_line = $end_line

// name: move_chunks(rows)
// The same for many; their ids are in the column `wanted`.
LOAD FROM $rows MATCH (n:Chunk) WHERE n.id = wanted SET n.start_line = start_line, n.end_line = end_line

// name: set_text(id, value)
// One string of one node.
// fill: @label NodeTable, @column TextColumn
MATCH (n:@label {id: $id}) SET n.@column = $value

// name: revive(id)
// A node that was stale and is in the code again.
// fill: @label NodeTable
MATCH (n:@label {id: $id}) SET n.stale_at = NULL

// name: create_edge(src, dst, confidence, source, rule, line, offsets)
// One new edge; answers 0 when an end is missing.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: edges INT64
MATCH (a:@from {id: $src}), (b:@to {id: $dst})
CREATE (a)-[e:@edge {confidence: $confidence, source: $source, rule: $rule, line: $line, offsets: $offsets}]->(b)
RETURN count(*) AS edges

// name: create_edges(rows)
// New edges; answers how many ends were found for.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: edges INT64
LOAD FROM $rows
MATCH (a:@from) WHERE a.id = src
MATCH (b:@to) WHERE b.id = dst
CREATE (a)-[e:@edge {confidence: confidence, source: source, rule: rule, line: line, offsets: offsets}]->(b)
RETURN count(*) AS edges

// name: shift_edges(path, from_line, by)
// Edges of one file whose code moved up or down, in all tables at once: one statement for what is often a hundred edges.
MATCH (a:Symbol)-[e:DEFINES|CALLS|REFERENCES|INHERITS|OVERRIDES|USES_TYPE|TESTS]->()
WHERE a.path = $path AND e.line >= $from_line
SET e.line = e.line + $by

// name: update_edge(src, dst, confidence, source, rule, line, offsets)
// New evidence of an edge that is there; answers 0 when it is not.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: edges INT64
MATCH (a:@from {id: $src})-[e:@edge]->(b:@to)
WHERE b.id = $dst
SET e.confidence = $confidence, e.source = $source, e.rule = $rule, e.line = $line, e.offsets = $offsets, e.stale_at = NULL
RETURN count(*) AS edges

// name: delete_edge(src, dst)
// One edge.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
MATCH (a:@from {id: $src})-[e:@edge]->(b:@to) WHERE b.id = $dst DELETE e

// name: delete_edges(rows)
// Edges named by the columns `src` and `dst`.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
LOAD FROM $rows
MATCH (a:@from) WHERE a.id = src
MATCH (b:@to) WHERE b.id = dst
MATCH (a)-[e:@edge]->(b)
DELETE e

// name: delete_edges_from(id)
// Edges of one kind that leave a node.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
MATCH (a:@from {id: $id})-[e:@edge]->(:@to) DELETE e

// name: delete_edges_to(id)
// Edges of one kind that reach a node.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
MATCH (:@from)-[e:@edge]->(b:@to {id: $id}) DELETE e

// name: edges_left(rows)
// Which tables still hold edges of nodes whose ids are in the column `wanted`; the node tables are the ends.
// fill: @label NodeTable
// returns: kind STRING, src_label STRING, dst_label STRING, node_id STRING, outward BOOL
LOAD FROM $rows
MATCH (a:@label)-[e]->(b)
WHERE a.id = wanted
RETURN DISTINCT label(e) AS kind, label(a) AS src_label, label(b) AS dst_label, a.id AS node_id, true AS outward
UNION ALL
LOAD FROM $rows
MATCH (a:@label)<-[e]-(b)
WHERE a.id = wanted
RETURN DISTINCT label(e) AS kind, label(b) AS src_label, label(a) AS dst_label, a.id AS node_id, false AS outward

// name: edges_left_one(id)
// The same for one node.
// fill: @label NodeTable
// returns: kind STRING, src_label STRING, dst_label STRING, node_id STRING, outward BOOL
MATCH (a:@label {id: $id})-[e]->(b)
RETURN DISTINCT label(e) AS kind, label(a) AS src_label, label(b) AS dst_label, a.id AS node_id, true AS outward
UNION ALL
MATCH (a:@label {id: $id})<-[e]-(b)
RETURN DISTINCT label(e) AS kind, label(b) AS src_label, label(a) AS dst_label, a.id AS node_id, false AS outward

// name: delete_node(id)
// One node that has no edges any more; the engine refuses it otherwise.
// fill: @label NodeTable
MATCH (n:@label {id: $id}) DELETE n

// name: delete_nodes(rows)
// Nodes whose ids are in the column `wanted`.
// fill: @label NodeTable
LOAD FROM $rows MATCH (n:@label) WHERE n.id = wanted DELETE n

// name: mark_stale(rows, moment)
// Nodes that are gone from the code but that knowledge points at.
// fill: @label NodeTable
LOAD FROM $rows MATCH (n:@label) WHERE n.id = wanted SET n.stale_at = $moment

// name: known_code()
// Code nodes that knowledge points at.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: id STRING
MATCH (:@from)-[:@edge]->(n:@to) RETURN DISTINCT n.id AS id

// name: ids_of()
// All ids of one label.
// fill: @label NodeTable
// returns: id STRING
MATCH (n:@label) RETURN n.id AS id

// name: link_chunk(chunk_id, symbol_id)
// Where one chunk was cut; answers 0 when the symbol is missing.
// returns: edges INT64
MATCH (c:Chunk {id: $chunk_id}), (s:Symbol {id: $symbol_id}) CREATE (c)-[e:CHUNK_OF]->(s) RETURN count(*) AS edges

// name: link_chunks(rows)
// Where chunks were cut.
// returns: edges INT64
LOAD FROM $rows
MATCH (c:Chunk) WHERE c.id = chunk_id
MATCH (s:Symbol) WHERE s.id = target_id
CREATE (c)-[e:CHUNK_OF]->(s)
RETURN count(*) AS edges

// name: unlink_chunk(id)
// Undo link_chunk.
MATCH (c:Chunk {id: $id})-[e:CHUNK_OF]->(:Symbol) DELETE e

// name: unlink_chunks(rows)
// The same for chunks whose ids are in the column `wanted`.
LOAD FROM $rows MATCH (c:Chunk) WHERE c.id = wanted MATCH (c)-[e:CHUNK_OF]->(:Symbol) DELETE e

// name: known_code_from()
// Code nodes that a knowledge edge leaves: files that are read together with others.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: id STRING
MATCH (n:@from)-[:@edge]->(:@to) RETURN DISTINCT n.id AS id

// name: knowledge_count()
// Nodes of layer 3 that may point at code.
// returns: nodes INT64
MATCH (n:Memory:ErrorPattern:Person:Session) RETURN count(*) AS nodes
