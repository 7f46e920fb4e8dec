import pytest

from knowledge.kinds import first_verdict, kind_for, policy_for
from knowledge.types import Kind, Policy
from tests.cases import cases


@pytest.mark.parametrize("case", cases("kinds"), ids=lambda c: f"{c['domain']}-{c['source_type']}")
def test_a_write_without_wishes_gets_what_the_contract_says(case):
    assert kind_for(case["domain"], case["source_type"]) == case["kind"]
    assert policy_for(case["domain"], None) == case["policy"]
    assert first_verdict(case["source_type"]) == case["verdict"]


def test_hot_is_always_on_whatever_the_caller_said():
    assert policy_for("hot", Policy.ON_DEMAND) is Policy.ALWAYS


@pytest.mark.parametrize("given", list(Policy))
def test_elsewhere_the_caller_decides(given):
    assert policy_for("general", given) is given


def test_a_domain_is_taken_literally():
    assert kind_for("Hot", None) is Kind.LEGACY
    assert policy_for("Hot", None) is Policy.RETRIEVED


def test_the_source_type_is_compared_as_the_trust_map_does():
    assert kind_for("general", " Conversation ") is Kind.NOTE
