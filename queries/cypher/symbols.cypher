// Symbols, one or a few at a time.

// name: symbol_by_id(symbol_id)
// One live symbol with all its columns; no row when there is none.
// returns: id STRING, path STRING, kind STRING, name STRING, qualname STRING, parent_id STRING, signature STRING, doc STRING, start_line INT64, end_line INT64
// returns: start_byte INT64, end_byte INT64, name_line INT64, name_column INT64, body_hash STRING, modifiers STRING, entry_point STRING, complexity INT64, is_test BOOL
MATCH (s:Symbol {id: $symbol_id})
WHERE s.stale_at IS NULL
RETURN s.id AS id, s.path AS path, s.kind AS kind, s.name AS name, s.qualname AS qualname, s.parent_id AS parent_id, s.signature AS signature, s.doc AS doc,
       s.start_line AS start_line, s.end_line AS end_line, s.start_byte AS start_byte, s.end_byte AS end_byte, s.name_line AS name_line,
       s.name_column AS name_column, s.body_hash AS body_hash, s.modifiers AS modifiers, s.entry_point AS entry_point, s.complexity AS complexity,
       s.is_test AS is_test
