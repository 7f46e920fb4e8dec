"""What a write gets when its caller named no kind, no policy and no verdict."""

from knowledge.trust import normal_source_type, tier_of
from knowledge.types import Kind, Policy, TrustTier, Verdict

HOT_DOMAIN = "hot"

_KIND_OF_DOMAIN = {
    HOT_DOMAIN: Kind.STANDING,
    "preferences": Kind.PROFILE,
    "fact": Kind.FACT,
    "finding": Kind.FACT,
    "conversation": Kind.NOTE,
}


def kind_for(domain: str, source_type: str | None) -> Kind:
    if domain == "general":
        return Kind.NOTE if normal_source_type(source_type) == "conversation" else Kind.REFERENCE
    return _KIND_OF_DOMAIN.get(domain, Kind.LEGACY)


def policy_for(domain: str, given: Policy | None) -> Policy:
    """Return the policy to store: the hot domain is always-on whatever the caller said."""
    return Policy.ALWAYS if domain == HOT_DOMAIN else given or Policy.RETRIEVED


def first_verdict(source_type: str | None) -> Verdict:
    return Verdict.CONFIRMED if tier_of(source_type) is TrustTier.OPERATOR else Verdict.PENDING
