"""How much the store holds, as far as the caller may know."""

from dataclasses import replace

from knowledge.facets import facets
from knowledge.types import ChunkQuery, Facets
from protoconsole.actors import Actor


def stats(by: Actor) -> Facets:
    """Count all rows by each dimension, for agents and plugins without rejected and deleted ones.

    They are told no sources: the counts of sources do not know which of their rows may be seen.
    """
    if by.reads_rejected:
        return facets(ChunkQuery(include_superseded=True))
    return replace(facets(ChunkQuery(include_superseded=True, exclude_rejected=True)), source=())
