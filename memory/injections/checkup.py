"""Proves that the log is as it was written, and names the first row that is not."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from knowledge.checkup import REPAIR
from memory.injections import adoption, chain, given, head, index, texts
from memory.injections.blocks import hashes_of, words_named_in
from memory.injections.chain import BEGINNING, Break, Link
from memory.injections.errors import HeadDamaged, TextDamaged
from memory.injections.key import existing_key
from memory.injections.rows import SELECTED, ids_of
from memory.injections.types import Index
from protoconsole.databases import INJECTIONS, fetch, rows_of, snapshot, write_transaction
from protoconsole.findings import Finding, Level, found

MEND = (
    "restore the log and its .head from a copy, or move both away together: they are kept as evidence and a"
    " new log begins"
)
_COUNTS_THAT_DIFFER = """SELECT 1 FROM pc_injection_counts AS c WHERE n <>
    (SELECT COUNT(*) FROM pc_injection_items AS i WHERE i.kind = ? AND i.ref = c.ref)
    UNION ALL SELECT 1 FROM pc_injection_items WHERE kind = ?
    AND ref NOT IN (SELECT ref FROM pc_injection_counts) LIMIT 1"""
GIVEN = "injections given"
NOT_OPENED = "run: manage.py serve"


def examine() -> Iterator[Finding]:
    """Check the log: file, adoption, chain, head, texts, index. Reads only; a log that is not there is none."""
    path = adoption.log_path()
    if not path.exists():
        gone = [f"{path} is gone, but the head of its chain was noted"] if head.path().exists() else []
        yield found("injection log", gone, well="none yet", mend=MEND)
    elif not adoption.is_adopted():
        yield Finding("injection log", Level.FAULT, f"{path} was never opened by protoconsole", NOT_OPENED)
    else:
        file = _file()
        yield file
        if file.ok:
            index.before_reading()
            yield from verify()
            yield _texts()
            yield _index()


def repair() -> None:
    """Build the index anew, and what sessions were given; rows, chain and note are never touched.

    What sessions were given is left as evidence where the chain does not prove the rows.
    """
    if not _index().ok:
        index.rebuild()
    key = existing_key()
    if key is not None and [finding.name for finding in verify() if not finding.ok] == [GIVEN]:
        given.rebuild(_pruned_to(key))


def verify() -> Iterator[Finding]:
    """Check the chain and the note of its head against the rows, then what sessions were given."""
    key = existing_key()
    if key is None:
        chained = _count("pc_seq IS NOT NULL")
        lost = [f"log.key is gone, so {chained} rows cannot be verified"] if chained else []
        yield found("injection chain", lost, well="no rows yet", mend="restore log.key from a copy")
        return
    noted = _noted(key)  # before the rows: what is noted was committed, so they must hold it
    with snapshot(INJECTIONS):
        proofs = [_chain(key), _head(key, noted)]
        yield from proofs
        if all(proof.ok for proof in proofs):
            yield _given(key)


def _file() -> Finding:
    faults = [row[0] for row in fetch(INJECTIONS, "PRAGMA integrity_check(5)")]
    return found(
        "injection log", [] if faults == ["ok"] else faults, well="integrity check passed", mend=MEND
    )


def _chain(key: bytes) -> Finding:
    last: Link | Break = BEGINNING
    for last in chain.walk(key):  # noqa: B007 - the end of the walk tells
        pass
    if isinstance(last, Break):
        place = f"row #{last.id}" if last.id else "the beginning"
        return found("injection chain", [f"broken at {place}: {last.why}"], well="", mend=MEND)
    chained, others = _count("pc_seq IS NOT NULL"), _count("pc_seq IS NULL")
    return found(
        "injection chain", [], well=f"{chained} rows chained, {others} of another program unchained", mend=""
    )


def _noted(key: bytes) -> Link | HeadDamaged | None:
    try:
        return head.read(key)
    except HeadDamaged:
        pass
    with write_transaction(INJECTIONS):  # nobody writes the note now, so this is no half of one
        try:
            return head.read(key)
        except HeadDamaged as error:
            return error


def _head(key: bytes, noted: Link | HeadDamaged | None) -> Finding:
    faults = _head_faults(key, noted)
    return found("injection head", faults, well="the log holds the row that was noted", mend=MEND)


def _head_faults(key: bytes, noted: Link | HeadDamaged | None) -> list[str]:
    if isinstance(noted, HeadDamaged):
        return [f"{head.path()}: {noted}"]
    if noted is None:
        return [f"{head.path()} is missing, so a cut tail would not show"]
    last = chain.last(key)
    if head.is_borne_out(noted, last, key):
        return []
    if noted.seq > last.seq:
        return [
            f"the log ends at row #{last.id}, but row #{noted.id} was written: {noted.seq - last.seq} rows were"
            " cut from its end, an older copy was put in its place, or power failed while they were written"
        ]
    return [f"row #{noted.id} is not the row that was noted, so the end of the log was replaced"]


def _given(key: bytes) -> Finding:
    if index.pending():
        return Finding(GIVEN, Level.OK, "rows are still to be indexed")
    wrong = given.different(_pruned_to(key))
    faults = [f"{wrong} first deliveries to sessions differ from the rows"] if wrong else []
    return found(GIVEN, faults, well="every first delivery to a session is as the rows tell", mend=REPAIR)


def _pruned_to(key: bytes) -> int:
    return (chain.anchor(key) or BEGINNING).id


def _texts() -> Finding:
    """Name the first turn whose words are gone or changed."""
    sound = texts.sound()

    @lru_cache(maxsize=10_000)
    def is_whole(document: bytes) -> bool:
        try:
            return document in sound and sound.issuperset(words_named_in(texts.read(document)))
        except (TextDamaged, ValueError, LookupError, TypeError):
            return False

    sql = """SELECT id, CAST(pc_blocks AS BLOB), CAST(COALESCE(pc_beside, '') AS BLOB),
        CAST(COALESCE(pc_left_out, '') AS BLOB), CAST(pc_query AS BLOB)
        FROM injections WHERE pc_seq IS NOT NULL ORDER BY pc_seq"""
    for row_id, blocks, beside, left_out, query in rows_of(INJECTIONS, sql):
        documents = hashes_of((blocks or b"") + beside)
        if not all(map(is_whole, documents)) or not sound.issuperset([*hashes_of(left_out), query]):
            return found(
                "injected texts", [f"words of row #{row_id} are gone or changed"], well="", mend=MEND
            )
    return found("injected texts", [], well=f"{len(sound)} texts are as they were sent", mend="")


def _index() -> Finding:
    behind = index.pending()
    if behind:
        return Finding("injection index", Level.OK, f"{behind} rows are still to be indexed")
    wanted: Counter[int] = Counter()
    for row in rows_of(INJECTIONS, f"SELECT {SELECTED} FROM injections"):
        wanted.update(hash(entry) for entry in index.entries_of(ids_of(row)))
    kept = rows_of(INJECTIONS, "SELECT kind, ref, at, injection_id FROM pc_injection_items")
    wanted.subtract(hash(entry) for entry in kept)
    wrong = sum(map(abs, wanted.values()))
    faults = [f"{wrong} entries differ from the rows"] if wrong else []
    if fetch(INJECTIONS, _COUNTS_THAT_DIFFER, (Index.CHUNK, Index.CHUNK)):
        faults.append("the counts of turns differ from the entries")
    return found("injection index", faults, well="finds exactly the rows", mend=REPAIR)


def _count(condition: str) -> int:
    return int(fetch(INJECTIONS, f"SELECT COUNT(*) FROM injections WHERE {condition}")[0][0])
