// Where a file writes names of nodes, packed (graphmem/runtime/texts/places.py). The id is that of the file.
CREATE NODE TABLE Occurrences(
  id STRING PRIMARY KEY,
  path STRING,
  places BLOB,
  stale_at TIMESTAMP
);
