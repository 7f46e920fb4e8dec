"""The SQL of the knowledge store.

`chunks`, `_kb_meta` and `chunk_vectors` are shared with the agent's own program: columns and tables are
added, never renamed or dropped. What is ours begins with `pc_`. Triggers use plain SQL only, because they
also fire inside the other program.
"""

from collections.abc import Sequence

SCHEMA_VERSION = 1

SHARED_TABLES = """
CREATE TABLE IF NOT EXISTS chunks (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    content       TEXT NOT NULL,
    domain        TEXT NOT NULL DEFAULT 'general',
    heading       TEXT,
    source        TEXT,
    source_type   TEXT,
    finding_type  TEXT,
    namespace     TEXT,
    epoch         TEXT,
    created_at    TEXT NOT NULL,
    updated_at    TEXT NOT NULL,
    invalidated_at TEXT,
    invalidation_reason TEXT,
    memory_kind   TEXT,
    subject       TEXT,
    review_state  TEXT,
    expires_at    TEXT,
    delivery_policy TEXT
);
CREATE TABLE IF NOT EXISTS _kb_meta (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS chunk_vectors (chunk_id INTEGER PRIMARY KEY, vec TEXT NOT NULL);
"""

REQUIRED_COLUMNS = frozenset({"id", "content", "domain", "created_at"})
TYPED_COLUMNS = ("memory_kind", "subject", "review_state", "expires_at", "delivery_policy")
OPTIONAL_COLUMNS = (
    "heading",
    "source",
    "source_type",
    "finding_type",
    "namespace",
    "epoch",
    "updated_at",
    "invalidated_at",
    "invalidation_reason",
    *TYPED_COLUMNS,
)

OWN_TABLES = """
CREATE TABLE IF NOT EXISTS pc_dirty (
    chunk_id INTEGER PRIMARY KEY,
    indexed  INTEGER NOT NULL,
    heading  TEXT,
    content  TEXT
);
CREATE TABLE IF NOT EXISTS pc_links (
    chunk_id  INTEGER NOT NULL,
    relation  TEXT NOT NULL,
    target_id INTEGER NOT NULL,
    PRIMARY KEY (chunk_id, relation)
);
CREATE TABLE IF NOT EXISTS pc_replaced (
    id INTEGER PRIMARY KEY,
    domain, memory_kind, delivery_policy, review_state, source_type, namespace, source,
    invalidated_at, invalidation_reason
);
CREATE TABLE IF NOT EXISTS pc_audit (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    at         TEXT NOT NULL,
    batch      TEXT NOT NULL,
    action     TEXT NOT NULL,
    chunk_id   INTEGER NOT NULL,
    actor      TEXT NOT NULL,
    role       TEXT NOT NULL,
    surface    TEXT NOT NULL,
    session_id TEXT,
    before     TEXT NOT NULL,
    after      TEXT NOT NULL,
    note       TEXT,
    undoes     TEXT
);
CREATE TABLE IF NOT EXISTS pc_counts (
    domain          TEXT NOT NULL,
    memory_kind     TEXT NOT NULL,
    delivery_policy TEXT NOT NULL,
    review_state    TEXT NOT NULL,
    source_type     TEXT NOT NULL,
    namespace       TEXT NOT NULL,
    gone            TEXT NOT NULL,
    n               INTEGER NOT NULL,
    PRIMARY KEY (domain, memory_kind, delivery_policy, review_state, source_type, namespace, gone)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pc_totals (
    domain          TEXT NOT NULL,
    memory_kind     TEXT NOT NULL,
    delivery_policy TEXT NOT NULL,
    review_state    TEXT NOT NULL,
    source_type     TEXT NOT NULL,
    gone            TEXT NOT NULL,
    n               INTEGER NOT NULL,
    PRIMARY KEY (domain, memory_kind, delivery_policy, review_state, source_type, gone)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pc_sources (
    source  TEXT PRIMARY KEY,
    total   INTEGER NOT NULL,
    deleted INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pc_fact_tokens (
    namespace TEXT NOT NULL,
    token     TEXT NOT NULL,
    size      INTEGER NOT NULL,
    chunk_id  INTEGER NOT NULL,
    PRIMARY KEY (namespace, token, size, chunk_id)
) WITHOUT ROWID;
"""

INDEXES = """
CREATE INDEX IF NOT EXISTS idx_chunks_domain ON chunks(domain);
CREATE INDEX IF NOT EXISTS idx_chunks_source ON chunks(source);
CREATE INDEX IF NOT EXISTS idx_chunks_namespace ON chunks(namespace);
CREATE INDEX IF NOT EXISTS idx_chunks_epoch ON chunks(epoch);
CREATE INDEX IF NOT EXISTS idx_chunks_invalidated_at ON chunks(invalidated_at);
CREATE INDEX IF NOT EXISTS pc_chunks_source ON chunks(source, invalidated_at);
CREATE INDEX IF NOT EXISTS pc_chunks_review ON chunks(review_state, invalidated_at);
CREATE INDEX IF NOT EXISTS pc_chunks_waiting ON chunks(id)
    WHERE COALESCE(review_state, '') <> 'rejected' AND COALESCE(review_state, '') <> 'confirmed';
CREATE INDEX IF NOT EXISTS pc_chunks_kind ON chunks(memory_kind);
CREATE INDEX IF NOT EXISTS pc_chunks_policy ON chunks(delivery_policy);
CREATE INDEX IF NOT EXISTS pc_chunks_expiry ON chunks(expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS pc_chunks_reason ON chunks(invalidation_reason) WHERE invalidation_reason IS NOT NULL;
CREATE INDEX IF NOT EXISTS pc_links_target ON pc_links(target_id);
CREATE INDEX IF NOT EXISTS pc_audit_chunk ON pc_audit(chunk_id);
CREATE INDEX IF NOT EXISTS pc_audit_batch ON pc_audit(batch);
CREATE INDEX IF NOT EXISTS pc_audit_undoes ON pc_audit(undoes) WHERE undoes IS NOT NULL;
CREATE INDEX IF NOT EXISTS pc_sources_live ON pc_sources(total - deleted);
CREATE INDEX IF NOT EXISTS pc_fact_tokens_chunk ON pc_fact_tokens(chunk_id);
"""

DIMENSIONS = ("domain", "memory_kind", "delivery_policy", "review_state", "source_type", "namespace")

_GONE = """CASE
        WHEN {row}invalidated_at IS NULL THEN ''
        WHEN {row}invalidation_reason IN ('source_delete', 'purge') THEN 'deleted'
        WHEN {row}invalidation_reason = 'rejected' THEN 'rejected'
        ELSE 'superseded' END"""


def cell_sql(row: str, dimensions: Sequence[str] = DIMENSIONS) -> str:
    """Select what decides in which cell of `pc_counts` a row is counted."""
    # The cast: another program may have put a BLOB where text belongs.
    columns = ", ".join(f"COALESCE(CAST({row}{name} AS TEXT), '')" for name in dimensions)
    return f"{columns}, {_GONE.format(row=row)}"


def _deleted(row: str) -> str:
    return (
        f"({row}invalidated_at IS NOT NULL"
        f" AND COALESCE({row}invalidation_reason, '') IN ('source_delete', 'purge'))"
    )


CELL_KEY = ", ".join((*DIMENSIONS, "gone"))
# The same without the namespaces, of which there may be many: what most pages ask for.
TOTAL_DIMENSIONS = tuple(name for name in DIMENSIONS if name != "namespace")
_CUBES = {"pc_counts": DIMENSIONS, "pc_totals": TOTAL_DIMENSIONS}


# No OR IGNORE and no upsert in triggers: the conflict rule of the statement that fires them would win.
def _count_up(row: str) -> str:
    return f"""{"".join(_cell_up(table, row) for table in _CUBES)}
    INSERT INTO pc_sources (source, total, deleted) SELECT {row}source, 0, 0
        WHERE {row}source IS NOT NULL AND NOT EXISTS (SELECT 1 FROM pc_sources WHERE source = {row}source);
    UPDATE pc_sources SET total = total + 1, deleted = deleted + {_deleted(row)} WHERE source = {row}source;"""


def _count_down(row: str, rows: str = "") -> str:
    """Take a row out of the counts: one of the trigger's own, or one that is read from a table."""
    of_source = f"(SELECT {row}source {rows})"
    return f"""{"".join(_cell_down(table, row, rows) for table in _CUBES)}
    UPDATE pc_sources SET total = total - 1, deleted = deleted - (SELECT {_deleted(row)} {rows})
        WHERE source = {of_source};
    DELETE FROM pc_sources WHERE source = {of_source} AND total = 0;"""


def _cell_up(table: str, row: str) -> str:
    key, cell = f"{', '.join(_CUBES[table])}, gone", cell_sql(row, _CUBES[table])
    return f"""
    INSERT INTO {table} ({key}, n) SELECT {cell}, 0
        WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE ({key}) = ({cell}));
    UPDATE {table} SET n = n + 1 WHERE ({key}) = ({cell});"""


def _cell_down(table: str, row: str, rows: str) -> str:
    key, cell = f"{', '.join(_CUBES[table])}, gone", cell_sql(row, _CUBES[table])
    return f"""
    UPDATE {table} SET n = n - 1 WHERE ({key}) = (SELECT {cell} {rows});
    DELETE FROM {table} WHERE ({key}) = (SELECT {cell} {rows}) AND n = 0;"""


def _dirty(row_id: str, indexed: str, heading: str = "NULL", content: str = "NULL") -> str:
    return f"""
    INSERT INTO pc_dirty (chunk_id, indexed, heading, content)
        SELECT {row_id}, {indexed}, {heading}, {content}
        WHERE NOT EXISTS (SELECT 1 FROM pc_dirty WHERE chunk_id = {row_id});"""


_REPLACED = ", ".join((*DIMENSIONS, "source", "invalidated_at", "invalidation_reason"))
_OF_REPLACED = "FROM pc_replaced WHERE id = new.id"
_REMEMBER_OLD_TEXT = _dirty("old.id", "1", "old.heading", "old.content")

TRIGGERS = {
    "pc_chunks_insert": f"""AFTER INSERT ON chunks BEGIN{_dirty("new.id", "0")}{_count_up("new.")}
END""",
    # INSERT OR REPLACE removes the old row without firing a delete trigger. What it was is put aside first,
    # and counted down once the insert has happened: an INSERT OR IGNORE gets no further than this.
    "pc_chunks_replace": f"""BEFORE INSERT ON chunks WHEN new.id > 0 BEGIN
    INSERT INTO pc_dirty (chunk_id, indexed, heading, content)
        SELECT id, 1, heading, content FROM chunks
        WHERE id = new.id AND NOT EXISTS (SELECT 1 FROM pc_dirty WHERE chunk_id = new.id);
    DELETE FROM pc_replaced WHERE id = new.id;
    INSERT INTO pc_replaced SELECT id, {_REPLACED} FROM chunks WHERE id = new.id;
END""",
    "pc_chunks_replaced": f"""AFTER INSERT ON chunks
    WHEN EXISTS (SELECT 1 FROM pc_replaced WHERE id = new.id) BEGIN{_count_down("", _OF_REPLACED)}
    DELETE FROM pc_replaced WHERE id = new.id;
END""",
    "pc_chunks_delete": f"""AFTER DELETE ON chunks BEGIN{_REMEMBER_OLD_TEXT}{_count_down("old.")}
END""",
    "pc_chunks_text": f"""AFTER UPDATE OF content, heading ON chunks BEGIN{_REMEMBER_OLD_TEXT}
END""",
    "pc_chunks_fact": f"""AFTER UPDATE OF domain, namespace, invalidated_at, review_state ON chunks
    WHEN 'fact' IN (old.domain, new.domain) AND (old.domain IS NOT new.domain
        OR old.namespace IS NOT new.namespace OR old.invalidated_at IS NOT new.invalidated_at
        OR new.invalidated_at IS NOT NULL) BEGIN{_REMEMBER_OLD_TEXT}
END""",
    "pc_chunks_count": f"""AFTER UPDATE OF {", ".join(DIMENSIONS)}, source, invalidated_at, invalidation_reason
    ON chunks BEGIN{_count_down("old.")}{_count_up("new.")}
END""",
    "pc_audit_keep": """BEFORE DELETE ON pc_audit BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END""",
    "pc_audit_fixed": """BEFORE UPDATE ON pc_audit BEGIN
    SELECT RAISE(ABORT, 'the audit trail is append-only');
END""",
}

RECOUNT = f"""
DELETE FROM pc_counts;
INSERT INTO pc_counts ({CELL_KEY}, n)
    SELECT {cell_sql("")}, COUNT(*) AS n FROM chunks GROUP BY 1, 2, 3, 4, 5, 6, 7;
DELETE FROM pc_totals;
INSERT INTO pc_totals ({", ".join(TOTAL_DIMENSIONS)}, gone, n)
    SELECT {", ".join(TOTAL_DIMENSIONS)}, gone, SUM(n) FROM pc_counts GROUP BY 1, 2, 3, 4, 5, 6;
DELETE FROM pc_sources;
INSERT INTO pc_sources (source, total, deleted)
    SELECT source, COUNT(*), SUM({_deleted("")}) FROM chunks WHERE source IS NOT NULL GROUP BY source;
"""

QUEUE_ALL = """
DELETE FROM pc_dirty;
INSERT INTO pc_dirty (chunk_id, indexed) SELECT id, 0 FROM chunks;
DELETE FROM pc_fact_tokens;
"""

COUNTS_NOW = f"SELECT {cell_sql('')}, COUNT(*) FROM chunks GROUP BY 1, 2, 3, 4, 5, 6, 7"
COUNTS_KEPT = f"SELECT {CELL_KEY}, n FROM pc_counts"
TOTALS_NOW = f"SELECT {cell_sql('', TOTAL_DIMENSIONS)}, COUNT(*) FROM chunks GROUP BY 1, 2, 3, 4, 5, 6"
TOTALS_KEPT = f"SELECT {', '.join(TOTAL_DIMENSIONS)}, gone, n FROM pc_totals"
SOURCES_NOW = f"""SELECT source, COUNT(*), SUM({_deleted("")}) FROM chunks
    WHERE source IS NOT NULL GROUP BY source"""
SOURCES_KEPT = "SELECT source, total, deleted FROM pc_sources"
