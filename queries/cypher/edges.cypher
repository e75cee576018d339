// One step from a symbol. Evidence first: strongest, then by id, so that a cut is the same every time.

// name: callers_of(symbol_id, max_rows)
// Direct callers of a symbol, strongest evidence first.
// returns: id STRING, path STRING, qualname STRING, confidence DOUBLE, source STRING, rule STRING, line INT64
MATCH (t:Symbol {id: $symbol_id})<-[e:CALLS]-(s:Symbol)
WHERE e.stale_at IS NULL AND s.stale_at IS NULL
RETURN s.id AS id, s.path AS path, s.qualname AS qualname, e.confidence AS confidence, e.source AS source, e.rule AS rule, e.line AS line
ORDER BY confidence DESC, id
LIMIT $max_rows

// name: impact_reference(symbol_id, min_confidence, without_rule)
// Who depends on a symbol, with the fewest steps: the engine's own answer, which the projection is compared with.
// Edges of the rule without_rule are not followed.
// fill: @depth 1..30
// returns: id STRING, depth INT64
MATCH (t:Symbol {id: $symbol_id})<-[e:CALLS|REFERENCES|INHERITS|OVERRIDES|USES_TYPE|TESTS* SHORTEST 1..@depth (r, n | WHERE r.stale_at IS NULL AND r.confidence >= $min_confidence AND r.rule <> $without_rule)]-(s:Symbol)
RETURN s.id AS id, length(e) AS depth
ORDER BY depth, id

// name: edges_of_rule(rule)
// Every dependency between symbols that a rule found.
// returns: target_id STRING, source_id STRING
MATCH (t:Symbol)<-[e:CALLS|REFERENCES|INHERITS|OVERRIDES|USES_TYPE|TESTS]-(s:Symbol)
WHERE e.stale_at IS NULL AND e.rule = $rule
RETURN t.id AS target_id, s.id AS source_id
ORDER BY target_id, source_id
