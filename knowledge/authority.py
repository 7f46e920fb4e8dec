"""Who may write what, and whose word stands against whose. Pure rules (SPEC 5 and 10)."""

from dataclasses import replace

from knowledge.errors import Forbidden, Invalid
from knowledge.trust import tier_of
from knowledge.types import Chunk, NewChunk, TrustTier, Verdict
from protoconsole.actors import Actor, Role

AGENT_SOURCE_TYPE = "conversation"
OPERATOR_SOURCE_TYPE = "operator"
OPERATOR_SOURCE = "console"


def may_supersede(writer_tier: TrustTier, by: Actor, old: Chunk) -> bool:
    """Say whether a write may take a row's place at once: not of a higher tier, nor a confirmed row's."""
    return by.is_operator or (writer_tier >= old.trust_tier and old.review_state is not Verdict.CONFIRMED)


def stamp_provenance(new: NewChunk, by: Actor) -> NewChunk:
    """Give a write the provenance that its key and transport prove.

    Raises Invalid for a claim above the role, naming the field, and Forbidden for a role that writes nothing.
    """
    match by.role:
        case Role.OPERATOR:
            return replace(
                new,
                source=new.source or OPERATOR_SOURCE,
                source_type=new.source_type or OPERATOR_SOURCE_TYPE,
            )
        case Role.PLUGIN:
            _refuse_plugin_claims(new, by)
            return replace(new, source=new.source or f"plugin:{by.name}")
        case Role.AGENT:
            for field in ("source", "source_type", "review_state"):
                if getattr(new, field) is not None:
                    raise Invalid(
                        field, "is set from the key and the session, never by an agent; leave it out"
                    )
            return replace(new, source=by.session_id, source_type=AGENT_SOURCE_TYPE)
        case Role.VIEWER:
            raise Forbidden("a viewer writes nothing")


def _refuse_plugin_claims(new: NewChunk, by: Actor) -> None:
    if tier_of(new.source_type) is not TrustTier.EXTERNAL:
        whose = "an operator's" if tier_of(new.source_type) is TrustTier.OPERATOR else "an agent's"
        raise Invalid(
            "source_type", f"{new.source_type!r} is {whose} path, which no plugin takes; leave it out"
        )
    if new.review_state is Verdict.REJECTED:
        raise Invalid("review_state", "a plugin cannot reject; send 'pending' or leave it out")
    if new.review_state is Verdict.CONFIRMED and not by.may_confirm:
        raise Invalid(
            "review_state", "this key may not confirm; make one with --may-confirm, or leave it out"
        )
