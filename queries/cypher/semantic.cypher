// Layer 2: modules and flows, derived from the code (graphmem/store/writes/derived.py). Written whole, since a change of the code can move any of it.

// name: module_rows()
// Modules as they were last worked out, gone ones too.
// returns: id STRING, name STRING, path STRING, summary STRING, gone BOOL
MATCH (m:Module)
RETURN m.id AS id, m.name AS name, m.path AS path, m.summary AS summary, m.stale_at IS NOT NULL AS gone
ORDER BY id

// name: module_files()
// Which files each module holds.
// returns: module_id STRING, path STRING
MATCH (m:Module)-[:CONTAINS]->(f:File)
RETURN m.id AS module_id, f.path AS path
ORDER BY module_id, path

// name: delete_all_edges()
// Every edge of one kind between two labels.
// fill: @edge RelTable, @from NodeTable, @to NodeTable
MATCH (:@from)-[e:@edge]->(:@to) DELETE e

// name: delete_flows()
// Every flow; its edges are gone before.
MATCH (n:Flow) DELETE n

// name: create_module(id, name, path, summary)
// One new module.
CREATE (:Module {id: $id, name: $name, path: $path, summary: $summary, source: 'ast', confidence: 1.0})

// name: set_module(id, name, path, summary)
// What is said of a module that is there.
MATCH (m:Module {id: $id}) SET m.name = $name, m.path = $path, m.summary = $summary, m.stale_at = NULL

// name: retire_module(id, moment)
// A module that is gone but that knowledge points at.
MATCH (m:Module {id: $id}) SET m.stale_at = $moment

// name: create_contains(rows)
// Files of modules; answers how many ends were found for.
// returns: edges INT64
LOAD FROM $rows
MATCH (m:Module) WHERE m.id = src
MATCH (f:File) WHERE f.id = dst
CREATE (m)-[e:CONTAINS {confidence: 1.0, source: 'ast', rule: 'community'}]->(f)
RETURN count(*) AS edges

// name: create_depends_on(rows)
// Dependencies of modules on each other; `weight` is the number of edges of the code.
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Module) WHERE a.id = src
MATCH (b:Module) WHERE b.id = dst
CREATE (a)-[e:DEPENDS_ON {confidence: 1.0, source: 'ast', rule: 'edges', weight: weight}]->(b)
RETURN count(*) AS edges

// name: create_flows(rows)
// New flows.
LOAD FROM $rows
CREATE (:Flow {id: id, name: name, kind: kind, source: 'ast', confidence: confidence})

// name: create_starts(rows)
// Where flows start.
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Flow) WHERE a.id = src
MATCH (b:Symbol) WHERE b.id = dst
CREATE (a)-[e:STARTS_AT {confidence: 1.0, source: 'ast', rule: 'entry_point'}]->(b)
RETURN count(*) AS edges

// name: create_steps(rows)
// What flows pass, from position 1.
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Flow) WHERE a.id = src
MATCH (b:Symbol) WHERE b.id = dst
CREATE (a)-[e:STEP {position: position, confidence: confidence, source: 'ast', rule: rule, line: line}]->(b)
RETURN count(*) AS edges

// name: co_accessed(path)
// Files that move with one, as the graph has them; what `coAccess` answers is worked out from the log itself.
// returns: path STRING, sessions INT64, confidence DOUBLE, last_seen_at TIMESTAMP
MATCH (:File {path: $path})-[e:CO_ACCESSED]->(b:File)
RETURN b.path AS path, e.sessions AS sessions, e.confidence AS confidence, e.last_seen_at AS last_seen_at
ORDER BY sessions DESC, path

// name: delete_framework_keys()
// Every key of a framework; its edges are gone before.
MATCH (n:FrameworkKey) DELETE n

// name: create_framework_keys(rows)
// New keys.
LOAD FROM $rows
CREATE (:FrameworkKey {id: id, kind: kind, name: name, framework: framework})

// name: create_handles(rows)
// Who handles which key.
// returns: edges INT64
LOAD FROM $rows
MATCH (a:Symbol) WHERE a.id = src
MATCH (b:FrameworkKey) WHERE b.id = dst
CREATE (a)-[e:HANDLES {confidence: confidence, source: 'ast', rule: rule, line: line}]->(b)
RETURN count(*) AS edges

// name: framework_keys()
// The names under which frameworks know functions, and which functions.
// returns: id STRING, kind STRING, name STRING, framework STRING, symbol_id STRING, confidence DOUBLE, source STRING, rule STRING, line INT64
MATCH (s:Symbol)-[e:HANDLES]->(k:FrameworkKey)
WHERE s.stale_at IS NULL AND e.stale_at IS NULL AND k.stale_at IS NULL
RETURN k.id AS id, k.kind AS kind, k.name AS name, k.framework AS framework, s.id AS symbol_id, e.confidence AS confidence,
  e.source AS source, e.rule AS rule, e.line AS line
ORDER BY kind, name, symbol_id
