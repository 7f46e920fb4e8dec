"""The SQL of the injection log.

`injections` is shared with the agent's own program, which may append rows at any time: columns are added,
never renamed or dropped. What is ours begins with `pc_`.

- `pc_texts` keeps every text once, by its SHA-256: queries, the words of memories, and the documents of
  `memory.injections.blocks`. `seen` is the last day (since 1970) of a turn that used it.
- `pc_injection_items` answers every question by one range of its key: the turns of all (`Index.TURN`), of a
  session, of a chunk, and those that were told of a session. It is derived from the shared columns, so rows
  of the other program are found as well. `at` is in microseconds since 1970.
- `pc_injection_counts` has the number of turns that each chunk entered; triggers keep it.
- `pc_injection_given` is the first time that a session was given a chunk.
"""

SCHEMA_VERSION = 1
SCHEMA_MARKER = "pc_schema"
INDEXED_TO = "pc_indexed_to"
ANCHOR = "pc_anchor"

SHARED_TABLES = """
CREATE TABLE IF NOT EXISTS injections (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    ts                 TEXT NOT NULL,
    session_id         TEXT NOT NULL DEFAULT '',
    digest_session_ids TEXT NOT NULL DEFAULT '[]',
    hot_chunk_ids      TEXT NOT NULL DEFAULT '[]',
    rag_chunk_ids      TEXT NOT NULL DEFAULT '[]',
    approx_tokens      INTEGER NOT NULL DEFAULT 0
)
"""

REQUIRED_COLUMNS = frozenset(
    {"id", "ts", "session_id", "digest_session_ids", "hot_chunk_ids", "rag_chunk_ids", "approx_tokens"}
)
ADDED_COLUMNS = {
    "rag_stage_counts": "TEXT",  # newer releases of the other program have it too
    "pc_seq": "INTEGER",
    "pc_mac": "BLOB",
    "pc_key": "TEXT",
    "pc_turn_id": "TEXT",
    "pc_model": "TEXT",
    "pc_window": "INTEGER",
    "pc_query": "BLOB",
    "pc_text_sha256": "TEXT",
    "pc_blocks": "BLOB",
    "pc_beside": "BLOB",
    "pc_left_out": "BLOB",
    "pc_about": "TEXT",
}

OWN_TABLES = """
CREATE TABLE IF NOT EXISTS pc_injection_meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS pc_texts (
    id   INTEGER PRIMARY KEY,
    sha  BLOB NOT NULL UNIQUE,
    seen INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS pc_injection_items (
    kind         INTEGER NOT NULL,
    ref          NOT NULL,
    at           INTEGER NOT NULL,
    injection_id INTEGER NOT NULL,
    PRIMARY KEY (kind, ref, at, injection_id)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pc_injection_counts (ref NOT NULL PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pc_injection_given (
    session_id   TEXT NOT NULL,
    ref          NOT NULL,
    at           INTEGER NOT NULL,
    injection_id INTEGER NOT NULL,
    tier         INTEGER,
    source       TEXT,
    PRIMARY KEY (session_id, ref)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pc_texts_seen ON pc_texts(seen);
CREATE INDEX IF NOT EXISTS pc_injections_chain ON injections(pc_seq) WHERE pc_seq IS NOT NULL;
CREATE INDEX IF NOT EXISTS pc_injections_answer ON injections(pc_turn_id, pc_key) WHERE pc_turn_id IS NOT NULL
"""

# Each is one statement with semicolons of its own. The 2 is Index.CHUNK.
TRIGGERS = (
    """CREATE TRIGGER IF NOT EXISTS pc_injection_counted AFTER INSERT ON pc_injection_items WHEN new.kind = 2
    BEGIN
        INSERT INTO pc_injection_counts (ref, n) VALUES (new.ref, 1) ON CONFLICT (ref) DO UPDATE SET n = n + 1;
    END""",
    """CREATE TRIGGER IF NOT EXISTS pc_injection_uncounted AFTER DELETE ON pc_injection_items WHEN old.kind = 2
    BEGIN
        UPDATE pc_injection_counts SET n = n - 1 WHERE ref = old.ref;
        DELETE FROM pc_injection_counts WHERE ref = old.ref AND n = 0;
    END""",
)
