// Layer 3: what people and sessions know. Never lost when the code graph is rebuilt.

// `text_hash` and `embedding_model` are the key of the memory's vector in an Embedding table.
// `work_unit` and `details` are JSON. All times are UTC.
CREATE NODE TABLE Memory(
  id STRING PRIMARY KEY,
  short_id STRING,
  fingerprint STRING,
  type STRING,
  title STRING,
  citation STRING,
  content STRING,
  confidence DOUBLE,
  importance DOUBLE,
  strength INT64,
  source STRING,
  scope STRING,
  visibility STRING,
  status STRING,
  needs_review BOOLEAN,
  user_verified BOOLEAN,
  disputed BOOLEAN,
  contaminated BOOLEAN,
  tags STRING[],
  created_at TIMESTAMP,
  updated_at TIMESTAMP,
  last_accessed_at TIMESTAMP,
  valid_from TIMESTAMP,
  valid_to TIMESTAMP,
  stale_at TIMESTAMP,
  deprecated_at TIMESTAMP,
  injected_count INT64,
  used_count INT64,
  confirmed_count INT64,
  origin STRING,
  half_life_days DOUBLE,
  commit_sha STRING,
  work_unit STRING,
  details STRING,
  text_hash STRING,
  embedding_model STRING
);

CREATE NODE TABLE Session(
  id STRING PRIMARY KEY,
  agent STRING,
  kind STRING,
  title STRING,
  started_at TIMESTAMP,
  ended_at TIMESTAMP,
  commit_sha STRING,
  details STRING,
  stale_at TIMESTAMP
);

CREATE NODE TABLE ErrorPattern(
  id STRING PRIMARY KEY,
  fingerprint STRING,
  title STRING,
  message STRING,
  fix STRING,
  seen_count INT64,
  first_seen_at TIMESTAMP,
  last_seen_at TIMESTAMP,
  stale_at TIMESTAMP
);

CREATE NODE TABLE Person(
  id STRING PRIMARY KEY,
  name STRING,
  email_hash STRING,
  stale_at TIMESTAMP
);

// role: about, target or impacts. anchor: valid, moved, suspect or orphaned.
CREATE REL TABLE ABOUT(
  FROM Memory TO Symbol, FROM Memory TO File, FROM Memory TO External, FROM Memory TO Module,
  role STRING, confidence DOUBLE, body_hash STRING, commit_sha STRING, anchor STRING
);
// kind: required_with, conflicts_with, validates, supersedes or derived_from.
CREATE REL TABLE RELATES(FROM Memory TO Memory, kind STRING, confidence DOUBLE, auto BOOLEAN);
CREATE REL TABLE LEARNT_IN(FROM Memory TO Session, message_from INT64, message_to INT64);
CREATE REL TABLE CO_ACCESSED(FROM File TO File, sessions INT64, confidence DOUBLE, last_seen_at TIMESTAMP);
CREATE REL TABLE SEEN_IN(FROM ErrorPattern TO Session, FROM ErrorPattern TO File, FROM ErrorPattern TO Symbol, line INT64, seen_at TIMESTAMP);
CREATE REL TABLE OWNS(FROM Person TO File, FROM Person TO Module, share DOUBLE, commits INT64, last_commit_at TIMESTAMP);
