// Layer 2: what is derived from the code, or told by a model. May be rebuilt from layer 1 at any time.

CREATE NODE TABLE Module(
  id STRING PRIMARY KEY,
  name STRING,
  path STRING,
  summary STRING,
  source STRING,
  confidence DOUBLE,
  stale_at TIMESTAMP
);

CREATE NODE TABLE Flow(
  id STRING PRIMARY KEY,
  name STRING,
  kind STRING,
  summary STRING,
  source STRING,
  confidence DOUBLE,
  stale_at TIMESTAMP
);

// A route, an event or a configuration key, where a framework names one.
CREATE NODE TABLE FrameworkKey(
  id STRING PRIMARY KEY,
  kind STRING,
  name STRING,
  framework STRING,
  stale_at TIMESTAMP
);

CREATE REL TABLE CONTAINS(
  FROM Module TO File,
  confidence DOUBLE, source STRING, rule STRING, line INT64, stale_at TIMESTAMP
);
CREATE REL TABLE DEPENDS_ON(
  FROM Module TO Module,
  confidence DOUBLE, source STRING, rule STRING, line INT64, weight INT64, stale_at TIMESTAMP
);
CREATE REL TABLE STARTS_AT(
  FROM Flow TO Symbol,
  confidence DOUBLE, source STRING, rule STRING, line INT64, stale_at TIMESTAMP
);
CREATE REL TABLE STEP(
  FROM Flow TO Symbol,
  position INT64, confidence DOUBLE, source STRING, rule STRING, line INT64, stale_at TIMESTAMP
);
CREATE REL TABLE HANDLES(
  FROM Symbol TO FrameworkKey,
  confidence DOUBLE, source STRING, rule STRING, line INT64, stale_at TIMESTAMP
);
