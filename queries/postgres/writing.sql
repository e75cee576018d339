-- Changes of the graph in PostgreSQL. New rows come by COPY.

-- name: meta_put(name, value)
-- Set one small fact.
INSERT INTO meta (name, value) VALUES ($name, $value) ON CONFLICT (name) DO UPDATE SET value = excluded.value

-- name: delete_all()
-- Every row of a node table.
-- fill: @label NodeTable
DELETE FROM @label

-- name: delete_all_edges()
-- Every row of a table of edges of layers 2 and 3.
-- fill: @edge RelTable
DELETE FROM @edge

-- name: delete_code_edges()
-- Every edge of the code.
DELETE FROM edge

-- name: delete_nodes(ids)
-- Nodes with these ids.
-- fill: @label NodeTable
DELETE FROM @label WHERE id = ANY($ids::text[])

-- name: delete_edges(kinds, srcs, dsts)
-- Edges of the code with these keys.
DELETE FROM edge e
USING unnest($kinds::text[], $srcs::text[], $dsts::text[]) AS k (kind, src, dst)
WHERE e.src = k.src AND e.dst = k.dst AND e.kind = k.kind

-- name: sweep(ids)
-- Every edge of the code and of layer 2 at nodes that are removed.
WITH
  code_out AS (DELETE FROM edge WHERE src = ANY($ids::text[])),
  code_in AS (DELETE FROM edge WHERE dst = ANY($ids::text[]) AND NOT src = ANY($ids::text[])),
  modules AS (DELETE FROM contains WHERE dst = ANY($ids::text[])),
  starts AS (DELETE FROM starts_at WHERE dst = ANY($ids::text[])),
  steps AS (DELETE FROM step WHERE dst = ANY($ids::text[]))
DELETE FROM handles WHERE src = ANY($ids::text[])

-- name: mark_stale(ids, moment)
-- Mark removed nodes at which knowledge points.
-- fill: @label NodeTable
UPDATE @label SET stale_at = coalesce(stale_at, $moment) WHERE id = ANY($ids::text[])

-- name: delete_unheld(ids, label)
-- Stale nodes among these to which no memory links any more.
-- fill: @table NodeTable
DELETE FROM @table
WHERE id = ANY($ids::text[]) AND stale_at IS NOT NULL
  AND NOT EXISTS (SELECT FROM about a WHERE a.dst = @table.id AND a.label = $label)
  AND NOT EXISTS (SELECT FROM co_accessed c WHERE $label = 'File' AND (c.src = @table.id OR c.dst = @table.id))

-- name: put_placeholder(id, path, moment)
-- A file that a memory names and the index has not seen.
INSERT INTO file (id, path, language, module, content_hash, size_bytes, lines, is_test, error_count, diagnostic, call_sites, stale_at)
VALUES ($id, $path, '', '', '', 0, 0, false, 0, '', 0, $moment)
ON CONFLICT (id) DO NOTHING

-- name: delete_links_to(label, ids)
-- Links of memories to these nodes.
DELETE FROM about WHERE label = $label AND dst = ANY($ids::text[])

-- name: delete_links_of(ids)
-- Links of these memories to code.
DELETE FROM about WHERE src = ANY($ids::text[])

-- name: delete_memories(ids)
-- Memories with all their links.
WITH
  links AS (DELETE FROM about WHERE src = ANY($ids::text[])),
  others AS (DELETE FROM relates WHERE src = ANY($ids::text[]) OR dst = ANY($ids::text[])),
  sessions AS (DELETE FROM learnt_in WHERE src = ANY($ids::text[]))
DELETE FROM memory WHERE id = ANY($ids::text[])

-- name: delete_relates(srcs, dsts, kinds)
-- Links between memories with these keys.
DELETE FROM relates r
USING unnest($srcs::text[], $dsts::text[], $kinds::text[]) AS k (src, dst, kind)
WHERE r.src = k.src AND r.dst = k.dst AND r.kind = k.kind

-- name: delete_learnt(srcs, dsts)
-- Links from memories to sessions with these keys.
DELETE FROM learnt_in l USING unnest($srcs::text[], $dsts::text[]) AS k (src, dst) WHERE l.src = k.src AND l.dst = k.dst

-- name: delete_co_accessed(ids)
-- Pairs of files that change together, by either end.
DELETE FROM co_accessed WHERE src = ANY($ids::text[]) OR dst = ANY($ids::text[])

-- name: retire_modules(ids, moment)
-- Removed modules: those of a memory become stale.
WITH kept AS (UPDATE module SET stale_at = $moment WHERE id = ANY($ids::text[]) AND id IN (SELECT dst FROM about WHERE label = 'Module'))
DELETE FROM module WHERE id = ANY($ids::text[]) AND id NOT IN (SELECT dst FROM about WHERE label = 'Module')

-- name: forget_vectors(model)
-- All vectors of a model.
DELETE FROM vector WHERE model = $model

-- name: release_vectors(models, hashes)
-- Vectors of texts, given as pairs, that no chunk and no memory has any more.
DELETE FROM vector v
USING unnest($models::text[], $hashes::text[]) AS k (model, text_hash)
WHERE v.model = k.model AND v.text_hash = k.text_hash
  AND NOT EXISTS (SELECT FROM chunk c WHERE c.text_hash = v.text_hash)
  AND NOT EXISTS (SELECT FROM memory m WHERE m.text_hash = v.text_hash)

-- name: put_feed(generation, delta)
-- One change of the code, for followers.
INSERT INTO feed (generation, delta) VALUES ($generation, $delta)

-- name: prune_feed(generation)
-- Changes up to a generation.
DELETE FROM feed WHERE generation <= $generation

-- name: ring()
-- Wake the followers. It runs after the commit, because a notification within takes a lock of the whole server.
-- returns: rung STRING
SELECT pg_notify(current_schema(), '') AS rung
