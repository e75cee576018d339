// Everything the graph holds of some files: what an index run compares with what the files say now.
// `paths` is a short list: every row is compared with every item.

// name: files_of(paths)
// Live files.
// returns: id STRING, path STRING, language STRING, module STRING, content_hash STRING, size_bytes INT64, lines INT64, is_test BOOL
// returns: error_count INT64, diagnostic STRING, call_sites INT64
MATCH (f:File)
WHERE f.path IN $paths AND f.stale_at IS NULL
RETURN f.id AS id, f.path AS path, f.language AS language, f.module AS module, f.content_hash AS content_hash, f.size_bytes AS size_bytes,
       f.lines AS lines, f.is_test AS is_test, f.error_count AS error_count, f.diagnostic AS diagnostic, f.call_sites AS call_sites

// name: symbols_of(paths)
// Live symbols.
// returns: id STRING, path STRING, kind STRING, name STRING, qualname STRING, parent_id STRING, signature STRING, doc STRING, start_line INT64
// returns: end_line INT64, start_byte INT64, end_byte INT64, name_line INT64, name_column INT64, body_hash STRING, modifiers STRING, entry_point STRING
// returns: complexity INT64, is_test BOOL
MATCH (s:Symbol)
WHERE s.path IN $paths AND s.stale_at IS NULL
RETURN s.id AS id, s.path AS path, s.kind AS kind, s.name AS name, s.qualname AS qualname, s.parent_id AS parent_id,
       s.signature AS signature, s.doc AS doc, s.start_line AS start_line, s.end_line AS end_line, s.start_byte AS start_byte, s.end_byte AS end_byte,
       s.name_line AS name_line, s.name_column AS name_column, s.body_hash AS body_hash, s.modifiers AS modifiers, s.entry_point AS entry_point,
       s.complexity AS complexity, s.is_test AS is_test

// name: chunks_of(paths)
// Live chunks; `text` is deflated.
// returns: id STRING, path STRING, symbol_id STRING, kind STRING, title STRING, start_line INT64, end_line INT64, text BLOB, text_hash STRING
MATCH (c:Chunk)
WHERE c.path IN $paths AND c.stale_at IS NULL
RETURN c.id AS id, c.path AS path, c.symbol_id AS symbol_id, c.kind AS kind, c.title AS title, c.start_line AS start_line, c.end_line AS end_line,
       c.text AS text, c.text_hash AS text_hash

// name: unresolved_of(paths)
// Live unresolved call sites.
// returns: id STRING, path STRING, caller_id STRING, name STRING, line INT64, reason STRING
MATCH (u:Unresolved)
WHERE u.path IN $paths AND u.stale_at IS NULL
RETURN u.id AS id, u.path AS path, u.caller_id AS caller_id, u.name AS name, u.line AS line, u.reason AS reason

// name: occurrences_of(paths)
// Packed occurrences.
// returns: id STRING, path STRING, places BLOB
MATCH (o:Occurrences)
WHERE o.path IN $paths AND o.stale_at IS NULL
RETURN o.id AS id, o.path AS path, o.places AS places

// name: occurrences_in(id)
// Packed occurrences of the file with this id.
// returns: id STRING, places BLOB
MATCH (o:Occurrences {id: $id})
WHERE o.stale_at IS NULL
RETURN o.id AS id, o.places AS places

// name: occurrences_by_ids(rows)
// Packed occurrences of the files whose ids are in the column `wanted`.
// returns: id STRING, places BLOB
LOAD FROM $rows
MATCH (o:Occurrences)
WHERE o.id = wanted AND o.stale_at IS NULL
RETURN o.id AS id, o.places AS places

// name: edges_of_files(paths)
// Live edges that begin at a file itself.
// returns: kind STRING, src STRING, dst STRING, confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING
MATCH (a:File)-[e:DEFINES|IMPORTS]->(b)
WHERE a.path IN $paths AND e.stale_at IS NULL
RETURN label(e) AS kind, a.id AS src, b.id AS dst, e.confidence AS confidence, e.source AS source, e.rule AS rule, e.line AS line, e.offsets AS offsets

// name: edges_of_symbols(paths)
// Live edges that begin at a symbol of a file.
// returns: kind STRING, src STRING, dst STRING, confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING
MATCH (a:Symbol)-[e:DEFINES|CALLS|REFERENCES|INHERITS|OVERRIDES|USES_TYPE|TESTS]->(b)
WHERE a.path IN $paths AND e.stale_at IS NULL
RETURN label(e) AS kind, a.id AS src, b.id AS dst, e.confidence AS confidence, e.source AS source, e.rule AS rule, e.line AS line, e.offsets AS offsets
