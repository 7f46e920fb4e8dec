import pytest

from knowledge.trust import source_types_of, tier_of
from knowledge.types import TrustTier

OPERATOR, AGENT, EXTERNAL = TrustTier.OPERATOR, TrustTier.AGENT, TrustTier.EXTERNAL


@pytest.mark.parametrize("source_type", ["operator", "manual", " Manual ", "OPERATOR\n"])
def test_people_are_the_highest_tier(source_type):
    assert tier_of(source_type) is OPERATOR


@pytest.mark.parametrize(
    "source_type", ["extracted", "harvest", "conversation", "chat", "background_report", "Harvest"]
)
def test_what_an_agent_wrote_is_the_middle_tier(source_type):
    assert tier_of(source_type) is AGENT


@pytest.mark.parametrize("source_type", ["html", "web", "external", "", "  ", None, "operators", "oper ator"])
def test_documents_and_anything_unknown_are_external(source_type):
    assert tier_of(source_type) is EXTERNAL


def test_stored_spellings_are_sorted_by_the_same_map():
    known = [" Manual ", "chat", None, "html", "mystery"]
    assert source_types_of({OPERATOR, AGENT}, known) == [" Manual ", "chat"]
    assert source_types_of({EXTERNAL}, known) == [None, "html", "mystery"]
    assert source_types_of(set(), known) == []
