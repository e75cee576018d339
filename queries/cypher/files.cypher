// Files of the repository.

// name: files()
// All live files by path.
// returns: id STRING, path STRING, language STRING, module STRING, content_hash STRING, size_bytes INT64, lines INT64, is_test BOOL, error_count INT64
// returns: diagnostic STRING, call_sites INT64
MATCH (f:File)
WHERE f.stale_at IS NULL
RETURN f.id AS id, f.path AS path, f.language AS language, f.module AS module, f.content_hash AS content_hash, f.size_bytes AS size_bytes,
       f.lines AS lines, f.is_test AS is_test, f.error_count AS error_count, f.diagnostic AS diagnostic, f.call_sites AS call_sites
ORDER BY path

// name: file_hashes()
// What an index run compares with the tree.
// returns: path STRING, content_hash STRING
MATCH (f:File)
WHERE f.stale_at IS NULL
RETURN f.path AS path, f.content_hash AS content_hash
ORDER BY path

// name: file_totals()
// Files and call sites of each language.
// returns: language STRING, files INT64, call_sites INT64, lines INT64
MATCH (f:File)
WHERE f.stale_at IS NULL
RETURN f.language AS language, count(*) AS files, cast(sum(f.call_sites) AS INT64) AS call_sites, cast(sum(f.lines) AS INT64) AS lines
ORDER BY language
