// Memories and what they are about.

// name: memories_by_id(ids)
// Memories with these ids, by id.
// returns: id STRING, short_id STRING, type STRING, title STRING, content STRING, confidence DOUBLE, importance DOUBLE, strength INT64, source STRING
// returns: scope STRING, visibility STRING, status STRING, tags STRING[], created_at TIMESTAMP, updated_at TIMESTAMP, valid_from TIMESTAMP, valid_to TIMESTAMP
UNWIND $ids AS wanted
MATCH (m:Memory)
WHERE m.id = wanted
RETURN m.id AS id, m.short_id AS short_id, m.type AS type, m.title AS title, m.content AS content, m.confidence AS confidence, m.importance AS importance,
       m.strength AS strength, m.source AS source, m.scope AS scope, m.visibility AS visibility, m.status AS status, m.tags AS tags,
       m.created_at AS created_at, m.updated_at AS updated_at, m.valid_from AS valid_from, m.valid_to AS valid_to
ORDER BY id

// name: memory_anchors(memory_id)
// The code a memory is about, gone code too: then `stale_at` says since when.
// returns: target_id STRING, label STRING, role STRING, anchor STRING, confidence DOUBLE, stale_at TIMESTAMP
MATCH (m:Memory {id: $memory_id})-[e:ABOUT]->(t)
RETURN t.id AS target_id, label(t) AS label, e.role AS role, e.anchor AS anchor, e.confidence AS confidence, t.stale_at AS stale_at
ORDER BY label, target_id

// name: memories_about(symbol_id)
// Memories about a symbol, newest id last.
// returns: id STRING, title STRING, status STRING, confidence DOUBLE, role STRING, anchor STRING
MATCH (s:Symbol {id: $symbol_id})<-[e:ABOUT]-(m:Memory)
RETURN m.id AS id, m.title AS title, m.status AS status, m.confidence AS confidence, e.role AS role, e.anchor AS anchor
ORDER BY id

// name: named_files()
// Files that memories name and the index has not seen.
// returns: id STRING, path STRING
MATCH (f:File)<-[:ABOUT]-(:Memory)
WHERE f.stale_at IS NOT NULL
RETURN DISTINCT f.id AS id, f.path AS path
ORDER BY id

// name: named_symbols()
// Symbols that memories are about and that are gone, as they were called last.
// returns: id STRING, path STRING, qualname STRING
MATCH (s:Symbol)<-[:ABOUT]-(:Memory)
WHERE s.stale_at IS NOT NULL
RETURN DISTINCT s.id AS id, s.path AS path, s.qualname AS qualname
ORDER BY id

// name: memory_links()
// Every link of a memory to code.
// returns: memory_id STRING, target_id STRING, role STRING, anchor STRING
MATCH (m:Memory)-[e:ABOUT]->(t)
RETURN m.id AS memory_id, t.id AS target_id, e.role AS role, e.anchor AS anchor
ORDER BY memory_id, target_id, role
