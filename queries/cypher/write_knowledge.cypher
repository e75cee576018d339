// Changes of layer 3, inside one transaction. Few rows go by id, which uses the primary-key index; many go as Arrow
// rows, joined in one pass (graphmem/store/writes/write_knowledge.py chooses). Numbers, flags and times of a memory are set
// together, strings only where they differ: setting a string makes the next checkpoint write the whole column anew.

// name: create_memories(rows)
// New memories.
LOAD FROM $rows
CREATE (:Memory {id: id, short_id: short_id, fingerprint: fingerprint, type: type, title: title, citation: citation, content: content,
  confidence: confidence, importance: importance, strength: strength, source: source, scope: scope, visibility: visibility, status: status,
  needs_review: needs_review, user_verified: user_verified, disputed: disputed, contaminated: contaminated, tags: tags,
  created_at: created_at, updated_at: updated_at, last_accessed_at: last_accessed_at, valid_from: valid_from, valid_to: valid_to,
  stale_at: stale_at, deprecated_at: deprecated_at, injected_count: injected_count, used_count: used_count,
  confirmed_count: confirmed_count, origin: origin, half_life_days: half_life_days, commit_sha: commit_sha, work_unit: work_unit,
  details: details, text_hash: text_hash, embedding_model: embedding_model})

// name: create_sessions(rows)
// New sessions.
LOAD FROM $rows
CREATE (:Session {id: id, agent: agent, kind: kind, title: title, started_at: started_at, ended_at: ended_at, commit_sha: commit_sha,
  details: details, stale_at: stale_at})

// name: set_memories(rows)
// Everything of memories but their texts and tags; their ids are in the column `wanted`.
LOAD FROM $rows
MATCH (n:Memory) WHERE n.id = wanted
SET n.confidence = confidence, n.importance = importance, n.strength = strength, n.needs_review = needs_review,
  n.user_verified = user_verified, n.disputed = disputed, n.contaminated = contaminated, n.created_at = created_at,
  n.updated_at = updated_at, n.last_accessed_at = last_accessed_at, n.valid_from = valid_from, n.valid_to = valid_to,
  n.stale_at = stale_at, n.deprecated_at = deprecated_at, n.injected_count = injected_count, n.used_count = used_count,
  n.confirmed_count = confirmed_count, n.half_life_days = half_life_days

// name: set_sessions(rows)
// The times of sessions; their ids are in the column `wanted`.
LOAD FROM $rows
MATCH (n:Session) WHERE n.id = wanted
SET n.started_at = started_at, n.ended_at = ended_at, n.stale_at = stale_at

// name: create_memory(id, short_id, fingerprint, type, title, citation, content, confidence, importance, strength, source, scope, visibility, status, needs_review, user_verified, disputed, contaminated, tags, created_at, updated_at, last_accessed_at, valid_from, valid_to, stale_at, deprecated_at, injected_count, used_count, confirmed_count, origin, half_life_days, commit_sha, work_unit, details, text_hash, embedding_model)
// One new memory.
CREATE (:Memory {id: $id, short_id: $short_id, fingerprint: $fingerprint, type: $type, title: $title, citation: $citation, content: $content,
  confidence: $confidence, importance: $importance, strength: $strength, source: $source, scope: $scope, visibility: $visibility,
  status: $status, needs_review: $needs_review, user_verified: $user_verified, disputed: $disputed, contaminated: $contaminated, tags: $tags,
  created_at: $created_at, updated_at: $updated_at, last_accessed_at: $last_accessed_at, valid_from: $valid_from, valid_to: $valid_to,
  stale_at: $stale_at, deprecated_at: $deprecated_at, injected_count: $injected_count, used_count: $used_count,
  confirmed_count: $confirmed_count, origin: $origin, half_life_days: $half_life_days, commit_sha: $commit_sha, work_unit: $work_unit,
  details: $details, text_hash: $text_hash, embedding_model: $embedding_model})

// name: create_session(id, agent, kind, title, started_at, ended_at, commit_sha, details, stale_at)
// One new session.
CREATE (:Session {id: $id, agent: $agent, kind: $kind, title: $title, started_at: $started_at, ended_at: $ended_at, commit_sha: $commit_sha,
  details: $details, stale_at: $stale_at})

// name: set_memory(id, confidence, importance, strength, needs_review, user_verified, disputed, contaminated, created_at, updated_at, last_accessed_at, valid_from, valid_to, stale_at, deprecated_at, injected_count, used_count, confirmed_count, half_life_days)
// Everything of one memory but its texts and tags.
MATCH (n:Memory {id: $id})
SET n.confidence = $confidence, n.importance = $importance, n.strength = $strength, n.needs_review = $needs_review,
  n.user_verified = $user_verified, n.disputed = $disputed, n.contaminated = $contaminated, n.created_at = $created_at,
  n.updated_at = $updated_at, n.last_accessed_at = $last_accessed_at, n.valid_from = $valid_from, n.valid_to = $valid_to,
  n.stale_at = $stale_at, n.deprecated_at = $deprecated_at, n.injected_count = $injected_count, n.used_count = $used_count,
  n.confirmed_count = $confirmed_count, n.half_life_days = $half_life_days

// name: set_session(id, started_at, ended_at, stale_at)
// The times of one session.
MATCH (n:Session {id: $id})
SET n.started_at = $started_at, n.ended_at = $ended_at, n.stale_at = $stale_at

// name: set_texts(rows)
// One string or list of strings of many nodes; their ids are in the column `wanted`.
// fill: @label NodeTable, @column TextColumn
LOAD FROM $rows MATCH (n:@label) WHERE n.id = wanted SET n.@column = value

// name: put_placeholder(id, path, moment)
// A file that a memory names and no index has seen: stale, until one does.
MERGE (f:File {id: $id})
ON CREATE SET f.path = $path, f.language = "", f.module = "", f.content_hash = "", f.size_bytes = 0, f.lines = 0, f.is_test = false,
  f.error_count = 0, f.diagnostic = "", f.call_sites = 0, f.stale_at = $moment

// name: target_id(id)
// The id, when there is a node of that id.
// fill: @label NodeTable
// returns: id STRING
MATCH (n:@label {id: $id}) RETURN n.id AS id

// name: target_states(rows)
// Which of the ids in the column `wanted` are nodes of this label, and whether they are stale.
// fill: @label NodeTable
// returns: id STRING, stale BOOL
LOAD FROM $rows MATCH (n:@label) WHERE n.id = wanted RETURN n.id AS id, n.stale_at IS NOT NULL AS stale

// name: target_state(id)
// The same for one id.
// fill: @label NodeTable
// returns: id STRING, stale BOOL
MATCH (n:@label {id: $id}) RETURN n.id AS id, n.stale_at IS NOT NULL AS stale

// name: symbol_states(rows)
// The same for symbols, with the hash of their body.
// returns: id STRING, stale BOOL, body_hash STRING
LOAD FROM $rows MATCH (n:Symbol) WHERE n.id = wanted RETURN n.id AS id, n.stale_at IS NOT NULL AS stale, n.body_hash AS body_hash

// name: symbol_state(id)
// The same for one symbol.
// returns: id STRING, stale BOOL, body_hash STRING
MATCH (n:Symbol {id: $id}) RETURN n.id AS id, n.stale_at IS NOT NULL AS stale, n.body_hash AS body_hash

// name: memory_edges(id)
// Edges of one FROM … TO … that leave a node of layer 3: the ids of the ends, then the columns in the table's order.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: *
MATCH (a:@from {id: $id})-[e:@edge]->(b:@to) RETURN a.id AS src, b.id AS dst, e.*

// name: memory_edges_in(id)
// The same for those that reach it.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
// returns: *
MATCH (a:@from)-[e:@edge]->(b:@to {id: $id}) RETURN a.id AS src, b.id AS dst, e.*

// name: create_about(src, dst, role, confidence, body_hash, commit_sha, anchor)
// One link from a memory to what it is about; answers 0 when an end is missing.
// fill: @to NodeTable
// returns: edges INT64
MATCH (a:Memory {id: $src}), (b:@to {id: $dst})
CREATE (a)-[e:ABOUT {role: $role, confidence: $confidence, body_hash: $body_hash, commit_sha: $commit_sha, anchor: $anchor}]->(b)
RETURN count(*) AS edges

// name: create_abouts(rows)
// Many of them; answers how many ends were found for.
// fill: @to NodeTable
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Memory) WHERE a.id = src
MATCH (b:@to) WHERE b.id = dst
CREATE (a)-[e:ABOUT {role: role, confidence: confidence, body_hash: body_hash, commit_sha: commit_sha, anchor: anchor}]->(b)
RETURN count(*) AS edges

// name: delete_about(src, dst, role)
// One link of that role.
// fill: @to NodeTable
MATCH (a:Memory {id: $src})-[e:ABOUT]->(b:@to) WHERE b.id = $dst AND e.role = $role DELETE e

// name: delete_abouts(rows)
// Many of them, named by the columns `src`, `dst` and `of_role`.
// fill: @to NodeTable
LOAD FROM $rows
MATCH (a:Memory) WHERE a.id = src
MATCH (b:@to) WHERE b.id = dst
MATCH (a)-[e:ABOUT]->(b) WHERE e.role = of_role
DELETE e

// name: create_relation(src, dst, kind, confidence, auto)
// One link between memories; answers 0 when an end is missing.
// returns: edges INT64
MATCH (a:Memory {id: $src}), (b:Memory {id: $dst})
CREATE (a)-[e:RELATES {kind: $kind, confidence: $confidence, auto: $auto}]->(b)
RETURN count(*) AS edges

// name: create_relations(rows)
// Many of them; answers how many ends were found for.
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Memory) WHERE a.id = src
MATCH (b:Memory) WHERE b.id = dst
CREATE (a)-[e:RELATES {kind: kind, confidence: confidence, auto: auto}]->(b)
RETURN count(*) AS edges

// name: delete_relation(src, dst, kind)
// One link of that kind.
MATCH (a:Memory {id: $src})-[e:RELATES]->(b:Memory) WHERE b.id = $dst AND e.kind = $kind DELETE e

// name: delete_relations(rows)
// Many of them, named by the columns `src`, `dst` and `of_kind`.
LOAD FROM $rows
MATCH (a:Memory) WHERE a.id = src
MATCH (b:Memory) WHERE b.id = dst
MATCH (a)-[e:RELATES]->(b) WHERE e.kind = of_kind
DELETE e

// name: create_learnt(src, dst, message_from, message_to)
// In which session one memory was learnt; answers 0 when an end is missing.
// returns: edges INT64
MATCH (a:Memory {id: $src}), (b:Session {id: $dst})
CREATE (a)-[e:LEARNT_IN {message_from: $message_from, message_to: $message_to}]->(b)
RETURN count(*) AS edges

// name: create_learnts(rows)
// Many of them; answers how many ends were found for.
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Memory) WHERE a.id = src
MATCH (b:Session) WHERE b.id = dst
CREATE (a)-[e:LEARNT_IN {message_from: message_from, message_to: message_to}]->(b)
RETURN count(*) AS edges

// name: text_hashes()
// Of every row of this label: a text that nothing has any more needs no vector.
// fill: @label NodeTable
// returns: text_hash STRING
MATCH (n:@label) RETURN n.text_hash AS text_hash

// name: create_co_accessed(rows)
// Files that are read together; answers how many ends were found for.
// returns: edges INT64
LOAD FROM $rows
MATCH (a:File) WHERE a.id = src
MATCH (b:File) WHERE b.id = dst
CREATE (a)-[e:CO_ACCESSED {sessions: sessions, confidence: confidence, last_seen_at: last_seen_at}]->(b)
RETURN count(*) AS edges

// name: create_seen_in(rows)
// Where errors were seen; answers how many ends were found for.
// fill: @to NodeTable
// returns: edges INT64
LOAD FROM $rows
MATCH (a:ErrorPattern) WHERE a.id = src
MATCH (b:@to) WHERE b.id = dst
CREATE (a)-[e:SEEN_IN {line: line, seen_at: seen_at}]->(b)
RETURN count(*) AS edges

// name: create_owns(rows)
// Who owns what; answers how many ends were found for.
// fill: @to NodeTable
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Person) WHERE a.id = src
MATCH (b:@to) WHERE b.id = dst
CREATE (a)-[e:OWNS {share: share, commits: commits, last_commit_at: last_commit_at}]->(b)
RETURN count(*) AS edges
