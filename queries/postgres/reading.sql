-- Reads of the graph in PostgreSQL, with the columns of the Cypher queries. A list of paths or ids that is NULL stands for all.

-- name: meta_all()
-- Small facts about the database, by name. The identity of the graph includes the timeline, which changes when another node takes over,
-- because that node may lack the last changes.
-- returns: name STRING, value STRING
SELECT name, CASE name WHEN 'store.database' THEN value || '-' || left(pg_walfile_name(pg_current_wal_lsn()), 8) ELSE value END AS value
FROM meta ORDER BY name

-- name: meta_value(name)
-- One small fact.
-- returns: value STRING
SELECT value FROM meta WHERE name = $name

-- name: files_of(paths)
-- Live files.
-- returns: id STRING, path STRING, language STRING, module STRING, content_hash STRING, size_bytes INT64, lines INT64, is_test BOOL
-- returns: error_count INT64, diagnostic STRING, call_sites INT64
SELECT id, path, language, module, content_hash, size_bytes, lines, is_test, error_count, diagnostic, call_sites
FROM file
WHERE stale_at IS NULL AND ($paths::text[] IS NULL OR path = ANY($paths::text[]))

-- name: symbols_of(paths)
-- Live symbols.
-- returns: id STRING, path STRING, kind STRING, name STRING, qualname STRING, parent_id STRING, signature STRING, doc STRING, start_line INT64
-- returns: end_line INT64, start_byte INT64, end_byte INT64, name_line INT64, name_column INT64, body_hash STRING, modifiers STRING, entry_point STRING
-- returns: complexity INT64, is_test BOOL
SELECT id, path, kind, name, qualname, parent_id, signature, doc, start_line, end_line, start_byte, end_byte, name_line, name_column, body_hash,
  modifiers, entry_point, complexity, is_test
FROM symbol
WHERE stale_at IS NULL AND ($paths::text[] IS NULL OR path = ANY($paths::text[]))

-- name: externals()
-- Live externals.
-- returns: id STRING, package STRING, name STRING
SELECT id, package, name FROM external WHERE stale_at IS NULL

-- name: unresolved_of(paths)
-- Call sites whose target could not be told.
-- returns: id STRING, path STRING, caller_id STRING, name STRING, line INT64, reason STRING
SELECT id, path, caller_id, name, line, reason FROM unresolved WHERE $paths::text[] IS NULL OR path = ANY($paths::text[])

-- name: occurrences_of(paths)
-- Packed occurrences.
-- returns: id STRING, path STRING, places BLOB
SELECT id, path, places FROM occurrences WHERE $paths::text[] IS NULL OR path = ANY($paths::text[])

-- name: occurrences_in(ids)
-- Packed occurrences of the files with these ids.
-- returns: id STRING, places BLOB
SELECT id, places FROM occurrences WHERE id = ANY($ids::text[])

-- name: chunks_of(paths)
-- Chunks; `text` is deflated.
-- returns: id STRING, path STRING, symbol_id STRING, kind STRING, title STRING, start_line INT64, end_line INT64, text BLOB, text_hash STRING
SELECT id, path, symbol_id, kind, title, start_line, end_line, text, text_hash
FROM chunk
WHERE $paths::text[] IS NULL OR path = ANY($paths::text[])

-- name: chunks_by_ids(ids)
-- Chunks with these ids; `text` is deflated.
-- returns: id STRING, path STRING, symbol_id STRING, kind STRING, title STRING, start_line INT64, end_line INT64, text BLOB, text_hash STRING
SELECT id, path, symbol_id, kind, title, start_line, end_line, text, text_hash FROM chunk WHERE id = ANY($ids::text[])

-- name: all_edges()
-- Edges of the code.
-- returns: kind STRING, src STRING, dst STRING, confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING
SELECT kind, src, dst, confidence, source, rule, line, offsets FROM edge

-- name: edges_of(paths)
-- Edges that begin at these files or at symbols in them.
-- returns: kind STRING, src STRING, dst STRING, confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING
SELECT kind, src, dst, confidence, source, rule, line, offsets
FROM edge
WHERE src IN (SELECT id FROM file WHERE path = ANY($paths::text[]) UNION ALL SELECT id FROM symbol WHERE path = ANY($paths::text[]))

-- name: file_hashes()
-- Content hashes of live files.
-- returns: path STRING, content_hash STRING
SELECT path, content_hash FROM file WHERE stale_at IS NULL ORDER BY path

-- name: framework_keys()
-- The names under which frameworks know functions, and which functions.
-- returns: id STRING, kind STRING, name STRING, framework STRING, symbol_id STRING, confidence DOUBLE, source STRING, rule STRING, line INT64
SELECT k.id, k.kind, k.name, k.framework, s.id AS symbol_id, e.confidence, 'ast' AS source, e.rule, e.line
FROM handles e JOIN symbol s ON s.id = e.src JOIN frameworkkey k ON k.id = e.dst
WHERE s.stale_at IS NULL
ORDER BY k.kind COLLATE "C", k.name COLLATE "C", s.id

-- name: edge_counts()
-- Edges of the code by kind, rule, source and confidence.
-- returns: kind STRING, rule STRING, source STRING, confidence DOUBLE, edges INT64
SELECT kind, rule, source, confidence, count(*) AS edges
FROM edge
GROUP BY kind, rule, source, confidence
ORDER BY kind, edges DESC, rule COLLATE "C", source COLLATE "C", confidence

-- name: call_rules()
-- Calls by the rule that found them: edges, and the places in the code that make them.
-- returns: rule STRING, edges INT64, sites INT64
SELECT rule, count(*) AS edges, sum(1 + coalesce(cardinality(string_to_array(offsets, ',')), 0))::bigint AS sites
FROM edge
WHERE kind = 'CALLS'
GROUP BY rule
ORDER BY sites DESC, rule COLLATE "C"

-- name: call_sites()
-- Number of calls in live files.
-- returns: sites INT64
SELECT coalesce(sum(call_sites), 0)::bigint AS sites FROM file WHERE stale_at IS NULL

-- name: unresolved_counts()
-- Call sites whose target could not be told, by reason.
-- returns: reason STRING, sites INT64
SELECT reason, count(*) AS sites FROM unresolved GROUP BY reason ORDER BY sites DESC, reason COLLATE "C"

-- name: memory_links()
-- Every link of a memory to code.
-- returns: memory_id STRING, target_id STRING, role STRING, anchor STRING
SELECT src AS memory_id, dst AS target_id, role, anchor FROM about ORDER BY src, dst, role

-- name: memory_count()
-- Number of memories of any status.
-- returns: memories INT64
SELECT count(*) AS memories FROM memory

-- name: named_symbols()
-- Symbols that memories are about and that are gone, as they were called last.
-- returns: id STRING, path STRING, qualname STRING
SELECT id, path, qualname FROM symbol WHERE stale_at IS NOT NULL AND id IN (SELECT dst FROM about) ORDER BY id

-- name: named_files()
-- Files that memories name and the index has not seen.
-- returns: id STRING, path STRING
SELECT id, path FROM file WHERE stale_at IS NOT NULL AND id IN (SELECT dst FROM about) ORDER BY id

-- name: memories_of(ids)
-- Memories.
-- returns: id STRING, short_id STRING, fingerprint STRING, type STRING, title STRING, citation STRING, content STRING, confidence DOUBLE
-- returns: importance DOUBLE, strength INT64, source STRING, scope STRING, visibility STRING, status STRING, needs_review BOOL, user_verified BOOL
-- returns: disputed BOOL, contaminated BOOL, tags STRING, created_at TIMESTAMP, updated_at TIMESTAMP, last_accessed_at TIMESTAMP
-- returns: valid_from TIMESTAMP, valid_to TIMESTAMP, stale_at TIMESTAMP, deprecated_at TIMESTAMP, injected_count INT64, used_count INT64
-- returns: confirmed_count INT64, origin STRING, half_life_days DOUBLE, commit_sha STRING, work_unit STRING, details STRING, text_hash STRING
-- returns: embedding_model STRING
SELECT id, short_id, fingerprint, type, title, citation, content, confidence, importance, strength, source, scope, visibility, status,
  needs_review, user_verified, disputed, contaminated, tags, created_at, updated_at, last_accessed_at, valid_from, valid_to, stale_at,
  deprecated_at, injected_count, used_count, confirmed_count, origin, half_life_days, commit_sha, work_unit, details, text_hash,
  embedding_model
FROM memory
WHERE $ids::text[] IS NULL OR id = ANY($ids::text[])

-- name: sessions_of(ids)
-- Sessions.
-- returns: id STRING, agent STRING, kind STRING, title STRING, started_at TIMESTAMP, ended_at TIMESTAMP, commit_sha STRING, details STRING
-- returns: stale_at TIMESTAMP
SELECT id, agent, kind, title, started_at, ended_at, commit_sha, details, stale_at
FROM session
WHERE $ids::text[] IS NULL OR id = ANY($ids::text[])

-- name: about_of(ids)
-- Links of memories to code.
-- returns: src STRING, dst STRING, label STRING, role STRING, confidence DOUBLE, body_hash STRING, commit_sha STRING, anchor STRING
SELECT src, dst, label, role, confidence, body_hash, commit_sha, anchor
FROM about
WHERE $ids::text[] IS NULL OR src = ANY($ids::text[])

-- name: relates_of(ids)
-- Links between memories, by either end.
-- returns: src STRING, dst STRING, kind STRING, confidence DOUBLE, auto BOOL
SELECT src, dst, kind, confidence, auto
FROM relates
WHERE $ids::text[] IS NULL OR src = ANY($ids::text[]) OR dst = ANY($ids::text[])

-- name: learnt_of(ids)
-- The sessions in which memories were learnt.
-- returns: src STRING, dst STRING, message_from INT64, message_to INT64
SELECT src, dst, message_from, message_to FROM learnt_in WHERE $ids::text[] IS NULL OR src = ANY($ids::text[])

-- name: module_rows()
-- Modules as they were last derived, stale ones too.
-- returns: id STRING, name STRING, path STRING, summary STRING, gone BOOL
SELECT id, name, path, summary, stale_at IS NOT NULL AS gone FROM module ORDER BY id

-- name: module_files()
-- The files of each module.
-- returns: module_id STRING, path STRING
SELECT c.src AS module_id, f.path FROM contains c JOIN file f ON f.id = c.dst ORDER BY c.src, f.path

-- name: vectors_of(model)
-- Vectors of a model.
-- returns: dim INT64, text_hash STRING, vec BLOB
SELECT dim, text_hash, vec FROM vector WHERE model = $model ORDER BY dim, text_hash

-- name: vector_models()
-- Number of vectors of each model.
-- returns: model STRING, vectors INT64
SELECT model, count(*) AS vectors FROM vector GROUP BY model ORDER BY model COLLATE "C"

-- name: existing(ids)
-- The ids among these that have a node of this label, stale ones too.
-- fill: @label NodeTable
-- returns: id STRING
SELECT id FROM @label WHERE id = ANY($ids::text[])

-- name: live_ids()
-- Ids of live nodes of one label.
-- fill: @label NodeTable
-- returns: id STRING
SELECT id FROM @label WHERE stale_at IS NULL

-- name: has_code()
-- Whether any code is stored, stale nodes included.
-- returns: present BOOL
SELECT EXISTS (SELECT FROM file) OR EXISTS (SELECT FROM symbol) OR EXISTS (SELECT FROM external) OR EXISTS (SELECT FROM chunk) AS present

-- name: has_knowledge()
-- Whether anything points at code that must survive its removal.
-- returns: present BOOL
SELECT EXISTS (SELECT FROM about) OR EXISTS (SELECT FROM co_accessed) AS present

-- name: held(label, ids)
-- The nodes among these at which knowledge points.
-- returns: id STRING
SELECT dst AS id FROM about WHERE label = $label AND dst = ANY($ids::text[])
UNION SELECT src FROM co_accessed WHERE $label = 'File' AND src = ANY($ids::text[])
UNION SELECT dst FROM co_accessed WHERE $label = 'File' AND dst = ANY($ids::text[])

-- name: links_to(label, ids)
-- Links of memories to these nodes.
-- returns: src STRING, dst STRING, role STRING, confidence DOUBLE, body_hash STRING, commit_sha STRING, anchor STRING
SELECT src, dst, role, confidence, body_hash, commit_sha, anchor FROM about WHERE label = $label AND dst = ANY($ids::text[])

-- name: co_accessed_of(ids)
-- Pairs of files that change together, by either end.
-- returns: src STRING, dst STRING, sessions INT64, confidence DOUBLE, last_seen_at TIMESTAMP
SELECT src, dst, sessions, confidence, last_seen_at FROM co_accessed WHERE src = ANY($ids::text[]) OR dst = ANY($ids::text[])

-- name: symbol_states(ids)
-- State of symbols: their bodies decide about anchors.
-- returns: id STRING, gone BOOL, body_hash STRING
SELECT id, stale_at IS NOT NULL AS gone, body_hash FROM symbol WHERE id = ANY($ids::text[])

-- name: target_states(ids)
-- State of nodes that have no body.
-- fill: @label NodeTable
-- returns: id STRING, gone BOOL
SELECT id, stale_at IS NOT NULL AS gone FROM @label WHERE id = ANY($ids::text[])

-- name: vectors_among(model, dim, hashes)
-- The texts among these that have a vector.
-- returns: text_hash STRING
SELECT text_hash FROM vector WHERE model = $model AND dim = $dim AND text_hash = ANY($hashes::text[])

-- name: take_lock()
-- Take the lock of the one server that writes to this project, until the connection ends.
-- returns: taken BOOL
SELECT pg_try_advisory_lock(hashtextextended(current_schema(), 0)) AS taken

-- name: release_lock()
-- Release the lock of the writing server.
-- returns: released BOOL
SELECT pg_advisory_unlock(hashtextextended(current_schema(), 0)) AS released

-- name: lock_holder()
-- The server that has it.
-- returns: host STRING, since STRING
SELECT host(a.client_addr) AS host, to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
  AND ((l.classid::bigint << 32) | l.objid::bigint) = hashtextextended(current_schema(), 0)

-- name: feed_after(generation)
-- Changes of the code after a generation, oldest first.
-- returns: generation INT64, delta BLOB
SELECT generation, delta FROM feed WHERE generation > $generation ORDER BY generation
