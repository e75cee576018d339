-- Changes of the code, for servers that follow the one that writes. A first or large load has no row: followers read the graph again.
CREATE TABLE feed (generation bigint PRIMARY KEY, delta bytea NOT NULL, at timestamptz NOT NULL DEFAULT now());
ALTER TABLE feed ALTER delta SET STORAGE EXTERNAL;
