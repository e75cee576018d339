// Whole tables as Arrow, for the projections and for rebuilding the file. Unordered: the reader sorts once.
// `position` is the engine's row number, by which edges name their ends; it means nothing outside one transaction.

// name: all_files()
// Live files.
// returns: position INT64, id STRING, path STRING, language STRING, module STRING, content_hash STRING, size_bytes INT64, lines INT64, is_test BOOL
// returns: error_count INT64, diagnostic STRING, call_sites INT64
MATCH (f:File)
WHERE f.stale_at IS NULL
RETURN offset(id(f)) AS position, f.id AS id, f.path AS path, f.language AS language, f.module AS module, f.content_hash AS content_hash,
       f.size_bytes AS size_bytes, f.lines AS lines, f.is_test AS is_test, f.error_count AS error_count, f.diagnostic AS diagnostic, f.call_sites AS call_sites

// name: all_symbols()
// Live symbols.
// returns: position INT64, id STRING, path STRING, kind STRING, name STRING, qualname STRING, parent_id STRING, signature STRING, doc STRING, start_line INT64
// returns: end_line INT64, start_byte INT64, end_byte INT64, name_line INT64, name_column INT64, body_hash STRING, modifiers STRING, entry_point STRING
// returns: complexity INT64, is_test BOOL
MATCH (s:Symbol)
WHERE s.stale_at IS NULL
RETURN offset(id(s)) AS position, s.id AS id, s.path AS path, s.kind AS kind, s.name AS name, s.qualname AS qualname, s.parent_id AS parent_id,
       s.signature AS signature, s.doc AS doc, s.start_line AS start_line, s.end_line AS end_line, s.start_byte AS start_byte, s.end_byte AS end_byte,
       s.name_line AS name_line, s.name_column AS name_column, s.body_hash AS body_hash, s.modifiers AS modifiers, s.entry_point AS entry_point,
       s.complexity AS complexity, s.is_test AS is_test

// name: all_externals()
// Live externals.
// returns: position INT64, id STRING, package STRING, name STRING
MATCH (x:External)
WHERE x.stale_at IS NULL
RETURN offset(id(x)) AS position, x.id AS id, x.package AS package, x.name AS name

// name: all_unresolved()
// Live unresolved call sites.
// returns: id STRING, path STRING, caller_id STRING, name STRING, line INT64, reason STRING
MATCH (u:Unresolved)
WHERE u.stale_at IS NULL
RETURN u.id AS id, u.path AS path, u.caller_id AS caller_id, u.name AS name, u.line AS line, u.reason AS reason

// name: all_occurrences()
// Packed occurrences of all files.
// returns: id STRING, path STRING, places BLOB
MATCH (o:Occurrences)
WHERE o.stale_at IS NULL
RETURN o.id AS id, o.path AS path, o.places AS places

// name: all_edges()
// Live edges of one FROM … TO … of the code.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: src INT64, dst INT64, confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING
MATCH (a:@from)-[e:@edge]->(b:@to)
WHERE e.stale_at IS NULL
RETURN offset(id(a)) AS src, offset(id(b)) AS dst, e.confidence AS confidence, e.source AS source, e.rule AS rule, e.line AS line, e.offsets AS offsets

// name: all_chunks()
// Live chunks; `text` is deflated.
// returns: id STRING, path STRING, symbol_id STRING, kind STRING, title STRING, start_line INT64, end_line INT64, text BLOB, text_hash STRING
MATCH (c:Chunk)
WHERE c.stale_at IS NULL
RETURN c.id AS id, c.path AS path, c.symbol_id AS symbol_id, c.kind AS kind, c.title AS title, c.start_line AS start_line, c.end_line AS end_line,
       c.text AS text, c.text_hash AS text_hash

// name: chunks_between(first, beyond)
// Live chunks with these offsets, the last one left out; `text` is deflated.
// returns: id STRING, path STRING, symbol_id STRING, kind STRING, title STRING, start_line INT64, end_line INT64, text BLOB, text_hash STRING
MATCH (c:Chunk)
WHERE offset(id(c)) >= $first AND offset(id(c)) < $beyond AND c.stale_at IS NULL
RETURN c.id AS id, c.path AS path, c.symbol_id AS symbol_id, c.kind AS kind, c.title AS title, c.start_line AS start_line, c.end_line AS end_line,
       c.text AS text, c.text_hash AS text_hash

// name: chunks_by_ids(rows)
// Chunks whose ids are in the column `wanted`; `text` is deflated.
// returns: id STRING, path STRING, symbol_id STRING, kind STRING, title STRING, start_line INT64, end_line INT64, text BLOB, text_hash STRING
LOAD FROM $rows
MATCH (c:Chunk)
WHERE c.id = wanted AND c.stale_at IS NULL
RETURN c.id AS id, c.path AS path, c.symbol_id AS symbol_id, c.kind AS kind, c.title AS title, c.start_line AS start_line, c.end_line AS end_line,
       c.text AS text, c.text_hash AS text_hash

// name: chunk_by_id(chunk_id)
// One chunk; `text` is deflated.
// returns: id STRING, path STRING, symbol_id STRING, kind STRING, title STRING, start_line INT64, end_line INT64, text BLOB, text_hash STRING
MATCH (c:Chunk {id: $chunk_id})
WHERE c.stale_at IS NULL
RETURN c.id AS id, c.path AS path, c.symbol_id AS symbol_id, c.kind AS kind, c.title AS title, c.start_line AS start_line, c.end_line AS end_line,
       c.text AS text, c.text_hash AS text_hash
