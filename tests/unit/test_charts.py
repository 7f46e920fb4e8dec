"""Charts: coordinates that can be worked out by hand."""

from knowledge.types import TrustTier
from memory.charts import Bar, TurnPoint, budget_bar, share, turns_chart
from memory.types import Budget, Part, Section, Shed

OPERATOR, AGENT, EXTERNAL = TrustTier.OPERATOR, TrustTier.AGENT, TrustTier.EXTERNAL


def test_the_tallest_bar_fills_the_height_and_the_others_stand_beside_it() -> None:
    chart = turns_chart([TurnPoint(50, {}), TurnPoint(200, {})])

    assert chart.tokens == [Bar(0, 75, 8, 25, "tokens"), Bar(10, 0, 8, 100, "tokens")]
    assert chart.most_tokens == 200


def test_rows_are_stacked_with_the_most_trusted_at_the_bottom() -> None:
    chart = turns_chart([TurnPoint(1, {EXTERNAL: 1, AGENT: 0, OPERATOR: 3}), TurnPoint(1, {AGENT: 2})])

    assert chart.rows == [
        Bar(0, 25, 8, 75, "operator"),
        Bar(0, 0, 8, 25, "external"),
        Bar(10, 50, 8, 50, "agent"),
    ]


def test_rows_of_unknown_trust_stand_on_top_and_are_told() -> None:
    chart = turns_chart([TurnPoint(10, {AGENT: 1}, untold=3)])

    assert chart.rows == [Bar(0, 75, 8, 25, "agent"), Bar(0, 0, 8, 75, "untold")]
    assert chart.told.endswith("0 operator, 1 agent, 0 external, 3 of unknown trust.")


def test_many_turns_widen_the_chart_and_few_leave_it_as_it_is() -> None:
    assert turns_chart([TurnPoint(1, {})]).width == 250
    assert turns_chart([TurnPoint(1, {})] * 40).width == 400


def test_the_chart_is_told_in_words() -> None:
    turns = [TurnPoint(tokens, {EXTERNAL: 1, OPERATOR: 2}) for tokens in (1_000, 30, 200)]

    assert turns_chart(turns).told == (
        "3 turns of 30 to 1,000 tokens, median 200; rows delivered by trust: 6 operator, 0 agent, 3 external."
    )
    assert turns_chart(turns[:1]).told.startswith("1 turn of 1,000 to 1,000")
    assert turns_chart([]).told == "No turns."


def test_turns_without_tokens_or_rows_draw_flat_bars() -> None:
    chart = turns_chart([TurnPoint(0, {})])

    assert chart.tokens == [Bar(0, 100, 8, 0, "tokens")]
    assert chart.rows == []


def test_a_budget_bar_shows_parts_the_frame_and_the_ceiling() -> None:
    sections = [Section(Part.ALWAYS_ON, 4_000, truncated=False), Section(Part.HITS, 3_600, truncated=False)]
    bar = budget_bar(Budget(16_000, 8_000), sections)

    assert [(one.tone, one.x, one.width, one.chars) for one in bar.segments] == [
        ("always_on", 0, 250, 4_000),
        ("hits", 250, 225, 3_600),
        ("frame", 475, 25, 400),
    ]
    assert bar.ceiling_x == 1_000
    assert bar.told == "8,000 characters, 16,000 possible."


def test_what_was_shed_reaches_beyond_the_ceiling() -> None:
    budget = Budget(16_000, 15_000, [Shed(Part.HITS, 2, 4_000), Shed(Part.PRIOR_SESSIONS, 1, 1_000)])
    bar = budget_bar(budget, [Section(Part.ALWAYS_ON, 15_000, truncated=False)])

    assert [(one.tone, one.x, one.width) for one in bar.segments] == [
        ("always_on", 0, 750),
        ("shed", 750, 250),
    ]
    assert bar.ceiling_x == 800
    assert bar.told == "15,000 characters, 16,000 possible; 5,000 were shed."


def test_an_unbounded_text_fills_its_bar() -> None:
    bar = budget_bar(Budget(None, 300), [Section(Part.HITS, 300, truncated=False)])

    assert [(one.tone, one.width) for one in bar.segments] == [("hits", 1_000)]
    assert bar.ceiling_x is None
    assert bar.told == "300 characters, no ceiling."


def test_an_empty_text_draws_nothing() -> None:
    assert budget_bar(Budget(None, 0), []).segments == []


def test_a_share_is_in_per_cent_and_at_most_all() -> None:
    assert (share(4_000, 16_000), share(20_000, 16_000), share(5, None), share(0, 0)) == (25, 100, None, None)
