// Changes of the code graph, inside one transaction. Small changes go by id, which uses the primary-key index;
// larger ones as Arrow rows, joined in one pass (graphmem/store/delta.py chooses). Nothing is ever detached:
// DETACH DELETE leaves edges behind on one of the engines, so edges are deleted first, in words.

// name: upsert_files(rows)
// Rows of FileRow.
LOAD FROM $rows MERGE (n:File {id: id})
ON CREATE SET n.path = path, n.language = language, n.module = module, n.content_hash = content_hash, n.size_bytes = size_bytes, n.lines = lines,
  n.is_test = is_test, n.error_count = error_count, n.diagnostic = diagnostic, n.call_sites = call_sites
ON MATCH SET n.path = path, n.language = language, n.module = module, n.content_hash = content_hash, n.size_bytes = size_bytes, n.lines = lines,
  n.is_test = is_test, n.error_count = error_count, n.diagnostic = diagnostic, n.call_sites = call_sites, n.stale_at = NULL

// name: upsert_symbols(rows)
// Rows of SymbolRow.
LOAD FROM $rows MERGE (n:Symbol {id: id})
ON CREATE SET n.path = path, n.kind = kind, n.name = name, n.qualname = qualname, n.parent_id = parent_id, n.signature = signature, n.doc = doc,
  n.start_line = start_line, n.end_line = end_line, n.start_byte = start_byte, n.end_byte = end_byte, n.name_line = name_line,
  n.name_column = name_column, n.body_hash = body_hash, n.modifiers = modifiers, n.entry_point = entry_point, n.complexity = complexity, n.is_test = is_test
ON MATCH SET n.path = path, n.kind = kind, n.name = name, n.qualname = qualname, n.parent_id = parent_id, n.signature = signature, n.doc = doc,
  n.start_line = start_line, n.end_line = end_line, n.start_byte = start_byte, n.end_byte = end_byte, n.name_line = name_line,
  n.name_column = name_column, n.body_hash = body_hash, n.modifiers = modifiers, n.entry_point = entry_point, n.complexity = complexity, n.is_test = is_test,
  n.stale_at = NULL

// name: upsert_externals(rows)
// Rows of ExternalRow.
LOAD FROM $rows MERGE (n:External {id: id})
ON CREATE SET n.package = package, n.name = name
ON MATCH SET n.package = package, n.name = name, n.stale_at = NULL

// name: upsert_chunks(rows)
// Rows of ChunkRow, `text` deflated.
LOAD FROM $rows MERGE (n:Chunk {id: id})
ON CREATE SET n.path = path, n.symbol_id = symbol_id, n.kind = kind, n.title = title, n.start_line = start_line, n.end_line = end_line,
  n.prefix = prefix, n.text = text, n.text_hash = text_hash
ON MATCH SET n.path = path, n.symbol_id = symbol_id, n.kind = kind, n.title = title, n.start_line = start_line, n.end_line = end_line,
  n.prefix = prefix, n.text = text, n.text_hash = text_hash, n.stale_at = NULL

// name: upsert_unresolved(rows)
// Rows of UnresolvedRow.
LOAD FROM $rows MERGE (n:Unresolved {id: id})
ON CREATE SET n.path = path, n.caller_id = caller_id, n.name = name, n.line = line, n.reason = reason
ON MATCH SET n.path = path, n.caller_id = caller_id, n.name = name, n.line = line, n.reason = reason, n.stale_at = NULL

// name: create_edge(src, dst, confidence, source, rule, line, lines)
// One new edge; answers 0 when an end is missing.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: edges INT64
MATCH (a:@from {id: $src}), (b:@to {id: $dst})
CREATE (a)-[e:@edge {confidence: $confidence, source: $source, rule: $rule, line: $line, lines: $lines}]->(b)
RETURN count(*) AS edges

// name: create_edges(rows)
// New edges; answers how many ends were found for.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: edges INT64
LOAD FROM $rows
MATCH (a:@from) WHERE a.id = src
MATCH (b:@to) WHERE b.id = dst
CREATE (a)-[e:@edge {confidence: confidence, source: source, rule: rule, line: line, lines: lines}]->(b)
RETURN count(*) AS edges

// name: update_edge(src, dst, confidence, source, rule, line, lines)
// New evidence of an edge that is there; answers 0 when it is not.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: edges INT64
MATCH (a:@from {id: $src})-[e:@edge]->(b:@to)
WHERE b.id = $dst
SET e.confidence = $confidence, e.source = $source, e.rule = $rule, e.line = $line, e.lines = $lines, e.stale_at = NULL
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

// name: orphan_anchors(rows)
// Anchors of memories about code that is gone.
// fill: @label NodeTable
LOAD FROM $rows MATCH (n:@label)<-[e:ABOUT]-(:Memory) WHERE n.id = wanted SET e.anchor = "orphaned"

// name: judge_anchors(rows)
// Anchors of memories about symbols that were written anew: the same body is valid, another one is suspect.
LOAD FROM $rows MATCH (n:Symbol)<-[e:ABOUT]-(:Memory) WHERE n.id = wanted
SET e.anchor = CASE WHEN e.body_hash IS NULL OR e.body_hash = n.body_hash THEN "valid" ELSE "suspect" END

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
