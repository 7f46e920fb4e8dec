"""How far a row can be trusted: decided by the path that wrote it, in code and never by configuration."""

from collections.abc import Container, Iterable

from knowledge.types import TrustTier

_TIERS = {
    TrustTier.OPERATOR: "operator manual",
    TrustTier.AGENT: "extracted harvest conversation chat background_report",
    TrustTier.EXTERNAL: "text markdown pdf html audio video image youtube web ingest external",
}
_TIER_OF = {name: tier for tier, names in _TIERS.items() for name in names.split()}


def normal_source_type(source_type: str | None) -> str:
    """Return the form in which two spellings of one source type are equal."""
    return (source_type or "").strip().casefold()


def tier_of(source_type: str | None) -> TrustTier:
    """Return the tier of a writing path; an unknown or missing one is external."""
    return _TIER_OF.get(normal_source_type(source_type), TrustTier.EXTERNAL)


def source_types_of(tiers: Container[TrustTier], known: Iterable[str | None]) -> list[str | None]:
    """Keep those of the stored raw values that fall into the tiers, so that SQL can filter by raw value."""
    return [source_type for source_type in known if tier_of(source_type) in tiers]
