-- The graph of one project, in a PostgreSQL schema of its own. Columns are those of queries/schema; times are naive and in UTC.
-- Ids and paths are compared by bytes, in every database alike. The character U+0000, which PostgreSQL refuses, is escaped by the store.

CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value text NOT NULL);

CREATE TABLE file (
  id text COLLATE "C" PRIMARY KEY, path text COLLATE "C", language text, module text, content_hash text, size_bytes bigint, lines bigint,
  is_test boolean, error_count bigint, diagnostic text, call_sites bigint, stale_at timestamp
);
CREATE INDEX ON file (path);

CREATE TABLE symbol (
  id text COLLATE "C" PRIMARY KEY, path text COLLATE "C", kind text, name text, qualname text, parent_id text, signature text, doc text,
  start_line bigint, end_line bigint, start_byte bigint, end_byte bigint, name_line bigint, name_column bigint, body_hash text,
  modifiers text, entry_point text, complexity bigint, is_test boolean, stale_at timestamp
);
CREATE INDEX ON symbol (path);

CREATE TABLE external (id text COLLATE "C" PRIMARY KEY, package text, name text, stale_at timestamp);

CREATE TABLE chunk (
  id text COLLATE "C" PRIMARY KEY, path text COLLATE "C", symbol_id text, kind text, title text, start_line bigint, end_line bigint,
  text bytea, text_hash text COLLATE "C", stale_at timestamp
);
CREATE INDEX ON chunk (path);
ALTER TABLE chunk ALTER text SET STORAGE EXTERNAL;  -- compressed already

CREATE TABLE unresolved (
  id text COLLATE "C" PRIMARY KEY, path text COLLATE "C", caller_id text, name text, line bigint, reason text, stale_at timestamp
);
CREATE INDEX ON unresolved (path);

CREATE TABLE occurrences (id text COLLATE "C" PRIMARY KEY, path text COLLATE "C", places bytea, stale_at timestamp);
CREATE INDEX ON occurrences (path);

CREATE TABLE edge (
  kind text COLLATE "C", src text COLLATE "C", dst text COLLATE "C", confidence double precision, source text, rule text, line bigint,
  offsets text, PRIMARY KEY (src, dst, kind)
);
CREATE INDEX ON edge (dst);

-- Layer 2.
CREATE TABLE module (id text COLLATE "C" PRIMARY KEY, name text, path text, summary text, stale_at timestamp);
CREATE TABLE contains (src text COLLATE "C", dst text COLLATE "C");
CREATE TABLE depends_on (src text COLLATE "C", dst text COLLATE "C", weight bigint);
CREATE TABLE flow (id text COLLATE "C" PRIMARY KEY, name text, kind text, confidence double precision);
CREATE TABLE starts_at (src text COLLATE "C", dst text COLLATE "C");
CREATE TABLE step (src text COLLATE "C", dst text COLLATE "C", position bigint, confidence double precision, rule text, line bigint);
CREATE TABLE frameworkkey (id text COLLATE "C" PRIMARY KEY, kind text, name text, framework text);
CREATE TABLE handles (src text COLLATE "C", dst text COLLATE "C", confidence double precision, rule text, line bigint);
CREATE INDEX ON contains (dst);
CREATE INDEX ON starts_at (dst);
CREATE INDEX ON step (dst);
CREATE INDEX ON handles (src);

-- Layer 3. `tags` is a JSON list.
CREATE TABLE memory (
  id text COLLATE "C" PRIMARY KEY, short_id text, fingerprint text, type text, title text, citation text, content text,
  confidence double precision, importance double precision, strength bigint, source text, scope text, visibility text, status text,
  needs_review boolean, user_verified boolean, disputed boolean, contaminated boolean, tags text, created_at timestamp,
  updated_at timestamp, last_accessed_at timestamp, valid_from timestamp, valid_to timestamp, stale_at timestamp, deprecated_at timestamp,
  injected_count bigint, used_count bigint, confirmed_count bigint, origin text, half_life_days double precision, commit_sha text,
  work_unit text, details text, text_hash text COLLATE "C", embedding_model text
);
CREATE TABLE session (
  id text COLLATE "C" PRIMARY KEY, agent text, kind text, title text, started_at timestamp, ended_at timestamp, commit_sha text,
  details text, stale_at timestamp
);
CREATE TABLE about (
  src text COLLATE "C", dst text COLLATE "C", label text, role text COLLATE "C", confidence double precision, body_hash text,
  commit_sha text, anchor text, PRIMARY KEY (src, dst, label, role)
);
CREATE INDEX ON about (dst);
CREATE TABLE relates (
  src text COLLATE "C", dst text COLLATE "C", kind text COLLATE "C", confidence double precision, auto boolean, PRIMARY KEY (src, dst, kind)
);
CREATE INDEX ON relates (dst);
CREATE TABLE learnt_in (src text COLLATE "C", dst text COLLATE "C", message_from bigint, message_to bigint, PRIMARY KEY (src, dst));
CREATE TABLE co_accessed (
  src text COLLATE "C", dst text COLLATE "C", sessions bigint, confidence double precision, last_seen_at timestamp, PRIMARY KEY (src, dst)
);
CREATE INDEX ON co_accessed (dst);

CREATE TABLE vector (model text, dim int, text_hash text COLLATE "C", vec bytea, PRIMARY KEY (model, dim, text_hash));
ALTER TABLE vector ALTER vec SET STORAGE EXTERNAL;
