// Layer 1: what is written in the repository. Column order is that of graphmem/model.py.
//
// Ids are strings everywhere: the engine uses its primary-key index for string parameters only.
// `stale_at` is set on a node that is gone from the code but still pointed at by knowledge (layer 3);
// queries see only nodes and edges whose `stale_at` is null unless they say otherwise.

CREATE NODE TABLE File(
  id STRING PRIMARY KEY,
  path STRING,
  language STRING,
  module STRING,
  content_hash STRING,
  size_bytes INT64,
  lines INT64,
  is_test BOOLEAN,
  error_count INT64,
  diagnostic STRING,
  call_sites INT64,
  stale_at TIMESTAMP
);

CREATE NODE TABLE Symbol(
  id STRING PRIMARY KEY,
  path STRING,
  kind STRING,
  name STRING,
  qualname STRING,
  parent_id STRING,
  signature STRING,
  doc STRING,
  start_line INT64,
  end_line INT64,
  start_byte INT64,
  end_byte INT64,
  name_line INT64,
  name_column INT64,
  body_hash STRING,
  modifiers STRING,
  entry_point STRING,
  complexity INT64,
  is_test BOOLEAN,
  stale_at TIMESTAMP
);

// A package that is used but not part of the repository, or a symbol of one.
CREATE NODE TABLE External(
  id STRING PRIMARY KEY,
  package STRING,
  name STRING,
  stale_at TIMESTAMP
);

// `text` is prefix and text, deflated: a string column is written in powers of two, so 20 MB of text would take 32 MB of file
// and 36 MB would take 64; packed it takes a quarter (docs/decisions/0001-engine.md).
CREATE NODE TABLE Chunk(
  id STRING PRIMARY KEY,
  path STRING,
  symbol_id STRING,
  kind STRING,
  title STRING,
  start_line INT64,
  end_line INT64,
  text BLOB,
  text_hash STRING,
  stale_at TIMESTAMP
);

// A call site whose target could not be told.
CREATE NODE TABLE Unresolved(
  id STRING PRIMARY KEY,
  path STRING,
  caller_id STRING,
  name STRING,
  line INT64,
  reason STRING,
  stale_at TIMESTAMP
);

// Every edge carries its evidence. `line` is the first site in the file of the source; `offsets` are the distances
// of further ones from it ("36,89"), null when there are none. So an edge whose code only moved changes in one number.
CREATE REL TABLE DEFINES(
  FROM File TO Symbol, FROM Symbol TO Symbol,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);
CREATE REL TABLE IMPORTS(
  FROM File TO File, FROM File TO External,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);
CREATE REL TABLE CALLS(
  FROM Symbol TO Symbol, FROM Symbol TO External,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);
CREATE REL TABLE REFERENCES(
  FROM Symbol TO Symbol, FROM Symbol TO External,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);
CREATE REL TABLE INHERITS(
  FROM Symbol TO Symbol, FROM Symbol TO External,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);
CREATE REL TABLE OVERRIDES(
  FROM Symbol TO Symbol, FROM Symbol TO External,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);
CREATE REL TABLE USES_TYPE(
  FROM Symbol TO Symbol, FROM Symbol TO External,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);
CREATE REL TABLE TESTS(
  FROM Symbol TO Symbol,
  confidence DOUBLE, source STRING, rule STRING, line INT64, offsets STRING, stale_at TIMESTAMP
);

// Where a chunk was cut; follows Chunk.symbol_id.
CREATE REL TABLE CHUNK_OF(FROM Chunk TO Symbol);

// Small facts about the database: generation, project, root, indexed_at, ...
CREATE NODE TABLE Meta(name STRING PRIMARY KEY, value STRING);
