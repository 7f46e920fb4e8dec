"""The JSON door of the knowledge store."""

from typing import Annotated

from django.http import HttpResponse
from ninja import Header, Query, Router, Status

from knowledge import catch_up, queries, services
from knowledge.schemas import (
    AuditList,
    BatchOut,
    BrowseParameters,
    ChunkEdit,
    ChunkIn,
    ChunkList,
    ChunkOut,
    DroppedOut,
    HitList,
    PageParameters,
    PurgeIn,
    RowId,
    SearchParameters,
    SourceIn,
    StatsOut,
    chunk_list,
)
from knowledge.services.lapsing import expiry
from knowledge.stats import stats
from knowledge.types import Batch, Chunk
from protoconsole.access.requests import KnownRequest
from protoconsole.actors import Actor, Role
from protoconsole.wire import GOVERNORS, READERS, door, etag, versions_in

router = Router(tags=["knowledge"])

IfMatch = Annotated[str | None, Header(alias="If-Match", description="The ETag of the row as it was read")]
IfNoneMatch = Annotated[str | None, Header(alias="If-None-Match")]


def version_to_match(if_match: str | None, chunk_id: int, by: Actor) -> str | None:
    """Choose, of the versions that If-Match names, the one that a service is to insist on."""
    wanted = versions_in(if_match)
    if wanted is None:
        return None
    standing = queries.get(chunk_id, by).version
    return standing if standing in wanted else wanted[0]


def tagged(chunk: Chunk, response: HttpResponse) -> ChunkOut:
    """Answer one row with its ETag."""
    response.headers["ETag"] = etag(chunk.version)
    return ChunkOut.model_validate(chunk)


@router.get("/search", **door(*READERS, answers={200: HitList}))
def search(request: KnownRequest, parameters: Query[SearchParameters]) -> HitList:
    """Find the rows that match a text best, under the filters."""
    found = queries.search(parameters.query(parameters.q), request.actor, k=parameters.k)
    return HitList.of(found)


@router.get("/chunks", **door(*READERS, answers={200: ChunkList}))
def list_chunks(request: KnownRequest, parameters: Query[BrowseParameters]) -> ChunkList:
    """List the rows that pass the filters, newest first."""
    page = queries.browse(parameters.query(), request.actor, cursor=parameters.cursor, limit=parameters.limit)
    return chunk_list(page)


@router.post(
    "/chunks",
    **door(Role.OPERATOR, Role.PLUGIN, answers={201: ChunkOut, 200: DroppedOut}, body=True),
)
def add_chunk(
    request: KnownRequest, body: ChunkIn, response: HttpResponse
) -> Status[ChunkOut] | Status[DroppedOut]:
    """Add a row: 201 with the row, or 200 where the text was only leaked reasoning and was dropped."""
    expires_at = expiry(body.expires_at, body.expires_in_days)
    added = services.add(body.chunk(expires_at), request.actor)
    if added.chunk is None:
        return Status(200, DroppedOut(outcome="dropped", detail=added.why))
    return Status(201, tagged(added.chunk, response))


@router.get("/chunks/{chunk_id}", **door(*READERS, answers={200: ChunkOut, 304: None}, refusals=[404]))
def get_chunk(
    request: KnownRequest, chunk_id: RowId, response: HttpResponse, if_none_match: IfNoneMatch = None
) -> ChunkOut | Status[None]:
    """Read one row with its ETag."""
    chunk = queries.get(chunk_id, request.actor)
    shown = tagged(chunk, response)
    known = if_none_match is not None and versions_in(if_none_match)
    # A row that lapsed since looks different under the same tag.
    if known is None or (known and chunk.version in known and not chunk.expired):
        return Status(304, None)
    return shown


@router.put(
    "/chunks/{chunk_id}",
    **door(Role.OPERATOR, answers={200: ChunkOut}, refusals=[404, 409, 412], body=True),
)
def edit_chunk(
    request: KnownRequest, chunk_id: RowId, body: ChunkEdit, response: HttpResponse, if_match: IfMatch = None
) -> ChunkOut:
    """Change a row and answer the one that now stands: for new text that is a new revision."""
    version = version_to_match(if_match, chunk_id, request.actor)
    return tagged(services.edit(chunk_id, body.edit(), request.actor, if_match=version), response)


@router.delete("/chunks/{chunk_id}", **door(Role.OPERATOR, answers={204: None}, refusals=[404, 412]))
def delete_chunk(request: KnownRequest, chunk_id: RowId, if_match: IfMatch = None) -> Status[None]:
    """Delete a row for good."""
    version = version_to_match(if_match, chunk_id, request.actor)
    services.delete(chunk_id, request.actor, if_match=version)
    return Status(204, None)


@router.get("/chunks/{chunk_id}/history", **door(*READERS, answers={200: ChunkList}, refusals=[404]))
def history(request: KnownRequest, chunk_id: RowId) -> ChunkList:
    """List the chain of revisions that a row belongs to, newest first."""
    revisions = queries.history(chunk_id, request.actor)
    return ChunkList(items=[ChunkOut.model_validate(chunk) for chunk in reversed(revisions)], next=None)


@router.get("/chunks/{chunk_id}/audit", **door(*GOVERNORS, answers={200: AuditList}, refusals=[404]))
def audit_trail(request: KnownRequest, chunk_id: RowId, parameters: Query[PageParameters]) -> AuditList:
    """List the changes of a row, newest first; they stay when the row is deleted."""
    page = queries.trail(chunk_id, request.actor, cursor=parameters.cursor, limit=parameters.limit)
    return AuditList.of(page)


@router.post("/delete-by-source", **door(Role.OPERATOR, answers={200: BatchOut}, body=True))
def delete_by_source(request: KnownRequest, body: SourceIn) -> BatchOut:
    """Take all valid rows of a source out of use; for a day they can be restored."""
    batch = services.delete_by_source(body.source, request.actor)
    return _batch(batch, "were taken out of use; restore-by-source brings them back", "no valid row has it")


@router.post("/restore-by-source", **door(Role.OPERATOR, answers={200: BatchOut}, body=True))
def restore_by_source(request: KnownRequest, body: SourceIn) -> BatchOut:
    """Bring back the rows of a source that a bulk delete or a purge took out of use."""
    batch = services.restore_by_source(body.source, request.actor)
    return _batch(batch, "are in use again", "no deleted row has it")


@router.post("/purge", **door(Role.OPERATOR, Role.PLUGIN, answers={200: BatchOut}, body=True))
def purge(request: KnownRequest, body: PurgeIn) -> BatchOut:
    """Take the rows of a domain out of use, but those that operators wrote or confirmed."""
    batch = services.purge(body.domain, request.actor, before=body.before)
    return _batch(batch, "were taken out of use", "no row that may be purged has it")


@router.get("/stats", **door(*GOVERNORS, answers={200: StatsOut}))
def statistics(request: KnownRequest) -> StatsOut:
    """Count all rows by each of their attributes."""
    return StatsOut.of(stats(request.actor), catch_up.pending())


def _batch(batch: Batch, done: str, nothing: str) -> BatchOut:
    if not batch.count:
        return BatchOut(count=0, batch=None, detail=f"Nothing was changed: {nothing}.")
    return BatchOut(count=batch.count, batch=batch.id, detail=f"{batch.count} rows {done}.")
