// Which files of queries/schema made the database, and what is in it table by table.

// name: tables()
// Every table there is, ours or not.
// returns: name STRING, type STRING
CALL show_tables() RETURN name, type ORDER BY name

// name: history_create()
// The one table that must be there before the first file of queries/schema: it says which of them have been run.
CREATE NODE TABLE IF NOT EXISTS SchemaVersion(version STRING PRIMARY KEY, name STRING, sha256 STRING, applied_at TIMESTAMP)

// name: history()
// Files that have been run, in order.
// returns: version STRING, name STRING, sha256 STRING
MATCH (v:SchemaVersion) RETURN v.version AS version, v.name AS name, v.sha256 AS sha256 ORDER BY version

// name: history_add(version, name, sha256, applied_at)
// One more.
CREATE (:SchemaVersion {version: $version, name: $name, sha256: $sha256, applied_at: $applied_at})

// name: node_count()
// Nodes of a table, which reads it from end to end.
// fill: @label NodeTable
// returns: nodes INT64
MATCH (n:@label) RETURN count(*) AS nodes

// name: edge_count()
// Edges of a table, which reads it from end to end.
// fill: @edge RelTable
// returns: edges INT64
MATCH ()-[e:@edge]->() RETURN count(*) AS edges
