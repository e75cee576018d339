-- People, teams, roles and visibility: the tables. `graphmem organisation found` runs this once, as the owner of the tables,
-- then `rules.sql` and `walls.sql`.
-- The owner is not subject to row-level security, so it must not be the login role of a person.

ALTER TABLE graphmem.about ADD COLUMN sight bigint NOT NULL DEFAULT 0;  -- grows when somebody may see more or less
ALTER TABLE graphmem.about ADD COLUMN founded timestamptz NOT NULL DEFAULT now();

CREATE TABLE graphmem.person (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  role name UNIQUE,  -- the login role; NULL after the person was erased
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 200),
  is_admin boolean NOT NULL DEFAULT false,
  made_role boolean NOT NULL DEFAULT false,
  invited timestamptz NOT NULL DEFAULT now(),
  disabled timestamptz
);
CREATE TABLE graphmem.team (
  id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100)
);
CREATE TABLE graphmem.member (
  team int NOT NULL REFERENCES graphmem.team ON DELETE CASCADE,
  person int NOT NULL REFERENCES graphmem.person ON DELETE CASCADE,
  is_steward boolean NOT NULL DEFAULT false,
  PRIMARY KEY (team, person)
);
CREATE TABLE graphmem.access (
  project text NOT NULL REFERENCES graphmem.project ON DELETE CASCADE,
  team int REFERENCES graphmem.team ON DELETE CASCADE,
  person int REFERENCES graphmem.person ON DELETE CASCADE,
  level int NOT NULL CHECK (level BETWEEN 1 AND 4),  -- read, write, curate, admin
  CHECK (num_nonnulls(team, person) = 1),
  UNIQUE (project, team),
  UNIQUE (project, person)
);
CREATE TABLE graphmem.memory (
  project text NOT NULL REFERENCES graphmem.project ON DELETE CASCADE,
  id text NOT NULL,
  owner int REFERENCES graphmem.person,
  visibility text NOT NULL CHECK (visibility IN ('personal', 'team', 'project', 'organization')),
  team int REFERENCES graphmem.team,
  PRIMARY KEY (project, id)
);
CREATE TABLE graphmem.comment (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  project text NOT NULL,
  memory text NOT NULL,
  parent uuid REFERENCES graphmem.comment,
  author int REFERENCES graphmem.person,
  at timestamptz NOT NULL DEFAULT now(),
  text text NOT NULL CHECK (length(text) BETWEEN 1 AND 4000),
  FOREIGN KEY (project, memory) REFERENCES graphmem.memory ON DELETE CASCADE
);
CREATE INDEX comment_memory ON graphmem.comment (project, memory);
CREATE TABLE graphmem.audit (
  n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  person text NOT NULL,
  action text NOT NULL,
  target text NOT NULL DEFAULT '',
  details text NOT NULL DEFAULT ''
);
CREATE TABLE graphmem.seen (
  person int NOT NULL REFERENCES graphmem.person ON DELETE CASCADE,
  project text NOT NULL REFERENCES graphmem.project ON DELETE CASCADE,
  device text NOT NULL,
  last timestamptz NOT NULL DEFAULT now(),
  exchanges bigint NOT NULL DEFAULT 0,
  pulled bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (person, project, device)
);
ALTER TABLE graphmem.op ADD COLUMN author int REFERENCES graphmem.person;
CREATE INDEX op_author ON graphmem.op (author);
ALTER TABLE graphmem.op ADD COLUMN words bytea;  -- SHA-256 of the text: who wrote it first owns it
CREATE INDEX op_words ON graphmem.op (project, words);
