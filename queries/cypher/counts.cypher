// How much there is, and how it is known.

// name: edge_counts()
// Live edges of the code by kind, rule, source and confidence.
// returns: kind STRING, rule STRING, source STRING, confidence DOUBLE, edges INT64
MATCH ()-[e:DEFINES|IMPORTS|CALLS|REFERENCES|INHERITS|OVERRIDES|USES_TYPE|TESTS]->()
WHERE e.stale_at IS NULL
RETURN label(e) AS kind, e.rule AS rule, e.source AS source, e.confidence AS confidence, count(*) AS edges
ORDER BY kind, edges DESC, rule, source, confidence

// name: call_rules()
// Live calls by the rule that found them: edges, and the places in the code that make them.
// returns: rule STRING, edges INT64, sites INT64
MATCH ()-[e:CALLS]->()
WHERE e.stale_at IS NULL
RETURN e.rule AS rule, count(*) AS edges,
  cast(sum(CASE WHEN e.offsets IS NULL THEN 1 ELSE 1 + size(string_split(e.offsets, ',')) END) AS INT64) AS sites
ORDER BY sites DESC, rule

// name: unresolved_counts()
// Call sites whose target could not be told, by reason.
// returns: reason STRING, sites INT64
MATCH (u:Unresolved)
WHERE u.stale_at IS NULL
RETURN u.reason AS reason, count(*) AS sites
ORDER BY sites DESC, reason

// name: unresolved_named(called_name, max_rows)
// Call sites of this name whose target could not be told.
// returns: id STRING, path STRING, caller_id STRING, line INT64, reason STRING
MATCH (u:Unresolved)
WHERE u.name = $called_name AND u.stale_at IS NULL
RETURN u.id AS id, u.path AS path, u.caller_id AS caller_id, u.line AS line, u.reason AS reason
ORDER BY path, line, id
LIMIT $max_rows

// name: chunk_count()
// Live chunks.
// returns: chunks INT64
MATCH (c:Chunk)
WHERE c.stale_at IS NULL
RETURN count(*) AS chunks

// name: memory_counts()
// Memories by status and type.
// returns: status STRING, type STRING, memories INT64
MATCH (m:Memory)
RETURN m.status AS status, m.type AS type, count(*) AS memories
ORDER BY status, type

// name: code_node_counts()
// Rows of the code's node tables, stale ones too: what decides whether a load may be a bulk one.
// returns: label STRING, nodes INT64
MATCH (n:File) RETURN "File" AS label, count(*) AS nodes
UNION ALL MATCH (n:Symbol) RETURN "Symbol" AS label, count(*) AS nodes
UNION ALL MATCH (n:External) RETURN "External" AS label, count(*) AS nodes
UNION ALL MATCH (n:Chunk) RETURN "Chunk" AS label, count(*) AS nodes
UNION ALL MATCH (n:Unresolved) RETURN "Unresolved" AS label, count(*) AS nodes
UNION ALL MATCH (n:Occurrences) RETURN "Occurrences" AS label, count(*) AS nodes

// name: carried_count()
// Nodes of layers 2 and 3, which a new file has to take over.
// returns: nodes INT64
MATCH (n:Module:Flow:FrameworkKey:Memory:Session:ErrorPattern:Person) RETURN count(*) AS nodes
