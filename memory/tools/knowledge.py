"""The tools over the knowledge store: remember, recall, list, count, forget."""

from typing import Annotated, Literal

from pydantic import Field

from knowledge import catch_up, queries, services
from knowledge.errors import Forbidden
from knowledge.kinds import policy_for
from knowledge.schemas import ChunkOut, CleanText, Days, HitOut, LongText, Name, QueryText, StatsOut
from knowledge.services.lapsing import expiry
from knowledge.stats import stats
from knowledge.types import ChunkQuery, NewChunk, Outcome, Policy, Verdict
from memory.tools.lines import entry, line
from memory.tools.tool import Answer, Call, refusal, tool
from protoconsole.instance import current
from protoconsole.wire import Out

HOT_NEEDS_OPERATOR = (
    "Nothing was stored: memory that is delivered on every turn needs an operator here. Ask your operator to"
    " add it, or store it without domain 'hot' and without delivery_policy 'always'."
)
LISTED = (Verdict.PENDING, Verdict.CONFIRMED)

At_Most_50 = Annotated[int, Field(strict=True, ge=1, le=50)]
Flag = Annotated[bool, Field(strict=True)]


class Ingested(Out):
    """What became of a memory; `id` is its row, the duplicate's row, or null."""

    id: int | None
    outcome: Outcome
    why: str


class Recalled(Out):
    items: list[HitOut]


class Listed(Out):
    items: list[ChunkOut]


class Forgotten(Out):
    id: int
    outcome: Literal["forgotten"] = "forgotten"
    why: str


@tool(writes=True)
def memory_ingest(
    call: Call,
    *,
    content: Annotated[
        LongText, Field(min_length=1, description="What to remember, as a sentence of its own")
    ],
    domain: Annotated[Name, Field(description="A bucket: fact, preferences, finding, hot, …")] = "general",
    heading: Annotated[LongText | None, Field(description="A short title")] = None,
    namespace: Annotated[Name | None, Field(description="The project or scope it belongs to")] = None,
    subject: Annotated[Name | None, Field(description="Who or what it is about")] = None,
    expires_in_days: Annotated[Days | None, Field(description="After how many days it lapses")] = None,
    delivery_policy: Annotated[
        Policy | None, Field(description="always: on every turn; on_demand: only when asked for")
    ] = None,
) -> Answer[Ingested]:
    """Remember something beyond this conversation. It starts unconfirmed; an operator reviews it."""
    always_on = policy_for(domain, delivery_policy) is Policy.ALWAYS
    if always_on and current().config.knowledge.hot_write_confirm:
        return refusal(HOT_NEEDS_OPERATOR)
    new = NewChunk(
        content=content,
        domain=domain,
        heading=heading,
        namespace=namespace,
        subject=subject,
        expires_at=expiry(None, expires_in_days),
        delivery_policy=delivery_policy,
    )
    added = services.remember(new, call.by)
    row = added.chunk.id if added.chunk else None
    return Answer[Ingested](text=added.why, data=Ingested(id=row, outcome=added.outcome, why=added.why))


@tool(writes=False)
def memory_recall(
    call: Call,
    *,
    query: Annotated[QueryText, Field(description="A question or key words")],
    k: Annotated[At_Most_50, Field(description="How many memories at most")] = 5,
    domain: Annotated[CleanText | None, Field(description="Only memories of this bucket")] = None,
    include_superseded: Annotated[Flag, Field(description="Also what newer memories replaced")] = False,
) -> Answer[Recalled]:
    """Search all memory, whatever its trust and namespace, best matches first."""
    wanted = ChunkQuery(
        text=query,
        domains=(domain,) if domain is not None else (),
        include_superseded=include_superseded,
        include_expired=False,
        exclude_rejected=True,
    )
    found = queries.search(wanted, call.by, k=k)
    lines = [entry(hit.chunk, _most_chars()) for hit in found.hits]
    text = "\n".join(lines) or "Nothing in memory matches."
    return Answer[Recalled](text=text, data=Recalled(items=[HitOut.of(hit) for hit in found.hits]))


@tool(writes=False)
def memory_list(
    call: Call,
    *,
    domain: Annotated[CleanText | None, Field(description="Only memories of this bucket")] = None,
    review_state: Annotated[
        Literal["pending", "confirmed"] | None,
        Field(description="Only those an operator has yet to review, or has confirmed"),
    ] = None,
    limit: Annotated[At_Most_50, Field(description="How many memories at most")] = 10,
) -> Answer[Listed]:
    """List the newest memories with what an operator ruled on them and when they lapse."""
    wanted = ChunkQuery(
        domains=(domain,) if domain is not None else (),
        verdicts=(Verdict(review_state),) if review_state else LISTED,
        exclude_rejected=True,
    )
    page = queries.browse(wanted, call.by, limit=limit)
    lines = [entry(chunk, _most_chars(), with_state=True) for chunk in page.items]
    text = "\n".join(lines) or "Memory holds no such row."
    return Answer[Listed](text=text, data=Listed(items=[ChunkOut.model_validate(row) for row in page.items]))


@tool(writes=False)
def memory_stats(call: Call) -> Answer[StatsOut]:
    """Count what memory holds, by bucket, kind, trust and state."""
    counted = StatsOut.of(stats(call.by), catch_up.pending())
    parts = {"domain": counted.domain, "kind": counted.kind, "trust": counted.trust, "state": counted.state}
    lines = [f"{counted.total} memories in all."]
    lines += [
        f"by {name}: " + ", ".join(f"{line(value) or 'none'} {n}" for value, n in counts.items())
        for name, counts in parts.items()
        if counts
    ]
    return Answer[StatsOut](text="\n".join(lines), data=counted)


@tool(writes=True)
def forget_memory(
    call: Call,
    *,
    chunk_id: Annotated[int, Field(strict=True, ge=1, le=2**63 - 1, description="The number after #")],
    reason: Annotated[
        CleanText | None, Field(description="Why, for the operator who reads the trail")
    ] = None,
) -> Answer[Forgotten]:
    """Take a memory out of use, unless an operator wrote or confirmed it."""
    try:
        services.forget(chunk_id, call.by, reason=reason)
    except Forbidden as refused:
        return refusal(str(refused))
    why = f"#{chunk_id} is forgotten; for a day an operator can bring it back from its page in the console."
    return Answer[Forgotten](text=why, data=Forgotten(id=chunk_id, why=why))


def _most_chars() -> int:
    return current().config.knowledge.recall_preview_chars
