// Small facts about the database.

// name: meta_all()
// All of them, by name.
// returns: name STRING, value STRING
MATCH (m:Meta) RETURN m.name AS name, m.value AS value ORDER BY name

// name: meta_put(name, value)
// Set one.
MERGE (m:Meta {name: $name}) ON CREATE SET m.value = $value ON MATCH SET m.value = $value
